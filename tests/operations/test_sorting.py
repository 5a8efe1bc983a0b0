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
from colkern.operations import dictionaries

ORDERS = ("ascending", "descending")
PLACES = ("at_end", "at_start")
SORTED = (
    *("bool", "int8", "int64, no nulls", "uint16", "float16", "decimal128", "decimal256"),
    *("timestamp", "date32", "extension", "null"),
    *("utf8", "large_binary", "utf8_view", "binary_view", "fixed_size_binary"),
    *(
        "fixed_size_binary of 0 bytes",
        "dictionary",
        "run-end encoded",
        "run-end encoded, int64 ends",
    ),
)


def expected_positions(values: list[Any], order: str, place: str) -> list[int]:
    """By what is written: numbers in their order, NaNs, nulls; or the other way around."""

    def rank(value: Any) -> int:
        if value is None:
            return 2
        return int(isinstance(value, float) and math.isnan(value))

    numbers = [i for i, v in enumerate(values) if rank(v) == 0]
    numbers.sort(key=lambda i: _number(values[i]), reverse=order == "descending")
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
        actual = ck.sort_indices(array, order=order, null_placement=place)
        assert actual.type == s.uint64()
        assert actual.to_pylist() == expected_positions(array.to_pylist(), order, place)
        actual.validate(full=True)


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
        actual = ck.sort_indices(from_pyarrow(part), order=order, null_placement=place)
        assert actual.to_pylist() == expected.to_pylist()


@pytest.mark.parametrize("name", numbers())
def test_sort_over_several_threads(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = numbers()[name]
    monkeypatch.setattr(radix, "GRAIN", 1000)
    monkeypatch.setattr(radix, "_WORTH_SAMPLE", radix._SAMPLE)
    set_num_threads(3)
    try:
        actual = ck.sort_indices(from_pyarrow(theirs))
    finally:
        set_num_threads(0)
    assert actual.to_pylist() == pc.array_sort_indices(theirs).to_pylist()


def test_decimals_of_many_words() -> None:
    values = [3, -3, 2**70, -(2**70), 2**64, 2**64 + 1, 0, None, -(2**64), 5]
    for type_, width in ((s.decimal128(38), 16), (s.decimal256(76), 32)):
        raw = b"".join((v or 0).to_bytes(width, "little", signed=True) for v in values)
        valid = ck.Buffer.from_object(bytes([0b0111_1111, 0b11]))
        array = ck.Array(type_, 10, [valid, ck.Buffer.from_object(raw)])
        for order in ORDERS:
            actual = ck.sort_indices(array, order=order).to_pylist()  # type: ignore[arg-type]
            assert actual == expected_positions(values, order, "at_end")


@given(
    st.lists(
        st.none() | st.floats(width=64) | st.sampled_from([0.0, -0.0, math.nan]), max_size=100
    ),
    st.sampled_from(ORDERS),
    st.sampled_from(PLACES),
)
def test_sort_any_floats(values: list[float | None], order: Any, place: Any) -> None:
    array = from_pyarrow(pa.array(values, pa.float64()))
    actual = ck.sort_indices(array, order=order, null_placement=place)
    assert actual.to_pylist() == expected_positions(values, order, place)


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


TEXTS = st.none() | st.text("ab\0é", max_size=24) | st.sampled_from(["a" * 7, "a" * 8, "a" * 22])


@given(
    st.lists(TEXTS, max_size=60),
    st.sampled_from([pa.utf8(), pa.large_binary(), pa.string_view()]),
    st.sampled_from(ORDERS),
    st.sampled_from(PLACES),
    st.booleans(),
    st.sampled_from([1, 20]),
)
def test_text_is_in_the_order_of_its_bytes(
    texts: list[str | None],
    type_: pa.DataType,
    order: Any,
    place: Any,
    encoded: bool,
    repeated: int,
) -> None:
    values = [None if text is None else text.encode() for text in texts * repeated]
    array = from_pyarrow(pa.array(values, pa.binary()).cast(type_))
    ours = ck.dictionary_encode(array) if encoded else array
    with pytest.MonkeyPatch.context() as patch:
        # Texts that are repeated are numbered first, where there are enough to pay for a sample.
        patch.setattr(dictionaries, "_WORTH_NUMBERS", 1)
        actual = ck.sort_indices(ours, order=order, null_placement=place)
        several = ck.sort_indices(ck.record_batch({"a": ours, "b": ours}), ["a", "b"], order=order)
    assert actual.to_pylist() == expected_positions(values, order, place)
    assert several.to_pylist() == expected_positions(values, order, "at_end")


COLUMNS = {
    "wide": (pa.int64(), st.integers(-(2**63), 2**63 - 1) | st.integers(0, 1)),
    "small": (pa.int8(), st.integers(-2, 2)),
    "float": (pa.float64(), st.sampled_from([-1.5, 0.0, -0.0, math.nan, math.inf])),
    "text": (pa.utf8(), st.text("ab", max_size=9)),
    "code": (pa.dictionary(pa.int8(), pa.utf8()), st.sampled_from("zyx")),
    "price": (pa.decimal128(38, 2), st.decimals(-(10**30), 10**30, places=2) | st.just(0)),
    "flag": (pa.bool_(), st.booleans()),
}


@given(st.data(), st.integers(0, 40), st.sampled_from(PLACES))
def test_rows_are_sorted_by_several_keys_as_pyarrow_has_it(
    data: st.DataObject, rows: int, place: Any
) -> None:
    names = data.draw(st.lists(st.sampled_from(sorted(COLUMNS)), min_size=1, max_size=4))
    keys: list[Any] = [
        (
            f"{k}",
            data.draw(st.sampled_from(ORDERS)),
            *data.draw(st.sampled_from([(), *[(each,) for each in PLACES]])),
        )
        for k in range(len(names))
    ]
    columns = []
    for name in names:
        type_, values = COLUMNS[name]
        items = st.lists(st.none() | values, min_size=rows, max_size=rows)
        columns.append(pa.array(data.draw(items), type_))
    plain = [pc.cast(c, pa.utf8()) if pa.types.is_dictionary(c.type) else c for c in columns]
    theirs = pa.table(plain, names=[name for name, *_ in keys])
    batch = ck.RecordBatch.from_arrays(list(map(from_pyarrow, columns)), theirs.column_names)
    expected = pc.sort_indices(
        theirs, sort_keys=[key if key[2:] else (*key, place) for key in keys]
    )
    actual = ck.sort_indices(batch, keys, null_placement=place)
    assert actual.to_pylist() == expected.to_pylist()


def test_all_columns_in_one_order_if_no_key_is_named() -> None:
    batch = ck.record_batch({"a": [2, 1, 2, 1], "b": ["x", "y", "z", "x"]})
    assert ck.sort_indices(batch, order="descending").to_pylist() == [2, 0, 1, 3]
    assert ck.sort_indices(batch, "b").to_pylist() == [0, 3, 1, 2]
    assert ck.sort_indices(batch, [1, ("a", "descending")]).to_pylist() == [0, 3, 1, 2]


def test_keys_that_do_not_fit() -> None:
    batch = ck.record_batch({"a": [2, 1]})
    with pytest.raises(ValueError, match="sort_keys: an array has no columns"):
        ck.sort_indices(ints([1]), "a")
    with pytest.raises(KeyError, match="b"):
        ck.sort_indices(batch, ["b"])
    with pytest.raises(ValueError, match="sort_keys: expected at least one key"):
        ck.sort_indices(batch, [])
    with pytest.raises(ValueError, match="order: expected 'ascending' or 'descending', got 'up'"):
        ck.sort_indices(batch, [("a", "up")])  # type: ignore[list-item]
    with pytest.raises(
        ValueError, match="null_placement: expected 'at_end' or 'at_start', got 'x'"
    ):
        ck.sort_indices(batch, [("a", "ascending", "x")])  # type: ignore[list-item]
    with pytest.raises(ValueError, match=r"sort_keys: expected a name, .* got a tuple of 1"):
        ck.sort_indices(batch, [("a",)])  # type: ignore[list-item]


@pytest.mark.parametrize("stated", [1, 150])
@pytest.mark.parametrize("is_text", [False, True], ids=["numbers", "text"])
def test_a_false_null_count_gives_positions_within_the_array(stated: int, is_text: bool) -> None:
    """Senders state the count, and only `validate` counts: each slot stays one of the positions."""
    valid = np.packbits(np.arange(20_000) % 3 == 0, bitorder="little")
    numbers = pa.array(np.arange(20_000) % 7)
    like = numbers.cast(pa.string()) if is_text else numbers
    buffers = [pa.py_buffer(valid), *like.buffers()[1:]]
    array = ck.array(pa.Array.from_buffers(like.type, len(like), buffers, null_count=stated))
    assert sorted(ck.sort_indices(array).to_pylist()) == list(range(20_000))
    for work in (ck.rank, ck.unique, ck.cumulative_max, lambda a: ck.select_k(a, 5)):
        work(array)
