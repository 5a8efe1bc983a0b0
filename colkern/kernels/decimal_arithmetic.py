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
from colkern.kernels.decimal_words import filling, shifted, sum_with_carry
from colkern.kernels.decimals import is_less, store_number, times, turned
from colkern.kernels.kernel import helper, kernel
from colkern.kernels.primitives import add, high_product, leading_zeros, multiply


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
def sum_of_four(
    a0: uint64,
    a1: uint64,
    a2: uint64,
    a3: uint64,
    b0: uint64,
    b1: uint64,
    b2: uint64,
    b3: uint64,
    carry: uint64,
) -> tuple[uint64, uint64, uint64, uint64]:
    """The sum of two numbers of four words and a carry, cut to four words."""
    a0, carry = sum_with_carry(a0, b0, carry)
    a1, carry = sum_with_carry(a1, b1, carry)
    a2, carry = sum_with_carry(a2, b2, carry)
    return a0, a1, a2, add(add(a3, b3), carry)


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
    return sum_of_four(r0, r1, r2, r3, p0, p1, p2, p3, uint64(0))


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
    a0: uint64, a1: uint64, a2: uint64, a3: uint64, b0: uint64, b1: uint64, b2: uint64, b3: uint64
) -> Truth:
    """Whether a number of four words without a sign is less than another."""
    return is_less(a2, a3, b2, b3) | ((a2 == b2) & (a3 == b3) & is_less(a0, a1, b0, b1))


@helper
def highest_word(a0: uint64, a1: uint64, a2: uint64, a3: uint64) -> tuple[uint64, uint64]:
    """The 64 bits of a number without a sign from its highest one on, and how many it has; not of 0."""
    high, low, below, bits = a3, a2, a1, uint64(256)
    if (a3 | a2) == 0:
        high, low, below, bits = a1, a0, uint64(0), uint64(128)
    if high == 0:
        high, low, bits = low, below, bits - uint64(64)
    zeros = uint64(leading_zeros(high))
    return shifted(high, low, zeros), bits - zeros


@helper
def shifted_left(
    a0: uint64, a1: uint64, a2: uint64, a3: uint64, by: uint64
) -> tuple[uint64, uint64, uint64, uint64]:
    """A number of four words times two to a power, cut to four words."""
    while by >= uint64(64):
        a1, a2, a3 = a0, a1, a2
        a0 = uint64(0)
        by -= uint64(64)
    return a0 << by, shifted(a1, a0, by), shifted(a2, a1, by), shifted(a3, a2, by)


@helper
def inverse_of(word: uint64) -> uint64:
    """2**127 over one more than a word whose highest bit is set; less by up to 2**-56 of it.

    It is found for the upper half of the word, and brought nearer by one step of Newton's method.
    """
    near = (uint64(1) << uint64(63)) // ((word >> uint64(32)) + uint64(1))
    # 2**95 less the product of both, which is below 2**67.
    low, high = times(word, near, near)
    rest = subtract(uint64(1) << uint64(31), high + uint64(low != 0))
    rest = (rest << uint64(60)) | (subtract(uint64(0), low) >> uint64(4))
    return (near << uint64(32)) + high_product(near << uint64(5), rest)


@kernel()
def divide_decimals(
    start, stop, step, left: Side, right: Side, validity: Bitmap, width, out: Out[uint64]
) -> uint64:
    """Number i of `out` is the quotient of those of both sides, cut towards 0.

    Returns the first valid slot whose divisor is 0. A round adds as much to a quotient as the highest 64
    bits of both numbers tell, never too much: what is left then is smaller by 50 bits or more.
    """
    none, one, most = uint64(0), uint64(1), uint64(63)
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
        q0 = q1 = q2 = q3 = none
        if (a1 | a2 | a3 | b1 | b2 | b3) == none:
            q0 = a0 // b0
        elif not is_less_of_four(a0, a1, a2, a3, b0, b1, b2, b3):
            top, bits = highest_word(b0, b1, b2, b3)
            inverse = inverse_of(top)
            while not is_less_of_four(a0, a1, a2, a3, b0, b1, b2, b3):
                top, more = highest_word(a0, a1, a2, a3)
                away = min(more - bits, most)
                up = more - bits - away
                word = max(high_product(top, inverse) >> (most - away), one)
                p0, p1, p2, p3 = plus_product(none, none, none, none, word, b0, b1, b2, b3)
                w0, w1, w2, w3 = word, none, none, none
                if up != none:
                    p0, p1, p2, p3 = shifted_left(p0, p1, p2, p3, up)
                    w0, w1, w2, w3 = shifted_left(word, none, none, none, up)
                a0, a1, a2, a3 = sum_of_four(a0, a1, a2, a3, ~p0, ~p1, ~p2, ~p3, one)
                q0, q1, q2, q3 = sum_of_four(q0, q1, q2, q3, w0, w1, w2, w3, none)
        q0, q1, q2, q3 = turned(q0, q1, q2, q3, sign)
        store_number(out, uint64(i) * width, width, q0, q1, q2, q3)
    return ~none
