"""Selection from run-end encoded arrays, of which the runs are cut and the values are not repeated.

Columnar format 1.5: "Run-End Encoded Layout".
"""

from __future__ import annotations

from typing import Any

import numpy as np

from colkern.arrays import Array
from colkern.kernels import offsets, runs
from colkern.layouts import Role
from colkern.memory import Buffer
from colkern.operations.patterns import compact_blocks
from colkern.operations.run_encoding import encode_words, require_room
from colkern.operations.run_search import own_runs, runs_at, runs_of_range
from colkern.operations.selection import Picks, take_items, take_picks, take_positions
from colkern.targets import Target, target_of

_MANY = 4
"""From so many positions in a run on, it is quicker to go through the runs than to look each up."""


def filter_runs(array: Array, bits: Buffer, bit_offset: int) -> Array:
    """The slots of a checked run-end encoded array whose bit is set, run-end encoded.

    Each run becomes as long as it has such slots, and goes if it has none; neighbours that then have
    the same value stay two runs.

    Args:
        array: The array.
        bits: A bitmap on the same device.
        bit_offset: The bit of the array's first slot; there are as many as slots from there on.
    """
    target = target_of(array.device)
    ends = array.children[0]
    first, count = own_runs(array)
    before = _running_bits(target, bits, bit_offset, array.length)
    kept = target.output(count + 1, np.int64)
    target.map(
        runs.kept_before,
        count + 1,
        ends.items(Role.DATA),
        first,
        array.offset,
        array.length,
        bits.array,
        bit_offset,
        before,
        kept,
    )
    return _cut(array, first, target.frozen(kept))


def take_runs(array: Array, positions: Any) -> Array:
    """The values at positions (int32/int64[n], read-only, in bounds), run-end encoded, not decoded.

    Neighbours from one run become one run, unless there are so few of those that it saves nothing.

    Raises:
        LimitExceededError: If there are more positions than a run end can say.
    """
    require_room(len(positions), array.children[0].items(Role.DATA).dtype)
    in_order = _take_in_order(array, positions)
    return _take_in_any_order(array, positions) if in_order is None else in_order


def _take_in_order(array: Array, positions: Any) -> Array | None:
    """As `take_runs`: the runs are cut, as by a filter. None if they are not few, or not in order."""
    count = len(positions)
    if not count:
        return None
    target = target_of(array.device)
    begin, last = target.item(positions, 0), target.item(positions, count - 1)
    if last < begin or target.reduce(offsets.count_descents, count - 1, positions):
        return None
    first, found = runs_of_range(array, begin, last)
    if _MANY * found > count:
        return None
    before = target.output(found + 1, np.int64)
    ends = array.children[0].items(Role.DATA)
    target.map(runs.picked_before, found + 1, ends, first, array.offset, positions, before)
    return _cut(array, first, target.frozen(before))


def _take_in_any_order(array: Array, positions: Any) -> Array:
    """As `take_runs`: each position is looked up."""
    target = target_of(array.device)
    ends, values = array.children
    kind = ends.items(Role.DATA).dtype
    few = values.length >> 31 == 0
    found = target.frozen(runs_at(array, positions, np.int32 if few else np.int64))
    found = found.view(f"u{found.dtype.itemsize}")
    run_ends, firsts = encode_words(target, found, kind)
    if firsts is not None:
        found = target.frozen(take_items(target, found, firsts.view(f"u{kind.itemsize}")))
    numbers = Array(ends.type, len(found), [None, target.buffer(run_ends)], null_count=0)
    return Array(array.type, len(positions), [], [numbers, take_picks(values, Picks(found))])


def _cut(array: Array, first: int, kept: Any) -> Array:
    """A run-end encoded array of the slots that are kept.

    Args:
        array: The array.
        first: The first run that may keep some.
        kept: How many are kept before each run from that one on, and in all (int64[runs + 1]).
    """
    target = target_of(array.device)
    ends, values = array.children
    count = len(kept) - 1
    blocks = (count + (1 << runs.BLOCK_BITS) - 1) >> runs.BLOCK_BITS
    held = compact_blocks(target, runs.count_kept_runs, runs.list_kept_runs, blocks, kept, first)
    held = target.frozen(held)
    made = target.output(len(held), ends.items(Role.DATA).dtype)
    target.map(runs.end_kept_runs, len(held), kept, first, held, made)
    run_ends = Array(ends.type, len(held), [None, target.buffer(made)], null_count=0)
    length = target.item(kept, count)
    cut = Array(array.type, length, [], [run_ends, take_positions(values, held)])
    cut._checked = True
    return cut


def _running_bits(target: Target, bits: Buffer, offset: int, length: int) -> Any:
    """How many bits are set before each 64 of them (int64), and in all."""
    counts = target.output((length + 63) // 64, np.int64)
    target.map(runs.count_word_bits, len(counts), bits.array, offset, length, counts)
    return target.frozen(target.scan(counts, np.int64))
