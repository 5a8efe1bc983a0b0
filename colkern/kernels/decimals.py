"""Decimals: the same number at another scale or in another width, and as a float.

A number is 1, 2 or 4 words in two's complement, the lowest first; one of 64 bits or less is one word.
They are worked on as 128 bits, or as 256 where either side has as many: 64 bits of it at a time, in
halves of 32 bits, whose products and remainders have room in a word.
"""

from __future__ import annotations

from typing import Any

from numpy import add, float64, subtract, uint64

from colkern.kernels.bitmaps import is_valid
from colkern.kernels.casts import quotient
from colkern.kernels.kernel import helper, kernel

SIGN = 1 << 63

_HALF = 0xFFFFFFFF


@helper
def first_word(words: Any, place: Any, sign: Any) -> Any:
    """The lowest 64 bits of a number, whose only word may have fewer."""
    return subtract(uint64(words[place]) ^ sign, sign)


@helper
def later_word(words: Any, place: Any, width: Any, k: Any, filling: Any) -> Any:
    """Word `k` of a number; `filling` past its `width` words."""
    return uint64(words[place + k]) if k < width else filling


@helper
def filling_of(words: Any, place: Any, width: Any, sign: Any, signed: Any) -> Any:
    """What continues a number in further words: all bits of its sign."""
    last = place + width - uint64(1)
    highest = subtract(uint64(words[last]) ^ sign, sign)
    return subtract(uint64(0), highest >> uint64(63)) & signed


@helper
def is_below(a0: Any, a1: Any, a2: Any, a3: Any, limits: Any, first: Any) -> Any:
    """Whether a number of four words is less than that in `limits` from item `first` on."""
    top = uint64(SIGN)
    b0, b1 = limits[first], limits[first + uint64(1)]
    b2, b3 = limits[first + uint64(2)], limits[first + uint64(3)] ^ top
    a3 = a3 ^ top
    low = (a1 < b1) | ((a1 == b1) & (a0 < b0))
    high = (a3 < b3) | ((a3 == b3) & (a2 < b2))
    return high | ((a3 == b3) & (a2 == b2) & low)


@helper
def is_above(a0: Any, a1: Any, a2: Any, a3: Any, limits: Any, first: Any) -> Any:
    """Whether a number of four words is greater than that in `limits` from item `first` on."""
    top = uint64(SIGN)
    b0, b1 = limits[first], limits[first + uint64(1)]
    b2, b3 = limits[first + uint64(2)], limits[first + uint64(3)] ^ top
    a3 = a3 ^ top
    low = (a1 > b1) | ((a1 == b1) & (a0 > b0))
    high = (a3 > b3) | ((a3 == b3) & (a2 > b2))
    return high | ((a3 == b3) & (a2 == b2) & low)


@helper
def times(word: Any, factor: Any, carry: Any) -> Any:
    """A word times a factor below 2**32, and a carry below that: the lower word, and what is left."""
    low = (word & uint64(_HALF)) * factor + carry
    high = (word >> uint64(32)) * factor + (low >> uint64(32))
    return (high << uint64(32)) | (low & uint64(_HALF)), high >> uint64(32)


@helper
def divided(rest: Any, word: Any, divisor: Any, magic: Any, shift: Any) -> Any:
    """A word below a remainder, divided by less than 2**31: the quotient, and the new remainder."""
    number = (rest << uint64(32)) | (word >> uint64(32))
    high = quotient(number, magic, shift)
    number = ((number - high * divisor) << uint64(32)) | (word & uint64(_HALF))
    low = quotient(number, magic, shift)
    return (high << uint64(32)) | low, number - low * divisor


@helper
def store_number(out: Any, place: Any, width: Any, a0: Any, a1: Any, a2: Any, a3: Any) -> None:
    """The `width` lowest words of a number to `out` from `place` on."""
    word = out.dtype.type
    out[place] = word(a0)
    if width > 1:
        out[place + uint64(1)] = word(a1)
    if width > 2:
        out[place + uint64(2)] = word(a2)
        out[place + uint64(3)] = word(a3)


@kernel(
    "words: S[], width: u8, sign: u8, signed: u8, validity: u1[], offset: u8, limits: u8[],"
    " factors: u8[], out_width: u8, out: T[w]",
    returns="u8",
    S="u1 u2 u4 u8",
    T="u1 u2 u4 u8",
)
def scale_up(
    start,
    stop,
    step,
    words,
    width,
    sign,
    signed,
    validity,
    offset,
    limits,
    factors,
    out_width,
    out,
):
    """Numbers times `factors`; returns the first valid slot that is out of `limits` before that.

    words: uint8/16/32[n] or uint64[n width]
    width: how many words make a number, 1 unless they have 64 bits
    sign: the sign's bit, if a word has fewer than 64 and the numbers a sign; else 0
    signed: all bits if the numbers have a sign, else 0
    validity: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    limits: uint64[8], the words of the least number that may be multiplied, and of the greatest
    factors: uint64[], below 2**32
    out_width: as `width`, of the results
    out: uint8/16/32[n] or uint64[n out_width]
    """
    wide = width > 2 or out_width > 2
    for i in range(start, stop, step):
        place = uint64(i) * width
        filling = filling_of(words, place, width, sign, signed)
        a0 = first_word(words, place, sign)
        a1 = later_word(words, place, width, uint64(1), filling)
        a2 = later_word(words, place, width, uint64(2), filling)
        a3 = later_word(words, place, width, uint64(3), filling)
        below = is_below(a0, a1, a2, a3, limits, uint64(0))
        if (below or is_above(a0, a1, a2, a3, limits, uint64(4))) and is_valid(validity, offset, i):
            return uint64(i)
        for f in range(uint64(0), uint64(len(factors))):
            factor = factors[uint64(f)]
            a0, carry = times(a0, factor, uint64(0))
            a1, carry = times(a1, factor, carry)
            if wide:
                a2, carry = times(a2, factor, carry)
                a3, carry = times(a3, factor, carry)
        store_number(out, uint64(i) * out_width, out_width, a0, a1, a2, a3)
    return ~uint64(0)


@kernel(
    "words: S[], width: u8, sign: u8, signed: u8, validity: u1[], offset: u8, limits: u8[],"
    " divisors: u8[], whole: u8, out_width: u8, out: T[w]",
    returns="u8",
    S="u1 u2 u4 u8",
    T="u1 u2 u4 u8",
)
def scale_down(
    start,
    stop,
    step,
    words,
    width,
    sign,
    signed,
    validity,
    offset,
    limits,
    divisors,
    whole,
    out_width,
    out,
):
    """Numbers divided, rounded towards 0; returns the first valid slot that may not be.

    words: uint8/16/32[n] or uint64[n width]
    width: how many words make a number, 1 unless they have 64 bits
    sign: the sign's bit, if a word has fewer than 64 and the numbers a sign; else 0
    signed: all bits if the numbers have a sign, else 0
    validity: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    limits: uint64[8], the words of the least number that may be divided, and of the greatest
    divisors: uint64[3 k], each with the `magic` and `shift` of `quotient`: first the product of all
        others, for numbers of up to 63 bits (0 if it has more itself), then those, below 2**31
    whole: 1 to object to what leaves a remainder, 0 to let it pass
    out_width: as `width`, of the results
    out: uint8/16/32[n] or uint64[n out_width]
    """
    for i in range(start, stop, step):
        place = uint64(i) * width
        filling = filling_of(words, place, width, sign, signed)
        a0 = first_word(words, place, sign)
        a1 = later_word(words, place, width, uint64(1), filling)
        a2 = later_word(words, place, width, uint64(2), filling)
        a3 = later_word(words, place, width, uint64(3), filling)
        wrong = is_below(a0, a1, a2, a3, limits, uint64(0)) or is_above(
            a0, a1, a2, a3, limits, uint64(4)
        )
        # The absolute value, and the sign again at the end: `x ^ filling`, and one more if negative.
        one = filling & uint64(1)
        a0 = add(a0 ^ filling, one)
        carry = one & uint64(a0 == 0)
        a1 = add(a1 ^ filling, carry)
        carry &= uint64(a1 == 0)
        a2 = add(a2 ^ filling, carry)
        carry &= uint64(a2 == 0)
        a3 = add(a3 ^ filling, carry)
        rests = uint64(0)
        if (a1 | a2 | a3) == 0 and a0 >> uint64(63) == 0 and divisors[uint64(0)] != 0:
            result = quotient(a0, divisors[uint64(1)], divisors[uint64(2)])
            rests = a0 - result * divisors[uint64(0)]
            a0 = result
        else:
            for d in range(uint64(3), uint64(len(divisors)), uint64(3)):
                divisor = divisors[uint64(d)]
                magic, shift = divisors[uint64(d) + uint64(1)], divisors[uint64(d) + uint64(2)]
                rest = uint64(0)
                if (a2 | a3) != 0:
                    a3, rest = divided(rest, a3, divisor, magic, shift)
                    a2, rest = divided(rest, a2, divisor, magic, shift)
                a1, rest = divided(rest, a1, divisor, magic, shift)
                a0, rest = divided(rest, a0, divisor, magic, shift)
                rests |= rest
        if (wrong or (rests != 0 and whole != 0)) and is_valid(validity, offset, i):
            return uint64(i)
        a0 = add(a0 ^ filling, one)
        carry = one & uint64(a0 == 0)
        a1 = add(a1 ^ filling, carry)
        carry &= uint64(a1 == 0)
        a2 = add(a2 ^ filling, carry)
        carry &= uint64(a2 == 0)
        a3 = add(a3 ^ filling, carry)
        store_number(out, uint64(i) * out_width, out_width, a0, a1, a2, a3)
    return ~uint64(0)


@kernel(
    "words: S[], width: u8, sign: u8, factor: f8, divisor: f8, out: T[w]",
    S="u4 u8",
    T="f4 f8",
)
def decimals_to_floats(start, stop, step, words, width, sign, factor, divisor, out):
    """out[i] = number i, times `factor` and divided by `divisor`.

    words: uint32[n] or uint64[n width]
    width: how many words make a number, 1 unless they have 64 bits
    sign: the sign's bit, if a word has fewer than 64; else 0
    factor: a power of ten, or 1
    divisor: a power of ten, or 1
    out: float32/float64[n]
    """
    kind = out.dtype.type
    word = 18446744073709551616.0
    for i in range(start, stop, step):
        place = uint64(i) * width
        filling = filling_of(words, place, width, sign, ~uint64(0))
        one = filling & uint64(1)
        a0 = add(first_word(words, place, sign) ^ filling, one)
        carry = one & uint64(a0 == 0)
        a1 = add(later_word(words, place, width, uint64(1), filling) ^ filling, carry)
        value = float64(a1) * word + float64(a0)
        if width > 2:
            carry &= uint64(a1 == 0)
            a2 = add(later_word(words, place, width, uint64(2), filling) ^ filling, carry)
            carry &= uint64(a2 == 0)
            a3 = add(later_word(words, place, width, uint64(3), filling) ^ filling, carry)
            value += (float64(a3) * word + float64(a2)) * word * word
        value = value * factor / divisor
        out[i] = kind(-value if filling != 0 else value)
