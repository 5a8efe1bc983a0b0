"""The elements of lists: all of them, how many each list has, whose each is, and one of each list.

Columnar format 1.5: "Variable-size List Layout", "ListView Layout", "Fixed-Size List Layout".
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.kernels import lists
from colkern.layouts import LayoutKind
from colkern.operations.arguments import operation
from colkern.operations.creation import nulls
from colkern.operations.list_slots import Lists, list_size, lists_of
from colkern.operations.nulling import null_outside
from colkern.operations.selection import take_positions
from colkern.operations.selection.list_elements import copy_elements
from colkern.operations.validity import compact_validity
from colkern.targets import NOWHERE, Items


@operation
def list_flatten(array: Array) -> Array:
    """The elements of all lists in one array; a null list has none, whatever stands under it.

    A slice of the child if the lists follow each other there and no null hides elements; else copied.

    Args:
        array: A list, large list, list view, fixed-size list or map array.

    Raises:
        TypeError: If the array has no lists.
        InvalidArrowError: If a list reaches outside the child.
    """
    found = lists_of(array)
    row = found.row()
    if row is not None:
        return found.elements(*row)
    starts = found.starts(found.shown)
    return copy_elements(found.child, found.begins(starts.dtype), starts)


@operation
def list_value_length(array: Array) -> Array:
    """How many elements each list has, null for a null list: int64 of large lists, int32 of others.

    Of list views not copied: their sizes.

    Args:
        array: A list, large list, list view, fixed-size list or map array.

    Raises:
        TypeError: If the array has no lists.
        InvalidArrowError: If a list reaches outside the child.
    """
    found = lists_of(array)
    lengths = _LENGTHS[array.layout.kind](found)
    nulls = array.null_count
    validity = compact_validity(array) if nulls else None
    kind = _KINDS[lengths.dtype.itemsize]
    return Array.of_valid(kind, array.length, (validity, found.target.buffer(lengths)), nulls)


@operation
def list_parent_indices(array: Array) -> Array:
    """The slot of the list (int64) that each element of `list_flatten(array)` comes from.

    Null lists have no elements here either, where pyarrow counts what they hide.

    Args:
        array: A list, large list, list view, fixed-size list or map array.

    Raises:
        TypeError: If the array has no lists.
        InvalidArrowError: If a list reaches outside the child.
    """
    found = lists_of(array)
    starts = found.element_starts()
    target = found.target
    count = target.item(starts, array.length) - target.item(starts, 0)
    out = target.output(count, np.int64)
    target.map(lists.list_of_each, count, starts, out)
    return Array.of_valid(_INT64, count, (None, target.buffer(out)), 0)


@operation
def list_element(array: Array, index: int) -> Array:
    """Element `index` of each list, null for a null list; copied.

    Args:
        array: A list, large list, list view, fixed-size list or map array.
        index: 0 for the first element.

    Raises:
        TypeError: If the array has no lists.
        IndexError: If `index` is negative, or a list that is not null has no such element.
        InvalidArrowError: If a list reaches outside the child.
    """
    found = lists_of(array)
    target = found.target
    if index < 0:
        raise IndexError(f"index: must not be negative, got {index}")
    positions = target.output(array.length, np.int64)
    short = NOWHERE
    if array.length:
        short = target.reduce(lists.place_in_lists, array.length, *found.args, index, positions)
    if short != NOWHERE:
        length = found.length_of(short)
        raise IndexError(f"index {index}: the list in slot {short} has length {length}")
    if not found.child.length:
        return nulls(array.length, found.child.type, array.device)
    taken = take_positions(found.child, target.frozen(positions))
    visible = compact_validity(array)
    return taken if visible is None else null_outside(taken, visible)


def _lengths_of_lists(found: Lists) -> Items:
    out = found.target.output(found.array.length, found.offsets.dtype)
    found.target.map(lists.list_sizes, found.array.length, found.offsets, out)
    return out


def _lengths_of_views(found: Lists) -> Items:
    return found.sizes


def _lengths_of_fixed(found: Lists) -> Items:
    out = found.target.output(found.array.length, np.int32)
    out[:] = list_size(found.array)
    return out


_LENGTHS: dict[LayoutKind, Callable[[Lists], Items]] = {
    LayoutKind.LIST: _lengths_of_lists,
    LayoutKind.LIST_VIEW: _lengths_of_views,
    LayoutKind.FIXED_SIZE_LIST: _lengths_of_fixed,
}

_INT64 = s.int64()

_KINDS: dict[int, s.DataType] = {4: s.int32(), 8: _INT64}
