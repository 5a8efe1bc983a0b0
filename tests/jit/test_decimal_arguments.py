"""Decimals of a reducer: an integer to it, or a decimal, as its declared type says."""

from __future__ import annotations

from decimal import Decimal

import colkern as ck


def test_declared_with_more_digits_it_is_a_decimal_in_columns_of_any_width() -> None:
    @ck.reducer("(decimal128(20, 2)) -> float64")
    class total:
        def init():
            return 0.0

        def update(state, x):
            return state + float(x)

    for column in (ck.decimal128(38, 2), ck.decimal128(12, 2), ck.decimal64(12, 2)):
        values = ck.array([Decimal("3.00"), Decimal("1.50")], column)
        assert total(values) == 4.5
