"""Casts: numbers of one type as those of another, checked and written in one pass.

A kernel that checks returns the first valid slot whose value the other type does not have, or the
largest uint64. It looks for any such value first, nulls' included, without a branch: only if there is
one is the range searched for a slot that is valid. What it writes under a null may be anything.

Integers are taken as words without a sign. `sign`, the sign's bit of a signed type or 0, tells what
they mean: `(word ^ sign) - sign` is the number.
"""

from __future__ import annotations

from typing import NamedTuple

from numpy import float32, float64, int32, int64, uint8, uint32, uint64

from colkern.kernels.arguments import Bitmap, F, In, O, Out, T, Truth
from colkern.kernels.bitmaps import bits_of_slots, is_valid
from colkern.kernels.kernel import helper, kernel
from colkern.kernels.primitives import add, copy_bytes, high_product, multiply


@helper
def subtract(left: uint64, right: uint64) -> uint64:
    """The lowest 64 bits of the difference of two uint64: where `-` may wrap around."""
    return add(add(left, ~right), uint64(1))


@kernel(streams=True)
def resize_integers(start, stop, step, values: In[F], sign, out: Out[T]):
    """out[i] = values[i] in as many bits as `out` has, the higher ones cut off."""
    word = out.dtype.type
    for i in range(start, stop, step):
        out[i] = word(subtract(uint64(values[i]) ^ sign, sign))


@kernel(streams=True)
def fit_integers(
    start, stop, step, values: In[F], validity: Bitmap, sign, bias, outside, out: Out[T]
) -> uint64:
    """As `resize_integers`, for values that must fit; returns the first valid slot that does not.

    With `bias` added, values that fit have no bit of `outside`.
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
            if wrong != 0 and is_valid(validity, i):
                return uint64(i)
    return ~uint64(0)


@helper
def first_beyond(
    start: uint64,
    stop: uint64,
    step: uint64,
    values: In[T],
    validity: Bitmap,
    bias: uint64,
    span: uint64,
) -> uint64:
    """The first valid slot of the range whose value is not from `-bias` on to `span - bias`."""
    for i in range(start, stop, step):
        wrong = add(uint64(values[i]), bias) > span
        if wrong and is_valid(validity, i):
            return uint64(i)
    return ~uint64(0)


@kernel(streams=True, F="i4 i8 u4 u8")
def integers_to_floats(
    start, stop, step, values: In[F], validity: Bitmap, bias, span, out: Out[float32]
) -> uint64:
    """out[i] = values[i] as a float; returns the first valid slot outside `[-bias, span - bias]`.

    `span` is less than 2**31. Out of range, the lowest 32 bits are converted.
    """
    kind = out.dtype.type
    seen = uint64(0)
    for i in range(start, stop, step):
        value = values[i]
        # No less than any of them.
        seen |= add(uint64(value), bias)
        # Numbers in range have 32 bits, of which processors convert several at a time.
        out[i] = kind(int32(value))
    if seen > span:
        return first_beyond(start, stop, step, values, validity, bias, span)
    return ~uint64(0)


@kernel(streams=True, F="i8 u8")
def integers_to_doubles(
    start, stop, step, values: In[F], validity: Bitmap, bias, span, out: Out[float64]
) -> uint64:
    """As `integers_to_floats`, for integers of 64 bits as doubles."""
    seen = uint64(0)
    for i in range(start, stop, step):
        value = values[i]
        seen |= add(uint64(value), bias)
        # Each half is a float, and so is their sum, if the number is in range.
        high = float64(int32(int64(value) >> int64(32)))
        low = float64(uint32(uint64(value) & uint64(0xFFFFFFFF)))
        out[i] = high * 4294967296.0 + low
    if seen > span:
        return first_beyond(start, stop, step, values, validity, bias, span)
    return ~uint64(0)


@kernel(streams=True, F="i1 i2 i4 i8 u1 u2 u4 u8 f4 f8", T="f4 f8")
def round_to_floats(start, stop, step, values: In[F], out: Out[T]):
    """out[i] = values[i], rounded to the nearest float of the type."""
    kind = out.dtype.type
    for i in range(start, stop, step):
        out[i] = kind(values[i])


@kernel(streams=True, F="f4 f8")
def floats_to_integers(
    start,
    stop,
    step,
    values: In[F],
    validity: Bitmap,
    low: float64,
    high: float64,
    checked,
    out: Out[T],
) -> uint64:
    """out[i] = the integer part of values[i]; returns the first valid slot that is not an integer in range.

    The range is `[low, high)`, at most from -2**63 to 2**64; other values become 0. Without `checked` all
    pass.
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
            if wrong and is_valid(validity, i):
                return uint64(i)
    return ~uint64(0)


@kernel(streams=True)
def bits_to_words(start, stop, step, bits: Bitmap, one, out: Out[T]):
    """out[i] = the word `one` where bit i is set, else 0."""
    word = out.dtype.type
    i = uint64(start)
    # A thread of a GPU would have 64 outputs under way at once.
    while step == 1 and i + uint64(64) <= stop:
        sixty_four = bits_of_slots(bits, i, step)
        for k in range(uint64(0), uint64(64)):
            bit = (sixty_four >> uint64(k)) & uint64(1)
            out[i + uint64(k)] = word(multiply(bit, one))
        i += uint64(64)
    for k in range(i, stop, step):
        out[k] = word(one) if is_valid(bits, k) else word(0)


# Units of time


class Limits(NamedTuple):
    """The least and the greatest value that a cast takes."""

    low: int64
    high: int64


@kernel(streams=True, F="i4 i8", T="i4 i8")
def multiply_numbers(
    start, stop, step, values: In[F], validity: Bitmap, factor: int64, limits: Limits, out: Out[T]
) -> uint64:
    """out[i] = values[i] times `factor`; returns the first valid slot outside of the limits."""
    kind = out.dtype.type
    seen: Truth = False
    for i in range(start, stop, step):
        value = int64(values[i])
        seen = seen | (value < limits.low) | (value > limits.high)
        out[i] = kind(multiply(uint64(value), uint64(factor)))
    if seen:
        for i in range(start, stop, step):
            value = int64(values[i])
            if (value < limits.low or value > limits.high) and is_valid(validity, i):
                return uint64(i)
    return ~uint64(0)


class Divisor(NamedTuple):
    """A number to divide by, with what a division by multiplication takes: see `quotient`."""

    divisor: uint64
    magic: uint64
    shift: uint64


@helper
def quotient(number: uint64, magic: uint64, shift: uint64) -> uint64:
    """A uint64 of up to 2**63, divided by the number that `magic` and `shift` stand for.

    Division by a constant (Granlund and Montgomery): for a divisor above 2**(l - 1), at most 2**l,
    `shift` is l - 1 and `magic` is 2**(63 + l) / divisor, rounded up.
    """
    return high_product(number, magic) >> shift


@kernel(streams=True, F="i4 i8", T="i4 i8")
def divide_numbers(
    start,
    stop,
    step,
    values: In[F],
    validity: Bitmap,
    by: Divisor,
    rounding,
    whole,
    limits: Limits,
    out: Out[T],
) -> uint64:
    """out[i] = values[i] divided; returns the first valid slot outside of the limits, or with a remainder.

    `rounding` is 1 to round towards 0, 0 to round down; `whole` is all bits to refuse remainders, else 0.
    """
    kind = out.dtype.type
    seen = uint64(0)
    for i in range(start, stop, step):
        value = int64(values[i])
        negative = uint64(value >> int64(63))
        # -1 - value or -value, which are not negative: their quotient is flipped in turn.
        bump = negative & rounding
        size = add(uint64(value) ^ negative, bump)
        result = quotient(size, by.magic, by.shift)
        if whole != 0:
            seen |= result * by.divisor ^ size
        seen |= uint64(value < limits.low) | uint64(value > limits.high)
        out[i] = kind(add(result ^ negative, bump))
    if seen != 0:
        for i in range(start, stop, step):
            value = int64(values[i])
            negative = uint64(value >> int64(63))
            size = add(uint64(value) ^ negative, negative & rounding)
            rest = (quotient(size, by.magic, by.shift) * by.divisor ^ size) & whole
            if (rest != 0 or value < limits.low or value > limits.high) and is_valid(validity, i):
                return uint64(i)
    return ~uint64(0)


@kernel()
def remainders(start, stop, step, values: In[int64], by: Divisor, out: Out[int64]):
    """out[i] = the remainder of values[i], divided and rounded down: 0 at least."""
    for i in range(start, stop, step):
        value = values[i]
        negative = uint64(value >> int64(63))
        size = uint64(value) ^ negative
        rest = size - quotient(size, by.magic, by.shift) * by.divisor
        out[i] = int64(rest if negative == 0 else by.divisor - uint64(1) - rest)


# Positions


@kernel()
def first_other_length(start, stop, step, offsets: In[O], validity: Bitmap, width: int64) -> uint64:
    """The first valid slot of the range that is not `width` bytes long."""
    for i in range(start, stop, step):
        length = int64(offsets[uint64(i) + uint64(1)]) - int64(offsets[i])
        if length != width and is_valid(validity, i):
            return uint64(i)
    return ~uint64(0)


@kernel()
def place_evenly(start, stop, step, offsets: In[O], base, validity: Bitmap, width, out: Out[uint8]):
    """The `width` bytes of `out` from `i width` on = those from offsets[i] on; zeros for a null."""
    for i in range(start, stop, step):
        place = uint64(i) * width
        if is_valid(validity, i):
            copy_bytes(out, place, base + uint64(offsets[i]), width)
        else:
            for k in range(uint64(0), width):
                out[place + uint64(k)] = uint8(0)
