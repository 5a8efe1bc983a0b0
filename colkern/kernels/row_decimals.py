"""Decimals of row functions: a number of at most 18 digits, and the exponent of ten that it is times.

They have the digits that Python's have: `1.10` is 110 times 10**-2. What has more than 18 is left to
Python; so is what is negative and zero, as `-0.0` is another text than `0.0`. A quotient of more digits is
cut: what is rounded, compared or made a float is known all the same, and the rest is left to Python.
"""

from __future__ import annotations

from numpy import float64, int64, uint64

from colkern.kernels.float_digits import power_of_ten
from colkern.kernels.kernel import helper
from colkern.kernels.number_parsing import behind_sign, decimal_float
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

CUT = 1 << 32
"""Added to the exponent of a quotient that is cut: it is farther from 0 than its number, by less than 1."""

HIDDEN_DIGITS = 10
"""So many digits of a quotient Python has behind the 18 here, and rounds the last of them."""

EVEN, UP, DOWN, AWAY, TRUNCATE, FLOOR, CEILING = range(7)
"""Ways of rounding: halves to the even number, away from 0, towards 0; all away from 0, towards 0, down
or up."""


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
    text = strip(text, int64(TEXT_SPACES), int64(1), int64(1))
    end = text.address + text.size
    place, negative = behind_sign(text.address, end)
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
def is_cut(value: Decimal) -> bool:
    """Whether a decimal is a quotient of more than 18 digits."""
    return bool(value.exponent > CUT >> 1)


@helper
def multiply(left: Decimal, right: Decimal) -> tuple[Decimal, Code]:
    """`left * right`; a quotient that is cut may be multiplied by a power of ten."""
    a, b = left.coefficient, right.coefficient
    exponent = left.exponent + right.exponent
    if is_cut(left) and not is_cut(right) and b > 0:
        while b // 10 * 10 == b:
            b //= 10
            exponent += 1
        return Decimal(a, exponent), DONE if b == 1 and abs(exponent - CUT) <= FARTHEST else LEFT
    if product_overflows(a, b) or (a * b == 0 and (a < 0 or b < 0)):
        return Decimal(int64(0), int64(0)), LEFT
    return decimal(a * b, exponent)


@helper
def next_digit(rest: int64, divisor: int64) -> tuple[int64, int64]:
    """The digit of a quotient that a rest gives, and the next rest."""
    # Ten times a number of 18 digits has no sign's bit left.
    more = uint64(rest) * uint64(10)
    digit = more // uint64(divisor)
    return int64(digit), int64(more - digit * uint64(divisor))


@helper
def divide(left: Decimal, right: Decimal) -> tuple[Decimal, Code]:
    """`left / right`."""
    a, b = left.coefficient, right.coefficient
    if b == 0 or (a == 0 and b < 0) or is_cut(left) or is_cut(right):
        return Decimal(int64(0), int64(0)), LEFT
    exponent = left.exponent - right.exponent
    size = abs(b)
    number = abs(a) // size
    rest = abs(a) - number * size
    while rest != 0 and number < END // 10:
        digit, rest = next_digit(rest, size)
        number = number * 10 + digit
        exponent -= 1
    code = DONE if -FARTHEST <= exponent <= FARTHEST else LEFT
    if rest != 0:
        exponent += CUT
        # Where all that Python rounds away is next to a last digit, it may be that of another number.
        digit, rest = next_digit(rest, size)
        first, count = digit, int64(1)
        while digit == first and count < HIDDEN_DIGITS:
            digit, rest = next_digit(rest, size)
            count += 1
        if digit == first and (first == 0 or first == 9):
            code = LEFT
    return Decimal(-number if (a < 0) != (b < 0) else number, exponent), code


@helper
def divided(left: Decimal, right: Decimal) -> tuple[Decimal, Decimal, Code]:
    """`divmod`: the quotient is rounded towards 0, and the rest has the sign of `left`."""
    a, b, exponent, code = aligned(left, right)
    if b == 0 or code != DONE or is_cut(left) or is_cut(right):
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
    """`+value`: in the usual context, which a program with a body of this module asks for."""
    return value


@helper
def difference(left: Decimal, right: Decimal) -> tuple[int64, Code]:
    """A number that is to 0 as the left decimal is to the right one."""
    beyond = sign_beyond(left) - sign_beyond(right)
    own, other = kept_of(left), kept_of(right)
    exponent = min(own.exponent, other.exponent)
    a, left_code = shifted(own.coefficient, own.exponent - exponent)
    b, right_code = shifted(other.coefficient, other.exponent - exponent)
    # What has too many digits is farther from 0 than what has not.
    if left_code != DONE:
        a, b = own.coefficient, int64(0)
    elif right_code != DONE:
        a, b = int64(0), other.coefficient
    elif beyond != 0 and exponent < (own if is_cut(left) else other).exponent:
        return int64(0), LEFT
    return beyond if a == b else a - b, LEFT if is_cut(left) and is_cut(right) else DONE


@helper
def kept_of(value: Decimal) -> Decimal:
    """A decimal without what was cut."""
    return Decimal(value.coefficient, value.exponent - CUT) if is_cut(value) else value


@helper
def sign_beyond(value: Decimal) -> int64:
    """The sign of what was cut; 0 if nothing was."""
    if not is_cut(value):
        return int64(0)
    return int64(-1 if value.coefficient < 0 else 1)


# Rounding


@helper
def rounded(value: Decimal, exponent: int64, way: int64) -> tuple[Decimal, Code]:
    """A decimal with another exponent, rounded in a way of those above."""
    places = exponent - kept_of(value).exponent
    if places <= 0:
        number, code = shifted(value.coefficient, -places)
        return Decimal(number, exponent), LEFT if is_cut(value) else code
    size = abs(value.coefficient)
    negative = value.coefficient < 0
    unit = power_of_ten(min(places, int64(18)))
    number = size // unit
    rest = size - number * unit
    if way <= DOWN:
        # No number has a half of more than 18 digits.
        half = unit // 2 if places <= 18 else int64(END)
        is_up = way == UP or (way == EVEN and number & int64(1) == 1)
        is_up = is_up or is_cut(value)
        number += int64(rest > half or (rest == half and is_up))
    elif rest != 0 or is_cut(value):
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
    if kept_of(value).exponent < 0 and value.coefficient < 0:
        # An integer has no -0.
        way = int64(CEILING if way == FLOOR else FLOOR if way == CEILING else way)
        number, code = rounded(absolute(value), int64(0), way)
        return -number.coefficient, code
    number, code = rounded(value, int64(0), way)
    return number.coefficient, code


@helper
def to_float(value: Decimal) -> tuple[float64, Code]:
    """`float(value)`; that of a quotient which is cut is known if both ends of what it may be have it."""
    size, exponent = abs(value.coefficient), kept_of(value).exponent
    number, code = decimal_float(size, exponent)
    if is_cut(value) and decimal_float(size + 1, exponent)[0] != number:
        code = LEFT
    return -number if value.coefficient < 0 else number, code


@helper
def normalize(value: Decimal) -> tuple[Decimal, Code]:
    """`Decimal.normalize`: without zeros at the end."""
    number, exponent = value.coefficient, value.exponent
    if number == 0:
        return Decimal(int64(0), int64(0)), DONE
    while number // 10 * 10 == number:
        number //= 10
        exponent += 1
    return Decimal(number, exponent), LEFT if is_cut(value) else DONE


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
