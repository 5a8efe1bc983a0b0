"""`equal` and `not_equal`: as pyarrow's, or Python's own where it has none."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from arrow_oracle import from_pyarrow
from hypothesis import given
from hypothesis import strategies as st
from operations.samples import TEXTS, ints, sample, samples

import colkern.schema as s
from colkern.arrays import Array
from colkern.builders import array
from colkern.errors import InvalidArrowError, UnsupportedError
from colkern.memory import Buffer
from colkern.operations import add, equal, greater_equal, less, not_equal, nulls, take, validate

NESTED = (
    "variable-size list",
    "variable-size list-view",
    "fixed-size list",
    "struct",
    "sparse union",
    "dense union",
)
FLAT = [name for name in samples() if sample(name).layout.name not in NESTED]
PICKS = [3, 3, 0, 1, 4, 5, 0, 7, 8, 1, 11, 2]


def expected(left: list[Any], right: list[Any], same: bool = True) -> list[bool | None]:
    return [
        None if a is None or b is None else (a == b) is same
        for a, b in zip(left, right, strict=True)
    ]


@pytest.mark.parametrize("name", FLAT)
def test_equal_is_that_of_python(name: str) -> None:
    array = sample(name)
    other = take(array, ints(PICKS))
    for left, right in (
        (array, other),
        (array.slice(3, 8), other.slice(1, 8)),
        (array.slice(5, 0), other.slice(0, 0)),
        (array, array),
    ):
        values = left.to_pylist(), right.to_pylist()
        assert equal(left, right).to_pylist() == expected(*values)
        assert not_equal(left, right).to_pylist() == expected(*values, same=False)
        validate(equal(left, right), full=True)
        validate(not_equal(left, right), full=True)


@pytest.mark.parametrize("name", FLAT)
def test_equal_to_each_value(name: str) -> None:
    array = sample(name)
    for value in array.to_pylist():
        for part in (array, array.slice(3, 7), array.slice(5, 0)):
            values = part.to_pylist()
            same, other = equal(part, value), not_equal(part, value)
            assert same.to_pylist() == expected(values, [value] * len(values))
            assert other.to_pylist() == expected(values, [value] * len(values), same=False)
            validate(same, full=True)
            validate(other, full=True)


@pytest.mark.parametrize(
    "type_", [pa.int8(), pa.uint16(), pa.int32(), pa.uint64(), pa.float32(), pa.float64()], ids=str
)
def test_numbers_agree_with_pyarrow(type_: pa.DataType) -> None:
    left = pa.array([i % 7 if i % 5 else None for i in range(200)], type_)
    right = pa.array([i % 3 if i % 11 else None for i in range(200)], type_)
    ours = from_pyarrow(left), from_pyarrow(right)
    assert equal(*ours).equals(from_pyarrow(pc.equal(left, right)))
    assert not_equal(*ours).equals(from_pyarrow(pc.not_equal(left, right)))
    assert equal(ours[0], 5).equals(from_pyarrow(pc.equal(left, pa.scalar(5, type_))))


@pytest.mark.parametrize("type_", [pa.float16(), pa.float32(), pa.float64()], ids=str)
def test_floats_are_numbers(type_: pa.DataType) -> None:
    array = from_pyarrow(pa.array([0.0, -0.0, math.nan, math.inf, 1.5] * 3, type_))
    assert equal(array, array).to_pylist() == [True, True, False, True, True] * 3
    assert equal(array, -0.0).to_pylist() == [True, True, False, False, False] * 3
    assert equal(array, math.nan).to_pylist() == [False] * 15
    assert not_equal(array, math.nan).to_pylist() == [True] * 15


STORED = [
    pa.utf8(),
    pa.large_utf8(),
    pa.string_view(),
    pa.dictionary(pa.int8(), pa.utf8()),
    pa.run_end_encoded(pa.int32(), pa.utf8()),
]


@pytest.mark.parametrize("left", STORED, ids=str)
@pytest.mark.parametrize("right", STORED, ids=str)
def test_strings_however_they_are_stored(left: pa.DataType, right: pa.DataType) -> None:
    others = [*TEXTS[:4], "thirteen_byte", *TEXTS[5:7], "x" * 39 + "y", None, *TEXTS[9:]]
    sides = from_pyarrow(stored(TEXTS, left)), from_pyarrow(stored(others, right))
    assert equal(*sides).to_pylist() == expected(TEXTS, others)


def stored(values: list[str | None], type_: pa.DataType) -> pa.Array:
    if pa.types.is_run_end_encoded(type_):
        return pc.run_end_encode(pa.array(values))
    return pa.array(values).cast(type_)


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        (pa.timestamp("us"), dt.datetime(2020, 1, 2, 3)),
        (pa.date32(), dt.date(2020, 1, 2)),
        (pa.time64("us"), dt.time(1, 2)),
        (pa.duration("ms"), dt.timedelta(seconds=3)),
        (pa.decimal128(9, 2), Decimal("1.25")),
        (pa.decimal256(50, 2), Decimal("1.25")),
    ],
    ids=str,
)
def test_values_of_other_types(type_: pa.DataType, value: Any) -> None:
    array = from_pyarrow(pa.array([value, None, value], type_))
    assert equal(array, value).to_pylist() == [True, None, True]
    assert not_equal(array, value).to_pylist() == [False, None, False]


def test_null_is_never_equal() -> None:
    array = ints([1, None, 3])
    assert equal(array, None).to_pylist() == [None] * 3
    assert equal(array, nulls(3, s.int64())).to_pylist() == [None] * 3
    assert equal(nulls(3, s.null()), nulls(3, s.null())).to_pylist() == [None] * 3
    assert equal(sample("dictionary"), None).to_pylist() == [None] * 12


def test_what_cannot_be_compared() -> None:
    with pytest.raises(TypeError, match="right: expected int64, got int8; cast one of them"):
        equal(ints([1]), sample("int8").slice(0, 1))
    with pytest.raises(TypeError, match="got binary"):
        equal(from_pyarrow(pa.array(["a"])), from_pyarrow(pa.array([b"a"])))
    with pytest.raises(TypeError, match="right: expected str, got bytes"):
        equal(from_pyarrow(pa.array(["a"])), b"a")
    with pytest.raises(TypeError, match="right: expected bool, got int"):
        equal(from_pyarrow(pa.array([True])), 1)
    with pytest.raises(ValueError, match="right: 2 values, left has 1"):
        equal(ints([1]), ints([1, 2]))
    with pytest.raises(TypeError):
        equal(ints([1]), "a")
    with pytest.raises(UnsupportedError, match="compare its children"):
        equal(sample("list"), sample("list"))


def test_extension_types_are_compared_by_storage() -> None:
    array = sample("extension")
    assert isinstance(array, Array)
    assert equal(array, 4).to_pylist() == [None if v is None else v == 4 for v in array.to_pylist()]


@given(
    st.lists(st.none() | st.integers(0, 3), max_size=200),
    st.integers(0, 3),
    st.sampled_from([pa.int8(), pa.int64(), pa.float32(), pa.decimal128(20)]),
    st.integers(0, 9),
)
def test_any_numbers(values: list[int | None], value: int, type_: pa.DataType, offset: int) -> None:
    whole = from_pyarrow(pa.array(values, pa.int64()).cast(type_))
    offset = min(offset, len(values))
    array, values = whole.slice(offset), values[offset:]
    scalar = Decimal(value) if pa.types.is_decimal(type_) else value
    assert equal(array, scalar).to_pylist() == expected(values, [value] * len(values))
    turned = values[::-1]
    other = take(array, ints(list(range(len(values)))[::-1]))
    assert not_equal(array, other).to_pylist() == expected(values, turned, same=False)


@pytest.mark.parametrize(
    ("array", "value", "text"),
    [
        (pa.array([1.5], pa.float16()), "1.5", "got str '1.5'; the array is of halffloat"),
        (pa.array([Decimal("1.5")]), "1.5", r"got str '1.5'; the array is of decimal128\(2, 1\)"),
        (
            pa.array([dt.date(2024, 2, 29)]),
            "2024-02-29",
            "got str '2024-02-29'; the array is of date32",
        ),
        (
            pa.array([dt.datetime(2024, 2, 29)]),
            "2024-02-29",
            "got str .*; the array is of timestamp",
        ),
        (pa.array([dt.timedelta(1)]), "1", "got str '1'; the array is of duration"),
        (pa.array([b"ab"], pa.binary(2)), "ab", "got str 'ab'; the array is of fixed_size_binary"),
        (pa.array([True]), "True", "expected bool, got str"),
        (pa.array([True]), 1, "expected bool, got int"),
        (pa.array(["1"]), 1, "expected str, got int"),
    ],
    ids=lambda part: str(part.type) if isinstance(part, pa.Array) else repr(part),
)
def test_a_value_of_another_kind_is_refused_and_both_types_are_named(
    array: pa.Array, value: Any, text: str
) -> None:
    for operation in (equal, not_equal):
        with pytest.raises(TypeError, match=f"right: .*{text}"):
            operation(from_pyarrow(array), value)


ZEROS: dict[str, Array] = {
    str(zeros.type): zeros
    for zeros in (
        *(array([0, 1], type_) for type_ in (s.int8(), s.uint16(), s.int32(), s.uint64())),
        *(array([0.0, 1.0], type_) for type_ in (s.float16(), s.float32(), s.float64())),
        array([False, True]),
        *(array([Decimal(0), Decimal(1)], s.decimal(width, 5, 0)) for width in (32, 64, 128, 256)),
        *(array([0, 86_400_000], type_) for type_ in (s.date32(), s.date64())),
        array([0, 1], s.time32("s")),
        array([0, 1], s.time64("ns")),
        array([0, 1], s.timestamp("us")),
        array([0, 1], s.timestamp("ns", "UTC")),
        array([0, 1], s.duration("ms")),
        *(array(["", "a"], type_) for type_ in (s.utf8(), s.large_utf8(), s.utf8_view())),
        *(array([b"", b"a"], type_) for type_ in (s.binary(), s.large_binary(), s.binary_view())),
        array([bytes(4), b"abcd"], s.fixed_size_binary(4)),
        array([0, 1], s.dictionary(s.int8(), s.timestamp("us"))),
        array([0, 1], s.run_end_encoded(s.int32(), s.timestamp("us"))),
    )
}
"""Of every type of scalars, an array that begins with what is stored as zeros."""

NULLS = [None, pd.NA, pd.NaT, np.datetime64("NaT"), np.timedelta64("NaT", "s")]


@pytest.mark.parametrize("null", NULLS, ids=repr)
@pytest.mark.parametrize("name", ZEROS)
def test_a_null_of_any_library_is_compared_with_nothing(name: str, null: Any) -> None:
    for compare in (equal, not_equal, less, greater_equal):
        assert compare(ZEROS[name], null).to_pylist() == [None, None]


@pytest.mark.parametrize("null", NULLS, ids=repr)
def test_a_null_is_no_number_to_add(null: Any) -> None:
    for numbers in (array([1]), array([1.0])):
        with pytest.raises(TypeError, match="right: expected"):
            add(numbers, null)


@pytest.mark.parametrize("type_", [s.utf8(), s.large_binary(), s.utf8_view()], ids=str)
def test_positions_are_checked_although_such_types_were_compared_before(type_: s.DataType) -> None:
    whole = array(["a", "bc"] if type_ != s.large_binary() else [b"a", b"bc"], type_)
    equal(whole, whole), less(whole, whole), equal(whole, whole.to_pylist()[0])
    # Lengths and positions past the end of two bytes.
    numbers = np.full(8, 99, np.int32)
    data = Buffer.from_object(b"bc")
    bad = Array(type_, 2, [None, Buffer.of_items(numbers), data])
    for left, right in ((whole, bad), (bad, whole), (bad, whole.to_pylist()[0])):
        with pytest.raises(InvalidArrowError):
            equal(left, right)


def test_text_beside_numbers_is_refused_although_numbers_were_compared_before() -> None:
    numbers = array([1, 2])
    for _ in range(2):
        assert equal(numbers, 1).to_pylist() == [True, False]
        with pytest.raises(TypeError):
            equal(numbers, "1")
        with pytest.raises(TypeError):
            equal(array(["1", "2"]), 1)
