"""Aggregates: without nulls, and with one slot in two null."""

from __future__ import annotations

from typing import Any

from benchmarks.gpu.case import other, streaming
from benchmarks.gpu.data import Data
from colkern.kernels import aggregates as kernels

SIGN = 1 << 63
PIECE = 64
INTEGERS = {
    f"{dtype}, {nulls}": (dtype, nulls == "half null")
    for dtype in ("i4", "i8")
    for nulls in ("no nulls", "half null")
}
FLOATS = {
    label.replace("i", "f"): (dtype.replace("i", "f"), null)
    for label, (dtype, null) in INTEGERS.items()
}


def validity(d: Data, null: bool) -> tuple[Any, int]:
    return d.bits() if null else d.none, 0


def sum_integers(d: Data, which: tuple[str, bool]) -> tuple[Any, ...]:
    dtype, null = which
    return d.n, d.words(dtype), *validity(d, null)


def sum_floats(d: Data, which: tuple[str, bool]) -> tuple[Any, ...]:
    dtype, null = which
    sums = d.blocks(kernels.LANES * kernels.ROUNDS) * kernels.LANES
    return sums, d.floats(dtype), *validity(d, null), d.out("f8", sums)


def keys(dtype: str) -> tuple[int, ...]:
    """How signed integers are ordered: as they are."""
    most = (1 << 8 * int(dtype[1]) - 1) - 1
    return 0, 0, -most - 1, most, most


def least_key(d: Data, which: tuple[str, bool]) -> tuple[Any, ...]:
    dtype, null = which
    return d.n, d.words(dtype), *validity(d, null), *keys(dtype)


def extremes(d: Data, which: tuple[str, bool]) -> tuple[Any, ...]:
    dtype, null = which
    pieces = d.blocks(PIECE)
    out = d.out(dtype, 2 * pieces)
    return pieces, d.words(dtype), *validity(d, null), PIECE, *keys(dtype), out


def sum_words(d: Data, width: int) -> tuple[Any, ...]:
    pieces = d.blocks(PIECE)
    out = d.out("u8", 2 * width * pieces)
    return pieces, d.words("u8", width * d.n), width, d.none, 0, PIECE, 1, out


def least_word(d: Data) -> tuple[Any, ...]:
    above = d.table([0, 0], "u8")
    return d.n, d.words("u8", 2 * d.n), 2, 1, SIGN, above, d.none, 0


def lengths_of_runs(d: Data) -> tuple[Any, ...]:
    return d.n, d.offsets("i4", 10, least=1)[1:], 0, 0, 10 * d.n, d.out("i8")


streaming(kernels.sum_integers, sum_integers, each=INTEGERS)
streaming(kernels.sum_floats, sum_floats, each=FLOATS)
streaming(kernels.least_key, least_key, each=INTEGERS)
streaming(kernels.extremes, extremes, each=INTEGERS)
streaming(kernels.sum_words, sum_words, each={"64 bits": 1, "128 bits": 2})
streaming(kernels.least_word, least_word, label="128 bits")
streaming(
    kernels.has_bit,
    lambda d: (d.n // 64, d.repeated([0], "u1", d.n // 8), 0, d.none, 0, 0, d.n),
)
streaming(kernels.count_common_bits, lambda d: (d.n // 64, d.bits(), 0, d.bits(d.n + 3), 3, d.n))
other(
    kernels.mark_used,
    lambda d: (d.n, d.numbers("u4", 1000), d.none, 0, d.out("u1", 1000)),
    label="of 1,000 values",
)
streaming(kernels.lengths_of_runs, lengths_of_runs)
streaming(kernels.weigh_integers, lambda d: (d.n, d.words("i4"), d.numbers("i8", 10), d.out("i8")))
streaming(kernels.weigh_floats, lambda d: (d.n, d.floats("f8"), d.numbers("i8", 10), d.out("f8")))
