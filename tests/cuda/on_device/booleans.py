"""Booleans and bitmaps."""

from __future__ import annotations

from cuda.on_device.operation import Operation, beside
from operations.samples import sample

from colkern import operations as ops
from colkern.arrays import Array


def mask_like(array: Array) -> Array:
    """A mask for an array, where it is."""
    return beside(array, sample("bool").slice(12 - array.length))


def with_a_mask(run: Operation) -> Operation:
    return lambda array, picks: run(array, mask_like(array))


OPERATIONS: dict[str, tuple[str, Operation]] = {
    "invert": ("bool", lambda array, picks: ops.invert(array)),
    "unpack_bits": ("bool", lambda array, picks: ops.unpack_bits(array.buffers[0], 1, 5).tolist()),
    **{
        run.__name__: ("bool", with_a_mask(run))
        for run in (ops.and_, ops.xor, ops.and_kleene, ops.or_kleene, ops.and_not_kleene)
    },
}
