"""Decimals of any number of words, a word at a time, and as floats: for users' kernels and loops.

Words are uint64, a number's lowest first, in two's complement. See `colkern.kernels.decimals`, whose
bodies have numbers of a fixed width.
"""

from __future__ import annotations

from numpy import float64, int64, uint64

from colkern.kernels.arguments import Truth
from colkern.kernels.casts import subtract
from colkern.kernels.kernel import helper
from colkern.kernels.primitives import add, leading_zeros


@helper
def filling(word: uint64) -> uint64:
    """The words above the highest one of a number: all bits of its sign."""
    return subtract(uint64(0), word >> uint64(63))


@helper
def sum_with_carry(left: uint64, right: uint64, carry: uint64) -> tuple[uint64, uint64]:
    """Two words and a carry: the lower word, and what is carried to the next."""
    low = add(left, right)
    total = add(low, carry)
    return total, uint64(low < left) | uint64(total < low)


@helper
def is_less(left: uint64, right: uint64, below: Truth) -> Truth:
    """Whether a number is less than another, by a word of each, and by whether it is `below` that."""
    return left < right or (left == right and below)


@helper
def product_with_carry(low: uint64, carry: uint64, before: uint64) -> tuple[uint64, uint64]:
    """A product's word and what it carries, added to what stands there: the word, and the carry."""
    total = add(low, before)
    return total, add(carry, uint64(total < low))


@helper
def divided(rest: uint64, word: uint64, divisor: uint64) -> tuple[uint64, uint64]:
    """A word below a remainder, divided by a number below 2**31: quotient and remainder."""
    high = (rest << uint64(32)) | (word >> uint64(32))
    upper = high // divisor
    low = ((high - upper * divisor) << uint64(32)) | (word & uint64(0xFFFFFFFF))
    lower = low // divisor
    return (upper << uint64(32)) | lower, low - lower * divisor


# Floats, rounded once: by integers alone, where floats are not exact


EXACT = 1 << 53
"""Floats are all the integers below."""

EXACT_DIGITS = 22
"""10**22 is the largest power of ten that is a float."""

_DIVISOR_DIGITS = 13
"""5**13 is the largest power of five that `divided` takes."""

_DIGITS_OF_TWO_WORDS = 26
"""5**26 has 61 bits: of 128, more than a float has are left, and of 256 after 5**76, which has 177."""


@helper
def power_of_five(exponent: int64) -> uint64:
    """Of an exponent up to 13."""
    power = uint64(1)
    for _ in range(exponent):
        power = power * uint64(5)
    return power


@helper
def shifted(high: uint64, low: uint64, by: uint64) -> uint64:
    """The upper word of two, shifted left by up to 63 bits."""
    return (high << by) | ((low >> uint64(1)) >> (uint64(63) - by))


@helper
def times_power_of_two(value: float64, exponent: int64) -> float64:
    """A float times two to a power; exact, as neither is far from 1."""
    while exponent >= 32:
        value *= 4294967296.0
        exponent -= int64(32)
    while exponent < 0:
        value *= 2.0**-32
        exponent += int64(32)
    return value * float64(uint64(1) << uint64(exponent))


@helper
def nearest_float(
    a0: uint64, a1: uint64, a2: uint64, a3: uint64, scale: uint64, power: float64
) -> float64:
    """The float nearest to a number of four words over `power`, which is ten to `scale`, below 77."""
    if (a1 | a2 | a3) == 0 and a0 < uint64(EXACT) and scale <= EXACT_DIGITS:
        return float64(a0) / power
    if (a0 | a1 | a2 | a3) == 0:
        return float64(0.0)
    exponent = int64(192) - int64(scale)
    while a3 == 0:
        a0, a1, a2, a3 = uint64(0), a0, a1, a2
        exponent -= int64(64)
    zeros = uint64(leading_zeros(a3))
    a3, a2, a1, a0 = (
        shifted(a3, a2, zeros),
        shifted(a2, a1, zeros),
        shifted(a1, a0, zeros),
        a0 << zeros,
    )
    exponent -= int64(zeros)
    # Of the words that are divided, more bits are left than a float has; the others are a rest.
    rests = uint64(0)
    if scale <= _DIGITS_OF_TWO_WORDS:
        rests = a1 | a0
        a1 = a0 = uint64(0)
    left = int64(scale)
    while left > 0:
        digits = min(left, int64(_DIVISOR_DIGITS))
        divisor = power_of_five(digits)
        a3, rest = divided(uint64(0), a3, divisor)
        a2, rest = divided(rest, a2, divisor)
        if scale > _DIGITS_OF_TWO_WORDS:
            a1, rest = divided(rest, a1, divisor)
            a0, rest = divided(rest, a0, divisor)
        rests |= rest
        left -= digits
    while a3 == 0:
        a0, a1, a2, a3 = uint64(0), a0, a1, a2
        exponent -= int64(64)
    zeros = uint64(leading_zeros(a3))
    rests |= (a2 << zeros) | a1 | a0
    # The lowest of 64 bits stands for all below it: enough to tell a half from more than one.
    top = shifted(a3, a2, zeros) | uint64(rests != 0)
    return times_power_of_two(float64(top), exponent - int64(zeros))
