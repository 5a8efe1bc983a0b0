"""Decimal digits of floats, by exact arithmetic on integers of 128 bits.

A float is `fraction * 2**exponent`. Times a power of ten of up to 27 digits, `fraction * 5**places` has
less than 128 bits, so that nothing is rounded before the end. Floats that are too small or large for that
are left to Python.
"""

from __future__ import annotations

import math

from numpy import float64, int64, uint64

from colkern.kernels.arguments import Truth
from colkern.kernels.kernel import helper
from colkern.kernels.primitives import bits_of_float, high_product, shifted_right, wrapped
from colkern.kernels.row_values import DONE, LEAST, LEFT, Code

_WITHOUT_SIGN = (1 << 63) - 1
_HIDDEN = 1 << 52
_LARGEST = 1.7976931348623157e308
MOST_PLACES = 27
"""5**27 is the largest power of five that is an int64."""


@helper
def power_of_five(exponent: int64) -> int64:
    """5 to the power of an exponent from 0 to 27."""
    power = int64(5) if exponent & 1 else int64(1)
    if exponent & 2:
        power = power * 25
    if exponent & 4:
        power = power * 625
    if exponent & 8:
        power = power * 390625
    if exponent & 16:
        power = power * 152587890625
    return power


@helper
def power_of_ten(exponent: int64) -> int64:
    """10 to the power of an exponent from 0 to 18."""
    return power_of_five(exponent) << exponent


@helper
def float_power_of_ten(exponent: int64) -> float64:
    """10.0 to the power of an exponent from 0 to 22: those are exact."""
    power = float64(10.0) if exponent & 1 else float64(1.0)
    if exponent & 2:
        power = power * 100.0
    if exponent & 4:
        power = power * 1e4
    if exponent & 8:
        power = power * 1e8
    if exponent & 16:
        power = power * 1e16
    return power


@helper
def fraction_and_exponent(value: float64) -> tuple[int64, int64]:
    """The integers that a finite float's absolute value is: the first times two to the second."""
    bits = bits_of_float(value) & _WITHOUT_SIGN
    exponent = bits >> 52
    fraction = bits & (_HIDDEN - 1)
    if exponent == 0:
        return fraction, int64(-1074)
    return fraction | _HIDDEN, exponent - 1075


@helper
def nearest_quotient(number: int64, divisor: int64) -> int64:
    """A positive quotient as the nearest integer; of two, the even one."""
    quotient = number // divisor
    rest = number - quotient * divisor
    beyond = divisor - rest
    if rest > beyond or (rest == beyond and quotient & 1 != 0):
        quotient = quotient + 1
    return quotient


@helper
def units_of_tens(value: float64, tens: int64) -> tuple[int64, Code]:
    """The integer nearest to the absolute value of a float over ten to `tens`, which is positive."""
    if tens > MOST_PLACES:
        return int64(0), LEFT
    fraction, exponent = fraction_and_exponent(value)
    divisor = power_of_five(tens)
    exponent = exponent - tens
    if exponent >= 0:
        if exponent > 10:
            return int64(0), LEFT
        return nearest_quotient(fraction << exponent, divisor), DONE
    if exponent < -62 or divisor > (1 << 62) >> -exponent:
        # The divisor is more than 2**62, and the fraction less than 2**53.
        return int64(0), DONE
    return nearest_quotient(fraction, divisor << -exponent), DONE


@helper
def units(value: float64, places: int64) -> tuple[int64, Code]:
    """The integer nearest to the absolute value of a finite float times ten to `places`.

    Exact: of two that are as near, the even one. Where `places` is not from 0 to 27, or the result has more
    than 63 bits, it is left to Python.
    """
    fraction, exponent = fraction_and_exponent(value)
    if places > MOST_PLACES or places < 0:
        return int64(0), LEFT
    five = power_of_five(places)
    low = wrapped(fraction * five)
    high = int64(high_product(uint64(fraction), uint64(five)))
    shift = -(exponent + places)
    if shift < 1:
        if shift < -62 or high != 0 or shifted_right(low, 63 + shift) != 0:
            return int64(0), (LEFT if fraction != 0 else DONE)
        return low << -shift, DONE
    if shift > 117:
        return int64(0), DONE
    sticky = False
    if shift > 63:
        sticky = wrapped(low << 1) != 0
        low = wrapped(high << 1) | shifted_right(low, int64(63))
        high = int64(0)
        shift = shift - 63
    if high >> (shift - 1) != 0:
        return int64(0), LEFT
    whole = wrapped(high << (64 - shift)) | shifted_right(low, shift)
    rest = wrapped(low << (64 - shift))
    if whole == _WITHOUT_SIGN:
        return int64(0), LEFT
    if rest < 0 and (rest != LEAST or sticky or whole & 1 != 0):
        whole = whole + 1
    return whole, DONE


@helper
def units_at(value: float64, places: int64) -> tuple[int64, Code]:
    """`units`, also of negative places."""
    return units(value, places) if places >= 0 else units_of_tens(value, -places)


@helper
def round_float(value: float64, digits: int64) -> tuple[float, Code]:
    """`round(value, digits)`: the float nearest to the decimal nearest to the value."""
    if not abs(value) <= _LARGEST or value == 0.0:
        return value, DONE
    if digits >= 0 and abs(value) >= _HIDDEN:
        return value, DONE
    if digits > 22 or digits < -22:
        return float64(0.0), LEFT
    whole, code = units_at(value, digits)
    if code != DONE or whole > 2 * _HIDDEN:
        return float64(0.0), LEFT
    if digits < 0:
        result = float64(whole) * float_power_of_ten(-digits)
    else:
        result = float64(whole) / float_power_of_ten(digits)
    return math.copysign(result, value), DONE


@helper
def least_magnitude(value: float64) -> int64:
    """The place of the first digit of a normal float (0 of ones, -1 of tenths), or the place below it."""
    exponent = ((bits_of_float(value) & _WITHOUT_SIGN) >> 52) - 1023
    # 315653 / 2**20 is the logarithm of 2 to the base 10, closely enough for these exponents.
    return (exponent * 315653) >> 20


@helper
def significant(value: float64, count: int64) -> tuple[int64, int64, Code]:
    """`(digits, place, code)`: a float rounded to `count` digits, and the place of the first.

    Args:
        value: Finite.
        count: From 1 to 17.
    """
    if value == 0.0:
        return int64(0), int64(0), DONE
    place = least_magnitude(value) - 1
    limit = power_of_ten(count)
    digits, code = limit, DONE
    while code == DONE and digits >= limit:
        place = place + 1
        digits, code = units_at(value, count - 1 - place)
    # What rounds down to too few digits was rounded up to the limit before.
    if digits * 10 < limit:
        digits = limit // 10
    return digits, place, code


@helper
def decimal_between(
    first: int64, last: int64, whole: int64, up: Truth, inexact: Truth
) -> tuple[int64, int64]:
    """`(digits, zeros)`: of the integers from `first` to `last`, the one that ends in most zeros.

    Of several, the one next to a number: `whole` and a rest, which is 0 if not `inexact`, and which `up`
    says whether to round up.
    """
    zeros = int64(0)
    low, high = first, last
    upper = high // 100000000
    if upper * 100000000 >= low:
        low = (low + 99999999) // 100000000
        high = upper
        zeros = zeros + 8
    upper = high // 10000
    if upper * 10000 >= low:
        low = (low + 9999) // 10000
        high = upper
        zeros = zeros + 4
    upper = high // 10
    while upper * 10 >= low:
        low = (low + 9) // 10
        high = upper
        zeros = zeros + 1
        upper = high // 10
    if low == high:
        return low, zeros
    digits = whole
    if zeros == 0:
        digits = whole + int64(up)
    else:
        unit = power_of_ten(zeros)
        digits = whole // unit
        twice = (whole - digits * unit) << 1
        if twice > unit or (twice == unit and (inexact or digits & 1 != 0)):
            digits = digits + 1
    if digits < low:
        digits = low
    return (digits if digits < high else high), zeros


@helper
def shortest(value: float64) -> tuple[int64, int64, Code]:
    """`(digits, exponent, code)`: the shortest decimal that is read as this float, the nearest of those.

    It is `digits * 10**exponent`. Floats below 2**-36 and from 2**53 on are left to Python.
    """
    if not 1.4551915228366852e-11 <= abs(value) < 9007199254740992.0:
        return int64(0), int64(0), (DONE if value == 0.0 else LEFT)
    fraction, exponent = fraction_and_exponent(value)
    # Times ten to `places`, the float has 17 or 18 digits before the point, and some integer is nearer to
    # it than to any other float. In quarters of its last bit, the halves towards those are integers.
    places = 16 - least_magnitude(value)
    five = power_of_five(places)
    low = wrapped((fraction << 2) * five)
    high = int64(high_product(uint64(fraction << 2), uint64(five)))
    shift = 2 - exponent - places
    mask = shifted_right(int64(-1), 64 - shift)
    whole = wrapped(high << (64 - shift)) | shifted_right(low, shift)
    rest = low & mask
    above = wrapped(five << 1)
    below = five if fraction == _HIDDEN else above
    inclusive = fraction & 1 == 0
    # Sums of two rests are less than 2**64.
    beyond = wrapped(rest + (above & mask))
    last = whole + shifted_right(above, shift) + shifted_right(beyond, shift)
    if beyond & mask == 0 and not inclusive:
        last = last - 1
    short = rest - (below & mask)
    first = whole - shifted_right(below, shift)
    if short > 0 or (short == 0 and not inclusive):
        first = first + 1
    half = 1 << (shift - 1)
    up = rest > half or (rest == half and whole & 1 != 0)
    digits, zeros = decimal_between(first, last, whole, up, rest != 0)
    return digits, zeros - places, DONE
