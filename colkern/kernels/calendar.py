"""Civil dates of row functions: days since 1970-01-01 in the calendar that Python's `date` has.

Python's dates are those of the years 1 to 9999; no body gets another day. So days count from a day before
all of them where they are divided: a product and a shift then do for a division, and LLVM makes vectors of
it. The division of a day into year, month and day is that of C. Neri and L. Schneider, "Euclidean affine
functions and their application to calendar algorithms" (2023).
"""

from __future__ import annotations

from numpy import int64

from colkern.kernels.kernel import helper
from colkern.kernels.row_values import DONE, LEFT, OVERFLOW_ERROR, VALUE_ERROR, Code

FIRST_DAY = -719162
"""0001-01-01, a Monday."""

LAST_DAY = 2932896
"""9999-12-31."""

BEFORE_FIRST = 719163
"""The ordinal of 1970-01-01; that of 0001-01-01 is 1."""

FIRST_MARCH = 719468
"""The days from 0000-03-01 to 1970-01-01: a leap day is the last of a year from March on."""

DAY = 86_400_000_000
"""The microseconds of a day."""

KEPT = -(1 << 62)
"""Stands for a field that `replace` does not name."""

MOST_C_INTEGER = (1 << 31) - 1


@helper
def in_sevens(number: int64) -> int64:
    """`number // 7` of a number from 0 to 4 million."""
    return number * 4908534053 >> 35


@helper
def civil(days: int64) -> tuple[int64, int64, int64]:
    """The year, month and day of the month."""
    quarters = 4 * (days + FIRST_MARCH) + 3
    century = quarters * 240828848 >> 45
    quarters = (quarters - century * 146097) | 3
    year = quarters * 2939745 >> 32
    day_of_year = (quarters - year * 1461) >> 2
    # The month, from March on, above 16 bits in which the day goes in steps of 2141.
    month_and_day = 2141 * day_of_year + 197913
    next_year = int64(day_of_year >= 306)
    return (
        100 * century + year + next_year,
        (month_and_day >> 16) - 12 * next_year,
        ((month_and_day & 65535) * 31345 >> 26) + 1,
    )


@helper
def days_of(year: int64, month: int64, day: int64) -> int64:
    """The day of a civil date from 0000-03-01 on; the day of the month may be any number."""
    january = int64(month <= 2)
    year = year - january
    month = month + 12 * january
    century = year * 5243 >> 19
    return (
        (1461 * year >> 2)
        - century
        + (century >> 2)
        + ((979 * month - 2919) >> 5)
        + day
        - (FIRST_MARCH + 1)
    )


@helper
def is_leap(year: int64) -> bool:
    """`calendar.isleap`, of any year."""
    return year & 3 == 0 and (year % 25 != 0 or year & 15 == 0)


@helper
def days_in_month(year: int64, month: int64) -> int64:
    """The days of a month, from 1 to 12."""
    if month == 2:
        return int64(28) + int64(is_leap(year))
    return int64(30) | ((month + (month >> 3)) & 1)


@helper
def weekday(days: int64) -> int64:
    """`date.weekday`: 0 is Monday."""
    number = days - FIRST_DAY
    return number - 7 * in_sevens(number)


@helper
def isoweekday(days: int64) -> int64:
    """`date.isoweekday`: 1 is Monday."""
    return weekday(days) + 1


@helper
def toordinal(days: int64) -> int64:
    """`date.toordinal`."""
    return days + BEFORE_FIRST


@helper
def day_of_year(days: int64) -> int64:
    """`date.timetuple().tm_yday`, from 1 on."""
    return days - days_of(civil(days)[0], int64(1), int64(0))


@helper
def isocalendar(days: int64) -> tuple[int64, int64, int64]:
    """`date.isocalendar`: the year that the week's Thursday is in, the week, the day of the week."""
    day = weekday(days)
    thursday = days - day + 3
    year = civil(thursday)[0]
    return year, in_sevens(thursday - days_of(year, int64(1), int64(1))) + 1, day + 1


@helper
def timetuple(days: int64) -> tuple[int64, int64, int64, int64, int64, int64, int64, int64, int64]:
    """`date.timetuple`: year, month, day, three zeros, day of the week, day of the year, -1."""
    year, month, day = civil(days)
    nothing = int64(0)
    return year, month, day, nothing, nothing, nothing, weekday(days), day_of_year(days), int64(-1)


@helper
def fits_c(number: int64) -> bool:
    """Whether Python can make a C `int` of a number: else it raises `OverflowError` first."""
    return bool(-MOST_C_INTEGER <= number <= MOST_C_INTEGER)


@helper
def new_date(year: int64, month: int64, day: int64) -> tuple[int64, Code]:
    """`datetime.date`."""
    if 1 <= year <= 9999 and 1 <= month <= 12 and 1 <= day <= 31:
        if day <= 28 or day <= days_in_month(year, month):
            return days_of(year, month, day), DONE
    elif not (fits_c(year) and fits_c(month) and fits_c(day)):
        return int64(0), LEFT
    return int64(0), VALUE_ERROR


@helper
def fromordinal(ordinal: int64) -> tuple[int64, Code]:
    """`datetime.date.fromordinal`."""
    if FIRST_DAY <= ordinal - BEFORE_FIRST <= LAST_DAY:
        return ordinal - BEFORE_FIRST, DONE
    if not fits_c(ordinal):
        return int64(0), LEFT
    return int64(0), VALUE_ERROR


@helper
def replaced(field: int64, instead: int64) -> int64:
    """A field of a date or time, or what `replace` is given for it."""
    return field if instead == KEPT else instead


@helper
def replace_date(days: int64, year: int64, month: int64, day: int64) -> tuple[int64, Code]:
    """`date.replace`; a field that is `KEPT` is."""
    fields = civil(days)
    return new_date(replaced(fields[0], year), replaced(fields[1], month), replaced(fields[2], day))


@helper
def later_date(days: int64, duration: int64) -> tuple[int64, Code]:
    """`date + timedelta`, which counts whole days, downwards."""
    result = days + duration // DAY
    return (result, DONE) if FIRST_DAY <= result <= LAST_DAY else (int64(0), OVERFLOW_ERROR)


@helper
def earlier_date(days: int64, duration: int64) -> tuple[int64, Code]:
    """`date - timedelta`, which counts whole days, those of the duration downwards."""
    result = days - duration // DAY
    return (result, DONE) if FIRST_DAY <= result <= LAST_DAY else (int64(0), OVERFLOW_ERROR)


@helper
def month_range(year: int64, month: int64) -> tuple[tuple[int64, int64], Code]:
    """`calendar.monthrange`, of any year: what day of the week a month begins with, and its length."""
    if not 1 <= month <= 12:
        return (int64(0), int64(0)), LEFT
    # Weekdays come again after 400 years.
    first = days_of(int64(2000) + year % 400, month, int64(1))
    return (weekday(first), days_in_month(year, month)), DONE


@helper
def weekday_of(year: int64, month: int64, day: int64) -> tuple[int64, Code]:
    """`calendar.weekday`, of any year."""
    if not 1 <= year <= 9999:
        year = int64(2000) + year % 400
    days, code = new_date(year, month, day)
    return weekday(days), code
