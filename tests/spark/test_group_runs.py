"""Groups out of batches that are cut anywhere: each whole, none kept longer than it must be."""

from __future__ import annotations

from itertools import groupby, pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import colkern as ck
from colkern.spark.functions.group_runs import runs_of_groups

GROUPS = st.lists(st.integers(1, 5), max_size=12)
CUTS = st.lists(st.integers(0, 40), max_size=8)


def batches_of(rows: list[tuple[Any, Any]], cuts: list[int]) -> list[list[ck.Array]]:
    places = sorted({0, len(rows), *(cut for cut in cuts if cut <= len(rows))})
    pairs = [*pairwise(places), (0, 0)]
    keys = ck.array([key for key, _ in rows], ck.utf8())
    values = ck.array([value for _, value in rows], ck.int64())
    return [[keys[a:b], values[a:b]] for a, b in pairs]


@given(GROUPS, CUTS)
def test_each_group_is_whole_wherever_batches_are_cut(sizes: list[int], cuts: list[int]) -> None:
    names = [None, *"abcdefghijk"]
    rows = [(name, k) for name, size in zip(names, sizes, strict=False) for k in range(size)]
    actual = []
    for runs in runs_of_groups(batches_of(rows, cuts), 1):
        keys, values = (column.to_pylist() for column in runs.columns)
        assert runs.offsets[0] == 0
        assert runs.offsets[-1] == len(keys) == len(values)
        for start, stop in zip(runs.offsets, runs.offsets[1:], strict=False):
            actual.append(list(zip(keys[start:stop], values[start:stop], strict=True)))
    assert actual == [list(group) for _, group in groupby(rows, key=lambda row: row[0])]


def test_groups_come_as_soon_as_they_are_whole_and_are_not_copied() -> None:
    keys, values = ck.array([1, 1, 2, 3]), ck.array([10, 20, 30, 40])
    runs = runs_of_groups(iter([[keys, values], [keys[3:], values[3:]]]), 1)
    first, last = next(runs), next(runs)
    assert first.offsets.tolist() == [0, 2, 3]
    assert first.columns[1].buffers[1] is values.buffers[1]
    assert [column.to_pylist() for column in last.columns] == [[3, 3], [40, 40]]
    assert next(runs, None) is None
