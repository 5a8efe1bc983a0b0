"""Data for benchmarks: the same each time, as pyarrow arrays that all libraries can take."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def random(seed: int = 0) -> np.random.Generator:
    """A generator that gives the same numbers each time."""
    return np.random.default_rng(seed)


def mask(rows: int, share: float, seed: int = 1) -> pa.Array:
    """Booleans without nulls, of which that share is true."""
    bits = pa.py_buffer(_random_bits(rows, share, seed))
    return pa.BooleanArray.from_buffers(pa.bool_(), rows, [None, bits], 0)


def numbers(rows: int, dtype: str = "int64", nulls: float = 0, distinct: int = 0) -> pa.Array:
    """Random numbers, of which that share is null; `distinct` many values, or any of the type's.

    Floating-point numbers are between 0 and 1 if `distinct` is 0.
    """
    kind = np.dtype(dtype)
    if kind.kind == "f" and not distinct:
        values = random().random(rows, np.float32 if kind.itemsize < 8 else np.float64)
    elif distinct:
        values = random().integers(0, distinct, rows, np.int64)
    else:
        values = random().integers(0, np.iinfo(kind).max, rows, kind)
    return with_nulls(values.astype(kind, copy=False), nulls)


def indices(rows: int, limit: int, dtype: str = "int64", nulls: float = 0) -> pa.Array:
    """Random positions below `limit`."""
    return with_nulls(random(2).integers(0, limit, rows, np.dtype(dtype)), nulls)


def strings(rows: int, length: int = 12, nulls: float = 0, distinct: int = 0) -> pa.Array:
    """ASCII strings of 1 to `2 length - 1` bytes, of which that share is null.

    The bytes of `distinct` strings are used again and again; all differ if it is 0.
    """
    lengths = random(3).integers(1, max(2 * length, 2), distinct or rows)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    data = random(4).integers(ord("a"), ord("z") + 1, int(starts[-1]), np.uint8)
    kind = pa.string() if starts[-1] < 1 << 31 else pa.large_string()
    offsets = starts.astype(np.int32 if kind == pa.string() else np.int64)
    array = pa.Array.from_buffers(
        kind, len(lengths), [None, pa.py_buffer(offsets), pa.py_buffer(data)], 0
    )
    if distinct:
        array = array.take(indices(rows, distinct))
    if not nulls:
        return array
    buffers = [pa.py_buffer(_random_bits(rows, 1 - nulls, 5)), *array.buffers()[1:]]
    return pa.Array.from_buffers(array.type, rows, buffers)


def with_nulls(values: NDArray[Any], share: float) -> pa.Array:
    """An array over NumPy's values, not copied, of which that share is null."""
    validity = pa.py_buffer(_random_bits(len(values), 1 - share, 6)) if share else None
    kind = pa.from_numpy_dtype(values.dtype)
    nulls = -1 if share else 0
    return pa.Array.from_buffers(kind, len(values), [validity, pa.py_buffer(values)], nulls)


def _random_bits(count: int, share: float, seed: int) -> NDArray[np.uint8]:
    """A bitmap of which that share of bits is set."""
    if share == 0.5:
        return random(seed).integers(0, 256, (count + 7) // 8, np.uint8)
    parts = []
    rng = random(seed)
    for begin in range(0, count, 1 << 24):
        part = rng.random(min(count - begin, 1 << 24), np.float32) < share
        parts.append(np.packbits(part, bitorder="little"))
    return np.concatenate(parts) if parts else np.zeros(0, np.uint8)
