"""Decimals of row functions: a number of at most 18 digits, and the exponent of ten that it is times.

They have the digits that Python's have: `1.10` is 110 times 10**-2. What Python rounds to 28 digits has
more than 18, and is left to Python; so is what is negative and zero, as `-0.0` is another text than `0.0`.
"""

from __future__ import annotations

from numpy import float64, int64

from colkern.kernels.kernel import helper
from colkern.kernels.primitives import get_byte, product_overflows, set_byte
from colkern.kernels.row_values import (
    DONE,
    INVALID_OPERATION,
    LEFT,
    NO_ROOM,
    Arena,
    Code,
    Decimal,
    Text,
    allocate,
)
from colkern.kernels.text_parts import TEXT_SPACES, strip

END = 10**18
"""No number is as large."""

FARTHEST = 1000
"""The exponent of no number is farther from 0; Python's may be."""

EVEN, UP, DOWN, AWAY, TRUNCATE, FLOOR, CEILING = range(7)
"""Ways of rounding: halves to the even number, away from 0, towards 0; all away from 0, towards 0, down
or up."""


@helper
def power_of_ten(exponent: int64) -> int64:
    """Ten to a power of up to 18."""
    power = int64(1)
    for _ in range(exponent):
        power *= 10
    return power


@helper
def decimal(coefficient: int64, exponent: int64) -> tuple[Decimal, Code]:
    """A decimal, if it has few enough digits."""
    if not -END < coefficient < END or not -FARTHEST <= exponent <= FARTHEST:
        return Decimal(int64(0), int64(0)), LEFT
    return Decimal(coefficient, exponent), DONE


@helper
def shifted(coefficient: int64, places: int64) -> tuple[int64, Code]:
    """A number times ten to the power of some places, if it has few enough digits then."""
    if places == 0:
        return coefficient, DONE
    if coefficient == 0:
        return coefficient, DONE
    if places > 18:
        return int64(0), LEFT
    power = power_of_ten(places)
    if product_overflows(coefficient, power):
        return int64(0), LEFT
    number = coefficient * power
    return number, DONE if -END < number < END else LEFT


@helper
def aligned(left: Decimal, right: Decimal) -> tuple[int64, int64, int64, Code]:
    """The numbers of two decimals with one exponent, which is the lesser."""
    exponent = min(left.exponent, right.exponent)
    a, left_code = shifted(left.coefficient, left.exponent - exponent)
    b, right_code = shifted(right.coefficient, right.exponent - exponent)
    return a, b, exponent, max(left_code, right_code)


@helper
def of_integer(number: int64) -> tuple[Decimal, Code]:
    """`Decimal(int)`."""
    return decimal(number, int64(0))


@helper
def is_no_number(text: Text) -> bool:
    """Whether a text is sure to be no decimal: of a character that none has, or without digit and `n`."""
    is_one = False
    for place in range(text.address, text.address + text.size):
        byte = int64(get_byte(int64(place)))
        letter = byte | 0x20
        if byte >= 0x80 or 0x30 <= byte <= 0x39 or letter == 0x6E:
            is_one = True
        elif not (
            # Spaces, signs, a point, an underscore; the letters of exponents, NaN and infinity.
            byte <= 0x20
            or byte == 0x2B
            or 0x2D <= byte <= 0x2E
            or byte == 0x5F
            or letter == 0x61
            or 0x65 <= letter <= 0x66
            or letter == 0x69
            or 0x73 <= letter <= 0x74
            or letter == 0x79
        ):
            return True
    return not is_one


@helper
def of_text(text: Text) -> tuple[Decimal, Code]:
    """`Decimal(str)`, of digits with a sign and a point; other text that may be one is left to Python."""
    text = strip(text, int64(TEXT_SPACES))
    place, end = text.address, text.address + text.size
    negative = False
    if text.size > 0 and (get_byte(place) == 0x2D or get_byte(place) == 0x2B):
        negative = get_byte(place) == 0x2D
        place += 1
    number, count, exponent = int64(0), int64(0), int64(0)
    behind = False
    while place < end:
        byte = int64(get_byte(place))
        if byte == 0x2E and not behind:
            behind = True
        elif 0x30 <= byte <= 0x39 and 0 <= number < END:
            number = number * 10 + (byte - 0x30)
            count += 1
            exponent -= int64(behind)
        else:
            count = int64(0)
            break
        place += 1
    if count == 0 or (negative and number == 0):
        return Decimal(int64(0), int64(0)), INVALID_OPERATION if is_no_number(text) else LEFT
    return decimal(-number if negative else number, exponent)


# Arithmetic


@helper
def add(left: Decimal, right: Decimal) -> tuple[Decimal, Code]:
    """`left + right`."""
    a, b, exponent, code = aligned(left, right)
    total, total_code = decimal(a + b, exponent)
    return total, max(code, total_code)


@helper
def multiply(left: Decimal, right: Decimal) -> tuple[Decimal, Code]:
    """`left * right`."""
    a, b = left.coefficient, right.coefficient
    if product_overflows(a, b) or (a * b == 0 and (a < 0 or b < 0)):
        return Decimal(int64(0), int64(0)), LEFT
    return decimal(a * b, left.exponent + right.exponent)


@helper
def divide(left: Decimal, right: Decimal) -> tuple[Decimal, Code]:
    """`left / right`, where it has few digits."""
    a, b = left.coefficient, right.coefficient
    if b == 0 or (a == 0 and b < 0):
        return Decimal(int64(0), int64(0)), LEFT
    exponent = left.exponent - right.exponent
    while a - a // b * b != 0:
        a, code = shifted(a, int64(1))
        if code != DONE:
            return Decimal(int64(0), int64(0)), LEFT
        exponent -= 1
    return decimal(a // b, exponent)


@helper
def divided(left: Decimal, right: Decimal) -> tuple[Decimal, Decimal, Code]:
    """`divmod`: the quotient is rounded towards 0, and the rest has the sign of `left`."""
    a, b, exponent, code = aligned(left, right)
    if b == 0 or code != DONE:
        return Decimal(int64(0), int64(0)), Decimal(int64(0), int64(0)), LEFT
    size = abs(a) // abs(b)
    rest = abs(a) - size * abs(b)
    quotient = Decimal(-size if (a < 0) != (b < 0) else size, int64(0))
    return quotient, Decimal(-rest if a < 0 else rest, exponent), DONE


@helper
def floor_divide(left: Decimal, right: Decimal) -> tuple[Decimal, Code]:
    """`left // right`."""
    quotient, _, code = divided(left, right)
    signs = (left.coefficient < 0) != (right.coefficient < 0)
    return quotient, LEFT if quotient.coefficient == 0 and signs else code


@helper
def modulo(left: Decimal, right: Decimal) -> tuple[Decimal, Code]:
    """`left % right`."""
    _, rest, code = divided(left, right)
    return rest, LEFT if rest.coefficient == 0 and left.coefficient < 0 else code


@helper
def negate(value: Decimal) -> Decimal:
    """`-value`."""
    return Decimal(-value.coefficient, value.exponent)


@helper
def absolute(value: Decimal) -> Decimal:
    """`abs(value)`."""
    return Decimal(abs(value.coefficient), value.exponent)


@helper
def same(value: Decimal) -> Decimal:
    """`+value`."""
    return value


@helper
def difference(left: Decimal, right: Decimal) -> tuple[int64, Code]:
    """A number that is to 0 as the left decimal is to the right one."""
    a, b, _, code = aligned(left, right)
    return a - b, code


# Rounding


@helper
def rounded(value: Decimal, exponent: int64, way: int64) -> tuple[Decimal, Code]:
    """A decimal with another exponent, rounded in a way of those above."""
    places = exponent - value.exponent
    if places <= 0:
        number, code = shifted(value.coefficient, -places)
        return Decimal(number, exponent), code
    size = abs(value.coefficient)
    negative = value.coefficient < 0
    unit = power_of_ten(min(places, int64(18)))
    number = size // unit
    rest = size - number * unit
    if way <= DOWN:
        # No number has a half of more than 18 digits.
        half = unit // 2 if places <= 18 else int64(END)
        is_up = way == UP or (way == EVEN and number & int64(1) == 1)
        number += int64(rest > half or (rest == half and is_up))
    elif rest != 0:
        is_away = way == AWAY or (way == FLOOR and negative) or (way == CEILING and not negative)
        number += int64(is_away)
    if negative and number == 0:
        return Decimal(int64(0), int64(0)), LEFT
    return decimal(-number if negative else number, exponent)


@helper
def leave_rounded(value: Decimal, to: Decimal) -> tuple[Decimal, Code]:
    """`quantize` in another way: left to Python."""
    return value, LEFT


@helper
def round_to_places(value: Decimal, places: int64) -> tuple[Decimal, Code]:
    """`round(value, places)`."""
    if not -FARTHEST <= places <= FARTHEST:
        return value, LEFT
    return rounded(value, -places, int64(EVEN))


@helper
def integer_of(value: Decimal, way: int64) -> tuple[int64, Code]:
    """The integer that a decimal is rounded to."""
    if value.exponent < 0 and value.coefficient < 0:
        # An integer has no -0.
        way = int64(CEILING if way == FLOOR else FLOOR if way == CEILING else way)
        number, code = rounded(absolute(value), int64(0), way)
        return -number.coefficient, code
    number, code = rounded(value, int64(0), way)
    return number.coefficient, code


@helper
def to_float(value: Decimal) -> tuple[float64, Code]:
    """`float(value)`: of two numbers that are floats, the quotient or product is the nearest float."""
    number, exponent = value.coefficient, value.exponent
    if not (-(1 << 53) <= number <= 1 << 53 and -18 <= exponent <= 18):
        return float64(0.0), LEFT
    power = float64(power_of_ten(abs(exponent)))
    return float64(number) / power if exponent < 0 else float64(number) * power, DONE


@helper
def normalize(value: Decimal) -> tuple[Decimal, Code]:
    """`Decimal.normalize`: without zeros at the end."""
    number, exponent = value.coefficient, value.exponent
    if number == 0:
        return Decimal(int64(0), int64(0)), DONE
    while number // 10 * 10 == number:
        number //= 10
        exponent += 1
    return Decimal(number, exponent), DONE


# Text


@helper
def to_text(arena: Arena, value: Decimal, grouped: bool, signed: bool) -> tuple[Text, Code]:
    """The digits of a decimal, with commas between thousands, and a plus."""
    number, exponent = abs(value.coefficient), value.exponent
    if exponent > 0 or exponent < -24:
        return Text(int64(0), int64(0), True), LEFT
    start = allocate(arena, int64(56))
    if start == 0:
        return Text(int64(0), int64(0), True), NO_ROOM
    end = start + 56
    place = end
    behind = -exponent
    written = int64(0)
    while written <= behind or number != 0:
        if written == behind and behind > 0:
            place -= 1
            set_byte(place, int64(0x2E))
        whole = written - behind
        if grouped and whole > 0 and whole - whole // 3 * 3 == 0:
            place -= 1
            set_byte(place, int64(0x2C))
        rest = number // 10
        place -= 1
        set_byte(place, number - rest * 10 + 0x30)
        number = rest
        written += 1
    if value.coefficient < 0 or signed:
        place -= 1
        set_byte(place, int64(0x2D if value.coefficient < 0 else 0x2B))
    return Text(place, end - place, True), DONE


@helper
def str_decimal(arena: Arena, value: Decimal) -> tuple[Text, Code]:
    """`str`; what is below 10**-6 has an E."""
    # Of 0, the digit counts.
    size = max(abs(value.coefficient), int64(1))
    if value.exponent < -6 and size < power_of_ten(min(-6 - value.exponent, int64(18))):
        return Text(int64(0), int64(0), True), LEFT
    return to_text(arena, value, False, False)


# Results


@helper
def is_of_scale(value: Decimal, scale: int64) -> bool:
    """Whether a decimal is a number of that scale."""
    number, code = rounded(absolute(value), -scale, int64(TRUNCATE))
    more, _ = difference(number, absolute(value))
    return code == DONE and more == 0


@helper
def of_scale(value: Decimal, scale: int64) -> int64:
    """The number of a decimal with that scale; see `is_of_scale`."""
    number, _ = rounded(absolute(value), -scale, int64(TRUNCATE))
    return -number.coefficient if value.coefficient < 0 else number.coefficient
