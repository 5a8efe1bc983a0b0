"""Products with a constant: the range that is checked in place of the product itself."""

from __future__ import annotations

import pytest

from colkern.rows.calls import _check

MOST, LEAST = (1 << 63) - 1, -(1 << 63)


@pytest.mark.parametrize("factor", [2, 3, 7, 10**18, MOST, -1, -2, -3, -7, -(10**18), -MOST])
@pytest.mark.parametrize("is_left", [False, True])
def test_the_range_is_that_of_64_bits(factor: int, is_left: bool) -> None:
    codes = [str(factor), "x"] if is_left else ["x", str(factor)]
    check = _check("product_overflows({0}, {1})", codes)
    edges = (MOST // factor, LEAST // factor, MOST, LEAST, 0)
    for x in {edge + step for edge in edges for step in range(-2, 3)}:
        if LEAST <= x <= MOST:
            assert eval(check, {"x": x}) == (not LEAST <= x * factor <= MOST), x


@pytest.mark.parametrize("codes", [["a", "b"], ["0", "a"], ["a", "1"]])
def test_other_products_are_looked_at_themselves(codes: list[str]) -> None:
    check = _check("product_overflows({0}, {1})", codes)
    assert check == f"product_overflows({codes[0]}, {codes[1]})"
