"""Aggregates: sums, extremes and means."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

import colkern as ck
from benchmarks import data
from benchmarks.case import Case, compared

NULLS = (0, 0.01, 0.5)
DTYPES = ("int64", "int32", "int8", "float64", "float32")


@compared(target=2.0, nulls=NULLS, dtype=DTYPES)
def sum_numbers(rows: int, nulls: float, dtype: str) -> Case:
    """The sum of random numbers."""
    return _aggregate(data.numbers(rows, dtype, nulls), "sum", polars="sum")


@compared(target=2.0, dtype=DTYPES)
def sum_half_null(rows: int, dtype: str) -> Case:
    """The sum of random numbers, half of them null."""
    return _aggregate(data.numbers(rows, dtype, 0.5), "sum", polars="sum")


@compared(target=2.0, nulls=NULLS, dtype=DTYPES)
def min_numbers(rows: int, nulls: float, dtype: str) -> Case:
    """The least of random numbers."""
    return _aggregate(data.numbers(rows, dtype, nulls), "min", polars="min")


@compared(target=2.0, dtype=DTYPES)
def min_half_null(rows: int, dtype: str) -> Case:
    """The least of random numbers, half of them null."""
    return _aggregate(data.numbers(rows, dtype, 0.5), "min", polars="min")


@compared(target=2.0, nulls=NULLS, dtype=DTYPES)
def min_max_numbers(rows: int, nulls: float, dtype: str) -> Case:
    """The least and the greatest of random numbers."""
    return _aggregate(data.numbers(rows, dtype, nulls), "min_max")


@compared(target=2.0, nulls=NULLS, dtype=("int64", "float64"))
def mean_numbers(rows: int, nulls: float, dtype: str) -> Case:
    """The mean of random numbers."""
    return _aggregate(data.numbers(rows, dtype, nulls, 1 << 20), "mean", polars="mean")


@compared(target=2.0, nulls=NULLS)
def any_true(rows: int, nulls: float) -> Case:
    """Whether any of booleans is true, where all are false."""
    zeros = data.mask(rows, 0)
    nullable = data.numbers(rows, "int8", nulls)
    buffers = [nullable.buffers()[0], zeros.buffers()[1]]
    peer = pa.Array.from_buffers(pa.bool_(), rows, buffers)
    return _aggregate(peer, "any", polars="any", nbytes=rows // 8)


@compared(target=2.0, nulls=(0, 0.5))
def sum_decimals(rows: int, nulls: float) -> Case:
    """The sum of decimal128 values."""
    peer = data.numbers(rows, "int64", nulls, 1 << 40).cast(pa.decimal128(38, 2))
    return _aggregate(peer, "sum", polars="sum", nbytes=rows * 16)


@compared(target=1.0, shares=(1, 3), nulls=(0, 0.1))
def quantile(rows: int, shares: int, nulls: float) -> Case:
    """Exact quantiles of random numbers; pyarrow's t-digest is near them."""
    peer = data.numbers(rows, "float64", nulls)
    ours, series = ck.array(peer), pl.Series(peer)
    q = [0.5] if shares == 1 else [0.1, 0.5, 0.9]
    work = {
        "colkern": lambda: ck.quantile(ours, q),
        "pyarrow": lambda: pc.quantile(peer, q),
        "pyarrow's t-digest": lambda: pc.tdigest(peer, q),
        "polars": lambda: [series.quantile(share, "linear") for share in q],
    }
    return Case(rows * 8, work)


@compared(target=2.0, run=(10, 1000))
def sum_of_runs(rows: int, run: int) -> Case:
    """The sum of run-end encoded int64 values; pyarrow decodes them first."""
    values = data.numbers(rows // run, "int64")
    ends = pa.array(range(run, rows + 1, run), pa.int32())
    peer = pa.RunEndEncodedArray.from_arrays(ends, values)
    ours = ck.array(peer)
    work = {
        "colkern": lambda: ck.sum(ours),
        "pyarrow": lambda: pc.sum(pc.run_end_decode(peer)),
    }
    return Case(rows // run * 12, work)


def _aggregate(peer: pa.Array, name: str, polars: str = "", nbytes: int = 0) -> Case:
    ours = ck.array(peer)
    mine: Callable[[ck.Array], Any] = getattr(ck, name)
    theirs = getattr(pc, name)
    work: dict[str, Callable[[], object]] = {
        "colkern": lambda: mine(ours),
        "pyarrow": lambda: theirs(peer),
    }
    if polars:
        series = pl.Series(peer)
        method = getattr(series, polars)
        work["polars"] = lambda: method()
    return Case(nbytes or len(peer) * peer.type.bit_width // 8, work)
