"""Casts: of values that all fit."""

from __future__ import annotations

from typing import Any

from benchmarks.gpu.case import gather, streaming
from benchmarks.gpu.data import Data
from colkern.kernels import casts as kernels
from colkern.kernels import decimals

DIVISOR = 1000
ALL = (1 << 64) - 1

Types = tuple[str, str]


def pairs(*types: str) -> dict[str, Types]:
    """`i4 to f8` and the like, from both codes after each other."""
    return {f"{t[:2]} to {t[2:]}": (t[:2], t[2:]) for t in types}


def magic(divisor: int) -> tuple[int, int]:
    """The divisors of kernels, see `quotient`."""
    length = (divisor - 1).bit_length()
    return -(-(1 << 63 + length) // divisor), length - 1


def resize(d: Data, types: Types) -> tuple[Any, ...]:
    return d.n, d.words(types[0]), 1 << 8 * int(types[0][1]) - 1, d.out(types[1])


def fit(d: Data, types: Types) -> tuple[Any, ...]:
    bits, out_bits = (8 * int(code[1]) for code in types)
    narrower = out_bits < bits
    bias = 1 << out_bits - 1 if narrower else 0
    outside = (1 << bits) - (1 << out_bits) if narrower else 0
    values = d.numbers(types[0], 100)
    return d.n, values, d.none, 0, 1 << bits - 1, bias, outside, d.out(types[1])


def to_floats(d: Data, types: Types) -> tuple[Any, ...]:
    exact = {"f4": 1 << 24, "f8": 1 << 53}[types[1]]
    return d.n, d.numbers(types[0], 10_000), d.none, 0, exact, 2 * exact, d.out(types[1])


def to_integers(d: Data, types: Types) -> tuple[Any, ...]:
    high = float(1 << 8 * int(types[1][1]) - 1)
    return d.n, d.floats(types[0]), d.none, 0, -high, high, 1, d.out(types[1])


def rounded(d: Data, types: Types) -> tuple[Any, ...]:
    values_of = d.floats if types[0][0] == "f" else d.words
    return d.n, values_of(types[0]), d.out(types[1])


def multiplied(d: Data, types: Types) -> tuple[Any, ...]:
    return d.n, d.numbers(types[0], 1000), d.none, 0, DIVISOR, -1000, 1000, d.out(types[1])


def divided(d: Data, types: Types) -> tuple[Any, ...]:
    most = (1 << 8 * int(types[0][1]) - 1) - 1
    by = (DIVISOR, *magic(DIVISOR), 0, 0, -most, most)
    return d.n, d.numbers(types[0], 1_000_000), d.none, 0, *by, d.out(types[1])


def place_evenly(d: Data, width: int) -> tuple[Any, ...]:
    text = d.address(d.text(width * d.n))
    return d.n, d.range("i4", width), text, d.none, 0, width, d.out("u1", width * d.n)


def numbers(d: Data, width: int) -> tuple[Any, ...]:
    """Decimals of so many words, and their bounds."""
    words = d.out("u8", width * d.n)
    words[::width] = d.numbers("u8", 1_000_000)
    limits = [ALL - 10**9 + 1, ALL, ALL, ALL, 10**9, 0, 0, 0]
    return words, width, 0, ALL, d.none, 0, d.table(limits, "u8")


def scale_up(d: Data, widths: tuple[int, int]) -> tuple[Any, ...]:
    out = d.out("u8", widths[1] * d.n)
    return d.n, *numbers(d, widths[0]), d.table([DIVISOR], "u8"), widths[1], out


def scale_down(d: Data, widths: tuple[int, int]) -> tuple[Any, ...]:
    by = (DIVISOR, *magic(DIVISOR))
    out = d.out("u8", widths[1] * d.n)
    return d.n, *numbers(d, widths[0]), d.table([*by, *by], "u8"), 0, widths[1], out


def decimals_to_floats(d: Data, width: int) -> tuple[Any, ...]:
    return d.n, numbers(d, width)[0], width, 0, 1.0, 2, 100.0, d.out("f8")


streaming(kernels.resize_integers, resize, each=pairs("u1u4", "u4u8", "u8u4"))
streaming(kernels.fit_integers, fit, each=pairs("u1u4", "u4u8", "u8u4"))
streaming(kernels.integers_to_floats, to_floats, each=pairs("i4f4", "i8f4"))
streaming(kernels.integers_to_doubles, to_floats, each=pairs("i8f8"))
streaming(kernels.round_to_floats, rounded, each=pairs("i4f8", "i8f8", "f4f8", "f8f4"))
streaming(kernels.floats_to_integers, to_integers, each=pairs("f4u4", "f8u4", "f8u8"))
streaming(
    kernels.bits_to_words, lambda d, t: (d.n, d.bits(), 0, 1, d.out(t)), each=("u1", "u4", "u8")
)
streaming(kernels.multiply_numbers, multiplied, each=pairs("i4i8", "i8i8"))
streaming(kernels.divide_numbers, divided, each=pairs("i8i4", "i8i8"))
streaming(
    kernels.remainders,
    lambda d: (d.n, d.numbers("i8", 1_000_000), DIVISOR, *magic(DIVISOR), d.out("i8")),
)
streaming(
    kernels.first_other_length,
    lambda d: (d.n, d.range("i4", 4, count=d.n + 1), d.none, 0, 4),
)
gather(kernels.place_evenly, place_evenly, each={"12 bytes": 12})

WIDTHS = {"64 to 128 bits": (1, 2), "128 bits": (2, 2)}
streaming(decimals.scale_up, scale_up, each=WIDTHS)
streaming(decimals.scale_down, scale_down, each=WIDTHS)
streaming(decimals.decimals_to_floats, decimals_to_floats, each={"64 bits": 1, "128 bits": 2})
