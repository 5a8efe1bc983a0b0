"""Nulls from outside: an array that is null also where another bitmap says so, whatever its layout.

Columnar format 1.5: "Validity bitmaps"; "Struct Layout" on what a parent's validity says of children.
"""

from __future__ import annotations

from collections.abc import Callable

from colkern.arrays import UNKNOWN, Array
from colkern.bitmaps import and_bits
from colkern.dispatch import Dispatch, by_layout
from colkern.layouts import LayoutKind
from colkern.memory import Buffer
from colkern.operations.own_slots import own_parts


def null_outside(array: Array, visible: Buffer, hidden: int = UNKNOWN) -> Array:
    """The values of a checked array, null where a bit of `visible` is not set: in `hidden` slots, if known.

    Only bitmaps are copied, where the layout has them. A sparse union hands the nulls to its children,
    a dense one gives each slot a value of its own for that, and a run-end encoded array a run.
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


@NULL_OUTSIDE.of(LayoutKind.NULL)
def _null_already(array: Array, visible: Buffer, hidden: int) -> Array:
    return array


@NULL_OUTSIDE.of(LayoutKind.SPARSE_UNION)
def _null_in_sparse_union(array: Array, visible: Buffer, hidden: int) -> Array:
    buffers, children = own_parts(array)
    children = [null_outside(child, visible, hidden) for child in children]
    return Array.of_valid(array.type, array.length, buffers, 0, children)
