"""`ChunkedArray`: operations over chunks give what they give over the values in one array."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import colkern as ck

VALUES = [3, None, 1, 4, 1, 5]
CHUNKS: Any = ck.chunked_array([[3, None], [], [1], [4, 1, 5]], "int64")
OTHERS: Any = ck.chunked_array([[1, 2, 3], [4, 5, 6]])
ARROW = pa.chunked_array([[3, None], [], [1], [4, 1, 5]], pa.int64())


def test_values_are_those_of_the_chunks() -> None:
    assert CHUNKS.to_pylist() == list(CHUNKS) == VALUES
    assert (CHUNKS.length, CHUNKS.num_chunks, CHUNKS.null_count) == (6, 4, 1)
    assert CHUNKS.combine_chunks().to_pylist() == VALUES
    assert [CHUNKS[i] for i in range(-6, 6)] == VALUES * 2
    assert np.asarray(OTHERS).tolist() == [1, 2, 3, 4, 5, 6]
    assert pickle.loads(pickle.dumps(CHUNKS)).equals(CHUNKS)
    CHUNKS.validate(full=True)


@pytest.mark.parametrize("start", range(7))
@pytest.mark.parametrize("count", [0, 1, 3, 9])
def test_slices_are_those_of_pyarrow(start: int, count: int) -> None:
    part = CHUNKS.slice(start, count)
    assert part.to_pylist() == ARROW.slice(start, count).to_pylist()
    assert all(chunk.length for chunk in part.chunks)


def test_a_value_of_many_chunks_is_found_by_their_ends() -> None:
    lengths = [0, 3, 0, 0, 1, 2, 0]
    parts = [ck.array([*range(10 * k, 10 * k + n)], "int64") for k, n in enumerate(lengths)]
    column = ck.chunked_array(parts, "int64")
    values = pa.chunked_array([part.to_pylist() for part in parts], pa.int64()).to_pylist()
    places = range(-len(values), len(values))
    assert [column[place] for place in places] == [values[place] for place in places]
    with pytest.raises(IndexError, match="index 6 of 6 values"):
        column[6]


def test_columns_are_equal_however_they_are_cut() -> None:
    one = ck.chunked_array([VALUES])
    assert one.equals(CHUNKS)
    assert CHUNKS.equals(ck.array(VALUES))
    assert not CHUNKS.equals(ck.chunked_array([VALUES[:5]]))
    assert not CHUNKS.equals(ck.chunked_array([[3, None, 1, 4, 1, 6]]))
    assert not one.equals(one.cast("int32"))


def test_without_chunks_a_type_is_needed() -> None:
    empty = ck.chunked_array([], "int64")
    assert (empty.length, empty.to_pylist(), (empty + 1).to_pylist()) == (0, [], [])
    assert empty.sum() is None
    with pytest.raises(ValueError, match="without one, the type is needed"):
        ck.chunked_array([])
    with pytest.raises(ValueError, match=r"chunks\[1\]: expected int64, got an array of string"):
        ck.chunked_array([[1], ck.array(["a"])])


MASK = pa.array([False, False, True, True, True, True])


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (lambda c: c + OTHERS, lambda c: pc.add(c, pa.chunked_array(OTHERS))),
        (lambda c: ck.add(c, ck.array([1] * 6)), lambda c: pc.add(c, 1)),
        (lambda c: c.cast("float32"), lambda c: c.cast(pa.float32())),
        (lambda c: c.filter(OTHERS > 2), lambda c: c.filter(MASK)),
        (lambda c: c[[5, 0, -3]], lambda c: c.take([5, 0, 3])),
        (lambda c: c[range(5, -2, -5)], lambda c: c.take([5, 0])),
        (lambda c: c[::-1], lambda c: c.take([5, 4, 3, 2, 1, 0])),
        (lambda c: c.sort_indices(), pc.sort_indices),
        (lambda c: ck.if_else(OTHERS > 2, c, 0), lambda c: pc.if_else(MASK, c, 0)),
    ],
    ids=["two", "array", "cast", "filter", "take", "range", "reverse", "whole", "if_else"],
)
def test_operations_over_chunks_are_those_of_pyarrow(ours: Any, theirs: Any) -> None:
    assert ours(CHUNKS).to_pylist() == theirs(ARROW).to_pylist()


@pytest.mark.parametrize("name", ["sum", "mean", "min", "max", "count", "min_max"])
def test_aggregates_of_chunks_are_those_of_pyarrow(name: str) -> None:
    assert getattr(ck, name)(CHUNKS) == getattr(pc, name)(ARROW).as_py()


def test_aggregates_of_chunks_keep_the_rules_of_arrays() -> None:
    words = ck.chunked_array([[2**63 - 1], [1]])
    assert words.sum() == ck.sum(words.combine_chunks()) == -(2**63)
    assert ck.sum(CHUNKS, skip_nulls=False) is None
    flags = ck.chunked_array([[True, None], [False]])
    assert (flags.any(), flags.all(), flags.sum()) == (True, False, 1)
    assert ck.chunked_array([[float("nan")], [2.0]]).max() == 2.0


@pytest.mark.parametrize("type_", [pa.int64(), pa.string(), pa.bool_()], ids=str)
def test_many_small_chunks_are_joined_in_blocks(
    type_: pa.DataType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("colkern.operations.chunks._BLOCK_ROWS", 50)
    parts = [pa.array([k, None, k + 1][: k % 4]).cast(type_) for k in range(100)]
    theirs = pa.chunked_array(parts)
    ours, valid = ck.chunked_array(theirs), pc.is_valid(theirs)
    # Twice: how chunks are joined is kept.
    for _ in range(2):
        assert ours.is_valid().to_pylist() == valid.to_pylist()
        assert 1 < ours.is_valid().num_chunks < 10
        assert ours.max() == pc.max(theirs).as_py()
        assert (ours == ours).to_pylist() == pc.equal(theirs, theirs).to_pylist()
        mask = ck.chunked_array(valid)
        assert ours.filter(mask).to_pylist() == theirs.filter(valid).to_pylist()
        # In other chunks: those of a result, one, and ones that no block ends with.
        assert ours.filter(ours.is_valid()).to_pylist() == theirs.filter(valid).to_pylist()
        whole = mask.combine_chunks()
        assert ours.filter(whole).to_pylist() == theirs.filter(valid).to_pylist()
        moved = ck.concat([mask.slice(0, 31), mask.slice(31)])
        assert ours.filter(moved).to_pylist() == theirs.filter(valid).to_pylist()
        assert ours.combine_chunks().to_pylist() == theirs.to_pylist()
        table = ck.table({"a": ours, "b": valid})
        for own in (mask, whole, moved):
            rows = table.filter(own).to_pydict()
            assert rows == {"a": theirs.filter(valid).to_pylist(), "b": [True] * len(rows["b"])}
        assert table.combine_chunks()["a"].to_pylist() == theirs.to_pylist()


def test_many_chunks_without_rows() -> None:
    nothing = ck.array([], ck.int64())
    ours = ck.chunked_array([nothing] * 100, ck.int64())
    for other in (nothing, ck.chunked_array([], ck.int64())):
        assert ck.add(ours, other).to_pylist() == []


def test_an_element_wise_result_is_cut_where_any_argument_is() -> None:
    result = CHUNKS + OTHERS
    assert [chunk.length for chunk in result.chunks] == [2, 1, 3]
    with pytest.raises(ValueError, match="arrays of 6 and 5 values"):
        ck.add(CHUNKS, OTHERS.slice(0, 5))


@pytest.mark.parametrize(
    "foreign",
    [pa.array(VALUES), ARROW, np.array([3, 0, 1, 4, 1, 5]), ck.array(VALUES)],
    ids=["pyarrow", "chunked", "numpy", "array"],
)
def test_columns_of_other_libraries_stand_for_arrays(foreign: Any) -> None:
    total = 14
    assert ck.sum(foreign) == total
    assert ck.sum(ck.add(1, foreign)) == total + (6 if isinstance(foreign, np.ndarray) else 5)
    assert ck.concat([ck.array([1]), foreign]).length == 7


def test_frames_of_other_libraries_stand_for_tables() -> None:
    rows = {"k": [1, 2, 1], "x": [0.5, 1.5, 2.5]}
    ours = ck.table(rows)
    frames: list[Any] = [pd.DataFrame(rows), pl.DataFrame(rows), pa.table(rows)]
    for frame in frames:
        assert ck.group_by(frame, "k").sum("x").equals(ours.group_by("k").sum("x"))
        assert ours.join(frame, "k").equals(ours.join(ours, "k"))
        assert ours.join(frame, "k", how="right").equals(ours.join(ours, "k", how="right"))
        assert ck.concat([frame, ours]).equals(ck.concat([ours, ours]))
        assert ck.filter(frame, [True, False, True]).equals(ours.filter([True, False, True]))
        assert ck.sort_indices(frame, "x").to_pylist() == [0, 1, 2]
        assert ck.unique(frame).equals(ours)
    with pytest.raises(
        TypeError, match=r"data: expected a RecordBatch or a Table, got int; .*table"
    ):
        ck.group_by(1, "k")  # type: ignore[type-var]


def test_capsules_go_both_ways_chunk_by_chunk() -> None:
    there = pa.chunked_array(CHUNKS)
    assert there.to_pylist() == VALUES
    assert there.num_chunks == 4
    assert ck.chunked_array(there).equals(CHUNKS)
    assert CHUNKS.to_pyarrow().equals(there)


def test_row_functions_go_chunk_by_chunk() -> None:
    @ck.udf
    def plus(x: int, y: int) -> int:
        return x + y

    result = plus(CHUNKS, OTHERS)
    assert result.to_pylist() == [4, None, 4, 8, 6, 11]
    assert plus(CHUNKS, ck.array([0] * 6)).to_pylist() == VALUES


def test_the_text_shows_both_ends_and_the_chunks() -> None:
    assert repr(CHUNKS) == (
        "<colkern.ChunkedArray int64: 6 values, 4 chunks>\n[3, null, 1, 4, 1, 5]"
    )
    long = ck.chunked_array([list(range(20)), list(range(20))])
    assert "9, …, 10," in repr(long)
    assert "<td>null</td>" in CHUNKS._repr_html_()
