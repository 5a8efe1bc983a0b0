"""`int(s)` and `float(s)` of text, with Python's grammar.

Text that is not ASCII is left to Python where it is not understood: there are other digits and other white
space. So are integers of too many digits, and most floats whose exponent is far from 0.
"""

from __future__ import annotations

import math

from numpy import float64, int64, uint64

from colkern.kernels.arguments import Truth
from colkern.kernels.float_digits import float_power_of_ten, power_of_five
from colkern.kernels.kernel import helper
from colkern.kernels.primitives import (
    bits_of_float,
    float_of_bits,
    get_byte,
    high_product,
    shifted_right,
    wrapped,
)
from colkern.kernels.row_values import DONE, LEFT, VALUE_ERROR, Code, Text

_EXACT = 1 << 53
_MOST_DIVISOR = 26
"""5**26 has 61 bits."""


@helper
def refused(text: Text) -> Code:
    """The code for a text that is no number by ASCII's rules; other characters may be digits too."""
    k = text.address
    while not text.ascii and k < text.address + text.size:
        if get_byte(k) > 127:
            return LEFT
        k = k + 1
    return VALUE_ERROR


@helper
def without_space(text: Text) -> tuple[int64, int64]:
    """The addresses of a text's first byte that is no white space of ASCII, and behind the last one."""
    start = text.address
    end = start + text.size
    while start < end:
        byte = get_byte(start)
        if byte > 32 or byte < 9 or 13 < byte < 32:
            break
        start = start + 1
    while start < end:
        byte = get_byte(end - 1)
        if byte > 32 or byte < 9 or 13 < byte < 32:
            break
        end = end - 1
    return start, end


@helper
def behind_sign(place: int64, end: int64) -> tuple[int64, Truth]:
    """Where a number begins, behind its sign if it has one; and whether that is a minus."""
    byte = get_byte(place) if place < end else int64(0)
    return place + int64(byte == 45 or byte == 43), byte == 45


@helper
def parse_integer(text: Text) -> tuple[int64, Code]:
    """`int(text)`."""
    k, end = without_space(text)
    k, negative = behind_sign(k, end)
    value = int64(0)
    # Underscores stand between digits.
    separated = True
    while k < end:
        digit = get_byte(k) - 48
        k = k + 1
        if 0 <= digit <= 9:
            if value > 922337203685477579:
                return int64(0), LEFT
            value = value * 10 + digit
            separated = False
        elif digit == 47 and not separated:
            separated = True
        else:
            return int64(0), refused(text)
    if separated:
        return int64(0), refused(text)
    return (-value if negative else value), DONE


@helper
def parse_integer_of_base(text: Text, base: int64) -> tuple[int64, Code]:
    """`int(text, base)`; a base of 0 is left to Python."""
    if base < 2 or base > 36:
        return int64(0), (LEFT if base == 0 else VALUE_ERROR)
    k, end = without_space(text)
    k, negative = behind_sign(k, end)
    separated = True
    if k + 1 < end and get_byte(k) == 48:
        letter = get_byte(k + 1) | 32
        if (
            (base == 16 and letter == 120)
            or (base == 2 and letter == 98)
            or (base == 8 and letter == 111)
        ):
            # An underscore may follow the prefix.
            k = k + 2
            if k < end and get_byte(k) == 95:
                k = k + 1
    value = int64(0)
    most = int64(9223372036854775807) // base - 1
    while k < end:
        byte = get_byte(k)
        k = k + 1
        digit = byte - 48
        if byte > 57:
            letter = byte | 32
            digit = letter - 87 if 97 <= letter <= 122 else int64(99)
        if 0 <= digit < base:
            if value > most:
                return int64(0), LEFT
            value = value * base + digit
            separated = False
        elif byte == 95 and not separated:
            separated = True
        else:
            return int64(0), refused(text)
    if separated:
        return int64(0), refused(text)
    return (-value if negative else value), DONE


@helper
def exponent_of_integer(value: int64) -> int64:
    """The place of the highest bit that is set in a positive integer, or the place above it."""
    return (bits_of_float(float64(value)) >> 52) - 1023


@helper
def times_power_of_two(value: float64, exponent: int64) -> float64:
    """A float times two to an exponent, both far from where floats end."""
    return value * float_of_bits((exponent + 1023) << 52)


@helper
def quotient_digit(rest: int64, divisor: int64) -> tuple[int64, int64]:
    """`divmod(rest << 31, divisor)` of a divisor of 62 bits, and a smaller rest."""
    upper = divisor >> 31
    lower = divisor & 0x7FFFFFFF
    digit = rest // upper
    left = rest - digit * upper
    while digit >> 31 != 0 or digit * lower > left << 31:
        digit = digit - 1
        left = left + upper
        if left >> 31 != 0:
            break
    return digit, wrapped(wrapped(left << 31) - digit * lower)


@helper
def decimal_quotient(value: int64, places: int64) -> float64:
    """The float nearest to a number below 2**60 over ten to `places`, from 1 to 26."""
    divisor = power_of_five(places)
    shift = 60 - exponent_of_integer(value)
    more = 61 - exponent_of_integer(divisor)
    divisor = divisor << more
    first, rest = quotient_digit(value << shift, divisor)
    second, rest = quotient_digit(rest, divisor)
    # The lowest of 60 bits or more stands for all below it.
    quotient = (first << 31) | second | int64(rest != 0)
    return times_power_of_two(float64(quotient), more - shift - 62 - places)


@helper
def decimal_product(value: int64, places: int64) -> float64:
    """The float nearest to a number below 2**60 times ten to `places`, from 0 to 27."""
    five = power_of_five(places)
    low = wrapped(value * five)
    high = int64(high_product(uint64(value), uint64(five)))
    if high == 0 and low >= 0:
        return times_power_of_two(float64(low), places)
    if high == 0:
        half = shifted_right(low, int64(1)) | (low & 1)
        return times_power_of_two(float64(half), places + 1)
    shift = 62 - exponent_of_integer(high)
    top = (high << shift) | shifted_right(low, 64 - shift)
    top = top | int64(wrapped(low << shift) != 0)
    return times_power_of_two(float64(top), places + 64 - shift)


@helper
def decimal_float(value: int64, exponent: int64) -> tuple[float64, Code]:
    """The float nearest to `value * 10**exponent`, of a value from 0 up to below 2**60."""
    if value == 0:
        return float64(0.0), DONE
    if value <= _EXACT and -22 <= exponent <= 22:
        if exponent < 0:
            return float64(value) / float_power_of_ten(-exponent), DONE
        return float64(value) * float_power_of_ten(exponent), DONE
    if -_MOST_DIVISOR <= exponent < 0:
        return decimal_quotient(value, -exponent), DONE
    if 0 <= exponent <= 27:
        return decimal_product(value, exponent), DONE
    if exponent > 308:
        return float64(math.inf), DONE
    return float64(0.0), (DONE if exponent < -342 else LEFT)


@helper
def parse_float_word(text: Text, k: int64, end: int64) -> tuple[float64, Code]:
    """An infinity or NaN, without its sign."""
    word = int64(0)
    if end - k <= 8:
        while k < end:
            word = word << 8 | get_byte(k) | 32
            k = k + 1
    if word == 0x6E616E:
        return float64(math.nan), DONE
    if word == 0x696E66 or word == 0x696E66696E697479:
        return float64(math.inf), DONE
    return float64(0.0), refused(text)


@helper
def is_digit(place: int64) -> Truth:
    """Whether a byte is a digit of ASCII."""
    return 48 <= get_byte(place) <= 57


@helper
def parse_float(text: Text) -> tuple[float64, Code]:
    """`float(text)`."""
    k, end = without_space(text)
    k, negative = behind_sign(k, end)
    value = int64(0)
    exponent = int64(0)
    seen = False
    more = False
    point = int64(0)
    byte = int64(0)
    while k < end:
        byte = get_byte(k)
        if 48 <= byte <= 57:
            if value <= 115292150460684694:
                value = value * 10 + (byte - 48)
                exponent = exponent - point
            else:
                more |= byte != 48
                exponent = exponent + 1 - point
            seen = True
        elif byte == 46 and point == 0:
            point = int64(1)
        elif byte != 95 or not seen or not is_digit(k - 1) or k + 1 == end or not is_digit(k + 1):
            break
        k = k + 1
    if not seen:
        result, code = parse_float_word(text, k, end)
        return (-result if negative else result), code
    if k < end:
        power, code = parse_integer(Text(k + 1, end - k - 1, text.ascii))
        first = get_byte(k + 1) if k + 1 < end else int64(0)
        if byte | 32 != 101 or code > LEFT or first <= 32:
            return float64(0.0), refused(text)
        if code != DONE or power > 1000000 or power < -1000000:
            return float64(0.0), LEFT
        exponent = exponent + power
    result, code = decimal_float(value, exponent)
    # With other digits, the number is between this one and the next.
    if more and decimal_float(value + 1, exponent)[0] != result:
        code = LEFT
    return (-result if negative else result), code
