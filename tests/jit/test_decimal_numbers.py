"""Decimals in compiled code against Python's own."""

from __future__ import annotations

from decimal import Decimal, localcontext
from typing import Any

import pyarrow as pa
import pytest
from arrow_oracle import from_pyarrow
from hypothesis import example, given
from hypothesis import strategies as st
from numba import njit

TYPES = [pa.decimal64(18, 2), pa.decimal128(30, 5), pa.decimal256(60, 2)]


@njit
def arithmetic(left: Any, right: Any) -> Any:
    a, b = left.value(0), right.value(0)
    return a + b, a - b, a * b, -a, abs(b)


@njit
def order(left: Any, right: Any) -> Any:
    a, b = left.value(0), right.value(0)
    return a == b, a != b, a < b, a <= b, a > b, a >= b, a > 3, b <= 3, bool(a)


@njit
def conversions(column: Any) -> Any:
    a = column.value(0)
    return float(a), a.rescale(7), a.scale, a.words


def numbers(digits: int, scale: int) -> st.SearchStrategy[Decimal]:
    most = 10**digits - 1
    return st.integers(-most, most).map(lambda n: Decimal(f"{n}E{-scale}"))


@pytest.mark.parametrize("left", TYPES, ids=str)
@pytest.mark.parametrize("right", TYPES[:2], ids=str)
def test_arithmetic_and_order_are_those_of_python(left: pa.DataType, right: pa.DataType) -> None:
    @given(numbers(15, left.scale), numbers(15, right.scale))
    def check(a: Decimal, b: Decimal) -> None:
        columns = [from_pyarrow(pa.array([v], t)) for v, t in ((a, left), (b, right))]
        with localcontext(prec=100):
            assert arithmetic(*columns) == (a + b, a - b, a * b, -a, abs(b))
        expected = (a == b, a != b, a < b, a <= b, a > b, a >= b, a > 3, b <= 3, a != 0)
        assert order(*columns) == expected

    check()


@given(numbers(30, 5) | numbers(18, 5))
@example(Decimal("133098375104.39723"))
@example(Decimal("-814988708572803420818944.38215"))
def test_words_scale_and_floats_are_those_of_the_integer_beneath(value: Decimal) -> None:
    actual, rescaled, scale, words = conversions(from_pyarrow(pa.array([value], TYPES[1])))
    with localcontext(prec=100):
        number = int(value.scaleb(5))
    assert actual == float(value)
    assert (rescaled, scale) == (value, 5)
    assert words == (number % 2**64, (number >> 64) % 2**64)


def test_integers_drop_what_stands_behind_the_point() -> None:
    @njit
    def whole(column: Any) -> Any:
        return int(column.value(0))

    for text in ("-3.99", "3.99", "0.01", "-12345678901234567.89"):
        value = Decimal(text)
        assert whole(from_pyarrow(pa.array([value], pa.decimal128(30, 2)))) == int(value)


def test_a_sum_may_start_from_an_integer() -> None:
    @njit
    def total(column: Any) -> Any:
        actual = 0
        for value in column:
            if value is not None:
                actual += value
        return actual

    values = [Decimal("1.25"), None, Decimal("-3.50")]
    assert total(from_pyarrow(pa.array(values, pa.decimal128(10, 2)))) == Decimal("-2.25")


def test_a_result_that_does_not_fit_raises() -> None:
    @njit
    def product(column: Any) -> Any:
        return column.value(0) * column.value(0)

    column = from_pyarrow(pa.array([Decimal(10) ** 30], pa.decimal128(38, 0)))
    with pytest.raises(OverflowError, match="a decimal does not fit 128 bits"):
        product(column)


def test_rescaling_down_loses_no_digits() -> None:
    @njit
    def tenths(column: Any) -> Any:
        return column.value(0).rescale(1)

    assert tenths(from_pyarrow(pa.array([Decimal("-7.50")], pa.decimal128(10, 2)))) == Decimal(
        "-7.5"
    )
    with pytest.raises(ValueError, match="digits behind a scale of 1 would be lost"):
        tenths(from_pyarrow(pa.array([Decimal("7.51")], pa.decimal128(10, 2))))
