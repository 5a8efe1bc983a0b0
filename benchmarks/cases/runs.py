"""Run-end encoded arrays: encoding, decoding, and selection that need not decode."""

from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

import colkern as ck
from benchmarks import data
from benchmarks.case import Case, compared
from colkern.layouts import Role
from colkern.operations.selection.runs import filter_runs

DTYPES = ("int64", "int32", "int8", "bool", "string")


@compared(run=(10, 2, 100, 1000), lengths=("equal", "random"), dtype=DTYPES, nulls=(0, 0.1))
def run_end_decode(rows: int, run: int, lengths: str, dtype: str, nulls: float) -> Case:
    """Values from runs."""
    peer = encoded(rows, run, lengths, dtype, nulls)
    ours = ck.array(peer)
    contestants = {
        "colkern": lambda: ck.run_end_decode(ours),
        "pyarrow": lambda: pc.run_end_decode(peer),
    }
    if dtype.startswith("int") and not nulls:
        values, ends = peer.values.to_numpy(), peer.run_ends.to_numpy()
        contestants["numpy"] = lambda: np.repeat(values, np.diff(ends, prepend=0))
    return Case(size(pc.run_end_decode(peer)) + size(peer), contestants)


@compared(target=2.0, run=(10, 2, 100, 1000), dtype=DTYPES, nulls=(0, 0.1))
def run_end_encode(rows: int, run: int, dtype: str, nulls: float) -> Case:
    """Values to runs of random lengths."""
    runs = encoded(rows, run, "random", dtype, nulls)
    peer = pc.run_end_decode(runs)
    ours = ck.array(peer)
    series = pl.Series(peer)
    return Case(
        size(peer) + size(runs),
        {
            "colkern": lambda: ck.run_end_encode(ours),
            "pyarrow": lambda: pc.run_end_encode(peer),
            "polars": series.rle,
        },
    )


@compared(target=3.0, run=(10, 2, 100, 1000), share=(0.5, 0.01, 0.99))
def run_end_filter(rows: int, run: int, share: float) -> Case:
    """int64 slots by a random mask; pyarrow must decode first."""
    peer = encoded(rows, run, "random", "int64", 0)
    mask = data.mask(len(peer), share)
    ours = ck.array(peer)
    bits = ck.array(mask).buffer(Role.DATA)
    assert bits is not None
    return Case(
        size(peer) + rows // 8,
        {
            "colkern": lambda: filter_runs(ours, bits, 0),
            "pyarrow": lambda: pc.run_end_decode(peer).filter(mask),
        },
    )


@compared(target=3.0, run=(10, 2, 100, 1000), share=(0.1, 0.01, 1.0), order=("sorted", "random"))
def run_end_take(rows: int, run: int, share: float, order: str) -> Case:
    """int64 slots by position, as many as that share of the rows; pyarrow must decode first."""
    peer = encoded(rows, run, "random", "int64", 0)
    picked = data.indices(int(rows * share), len(peer)).to_numpy()
    picks = pa.array(np.sort(picked) if order == "sorted" else picked)
    ours, indices = ck.array(peer), ck.array(picks)
    return Case(
        picks.nbytes * 2,
        {
            "colkern": lambda: ck.take(ours, indices),
            "pyarrow": lambda: pc.run_end_decode(peer).take(picks),
        },
    )


def encoded(rows: int, run: int, lengths: str, dtype: str, nulls: float) -> pa.RunEndEncodedArray:
    """About that many slots in runs of that length, or of up to twice of it."""
    count = rows // run
    ends = np.arange(run, rows + 1, run, np.int32)[:count]
    if lengths == "random":
        ends = np.cumsum(data.random(8).integers(1, 2 * run, count)).astype(np.int32)
    return pa.RunEndEncodedArray.from_arrays(pa.array(ends), _values(count, dtype, nulls))


def _values(count: int, dtype: str, nulls: float) -> pa.Array:
    """Values of which no two neighbours are equal, nulls apart."""
    if dtype == "string":
        return data.strings(count, nulls=nulls)
    if dtype == "bool":
        return _mask(np.arange(count) % 2 == 0, nulls)
    return data.with_nulls(np.arange(count).astype(dtype), nulls)


def _mask(values: NDArray[np.bool_], nulls: float) -> pa.Array:
    bits = pa.array(values).buffers()[1]
    validity = data.mask(len(values), 1 - nulls).buffers()[1] if nulls else None
    return pa.BooleanArray.from_buffers(pa.bool_(), len(values), [validity, bits])


def size(array: pa.Array) -> int:
    """The bytes of an array."""
    return int(array.nbytes)
