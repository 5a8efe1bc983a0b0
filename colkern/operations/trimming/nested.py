"""Trimming of layouts with children: what of each child is visible."""

from __future__ import annotations

from typing import Any

import numpy as np

from colkern import schema as s
from colkern.bitmaps import and_bits, bitmap_of
from colkern.kernels import hidden, selection
from colkern.layouts import Role
from colkern.operations.booleans import expand
from colkern.operations.selection import take_positions
from colkern.operations.selection.concatenation import join_arrays
from colkern.operations.selection.words import repeat_bits
from colkern.operations.trimming.flat import visible_items
from colkern.operations.trimming.slots import (
    ALL_VISIBLE,
    Parts,
    Shown,
    Slots,
    bits_reached,
    own_positions,
)
from colkern.operations.trimming.variable import hides_values, rebased_offsets, visible_offsets
from colkern.operations.union_slots import slots_with


def trim_list(slots: Slots) -> Parts:
    """The elements of visible lists."""
    array, target = slots.array, slots.target
    child = array.children[0]
    if not hides_values(slots):
        rebased, first, last = rebased_offsets(slots)
        elements = child.slice(first, last - first)
        return [target.buffer(rebased)], [Shown(elements, ALL_VISIBLE)]
    starts = visible_offsets(slots)
    places = target.output(target.item(starts, array.length), np.uint64)
    own = array.items(Role.OFFSETS)
    args = (own_positions(slots), own, target.frozen(starts), places)
    target.map(selection.take_ranges, array.length, *args, balance=starts)
    elements = take_positions(child, target.frozen(places))
    return [target.buffer(starts)], [Shown(elements, ALL_VISIBLE)]


def trim_list_view(slots: Slots) -> Parts:
    """The elements that visible views show, and what is between them hidden."""
    array, target = slots.array, slots.target
    sizes_buffer = visible_items(slots, Role.SIZES)
    begins = array.items(Role.OFFSETS)
    sizes = sizes_buffer.view(begins.dtype)
    used = sizes > 0
    if not used.any():
        nowhere = target.buffer(target.allocate(array.length, begins.dtype))
        return [nowhere, sizes_buffer], [Shown(array.children[0].slice(0, 0), ALL_VISIBLE)]
    starts, lengths = begins[used].astype(np.int64), sizes[used].astype(np.int64)
    first, last = int(starts.min()), int((starts + lengths).max())
    moved = target.allocate(array.length, begins.dtype)
    moved[used] = starts - first
    child = array.children[0].slice(first, last - first)
    reached = bits_reached(target, starts - first, starts - first + lengths, child.length)
    return [target.buffer(moved), sizes_buffer], [Shown(child, reached)]


def trim_fixed_list(slots: Slots) -> Parts:
    """The elements of all lists, hidden below hidden ones."""
    array, target = slots.array, slots.target
    storage = array.type.storage
    assert isinstance(storage, s.FixedSizeList)
    size = storage.list_size
    child = array.children[0].slice(array.offset * size, array.length * size)
    if slots.visible is ALL_VISIBLE or not child.length:
        return [], [Shown(child, ALL_VISIBLE)]
    return [], [Shown(child, repeat_bits(target, slots.visible, 0, array.length, size))]


def trim_struct(slots: Slots) -> Parts:
    """The fields, hidden where the struct is."""
    array = slots.array
    cut = [child.slice(array.offset, array.length) for child in array.children]
    return [], [Shown(child, slots.visible) for child in cut]


def trim_sparse_union(slots: Slots) -> Parts:
    """The children, hidden where a slot shows another one."""
    array, target = slots.array, slots.target
    storage = array.type.storage
    assert isinstance(storage, s.Union)
    type_ids = array.items(Role.TYPE_IDS)
    children = []
    for code, child in zip(storage.type_codes, array.children, strict=True):
        shown = bitmap_of(target, slots_with(target, type_ids, code), array.length)
        if slots.visible is not ALL_VISIBLE:
            shown, _ = and_bits(shown, 0, slots.visible, 0, array.length)
        children.append(Shown(child.slice(array.offset, array.length), shown))
    # A hidden slot of a union keeps its type id: zero need not be a child's.
    return [target.buffer(type_ids)], children


def trim_dense_union(slots: Slots) -> Parts:
    """The children from the first value that a slot has to the last one."""
    array, target = slots.array, slots.target
    storage = array.type.storage
    assert isinstance(storage, s.Union)
    type_ids, places = array.items(Role.TYPE_IDS), array.items(Role.OFFSETS)
    seen = _expanded(slots)
    moved = target.output(array.length, np.int32)
    moved[:] = places
    children = []
    for code, child in zip(storage.type_codes, array.children, strict=True):
        own = type_ids == code
        chosen = places[own]
        # A hidden slot keeps its place too: it must be one that the child has, in increasing order.
        first, last = (int(chosen.min()), int(chosen.max()) + 1) if len(chosen) else (0, 0)
        moved[own] -= first
        shown = places[own & seen].astype(np.int64) - first
        reached = bits_reached(target, shown, shown + 1, last - first)
        children.append(Shown(child.slice(first, last - first), reached))
    return [target.buffer(type_ids), target.buffer(moved)], children


def _expanded(slots: Slots) -> Any:
    """The visible slots as booleans."""
    array, target = slots.array, slots.target
    if slots.visible is ALL_VISIBLE:
        return target.allocate(array.length, np.bool_) | True
    return expand(target, slots.visible, 0, array.length)


def trim_runs(slots: Slots) -> Parts:
    """The runs, hidden where all slots of one are."""
    array, target = slots.array, slots.target
    run_ends, values = array.children
    runs = run_ends.length
    last = target.item(run_ends.items(Role.DATA), runs - 1) if runs else 0
    if array.offset or last != array.length or values.length != runs:
        run_ends, values = join_arrays([array]).children
    shown = ALL_VISIBLE
    if slots.visible is not ALL_VISIBLE:
        ends = run_ends.items(Role.DATA)
        bits = target.output((len(ends) + 7) // 8, np.uint8)
        target.map(hidden.runs_with_set_bits, len(bits), ends, slots.visible.array, bits)
        shown = target.buffer(bits)
    return [], [Shown(run_ends, ALL_VISIBLE), Shown(values, shown)]
