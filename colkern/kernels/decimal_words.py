"""Decimals of any number of words, a word at a time: how users' kernels and loops compute with them.

Words are uint64, a number's lowest first, in two's complement. See `colkern.kernels.decimals`, whose
bodies have numbers of a fixed width.
"""

from __future__ import annotations

from numpy import uint64

from colkern.kernels.arguments import Truth
from colkern.kernels.casts import subtract
from colkern.kernels.kernel import helper
from colkern.kernels.primitives import add


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
