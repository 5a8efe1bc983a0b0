"""`run_end_encode`, which encodes equal neighbours as one run.

Columnar format 1.5: "Run-End Encoded Layout".
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.dispatch import Dispatch, by_layout
from colkern.errors import UnsupportedError
from colkern.kernels import changes
from colkern.layouts import Extent, LayoutKind, Role, layout
from colkern.operations.arguments import Kind, operation
from colkern.operations.encodings import run_end_encoded
from colkern.operations.operands import WORDS, buffer_addresses, unsigned, validity_of
from colkern.operations.position_checks import require_valid
from colkern.operations.run_search import require_room, run_bounds
from colkern.operations.selection import own_words, take_picked
from colkern.targets import Items, Target, on_its_device, target_of

_INT32 = s.int32()


@operation(kind=Kind.ELEMENT_WISE)
def run_end_encode(array: Array, *, run_end_type: s.DataType = _INT32) -> Array:
    """The array, run-end encoded with as few runs as possible. The value of each run is copied.

    Nulls are equal to each other. Floating-point numbers are equal if their bits are: a NaN to
    itself, 0.0 not to -0.0. A dictionary's indices are compared, not its values.

    Args:
        array: An array of any type but lists, unions and run-end encoded ones; also structs without any
            of these.
        run_end_type: int16, int32 or int64.

    Raises:
        TypeError: If `run_end_type` is another type.
        LimitExceededError: If the array is too long for the run ends.
        UnsupportedError: If the array is of a type that cannot be compared here.
    """
    if (
        not isinstance(run_end_type, s.Int)
        or not run_end_type.signed
        or run_end_type.bit_width == 8
    ):
        raise TypeError(f"run_end_type: expected int16, int32 or int64, got {run_end_type}")
    require_valid(array)
    kind = layout(run_end_type).buffers[1].dtype
    require_room(array.length, kind)
    target = target_of(array.device)
    bounds = run_bounds(target, _changes(array), array.length, kind)
    values = take_picked(array, unsigned(bounds[:-1]))
    run_ends = Array.of_valid(run_end_type, values.length, (None, target.buffer(bounds[1:])), 0)
    return run_end_encoded(array.length, run_ends, values)


def _changes(array: Array) -> Items:
    """The slots that differ from the one before, as bits in words; the first slot counts as differing."""
    mark = _MARK.get(array.layout.kind)
    if mark is None:
        raise UnsupportedError(
            f"array: {array.type} cannot be run-end encoded; encode its children, "
            f"where these are no lists and no unions"
        )
    target = target_of(array.device)
    out = target.output(array.length + 63 >> 6, WORDS[8])
    mark(array, target, out)
    if not array._null_count or array.layout.kind is LayoutKind.NULL or not array.null_count:
        return out
    merged = target.output(len(out), np.uint64)
    validity = validity_of(array, target)
    kernel = changes.merge_validity_changes
    target.map(kernel, len(out), *validity, array.length, out, merged)
    return merged


_MARK: Dispatch[LayoutKind, Callable[[Array, Target, Items], None]] = by_layout(
    "run_end_encode",
    LayoutKind.LIST,
    LayoutKind.LIST_VIEW,
    LayoutKind.FIXED_SIZE_LIST,
    LayoutKind.SPARSE_UNION,
    LayoutKind.DENSE_UNION,
    LayoutKind.RUN_END_ENCODED,
)
"""Writes the bits of changes, as words."""


@_MARK.of(LayoutKind.NULL)
def _mark_null(array: Array, target: Target, out: Items) -> None:
    out[:] = 0
    out[:1] = 1


@_MARK.of(LayoutKind.FIXED_SIZE, LayoutKind.DICTIONARY)
def _mark_fixed(array: Array, target: Target, out: Items) -> None:
    if array.layout.buffers[1].extent is Extent.BITS:
        data = array.buffer(Role.DATA)
        bits = target.no_bits if data is None else data.array
        target.map(changes.mark_bit_changes, len(out), bits, array.offset, array.length, out)
        return
    words, width = own_words(array, Role.DATA)
    target.map(changes.mark_changes, len(out), words, width, array.length, out)


@_MARK.of(LayoutKind.BINARY)
def _mark_binary(array: Array, target: Target, out: Items) -> None:
    items = array.items(Role.OFFSETS)
    data = array.buffer(Role.BYTES)
    bytes_ = target.no_bits if data is None else data.array
    target.map(changes.mark_binary_changes, len(out), items, bytes_, array.length, out)


@_MARK.of(LayoutKind.BINARY_VIEW)
def _mark_views(array: Array, target: Target, out: Items) -> None:
    views = array.items(Role.VIEWS).view(np.uint8)
    addresses = target.table(buffer_addresses(array), np.uint64)
    validity = validity_of(array, target)
    kernel = changes.mark_view_changes
    target.map(kernel, len(out), views, addresses, *validity, array.length, out)


@_MARK.of(LayoutKind.STRUCT)
@on_its_device
def _mark_struct(array: Array, target: Target, out: Items) -> None:
    _mark_null(array, target, out)
    for child in array.children:
        out |= _changes(child.slice(array.offset, array.length))
