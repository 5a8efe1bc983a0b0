"""A decimal is an integer to a function, or a decimal: its declared type says which of the two."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

import colkern as ck

NARROW, WIDE = ck.decimal128(12, 2), ck.decimal128(38, 2)


def money(values: list[Any], data_type: ck.DataType) -> ck.Array:
    return ck.array([value and Decimal(value) for value in values], data_type)


@pytest.mark.parametrize("column", [NARROW, WIDE, ck.decimal256(40, 2)], ids=str)
def test_declared_with_18_digits_it_is_an_integer_in_columns_of_any_width(
    column: ck.DataType,
) -> None:
    found = a_cent_more(money(["1.00", None, "-0.01"], column))
    assert found.to_pylist() == [Decimal("1.01"), None, Decimal("0.00")]


@ck.udf("(decimal128(12, 2)) -> decimal128(12, 2)")
def a_cent_more(x: Any) -> Any:
    return x + 1


def test_a_value_of_more_digits_than_declared_is_named_with_its_row() -> None:
    with pytest.raises(OverflowError, match="does not fit the digits that were declared") as caught:
        a_cent_more(money(["1.00", "100000000000000000.00"], WIDE))
    assert caught.value.__notes__ == ["a_cent_more: row 1"]


def test_undeclared_columns_of_both_kinds_are_refused() -> None:
    @ck.udf
    def is_less(a, b) -> bool:
        return a < b

    narrow, wide = money(["1.5"], ck.decimal128(10, 1)), money(["2.25"], WIDE)
    for columns in ((narrow, wide), (wide, narrow)):
        with pytest.raises(TypeError, match=r"declare both types, with more than 18 digits"):
            is_less(*columns)
    declared = ck.udf("(decimal128(19, 1), decimal128(38, 2)) -> bool")(is_less.function)
    assert declared(narrow, wide).to_pylist() == [True]
