"""Sorting."""

from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow.compute as pc

import colkern as ck
from benchmarks import data
from benchmarks.case import Case, compared
from benchmarks.timing import Work


@compared(
    target=2.0,
    rows=(1_000, 1_000_000, 10_000_000),
    distinct=(0, 10_000, 100),
    dtype=("int64", "int32", "float64", "int8"),
    nulls=(0, 0.01, 0.5),
)
def sort_indices(rows: int, distinct: int, dtype: str, nulls: float) -> Case:
    """The positions of numbers in ascending order; any numbers of the type if `distinct` is 0."""
    peer = data.numbers(rows, dtype, nulls, min(distinct, 127) if dtype == "int8" else distinct)
    ours = ck.array(peer)
    series = pl.Series(pl.from_arrow(peer))
    work: dict[str, Work] = {
        "colkern": lambda: ck.sort_indices(ours),
        "pyarrow": lambda: pc.array_sort_indices(peer),
        "polars": series.arg_sort,
    }
    if not nulls:
        values = peer.to_numpy()
        work["NumPy"] = lambda: np.argsort(values, kind="stable")
    return Case(rows * 8 + peer.nbytes, work)
