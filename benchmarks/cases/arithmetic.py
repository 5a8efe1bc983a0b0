"""Arithmetic: on plain numbers, and on the values of encodings alone."""

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
from benchmarks.cases.runs import encoded

DTYPES = ("int64", "float64", "int32", "int8", "uint16")
NULLS = (0, 0.01, 0.5)


@compared(target=1.0, dtype=DTYPES, nulls=NULLS)
def add_arrays(rows: int, dtype: str, nulls: float) -> Case:
    """Two arrays."""
    return _arrays(rows, dtype, nulls, ck.add, pc.add, np.add, pl.Series.__add__)


@compared(target=1.0, dtype=DTYPES, nulls=NULLS)
def multiply_arrays(rows: int, dtype: str, nulls: float) -> Case:
    """Two arrays."""
    return _arrays(rows, dtype, nulls, ck.multiply, pc.multiply, np.multiply, pl.Series.__mul__)


@compared(target=2.0, dtype=DTYPES, nulls=NULLS)
def divide_arrays(rows: int, dtype: str, nulls: float) -> Case:
    """Two arrays; NumPy and polars cut to another integer, or to none."""
    both = (np.divide, pl.Series.__truediv__) if dtype == "float64" else (None, None)
    return _arrays(rows, dtype, nulls, ck.divide, pc.divide, *both)


@compared(target=1.0, dtype=DTYPES, nulls=NULLS)
def subtract_number(rows: int, dtype: str, nulls: float) -> Case:
    """An array and a number."""
    return _number(rows, dtype, nulls, ck.subtract, pc.subtract, np.subtract, pl.Series.__sub__)


@compared(target=2.0, dtype=DTYPES, nulls=NULLS)
def divide_by_number(rows: int, dtype: str, nulls: float) -> Case:
    """An array and a number."""
    both = (np.divide, pl.Series.__truediv__) if dtype == "float64" else (None, None)
    return _number(rows, dtype, nulls, ck.divide, pc.divide, *both)


@compared(target=1.0, dtype=("int64", "float64", "int32", "int8"), nulls=NULLS)
def absolute(rows: int, dtype: str, nulls: float) -> Case:
    """Absolute values of an array of which half are negative."""
    values = _signed(rows, dtype, nulls)
    ours, series = ck.array(values), pl.Series(values)
    contestants = {
        "colkern": lambda: ck.abs(ours),
        "pyarrow": lambda: pc.abs(values),
        "polars": series.abs,
    }
    if not nulls:
        plain = values.to_numpy()
        contestants["numpy"] = lambda: np.abs(plain)
    return Case(values.nbytes * 2, contestants)


@compared(target=3.0, run=(10, 2, 100, 1000))
def add_number_to_runs(rows: int, run: int) -> Case:
    """Run-end encoded int64, which pyarrow must decode."""
    peer = encoded(rows, run, "random", "int64", 0)
    ours = ck.array(peer)
    return Case(
        int(peer.nbytes) * 2,
        {
            "colkern": lambda: ck.add(ours, 7),
            "pyarrow": lambda: pc.add(pc.run_end_decode(peer), 7),
        },
    )


@compared(target=3.0, run=(100, 10, 1000), other=(100, 10, 1000))
def add_runs(rows: int, run: int, other: int) -> Case:
    """Two run-end encoded arrays of int64, which pyarrow must decode."""
    peers = [encoded(rows, length, "random", "int64", 0) for length in (run, other)]
    count = min(map(len, peers))
    left, right = (peer.slice(0, count) for peer in peers)
    ours = ck.array(left), ck.array(right)
    return Case(
        int(left.nbytes + right.nbytes) * 2,
        {
            "colkern": lambda: ck.add(*ours),
            "pyarrow": lambda: pc.add(pc.run_end_decode(left), pc.run_end_decode(right)),
        },
    )


@compared(target=3.0, distinct=(1000, 100_000))
def multiply_dictionary(rows: int, distinct: int) -> Case:
    """A dictionary of int64 and a number."""
    indices = data.indices(rows, distinct, "int32")
    peer = pa.DictionaryArray.from_arrays(indices, data.numbers(distinct))
    ours = ck.array(peer)
    return Case(
        rows * 4,
        {
            "colkern": lambda: ck.multiply(ours, 7),
            "pyarrow": lambda: pc.multiply(peer, 7),
        },
    )


def _signed(rows: int, dtype: str, nulls: float) -> pa.Array:
    values = data.random(9).integers(-100, 100, rows, np.int8).astype(dtype)
    return data.with_nulls(values, nulls)


def _operand(rows: int, dtype: str, nulls: float, seed: int) -> pa.Array:
    """Numbers from 1 to 120."""
    values = data.random(seed).integers(1, 121, rows, np.int8).astype(dtype)
    return data.with_nulls(values, nulls)


def _arrays(
    rows: int,
    dtype: str,
    nulls: float,
    ours: Callable[..., Any],
    arrow: Callable[..., Any],
    numpy: Callable[..., Any] | None,
    polars: Callable[..., Any] | None,
) -> Case:
    left, right = (_operand(rows, dtype, nulls, seed) for seed in (10, 11))
    mine = ck.array(left), ck.array(right)
    contestants = {"colkern": lambda: ours(*mine), "pyarrow": lambda: arrow(left, right)}
    if polars is not None:
        series = pl.Series(left), pl.Series(right)
        contestants["polars"] = lambda: polars(*series)
    if numpy is not None and not nulls:
        plain = left.to_numpy(), right.to_numpy()
        contestants["numpy"] = lambda: numpy(*plain)
    return Case(left.nbytes * 3, contestants)


def _number(
    rows: int,
    dtype: str,
    nulls: float,
    ours: Callable[..., Any],
    arrow: Callable[..., Any],
    numpy: Callable[..., Any] | None,
    polars: Callable[..., Any] | None,
) -> Case:
    array = _operand(rows, dtype, nulls, 10)
    mine, number = ck.array(array), pa.scalar(7, array.type)
    contestants = {"colkern": lambda: ours(mine, 7), "pyarrow": lambda: arrow(array, number)}
    if polars is not None:
        series = pl.Series(array)
        contestants["polars"] = lambda: polars(series, 7)
    if numpy is not None and not nulls:
        plain = array.to_numpy()
        contestants["numpy"] = lambda: numpy(plain, np.dtype(dtype).type(7))
    return Case(array.nbytes * 2, contestants)
