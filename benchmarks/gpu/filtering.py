"""Filters that keep one slot in two, at random."""

from __future__ import annotations

from typing import Any

from benchmarks.gpu.case import gather, other, streaming
from benchmarks.gpu.data import Data
from colkern.kernels import filtering as kernels

MEAN = 16


def mask(d: Data) -> tuple[Any, ...]:
    """How many blocks there are, and which slots are kept."""
    words = d.target.block_words(d.n // 64)
    return d.blocks(64 * words), d.bits(), 0, d.n, words


def started(d: Data) -> tuple[Any, ...]:
    """A mask, and how many slots are kept before each block."""
    kept = mask(d)
    return *kept, d.scan(d.computed(kernels.count_kept, *kept, d.out("i8", kept[0])))


def filter_items(d: Data, dtype: str) -> tuple[Any, ...]:
    kept = started(d)
    return *kept, d.words(dtype), d.out(dtype, d.last(kept[-1]))


def filter_pairs(d: Data) -> tuple[Any, ...]:
    kept = started(d)
    return *kept, d.words("u8", 2 * d.n), d.out("u8", 2 * d.last(kept[-1]))


def filter_values(d: Data, width: int) -> tuple[Any, ...]:
    kept = started(d)
    values = d.words("u1", width * d.n)
    return *kept, d.address(values), width, d.out("u1", width * d.last(kept[-1]))


def kept_positions(d: Data) -> tuple[Any, ...]:
    kept = started(d)
    return *kept, d.out("u8", d.last(kept[-1]))


def filter_bits(d: Data) -> tuple[Any, ...]:
    _, *kept = started(d)
    words = -(-d.last(kept[-1]) // 64)
    return words, *kept, d.bits(), 0, d.out("u8", words)


def summed(d: Data, mean: int) -> tuple[Any, ...]:
    """A mask and the offsets of what it is of, then the sums of what is kept before each block."""
    kept, offsets = started(d), d.offsets("i4", mean)
    blocks = kept[0]
    lengths = d.computed(kernels.sum_kept_lengths, *kept[:-1], offsets, d.out("i8", 2 * blocks))
    return kept, offsets, d.scan(lengths[blocks:])


def filter_offsets(d: Data) -> tuple[Any, ...]:
    kept, offsets, sums = summed(d, 8)
    return *kept, sums, offsets, d.out("i4", d.last(kept[-1]) + 1)


def filter_bytes(d: Data) -> tuple[Any, ...]:
    kept, offsets, sums = summed(d, MEAN)
    base = d.address(d.text(MEAN * d.n))
    return *kept[:-1], sums, offsets, base, 1, d.out("u1", d.last(sums))


def spread_to_elements(d: Data) -> tuple[Any, ...]:
    words = -(-8 * d.n // 64)
    return words, d.bits(), 0, d.offsets("i4", 8), d.out("u8", words)


streaming(kernels.count_kept, lambda d: (*mask(d), d.out("i8", mask(d)[0])))
other(kernels.filter_items, filter_items, each=("u1", "u4", "u8"))
other(kernels.filter_pairs, filter_pairs)
gather(kernels.filter_values, filter_values, each={"12 bytes": 12})
other(kernels.kept_positions, kept_positions)
other(kernels.filter_bits, filter_bits)
other(
    kernels.sum_kept_lengths,
    lambda d: (*mask(d), d.offsets("i4", 8), d.out("i8", 2 * mask(d)[0])),
)
other(kernels.filter_offsets, filter_offsets)
gather(kernels.filter_bytes, filter_bytes, label=f"{MEAN} bytes")
other(kernels.spread_to_elements, spread_to_elements, label="8 elements")
