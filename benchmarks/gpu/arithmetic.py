"""Arithmetic on two arrays, and on an array and a number."""

from __future__ import annotations

from typing import Any

from benchmarks.gpu.case import streaming
from benchmarks.gpu.data import Data
from colkern.kernels import arithmetic as kernels
from colkern.kernels import decimal_arithmetic

WORDS = ("u1", "u4", "u8")
FLOATS = ("f4", "f8")
DIVISOR = 7


def of_words(d: Data, dtype: str) -> tuple[Any, ...]:
    return d.n, d.words(dtype), d.words(dtype), d.out(dtype)


def of_floats(d: Data, dtype: str) -> tuple[Any, ...]:
    return d.n, d.floats(dtype), d.floats(dtype), d.out(dtype)


def divided(d: Data, dtype: str) -> tuple[Any, ...]:
    sign = 1 << min(8 * int(dtype[1]), 32) - 1
    return d.n, d.words(dtype), d.numbers(dtype, 100, least=1), sign, d.none, 0, d.out(dtype)


def divided_by(d: Data, dtype: str) -> tuple[Any, ...]:
    bits, shift = 8 * int(dtype[1]), (DIVISOR - 1).bit_length()
    width = max(bits, 32)
    multiplier = -(-(1 << width + shift) // DIVISOR) - (1 << width)
    return d.n, d.words(dtype), multiplier, shift, 1 << bits - 1, 0, d.out(dtype)


def decimals(d: Data, width: int) -> tuple[Any, ...]:
    """Two sides of decimals, of so many words each."""
    return tuple(part for _ in range(2) for part in (d.words("u8", d.n * width), width))


def divided_decimals(d: Data, width: int, words: int = 0) -> tuple[Any, ...]:
    """Decimals by others, whose words from a number of them on are zeros."""
    left, right = (d.words("u8", d.n * width) for _ in range(2))
    for k in range(words or width, width):
        right[k::width] = 0
    return d.n, left, width, right, width, d.none, 0, width, d.out("u8", d.n * width)


for kernel in (kernels.add_words, kernels.subtract_words, kernels.multiply_words):
    streaming(kernel, of_words, each=WORDS)
streaming(
    kernels.add_words,
    lambda d: (d.n, d.words("u4"), d.words("u4", 1), d.out("u4")),
    label="u4 and a number",
)
for kernel in (
    kernels.add_floats,
    kernels.subtract_floats,
    kernels.multiply_floats,
    kernels.divide_floats,
):
    streaming(kernel, of_floats, each=FLOATS)
streaming(kernels.running_means, lambda d: (d.n, d.floats("f8"), d.out("f8")))
streaming(kernels.abs_floats, lambda d, t: (d.n, d.floats(t), d.out(t)), each=FLOATS)
streaming(
    kernels.abs_words,
    lambda d: (d.n, d.words("u4"), d.table([1 << 31], "u4"), d.out("u4")),
    label="u4",
)
streaming(kernels.divide_words, divided, each=WORDS)
streaming(kernels.divide_words_by, divided_by, each=("u1", "u4", "u8"))
WIDTHS = {"128 bits": 2, "256 bits": 4}
streaming(
    decimal_arithmetic.add_decimals,
    lambda d, width: (d.n, *decimals(d, width), 0, width, d.out("u8", d.n * width)),
    each=WIDTHS,
)
streaming(
    decimal_arithmetic.multiply_decimals,
    lambda d, width: (d.n, *decimals(d, width), width, d.out("u8", d.n * width)),
    each=WIDTHS,
)
streaming(decimal_arithmetic.divide_decimals, divided_decimals, each=WIDTHS)
streaming(
    decimal_arithmetic.divide_decimals,
    lambda d, width: divided_decimals(d, width, width // 2),
    each={f"{bits}, by half as many": width for bits, width in WIDTHS.items()},
)
