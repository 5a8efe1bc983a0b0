"""Run-end encoded arrays: `find_runs`, `run_end_decode`, and selection without decoding."""

from __future__ import annotations

import itertools

import pyarrow as pa
import pytest
from arrow_oracle import from_pyarrow
from hypothesis import given
from hypothesis import strategies as st
from operations.samples import buffer, ints, sample, samples

import colkern.schema as s
from colkern.arrays import Array
from colkern.errors import InvalidArrowError, LimitExceededError
from colkern.layouts import Role
from colkern.operations import find_runs, nulls, run_end_decode, take, validate
from colkern.operations.selection.runs import filter_runs

ENDS = {s.int16(): pa.int16(), s.int32(): pa.int32(), s.int64(): pa.int64()}


def encoded(values: Array, lengths: list[int], ends: s.Int) -> Array:
    total, ends_ = 0, []
    for length in lengths:
        total += length
        ends_.append(total)
    children = [from_pyarrow(pa.array(ends_, ENDS[ends])), values]
    return Array(s.run_end_encoded(ends, values.type), total, [], children)


@pytest.mark.parametrize("name", samples())
@pytest.mark.parametrize("ends", ENDS, ids=str)
def test_decode_repeats_values(name: str, ends: s.Int) -> None:
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


def test_more_bytes_than_offsets_can_say() -> None:
    array = encoded(from_pyarrow(pa.array(["x" * 1000])), [3_000_000], s.int32())
    with pytest.raises(LimitExceededError, match="3000000000 bytes do not fit offsets of int32"):
        run_end_decode(array)


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


@pytest.mark.parametrize("count", [3, 1000])
def test_find_few_or_many(count: int) -> None:
    lengths = [1, 70, 2, 1, 1, 9, 3, 1, 8, 64, 5, 1]
    owners = [run for run, length in enumerate(lengths) for _ in range(length)]
    array = encoded(ints(list(range(12))), lengths, s.int32())
    for offset in (0, 1, 64, 100):
        places = [k * k % (len(owners) - offset) for k in range(count)]
        actual = find_runs(array.slice(offset), ints(places))
        assert actual.to_pylist() == [owners[offset + place] for place in places]


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


# Selection without decoding


def lengths_of(array: Array) -> list[int]:
    ends = [0, *array.children[0].to_pylist()]
    return [end - begin for begin, end in itertools.pairwise(ends)]


@pytest.mark.parametrize("name", samples())
def test_filter_any_values(name: str) -> None:
    lengths = [1, 70, 2, 1, 1, 9, 3, 1, 8, 64, 5, 1]
    array = encoded(sample(name), lengths, s.int16())
    values = array.to_pylist()
    for offset, length in ((0, 166), (0, 0), (1, 70), (64, 102)):
        mask = [k % 7 in (0, 3) and k % 5 > 0 for k in range(length + 3)]
        bits = from_pyarrow(pa.array(mask)).buffer(Role.DATA)
        assert bits is not None
        filtered = filter_runs(array.slice(offset, length), bits, 3)
        expected = [v for v, keep in zip(values[offset:], mask[3:], strict=False) if keep]
        assert filtered.to_pylist() == expected
        assert filtered.type == array.type
        assert 0 not in lengths_of(filtered)
        validate(filtered, full=True)


@given(data=st.data())
def test_filter_and_take_any_runs(data: st.DataObject) -> None:
    ends = data.draw(st.sampled_from(list(ENDS)))
    lengths = data.draw(st.lists(st.integers(1, 200), min_size=1, max_size=20))
    array = encoded(ints(list(range(len(lengths)))), lengths, ends)
    offset = data.draw(st.integers(0, len(array)))
    part = array.slice(offset, data.draw(st.integers(0, len(array) - offset)))
    values = part.to_pylist()
    share = data.draw(st.sampled_from([0.01, 0.5, 1]))
    chosen = data.draw(st.randoms(use_true_random=False))
    mask = [chosen.random() < share for _ in range(len(part) + 2)]
    bits = from_pyarrow(pa.array(mask)).buffer(Role.DATA)
    assert bits is not None
    kept = [v for v, keep in zip(values, mask[2:], strict=True) if keep]
    filtered = filter_runs(part, bits, 2)
    assert filtered.to_pylist() == kept
    # These values all differ, so each run that is left has one.
    assert len(filtered.children[1]) == len(set(kept))
    picks = [chosen.randrange(len(part)) for _ in range(100)] if len(part) else []
    for places in (picks, sorted(picks), picks[:2]):
        taken = take(part, ints(places))
        assert taken.to_pylist() == [values[place] for place in places]
        validate(taken, full=True)


@pytest.mark.parametrize("mask", ["111111", "000011", "110000", "001100", "010010", "000000"])
@pytest.mark.parametrize("before", [0, 3])
def test_filter_leaves_out_runs_without_slots(mask: str, before: int) -> None:
    array = encoded(ints([7, 8, 9, 10, 11]), [1, 2, 2, 2, 2], s.int16())
    part = array.slice(before, 6)
    bits = from_pyarrow(pa.array([bit == "1" for bit in mask])).buffer(Role.DATA)
    assert bits is not None
    kept = [v for v, bit in zip(part.to_pylist(), mask, strict=True) if bit == "1"]
    filtered = filter_runs(part, bits, 0)
    validate(filtered, full=True)
    assert filtered.to_pylist() == kept
    assert filtered.children[1].to_pylist() == sorted(set(kept))


def test_taken_neighbours_of_a_run_are_one_run() -> None:
    array = encoded(ints([1, 1, None]), [4, 4, 4], s.int32())
    taken = take(array, ints([0, 3, 2, 4, 5, 11, 0, 0]))
    assert lengths_of(taken) == [3, 2, 1, 2]
    assert taken.children[1].to_pylist() == [1, 1, None, 1]


def test_taken_neighbours_without_much_in_common_are_a_run_each() -> None:
    array = encoded(ints(list(range(20))), [2] * 20, s.int32())
    places = [37] + [2 * k for k in reversed(range(19))]
    taken = take(array, ints(places))
    assert lengths_of(taken) == [1] * 20
    assert taken.to_pylist() == [place // 2 for place in places]


def test_what_is_taken_in_order_has_a_run_for_each_run() -> None:
    array = encoded(ints(list(range(4))), [5] * 4, s.int32())
    places = [3, 3, *range(4, 10), 10, 10, 10, 12]
    taken = take(array.slice(1), ints([place - 1 for place in places]))
    assert lengths_of(taken) == [3, 5, 4]
    assert taken.to_pylist() == [place // 5 for place in places]


def test_a_few_of_many_runs_in_order() -> None:
    array = encoded(ints(list(range(200))), [3] * 200, s.int64())
    taken = take(array, ints([0, 0, 1, 599]))
    assert (lengths_of(taken), taken.to_pylist()) == ([3, 1], [0, 0, 0, 199])


def test_more_positions_than_run_ends_can_say() -> None:
    array = encoded(ints([1]), [2], s.int16())
    positions = nulls(40_000, s.int64())
    zeros = Array(s.int64(), 40_000, [None, positions.buffers[1]])
    with pytest.raises(LimitExceededError, match="40000 slots do not fit run ends of int16"):
        take(array, zeros)


def test_decode_wants_runs() -> None:
    with pytest.raises(TypeError, match="expected a run-end encoded array, got int64"):
        run_end_decode(ints([1]))


def test_bad_run_ends_are_refused() -> None:
    ends = Array(s.int32(), 2, [None, buffer([3, 2], "<i4")])
    array = Array(s.run_end_encoded(s.int32(), s.int64()), 2, [], [ends, ints([1, 2])])
    with pytest.raises(InvalidArrowError, match="run 1: ends at 2"):
        run_end_decode(array)
