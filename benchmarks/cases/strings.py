"""Strings: ASCII, lengths, matches, equality."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

import colkern as ck
from benchmarks import data
from benchmarks.case import Case, compared

LENGTHS = (12, 6, 30, 200)
NULLS = (0, 0.5)
FORMS = ("utf8", "utf8_view")


class _Strings:
    """Strings as each contestant has them.

    Args:
        rows: How many there are.
        length: Their mean length in bytes.
        nulls: The share of nulls.
        form: How they are stored: "utf8" or "utf8_view".
    """

    def __init__(self, rows: int, length: int, nulls: float = 0, form: str = "utf8") -> None:
        if rows * length > 2_000_000_000:
            rows = 2_000_000_000 // length
        plain = data.strings(rows, length, nulls)
        # pyarrow has these operations for strings with offsets alone, polars for views.
        self.pyarrow = plain
        self.polars = pl.Series(plain)
        self.colkern = ck.array(plain if form == "utf8" else plain.cast(pa.string_view()))
        self.nbytes = plain.nbytes


def _case(
    strings: _Strings,
    ours: Callable[[ck.Array], Any],
    arrow: Callable[[pa.Array], Any] | None,
    polars: Callable[[pl.Series], Any] | None,
) -> Case:
    work: dict[str, Callable[[], object]] = {"colkern": lambda: ours(strings.colkern)}
    if arrow is not None:
        work["pyarrow"] = lambda: arrow(strings.pyarrow)
    if polars is not None:
        work["polars"] = lambda: polars(strings.polars)
    return Case(strings.nbytes, work)


@compared(target=2.0, length=LENGTHS, nulls=NULLS, form=FORMS)
def string_is_ascii(rows: int, length: int, nulls: float, form: str) -> Case:
    """Of ASCII strings."""
    strings = _Strings(rows, length, nulls, form)
    return _case(strings, ck.string_is_ascii, pc.string_is_ascii, None)


@compared(target=2.0, length=LENGTHS, nulls=NULLS, form=FORMS)
def utf8_length(rows: int, length: int, nulls: float, form: str) -> Case:
    """Of ASCII strings."""
    strings = _Strings(rows, length, nulls, form)
    return _case(strings, ck.utf8_length, pc.utf8_length, lambda a: a.str.len_chars())


@compared(target=2.0, rows=(1_000, 1_000_000), form=FORMS)
def utf8_length_mixed(rows: int, form: str) -> Case:
    """Of strings of 4 to 12 characters, some of which have 2 or 3 bytes."""
    rng = data.random()
    words = ["".join(rng.choice(list("abé漢"), rng.integers(4, 13))) for _ in range(1000)]
    plain = pa.array(words).take(data.indices(rows, 1000))
    ours = ck.array(plain if form == "utf8" else plain.cast(pa.string_view()))
    theirs = pl.Series(plain)
    work = {
        "colkern": lambda: ck.utf8_length(ours),
        "pyarrow": lambda: pc.utf8_length(plain),
        "polars": lambda: theirs.str.len_chars(),
    }
    return Case(plain.nbytes, work)


@compared(target=1.0, length=LENGTHS, nulls=NULLS, form=FORMS)
def binary_length(rows: int, length: int, nulls: float, form: str) -> Case:
    """A difference of offsets, or a word of each view."""
    strings = _Strings(rows, length, nulls, form)
    # pyarrow would look at offsets, a quarter of the bytes.
    arrow = pc.binary_length if form == "utf8" else None
    return _case(strings, ck.binary_length, arrow, lambda a: a.str.len_bytes())


@compared(target=2.0, length=LENGTHS, nulls=NULLS, form=FORMS)
def starts_with(rows: int, length: int, nulls: float, form: str) -> Case:
    """With two letters."""
    strings = _Strings(rows, length, nulls, form)
    return _case(
        strings,
        lambda a: ck.starts_with(a, "ab"),
        lambda a: pc.starts_with(a, "ab"),
        lambda a: a.str.starts_with("ab"),
    )


@compared(target=2.0, length=LENGTHS, nulls=NULLS, form=FORMS)
def ends_with(rows: int, length: int, nulls: float, form: str) -> Case:
    """With two letters."""
    strings = _Strings(rows, length, nulls, form)
    return _case(
        strings,
        lambda a: ck.ends_with(a, "ab"),
        lambda a: pc.ends_with(a, "ab"),
        lambda a: a.str.ends_with("ab"),
    )


@compared(target=2.0, length=LENGTHS, nulls=NULLS, form=FORMS)
def equal_to_string(rows: int, length: int, nulls: float, form: str) -> Case:
    """To a string of the mean length."""
    strings, value = _Strings(rows, length, nulls, form), "a" * length
    return _case(
        strings, lambda a: ck.equal(a, value), lambda a: pc.equal(a, value), lambda a: a == value
    )


@compared(target=1.0, length=LENGTHS, nulls=NULLS, form=FORMS, same=(0.5, 1))
def equal_strings(rows: int, length: int, nulls: float, form: str, same: float) -> Case:
    """Two arrays, with the same strings in the first part of that share, others behind it."""
    left = _Strings(rows, length, nulls, form)
    count = len(left.pyarrow)
    positions = np.arange(count)
    positions[int(count * same) :] = positions[int(count * same) :][::-1]
    other = left.pyarrow.take(positions)
    theirs = pl.Series(other)
    ours = ck.array(other if form == "utf8" else other.cast(pa.string_view()))
    return _case(
        left, lambda a: ck.equal(a, ours), lambda a: pc.equal(a, other), lambda a: a == theirs
    )


@compared(target=1.0, dtype=("int64", "int8", "int32", "float64"), nulls=NULLS)
def equal_numbers(rows: int, dtype: str, nulls: float) -> Case:
    """Two arrays of numbers."""
    left, right = (data.numbers(rows, dtype, nulls, distinct=100) for _ in range(2))
    ours, theirs = (ck.array(left), ck.array(right)), (pl.Series(left), pl.Series(right))
    work = {
        "colkern": lambda: ck.equal(*ours),
        "pyarrow": lambda: pc.equal(left, right),
        "polars": lambda: theirs[0] == theirs[1],
    }
    return Case(left.nbytes * 2, work)


@compared(target=1.0, dtype=("int64", "int8", "int32", "float64"), nulls=NULLS)
def equal_to_number(rows: int, dtype: str, nulls: float) -> Case:
    """An array and a number."""
    array = data.numbers(rows, dtype, nulls, distinct=100)
    ours, theirs = ck.array(array), pl.Series(array)
    scalar = pa.scalar(7, array.type)
    work = {
        "colkern": lambda: ck.equal(ours, 7),
        "pyarrow": lambda: pc.equal(array, scalar),
        "polars": lambda: theirs == 7,
    }
    return Case(array.nbytes, work)
