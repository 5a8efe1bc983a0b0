"""Which values are less: numbers, decimals and strings, of two arrays, and of an array and a value."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

import colkern as ck
from benchmarks import data
from benchmarks.case import Case, compared

DTYPES = ("int64", "int8", "int32", "float64", "decimal128")
LENGTHS = (12, 6, 30, 200)
FORMS = ("utf8", "utf8_view")


def _numbers(rows: int, dtype: str, nulls: float) -> pa.Array:
    """Few different numbers."""
    if dtype != "decimal128":
        return data.numbers(rows, dtype, nulls, distinct=100)
    return data.numbers(rows, "int64", nulls, distinct=100).cast(pa.decimal128(20, 0))


def _reversed(array: pa.Array) -> pa.Array:
    return array.take(pa.array(np.arange(len(array))[::-1]))


@compared(target=1.0, dtype=DTYPES, nulls=(0, 0.5))
def less_numbers(rows: int, dtype: str, nulls: float) -> Case:
    """Two arrays of numbers."""
    left = _numbers(rows, dtype, nulls)
    right = _reversed(left)
    ours, theirs = (ck.array(left), ck.array(right)), (pl.Series(left), pl.Series(right))
    work = {
        "colkern": lambda: ck.less(*ours),
        "pyarrow": lambda: pc.less(left, right),
        "polars": lambda: theirs[0] < theirs[1],
    }
    return Case(left.nbytes * 2, work)


@compared(target=1.0, dtype=DTYPES, nulls=(0, 0.5))
def less_than_number(rows: int, dtype: str, nulls: float) -> Case:
    """An array and a number."""
    array = _numbers(rows, dtype, nulls)
    ours, theirs = ck.array(array), pl.Series(array)
    scalar = pa.scalar(50).cast(array.type)
    value = scalar.as_py()
    work = {
        "colkern": lambda: ck.less(ours, value),
        "pyarrow": lambda: pc.less(array, scalar),
        "polars": lambda: theirs < value,
    }
    return Case(array.nbytes, work)


@compared(target=1.0, length=LENGTHS, form=FORMS)
def less_strings(rows: int, length: int, form: str) -> Case:
    """Two arrays of strings; those of pyarrow have offsets, as it compares no views."""
    left = _strings(rows, length)
    right = _reversed(left)
    ours = [_stored(each, form) for each in (left, right)]
    theirs = pl.Series(left), pl.Series(right)
    work = {
        "colkern": lambda: ck.less(*ours),
        "pyarrow": lambda: pc.less(left, right),
        "polars": lambda: theirs[0] < theirs[1],
    }
    return Case(left.nbytes + right.nbytes, work)


@compared(target=1.0, length=LENGTHS, form=FORMS)
def less_than_string(rows: int, length: int, form: str) -> Case:
    """An array and a string of the mean length; as `less_strings`."""
    array, value = _strings(rows, length), "m" * length
    ours, theirs = _stored(array, form), pl.Series(array)
    work: dict[str, Any] = {
        "colkern": lambda: ck.less(ours, value),
        "pyarrow": lambda: pc.less(array, value),
        "polars": lambda: theirs < value,
    }
    return Case(array.nbytes, work)


def _strings(rows: int, length: int) -> pa.Array:
    return data.strings(min(rows, 2_000_000_000 // length), length)


def _stored(strings: pa.Array, form: str) -> ck.Array:
    return ck.array(strings if form == "utf8" else strings.cast(pa.string_view()))
