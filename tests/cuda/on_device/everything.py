"""Operations that every layout has."""

from __future__ import annotations

from typing import Any

import numpy as np
from cuda.on_device.booleans import mask_like
from cuda.on_device.operation import Operation, beside
from operations.samples import ints, samples

from colkern import operations as ops
from colkern.arrays import Array
from colkern.operations.moving import to_host
from colkern.targets import on_its_device, target_of


def with_null(picks: Array) -> Array:
    """The picks and a null, where they are."""
    return beside(picks, ints([*to_host(picks).to_pylist(), None]))


def masked_fields(array: Array) -> tuple[Array, ...]:
    """The array as the field of a struct that is null where some other array is."""
    result = ops.make_struct([array], ["a"])
    masked = Array(result.type, result.length, [some_validity(array)], result.children)
    return tuple(ops.struct_flatten(masked))


@on_its_device
def some_validity(array: Array) -> Any:
    """A bitmap where the array's bytes are."""
    target = target_of(array.device)
    return target.buffer(target.table([0b10110101, 0b11011010], np.uint8).copy())


def emitted(array: Array, picks: Array) -> Array:
    return ops.filter(array, mask_like(array), null_selection="emit_null")


EVERY: dict[str, Operation] = {
    "null_count": lambda array, picks: ops.null_count(array),
    "require_valid": lambda array, picks: ops.require_valid(array),
    "validate": lambda array, picks: ops.validate(array, full=True),
    "compact_validity": lambda array, picks: ops.compact_validity(array),
    "take": lambda array, picks: ops.take(array, picks),
    "take with nulls": lambda array, picks: ops.take(array, with_null(picks)),
    "filter": lambda array, picks: ops.filter(array, mask_like(array)),
    "filter with nulls": emitted,
    "trim": lambda array, picks: ops.trim(array),
    "concat": lambda array, picks: ops.concat([array, array.slice(2, 3), array.slice(0, 0), array]),
    "hash_columns": lambda array, picks: ops.hash_columns([array.slice(0, 4), picks]),
    "struct_flatten": lambda array, picks: masked_fields(array),
}

OPERATIONS = {f"{what} of {name}": (name, run) for what, run in EVERY.items() for name in samples()}
