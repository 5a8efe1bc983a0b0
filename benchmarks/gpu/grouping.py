"""Aggregates of groups and matches of joins: eight rows in each group, in any order."""

from __future__ import annotations

from typing import Any

from benchmarks.gpu.case import other
from benchmarks.gpu.data import Data
from colkern.kernels import grouping, joining

ROWS = 8


def shares(d: Data) -> tuple[Any, ...]:
    """A share for each group, as a device has them."""
    numbers = d.range("u4")
    numbers //= ROWS
    groups = d.n // ROWS
    return groups, d.range("u8"), d.range("i8", ROWS, count=groups + 1), numbers, 1, 0


def matches(d: Data) -> tuple[Any, ...]:
    """Rows of which each matches eight."""
    rows = d.n // ROWS
    return rows, d.range("u4", count=rows), d.none, 0, d.range("i8", ROWS, count=rows + 1)


def summed(d: Data, *values: Any, dtype: str = "u8", width: int = 1) -> tuple[Any, ...]:
    return *shares(d), *values, d.none, 0, d.out(dtype, d.n // ROWS * width)


other(grouping.count_group_rows, lambda d: summed(d))
other(
    grouping.sum_group_integers,
    lambda d, dtype: summed(d, d.words(dtype)),
    each=("i4", "i8"),
)
other(
    grouping.sum_group_floats,
    lambda d, dtype: summed(d, d.floats(dtype), dtype="f8"),
    each=("f4", "f8"),
)
other(
    grouping.sum_group_squares,
    lambda d: (
        *shares(d),
        d.floats("f8"),
        d.none,
        0,
        d.floats("f8", d.n // ROWS),
        d.out("f8", d.n // ROWS),
    ),
)
other(
    grouping.sum_group_words,
    lambda d: summed(d, d.words("u8", 2 * d.n), 2, width=2),
    label="128 bits",
)
other(
    grouping.least_group_keys,
    lambda d: (
        *shares(d),
        d.words("u8"),
        d.none,
        0,
        d.repeated([grouping.NO_ROW], "u8", d.n // ROWS * 2),
    ),
)
other(
    joining.count_matches,
    lambda d: (*matches(d), d.n // ROWS, 0, d.out("i8", d.n // ROWS)),
)
other(joining.left_of_matches, lambda d: (d.n // ROWS, matches(d)[-1], d.out("u8")))
other(
    joining.right_of_matches,
    lambda d: (*matches(d), d.range("u8"), d.n // ROWS, matches(d)[-1], d.out("u8")),
)
other(joining.match_last, lambda d: (d.n, d.range("u8"), d.range("u8", 3), d.out("u8")))
