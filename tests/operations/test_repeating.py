"""`repeat` and `reverse`, of every layout."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from arrow_strategies import arrays
from hypothesis import given
from hypothesis import strategies as st
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
