"""Arrays one after the other, and slices made arrays of their own."""

from __future__ import annotations

import itertools

import arro3.compute as ac
import arro3.core as a3
import polars as pl
import pyarrow as pa

import colkern as ck
from benchmarks.case import Case, compared
from benchmarks.cases.selection import _DTYPES, _bytes, _has_peers_layout, _values


@compared(target=1.5, dtype=_DTYPES, nulls=(0, 0.01), pieces=(2, 100))
def concat(rows: int, dtype: str, nulls: float, pieces: int) -> Case:
    """Slices of one array, which start at any bit, put together again."""
    whole = _values(rows, dtype, nulls)
    cuts = [rows * k // pieces for k in range(pieces + 1)]
    peers = [whole.slice(a, b - a) for a, b in itertools.pairwise(cuts)]
    ours = [ck.array(peer) for peer in peers]
    rust = a3.ChunkedArray.from_arrow(pa.chunked_array(peers))
    work = {
        "colkern": lambda: ck.concat(ours),
        "pyarrow": lambda: pa.concat_arrays(peers),
        "arro3": lambda: ac.concat(rust),
    }
    if _has_peers_layout(dtype):
        frames = [pl.Series(peer) for peer in peers]
        work["polars"] = lambda: pl.concat(frames, rechunk=True)
    return Case(2 * _bytes(whole), work)


@compared(target=1.0, dtype=_DTYPES, nulls=(0, 0.01))
def trim(rows: int, dtype: str, nulls: float) -> Case:
    """A slice from slot 3 on as an array of its own, without what stands under its nulls."""
    peer = _values(rows + 5, dtype, nulls).slice(3, rows)
    ours = ck.array(peer)
    return Case(
        2 * _bytes(peer),
        {
            "colkern": lambda: ck.trim(ours),
            "pyarrow": lambda: pa.concat_arrays([peer, peer.slice(0, 0)]),
        },
    )
