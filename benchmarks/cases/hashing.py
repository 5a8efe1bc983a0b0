"""Hashes of rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl

import colkern as ck
from benchmarks import data
from benchmarks.case import Case, compared
from benchmarks.timing import Work

_LARGE = 10_000_000
"""pandas hashes Python strings, which take too much memory beyond."""


@compared(target=2.0, dtype=("int64", "int32", "float64"), nulls=(0, 0.01, 0.5))
def hash_numbers(rows: int, dtype: str, nulls: float) -> Case:
    """One hash a number."""
    peer = data.numbers(rows, dtype, nulls)
    ours = ck.array(peer)
    series = pl.Series(pl.from_arrow(peer))
    work: dict[str, Work] = {
        "colkern": lambda: ck.hash_columns([ours]),
        "polars": series.hash,
    }
    if not nulls:
        values = peer.to_numpy()
        work["pandas"] = lambda: pd.util.hash_array(values)
    return Case(rows * 8 + peer.nbytes, work)


@compared(target=2.0, length=(12, 4, 60), nulls=(0, 0.01, 0.5))
def hash_strings(rows: int, length: int, nulls: float) -> Case:
    """One hash a string, all of them different; polars hashes views."""
    peer = data.strings(rows, length, nulls)
    ours = ck.array(peer)
    series = pl.Series(pl.from_arrow(peer))
    work: dict[str, Work] = {
        "colkern": lambda: ck.hash_columns([ours]),
        "polars": series.hash,
    }
    return Case(rows * 8 + peer.nbytes, work)


@compared(target=2.0)
def hash_rows(rows: int) -> Case:
    """One hash a row of two columns of numbers, and one of strings."""
    peers = [data.numbers(rows), data.numbers(rows, "int32"), data.strings(rows, distinct=10_000)]
    ours = [ck.array(peer) for peer in peers]
    frame = pl.DataFrame([pl.Series(str(k), pl.from_arrow(peer)) for k, peer in enumerate(peers)])
    work: dict[str, Work] = {
        "colkern": lambda: ck.hash_columns(ours),
        "polars": frame.hash_rows,
    }
    return Case(rows * 8 + sum(peer.nbytes for peer in peers), work)


@compared(target=2.0, partitions=(64, 1000))
def partition_indices(rows: int, partitions: int) -> Case:
    """Positions by partition; NumPy sorts the partitions' numbers."""
    hashes = data.random().integers(0, 1 << 64, rows, np.uint64)
    ours = ck.array(hashes)

    def by_numpy() -> object:
        numbers = ((hashes >> np.uint64(32)) * np.uint64(partitions) >> np.uint64(32)).astype("u2")
        return np.argsort(numbers, kind="stable"), np.bincount(numbers, minlength=partitions)

    work: dict[str, Work] = {
        "colkern": lambda: ck.partition_indices(ours, partitions),
        "NumPy": by_numpy,
    }
    return Case(rows * 16, work)
