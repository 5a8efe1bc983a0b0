"""Search for the run that holds a slot of a run-end encoded array.

Columnar format 1.5: "Run-End Encoded Layout".
"""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from colkern.arrays import Array
from colkern.kernels import runs
from colkern.layouts import Role
from colkern.targets import Items, target_of

_SEARCH = 16
"""How many times longer a search for one run takes than its share of an index, about."""


def runs_at(array: Array, positions: Items, dtype: DTypeLike = np.int64) -> Items:
    """The runs of a checked array that hold positions (int32 or int64, in bounds).

    As int64, or as int32 if that is the dtype asked for and there are many positions.
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
    """The first run of a checked array's own slots, and how many runs these are in."""
    if not array.length:
        return 0, 0
    ends = array.children[0].items(Role.DATA)
    if array.offset == 0 and target_of(array.device).item(ends, -1) == array.length:
        return 0, len(ends)
    return runs_of_range(array, 0, array.length - 1)


def runs_of_range(array: Array, first: int, last: int) -> tuple[int, int]:
    """The run of slot `first` of a checked array, and how many runs there are up to that of `last`."""
    target = target_of(array.device)
    ends = array.children[0].items(Role.DATA)
    places = target.table([first, last], np.int64)
    ends_of_range = target.output(2, np.int64)
    target.map(runs.find_runs, 2, ends, places, array.offset, ends_of_range)
    run = target.item(ends_of_range, 0)
    return run, target.item(ends_of_range, 1) - run + 1
