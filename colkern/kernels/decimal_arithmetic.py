"""Arithmetic on decimals of two or four words, as integers of 128 or 256 bits: the caller sees to scales.

`width` is the number of words. Between the numbers of a side there are so many words as its step says: none
where one number stands for every slot.
"""

from __future__ import annotations

from typing import NamedTuple

from numpy import uint64

from colkern.kernels.arguments import Bitmap, In, Out, Truth
from colkern.kernels.bitmaps import is_valid
from colkern.kernels.casts import subtract
from colkern.kernels.decimal_words import filling, sum_with_carry
from colkern.kernels.decimals import is_less, store_number, times, turned
from colkern.kernels.kernel import helper, kernel
from colkern.kernels.primitives import add, multiply


class Side(NamedTuple):
    """The numbers of an operand, and the words from one to the next."""

    words: In[uint64]
    step: uint64


@kernel()
def add_decimals(start, stop, step, left: Side, right: Side, flip, width, out: Out[uint64]):
    """Number i of `out` is the sum of those of both sides; the difference, if `flip` is all bits, not 0."""
    for i in range(start, stop, step):
        carry = flip & uint64(1)
        for word in range(uint64(0), width):
            k = uint64(word)
            a = left.words[uint64(i) * left.step + k]
            b = right.words[uint64(i) * right.step + k] ^ flip
            out[uint64(i) * width + k], carry = sum_with_carry(a, b, carry)


@helper
def four_words(side: Side, i: uint64, width: uint64) -> tuple[uint64, uint64, uint64, uint64]:
    """A number as four words."""
    place = i * side.step
    a0, a1 = side.words[place], side.words[place + uint64(1)]
    if width == uint64(2):
        sign = filling(a1)
        return a0, a1, sign, sign
    return a0, a1, side.words[place + uint64(2)], side.words[place + uint64(3)]


@helper
def plus_product(
    r0: uint64,
    r1: uint64,
    r2: uint64,
    r3: uint64,
    word: uint64,
    b0: uint64,
    b1: uint64,
    b2: uint64,
    b3: uint64,
) -> tuple[uint64, uint64, uint64, uint64]:
    """A number plus a word times another number, cut to four words."""
    p0, carry = times(word, b0, uint64(0))
    p1, carry = times(word, b1, carry)
    p2, carry = times(word, b2, carry)
    p3 = add(multiply(word, b3), carry)
    r0, carry = sum_with_carry(r0, p0, uint64(0))
    r1, carry = sum_with_carry(r1, p1, carry)
    r2, carry = sum_with_carry(r2, p2, carry)
    return r0, r1, r2, add(add(r3, p3), carry)


@kernel()
def multiply_decimals(start, stop, step, left: Side, right: Side, width, out: Out[uint64]):
    """Number i of `out` is the product of those of both sides, cut to its words."""
    none = uint64(0)
    for i in range(start, stop, step):
        a0, a1, a2, a3 = four_words(left, uint64(i), width)
        b0, b1, b2, b3 = four_words(right, uint64(i), width)
        r0, r1, r2, r3 = plus_product(none, none, none, none, a0, b0, b1, b2, b3)
        r1, r2, r3, _ = plus_product(r1, r2, r3, none, a1, b0, b1, b2, none)
        if width > 2:
            r2, r3, _, _ = plus_product(r2, r3, none, none, a2, b0, b1, none, none)
            r3 = add(r3, multiply(a3, b0))
        store_number(out, uint64(i) * width, width, r0, r1, r2, r3)


@helper
def is_less_of_four(
    a0: uint64,
    a1: uint64,
    a2: uint64,
    a3: uint64,
    b0: uint64,
    b1: uint64,
    b2: uint64,
    b3: uint64,
) -> Truth:
    """Whether a number of four words without a sign is less than another."""
    return is_less(a2, a3, b2, b3) | ((a2 == b2) & (a3 == b3) & is_less(a0, a1, b0, b1))


@kernel()
def divide_decimals(
    start, stop, step, left: Side, right: Side, validity: Bitmap, width, out: Out[uint64]
) -> uint64:
    """Number i of `out` is the quotient of those of both sides, cut towards 0.

    Returns the first valid slot whose divisor is 0.
    """
    none, one, last = uint64(0), uint64(1), uint64(63)
    for i in range(start, stop, step):
        a0, a1, a2, a3 = four_words(left, uint64(i), width)
        b0, b1, b2, b3 = four_words(right, uint64(i), width)
        sign = filling(a3) ^ filling(b3)
        a0, a1, a2, a3 = turned(a0, a1, a2, a3, filling(a3))
        b0, b1, b2, b3 = turned(b0, b1, b2, b3, filling(b3))
        if (b0 | b1 | b2 | b3) == none:
            if is_valid(validity, i):
                return uint64(i)
            b0 = one
        if (a1 | a2 | a3 | b1 | b2 | b3) == none:
            a0 //= b0
        else:
            r0 = r1 = r2 = r3 = none
            # Bit by bit from the highest: the quotient takes the places of what was shifted out.
            for _ in range(none, width << uint64(6)):
                r3 = (r3 << one) | (r2 >> last)
                r2 = (r2 << one) | (r1 >> last)
                r1 = (r1 << one) | (r0 >> last)
                top = a1 if width == uint64(2) else a3
                r0 = (r0 << one) | (top >> last)
                a3 = (a3 << one) | (a2 >> last)
                a2 = (a2 << one) | (a1 >> last)
                a1 = (a1 << one) | (a0 >> last)
                a0 <<= one
                if not is_less_of_four(r0, r1, r2, r3, b0, b1, b2, b3):
                    a0 |= one
                    borrow = uint64(r0 < b0)
                    r0 = subtract(r0, b0)
                    more = uint64(r1 < b1) | (uint64(r1 == b1) & borrow)
                    r1 = subtract(subtract(r1, b1), borrow)
                    borrow = uint64(r2 < b2) | (uint64(r2 == b2) & more)
                    r2 = subtract(subtract(r2, b2), more)
                    r3 = subtract(subtract(r3, b3), borrow)
        a0, a1, a2, a3 = turned(a0, a1, a2, a3, sign)
        store_number(out, uint64(i) * width, width, a0, a1, a2, a3)
    return ~none
