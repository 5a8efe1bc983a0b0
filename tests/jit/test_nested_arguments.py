"""Columns of nested and encoded types, and wide decimals, as arguments of functions of a row."""

from __future__ import annotations

from datetime import datetime, time, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from arrow_oracle import from_pyarrow

import colkern as ck


@ck.udf
def longest(words: Any) -> int:
    most = 0
    for word in words:
        if word is not None:
            most = max(most, len(word))
    return most


def test_lists_of_every_layout_are_columns_of_their_elements() -> None:
    values = [["a", None, "bcd"], None, [], ["ef"]]
    expected = [3, None, 0, 2]
    for type_ in (pa.list_(pa.utf8()), pa.large_list(pa.utf8()), pa.list_view(pa.utf8())):
        column = pa.array([["xxxxx"], *values], type_)
        assert longest(from_pyarrow(column).slice(1)).to_pylist() == expected


MOMENTS = [datetime(1969, 12, 31, 23), None, datetime(2024, 2, 29, 12, 30), datetime(1, 1, 1)]
ITEMS = [
    *((pa.timestamp(unit), MOMENTS) for unit in ("s", "ms", "us")),
    *(
        (type_, [None if x is None else x.date() for x in MOMENTS])
        for type_ in (pa.date32(), pa.date64())
    ),
    *(
        (type_, [time(23, 59, 59), None, time(), time(1)])
        for type_ in (pa.time32("s"), pa.time64("us"))
    ),
    *(
        (pa.duration(unit), [timedelta(days=-1), None, timedelta(0), timedelta(hours=1)])
        for unit in ("s", "us")
    ),
    (pa.uint64(), [2**64 - 1, None, 0, 2**63]),
    (pa.bool_(), [True, None, False, True]),
    (pa.float32(), [0.5, None, -0.0, 1e30]),
    (pa.string_view(), ["é", None, "", "x" * 20]),
    (pa.binary(2), [b"ab", None, b"cd", b"\0\0"]),
]


@pytest.mark.filterwarnings("ignore:.* runs in Python")
@pytest.mark.parametrize(("type_", "values"), ITEMS, ids=lambda value: str(value)[:16])
def test_items_of_lists_are_python_values(type_: pa.DataType, values: list[Any]) -> None:
    rows = [[x] for x in values] + [None, [], values, [x for x in values if x is not None]]
    column = from_pyarrow(pa.array([values[:1], *rows], pa.list_(type_))).slice(1)

    @ck.udf(fallback=True)
    def last(items: Any):
        return items[-1] if items else None

    @ck.udf(fallback=True)
    def same(items: Any):
        return len(items) > 1 and items[0] == items[-1]

    for function in (last, same)[type_ == pa.uint64() :]:
        expected = [None if row is None else function.function(row) for row in column.to_pylist()]
        assert function(column).to_pylist() == expected


def test_decimals_that_fit_no_integer_are_decimals() -> None:
    @ck.udf
    def is_large(amount: Any) -> bool:
        return amount * 2 > 10**18

    values = [Decimal("12345678901234567890.12"), Decimal("-1.00"), None]
    column = from_pyarrow(pa.array(values, pa.decimal128(30, 2)))
    assert is_large(column).to_pylist() == [True, False, None]


def test_a_declared_nested_type_is_compiled_ahead() -> None:
    @ck.udf
    def total(values: ck.list_(ck.float64())) -> float:  # type: ignore[valid-type]
        found = 0.0
        for value in values:
            found += value
        return found

    assert total.result_type(ck.list_(ck.float64())) == ck.float64()
    with pytest.raises(TypeError, match="values: expected list<item: double>"):
        total(ck.array([1.5]))


@pytest.mark.parametrize(
    "type_",
    [
        pa.list_(pa.field("element", pa.float64(), nullable=False)),
        pa.large_list(pa.float64()),
        pa.list_(pa.dictionary(pa.int8(), pa.float64())),
    ],
)
def test_a_declared_list_takes_those_of_other_layouts_and_names(type_: pa.DataType) -> None:
    @ck.udf
    def first(values: ck.list_(ck.float64())) -> float:  # type: ignore[valid-type]
        return values[0]

    assert first(pa.array([[1.5], None, [2.5, 3.5]], type_)).to_pylist() == [1.5, None, 2.5]


def _dictionary() -> pa.Array:
    indices = pa.array([2, 0, None, 2, 1, 3, 0, 2], pa.int8())
    return pa.DictionaryArray.from_arrays(indices, pa.array(["a", None, "ccc", "dddd"]))


def test_dictionaries_and_runs_give_the_values_in_every_position() -> None:
    @ck.udf
    def joined(left: str, right: str, number: int) -> int:
        return len(left) * 100 + len(right) * 10 + number

    runs = pa.RunEndEncodedArray.from_arrays(pa.array([3, 8], pa.int32()), pa.array(["x", "yy"]))
    numbers = pa.array(range(8))
    columns = _dictionary().slice(1), runs.slice(1), numbers.slice(1)
    plain = [None if a is None else len(a) for a in columns[0].to_pylist()]
    expected = [
        None if size is None else size * 100 + (10 if i + 1 < 3 else 20) + i + 1
        for i, size in enumerate(plain)
    ]
    assert joined(*map(from_pyarrow, columns)).to_pylist() == expected


@pytest.mark.parametrize("pure", [True, False])
def test_a_function_of_one_dictionary_is_called_for_its_values(pure: bool) -> None:
    @ck.udf(pure=pure)
    def size(text: str) -> int:
        return len(text)

    assert size(from_pyarrow(_dictionary())).to_pylist() == [3, 1, None, 3, None, 4, 1, 3]


def test_runs_are_computed_once_each() -> None:
    runs = pa.RunEndEncodedArray.from_arrays(
        pa.array([2, 3, 6], pa.int32()), pa.array([5, None, 7])
    )

    @ck.udf
    def doubled(x: int) -> int:
        return 2 * x

    assert doubled(from_pyarrow(runs.slice(1, 4))).to_pylist() == [10, None, 14, 14]


def test_a_value_that_no_row_has_raises_nothing() -> None:
    @ck.udf
    def inverse(x: int) -> int:
        if x == 0:
            raise ValueError("none has this")
        return 100 // x

    dictionary = pa.DictionaryArray.from_arrays(pa.array([1, 2, 1], pa.int8()), pa.array([0, 4, 5]))
    assert inverse(from_pyarrow(dictionary)).to_pylist() == [25, 20, 25]
    with pytest.raises(ValueError, match="none has this") as caught:
        inverse(from_pyarrow(pa.DictionaryArray.from_arrays([1, 0], pa.array([0, 4]))))
    assert caught.value.__notes__ == ["inverse: row 1"]


def test_a_reduction_and_a_generator_take_them_too() -> None:
    @ck.generator
    def words(text: Any) -> str:
        for word in text:
            if word is not None:
                yield word

    @ck.reducer
    class lengths:
        def init() -> int:  # type: ignore[misc]
            return 0

        def update(state, text: str):  # type: ignore[no-untyped-def]
            return state + len(text)

    lists = pa.array([["a", None], None, ["b", "c"]])
    assert words(from_pyarrow(lists)).to_pylist() == [["a"], None, ["b", "c"]]
    assert lengths(from_pyarrow(_dictionary())) == 3 + 1 + 3 + 4 + 1 + 3
