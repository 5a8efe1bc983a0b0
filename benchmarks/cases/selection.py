"""Values chosen by a mask, and by position."""

from __future__ import annotations

import arro3.compute as ac
import arro3.core as a3
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

import colkern as ck
from benchmarks import data
from benchmarks.case import Case, compared

# A string column of the usual length is 1.6 GB at 100 million rows, and what is kept of it as much.
_DTYPES = (
    "int64",
    "int32",
    "int8",
    "bool",
    "string of 12",
    "string of 40",
    "string_view of 12",
    "decimal128",
    "list of 5",
    "struct",
    "dictionary",
)


def _values(rows: int, dtype: str, nulls: float) -> pa.Array:
    kind, _, length = dtype.partition(" of ")
    if kind == "bool":
        bits = data.mask(rows, 0.5, 7).buffers()[1]
        validity = data.mask(rows, 1 - nulls, 8).buffers()[1] if nulls else None
        return pa.BooleanArray.from_buffers(pa.bool_(), rows, [validity, bits])
    if kind == "string":
        return data.strings(rows, int(length), nulls)
    if kind == "string_view":
        return data.strings(rows, int(length), nulls).cast(pa.string_view())
    if kind == "list":
        starts = pa.array(np.arange(0, rows * int(length) + 1, int(length), np.int32))
        return pa.ListArray.from_arrays(starts, data.numbers(rows * int(length)))
    if kind == "struct":
        columns = [data.numbers(rows, "int64", nulls), data.numbers(rows, "float32")]
        return pa.StructArray.from_arrays(columns, ["a", "b"])
    if kind == "dictionary":
        indices = data.numbers(rows, "int32", nulls, 1000)
        return pa.DictionaryArray.from_arrays(indices, data.strings(1000))
    if kind == "decimal128":
        items = data.random().integers(0, 1 << 40, 2 * rows)
        items[1::2] = 0
        return pa.Array.from_buffers(pa.decimal128(30, 2), rows, [None, pa.py_buffer(items)])
    return data.numbers(rows, kind, nulls)


def _bytes(array: pa.Array) -> int:
    return int(array.get_total_buffer_size())


def _has_peers_layout(dtype: str) -> bool:
    """Whether polars keeps such values as Arrow does: strings are views there."""
    return not dtype.startswith(("string of", "dictionary"))


@compared(
    target=1.5,
    selectivity=(0.5, 0.01, 0.1, 0.9, 0.99),
    dtype=_DTYPES,
    nulls=(0, 0.01, 0.5),
)
def filter_mask(rows: int, selectivity: float, dtype: str, nulls: float) -> Case:
    """A filter by a random mask."""
    peer, mask = _values(rows, dtype, nulls), data.mask(rows, selectivity)
    ours, bits = ck.array(peer), ck.array(mask)
    rust, rust_mask = a3.Array.from_arrow(peer), a3.Array.from_arrow(mask)
    work = {
        "colkern": lambda: ck.filter(ours, bits),
        "pyarrow": lambda: peer.filter(mask),
        "arro3": lambda: ac.filter(rust, rust_mask),
    }
    if _has_peers_layout(dtype):
        frame, chosen = pl.Series(peer), pl.Series(mask)
        work["polars"] = lambda: frame.filter(chosen)
    return Case(int(_bytes(peer) * (1 + selectivity)) + rows // 8, work)


@compared(target=1.5, run=(100, 10, 10_000), dtype=("int64", "string of 12", "bool"))
def filter_runs_of_mask(rows: int, run: int, dtype: str) -> Case:
    """A filter by a mask whose bits come in runs, as those of a sorted column do."""
    flips = data.random(9).random(rows) < 1 / run
    mask = pa.array(np.cumsum(flips) % 2 == 0)
    peer = _values(rows, dtype, 0)
    ours, bits = ck.array(peer), ck.array(mask)
    work = {
        "colkern": lambda: ck.filter(ours, bits),
        "pyarrow": lambda: peer.filter(mask),
    }
    if _has_peers_layout(dtype):
        frame, chosen = pl.Series(peer), pl.Series(mask)
        work["polars"] = lambda: frame.filter(chosen)
    return Case(int(_bytes(peer) * 1.5) + rows // 8, work)


@compared(target=1.5, null_selection=("drop", "emit_null"))
def filter_with_nulls_in_mask(rows: int, null_selection: str) -> Case:
    """A mask of which one in a hundred is null."""
    bits = data.mask(rows, 0.5).buffers()[1]
    validity = data.mask(rows, 0.99, 3).buffers()[1]
    mask = pa.BooleanArray.from_buffers(pa.bool_(), rows, [validity, bits])
    peer = data.numbers(rows)
    ours, own_mask = ck.array(peer), ck.array(mask)
    work = {
        "colkern": lambda: ck.filter(ours, own_mask, null_selection=null_selection),
        "pyarrow": lambda: peer.filter(mask, null_selection_behavior=null_selection),
    }
    if null_selection == "drop":
        frame, chosen = pl.Series(peer), pl.Series(mask)
        work["polars"] = lambda: frame.filter(chosen)
    return Case(rows * 12, work)


@compared(target=1.5, rows=(1_000, 1_000_000, 10_000_000), selectivity=(0.5, 0.01, 0.99))
def filter_batch(rows: int, selectivity: float) -> Case:
    """Four columns under one mask."""
    columns = {
        "key": data.numbers(rows),
        "price": data.numbers(rows, "float64", 0.01),
        "flag": _values(rows, "bool", 0),
        "name": data.strings(rows, 12),
    }
    peer, mask = pa.record_batch(columns), data.mask(rows, selectivity)
    ours, bits = ck.record_batch(peer), ck.array(mask)
    frame, chosen = pl.DataFrame(peer), pl.Series(mask)
    return Case(
        int(peer.nbytes * (1 + selectivity)),
        {
            "colkern": lambda: ck.filter(ours, bits),
            "pyarrow": lambda: peer.filter(mask),
            "polars": lambda: frame.filter(chosen),
        },
    )


@compared(
    target=1.5,
    order=("random", "sorted"),
    dtype=_DTYPES,
    nulls=(0, 0.01, 0.5),
    index=("int64", "int32"),
    index_nulls=(0, 0.01),
)
def take(rows: int, order: str, dtype: str, nulls: float, index: str, index_nulls: float) -> Case:
    """As many positions as there are values."""
    peer = _values(rows, dtype, nulls)
    indices = data.indices(rows, rows, index, index_nulls)
    if order == "sorted":
        indices = pa.array(np.sort(np.asarray(indices)))
    ours, own_indices = ck.array(peer), ck.array(indices)
    rust, rust_indices = a3.Array.from_arrow(peer), a3.Array.from_arrow(indices)
    work = {
        "colkern": lambda: ck.take(ours, own_indices),
        "pyarrow": lambda: peer.take(indices),
        "arro3": lambda: ac.take(rust, rust_indices),
    }
    if _has_peers_layout(dtype) and dtype != "struct":
        frame, picks = pl.Series(peer), pl.Series(indices)
        work["polars"] = lambda: frame.gather(picks)
    return Case(2 * _bytes(peer) + rows * int(index[3:]) // 8, work)


@compared(target=1.5, rows=(1_000_000,), table=(1_000, 30_000))
def take_from_few(rows: int, table: int) -> Case:
    """Values that stay in the cache, as those of a dictionary do."""
    peer, indices = data.numbers(table), data.indices(rows, table, "int32")
    ours, own_indices = ck.array(peer), ck.array(indices)
    rust, rust_indices = a3.Array.from_arrow(peer), a3.Array.from_arrow(indices)
    frame, picks = pl.Series(peer), pl.Series(indices)
    return Case(
        rows * 12,
        {
            "colkern": lambda: ck.take(ours, own_indices),
            "pyarrow": lambda: peer.take(indices),
            "arro3": lambda: ac.take(rust, rust_indices),
            "polars": lambda: frame.gather(picks),
        },
    )


_REARRANGED = ("int64", "bool", "string of 12", "string_view of 12", "list of 5", "struct")


@compared(target=0.5, dtype=_REARRANGED, nulls=(0, 0.01))
def if_else(rows: int, dtype: str, nulls: float) -> Case:
    """One side or the other, by a random condition."""
    left, condition = _values(rows, dtype, nulls), data.mask(rows, 0.5)
    right = pa.concat_arrays([left.slice(rows // 2), left.slice(0, rows // 2)])
    ours, bits = (ck.array(left), ck.array(right)), ck.array(condition)
    work = {
        "colkern": lambda: ck.if_else(bits, *ours),
        "pyarrow": lambda: pc.if_else(condition, left, right),
    }
    if _has_peers_layout(dtype):
        frames, chosen = (pl.Series(left), pl.Series(right)), pl.Series(condition)
        work["polars"] = lambda: frames[0].zip_with(chosen, frames[1])
    return Case(_bytes(left) * 3 + rows // 8, work)


@compared(target=1, dtype=_REARRANGED, nulls=(0, 0.01))
def repeat(rows: int, dtype: str, nulls: float) -> Case:
    """Each value up to three times; pyarrow takes positions that are known already."""
    peer, counts = _values(rows, dtype, nulls), data.random(5).integers(0, 4, rows)
    ours, numbers = ck.array(peer), ck.array(counts)
    positions = pa.array(np.repeat(np.arange(rows), counts))
    work = {
        "colkern": lambda: ck.repeat(ours, numbers),
        "pyarrow": lambda: peer.take(positions),
    }
    if dtype == "int64" and not nulls:
        items = peer.to_numpy()
        work["NumPy"] = lambda: np.repeat(items, counts)
    return Case(int(_bytes(peer) * 2.5) + rows * 8, work)


@compared(target=1, dtype=_REARRANGED, nulls=(0, 0.01))
def reverse(rows: int, dtype: str, nulls: float) -> Case:
    """The values from the last to the first."""
    peer = _values(rows, dtype, nulls)
    ours, positions = ck.array(peer), pa.array(np.arange(rows)[::-1])
    work = {
        "colkern": lambda: ck.reverse(ours),
        "pyarrow": lambda: peer.take(positions),
    }
    if _has_peers_layout(dtype) and dtype != "struct":
        frame = pl.Series(peer)
        work["polars"] = lambda: frame.reverse()
    return Case(_bytes(peer) * 2, work)


@compared(target=0.5, dtype=_REARRANGED)
def interleave(rows: int, dtype: str) -> Case:
    """As many pairs as values, into two arrays; pyarrow joins these, and takes known positions."""
    peer = _values(rows, dtype, 0)
    pairs = data.random(6).integers(0, (2, rows), (rows, 2))
    positions = pa.array(pairs[:, 0] * rows + pairs[:, 1])
    ours = ck.array(peer)
    return Case(
        _bytes(peer) * 3 + rows * 16,
        {
            "colkern": lambda: ck.interleave([ours, ours], pairs),
            "pyarrow": lambda: pa.concat_arrays([peer, peer]).take(positions),
        },
    )
