"""Changes: where runs begin. Strings are all the same, so that all their bytes are looked at."""

from __future__ import annotations

from typing import Any

from benchmarks.gpu.case import gather, streaming
from benchmarks.gpu.data import Data
from colkern.kernels import changes as kernels

LETTERS = range(97, 121)


def marks(d: Data) -> Any:
    """An output of one bit a slot."""
    return d.out("u8", d.n // 64)


def mark_binary_changes(d: Data) -> tuple[Any, ...]:
    size = len(LETTERS)
    offsets = d.range("i4", size, count=d.n + 1)
    return d.n // 64, offsets, d.text(size * d.n, LETTERS), d.n, marks(d)


def mark_view_changes(d: Data) -> tuple[Any, ...]:
    views = d.views(len(LETTERS), LETTERS)
    words = views.words.view("u1")
    return d.n // 64, words, views.addresses, d.none, 0, d.n, marks(d)


streaming(
    kernels.mark_changes,
    lambda d, t: (d.n // 64, d.numbers(t, 2), 1, d.n, marks(d)),
    each=("u1", "u4", "u8"),
)
streaming(kernels.mark_bit_changes, lambda d: (d.n // 64, d.bits(), 0, d.n, marks(d)))
streaming(
    kernels.merge_validity_changes,
    lambda d: (d.n // 64, d.bits(), 0, d.n, d.words("u8", d.n // 64), marks(d)),
)
gather(kernels.mark_binary_changes, mark_binary_changes, label="24 bytes")
gather(kernels.mark_view_changes, mark_view_changes, label="24 bytes")
