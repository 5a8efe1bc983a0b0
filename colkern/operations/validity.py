"""Null counts and validity bitmaps.

Columnar format 1.5: "Null count", "Validity bitmaps".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from colkern.arrays import UNKNOWN, Array
from colkern.bitmaps import and_bits, own_bits
from colkern.dispatch import Dispatch, by_layout
from colkern.kernels import sorting
from colkern.layouts import LayoutKind
from colkern.memory import Buffer
from colkern.operations.arguments import Kind, operation
from colkern.operations.operands import validity_of
from colkern.operations.own_slots import own_parts
from colkern.schema import DataType
from colkern.targets import Items, target_of


@operation(kind=Kind.AGGREGATE, combine=lambda values, like: sum(values))
def null_count(array: Array) -> int:
    """The number of slots that are null by the array's own bitmap; all of them for type null.

    Union and run-end encoded arrays have no bitmap, but their children have. Counts anew at each call;
    `array.null_count` is cached.
    """
    return array.count_nulls()


def compact_validity(array: Array) -> Buffer | None:
    """The validity bitmap of the array's own slots from bit 0 on; None if no slot is null.

    It is copied only if the array does not start at a byte.
    """
    nulls = array._null_count
    if nulls == 0 or not array.layout.has_validity or not (nulls > 0 or array.may_have_nulls):
        return None
    bitmap = array.buffers[0]
    assert bitmap is not None
    return own_bits(bitmap, array.offset, array.length)


def split_nulls(array: Array) -> Items:
    """The positions of the valid slots, then those of nulls, by the bitmap, not by the null count."""
    target = target_of(array.device)
    blocks = -(-array.length // sorting.NULL_BLOCK)
    counts = target.output(blocks, np.int64)
    slots = (*validity_of(array, target), array.length)
    target.map(sorting.count_valid, blocks, *slots, counts, work=sorting.NULL_BLOCK)
    starts = target.scan(counts, np.int64)
    out = target.output(array.length, np.uint64)
    target.map(sorting.split_nulls, blocks, *slots, starts, out, work=sorting.NULL_BLOCK)
    return out


def with_nulls_of(
    array: Array,
    type_: DataType,
    buffers: Sequence[Buffer | None],
    children: Sequence[Array] = (),
) -> Array:
    """An array over valid buffers that begin at slot 0 (without the bitmap), null where `array` is."""
    # Most arrays are known to have no nulls.
    nulls = array._null_count
    validity = compact_validity(array) if nulls else None
    nulls = array._null_count if validity is not None else 0
    return Array.of_valid(type_, array.length, (validity, *buffers), nulls, children)


def combine_validity(arrays: Sequence[Array]) -> tuple[Buffer | None, int]:
    """The slots that are valid in all arrays of one length, as a bitmap from bit 0 on; the null count.

    Without nulls there is no bitmap. Nulls on a device that are not known yet are not counted.
    """
    first = None
    for array in arrays:
        nulls = array._null_count
        # Most arrays are known to have no nulls.
        if not nulls or not array.layout.has_validity or not (nulls > 0 or array.may_have_nulls):
            continue
        right = array.buffers[0]
        if first is None:
            first, bitmap, own, offset = array, right, right, array.offset
        # If one array is on both sides, there is nothing to combine.
        elif right is not own or array.offset != first.offset:
            assert bitmap is not None
            assert right is not None
            bitmap, count = and_bits(bitmap, offset, right, array.offset, array.length)
            offset = 0
    if first is None:
        return None, 0
    if bitmap is not own:
        return bitmap, count
    assert bitmap is not None
    return own_bits(bitmap, offset, first.length), first._null_count


def null_outside(array: Array, visible: Buffer, hidden: int = UNKNOWN) -> Array:
    """A checked array, null also where a bit of `visible` is clear: in `hidden` slots, if known.

    If the layout has a bitmap, only that is copied. A sparse union gets nulls in its children; for
    them, a dense union gets its own value for each slot, and a run-end encoded array its own run.
    """
    if not array.length or not hidden:
        return array
    return NULL_OUTSIDE[array.layout.kind](array, visible, hidden)


NULL_OUTSIDE: Dispatch[LayoutKind, Callable[[Array, Buffer, int], Array]] = by_layout("make null")


@NULL_OUTSIDE.of(
    LayoutKind.FIXED_SIZE,
    LayoutKind.DICTIONARY,
    LayoutKind.BINARY,
    LayoutKind.BINARY_VIEW,
    LayoutKind.LIST,
    LayoutKind.LIST_VIEW,
    LayoutKind.FIXED_SIZE_LIST,
    LayoutKind.STRUCT,
)
def _null_by_bitmap(array: Array, visible: Buffer, hidden: int) -> Array:
    length, own = array.length, array.buffers[0]
    if own is not None and array.may_have_nulls:
        visible, hidden = and_bits(own, array.offset, visible, 0, length)
    buffers, children = own_parts(array)
    buffers = (visible, *buffers[1:])
    return Array.of_valid(array.type, length, buffers, hidden, children, array.dictionary)


NULL_OUTSIDE.of(LayoutKind.NULL)(lambda array, visible, hidden: array)


@NULL_OUTSIDE.of(LayoutKind.SPARSE_UNION)
def _null_in_sparse_union(array: Array, visible: Buffer, hidden: int) -> Array:
    buffers, children = own_parts(array)
    children = [null_outside(child, visible, hidden) for child in children]
    return Array.of_valid(array.type, array.length, buffers, 0, children)
