"""Selection from run-end encoded arrays: runs are cut, and values are not repeated.

`repeat_bytes` repeats binary values, for those who need the values of each slot.

Columnar format 1.5: "Run-End Encoded Layout".
"""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from colkern.arrays import Array
from colkern.kernels import offsets, runs
from colkern.layouts import LayoutKind, Role
from colkern.memory import HOST, Buffer, DType
from colkern.operations.operands import offset_ends, unsigned
from colkern.operations.patterns import compact_blocks, measure, require_room
from colkern.operations.run_search import (
    FEW,
    encode_words,
    own_runs,
    require_run_ends,
    runs_at,
)
from colkern.operations.selection.engine import ASSEMBLE, Copier
from colkern.operations.selection.filtering import Masked
from colkern.operations.selection.taking import Picks, take_picked, take_positions
from colkern.operations.selection.words import take_items
from colkern.operations.validity import null_outside
from colkern.targets import Items, Target, on_its_device, target_of

_SIGNED: dict[int, DType] = {4: np.dtype(np.int32), 8: np.dtype(np.int64)}

_MANY = 4
"""From this many positions in a run on, going through the runs is faster than looking each up."""

_ONE_PASS = 1 << 12
"""The most positions that a host goes over one by one: to call several kernels takes longer."""


@singledispatch
def assemble_runs(how: Copier, array: Array) -> Array:
    """As `assemble`, for run-end encoded arrays."""
    raise NotImplementedError


ASSEMBLE.of(LayoutKind.RUN_END_ENCODED)(assemble_runs)


@assemble_runs.register
def _(how: Picks, array: Array) -> Array:
    positions, size = how.words, how.words.dtype.itemsize
    # Positions are in bounds, so no 64-bit one is negative, nor a 32-bit one if there are few
    # slots.
    fits = size == 8 or (size == 4 and array.length >> 31 == 0)
    positions = positions.view(_SIGNED[size]) if fits else positions.astype(np.int64)
    if how.picked is None:
        return take_runs(array, positions)
    ends, values = run_of_each(array, positions).children
    values = null_outside(values, how.picked, how.null_count)
    return Array.of_valid(array.type, how.count, (), 0, (ends, values))


@assemble_runs.register
def _(how: Masked, array: Array) -> Array:
    return filter_runs(array, Buffer(how.mask[0], how.target.device), how.offset)


def filter_runs(array: Array, bits: Buffer, bit_offset: int) -> Array:
    """The slots of a checked run-end encoded array whose bit is set, run-end encoded.

    Each run keeps as many slots as have a set bit, and is removed if none has; neighbours with equal
    values are not merged.

    Args:
        bits: A bitmap on the same device.
        bit_offset: The bit of the array's first slot.
    """
    target = target_of(array.device)
    ends = array.children[0].items(Role.DATA)
    first, count = own_runs(array)
    before = _running_bits(target, bits, bit_offset, array.length)
    kept = target.output(count + 1, np.int64)
    where = (ends, first, array.offset, array.length)
    target.map(runs.kept_before, count + 1, *where, bits.array, bit_offset, before, kept)
    return _cut(array, first, kept)


def take_runs(array: Array, positions: Items) -> Array:
    """The values at positions (int32/int64[n], read-only, in bounds), run-end encoded, not decoded.

    Neighbours from one run become one run, unless that would save too little.

    Raises:
        LimitExceededError: If there are more positions than fit the run ends.
    """
    count = len(positions)
    require_run_ends(count, array.children[0].items(Role.DATA).dtype)
    is_short = count <= _ONE_PASS and array.device is HOST
    in_order = None if is_short else _take_in_order(array, positions)
    return _take_in_any_order(array, positions) if in_order is None else in_order


@on_its_device
def run_of_each(array: Array, positions: Items) -> Array:
    """The values at positions (int32/int64[n], read-only, in bounds), each as a run of its own.

    Raises:
        LimitExceededError: If there are more positions than fit the run ends.
    """
    target = target_of(array.device)
    ends, values = array.children
    kind = ends.items(Role.DATA).dtype
    require_run_ends(len(positions), kind)
    numbers = (target.positions(len(positions)) + 1).astype(kind)
    run_ends = Array.of_valid(ends.type, len(positions), (None, target.buffer(numbers)), 0)
    holders = runs_at(array, positions)
    children = (run_ends, take_positions(values, holders))
    return Array.of_valid(array.type, len(positions), (), 0, children)


def _take_in_order(array: Array, positions: Items) -> Array | None:
    """As `take_runs`, by cutting runs, as in a filter. None if there are many runs, or no order."""
    count = len(positions)
    first, spanned = own_runs(array)
    if not count or _MANY * spanned > count:
        return None
    target = target_of(array.device)
    if target.reduce(offsets.count_bad_offsets, count - 1, positions, array.length):
        return None
    before = target.output(spanned + 1, np.int64)
    ends = array.children[0].items(Role.DATA)
    target.map(runs.picked_before, spanned + 1, ends, first, array.offset, positions, before)
    return _cut(array, first, before)


def _take_in_any_order(array: Array, positions: Items) -> Array:
    """As `take_runs`, by looking up each position."""
    target = target_of(array.device)
    ends, values = array.children
    kind = ends.items(Role.DATA).dtype
    few = values.length >> 31 == 0
    holders = runs_at(array, positions, np.int32 if few else np.int64)
    run_ends, holders = _joined_neighbours(target, unsigned(holders), kind)
    numbers = Array.of_valid(ends.type, len(holders), (None, target.buffer(run_ends)), 0)
    children = (numbers, take_picked(values, holders))
    return Array.of_valid(array.type, len(positions), (), 0, children)


def _joined_neighbours(target: Target, words: Items, kind: DType) -> tuple[Items, Items]:
    """The run ends of equal neighbours, as from `encode_words`, and the word of each run."""
    count = len(words)
    if target.device is not HOST or not 0 < count <= _ONE_PASS:
        ends, firsts = encode_words(target, words, kind)
        return ends, words if firsts is None else take_items(target, words, unsigned(firsts))
    joined = target.output(2 * count, words.dtype)
    size = target.reduce(runs.join_neighbours, count, words, joined)
    if size > count - count // FEW:
        numbers = target.output(count, kind)
        target.map(runs.number_runs, count, numbers)
        return numbers, words
    ends = target.output(size, kind)
    ends[:] = joined[count : count + size]
    return ends, joined[:size]


def _cut(array: Array, first: int, kept: Items) -> Array:
    """A run-end encoded array of the slots that are kept.

    Args:
        first: The first run that may keep slots.
        kept: The number of kept slots before each run from that one on, and in all (int64[runs + 1]).
    """
    target = target_of(array.device)
    ends, values = array.children
    count, kind = len(kept) - 1, ends.items(Role.DATA).dtype
    if target.device is HOST and 0 < count <= _ONE_PASS:
        held, out = _kept_in_order(target, kept, first, kind)
    else:
        blocks = (count + (1 << runs.BLOCK_BITS) - 1) >> runs.BLOCK_BITS
        listing = runs.count_kept_runs, runs.list_kept_runs
        held = compact_blocks(target, *listing, blocks, kept, first).view(np.uint64)
        out = target.output(len(held), kind)
        target.map(runs.end_kept_runs, len(held), kept, first, held.view(np.int64), out)
    run_ends = Array.of_valid(ends.type, len(held), (None, target.buffer(out)), 0)
    children = (run_ends, take_picked(values, held))
    return Array.of_valid(array.type, target.item(kept, count), (), 0, children)


def _kept_in_order(target: Target, kept: Items, first: int, kind: DType) -> tuple[Items, Items]:
    """The runs (uint64) that keep slots, and where each ends among these; see `_cut`."""
    count = len(kept) - 1
    joined = target.output(2 * count, np.uint64)
    # As many slots are kept before a run that keeps none as before the next one.
    size = target.reduce(runs.join_neighbours, count, kept[1:].view(np.uint64), joined)
    begin = int(joined[0] == 0)
    ends = target.output(size - begin, kind)
    ends[:] = joined[begin:size]
    if begin:
        held = joined[count : count + size - 1]
    elif size < count:
        # The first run, then those behind each of the others but the last.
        joined[count - 1] = 0
        held = joined[count - 1 : count + size - 1]
    else:
        held = target.positions(count).view(np.uint64)
    return held + np.uint64(first) if first else held, ends


def _running_bits(target: Target, bits: Buffer, offset: int, length: int) -> Items:
    """The number of set bits before each 64 bits (int64), and in all."""
    words = (length + 63) // 64
    before = target.output(words + 1, np.int64)
    target.map(runs.count_word_bits, words, bits.array, offset, length, before[1:])
    target.accumulate(before)
    return before


def can_repeat_bytes(values: Array, length: int) -> bool:
    """Whether `repeat_bytes` supports those values: the number of bytes must fit 64 bits."""
    if values.layout.kind is not LayoutKind.BINARY:
        return False
    ((first, last),) = offset_ends(values)
    return (last - first) * length < 1 << 62


@on_its_device
def repeat_bytes(
    values: Array, slots: tuple[Items, int, int], count: int, length: int
) -> tuple[Buffer, Buffer]:
    """Offsets and bytes of binary values, each repeated for the length of its run.

    Args:
        values: A checked array with a value for each run.
        slots: The ends of the runs (which do not decrease), the run of the first slot, and the position
            of that slot.
        count: The number of runs, starting with that one.

    Raises:
        LimitExceededError: If there are too many bytes for the offsets.
    """
    target = target_of(values.device)
    ends, _, offset = slots
    items = values.items(Role.OFFSETS)
    kind = items.dtype
    starts, total = measure(target, runs.measure_runs, count, np.int64, *slots, length, items)
    require_room(total, kind, "bytes")
    offsets = target.output(length + 1, kind)
    target.map(runs.repeat_offsets, length, *slots, items, starts, offsets)
    offsets[length:] = total
    data = target.output(total, np.uint8)
    source = values.buffer(Role.BYTES)
    if total and source is not None:
        places = offsets
        runs_and_bytes = (ends, offset, items, source.address, places)
        target.map(runs.repeat_bytes, length, *runs_and_bytes, data, balance=places)
    return target.buffer(offsets), target.buffer(data)
