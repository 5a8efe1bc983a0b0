"""Comparison of two arrays, and of an array and a value."""

from __future__ import annotations

from typing import Any

from benchmarks.gpu.case import streaming
from benchmarks.gpu.data import Data
from colkern.kernels import comparison as kernels

TYPES = ("u1", "u4", "u8", "f4", "f8")


def marks(d: Data) -> Any:
    """An output of one bit a slot."""
    return d.out("u1", d.n // 8)


def values(d: Data, dtype: str, count: int | None = None) -> Any:
    """Few different ones."""
    return d.numbers(f"u{dtype[1]}", 4, count).astype(dtype)


def equal_wide(d: Data) -> tuple[Any, ...]:
    sides = [d.numbers("u8", 2, 2 * d.n) for _ in range(2)]
    return d.n // 8, *sides, 2, 2, d.n, 0, marks(d)


streaming(
    kernels.equal_items,
    lambda d, t: (d.n // 8, values(d, t), values(d, t), d.n, 0, marks(d)),
    each=TYPES,
)
streaming(
    kernels.equal_item,
    lambda d, t: (d.n // 8, values(d, t), values(d, t, 1), d.n, 0, marks(d)),
    each=TYPES,
)
streaming(kernels.equal_wide, equal_wide, label="128 bits")
streaming(
    kernels.equal_halves,
    lambda d: (d.n // 8, values(d, "u2"), values(d, "u2"), 1, d.n, 0, marks(d)),
)
