"""Numbers as text: `str`, `hex`, and the pieces that format specifications are made of.

Digits are written eight at a time, as words, where the next text begins.
"""

from __future__ import annotations

from numpy import float64, int64, uint64

from colkern.kernels.arguments import Truth
from colkern.kernels.float_digits import power_of_ten, shortest, significant, units
from colkern.kernels.kernel import helper
from colkern.kernels.primitives import (
    bits_of_float,
    get_byte,
    set_byte,
    set_unaligned,
    shifted_right,
    trailing_zeros,
    wrapped,
)
from colkern.kernels.row_values import DONE, LEAST, LEFT, NO_ROOM, Arena, Code, Text
from colkern.kernels.text_building import allocate_text, fill, grow_text, text_between, text_room
from colkern.kernels.text_characters import length
from colkern.kernels.text_words import write_part

NO_TEXT = Text(int64(0), int64(0), True)

_LARGEST = 1.7976931348623157e308
_EIGHT = 100000000
_ZEROS = 0x3030303030303030
_MINUS = 45
_POINT = 46

# Digits


@helper
def eight_digits(number: int64) -> int64:
    """The digits of a number below 10**8 as the bytes of a word, the first one the lowest."""
    upper = number // 10000
    pairs = upper | ((number - upper * 10000) << 32)
    upper = ((pairs * 10486) >> 20) & 0x7F0000007F
    pairs = upper | ((pairs - upper * 100) << 16)
    upper = ((pairs * 103) >> 10) & 0x000F000F000F000F
    return (upper | ((pairs - upper * 10) << 8)) + _ZEROS


@helper
def write_number(place: int64, number: int64, least: int64) -> int64:
    """Write the digits of a number that is not negative, at least `least` of them (1 to 8): where they end.

    Up to 8 bytes behind that are overwritten.
    """
    upper = number // _EIGHT
    top = upper // _EIGHT
    if upper == 0:
        word = eight_digits(number)
        zeros = min(int64(trailing_zeros(uint64(word ^ _ZEROS))) >> 3, 8 - least)
        set_unaligned(place, shifted_right(word, zeros * int64(8)))
        return place + 8 - zeros
    word = eight_digits(upper if top == 0 else top)
    zeros = int64(trailing_zeros(uint64(word ^ _ZEROS))) >> 3
    set_unaligned(place, shifted_right(word, zeros * int64(8)))
    end = place + 8 - zeros
    if top != 0:
        set_unaligned(end, eight_digits(upper - top * _EIGHT))
        end = end + 8
    set_unaligned(end, eight_digits(number - upper * _EIGHT))
    return end + 8


# Integers


@helper
def integer_of_width(arena: Arena, value: int64, width: int64) -> tuple[Text, Code]:
    """`str(value)`, with zeros behind its sign up to `width` characters, at most 8."""
    if value == LEAST:
        return NO_TEXT, LEFT
    place = text_room(arena, int64(20))
    if place == 0:
        return NO_TEXT, NO_ROOM
    sign = int64(value < 0)
    set_byte(place, int64(_MINUS))
    end = write_number(place + sign, abs(value), max(width - sign, int64(1)))
    return text_between(arena, place, end), DONE


@helper
def unsigned_of_width(arena: Arena, value: int64, width: int64) -> tuple[Text, Code]:
    """`str(value)` of an integer without a sign, as `integer_of_width`."""
    if value >= 0:
        return integer_of_width(arena, value, width)
    place = text_room(arena, int64(20))
    if place == 0:
        return NO_TEXT, NO_ROOM
    tens = int64(uint64(value) // uint64(10))
    end = write_number(place, tens, int64(1))
    set_byte(end, int64(uint64(value) % uint64(10)) + 48)
    return text_between(arena, place, end + 1), DONE


@helper
def text_of_bits(
    arena: Arena,
    value: int64,
    is_signed: Truth,
    bits: int64,
    letters: int64,
    prefix: int64,
    width: int64,
) -> tuple[Text, Code]:
    """An integer in the base of two to `bits` (1, 3, 4), zeros in front up to `width` digits, at most 8.

    Digits above 9 get `letters` added: up to "a" or "A", less 10. `prefix` is the byte behind a zero in
    front of the digits; 0 for no prefix.
    """
    place = text_room(arena, int64(72))
    if value == LEAST and is_signed:
        return NO_TEXT, LEFT
    if place == 0:
        return NO_TEXT, NO_ROOM
    is_negative = is_signed and value < 0
    set_byte(place, int64(_MINUS))
    start = place + int64(is_negative)
    if prefix != 0:
        set_byte(start, int64(48))
        set_byte(start + 1, prefix)
        start = start + 2
    rest = -value if is_negative else value
    end = max(start + 1, place + width)
    while (end - start) * bits < 64 and shifted_right(rest, (end - start) * bits) != 0:
        end = end + 1
    mask = (1 << bits) - 1
    for k in range(end - start):
        digit = rest & mask
        set_byte(end - 1 - k, digit + (int64(48) if digit < 10 else letters))
        rest = shifted_right(rest, bits)
    return text_between(arena, place, end), DONE


@helper
def str_of_bool(arena: Arena, value: bool) -> tuple[Text, Code]:
    """`str(value)`."""
    place = text_room(arena, int64(8))
    if place == 0:
        return NO_TEXT, NO_ROOM
    # "True" and "False", the first letter the lowest byte.
    set_unaligned(place, int64(0x65757254) if value else int64(0x65736C6146))
    return text_between(arena, place, place + 5 - int64(value)), DONE


# Floats


@helper
def text_of_special(arena: Arena, value: float64) -> tuple[Text, Code]:
    """An infinity or NaN."""
    place = text_room(arena, int64(16))
    if place == 0:
        return NO_TEXT, NO_ROOM
    is_nan = value != value
    set_byte(place, int64(_MINUS))
    end = place + int64(value < 0.0)
    set_unaligned(end, int64(0x6E616E) if is_nan else int64(0x666E69))
    return text_between(arena, place, end + 3), DONE


@helper
def write_fraction(end: int64, fraction: int64, places: int64) -> None:
    """Write a point and `places` digits, from 1 to 16, behind `end`, which has 24 bytes behind it."""
    fraction = fraction * power_of_ten(16 - places)
    upper = fraction // _EIGHT
    word = eight_digits(upper)
    set_unaligned(end, wrapped(word << 8) | _POINT)
    low = shifted_right(word, int64(56))
    if places > 7:
        word = eight_digits(fraction - upper * _EIGHT)
        set_unaligned(end + 8, low | wrapped(word << 8))
        set_unaligned(end + 16, shifted_right(word, int64(56)))


@helper
def text_of_decimal(
    arena: Arena, number: int64, places: int64, negative: Truth
) -> tuple[Text, Code]:
    """A number over ten to `places`, with as many digits behind the point."""
    place = text_room(arena, int64(48))
    if place == 0:
        return NO_TEXT, NO_ROOM
    set_byte(place, int64(_MINUS))
    start = place + int64(negative)
    unit = power_of_ten(places) if 0 < places <= 16 else int64(1)
    whole = number // unit
    end = write_number(start, whole, int64(1))
    if places > 16:
        zeros = places - (end - start)
        # Three words of zeros: `0.` and 22 more.
        if places > 23 or zeros < 0:
            return NO_TEXT, LEFT
        for k in range(int64(0), int64(24), int64(8)):
            set_unaligned(start + k, int64(_ZEROS))
        set_byte(start + 1, int64(_POINT))
        end = write_number(start + 2 + zeros, number, int64(1))
    elif places > 0:
        write_fraction(end, number - whole * unit, places)
        end = end + 1 + places
    return text_between(arena, place, end), DONE


@helper
def text_with_exponent(
    arena: Arena, number: int64, exponent: int64, count: int64, negative: Truth
) -> tuple[Text, Code]:
    """`d.dde+dd`: a number of `count` digits, up to 17 (0 is of one), and an exponent, -99 to 99."""
    place = text_room(arena, int64(40))
    if place == 0:
        return NO_TEXT, NO_ROOM
    if exponent < -99 or exponent > 99:
        return NO_TEXT, LEFT
    set_byte(place, int64(_MINUS))
    first = place + int64(negative)
    end = first + 1
    if count > 1:
        # A zero has as many digits as the number one.
        write_number(end, max(number, power_of_ten(count - 1)), int64(1))
        set_byte(first, get_byte(end) if number != 0 else int64(48))
        set_byte(end, int64(_POINT))
        end = end + count
    else:
        set_byte(first, number + 48)
    tens = abs(exponent) // 10
    ones = abs(exponent) - tens * 10
    sign = int64(_MINUS) if exponent < 0 else int64(43)
    set_unaligned(end, 101 | sign << 8 | (tens + 48) << 16 | (ones + 48) << 24)
    return text_between(arena, place, end + 4), DONE


@helper
def str_of_float(arena: Arena, value: float64) -> tuple[Text, Code]:
    """`str(value)`: the shortest digits that are read as the same float.

    Those that have an exponent are left to Python.
    """
    if 0.0 < abs(value) < 1e-4:
        return NO_TEXT, LEFT
    if not abs(value) <= _LARGEST:
        return text_of_special(arena, value)
    digits, exponent, code = shortest(value)
    if code != DONE:
        return NO_TEXT, code
    if exponent > -1:
        # There is at least one digit behind the point.
        digits = digits * power_of_ten(exponent + 1)
        exponent = int64(-1)
    return text_of_decimal(arena, digits, -exponent, bits_of_float(value) < 0)


@helper
def fixed_of_float(arena: Arena, value: float64, places: int64) -> tuple[Text, Code]:
    """A float with `places` digits behind the point (`.2f`), of the exact value."""
    if not abs(value) <= _LARGEST:
        return text_of_special(arena, value)
    number, code = units(value, places)
    if code != DONE:
        return NO_TEXT, code
    return text_of_decimal(arena, number, places, bits_of_float(value) < 0)


@helper
def scientific_of_float(arena: Arena, value: float64, places: int64) -> tuple[Text, Code]:
    """A float with one digit before the point, `places` behind it, and an exponent (`.3e`)."""
    if not abs(value) <= _LARGEST:
        return text_of_special(arena, value)
    number, exponent, code = significant(value, places + 1)
    if code != DONE:
        return NO_TEXT, code
    return text_with_exponent(arena, number, exponent, places + 1, bits_of_float(value) < 0)


@helper
def general_of_float(arena: Arena, value: float64, count: int64, dot: int64) -> tuple[Text, Code]:
    """A float with up to `count` digits, with an exponent if it is small or large (`.3g`).

    With `dot`, which is 0 or 1, it has at least one digit behind a point (`.3`), or an exponent.
    """
    if not abs(value) <= _LARGEST:
        return text_of_special(arena, value)
    number, exponent, code = significant(value, count)
    if code != DONE:
        return NO_TEXT, code
    zeros = int64(0)
    while zeros < count - 1 and number % 10 == 0:
        number = number // 10
        zeros = zeros + 1
    digits = count - zeros
    if exponent < -4 or exponent >= count - dot:
        return text_with_exponent(arena, number, exponent, digits, bits_of_float(value) < 0)
    places = digits - 1 - exponent
    if places < dot:
        number = number * power_of_ten(dot - places)
        places = dot
    return text_of_decimal(arena, number, places, bits_of_float(value) < 0)


# Separators, signs and padding: what is made of a number's text is the arena's last one, as that was


@helper
def with_plus(arena: Arena, text: Text, byte: int64) -> tuple[Text, Code]:
    """A number with a byte in front of it, if it has no minus."""
    if get_byte(text.address) == _MINUS:
        return text, DONE
    stop = text.address + text.size
    if not grow_text(arena, stop + 1):
        return NO_TEXT, NO_ROOM
    for k in range(text.size):
        set_byte(stop - k, get_byte(stop - k - 1))
    set_byte(text.address, byte)
    return Text(text.address, text.size + 1, True), DONE


@helper
def with_suffix(arena: Arena, text: Text, byte: int64) -> tuple[Text, Code]:
    """A number and one more byte."""
    stop = text.address + text.size
    if not grow_text(arena, stop + 1):
        return NO_TEXT, NO_ROOM
    set_byte(stop, byte)
    return Text(text.address, text.size + 1, True), DONE


@helper
def behind_sign(text: Text, lead: int64) -> int64:
    """Where the digits of a number begin, behind a sign and `lead` bytes of a prefix."""
    byte = get_byte(text.address)
    return lead + int64(byte == 45 or byte == 43 or byte == 32)


@helper
def behind_digits(text: Text, first: int64, every: int64) -> int64:
    """Where the digits from a place on end; letters are digits if groups have four."""
    end = first
    while end < text.size:
        byte = get_byte(text.address + end)
        if byte < 48 or (byte > 57 and every == 3):
            break
        end = end + 1
    return end


@helper
def with_zeros(
    arena: Arena, text: Text, lead: int64, every: int64, width: int64
) -> tuple[Text, Code]:
    """A number with zeros before its digits, so many that it has a width with separators.

    Infinities and NaN are left to Python.
    """
    first = behind_sign(text, lead)
    digits = behind_digits(text, first, every) - first
    if digits == 0:
        return NO_TEXT, LEFT
    room = width - (text.size - digits)
    # A separator is never the first.
    wanted = room - room // (every + 1) + int64(room % (every + 1) == 0)
    return padded(arena, text, text.size + wanted - digits, int64(2), lead, int64(48))


@helper
def with_separators(
    arena: Arena, text: Text, lead: int64, every: int64, separator: int64
) -> tuple[Text, Code]:
    """A number with separators between its groups of digits before a point or exponent.

    `lead` bytes are a prefix in front of the digits, without the sign; a group has `every` digits,
    among which letters count if they are four.
    """
    first = behind_sign(text, lead)
    end = behind_digits(text, first, every)
    more = (end - first - 1) // every if end > first else int64(0)
    size = text.size + more
    if not grow_text(arena, text.address + size):
        return NO_TEXT, NO_ROOM
    # From the last byte on, as each moves to the right.
    place = text.address + text.size
    stop = text.address + end
    left = every
    while more > 0:
        place = place - 1
        set_byte(place + more, get_byte(place))
        left = left - int64(place < stop)
        if left == 0:
            left = every
            more = more - 1
            set_byte(place + more, separator)
    return Text(text.address, size, True), DONE


@helper
def padded(
    arena: Arena, text: Text, width: int64, share: int64, lead: int64, filler: int64
) -> tuple[Text, Code]:
    """A text with `filler` (of ASCII) around it, so that it has at least `width` characters.

    Args:
        arena: Where the text is made.
        width: In characters.
        share: How many halves of the filling stand before it: 0, 1 (rounded down) or 2.
        lead: -1; or of a number, whose filling stands behind its sign, the bytes of its prefix.
        filler: The byte to fill with.
    """
    missing = width - length(text)
    if missing <= 0:
        return text, DONE
    size = text.size + missing
    place = allocate_text(arena, size)
    if place == 0:
        return NO_TEXT, NO_ROOM
    first = int64(0)
    if lead >= 0:
        first = behind_sign(text, lead)
        write_part(place, text.address, first)
    before = missing * share // 2
    behind = fill(place + first, filler, int64(1), before)
    write_part(behind, text.address + first, text.size - first)
    fill(behind + text.size - first, filler, int64(1), missing - before)
    return Text(place, size, text.ascii), DONE
