"""Casts: numbers of one type as those of another, checked and written in one pass.

A kernel that checks returns the first valid slot whose value the other type does not have, or the
largest uint64. It looks for any such value first, nulls' included, without a branch: only if there is
one is the range searched for a slot that is valid. What it writes under a null may be anything.

Integers are taken as words without a sign. `sign`, the sign's bit of a signed type or 0, tells what
they mean: `(word ^ sign) - sign` is the number.
"""

from __future__ import annotations

from typing import Any

from numpy import float64, int32, int64, uint8, uint32, uint64

from colkern.kernels.bitmaps import is_valid
from colkern.kernels.kernel import helper, kernel
from colkern.kernels.primitives import add, copy_bytes, high_product, multiply
from colkern.kernels.words import bits_of_slots


@helper
def subtract(left: Any, right: Any) -> Any:
    """The lowest 64 bits of the difference of two uint64: where `-` may wrap around."""
    return add(add(left, ~right), uint64(1))


@kernel("values: F[], sign: u8, out: T[w]", F="u1 u2 u4 u8", T="u1 u2 u4 u8")
def resize_integers(start, stop, step, values, sign, out):
    """out[i] = values[i] in as many bits as `out` has, the higher ones cut off.

    values: uint8/16/32/64[n], the words of integers
    sign: the sign's bit, or 0
    out: uint8/16/32/64[n]
    """
    word = out.dtype.type
    for i in range(start, stop, step):
        out[i] = word(subtract(uint64(values[i]) ^ sign, sign))


@kernel(
    "values: F[], validity: u1[], offset: u8, sign: u8, bias: u8, outside: u8, out: T[w]",
    returns="u8",
    F="u1 u2 u4 u8",
    T="u1 u2 u4 u8",
)
def fit_integers(start, stop, step, values, validity, offset, sign, bias, outside, out):
    """As `resize_integers`, for values that must fit; returns the first valid slot that does not.

    The numbers that fit are a power of two many in a row: with `bias` added, those without a bit of
    `outside`.

    values: uint8/16/32/64[n], the words of integers
    validity: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    sign: the sign's bit, or 0
    bias: what makes the least number that fits zero
    outside: the bits, in a word of `values`, that only numbers out of range have then
    out: uint8/16/32/64[n]
    """
    word, other = values.dtype.type, out.dtype.type
    beyond = word(outside)
    seen = word(0)
    for i in range(start, stop, step):
        value = values[i]
        seen = word(seen | word(word(add(uint64(value), bias)) & beyond))
        out[i] = other(subtract(uint64(value) ^ sign, sign))
    if seen != 0:
        for i in range(start, stop, step):
            wrong = word(word(add(uint64(values[i]), bias)) & beyond)
            if wrong != 0 and is_valid(validity, offset, i):
                return uint64(i)
    return ~uint64(0)


@helper
def first_beyond(
    start: Any, stop: Any, step: Any, values: Any, validity: Any, offset: Any, bias: Any, span: Any
) -> Any:
    """The first valid slot of the range whose value is not from `-bias` on to `span - bias`."""
    for i in range(start, stop, step):
        wrong = add(uint64(values[i]), bias) > span
        if wrong and is_valid(validity, offset, i):
            return uint64(i)
    return ~uint64(0)


@kernel(
    "values: F[], validity: u1[], offset: u8, bias: u8, span: u8, out: f4[w]",
    returns="u8",
    F="i4 i8 u4 u8",
)
def integers_to_floats(start, stop, step, values, validity, offset, bias, span, out):
    """out[i] = values[i] as a float; returns the first valid slot not from `-bias` on to
    `span - bias`.

    values: int32/64[n] or uint32/64[n]; all others are floats exactly
    validity: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    bias: what makes the least number that may be converted zero
    span: the greatest then, which is less than 2**31
    out: float32[n]; out of range, the lowest 32 bits as a float
    """
    kind = out.dtype.type
    seen = uint64(0)
    for i in range(start, stop, step):
        value = values[i]
        # No less than any of them.
        seen |= add(uint64(value), bias)
        # What is in range has 32 bits, of which processors convert several at a time.
        out[i] = kind(int32(value))
    if seen > span:
        return first_beyond(start, stop, step, values, validity, offset, bias, span)
    return ~uint64(0)


@kernel(
    "values: F[], validity: u1[], offset: u8, bias: u8, span: u8, out: f8[w]",
    returns="u8",
    F="i8 u8",
)
def integers_to_doubles(start, stop, step, values, validity, offset, bias, span, out):
    """As `integers_to_floats`, for the integers that are not all of them doubles exactly.

    values: int64/uint64[n]
    validity: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    bias: what makes the least number that may be converted zero
    span: the greatest then
    out: float64[n]; out of range, all bits as those of an int64
    """
    seen = uint64(0)
    for i in range(start, stop, step):
        value = values[i]
        seen |= add(uint64(value), bias)
        # Each half is a float, and so is their sum, if the number is in range.
        high = float64(int32(int64(value) >> int64(32)))
        low = float64(uint32(uint64(value) & uint64(0xFFFFFFFF)))
        out[i] = high * 4294967296.0 + low
    if seen > span:
        return first_beyond(start, stop, step, values, validity, offset, bias, span)
    return ~uint64(0)


@kernel("values: F[], out: T[w]", F="i1 i2 i4 i8 u1 u2 u4 u8 f4 f8", T="f4 f8")
def round_to_floats(start, stop, step, values, out):
    """out[i] = values[i], rounded to the nearest float of the type.

    values: a numeric array[n]
    out: float32/float64[n]
    """
    kind = out.dtype.type
    for i in range(start, stop, step):
        out[i] = kind(values[i])


@kernel(
    "values: F[], validity: u1[], offset: u8, low: f8, high: f8, checked: u8, out: T[w]",
    returns="u8",
    F="f4 f8",
    T="u1 u2 u4 u8",
)
def floats_to_integers(start, stop, step, values, validity, offset, low, high, checked, out):
    """out[i] = the integer part of values[i]; returns the first valid slot that is not all of that.

    What is not in range becomes 0.

    values: float32/float64[n]
    validity: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    low: the least integer in range, -2**63 at least
    high: past the greatest, 2**64 at most
    checked: 1 to look for what is no integer in range, 0 to let all pass
    out: uint8/16/32/64[n], the words of integers
    """
    word, kind = out.dtype.type, values.dtype.type
    least, end, half = kind(low), kind(high), kind(9223372036854775808.0)
    zero = kind(0)
    seen = False
    if high <= 2147483648.0:
        for i in range(start, stop, step):
            value = values[i]
            near = value if value >= least and value < end else zero
            part = int32(near)
            seen = seen | (kind(part) != value)
            out[i] = word(part)
    else:
        for i in range(start, stop, step):
            value = values[i]
            near = value if value >= least and value < end else zero
            # Numbers from 2**63 on are integers already.
            far = near >= half
            whole = int64(near - half if far else near)
            seen = seen | (near != value) | ((kind(whole) != near) & (near < half))
            bits = uint64(whole) ^ (uint64(far) << uint64(63))
            out[i] = word(bits)
    if seen and checked != 0:
        for i in range(start, stop, step):
            value = values[i]
            near = value if value >= least and value < end else zero
            small = near if near < half else zero
            wrong = near != value or kind(int64(small)) != small
            if wrong and is_valid(validity, offset, i):
                return uint64(i)
    return ~uint64(0)


@kernel("bits: u1[], offset: u8, one: u8, out: T[w]", T="u1 u2 u4 u8")
def bits_to_words(start, stop, step, bits, offset, one, out):
    """out[i] = `one` where bit `offset + i` is set, else 0.

    bits: uint8[] bitmap of one bit at least
    offset: the first bit
    one: the word for a set bit
    out: uint8/16/32/64[n]
    """
    word = out.dtype.type
    i = uint64(start)
    while i + uint64(64) * step <= stop:
        sixty_four = bits_of_slots(bits, offset + i, step)
        for k in range(uint64(0), uint64(64)):
            bit = (sixty_four >> uint64(k)) & uint64(1)
            out[i + uint64(k) * step] = word(multiply(bit, one))
        i += uint64(64) * step
    for k in range(i, stop, step):
        out[k] = word(one) if is_valid(bits, offset, k) else word(0)


# Units of time


@kernel(
    "values: F[], validity: u1[], offset: u8, factor: i8, low: i8, high: i8, out: T[w]",
    returns="u8",
    F="i4 i8",
    T="i4 i8",
)
def multiply_numbers(start, stop, step, values, validity, offset, factor, low, high, out):
    """out[i] = values[i] times `factor`; returns the first valid slot below `low` or above `high`.

    values: int32/int64[n]
    validity: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    factor: the factor
    low: the least value that may be multiplied
    high: the greatest
    out: int32/int64[n]
    """
    kind = out.dtype.type
    seen = False
    for i in range(start, stop, step):
        value = int64(values[i])
        seen = seen | (value < low) | (value > high)
        out[i] = kind(multiply(uint64(value), uint64(factor)))
    if seen:
        for i in range(start, stop, step):
            value = int64(values[i])
            if (value < low or value > high) and is_valid(validity, offset, i):
                return uint64(i)
    return ~uint64(0)


@helper
def quotient(number: Any, magic: Any, shift: Any) -> Any:
    """A uint64 of up to 2**63, divided by what `magic` and `shift` stand for.

    Division by a constant (Granlund and Montgomery): for a divisor above 2**(l - 1), at most 2**l,
    `shift` is l - 1 and `magic` is 2**(63 + l) / divisor, rounded up.
    """
    return high_product(number, magic) >> shift


@kernel(
    "values: F[], validity: u1[], offset: u8, divisor: u8, magic: u8, shift: u8, rounding: u8,"
    " whole: u8, low: i8, high: i8, out: T[w]",
    returns="u8",
    F="i4 i8",
    T="i4 i8",
)
def divide_numbers(
    start,
    stop,
    step,
    values,
    validity,
    offset,
    divisor,
    magic,
    shift,
    rounding,
    whole,
    low,
    high,
    out,
):
    """out[i] = values[i] divided; returns the first valid slot that may not be.

    values: int32/int64[n]
    validity: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    divisor: by what
    magic: see `quotient`
    shift: see `quotient`
    rounding: 1 to round towards 0, 0 to round down
    whole: all bits to object to what leaves a remainder, 0 to let it pass
    low: the least value that may be divided
    high: the greatest
    out: int32/int64[n]
    """
    kind = out.dtype.type
    seen = uint64(0)
    for i in range(start, stop, step):
        value = int64(values[i])
        negative = uint64(value >> int64(63))
        # -1 - value or -value, which are not negative: their quotient is turned over in turn.
        bump = negative & rounding
        size = add(uint64(value) ^ negative, bump)
        result = quotient(size, magic, shift)
        if whole != 0:
            seen |= result * divisor ^ size
        seen |= uint64(value < low) | uint64(value > high)
        out[i] = kind(add(result ^ negative, bump))
    if seen != 0:
        for i in range(start, stop, step):
            value = int64(values[i])
            negative = uint64(value >> int64(63))
            size = add(uint64(value) ^ negative, negative & rounding)
            rest = (quotient(size, magic, shift) * divisor ^ size) & whole
            if (rest != 0 or value < low or value > high) and is_valid(validity, offset, i):
                return uint64(i)
    return ~uint64(0)


@kernel("values: i8[], divisor: u8, magic: u8, shift: u8, out: i8[w]")
def remainders(start, stop, step, values, divisor, magic, shift, out):
    """out[i] = what is left of values[i], divided and rounded down: 0 at least.

    values: int64[n]
    divisor: by what
    magic: see `quotient`
    shift: see `quotient`
    out: int64[n]
    """
    for i in range(start, stop, step):
        value = values[i]
        negative = uint64(value >> int64(63))
        size = uint64(value) ^ negative
        rest = size - quotient(size, magic, shift) * divisor
        out[i] = int64(rest if negative == 0 else divisor - uint64(1) - rest)


# Positions


@kernel("offsets: O[], validity: u1[], offset: u8, width: i8", returns="u8", O="i4 i8")
def first_other_length(start, stop, step, offsets, validity, offset, width):
    """The first valid slot of the range that is not `width` bytes long; the largest uint64 if none.

    offsets: int32/int64[n + 1], checked
    validity: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    width: the length
    """
    for i in range(start, stop, step):
        length = int64(offsets[uint64(i) + uint64(1)]) - int64(offsets[i])
        if length != width and is_valid(validity, offset, i):
            return uint64(i)
    return ~uint64(0)


@kernel("offsets: O[], base: u8, validity: u1[], offset: u8, width: u8, out: u1[w]", O="i4 i8")
def place_evenly(start, stop, step, offsets, base, validity, offset, width, out):
    """The `width` bytes of `out` from `i width` on = those of value i; zeros for a null.

    offsets: int32/int64[n], where each value begins
    base: the address of the data buffer
    validity: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    width: the bytes of each value
    out: uint8[n width]
    """
    for i in range(start, stop, step):
        place = uint64(i) * width
        if is_valid(validity, offset, i):
            copy_bytes(out, place, base + uint64(offsets[i]), width)
        else:
            for k in range(uint64(0), width):
                out[place + uint64(k)] = uint8(0)
