"""Selection: as many values as there are, picked at random."""

from __future__ import annotations

from typing import Any

from benchmarks.gpu.case import gather, other, streaming
from benchmarks.gpu.data import Data
from colkern.kernels import selection as kernels

WIDTHS = ("u1", "u4", "u8")
MEAN = 16


def picks(d: Data) -> Any:
    return d.numbers("u4", d.n)


def take_lengths(d: Data) -> tuple[Any, ...]:
    return d.n, picks(d), d.offsets("i4", MEAN), d.n, d.none, d.out("i8")


def taken(d: Data) -> tuple[Any, ...]:
    """The indices, the source and the target of a selection."""
    count, indices, offsets, *rest = take_lengths(d)
    lengths = d.computed(kernels.take_lengths, count, indices, offsets, *rest)
    return indices, offsets, d.scan(lengths, "i4")


def take_bytes(d: Data) -> tuple[Any, ...]:
    indices, offsets, starts = taken(d)
    base = d.address(d.text(MEAN * d.n))
    return d.n, indices, offsets, base, 1, starts, d.out("u1", d.last(starts))


def take_ranges(d: Data) -> tuple[Any, ...]:
    indices, offsets, starts = taken(d)
    return d.n, indices, offsets, starts, d.out("u8", d.last(starts))


def gather_bytes(d: Data) -> tuple[Any, ...]:
    addresses = d.numbers("u8", MEAN * (d.n - 1))
    addresses += d.address(d.text(MEAN * d.n))
    return d.n, addresses, d.range("i4", MEAN, count=d.n + 1), d.out("u1", MEAN * d.n)


def join_bits(d: Data) -> tuple[Any, ...]:
    pieces = d.n // 64
    addresses = d.range("u8", 0, start=d.address(d.bits(d.n + 64)), count=pieces)
    firsts, ends = d.numbers("u8", 64, pieces), d.range("i8", 64, start=64, count=pieces)
    return pieces, addresses, firsts, ends, d.out("u8", pieces)


def take_values(d: Data, width: int) -> tuple[Any, ...]:
    return d.n, picks(d), d.address(d.words("u1", width * d.n)), width, d.out("u1", width * d.n)


streaming(
    kernels.first_index_out_of_bounds,
    lambda d, t: (d.n, d.numbers(t, 100), d.none, 0, 100),
    each=("i1", "i4", "i8"),
)
streaming(kernels.largest_index, lambda d, t: (d.n, d.words(t)), each=WIDTHS)
streaming(
    kernels.choose_items,
    lambda d, t: (d.n, d.bits(), 0, 0, d.words(t), d.words(t), 1, d.out(t)),
    each=WIDTHS,
)
other(kernels.take_items, lambda d, t: (d.n, picks(d), d.words(t), d.out(t)), each=WIDTHS)
other(
    kernels.take_picked_items,
    lambda d, t: (d.n, picks(d), d.bits(), 0, d.words(t), d.out(t)),
    each=WIDTHS,
)
other(
    kernels.take_pairs,
    lambda d: (d.n, picks(d), d.words("u8", 2 * d.n), d.out("u8", 2 * d.n)),
)
gather(kernels.take_values, take_values, each={"12 bytes": 12, "40 bytes": 40})
other(
    kernels.take_bits,
    lambda d: (d.n // 64, picks(d), d.bits(), 0, d.n, d.none, d.out("u8", d.n // 64)),
)
other(kernels.take_lengths, take_lengths)
gather(kernels.take_bytes, take_bytes, label=f"{MEAN} bytes")
gather(kernels.gather_bytes, gather_bytes, label=f"{MEAN} bytes")
other(kernels.join_bits, join_bits, label="pieces of 64 bits")
other(kernels.take_ranges, take_ranges, label=f"{MEAN} elements")
streaming(
    kernels.take_fixed_ranges,
    lambda d: (d.n, picks(d), 4, 0, d.out("u8", 4 * d.n)),
    label="4 elements",
)
