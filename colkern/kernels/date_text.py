"""Dates and times as text and from text, in row functions: ISO 8601, and pieces of strftime and strptime.

A number below 100 is two bytes of ASCII in an int64, the tens lowest; eight such bytes are one store.
"""

from __future__ import annotations

from numpy import int64

from colkern.kernels.calendar import DAY, civil, new_date
from colkern.kernels.clock import clock, date_of, new_datetime, new_time
from colkern.kernels.kernel import helper
from colkern.kernels.primitives import get_byte, get_unaligned, set_byte, set_unaligned, wrapped
from colkern.kernels.row_values import DONE, LEFT, NO_ROOM, VALUE_ERROR, Arena, Code, Text
from colkern.kernels.text_building import text_between, text_room

AUTO = 0
"""The size of a time's ISO text that depends on whether there are microseconds."""

# Writing.


@helper
def two(number: int64) -> int64:
    """The digits of a number below 100, in two bytes."""
    tens = number * 103 >> 10
    return 0x3030 + tens + ((number - tens * 10) << 8)


@helper
def four(number: int64) -> int64:
    """The digits of a number below 10,000, in four bytes."""
    hundreds = number * 5243 >> 19
    return two(hundreds) + (two(number - hundreds * 100) << 16)


@helper
def write_date(place: int64, days: int64) -> None:
    """`YYYY-MM-DD`, in two words."""
    year, month, day = civil(days)
    set_unaligned(place, four(year) + (two(month) << 40) + 0x2D00_002D_0000_0000)
    set_unaligned(place + int64(8), two(day))


@helper
def isoformat_date(arena: Arena, days: int64) -> tuple[Text, Code]:
    """`str` and `isoformat` of a date."""
    place = text_room(arena, int64(16))
    if place == 0:
        return Text(int64(0), int64(0), True), NO_ROOM
    write_date(place, days)
    return text_between(arena, place, place + 10), DONE


@helper
def isoformat_time(arena: Arena, time: int64, size: int64) -> tuple[Text, Code]:
    """The first `size` bytes of `HH:MM:SS.ffffff`, or `AUTO`."""
    place = text_room(arena, int64(16))
    if place == 0:
        return Text(int64(0), int64(0), True), NO_ROOM
    hour, minute, second, microsecond = clock(time)
    set_unaligned(
        place, two(hour) + (two(minute) << 24) + (two(second) << 48) + 0x0000_3A00_003A_0000
    )
    hundreds = microsecond * 1374389535 >> 37
    set_unaligned(
        place + int64(8), 0x2E + (four(hundreds) << 8) + (two(microsecond - hundreds * 100) << 40)
    )
    if size == AUTO:
        size = int64(8) if microsecond == 0 else int64(15)
    return text_between(arena, place, place + size), DONE


@helper
def isoformat_datetime(
    arena: Arena, instant: int64, separator: int64, size: int64
) -> tuple[Text, Code]:
    """The first `size` bytes of `YYYY-MM-DD HH:MM:SS.ffffff`, or `AUTO`; the separator is ASCII."""
    place = text_room(arena, int64(32))
    if place == 0:
        return Text(int64(0), int64(0), True), NO_ROOM
    days = date_of(instant)
    write_date(place, days)
    hour, minute, second, microsecond = clock(instant - days * DAY)
    set_unaligned(
        place + int64(8),
        two(civil(days)[2])
        + (separator << 16)
        + (two(hour) << 24)
        + (two(minute) << 48)
        + 0x0000_3A00_0000_0000,
    )
    hundreds = microsecond * 1374389535 >> 37
    set_unaligned(place + int64(16), 0x2E00_003A + (two(second) << 8) + (four(hundreds) << 32))
    set_unaligned(place + int64(24), two(microsecond - hundreds * 100))
    if size == AUTO:
        size = int64(19) if microsecond == 0 else int64(26)
    return text_between(arena, place, place + size), DONE


@helper
def str_timedelta(arena: Arena, duration: int64) -> tuple[Text, Code]:
    """`str` of a timedelta: `-1 day, 23:59:59.999999`."""
    start = text_room(arena, int64(48))
    if start == 0:
        return Text(int64(0), int64(0), True), NO_ROOM
    place = start
    days = duration // DAY
    if days != 0:
        place = put_number(place, days)
        place = put_text(place, int64(0x79616420), int64(4))
        if abs(days) != 1:
            place = put_text(place, int64(0x73), int64(1))
        place = put_text(place, int64(0x202C), int64(2))
    hour, minute, second, microsecond = clock(duration - days * DAY)
    if hour < 10:
        place = put_text(place, hour + 48, int64(1))
    else:
        place = put_two(place, hour)
    place = put_two(put_text(place, int64(0x3A), int64(1)), minute)
    place = put_two(put_text(place, int64(0x3A), int64(1)), second)
    if microsecond != 0:
        place = put_six(put_text(place, int64(0x2E), int64(1)), microsecond)
    return text_between(arena, start, place), DONE


@helper
def put_text(place: int64, word: int64, size: int64) -> int64:
    """Write the lowest `size` bytes of a word; where they end."""
    for k in range(size):
        set_byte(place + k, word >> (8 * k))
    return place + size


@helper
def put_two(place: int64, number: int64) -> int64:
    """Write a number below 100 in two digits; where they end."""
    return put_text(place, two(number), int64(2))


@helper
def put_three(place: int64, number: int64) -> int64:
    """Write a number below 1000 in three digits; where they end."""
    return put_text(place, four(number) >> 8, int64(3))


@helper
def put_four(place: int64, number: int64) -> int64:
    """Write a number below 10,000 in four digits; where they end."""
    return put_text(place, four(number), int64(4))


@helper
def put_six(place: int64, number: int64) -> int64:
    """Write a number below a million in six digits; where they end."""
    hundreds = number * 1374389535 >> 37
    return put_two(put_four(place, hundreds), number - hundreds * 100)


@helper
def put_number(place: int64, number: int64) -> int64:
    """Write an integer; where it ends."""
    if number < 0:
        place = put_text(place, int64(0x2D), int64(1))
        number = -number
    size = int64(1)
    larger = int64(10)
    while larger <= number:
        size += 1
        larger *= 10
    for k in range(size):
        set_byte(place + (size - 1 - k), number % 10 + 48)
        number = number // 10
    return place + size


@helper
def put_padded(place: int64, number: int64) -> int64:
    """Write a number below 100 in two characters, the first of which may be a space."""
    return put_text(place, two(number) - (int64(number < 10) << 4), int64(2))


# The names of days and months in the locale `C`: up to eight letters in a word, the ninth apart.


@helper
def weekday_name(weekday: int64) -> tuple[int64, int64]:
    """The first eight letters of the name of a day of the week, and its size."""
    if weekday == 0:
        return int64(0x7961646E6F4D), int64(6)
    if weekday == 1:
        return int64(0x79616473657554), int64(7)
    if weekday == 2:
        return int64(0x616473656E646557), int64(9)
    if weekday == 3:
        return int64(0x7961647372756854), int64(8)
    if weekday == 4:
        return int64(0x796164697246), int64(6)
    if weekday == 5:
        return int64(0x7961647275746153), int64(8)
    return int64(0x7961646E7553), int64(6)


@helper
def month_name(month: int64) -> tuple[int64, int64]:
    """The first eight letters of the name of a month, and its size."""
    if month == 1:
        return int64(0x797261756E614A), int64(7)
    if month == 2:
        return int64(0x7972617572626546), int64(8)
    if month == 3:
        return int64(0x686372614D), int64(5)
    if month == 4:
        return int64(0x6C69727041), int64(5)
    if month == 5:
        return int64(0x79614D), int64(3)
    if month == 6:
        return int64(0x656E754A), int64(4)
    if month == 7:
        return int64(0x796C754A), int64(4)
    if month == 8:
        return int64(0x747375677541), int64(6)
    if month == 9:
        return int64(0x65626D6574706553), int64(9)
    if month == 10:
        return int64(0x7265626F74634F), int64(7)
    if month == 11:
        return int64(0x7265626D65766F4E), int64(8)
    return int64(0x7265626D65636544), int64(8)


@helper
def put_weekday(place: int64, weekday: int64) -> int64:
    """Write the name of a day of the week; where it ends."""
    word, size = weekday_name(weekday)
    set_byte(place + int64(8), int64(0x79))
    put_text(place, word, int64(8))
    return place + size


@helper
def put_month(place: int64, month: int64) -> int64:
    """Write the name of a month; where it ends."""
    word, size = month_name(month)
    set_byte(place + int64(8), int64(0x72))
    put_text(place, word, int64(8))
    return place + size


# Reading.


@helper
def digits_at(place: int64, count: int64) -> int64:
    """The number that so many digits make; -1 if not all of them are digits."""
    number = int64(0)
    wrong = int64(0)
    for k in range(count):
        digit = get_byte(place + k) - 48
        wrong |= digit | (9 - digit)
        number = number * 10 + digit
    return number if wrong >= 0 else int64(-1)


@helper
def number_at(place: int64, end: int64, least: int64, most: int64) -> tuple[int64, int64]:
    """A number of two digits, or if that is not from `least` to `most`, of one; and where it ends.

    The number is -1 if there is none.
    """
    if place >= end:
        return int64(-1), place
    first = get_byte(place) - 48
    if not 0 <= first <= 9:
        return int64(-1), place
    if place + 1 < end:
        second = get_byte(place + int64(1)) - 48
        if 0 <= second <= 9 and least <= first * 10 + second <= most:
            return first * 10 + second, place + 2
    if first < least:
        return int64(-1), place
    return first, place + 1


@helper
def fraction_at(place: int64, end: int64) -> tuple[int64, int64]:
    """The microseconds that one to six digits behind a point make, and where they end; -1 if none."""
    number = int64(0)
    unit = int64(1_000_000)
    while place < end and unit > 1:
        digit = get_byte(place) - 48
        if not 0 <= digit <= 9:
            break
        unit = unit // 10
        number += digit * unit
        place += 1
    return (number if unit < 1_000_000 else int64(-1)), place


@helper
def spaces_end(place: int64, end: int64) -> int64:
    """Where one or more spaces end; -1 if there is none, -2 if there may be other white space."""
    first = place
    while place < end and get_byte(place) == 32:
        place += 1
    if place < end and get_byte(place) < 32:
        return int64(-2)
    return place if place > first else int64(-1)


# The number of a name is looked up by three letters: in the four bits that some of a product's bits say.
_WEEKDAYS = 0x1003_6025_0040_0070
_MONTHS = 0x7C80_0145_A002_63B9


@helper
def three_letters(place: int64) -> int64:
    """Three letters as small ones."""
    last = get_byte(place + 2) << 16
    return get_byte(place) | (get_byte(place + 1) << 8) | last | 0x202020


@helper
def name_end(place: int64, end: int64, word: int64, size: int64, ninth: int64) -> int64:
    """Where a name in any case (its first `size` letters, up to 9) ends if it begins at a place; else -1.

    `word` has its first eight letters.
    """
    if place + size > end:
        return int64(-1)
    other = int64(0)
    for k in range(size):
        other |= (get_byte(place + k) ^ (word if k < 8 else ninth)) & 0xDF
        word = word >> 8
    return place + size if other == 0 else int64(-1)


@helper
def weekday_at(place: int64, end: int64, whole: bool) -> int64:
    """Where the name of a day of the week, or its first three letters, ends; -1 if there is none."""
    if place + 3 > end:
        return int64(-1)
    number = int64(_WEEKDAYS) >> (4 * (three_letters(place) * 9 >> 13 & 15)) & 15
    word, size = weekday_name(number - 1)
    return name_end(place, end, word, size if whole else int64(3), int64(0x79))


@helper
def month_at(place: int64, end: int64, whole: bool) -> tuple[int64, int64]:
    """The month whose name, or whose first three letters, are there, and where they end; -1 if none."""
    if place + 3 > end:
        return int64(-1), place
    month = int64(_MONTHS) >> (4 * (three_letters(place) * 61 >> 15 & 15)) & 15
    word, size = month_name(month)
    end = name_end(place, end, word, size if whole else int64(3), int64(0x72))
    return (month if end >= 0 else int64(-1)), end


@helper
def half_at(place: int64, end: int64) -> tuple[int64, int64]:
    """0 for `AM`, 12 for `PM`, in any case, and where they end; -1 if there is neither."""
    if place + 2 > end or get_byte(place + int64(1)) | 32 != 0x6D:
        return int64(-1), place
    letter = get_byte(place) | 32
    if letter == 0x61:
        return int64(0), place + 2
    return (int64(12) if letter == 0x70 else int64(-1)), place + 2


@helper
def leave_text(value: int64) -> tuple[Text, Code]:
    """For a format that is not covered: the row is left to Python."""
    return Text(int64(0), int64(0), True), LEFT


@helper
def leave_datetime(text: Text) -> tuple[int64, Code]:
    """For a format that is not covered: the row is left to Python."""
    return int64(0), LEFT


# ISO 8601, eight characters at once: less the form's, a digit is a byte of at most 9, all others are 0.
_DATE_FORM = int.from_bytes(b"0000-00-", "little")
_DATE_ROOM = 0x7F76_767F_7676_7676
_DATE_END_FORM = int.from_bytes(b"00-00-00", "little")
_DATE_END_ROOM = 0x7676_7F76_767F_7676
_TIME_FORM = int.from_bytes(b"00:00:00", "little")
_TIME_ROOM = _DATE_END_ROOM
_FRACTION_FORM = int.from_bytes(b"0.000000", "little")
_FRACTION_ROOM = 0x7676_7676_7676_7F76


@helper
def lanes_at(place: int64, form: int64, room: int64) -> int64:
    """The digits of eight characters, a byte each; negative if not of the form, with `0` for digits.

    For each byte, what `room` adds to a larger digit, or to another character, is 128 or more.
    """
    lanes = get_unaligned(place) ^ form
    if (wrapped(lanes + room) | lanes) & int64(-0x7F7F_7F7F_7F7F_7F80) != 0:
        return int64(-1)
    return lanes


@helper
def pair(lanes: int64, first: int64) -> int64:
    """The number of two digits, the first of which is in byte `first`."""
    two_lanes = lanes >> (8 * first)
    return (two_lanes & 15) * 10 + (two_lanes >> 8 & 15)


@helper
def date_at(place: int64) -> tuple[int64, int64, int64]:
    """The year, month and day of `YYYY-MM-DD`; the year is negative for another form."""
    lanes = lanes_at(place, int64(_DATE_FORM), int64(_DATE_ROOM))
    ends = lanes_at(place + 2, int64(_DATE_END_FORM), int64(_DATE_END_ROOM))
    year = pair(lanes, int64(0)) * 100 + pair(lanes, int64(2))
    if (lanes | ends) < 0:
        year = int64(-1)
    return year, pair(lanes, int64(5)), pair(ends, int64(6))


@helper
def time_at(place: int64, size: int64) -> tuple[int64, int64, int64, int64]:
    """The fields of `HH:MM`, `HH:MM:SS`, and that with 3 or 6 digits; the first negative for others."""
    if size == 5:
        hour, minute = digits_at(place, int64(2)), digits_at(place + 3, int64(2))
        wrong = get_byte(place + 2) ^ 0x3A
        return hour if wrong == 0 and minute >= 0 else int64(-1), minute, int64(0), int64(0)
    lanes = lanes_at(place, int64(_TIME_FORM), int64(_TIME_ROOM))
    wrong = lanes
    microsecond = int64(0)
    if size == 15:
        part = lanes_at(place + 7, int64(_FRACTION_FORM), int64(_FRACTION_ROOM))
        wrong |= part
        microsecond = (pair(part, int64(2)) * 100 + pair(part, int64(4))) * 100 + pair(
            part, int64(6)
        )
    elif size == 12:
        microsecond = digits_at(place + 9, int64(3)) * 1000
        wrong |= microsecond | -(get_byte(place + 8) ^ 0x2E)
    hour = pair(lanes, int64(0))
    return (
        hour if wrong >= 0 else int64(-1),
        pair(lanes, int64(3)),
        pair(lanes, int64(6)),
        microsecond,
    )


@helper
def code_of_other_date(place: int64) -> Code:
    """The code of seven characters or more that do not begin as `YYYY-MM-DD`.

    Python takes other dates of ISO 8601: days of weeks, `YYYYMMDD`, and anything behind that.
    """
    is_dashed = get_byte(place + 4) == 0x2D and get_byte(place + 5) != 0x57
    return VALUE_ERROR if is_dashed or digits_at(place, int64(4)) < 0 else LEFT


@helper
def fromisoformat_date(text: Text) -> tuple[int64, Code]:
    """`datetime.date.fromisoformat`; what is not `YYYY-MM-DD` but may be ISO 8601 is left to Python."""
    place = text.address
    if text.size != 10:
        return int64(0), code_of_other_date(place) if 7 <= text.size <= 8 else VALUE_ERROR
    year, month, day = date_at(place)
    if year < 0:
        return int64(0), code_of_other_date(place)
    return new_date(year, month, day)


@helper
def fromisoformat_time(text: Text) -> tuple[int64, Code]:
    """`datetime.time.fromisoformat`; the less usual forms are left to Python."""
    if text.size not in (5, 8, 12, 15):
        return int64(0), LEFT
    hour, minute, second, microsecond = time_at(text.address, text.size)
    if hour < 0 or hour == 24:
        return int64(0), LEFT
    return new_time(hour, minute, second, microsecond)


@helper
def fromisoformat_datetime(text: Text) -> tuple[int64, Code]:
    """`datetime.datetime.fromisoformat`; the less usual forms, and zones, are left to Python."""
    place = text.address
    size = text.size - 11
    if text.size < 7:
        return int64(0), VALUE_ERROR
    if text.size < 10:
        return int64(0), code_of_other_date(place)
    year, month, day = date_at(place)
    if year < 0:
        return int64(0), code_of_other_date(place)
    if size not in (-1, 5, 8, 12, 15):
        return int64(0), LEFT
    hour, minute, second, microsecond = int64(0), int64(0), int64(0), int64(0)
    if size > 0:
        hour, minute, second, microsecond = time_at(place + 11, size)
    # Behind a separator that is not ASCII, the time does not begin where one was read.
    if hour < 0 or hour == 24:
        return int64(0), LEFT
    return new_datetime(year, month, day, hour, minute, second, microsecond)
