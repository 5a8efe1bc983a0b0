"""Bitmaps and booleans."""

from __future__ import annotations

from typing import Any

import nanoarrow as na
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

import colkern as ck
from benchmarks import data
from benchmarks.case import Case, compared
from colkern.layouts import Role


# 2**18 and 2**22 bits are 32 and 512 KiB.
@compared(target=2.0, rows=(1_000, 1 << 18, 1_000_000, 1 << 22, 1 << 26))
def count_set_bits(rows: int) -> Case:
    """pyarrow sums the same bits as booleans."""
    peer = data.mask(rows, 0.5)
    buffer = ck.array(peer).buffer(Role.DATA)
    assert buffer is not None
    return Case(
        rows // 8,
        {
            "colkern": lambda: ck.operations.count_set_bits(buffer, 0, rows),
            "pyarrow": lambda: peer.true_count,
        },
    )


def _booleans(rows: int, nulls: float, offset: int, seed: int) -> pa.Array:
    """Booleans from bit `offset` on, of which that share is null."""
    bits = data.mask(rows + offset, 0.5, seed).buffers()[1]
    validity = data.mask(rows + offset, 1 - nulls, seed + 1).buffers()[1] if nulls else None
    array = pa.BooleanArray.from_buffers(pa.bool_(), rows + offset, [validity, bits])
    return array.slice(offset)


_POLARS: dict[str, Any] = {
    # As polars has it, an operator follows Kleene's logic.
    "and_kleene": lambda a, b: a & b,
    "or_kleene": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
}


@compared(
    target=2.0,
    operation=("and_kleene", "and_", "or_kleene", "xor", "and_not_kleene"),
    nulls=(0, 0.01, 0.5),
    offset=(0, 3),
)
def booleans(rows: int, operation: str, nulls: float, offset: int) -> Case:
    """Two boolean arrays combined."""
    left, right = (_booleans(rows, nulls, offset * k, 10 * k) for k in (1, 2))
    ours, theirs = getattr(ck, operation), getattr(pc, operation)
    a, b = ck.array(left), ck.array(right)
    work = {"colkern": lambda: ours(a, b), "pyarrow": lambda: theirs(left, right)}
    if operation in _POLARS:
        x, y = pl.Series(left), pl.Series(right)
        work["polars"] = lambda: _POLARS[operation](x, y)
    return Case(3 * rows // 8 * (2 if nulls else 1), work)


@compared(target=2.0, nulls=(0, 0.01))
def invert(rows: int, nulls: float) -> Case:
    """Booleans the other way round."""
    peer = _booleans(rows, nulls, 0, 1)
    ours, frame = ck.array(peer), pl.Series(peer)
    return Case(
        rows // 4,
        {
            "colkern": lambda: ck.invert(ours),
            "pyarrow": lambda: pc.invert(peer),
            "polars": lambda: ~frame,
        },
    )


@compared(offset=(0, 3))
def unpack_bits(rows: int, offset: int) -> Case:
    """Booleans as an array of bytes."""
    peer = _booleans(rows, 0, offset, 1)
    ours, frame = ck.array(peer), pl.Series(peer)
    bits = na.c_array(peer).view().buffer(1)
    packed = np.frombuffer(peer.buffers()[1], np.uint8)
    work = {
        "colkern": lambda: ck.unpack_bits(ours),
        "pyarrow": lambda: peer.to_numpy(zero_copy_only=False),
        "polars": lambda: frame.to_numpy(),
        "nanoarrow": lambda: bits.unpack_bits(offset, rows),
    }
    if not offset:
        work["NumPy"] = lambda: np.unpackbits(packed, bitorder="little").view(np.bool_)
    return Case(rows + rows // 8, work)


@compared()
def pack_bits(rows: int) -> Case:
    """Booleans from an array of bytes."""
    values = np.unpackbits(np.frombuffer(data.mask(rows, 0.5).buffers()[1], np.uint8))
    values = values[:rows].view(np.bool_)
    return Case(
        rows + rows // 8,
        {
            "colkern": lambda: ck.pack_bits(values),
            "NumPy": lambda: np.packbits(values, bitorder="little"),
            "pyarrow": lambda: pa.array(values),
        },
    )
