"""Bitmaps: a slot is a bit."""

from __future__ import annotations

from typing import Any

from benchmarks.gpu.case import streaming
from benchmarks.gpu.data import Data
from colkern.kernels import bitmaps as kernels

FROM = {"from bit 0": 0, "from bit 3": 3}


def words(d: Data) -> Any:
    """An output of one bit a slot."""
    return d.out("u8", d.n // 64)


def count_set_bits(d: Data, begin: int) -> tuple[Any, ...]:
    end = begin + d.n
    return kernels.whole_words(begin, end), d.bits(end), begin, end


def kleene_bits(d: Data) -> tuple[Any, ...]:
    sides = [argument for _ in range(4) for argument in (d.bits(), 0)]
    return d.n // 64, *sides, d.n, 0, 0, words(d)


def choose_bits(d: Data) -> tuple[Any, ...]:
    sides = d.bits(d.n + 3), 3, d.bits(), 0, d.n, kernels.OF_LEFT | kernels.OF_RIGHT
    return d.n // 64, d.bits(), 0, d.none, 0, *sides, words(d)


streaming(kernels.count_set_bits, count_set_bits, each=FROM)
streaming(
    kernels.copy_bits,
    lambda d, first: (d.n // 64, d.bits(d.n + first), first, d.n, words(d)),
    each=FROM,
)
streaming(
    kernels.combine_bits,
    lambda d: (d.n // 64, d.bits(), 0, d.bits(d.n + 3), 3, d.n, kernels.AND, words(d)),
)
streaming(kernels.and_bits, lambda d: (d.n // 64, d.bits(), 0, d.bits(d.n + 3), 3, d.n, words(d)))
streaming(kernels.choose_bits, choose_bits)
streaming(kernels.kleene_bits, kleene_bits)
streaming(kernels.expand_bits, lambda d: (d.n // 8, d.bits(), 0, d.n, d.out("u8", d.n // 8)))
