"""Elements of lists: all of them, their number in each list, their parent lists, and one from each list.

Columnar format 1.5: "Variable-size List Layout", "ListView Layout", "Fixed-Size List Layout".
"""

from __future__ import annotations

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.kernels import lists
from colkern.layouts import LayoutKind, Role
from colkern.operations.arguments import Kind, operation
from colkern.operations.creation import nulls
from colkern.operations.list_slots import Lists, list_size, lists_of, require_lists
from colkern.operations.selection import take_positions
from colkern.operations.selection.list_elements import copy_elements
from colkern.operations.validity import compact_validity, null_outside, with_nulls_of
from colkern.targets import NOWHERE, filled, target_of

_INT32, _INT64 = s.int32(), s.int64()


@operation(kind=Kind.SELECTION)
def list_flatten(array: Array) -> Array:
    """The elements of all lists in one array; elements under null lists are left out.

    The result is a slice of the child if the lists follow each other there and no null hides elements;
    else it is copied.

    Args:
        array: A list, large list, list view, fixed-size list or map array.

    Raises:
        TypeError: If the array has no lists.
    """
    return shown_elements(lists_of(array))


def shown_elements(slots: Lists) -> Array:
    """As `list_flatten`, for `Lists`."""
    row = slots.row()
    if row is not None:
        return slots.elements(*row)
    starts = slots.starts(slots.shown)
    return copy_elements(slots.target, slots.child, slots.begins(starts.dtype), starts)


@operation(kind=Kind.ELEMENT_WISE)
def list_value_length(array: Array) -> Array:
    """The length of each list, null for a null list: int64 for large lists, int32 for others.

    For list views, these are the sizes, which are not copied.

    Args:
        array: A list, large list, list view, fixed-size list or map array.

    Raises:
        TypeError: If the array has no lists.
    """
    require_lists(array)
    target, count, kind = target_of(array.device), array.length, array.layout.kind
    if kind is LayoutKind.LIST_VIEW:
        lengths = array.items(Role.SIZES)
    elif kind is LayoutKind.FIXED_SIZE_LIST:
        lengths = filled(target, count, np.int32, list_size(array))
    else:
        starts = array.items(Role.OFFSETS)
        lengths = target.output(count, starts.dtype)
        target.map(lists.list_sizes, count, starts, lengths)
    type_ = _INT64 if lengths.dtype.itemsize == 8 else _INT32
    return with_nulls_of(array, type_, (target.buffer(lengths),))


@operation
def list_parent_indices(array: Array) -> Array:
    """The slot (int64) of the list that each element of `list_flatten(array)` comes from.

    Unlike in pyarrow, elements under null lists are not counted.

    Args:
        array: A list, large list, list view, fixed-size list or map array.

    Raises:
        TypeError: If the array has no lists.
    """
    slots = lists_of(array)
    starts = slots.element_starts()
    target = slots.target
    count = slots.total
    out = target.output(count, np.int64)
    target.map(lists.list_of_each, count, starts, out)
    return Array.of_valid(_INT64, count, (None, target.buffer(out)), 0)


@operation(kind=Kind.ELEMENT_WISE)
def list_element(array: Array, index: int) -> Array:
    """Element `index` of each list, null for a null list; copied.

    Args:
        array: A list, large list, list view, fixed-size list or map array.
        index: 0 for the first element.

    Raises:
        TypeError: If the array has no lists.
        IndexError: If `index` is negative, or a list that is not null has no such element.
    """
    slots = lists_of(array)
    target = slots.target
    if index < 0:
        raise IndexError(f"index: must not be negative, got {index}")
    positions = target.output(array.length, np.int64)
    short = NOWHERE
    if array.length:
        short = target.reduce(lists.place_in_lists, array.length, *slots.args, index, positions)
    if short != NOWHERE:
        length = slots.length_of(short)
        raise IndexError(f"index {index}: the list in slot {short} has length {length}")
    if not slots.child.length:
        return nulls(array.length, slots.child.type, array.device)
    taken = take_positions(slots.child, positions)
    visible = compact_validity(array)
    return taken if visible is None else null_outside(taken, visible)
