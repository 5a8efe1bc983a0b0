"""`to_dense_union` and `to_sparse_union`: the same slots in the other layout.

Columnar format 1.5: "Union Layout".
"""

from __future__ import annotations

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.errors import LimitExceededError
from colkern.kernels import unions
from colkern.layouts import Role
from colkern.operations.arguments import Kind, operation
from colkern.operations.creation import nulls
from colkern.operations.nulling import null_outside
from colkern.operations.own_slots import own_children
from colkern.operations.selection import take_positions
from colkern.operations.union_slots import slots_of, slots_with
from colkern.operations.unions import require_union
from colkern.targets import Items, target_of

_MOST = np.iinfo(np.int32).max


@operation(kind=Kind.ELEMENT_WISE)
def to_dense_union(array: Array) -> Array:
    """A sparse union as a dense one, whose children have the values that are shown, and no others.

    These are copied. A dense union is returned as it is.

    Raises:
        TypeError: If the array is not a union.
        LimitExceededError: If a child would have more values than offsets can say.
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
    """A dense union as a sparse one; a child is null in the slots that show another.

    Children that have no nulls of their own, unions and run-end encoded arrays, have any of their
    values there. All values are copied. A sparse union is returned as it is.

    Raises:
        TypeError: If the array is not a union.
        InvalidArrowError: If a slot has an unknown type id, or leads out of its child.
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
    """A child with a value for each slot of the union; null where another child is shown."""
    if child.length == 0:
        return nulls(array.length, child.type, array.device)
    target = target_of(array.device)
    places = target.output(array.length, np.int64)
    offsets = array.items(Role.OFFSETS)
    target.map(unions.places_in_child, array.length, type_ids, code, offsets, places)
    taken = take_positions(child, places)
    if not taken.layout.has_validity:
        return taken
    bits = slots_with(target, type_ids, code)
    return null_outside(taken, bits)
