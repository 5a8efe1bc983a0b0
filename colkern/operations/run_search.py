"""Runs of equal neighbours: their bounds, the run that holds a slot, and common runs of two arrays.

Columnar format 1.5: "Run-End Encoded Layout".
"""

from __future__ import annotations

import numpy as np

from colkern.arrays import Array
from colkern.errors import LimitExceededError
from colkern.kernels import changes, filtering, run_merging, runs
from colkern.layouts import Role
from colkern.memory import ALIGNMENT, HOST, DType
from colkern.operations.operands import WORDS
from colkern.operations.patterns import Kept
from colkern.targets import Items, ItemType, Target, on_its_device, target_of

_RUN = np.dtype(np.int64)

_SEARCH = 16
"""About the ratio of the time of a search for one run to that of its share of an index."""


def runs_at(array: Array, positions: Items, dtype: ItemType = np.int64) -> Items:
    """The runs of a checked array that hold the slots at `positions` (int32 or int64, in bounds).

    They are int64, or int32 if that is the `dtype` and there are many positions.
    """
    target = target_of(array.device)
    ends = array.children[0].items(Role.DATA)
    count = len(positions)
    pairs = (array.length + 63) // 64
    if count * _SEARCH < pairs + len(ends):
        out = target.output(count, np.int64)
        target.map(runs.find_runs, count, ends, positions, array.offset, out)
        return out
    index = target.output(2 * pairs, np.uint64)
    target.map(runs.index_runs, pairs, ends, array.offset, index)
    out = target.output(count, dtype)
    target.map(runs.look_up_runs, count, index, positions, out)
    return out


def own_runs(array: Array) -> tuple[int, int]:
    """The first run of a checked array's own slots, and the number of runs that these are in."""
    if not array.length:
        return 0, 0
    ends = array.children[0].items(Role.DATA)
    if array.offset == 0 and target_of(array.device).item(ends, -1) == array.length:
        return 0, len(ends)
    target = target_of(array.device)
    places = target.table([0, array.length - 1], np.int64)
    ends_of_range = target.output(2, np.int64)
    target.map(runs.find_runs, 2, ends, places, array.offset, ends_of_range)
    run = target.item(ends_of_range, 0)
    return run, target.item(ends_of_range, 1) - run + 1


FEW = 8
"""Merging positions does not pay if fewer than one in this many neighbours are equal."""


@on_its_device
def encode_words(
    target: Target, words: Items, kind: np.dtype[np.signedinteger]
) -> tuple[Items, Items | None]:
    """The run ends of equal neighbours in `words` (uint32/uint64[n]), and the start of each run.

    Both are of the dtype `kind`. If hardly any neighbours are equal: a run for each word, and None.
    """
    count = len(words)
    marks = target.output(count + 63 >> 6, WORDS[8])
    target.map(changes.mark_changes, len(marks), words, 1, count, marks)
    kept = Kept.of(target, marks.view(WORDS[1]), 0, count)
    if kept.count > count - count // FEW:
        numbers = target.output(count, kind)
        target.map(runs.number_runs, count, numbers)
        return numbers, None
    bounds = _listed(kept, kind)
    return bounds[1:], bounds[:-1]


def require_run_ends(length: int, kind: np.dtype[np.signedinteger]) -> None:
    """Raise `LimitExceededError` if `length` slots do not fit run ends of a dtype."""
    if length.bit_length() >= 8 * kind.itemsize:
        raise LimitExceededError(f"{length} slots do not fit run ends of {kind}")


@on_its_device
def run_bounds(
    target: Target, marks: Items, length: int, kind: np.dtype[np.signedinteger]
) -> Items:
    """The starts of runs, by the bits set in `marks` (words), and the end of the last run; read-only."""
    return _listed(Kept.of(target, marks.view(WORDS[1]), 0, length), kind)


def _listed(kept: Kept, kind: np.dtype[np.signedinteger]) -> Items:
    # The ends become a buffer without a copy: they begin one item after the starts, at an address
    # that is aligned for a buffer.
    before = ALIGNMENT // kind.itemsize - 1
    bounds = kept.target.output(before + kept.count + 1, kind)[before:]
    kept.map(filtering.kept_positions, kept.starts, bounds.view(WORDS[kind.itemsize]))
    bounds[kept.count] = kept.length
    return bounds


# Two arrays


def merge_runs(left: Array, right: Array) -> tuple[Items, Items, Items]:
    """The ends of the runs of both arrays, of the narrower dtype, and the runs of either that hold each.

    The runs are int64 and read-only.

    Args:
        left: A checked run-end encoded array.
        right: Another one of the same length.
    """
    target, length = target_of(left.device), left.length
    own, other = left.children[0].items(Role.DATA), right.children[0].items(Role.DATA)
    # Both arrays have the same length, so the narrower run ends can hold it, too.
    kind = own.dtype
    if kind != other.dtype:
        kind = min(kind, other.dtype, key=lambda dtype: dtype.itemsize)
        own, other = own.astype(np.int64), other.astype(np.int64)
    if target.device is not HOST:
        return _merged_by_blocks(target, (left, own), (right, other), kind)
    most = min(len(own) + len(other), length)
    merged = target.output(3 * most, _RUN)
    args = own, left.offset, other, right.offset, merged
    count = target.reduce(run_merging.merge_in_order, length, *args) if length else 0
    ends = target.output(count, kind)
    ends[:] = merged[:count]
    return ends, merged[most : most + count], merged[2 * most : 2 * most + count]


def _merged_by_blocks(
    target: Target, left: tuple[Array, Items], right: tuple[Array, Items], kind: DType
) -> tuple[Items, Items, Items]:
    """As `merge_runs`, of arrays and their run ends, by many threads."""
    length = left[0].length
    if length == 0:
        none = target.output(0, _RUN)
        return target.output(0, kind), none, none
    (first, own), (other_first, other) = _own_ends(*left), _own_ends(*right)
    block = 1 << run_merging.BLOCK_BITS
    counts = target.output(-(-(len(own) + len(other)) // block), np.int64)
    target.map(run_merging.count_merged, len(counts), own, other, counts)
    places = target.scan(counts, np.int64)
    # A run begins at 0, and wherever a run ends, except the last.
    size = target.item(places, len(counts)) + 1
    merged = target.output(3 * size, np.int64)
    args = (own, other, first, other_first, places, merged)
    target.map(run_merging.list_merged, len(counts), *args)
    ends = target.output(size - 1, kind)
    target.map(runs.end_runs, len(ends), merged[: size - 1], length, ends)
    return ends, merged[size : 2 * size - 1], merged[2 * size : -1]


def _own_ends(array: Array, ends: Items) -> tuple[int, Items]:
    """The first run of the array's own slots, and the ends of their runs, counted from its first slot."""
    target = target_of(array.device)
    first, count = own_runs(array)
    if array.offset == 0 and count == len(ends) and target.item(ends, -1) == array.length:
        return 0, ends
    ends = ends[first : first + count]
    out = target.output(count, ends.dtype)
    last = array.offset + array.length
    target.map(runs.rebase_run_ends, count, ends, array.offset, last, 0, out)
    return first, out
