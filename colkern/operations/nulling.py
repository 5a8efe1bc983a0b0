"""Nulls from outside: an array that is null also where another bitmap says so, whatever its layout.

Columnar format 1.5: "Validity bitmaps"; "Struct Layout" on what a parent's validity says of children.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from colkern import schema as s
from colkern.arrays import UNKNOWN, Array
from colkern.bitmaps import and_bits
from colkern.layouts import LayoutKind
from colkern.memory import Buffer
from colkern.operations.own_slots import own_parts
from colkern.operations.runs import run_of_each
from colkern.operations.selection import Picks, gathered_bits, take_positions
from colkern.operations.union_slots import slots_of
from colkern.targets import target_of


def null_outside(array: Array, visible: Buffer, hidden: int = UNKNOWN) -> Array:
    """The values of a checked array, null wherever a bit of `visible` is not set.

    Only bitmaps are copied, where the layout has them. A sparse union hands the nulls to its children,
    a dense one gives each slot a value of its own for that, and a run-end encoded array a run.

    Args:
        array: Any array.
        visible: One bit a slot, from bit 0 on.
        hidden: How many of these are not set, if that is known.
    """
    if not array.length:
        return array
    special = _NULL.get(array.layout.kind)
    made = _null_by_bitmap(array, visible, hidden) if special is None else special(array, visible)
    made._checked = True
    return made


def _null_by_bitmap(array: Array, visible: Buffer, hidden: int) -> Array:
    length, own = array.length, array.buffers[0]
    if own is not None and array.null_count:
        visible, shown = and_bits(own, array.offset, visible, 0, length)
        hidden = length - shown
    buffers, children = own_parts(array)
    buffers = (visible, *buffers[1:])
    if not children and array.dictionary is None:
        return Array.of_valid(array.type, length, buffers, hidden)
    return Array(array.type, length, buffers, children, array.dictionary, 0, hidden)


def _null_already(array: Array, visible: Buffer) -> Array:
    return array


def _null_in_sparse_union(array: Array, visible: Buffer) -> Array:
    buffers, children = own_parts(array)
    children = [null_outside(child, visible) for child in children]
    return Array(array.type, array.length, buffers, children)


def _null_in_dense_union(array: Array, visible: Buffer) -> Array:
    target = target_of(array.device)
    storage = array.type.storage
    assert isinstance(storage, s.Union)
    # Two slots may show one value, and only one of them may be null.
    own = take_positions(array, target.frozen(target.positions(array.length)))
    type_ids, places = own.buffers
    assert type_ids is not None
    children = []
    for code, child in zip(storage.type_codes, own.children, strict=True):
        slots = target.frozen(slots_of(target, type_ids.array.view(np.int8), code))
        bits, _ = gathered_bits(target, visible, 0, Picks(slots))
        children.append(null_outside(child, bits))
    return Array(array.type, array.length, [type_ids, places], children)


def _null_in_runs(array: Array, visible: Buffer) -> Array:
    target = target_of(array.device)
    own = run_of_each(array, target.frozen(target.positions(array.length)))
    run_ends, values = own.children
    return Array(array.type, array.length, [], [run_ends, null_outside(values, visible)])


_NULL: dict[LayoutKind, Callable[[Array, Buffer], Array]] = {
    LayoutKind.NULL: _null_already,
    LayoutKind.SPARSE_UNION: _null_in_sparse_union,
    LayoutKind.DENSE_UNION: _null_in_dense_union,
    LayoutKind.RUN_END_ENCODED: _null_in_runs,
}
