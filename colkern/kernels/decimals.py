"""Decimals: the same number at another scale or in another width, and as a float.

A number is 1, 2 or 4 words in two's complement, the lowest first; one of 64 bits or less is one word.
They are worked on as 128 bits, or as 256 where either side has as many.
"""

from __future__ import annotations

from typing import Any, Generic, NamedTuple

from numpy import float64, int64, uint64

from colkern.kernels.arguments import Bitmap, In, Out, S, T, Truth
from colkern.kernels.bitmaps import is_valid
from colkern.kernels.casts import quotient, subtract
from colkern.kernels.decimal_words import EXACT, EXACT_DIGITS, nearest_float
from colkern.kernels.kernel import helper, kernel
from colkern.kernels.primitives import add, high_product, multiply

SIGN = 1 << 63

_HALF = 0xFFFFFFFF

BLOCK = 64
"""The numbers that are looked at together."""


class Decimals(NamedTuple, Generic[S]):
    """Numbers of `width` words each, which is 1 unless a word has 64 bits.

    `sign` is the sign's bit if a word has fewer than 64 bits and numbers have a sign, else 0.
    """

    words: In[S]
    width: uint64
    sign: uint64


@helper
def later_word(numbers: Decimals[S], i: uint64, k: uint64, filling: uint64) -> uint64:
    """Word `k` of number `i`; `filling` past its last word."""
    return uint64(numbers.words[i * numbers.width + k]) if k < numbers.width else filling


@helper
def lower_words(numbers: Decimals[S], i: uint64, signed: uint64) -> tuple[uint64, uint64, uint64]:
    """The words above the highest one of a number, all bits of its sign; and its two lowest ones.

    `signed` is all bits if numbers have a sign, else 0.
    """
    place, sign = i * numbers.width, numbers.sign
    highest = subtract(uint64(numbers.words[place + numbers.width - uint64(1)]) ^ sign, sign)
    filling = subtract(uint64(0), highest >> uint64(63)) & signed
    # The only word of a number may have fewer bits.
    lowest = subtract(uint64(numbers.words[place]) ^ sign, sign)
    return filling, lowest, later_word(numbers, i, uint64(1), filling)


@helper
def upper_words(numbers: Decimals[S], i: uint64, filling: uint64) -> tuple[uint64, uint64]:
    """The two highest of the four words of a number."""
    second = later_word(numbers, i, uint64(2), filling)
    return second, later_word(numbers, i, uint64(3), filling)


@helper
def is_less(a0: uint64, a1: uint64, b0: uint64, b1: uint64) -> Truth:
    """Whether one number of two words is less than another; the highest words are compared as such."""
    return (a1 < b1) | ((a1 == b1) & (a0 < b0))


@helper
def is_out_of(a0: uint64, a1: uint64, a2: uint64, a3: uint64, limits: In[uint64]) -> Truth:
    """Whether a number of four words is below the first four of `limits`, or above the others."""
    top = uint64(SIGN)
    zero, two = uint64(0), uint64(2)
    a3 = a3 ^ top
    l2, l3 = limits[two], limits[uint64(3)] ^ top
    h2, h3 = limits[uint64(6)], limits[uint64(7)] ^ top
    below = is_less(a0, a1, limits[zero], limits[uint64(1)]) & (a2 == l2) & (a3 == l3)
    above = is_less(limits[uint64(4)], limits[uint64(5)], a0, a1) & (a2 == h2) & (a3 == h3)
    return below | is_less(a2, a3, l2, l3) | above | is_less(h2, h3, a2, a3)


@helper
def times(word: uint64, factor: uint64, carry: uint64) -> tuple[uint64, uint64]:
    """A word times a factor, and a carry: the lower word, and what is carried to the next."""
    product = multiply(word, factor)
    low = add(product, carry)
    return low, high_product(word, factor) + uint64(low < product)


@helper
def turned_pair(a0: uint64, a1: uint64, filling: uint64) -> tuple[uint64, uint64]:
    """A number of two words, negated if `filling` is all bits, unchanged if it is 0."""
    one = filling & uint64(1)
    low = add(a0 ^ filling, one)
    return low, add(a1 ^ filling, one & uint64(low == 0))


@helper
def turned(
    a0: uint64, a1: uint64, a2: uint64, a3: uint64, filling: uint64
) -> tuple[uint64, uint64, uint64, uint64]:
    """As `turned_pair`, of four words."""
    one = filling & uint64(1)
    b0 = add(a0 ^ filling, one)
    one &= uint64(b0 == 0)
    b1 = add(a1 ^ filling, one)
    one &= uint64(b1 == 0)
    b2 = add(a2 ^ filling, one)
    one &= uint64(b2 == 0)
    return b0, b1, b2, add(a3 ^ filling, one)


@helper
def divided_by(rest: Any, word: Any, divisors: Any, d: Any) -> Any:
    """A word below a remainder, divided by that of item `d` (below 2**31): quotient and remainder."""
    divisor, magic, shift = divisors[d], divisors[d + uint64(1)], divisors[d + uint64(2)]
    number = (rest << uint64(32)) | (word >> uint64(32))
    high = quotient(number, magic, shift)
    number = ((number - high * divisor) << uint64(32)) | (word & uint64(_HALF))
    low = quotient(number, magic, shift)
    return (high << uint64(32)) | low, number - low * divisor


@helper
def store_number(
    out: Out[T], place: uint64, width: uint64, a0: uint64, a1: uint64, a2: uint64, a3: uint64
) -> None:
    """The `width` lowest words of a number to `out` from `place` on."""
    word = out.dtype.type
    out[place] = word(a0)
    if width > 1:
        out[place + uint64(1)] = word(a1)
    if width > 2:
        out[place + uint64(2)] = word(a2)
        out[place + uint64(3)] = word(a3)


@kernel()
def scale_up(
    start,
    stop,
    step,
    numbers: Decimals[S],
    signed,
    validity: Bitmap,
    limits: In[uint64],
    factors: In[uint64],
    out_width,
    out: Out[T],
) -> uint64:
    """Numbers times `factors`; returns the first valid slot that was out of `limits`.

    `limits` has the four words of the least number that may be multiplied, and of the greatest; `signed`
    is all bits if numbers have a sign, else 0.
    """
    word = out.dtype.type
    one = uint64(1)
    if numbers.width > 2 or out_width > 2:
        for i in range(start, stop, step):
            filling, a0, a1 = lower_words(numbers, uint64(i), signed)
            a2, a3 = upper_words(numbers, uint64(i), filling)
            wrong = is_out_of(a0, a1, a2, a3, limits)
            if wrong and is_valid(validity, i):
                return uint64(i)
            for f in range(uint64(0), uint64(len(factors))):
                factor = factors[uint64(f)]
                a0, carry = times(a0, factor, uint64(0))
                a1, carry = times(a1, factor, carry)
                a2, carry = times(a2, factor, carry)
                a3, carry = times(a3, factor, carry)
            store_number(out, uint64(i) * out_width, out_width, a0, a1, a2, a3)
        return ~uint64(0)
    top = uint64(SIGN)
    l0, l1 = limits[uint64(0)], limits[one] ^ top
    h0, h1 = limits[uint64(4)], limits[uint64(5)] ^ top
    for i in range(start, stop, step):
        filling, a0, a1 = lower_words(numbers, uint64(i), signed)
        wrong = is_less(a0, a1 ^ top, l0, l1) | is_less(h0, h1, a0, a1 ^ top)
        if wrong and is_valid(validity, i):
            return uint64(i)
        for f in range(uint64(0), uint64(len(factors))):
            factor = factors[uint64(f)]
            a1 = add(multiply(a1, factor), high_product(a0, factor))
            a0 = multiply(a0, factor)
        out[uint64(i) * out_width] = word(a0)
        if out_width > 1:
            out[uint64(i) * out_width + one] = word(a1)
    return ~uint64(0)


@kernel()
def scale_down(
    start,
    stop,
    step,
    numbers: Decimals[S],
    signed,
    validity: Bitmap,
    limits: In[uint64],
    divisors: In[uint64],
    whole,
    out_width,
    out: Out[T],
) -> uint64:
    """Numbers divided, rounded towards 0; returns the first valid slot that may not be divided.

    `limits` and `signed` are as for `scale_up`. Each divisor is followed by the `magic` and `shift` of
    `quotient`. The first is the product of the others, which are below 2**31; it serves numbers of up to 63
    bits, and is 0 if it has more itself. `whole` is 1 to refuse remainders.
    """
    word = out.dtype.type
    zero, one, top = uint64(0), uint64(1), uint64(SIGN)
    product, magic, shift = divisors[zero], divisors[one], divisors[uint64(2)]
    # No number is less than this, if the product of the divisors has too many bits.
    few = top if product != 0 else zero
    if numbers.width > 2 or out_width > 2:
        for i in range(start, stop, step):
            filling, a0, a1 = lower_words(numbers, uint64(i), signed)
            a2, a3 = upper_words(numbers, uint64(i), filling)
            wrong = is_out_of(a0, a1, a2, a3, limits)
            a0, a1, a2, a3 = turned(a0, a1, a2, a3, filling)
            if (a1 | a2 | a3) == 0 and a0 < few:
                result = quotient(a0, magic, shift)
                rests = a0 - result * product
                a0 = result
            else:
                rests = zero
                for d in range(uint64(3), uint64(len(divisors)), uint64(3)):
                    a3, rest = divided_by(zero, a3, divisors, uint64(d))
                    a2, rest = divided_by(rest, a2, divisors, uint64(d))
                    a1, rest = divided_by(rest, a1, divisors, uint64(d))
                    a0, rest = divided_by(rest, a0, divisors, uint64(d))
                    rests |= rest
            if (wrong or (rests != 0 and whole != 0)) and is_valid(validity, i):
                return uint64(i)
            a0, a1, a2, a3 = turned(a0, a1, a2, a3, filling)
            store_number(out, uint64(i) * out_width, out_width, a0, a1, a2, a3)
        return ~uint64(0)
    l0, l1 = limits[zero], limits[one] ^ top
    h0, h1 = limits[uint64(4)], limits[uint64(5)] ^ top
    for i in range(start, stop, step):
        filling, a0, a1 = lower_words(numbers, uint64(i), signed)
        wrong = is_less(a0, a1 ^ top, l0, l1) | is_less(h0, h1, a0, a1 ^ top)
        a0, a1 = turned_pair(a0, a1, filling)
        if a1 == 0 and a0 < few:
            result = quotient(a0, magic, shift)
            rests = a0 - result * product
            a0 = result
        else:
            rests = zero
            for d in range(uint64(3), uint64(len(divisors)), uint64(3)):
                a1, rest = divided_by(zero, a1, divisors, uint64(d))
                a0, rest = divided_by(rest, a0, divisors, uint64(d))
                rests |= rest
        if (wrong or (rests != 0 and whole != 0)) and is_valid(validity, i):
            return uint64(i)
        a0, a1 = turned_pair(a0, a1, filling)
        out[uint64(i) * out_width] = word(a0)
        if out_width > 1:
            out[uint64(i) * out_width + one] = word(a1)
    return ~uint64(0)


@helper
def are_exact(words: In[S], first: uint64, last: uint64) -> Truth:
    """Whether a float is each of some numbers of two words: from -2^53 to 2^53, the end left out."""
    large = uint64(0)
    for k in range(first, last):
        place = uint64(k) << uint64(1)
        low, high = uint64(words[place]), uint64(words[place + uint64(1)])
        large |= add(low, uint64(EXACT)) >> uint64(54)
        large |= high ^ subtract(uint64(0), low >> uint64(63))
    return large == 0


@kernel(S="u4 u8", T="f4 f8")
def decimals_to_floats(
    start, stop, step, numbers: Decimals[S], factor: float64, scale, divisor: float64, out: Out[T]
):
    """out[i] = number i, divided by `divisor`, rounded, and times `factor`.

    `factor` and `divisor` are powers of ten, or 1; `scale` is the exponent of `divisor`.
    """
    kind = out.dtype.type
    words, width = numbers.words, numbers.width
    a2 = a3 = uint64(0)
    is_wide = words.itemsize == 8 and width == 2 and scale <= uint64(EXACT_DIGITS)
    i = uint64(start)
    while i < stop:
        last = i + uint64(BLOCK)
        if step == 1 and is_wide and last <= stop and are_exact(words, i, last):
            # Without a branch in the loop: in vectors.
            for k in range(i, last):
                out[k] = kind(float64(int64(words[uint64(k) << uint64(1)])) / divisor * factor)
            i = last
            continue
        filling, a0, a1 = lower_words(numbers, i, ~uint64(0))
        if width > 2:
            a2, a3 = upper_words(numbers, i, filling)
            a0, a1, a2, a3 = turned(a0, a1, a2, a3, filling)
        else:
            a0, a1 = turned_pair(a0, a1, filling)
        value = nearest_float(a0, a1, a2, a3, scale, divisor) * factor
        out[i] = kind(-value if filling != 0 else value)
        i += uint64(step)
