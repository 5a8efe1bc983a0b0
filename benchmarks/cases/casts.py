"""Casts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

import colkern as ck
from benchmarks import data
from benchmarks.case import Case, compared

_POLARS: dict[str, Any] = {
    "int8": pl.Int8,
    "int32": pl.Int32,
    "int64": pl.Int64,
    "uint64": pl.UInt64,
    "float32": pl.Float32,
    "float64": pl.Float64,
}

NUMBERS = (
    ("int64", "int32"),
    ("int32", "int64"),
    ("int64", "float64"),
    ("float64", "int64"),
    ("float64", "int32"),
    ("int32", "float64"),
    ("float64", "float32"),
    ("int64", "uint64"),
    ("int32", "int8"),
    ("int8", "int64"),
)
LOSSLESS = (("int32", "int64"), ("int32", "float64"), ("int8", "int64"), ("float64", "float32"))


@compared(target=2.0, types=NUMBERS, nulls=(0, 0.5))
def cast_numbers(rows: int, types: tuple[str, str], nulls: float) -> Case:
    """Numbers that fit, checked."""
    source, result = types
    peer = data.numbers(rows, source, nulls, distinct=100)
    work = {"polars": _polars(peer, _POLARS[result])}
    if not nulls and types in LOSSLESS:
        # NumPy checks nothing; here there is nothing to check.
        values = peer.to_numpy()
        work["NumPy"] = lambda: values.astype(result)
    return _cast(peer, getattr(pa, result)(), work)


@compared(target=2.0, types=(("bool", "int32"), ("int32", "bool")))
def cast_booleans(rows: int, types: tuple[str, str]) -> Case:
    """Booleans as numbers and back."""
    if types[0] == "bool":
        peer = data.mask(rows, 0.5)
        return _cast(peer, pa.int32(), {"polars": _polars(peer, pl.Int32)})
    peer = data.numbers(rows, "int32", distinct=2)
    return _cast(peer, pa.bool_(), {"polars": _polars(peer, pl.Boolean)})


@compared(target=2.0, units=(("ms", "us"), ("us", "ms"), ("ns", "s")))
def cast_timestamps(rows: int, units: tuple[str, str]) -> Case:
    """Timestamps in another unit, checked."""
    source, result = units
    values = data.random().integers(0, 1 << 30, rows) * (1 if source == "ms" else 10**9)
    peer = data.with_nulls(values, 0).cast(pa.timestamp(source))
    peers = {"polars": _polars(peer, pl.Datetime(result))} if result != "s" else {}
    return _cast(peer, pa.timestamp(result), peers)


@compared(target=2.0)
def cast_timestamps_to_dates(rows: int) -> Case:
    """Timestamps of microseconds as days."""
    values = data.random().integers(0, 1 << 50, rows)
    peer = data.with_nulls(values, 0).cast(pa.timestamp("us"))
    return _cast(peer, pa.date32(), {"polars": _polars(peer, pl.Date)})


@compared(target=2.0, nulls=(0, 0.5))
def cast_text_to_large(rows: int, nulls: float) -> Case:
    """Strings of 12 bytes with 64-bit offsets, which alone are written."""
    peer = data.strings(rows, nulls=nulls)
    if peer.type == pa.large_string():
        peer = data.strings(rows, 4, nulls=nulls)
    return _cast(peer, pa.large_string(), {}, nbytes=rows * 12)


@compared(target=1.0)
def cast_bytes_to_text(rows: int) -> Case:
    """Byte strings as text: validated."""
    peer = data.strings(rows, 4 if rows > 10_000_000 else 12).cast(pa.binary())
    ours = ck.array(peer)
    work = {
        "colkern": lambda: ck.cast(_fresh(ours), ck.utf8()),
        "pyarrow": lambda: peer.cast(pa.utf8()),
        "polars": _polars(peer, pl.String),
    }
    return Case(peer.nbytes, work)


SCALES = (((22, 2), (24, 4)), ((24, 4), (22, 2)))


@compared(target=2.0, scales=SCALES, nulls=(0, 0.5))
def cast_decimals(rows: int, scales: tuple[tuple[int, int], tuple[int, int]], nulls: float) -> Case:
    """decimal128 values to two more digits, or two fewer."""
    source, result = scales
    values = data.random().integers(-(1 << 40), 1 << 40, rows) * 100
    peer = data.with_nulls(values, nulls).cast(pa.decimal128(20, 0)).cast(pa.decimal128(*source))
    return _cast(peer, pa.decimal128(*result), {"polars": _polars(peer, pl.Decimal(*result))})


@compared(target=2.0, result=("decimal128", "float64", "int64"))
def cast_from_and_to_decimals(rows: int, result: str) -> Case:
    """int64 values as decimal128, and those as float64 and int64."""
    peer = data.with_nulls(data.random().integers(0, 1 << 40, rows), 0)
    if result == "decimal128":
        wanted = pa.decimal128(22, 2)
        return _cast(peer, wanted, {"polars": _polars(peer, pl.Decimal(22, 2))})
    peer = peer.cast(pa.decimal128(22, 2))
    return _cast(peer, getattr(pa, result)(), {"polars": _polars(peer, _POLARS[result])})


def _polars(peer: pa.Array, dtype: Any) -> Callable[[], object]:
    series = pl.Series(peer)
    return lambda: series.cast(dtype)


def _fresh(array: ck.Array) -> ck.Array:
    """The array, not yet checked."""
    return ck.Array(array.type, array.length, array.buffers, null_count=array.null_count)


def _cast(
    peer: pa.Array, wanted: pa.DataType, peers: dict[str, Callable[[], object]], nbytes: int = 0
) -> Case:
    """A cast with pyarrow and other peers beside it."""
    ours, result = ck.array(peer), ck.array(pa.nulls(0, wanted)).type
    bits = peer.type.bit_width + wanted.bit_width if not nbytes else 0
    return Case(
        nbytes or int(np.ceil(len(peer) * bits / 8)),
        {
            "colkern": lambda: ck.cast(ours, result),
            "pyarrow": lambda: peer.cast(wanted),
            **peers,
        },
    )
