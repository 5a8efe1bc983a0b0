"""Arithmetic on words and on floating-point numbers, slot by slot.

Integers are words: what does not fit is cut off, and so signed and unsigned ones of a width share
bodies but for division and absolute values, which take the bit that is the sign (0 for unsigned
numbers). What wraps around is a primitive: NumPy's operators would warn.

Where both operands are arrays, one of them may have a single item, which then stands for every slot.
"""

from __future__ import annotations

from numpy import float32, float64, int32, uint32, uint64

from colkern.kernels.arguments import Bitmap, In, Out, T
from colkern.kernels.bitmaps import is_valid
from colkern.kernels.kernel import helper, kernel
from colkern.kernels.primitives import add, high_product, multiply


@helper
def negative(number: uint64) -> uint64:
    """The word (uint64) that adds up to 0 with another."""
    return add(~number, uint64(1))


@kernel(streams=True)
def add_words(start, stop, step, left: In[T], right: In[T], out: Out[T]):
    """out[i] = left[i] + right[i]."""
    if len(right) == 1:
        number = uint64(right[0])
        for i in range(start, stop, step):
            out[i] = add(uint64(left[i]), number)
    else:
        for i in range(start, stop, step):
            out[i] = add(uint64(left[i]), uint64(right[i]))


@kernel(streams=True)
def subtract_words(start, stop, step, left: In[T], right: In[T], out: Out[T]):
    """out[i] = left[i] - right[i]."""
    if len(right) == 1:
        number = negative(uint64(right[0]))
        for i in range(start, stop, step):
            out[i] = add(uint64(left[i]), number)
    elif len(left) == 1:
        number = uint64(left[0])
        for i in range(start, stop, step):
            out[i] = add(number, negative(uint64(right[i])))
    else:
        for i in range(start, stop, step):
            out[i] = add(uint64(left[i]), negative(uint64(right[i])))


@kernel(streams=True)
def multiply_words(start, stop, step, left: In[T], right: In[T], out: Out[T]):
    """out[i] = left[i] right[i]."""
    if len(right) == 1:
        number = uint64(right[0])
        for i in range(start, stop, step):
            out[i] = multiply(uint64(left[i]), number)
    else:
        for i in range(start, stop, step):
            out[i] = multiply(uint64(left[i]), uint64(right[i]))


@kernel(streams=True, T="f4 f8")
def add_floats(start, stop, step, left: In[T], right: In[T], out: Out[T]):
    """out[i] = left[i] + right[i]."""
    if len(right) == 1:
        number = right[0]
        for i in range(start, stop, step):
            out[i] = left[i] + number
    else:
        for i in range(start, stop, step):
            out[i] = left[i] + right[i]


@kernel(streams=True, T="f4 f8")
def subtract_floats(start, stop, step, left: In[T], right: In[T], out: Out[T]):
    """out[i] = left[i] - right[i]."""
    if len(right) == 1:
        number = right[0]
        for i in range(start, stop, step):
            out[i] = left[i] - number
    elif len(left) == 1:
        number = left[0]
        for i in range(start, stop, step):
            out[i] = number - right[i]
    else:
        for i in range(start, stop, step):
            out[i] = left[i] - right[i]


@kernel(streams=True, T="f4 f8")
def multiply_floats(start, stop, step, left: In[T], right: In[T], out: Out[T]):
    """out[i] = left[i] right[i]."""
    if len(right) == 1:
        number = right[0]
        for i in range(start, stop, step):
            out[i] = left[i] * number
    else:
        for i in range(start, stop, step):
            out[i] = left[i] * right[i]


@kernel(streams=True, T="f4 f8")
def divide_floats(start, stop, step, left: In[T], right: In[T], out: Out[T]):
    """out[i] = left[i] / right[i], by IEEE 754."""
    if len(right) == 1:
        number = right[0]
        for i in range(start, stop, step):
            out[i] = left[i] / number
    elif len(left) == 1:
        number = left[0]
        for i in range(start, stop, step):
            out[i] = number / right[i]
    else:
        for i in range(start, stop, step):
            out[i] = left[i] / right[i]


@kernel()
def running_means(start, stop, step, sums: In[float64], out: Out[float64]):
    """out[i] = sums[i] / (i + 1)."""
    for i in range(start, stop, step):
        out[i] = sums[i] / float64(uint64(i) + uint64(1))


@kernel(streams=True, T="f4 f8")
def abs_floats(start, stop, step, values: In[T], out: Out[T]):
    """out[i] = values[i] without its sign."""
    for i in range(start, stop, step):
        out[i] = abs(values[i])


@helper
def magnitude(word: uint64, sign: uint64) -> uint64:
    """The absolute value of a word with the sign bit `sign`, or 0 for unsigned words.

    The least number stays what it is.
    """
    if word & sign != 0:
        return sign - (word ^ sign)
    return word


@kernel(streams=True)
def abs_words(start, stop, step, values: In[T], sign: In[T], out: Out[T]):
    """out[i] = the absolute value of values[i], whose sign bit is sign[0]; as `magnitude`."""
    bit = uint64(sign[0])
    for i in range(start, stop, step):
        out[i] = magnitude(uint64(values[i]), bit)


@helper
def with_sign(quotient: uint64, left: uint64, right: uint64, sign: uint64) -> uint64:
    """A quotient of magnitudes as a word: negative if one of the operands is.

    The least number by -1, which does not fit, is 0.
    """
    if (left ^ right) & sign != 0:
        return negative(quotient)
    return quotient if quotient & sign == 0 else uint64(0)


@helper
def divided_short_words(left: uint64, right: uint64, sign: uint64) -> uint64:
    """The quotient of words of up to 16 bits; 0 for a divisor of 0.

    A float of 24 bits is no nearer to the next integer than a quotient of 16 bits can be.
    """
    # Under a null there may be a zero.
    divisor = max(int32(magnitude(right, sign)), int32(1))
    quotient = int32(float32(int32(magnitude(left, sign))) / float32(divisor))
    return with_sign(uint64(quotient), left, right, sign)


@helper
def first_zero(
    zeros: uint64, start: uint64, stop: uint64, step: uint64, divisors: In[T], validity: Bitmap
) -> uint64:
    """The first valid slot of the range whose divisor is 0; `zeros` is 0 if there are none, in any slot."""
    if zeros != 0:
        for i in range(start, stop, step):
            if divisors[i] == 0 and is_valid(validity, i):
                return uint64(i)
    return ~uint64(0)


@helper
def divided_words(left: uint64, right: uint64, sign: uint64) -> uint64:
    """The quotient of words of 32 bits; 0 for a divisor of 0.

    As in `divided_short_words`, of 53 bits and 32; processors divide several floats at once.
    """
    divisor = max(uint32(magnitude(right, sign)), uint32(1))
    quotient = uint32(float64(uint32(magnitude(left, sign))) / float64(divisor))
    return with_sign(uint64(quotient), left, right, sign)


@helper
def divided_long_words(left: uint64, right: uint64, sign: uint64) -> uint64:
    """The quotient of words of 64 bits; 0 for a divisor of 0."""
    divisor = max(magnitude(right, sign), uint64(1))
    return with_sign(magnitude(left, sign) // divisor, left, right, sign)


@helper
def greatest_word(like: In[T]) -> uint64:
    """The greatest word of an array's type: unlike the size of an item, a constant on every target."""
    return uint64(like.dtype.type(~uint64(0)))


@helper
def divided(left: uint64, right: uint64, sign: uint64, most: uint64) -> uint64:
    """The quotient of words up to `most`; 0 for a divisor of 0."""
    if most <= uint64(0xFFFF):
        return divided_short_words(left, right, sign)
    if most <= uint64(0xFFFFFFFF):
        return divided_words(left, right, sign)
    return divided_long_words(left, right, sign)


@kernel()
def divide_words(
    start, stop, step, left: In[T], right: In[T], sign: uint32, validity: Bitmap, out: Out[T]
) -> uint64:
    """out[i] = left[i] / right[i], cut towards 0; returns the first valid slot whose divisor is 0.

    `sign` is the sign bit (of words of 64 bits, that of their upper half), 0 for unsigned words.
    """
    most = greatest_word(out)
    bit = uint64(sign) << uint64(32) if most == ~uint64(0) else uint64(sign)
    zeros = uint64(0)
    if len(left) == 1:
        number = uint64(left[0])
        for i in range(start, stop, step):
            out[i] = divided(number, uint64(right[i]), bit, most)
            zeros |= uint64(right[i] == 0)
    else:
        for i in range(start, stop, step):
            out[i] = divided(uint64(left[i]), uint64(right[i]), bit, most)
            zeros |= uint64(right[i] == 0)
    return first_zero(zeros, start, stop, step, right, validity)


@kernel(streams=True)
def divide_words_by(
    start, stop, step, values: In[T], multiplier, shift, sign, divisor_sign, out: Out[T]
):
    """out[i] = values[i] / d, cut towards 0, by multiplication.

    With `2**(shift - 1) < |d| <= 2**shift`, `2**n + multiplier` is `2**(n + shift) / |d|`, rounded up; `n`
    is 64 for words of 64 bits, else 32. `sign` is the sign bit, or 0 for unsigned words; `divisor_sign` is
    the same if d is negative, else 0.
    """
    if greatest_word(out) == ~uint64(0):
        once = min(shift, uint64(1))
        rest = shift - once
        for i in range(start, stop, step):
            whole = magnitude(uint64(values[i]), sign)
            part = high_product(whole, multiplier)
            # The sum of both would need 65 bits.
            quotient = (((whole - part) >> once) + part) >> rest
            out[i] = with_sign(quotient, uint64(values[i]), divisor_sign, sign)
    else:
        for i in range(start, stop, step):
            whole = magnitude(uint64(values[i]), sign)
            quotient = (whole + ((whole * multiplier) >> uint64(32))) >> shift
            out[i] = with_sign(quotient, uint64(values[i]), divisor_sign, sign)
