"""Columns of nested and encoded types, and wide decimals, as arguments of functions of a row."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from arrow_oracle import from_pyarrow

import colkern as ck


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
        actual = 0.0
        for value in values:
            actual += value
        return actual

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


def test_texts_of_several_dictionaries_within_a_struct_are_their_own() -> None:
    @ck.udf
    def joined(row: Any) -> str:
        return row["a"] + row["b"] + row["c"][0]

    # So long that memory of decoded values, if it is freed, is that of the next ones.
    columns = [pa.array([name * 99] * 1000).dictionary_encode() for name in "abc"]
    columns[2] = pa.ListArray.from_arrays(range(1001), columns[2])
    rows = from_pyarrow(pa.StructArray.from_arrays(columns, list("abc")))
    assert joined(rows).to_pylist() == ["a" * 99 + "b" * 99 + "c" * 99] * 1000


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


def test_a_reduction_takes_them_too() -> None:
    @ck.reducer
    class lengths:
        def init() -> int:  # type: ignore[misc]
            return 0

        def update(state, text: str):
            return state + len(text)  # type: ignore[operator]

    assert lengths(from_pyarrow(_dictionary())) == 3 + 1 + 3 + 4 + 1 + 3  # type: ignore[call-arg, comparison-overlap]
