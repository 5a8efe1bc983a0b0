"""`repeat` and `reverse`, of every layout."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from arrow_strategies import arrays
from hypothesis import given
from hypothesis import strategies as st
from operations.device_checks import no_kernels_on_the_host
from operations.samples import ints, sample, samples

import colkern as ck
import colkern.schema as s
from colkern.arrays import Array
from colkern.cuda.stand_in import StandIn
from colkern.errors import LimitExceededError
from colkern.operations import concat, nulls, repeat, reverse, validate
from colkern.operations.moving import to_device, to_host

COUNTS = [0, 3, 1, 1, 0, 0, 7, 2, 1, 0, 1, 4]


def repeated(values: list[object], counts: list[int]) -> list[object]:
    return [value for value, count in zip(values, counts, strict=True) for _ in range(count)]


@pytest.mark.parametrize("name", samples())
def test_each_value_comes_as_often_as_its_number_says(name: str) -> None:
    array = sample(name)
    values = array.to_pylist()
    for offset, length in ((0, 12), (3, 8), (5, 0)):
        own, numbers = array.slice(offset, length), ints(COUNTS).slice(offset, length)
        result = repeat(own, numbers)
        end = offset + length
        assert result.to_pylist() == repeated(values[offset:end], COUNTS[offset:end])
        assert result.type == array.type
        validate(result, full=True)


@pytest.mark.parametrize("name", samples())
@pytest.mark.parametrize("number", [0, 1, 2, 30])
def test_one_number_is_for_all_values(name: str, number: int) -> None:
    array = sample(name).slice(1, 10)
    result = repeat(array, number)
    assert result.to_pylist() == repeated(array.to_pylist(), [number] * 10)
    validate(result, full=True)


def test_many_values_agree_with_numpy() -> None:
    rng = np.random.default_rng(5)
    values, counts = rng.integers(0, 99, 9_000), rng.integers(0, 5, 9_000)
    result = repeat(ck.array(values), ck.array(counts))
    assert np.array_equal(np.asarray(result), np.repeat(values, counts))
    assert np.array_equal(np.asarray(repeat(ck.array(values), 3)), np.repeat(values, 3))


@pytest.mark.parametrize("type_", ["int8", "uint8", "int16", "uint32", "uint64"])
def test_numbers_of_any_integer_type(type_: str) -> None:
    assert repeat(ck.array(["a", None]), ck.array([1, 2], type_)).to_pylist() == ["a", None, None]


@given(st.data())
def test_repeat_and_reverse_anything(data: st.DataObject) -> None:
    array = ck.array(data.draw(arrays()))
    values = array.to_pylist()
    counts = data.draw(st.lists(st.integers(0, 9), min_size=len(array), max_size=len(array)))
    result = repeat(array, ints(counts))
    assert result.to_pylist() == repeated(values, counts)
    validate(result, full=True)
    turned = reverse(array)
    assert turned.to_pylist() == values[::-1]
    validate(turned, full=True)


@pytest.mark.parametrize("name", samples())
def test_reverse_is_a_list_turned_round(name: str) -> None:
    array = concat([sample(name)] * 20)
    for own in (array, array.slice(5, 9), array.slice(3, 0)):
        turned = reverse(own)
        assert turned.to_pylist() == own.to_pylist()[::-1]
        validate(turned, full=True)


def test_rows_of_a_batch() -> None:
    batch = ck.record_batch({"n": [1, 2, 3], "t": ["a", None, "c"]})
    assert repeat(batch, ints([2, 0, 1])).to_pydict() == {"n": [1, 1, 3], "t": ["a", "a", "c"]}
    assert repeat(batch, 2).to_pydict()["n"] == [1, 1, 2, 2, 3, 3]
    assert reverse(batch).to_pydict() == {"n": [3, 2, 1], "t": ["c", None, "a"]}
    assert len(repeat(batch.select([]), 2)) == len(repeat(batch.select([]), ints([1, 2, 3]))) == 6
    assert len(reverse(batch.select([]))) == 3


@pytest.mark.parametrize(
    ("repeats", "error", "text"),
    [
        (-1, ValueError, "repeats: must not be negative, got -1"),
        (ints([1, -3]), ValueError, "repeats: must not be negative, got -3"),
        (ints([1, None]), ValueError, "repeats: must not be null"),
        (ints([1]), ValueError, "repeats: 1 numbers for 2 values"),
        (1.5, TypeError, "repeats: expected an integer, got float"),
        (ck.array([1.0, 2.0]), TypeError, "repeats: expected an integer or integers, got double"),
        (ck.array([1, 2**63], "uint64"), LimitExceededError, "9223372036854775808 slots"),
        (ints([2**62, 2**62]), LimitExceededError, "9223372036854775808 slots"),
        (2**62, LimitExceededError, "9223372036854775808 slots"),
        (2**45, LimitExceededError, f"no memory for {2**49} bytes"),
        (2**59, LimitExceededError, f"no memory for {2**63} bytes"),
    ],
)
def test_numbers_that_do_not_fit(repeats: int | Array, error: type, text: str) -> None:
    with pytest.raises(error, match=text):
        repeat(ints([1, 2]), repeats)


def test_nulls_without_bytes_cost_nothing() -> None:
    assert len(repeat(nulls(4, s.null()), 1 << 60)) == 1 << 62


def test_strings_that_do_not_fit_32_bit_offsets() -> None:
    with pytest.raises(LimitExceededError, match="do not fit offsets of int32"):
        repeat(ck.array(["x" * (1 << 20)]), 2048)


def test_run_ends_that_do_not_fit() -> None:
    runs = ck.run_end_encode(ints([7] * 100), run_end_type=s.int16())
    with pytest.raises(LimitExceededError, match="do not fit run ends of int16"):
        repeat(runs, 400)


@pytest.mark.parametrize("name", samples())
def test_on_a_device_nothing_moves(name: str, device: StandIn) -> None:
    array, numbers = to_device(sample(name)), to_device(ints(COUNTS))
    copies = len(device.copies)
    results = [repeat(array, numbers), repeat(array, 3), reverse(array)]
    assert len(device.copies) == copies
    values = sample(name).to_pylist()
    expected = [repeated(values, COUNTS), repeated(values, [3] * 12), values[::-1]]
    assert [to_host(result).to_pylist() for result in results] == expected


def test_numbers_without_a_type_are_none() -> None:
    assert repeat(ck.array([], s.utf8()), ck.array([])).equals(ck.array([], s.utf8()))


def test_pyarrow_agrees_on_reversed_dictionaries() -> None:
    theirs = samples()["dictionary"]
    picks = pa.array(range(11, -1, -1))
    assert reverse(sample("dictionary")).to_pylist() == theirs.take(picks).to_pylist()


# Without bytes

HUGE = 1 << 60


def huge() -> list[Array]:
    none = nulls(HUGE, s.null())
    return [
        none,
        Array(s.struct([]), HUGE, [None]),
        Array(s.struct([s.field("n", s.null())]), HUGE, [None], [none]),
        Array(s.fixed_size_list(s.null(), 0), HUGE, [None], [nulls(0, s.null())]),
        Array(s.fixed_size_list(s.int64(), 0), HUGE, [None], [ints([])]),
        Array(s.fixed_size_list(s.null(), 4), HUGE, [None], [nulls(4 * HUGE, s.null())]),
    ]


@pytest.mark.parametrize("which", range(6))
def test_slots_without_bytes_cost_nothing(which: int) -> None:
    array = huge()[which]
    for number in (0, 1, 2) if which < 5 else (0, 1):
        result = repeat(array, number)
        assert (result.length, result.type) == (number * HUGE, array.type)
    with pytest.raises(LimitExceededError):
        repeat(array, 8)
    with pytest.raises(LimitExceededError):
        repeat(array, 2 if which == 5 else 1 << 70)
    turned = reverse(array.slice(5))
    assert (turned.length, turned.type) == (HUGE - 5, array.type)
    assert turned.null_count == array.null_count - (5 if which == 0 else 0)
    validate(turned.slice(7, 3), full=True)


def test_a_huge_batch() -> None:
    fields = [s.field("n", s.null()), s.field("l", s.fixed_size_list(s.null(), 0))]
    for columns in ([], [huge()[0]], [huge()[0], huge()[3]]):
        batch = ck.RecordBatch(s.Schema(fields[: len(columns)]), columns, HUGE)
        assert repeat(batch, 2).length == 2 * HUGE
        assert repeat(batch, 0).length == 0
        assert reverse(batch).length == HUGE
        with pytest.raises(LimitExceededError):
            repeat(batch, 8)
        with pytest.raises(ValueError, match="must not be negative, got -1"):
            repeat(batch, -1)


def test_a_first_column_without_bytes_on_a_device(device: StandIn) -> None:
    lists = Array(s.fixed_size_list(s.null(), 2), 3, [None], [nulls(6, s.null())])
    columns = [nulls(3, s.null()), lists, ck.array(["a", None, "c"]), ints([1, 2, 3])]
    batch = ck.RecordBatch.from_arrays(columns, list("abcd"))
    there, numbers = to_device(batch), to_device(ints([2, 0, 1]))
    with no_kernels_on_the_host():
        results = [repeat(there, numbers), repeat(there, 2), reverse(there)]
    expected = [repeat(batch, ints([2, 0, 1])), repeat(batch, 2), reverse(batch)]
    for result, plain in zip(results, expected, strict=True):
        assert {column.device.kind for column in result.columns[2:]} == {"cuda"}
        assert to_host(result).to_pydict() == plain.to_pydict()


def test_numbers_on_a_device_for_lists_without_bytes(device: StandIn) -> None:
    lists = Array(s.fixed_size_list(s.null(), 2), 3, [None], [nulls(6, s.null())])
    parts = [s.field("l", lists.type), s.field("i", s.int64())]
    mixed = to_device(Array(s.struct(parts), 3, [None], [lists, ints([1, 2, 3])]))
    numbers = to_device(ints([2, 0, 1]))
    with no_kernels_on_the_host():
        plain, both = repeat(lists, numbers), repeat(mixed, numbers)
    assert plain.to_pylist() == lists.to_pylist()
    assert [row["i"] for row in to_host(both).to_pylist()] == [1, 1, 3]


def test_numbers_are_on_the_device_of_the_values(device: StandIn) -> None:
    numbers = ints([2, 0])
    with pytest.raises(ValueError, match="repeats: on cpu, data is on cuda:0"):
        repeat(to_device(ints([1, 2])), numbers)
    with pytest.raises(ValueError, match="repeats: on cuda:0, data is on cpu"):
        repeat(
            ck.RecordBatch.from_arrays([nulls(2, s.null()), ints([1, 2])], "ab"), to_device(numbers)
        )
