"""`sort_indices`."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from arrow_oracle import from_pyarrow
from hypothesis import given
from hypothesis import strategies as st
from operations.samples import ints, sample, samples

import colkern as ck
import colkern.schema as s
from colkern.cpu import radix
from colkern.cpu.threads import set_num_threads
from colkern.errors import UnsupportedError

ORDERS = ("ascending", "descending")
PLACES = ("at_end", "at_start")
SORTED = (
    *("bool", "int8", "int64, no nulls", "uint16", "float16", "decimal128", "decimal256"),
    *("timestamp", "date32", "extension", "null"),
)


def expected_positions(values: list[Any], order: str, place: str) -> list[int]:
    """By what is written: numbers in their order, NaNs, nulls; or the other way around."""

    def rank(value: Any) -> int:
        if value is None:
            return 2
        return int(isinstance(value, float) and math.isnan(value))

    sign = -1 if order == "descending" else 1
    numbers = [i for i, v in enumerate(values) if rank(v) == 0]
    numbers.sort(key=lambda i: _number(values[i]) * sign)
    nans, nulls = ([i for i, v in enumerate(values) if rank(v) == k] for k in (1, 2))
    return [*numbers, *nans, *nulls] if place == "at_end" else [*nulls, *nans, *numbers]


def _number(value: Any) -> Any:
    if hasattr(value, "timestamp"):
        return value.timestamp()
    return value.toordinal() if hasattr(value, "toordinal") else value


@pytest.mark.parametrize("name", SORTED)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("place", PLACES)
def test_samples_are_sorted(name: str, order: Any, place: Any) -> None:
    whole = sample(name)
    for array in (whole, whole.slice(3, 7), whole.slice(5, 0), ck.concat([whole, whole])):
        found = ck.sort_indices(array, order=order, null_placement=place)
        assert found.type == s.uint64()
        assert found.to_pylist() == expected_positions(array.to_pylist(), order, place)
        found.validate(full=True)


@pytest.mark.parametrize("name", sorted(set(samples()) - set(SORTED)))
def test_what_has_no_order_here(name: str) -> None:
    with pytest.raises(UnsupportedError, match="no order of the values of"):
        ck.sort_indices(sample(name))


@cache
def numbers() -> dict[str, pa.Array]:
    """Numbers of which each takes another way through the sort."""
    rng = np.random.default_rng(8)
    count = 50_000
    nulls = rng.random(count) < 0.1
    wide = rng.integers(-(2**63), 2**63 - 1, count)
    skewed = (rng.pareto(0.3, count).clip(0, 1e15)).astype(np.int64)
    floats = rng.normal(size=count)
    floats[rng.random(count) < 0.1] = np.nan
    floats[rng.random(count) < 0.1] = -0.0
    floats[rng.random(count) < 0.1] = 0.0
    floats[:2] = np.inf, -np.inf
    return {
        "any": pa.array(wide),
        "any, some null": pa.array(wide, mask=nulls),
        "few": pa.array(rng.integers(-5, 5, count), mask=nulls),
        "few, none null": pa.array(rng.integers(-5, 5, count)),
        "20 bits": pa.array(rng.integers(0, 1 << 20, count), mask=nulls),
        "skewed": pa.array(skewed, mask=nulls),
        "skewed, none null": pa.array(skewed),
        "one value": pa.array(np.full(count, 2**62)),
        "in order": pa.array(np.arange(count) << 40),
        "unsigned": pa.array(wide.view(np.uint64), mask=nulls),
        "floats": pa.array(floats, mask=nulls),
        "narrow floats": pa.array(floats.astype(np.float32), mask=nulls),
        "bytes": pa.array(rng.integers(-128, 128, count), pa.int8()),
        "pairs": pa.array(rng.integers(0, 2, count) * (2**63 - 1)),
    }


@pytest.mark.parametrize("name", numbers())
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("place", PLACES)
def test_sort_agrees_with_pyarrow(name: str, order: Any, place: Any) -> None:
    theirs = numbers()[name]
    for part in (theirs, theirs.slice(3, 777)):
        expected = pc.array_sort_indices(part, order=order, null_placement=place)
        found = ck.sort_indices(from_pyarrow(part), order=order, null_placement=place)
        assert found.to_pylist() == expected.to_pylist()


@pytest.mark.parametrize("name", numbers())
def test_sort_over_several_threads(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = numbers()[name]
    monkeypatch.setattr(radix, "GRAIN", 1000)
    set_num_threads(3)
    try:
        found = ck.sort_indices(from_pyarrow(theirs))
    finally:
        set_num_threads(0)
    assert found.to_pylist() == pc.array_sort_indices(theirs).to_pylist()


def test_more_keys_than_positions_of_32_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(radix, "_MOST", 10)
    for values in ([3, 1, 2] * 5, [3, None, 2] * 5):
        expected = expected_positions(values, "ascending", "at_end")
        assert ck.sort_indices(ints(values)).to_pylist() == expected


def test_decimals_of_many_words() -> None:
    values = [3, -3, 2**70, -(2**70), 2**64, 2**64 + 1, 0, None, -(2**64), 5]
    for type_, width in ((s.decimal128(38), 16), (s.decimal256(76), 32)):
        raw = b"".join((v or 0).to_bytes(width, "little", signed=True) for v in values)
        valid = ck.Buffer.from_object(bytes([0b0111_1111, 0b11]))
        array = ck.Array(type_, 10, [valid, ck.Buffer.from_object(raw)])
        for order in ORDERS:
            found = ck.sort_indices(array, order=order).to_pylist()  # type: ignore[arg-type]
            assert found == expected_positions(values, order, "at_end")


@given(
    st.lists(
        st.none() | st.floats(width=64) | st.sampled_from([0.0, -0.0, math.nan]), max_size=100
    ),
    st.sampled_from(ORDERS),
    st.sampled_from(PLACES),
)
def test_sort_any_floats(values: list[float | None], order: Any, place: Any) -> None:
    array = from_pyarrow(pa.array(values, pa.float64()))
    found = ck.sort_indices(array, order=order, null_placement=place)
    assert found.to_pylist() == expected_positions(values, order, place)


@given(st.lists(st.none() | st.integers(-(2**63), 2**63 - 1) | st.integers(0, 3), max_size=100))
def test_taken_in_order(values: list[int | None]) -> None:
    array = from_pyarrow(pa.array(values, pa.int64()))
    taken = ck.take(array, ck.sort_indices(array)).to_pylist()
    assert taken == sorted(v for v in values if v is not None) + [None] * values.count(None)


def test_words_that_are_not_known() -> None:
    with pytest.raises(ValueError, match="order: expected 'ascending' or 'descending', got 'up'"):
        ck.sort_indices(ints([1]), order="up")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="null_placement: expected 'at_end' or 'at_start'"):
        ck.sort_indices(ints([1]), null_placement="first")  # type: ignore[arg-type]
