"""Run-end encoded arrays: `find_runs` and `run_end_decode`."""

from __future__ import annotations

import pyarrow as pa
import pytest
from arrow_oracle import from_pyarrow
from hypothesis import given
from hypothesis import strategies as st
from operations.samples import buffer, ints, samples

import colkern.schema as s
from colkern.arrays import Array
from colkern.errors import InvalidArrowError
from colkern.operations import find_runs, run_end_decode, validate

ENDS = {s.int16(): pa.int16(), s.int32(): pa.int32(), s.int64(): pa.int64()}


def encoded(values: Array, lengths: list[int], ends: s.DataType) -> Array:
    total, ends_ = 0, []
    for length in lengths:
        total += length
        ends_.append(total)
    children = [from_pyarrow(pa.array(ends_, ENDS[ends])), values]
    return Array(s.run_end_encoded(ends, values.type), total, [], children)


@pytest.mark.parametrize("name", samples())
@pytest.mark.parametrize("ends", ENDS, ids=str)
def test_decode_repeats_values(name: str, ends: s.DataType) -> None:
    values = from_pyarrow(samples()[name])
    lengths = [1, 70, 2, 1, 1, 9, 3, 1, 8, 64, 5, 1]
    array = encoded(values, lengths, ends)
    expected = [v for v, n in zip(values.to_pylist(), lengths, strict=True) for _ in range(n)]
    decoded = run_end_decode(array)
    assert decoded.to_pylist() == expected
    assert decoded.type == values.type
    validate(decoded, full=True)
    for offset, length in ((0, 0), (1, 1), (70, 3), (3, 150), (160, 6)):
        part = run_end_decode(array.slice(offset, length))
        assert part.to_pylist() == expected[offset : offset + length]
        validate(part, full=True)


@pytest.mark.parametrize("type_", [pa.int8(), pa.float16(), pa.int32(), pa.float64()], ids=str)
@given(data=st.data())
def test_any_runs_any_slice(type_: pa.DataType, data: st.DataObject) -> None:
    lengths = data.draw(st.lists(st.integers(1, 20), min_size=1, max_size=12))
    values = data.draw(
        st.lists(
            st.none() | st.integers(-9, 9), min_size=len(lengths) + 3, max_size=len(lengths) + 3
        )
    )
    # Values of a slice, more of them than runs.
    inner = from_pyarrow(pa.array(values, type_)).slice(1)
    array = encoded(inner, lengths, s.int32())
    logical = [v for v, n in zip(values[1:], lengths, strict=False) for _ in range(n)]
    offset = data.draw(st.integers(0, len(logical)))
    length = data.draw(st.integers(0, len(logical) - offset))
    decoded = run_end_decode(array.slice(offset, length))
    assert decoded.to_pylist() == logical[offset : offset + length]
    assert decoded.null_count == logical[offset : offset + length].count(None)


def test_decode_agrees_with_pyarrow() -> None:
    theirs = pa.compute.run_end_encode(pa.array([1, 1, None, None, 5, 5, 5, 7]))
    mine = run_end_decode(from_pyarrow(theirs.slice(1, 6)))
    assert mine.equals(from_pyarrow(pa.compute.run_end_decode(theirs.slice(1, 6))))


def test_run_ends_of_a_slice() -> None:
    ends = from_pyarrow(pa.array([99, 2, 5], pa.int32())).slice(1)
    values = ints([0, 0, 7, 8]).slice(2)
    array = Array(s.run_end_encoded(s.int32(), s.int64()), 5, [], [ends, values])
    assert run_end_decode(array).to_pylist() == [7, 7, 8, 8, 8]


def test_find_runs() -> None:
    array = encoded(ints([1, 2, 3]), [2, 1, 4], s.int16())
    positions = ints([6, 0, 1, 2, 3])
    assert find_runs(array, positions).to_pylist() == [2, 0, 0, 1, 2]
    assert find_runs(array.slice(2), ints([0, 1, 4], s.int32())).to_pylist() == [1, 2, 2]
    assert find_runs(array, ints([])).to_pylist() == []


@pytest.mark.parametrize("position", [-1, 5, 2**40])
def test_find_runs_out_of_bounds(position: int) -> None:
    array = encoded(ints([1, 2, 3]), [2, 1, 4], s.int16()).slice(1, 5)
    with pytest.raises(IndexError, match=f"positions: slot 1 has {position} of 5"):
        find_runs(array, ints([0, position]))


def test_find_runs_wants_whole_positions() -> None:
    array = encoded(ints([1]), [2], s.int16())
    with pytest.raises(TypeError, match="positions: expected int32 or int64, got int8"):
        find_runs(array, ints([0], s.int8()))
    with pytest.raises(ValueError, match="positions: must not be null"):
        find_runs(array, ints([0, None]))
    with pytest.raises(TypeError, match="expected a run-end encoded array, got int64"):
        find_runs(ints([1]), ints([0]))


def test_decode_wants_runs() -> None:
    with pytest.raises(TypeError, match="expected a run-end encoded array, got int64"):
        run_end_decode(ints([1]))


def test_bad_run_ends_are_refused() -> None:
    ends = Array(s.int32(), 2, [None, buffer([3, 2], "<i4")])
    array = Array(s.run_end_encoded(s.int32(), s.int64()), 2, [], [ends, ints([1, 2])])
    with pytest.raises(InvalidArrowError, match="run 1: ends at 2"):
        run_end_decode(array)
