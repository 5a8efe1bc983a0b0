"""Union arrays: the slots of each child, all values in one array, and conversion between layouts.

Columnar format 1.5: "Union Layout".
"""

from __future__ import annotations

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.bitmaps import bytes_equal_to
from colkern.errors import LimitExceededError
from colkern.kernels import unions
from colkern.layouts import LayoutKind, Role
from colkern.operations.arguments import Kind, operation
from colkern.operations.creation import nulls
from colkern.operations.operands import integers
from colkern.operations.own_slots import own_children
from colkern.operations.position_checks import require_valid
from colkern.operations.selection import take_picked, take_positions
from colkern.operations.selection.dense_unions import picked_offsets
from colkern.operations.selection.gathering import Places, gather
from colkern.operations.union_slots import child_numbers, slots_of
from colkern.operations.validity import null_outside
from colkern.targets import Items, target_of


@operation
def select_child(array: Array, child: int) -> tuple[Array, Array]:
    """The slots of a union that select a child, and their values.

    Args:
        array: A sparse or dense union.
        child: The child's number (not its type code).

    Returns:
        The slots as int64, increasing; and a copy of their values, in the child's type.

    Raises:
        TypeError: If the array is not a union.
        IndexError: If there is no such child.
        InvalidArrowError: If a slot has an unknown type id or an offset out of bounds.
    """
    union = require_union(array)
    if not 0 <= child < len(union.fields):
        raise IndexError(f"child {child} of a union of {len(union.fields)}")
    target = target_of(array.device)
    slots = slots_of(target, array.items(Role.TYPE_IDS), union.type_codes[child])
    numbers = integers(target, slots.view(np.int64))
    places, values = slots, array.children[child]
    if union.mode == "dense":
        places = picked_offsets(target, array.items(Role.OFFSETS), slots)
    else:
        values = values.slice(array.offset, array.length)
    return numbers, take_picked(values, places)


@operation(kind=Kind.SELECTION)
def gather_union(array: Array) -> Array:
    """The values of a union whose children all have one type, as an array of that type; copied.

    Raises:
        TypeError: If the array is not a union, or its children are not of one type.
        InvalidArrowError: If a slot has an unknown type id or an offset out of bounds.
    """
    union = require_union(array)
    if len({field.type for field in union.fields}) != 1:
        raise TypeError(f"array: its children must be of one type, they are {array.type}")
    type_ids = array.items(Role.TYPE_IDS)
    target = target_of(array.device)
    places = Places(target, type_ids, _numbers(array), _slot_offsets(array))
    is_dense = array.layout.kind is LayoutKind.DENSE_UNION
    return gather(array.children if is_dense else own_children(array), places)


def require_union(array: Array) -> s.Union:
    """The type of a valid union; raises `TypeError` or `InvalidArrowError`."""
    storage = array.type.storage
    if not isinstance(storage, s.Union):
        raise TypeError(f"array: expected a union, got {array.type}")
    require_valid(array)
    return storage


def _numbers(array: Array) -> Items:
    """A table from type id to child number."""
    numbers = child_numbers(array.type.storage)
    return target_of(array.device).table(numbers, np.int64)


def _slot_offsets(array: Array) -> Items:
    """The offsets of a dense union; empty for a sparse one, whose children are cut to its slots."""
    if array.layout.kind is LayoutKind.SPARSE_UNION:
        return target_of(array.device).table([], np.int32)
    return array.items(Role.OFFSETS)


_MOST = np.iinfo(np.int32).max


@operation(kind=Kind.ELEMENT_WISE)
def to_dense_union(array: Array) -> Array:
    """A sparse union as a dense one, whose children have only the values that are selected.

    The values are copied. A dense union is returned as it is.

    Raises:
        TypeError: If the array is not a union.
        LimitExceededError: If a child would have more values than fit the offsets.
        InvalidArrowError: If a slot has an unknown type id, or a child points outside its memory.
    """
    union = require_union(array)
    if union.mode == "dense":
        return array
    target = target_of(array.device)
    type_ids = array.items(Role.TYPE_IDS)
    offsets = target.output(array.length, np.int32)
    children = []
    for code, child in zip(union.type_codes, own_children(array), strict=True):
        slots = slots_of(target, type_ids, code)
        if len(slots) > _MOST:
            raise LimitExceededError(f"{len(slots)} slots of one child do not fit int32 offsets")
        target.map(unions.number_slots, len(slots), slots, offsets)
        children.append(take_positions(child, slots))
    type_ = s.dense_union(union.fields, union.type_codes)
    buffers = (target.buffer(type_ids), target.buffer(offsets))
    return Array.of_valid(type_, array.length, buffers, 0, children)


@operation(kind=Kind.ELEMENT_WISE)
def to_sparse_union(array: Array) -> Array:
    """A dense union as a sparse one; a child is null in slots that select another child.

    Children without nulls of their own, unions and run-end encoded arrays, have arbitrary values there.
    All values are copied. A sparse union is returned as it is.

    Raises:
        TypeError: If the array is not a union.
        InvalidArrowError: If a slot has an unknown type id, or has an offset outside its child.
    """
    union = require_union(array)
    if union.mode == "sparse":
        return array
    type_ids = array.items(Role.TYPE_IDS)
    children = [
        _spread(array, type_ids, code, child)
        for code, child in zip(union.type_codes, array.children, strict=True)
    ]
    type_ = s.sparse_union(union.fields, union.type_codes)
    buffers = (target_of(array.device).buffer(type_ids),)
    return Array.of_valid(type_, array.length, buffers, 0, children)


def _spread(array: Array, type_ids: Items, code: int, child: Array) -> Array:
    """A child with a value for each slot of the union; null where another child is selected."""
    if child.length == 0:
        return nulls(array.length, child.type, array.device)
    target = target_of(array.device)
    places = target.output(array.length, np.int64)
    offsets = array.items(Role.OFFSETS)
    target.map(unions.places_in_child, array.length, type_ids, code, offsets, places)
    taken = take_positions(child, places)
    if not taken.layout.has_validity:
        return taken
    bits = bytes_equal_to(target, type_ids, code)
    return null_outside(taken, bits)
