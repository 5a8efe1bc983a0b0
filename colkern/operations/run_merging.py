"""Two run-end encoded arrays cut where either has a new run.

Columnar format 1.5: "Run-End Encoded Layout".
"""

from __future__ import annotations

import numpy as np

from colkern.arrays import Array
from colkern.kernels import run_merging, runs
from colkern.layouts import Role
from colkern.operations.run_search import own_runs
from colkern.targets import Items, target_of


def merge_runs(left: Array, right: Array) -> tuple[Items, Items, Items]:
    """The slots where a run of either begins, and for each of them the runs of both that hold it.

    All int64 and read-only.

    Args:
        left: A checked run-end encoded array.
        right: Another one of the same length.
    """
    target = target_of(left.device)
    if left.length == 0:
        none = target.output(0, np.int64)
        return none, none, none
    firsts, ends = zip(*map(_own_ends, (left, right)), strict=True)
    if ends[0].dtype != ends[1].dtype:
        ends = tuple([items.astype(np.int64) for items in ends])
    block = 1 << run_merging.BLOCK_BITS
    counts = target.output(-(-(len(ends[0]) + len(ends[1])) // block), np.int64)
    target.map(run_merging.count_merged, len(counts), *ends, counts)
    places = target.scan(counts, np.int64)
    # A run begins at 0, and wherever one ends but the last.
    size = target.item(places, len(counts)) + 1
    merged = target.output(3 * size, np.int64)
    args = (*ends, *firsts, places, merged)
    target.map(run_merging.list_merged, len(counts), *args)
    return merged[: size - 1], merged[size : 2 * size - 1], merged[2 * size : -1]


def _own_ends(array: Array) -> tuple[int, Items]:
    """The first run of the array's own slots, and the ends of all of these, from its first slot on."""
    target = target_of(array.device)
    first, count = own_runs(array)
    ends = array.children[0].items(Role.DATA)
    if array.offset == 0 and count == len(ends) and target.item(ends, -1) == array.length:
        return 0, ends
    ends = ends[first : first + count]
    out = target.output(count, ends.dtype)
    last = array.offset + array.length
    target.map(runs.rebase_run_ends, count, ends, array.offset, last, 0, out)
    return first, out
