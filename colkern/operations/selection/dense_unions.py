"""Selection from dense unions, whose slots have offsets into their children.

Columnar format 1.5: "Dense Union".
"""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.kernels import unions
from colkern.layouts import LayoutKind, Role
from colkern.operations.selection.engine import ASSEMBLE, Copier, assemble
from colkern.operations.selection.filtering import Masked
from colkern.operations.selection.taking import Picks
from colkern.operations.selection.words import take_items
from colkern.operations.union_slots import slots_of
from colkern.targets import Items, Target, target_of


@singledispatch
def assemble_dense_union(how: Copier, array: Array) -> Array:
    """As `assemble`, for dense unions."""
    raise NotImplementedError


ASSEMBLE.of(LayoutKind.DENSE_UNION)(assemble_dense_union)


@assemble_dense_union.register
def _(how: Masked, array: Array) -> Array:
    # A part of increasing offsets increases, too.
    buffers = (how.items(array, Role.TYPE_IDS), how.items(array, Role.OFFSETS))
    return Array.of_valid(array.type, how.count, buffers, 0, array.children)


@assemble_dense_union.register
def _(how: Picks, array: Array) -> Array:
    # Children are taken by position, too, since offsets into a child must not decrease. A null
    # position makes the child's slot null.
    target = target_of(array.device)
    storage = array.type.storage
    assert isinstance(storage, s.Union)
    type_ids = take_items(target, array.items(Role.TYPE_IDS), how.words)
    places = picked_offsets(target, array.items(Role.OFFSETS), how.words)
    offsets = target.output(how.count, np.int32)
    children = []
    for code, child in zip(storage.type_codes, array.children, strict=True):
        slots = slots_of(target, type_ids, code)
        target.map(unions.number_slots, len(slots), slots, offsets)
        own = Picks(picked_offsets(target, places, slots), *how.at(target, slots))
        children.append(assemble(own, child))
    buffers = (target.buffer(type_ids), target.buffer(offsets))
    return Array.of_valid(array.type, how.count, buffers, 0, children)


def picked_offsets(target: Target, offsets: Items, words: Items) -> Items:
    """The offsets (int32, not negative) at positions, for use as positions (uint32, read-only)."""
    return take_items(target, offsets, words).view(np.uint32)
