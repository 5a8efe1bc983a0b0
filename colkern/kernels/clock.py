"""Times, datetimes and durations of row functions: microseconds, of the day, since 1970, and as such.

A duration that is no int64 (292,000 years; Python has 2.7 million) is left to Python.
"""

from __future__ import annotations

from numpy import float64, int64, uint64

from colkern.kernels.calendar import (
    DAY,
    FIRST_DAY,
    LAST_DAY,
    civil,
    fits_c,
    new_date,
    replaced,
    timetuple,
)
from colkern.kernels.kernel import helper
from colkern.kernels.primitives import high_product
from colkern.kernels.row_numbers import floor_divide_integers
from colkern.kernels.row_values import (
    DONE,
    LEFT,
    OVERFLOW_ERROR,
    VALUE_ERROR,
    ZERO_DIVISION_ERROR,
    Code,
)

SECOND = 1_000_000
MINUTE = 60_000_000
HOUR = 3_600_000_000
WEEK = 7 * DAY

FIRST = FIRST_DAY * DAY
"""0001-01-01T00:00."""

LAST = LAST_DAY * DAY + DAY - 1
"""The last microsecond of 9999."""

SHORTEST = -(1 << 63)

MOST_EXACT = 1 << 53
"""Up to here, each integer is a float64."""

_DAY_RECIPROCAL = -(-(1 << 72) // (DAY >> 13))
"""2**72 divided by 2**-13 of a day, rounded up."""


@helper
def date_of(instant: int64) -> int64:
    """`datetime.date`: the day, without a division."""
    pieces = uint64((instant - FIRST) >> 13)
    return int64(high_product(pieces, uint64(_DAY_RECIPROCAL)) >> uint64(8)) + FIRST_DAY


@helper
def time_of(instant: int64) -> int64:
    """`datetime.time`: what of the day has passed."""
    return instant - date_of(instant) * DAY


@helper
def clock(time: int64) -> tuple[int64, int64, int64, int64]:
    """The hour, minute, second and microsecond of a time of the day; products do for divisions."""
    seconds = (time >> 6) * 4503599628 >> 46
    hour = seconds * 305419897 >> 40
    rest = seconds - hour * 3600
    minute = rest * 34953 >> 21
    return hour, minute, rest - minute * 60, time - seconds * SECOND


@helper
def new_time(hour: int64, minute: int64, second: int64, microsecond: int64) -> tuple[int64, Code]:
    """`datetime.time`."""
    if 0 <= hour < 24 and 0 <= minute < 60 and 0 <= second < 60 and 0 <= microsecond < SECOND:
        return hour * HOUR + minute * MINUTE + second * SECOND + microsecond, DONE
    if not (fits_c(hour) and fits_c(minute) and fits_c(second) and fits_c(microsecond)):
        return int64(0), LEFT
    return int64(0), VALUE_ERROR


@helper
def new_datetime(
    year: int64,
    month: int64,
    day: int64,
    hour: int64,
    minute: int64,
    second: int64,
    microsecond: int64,
) -> tuple[int64, Code]:
    """`datetime.datetime`, without a zone."""
    days, date_code = new_date(year, month, day)
    time, time_code = new_time(hour, minute, second, microsecond)
    if date_code == LEFT or time_code == LEFT:
        return int64(0), LEFT
    if date_code != DONE or time_code != DONE:
        return int64(0), VALUE_ERROR
    return days * DAY + time, DONE


@helper
def replace_time(
    time: int64, hour: int64, minute: int64, second: int64, microsecond: int64
) -> tuple[int64, Code]:
    """`time.replace`; a field that is `KEPT` is."""
    fields = clock(time)
    return new_time(
        replaced(fields[0], hour),
        replaced(fields[1], minute),
        replaced(fields[2], second),
        replaced(fields[3], microsecond),
    )


@helper
def replace_datetime(
    instant: int64,
    year: int64,
    month: int64,
    day: int64,
    hour: int64,
    minute: int64,
    second: int64,
    microsecond: int64,
) -> tuple[int64, Code]:
    """`datetime.replace`; a field that is `KEPT` is."""
    days = date_of(instant)
    date = civil(days)
    time = clock(instant - days * DAY)
    return new_datetime(
        replaced(date[0], year),
        replaced(date[1], month),
        replaced(date[2], day),
        replaced(time[0], hour),
        replaced(time[1], minute),
        replaced(time[2], second),
        replaced(time[3], microsecond),
    )


@helper
def datetime_timetuple(
    instant: int64,
) -> tuple[int64, int64, int64, int64, int64, int64, int64, int64, int64]:
    """`datetime.timetuple`, without a zone: daylight saving time is -1, unknown."""
    days = date_of(instant)
    year, month, day, _, _, _, day_of_week, since, unknown = timetuple(days)
    hour, minute, second, _ = clock(instant - days * DAY)
    return year, month, day, hour, minute, second, day_of_week, since, unknown


@helper
def later(instant: int64, duration: int64) -> tuple[int64, Code]:
    """`datetime + timedelta`."""
    if duration > LAST - instant or duration < FIRST - instant:
        return int64(0), OVERFLOW_ERROR
    return instant + duration, DONE


@helper
def earlier(instant: int64, duration: int64) -> tuple[int64, Code]:
    """`datetime - timedelta`."""
    if duration > instant - FIRST or duration < instant - LAST:
        return int64(0), OVERFLOW_ERROR
    return instant - duration, DONE


@helper
def local_timestamp(instant: int64) -> tuple[float64, Code]:
    """`datetime.timestamp` without a zone: left to Python, as it depends on where it runs."""
    return float64(0.0), LEFT


@helper
def from_timestamp(seconds: int64) -> tuple[int64, Code]:
    """`datetime.datetime.utcfromtimestamp`, of an integer; one that is no time is left to Python."""
    if FIRST_DAY * 86400 <= seconds < (LAST_DAY + 1) * 86400:
        return seconds * SECOND, DONE
    return int64(0), LEFT


@helper
def from_float_timestamp(seconds: float64) -> tuple[int64, Code]:
    """`datetime.datetime.utcfromtimestamp`, to the nearest microsecond; of two, the even one."""
    if not FIRST_DAY * 86400.0 <= seconds < LAST_DAY * 86400.0:
        return int64(0), LEFT
    whole = int64(seconds)
    return whole * SECOND + nearest_even((seconds - float64(whole)) * 1e6), DONE


@helper
def nearest_even(value: float64) -> int64:
    """The integer next to a float, below 2**52; of two, the even one."""
    # The sum has no room for a fraction.
    return int64((value + 6755399441055744.0) - 6755399441055744.0)


# Durations.


@helper
def total_seconds(duration: int64) -> float64:
    """`timedelta.total_seconds`: the float next to the quotient.

    Of a long duration, it is the sum of the whole seconds and the rest: rounding the rest first changes
    nothing, as no rest is nearer to where the sum turns than 2**-40, and 2**-54 is rounded off.
    """
    if -MOST_EXACT <= duration <= MOST_EXACT:
        return float64(duration) / 1e6
    return float64(duration // SECOND) + float64(duration % SECOND) / 1e6


@helper
def in_range(number: int64, unit: int64) -> bool:
    """Whether a number of units is at most 2**60 microseconds, so that seven such have a sum."""
    most = int64(1 << 60) // unit
    return bool(-most <= number <= most)


@helper
def new_timedelta(
    days: int64,
    seconds: int64,
    microseconds: int64,
    milliseconds: int64,
    minutes: int64,
    hours: int64,
    weeks: int64,
) -> tuple[int64, Code]:
    """`datetime.timedelta`, of integers; more than 36,000 years are left to Python."""
    if not (
        in_range(days, int64(DAY))
        and in_range(seconds, int64(SECOND))
        and in_range(microseconds, int64(1))
        and in_range(milliseconds, int64(1000))
        and in_range(minutes, int64(MINUTE))
        and in_range(hours, int64(HOUR))
        and in_range(weeks, int64(WEEK))
    ):
        return int64(0), LEFT
    short = microseconds + milliseconds * 1000 + seconds * SECOND + minutes * MINUTE
    return short + hours * HOUR + days * DAY + weeks * WEEK, DONE


@helper
def add_part(whole: int64, rest: float64, number: float64, unit: int64) -> tuple[int64, float64]:
    """A duration and a part of a microsecond, more by a number of units; -2**63 if the number is large.

    The rounding is Python's: the whole units are exact, their fraction in microseconds is split again.
    """
    if whole == SHORTEST or not abs(number) < float64(1 << 60) / float64(unit):
        return int64(SHORTEST), rest
    if abs(number) >= MOST_EXACT:
        return int64(SHORTEST), rest
    units = int64(number)
    part = (number - float64(units)) * float64(unit)
    microseconds = int64(part)
    return whole + units * unit + microseconds, rest + (part - float64(microseconds))


@helper
def new_float_timedelta(
    days: float64,
    seconds: float64,
    microseconds: float64,
    milliseconds: float64,
    minutes: float64,
    hours: float64,
    weeks: float64,
) -> tuple[int64, Code]:
    """`datetime.timedelta`, of floats and integers that are floats."""
    whole, rest = add_part(int64(0), float64(0.0), microseconds, int64(1))
    whole, rest = add_part(whole, rest, milliseconds, int64(1000))
    whole, rest = add_part(whole, rest, seconds, int64(SECOND))
    whole, rest = add_part(whole, rest, minutes, int64(MINUTE))
    whole, rest = add_part(whole, rest, hours, int64(HOUR))
    whole, rest = add_part(whole, rest, days, int64(DAY))
    whole, rest = add_part(whole, rest, weeks, int64(WEEK))
    if whole == SHORTEST:
        return int64(0), LEFT
    microseconds_more = nearest_even(rest)
    beyond = rest - float64(microseconds_more)
    # Of two, the microsecond that makes the whole even.
    if abs(beyond) == 0.5 and (whole + microseconds_more) & 1 == 1:
        microseconds_more += int64(1) if beyond > 0.0 else int64(-1)
    return whole + microseconds_more, DONE


@helper
def nearest_quotient(duration: int64, divisor: int64) -> tuple[int64, Code]:
    """`timedelta / int`, to the nearest microsecond; of two, the even one."""
    quotient, code = floor_divide_integers(duration, divisor)
    if code != DONE or divisor == -1:
        return quotient, code
    rest = duration - quotient * divisor
    # Both have the sign of the divisor: is the rest more than half of it?
    other = divisor - rest
    more = rest > other if divisor > 0 else rest < other
    return quotient + int64(more or (rest == other and quotient & 1 == 1)), DONE


@helper
def is_float(number: int64) -> bool:
    """Whether an integer is a float64."""
    if -MOST_EXACT <= number <= MOST_EXACT:
        return True
    return number & 1023 == 0


@helper
def quotient(left: int64, right: int64) -> tuple[float64, Code]:
    """`timedelta / timedelta`; left to Python if one of them is no float64."""
    if right == 0:
        return float64(0.0), ZERO_DIVISION_ERROR
    if not (is_float(left) and is_float(right)):
        return float64(0.0), LEFT
    return float64(left) / float64(right), DONE


@helper
def nearest_duration(microseconds: float64) -> tuple[int64, Code]:
    """The duration next to a rounded product or quotient; left to Python where that may be another's.

    That is so if the half between two is nearer than what was rounded off.
    """
    if not abs(microseconds) < 2.0**51:
        return int64(0), LEFT
    whole = nearest_even(microseconds)
    if 0.5 - abs(microseconds - float64(whole)) <= abs(microseconds) * 2.0**-52:
        return int64(0), LEFT
    return whole, DONE


@helper
def scaled(duration: int64, factor: float64) -> tuple[int64, Code]:
    """`timedelta * float`."""
    if not (is_float(duration) and abs(factor) < 1e300):
        return int64(0), LEFT
    return nearest_duration(float64(duration) * factor)


@helper
def divided(duration: int64, divisor: float64) -> tuple[int64, Code]:
    """`timedelta / float`."""
    if divisor == 0.0:
        return int64(0), ZERO_DIVISION_ERROR
    if not (is_float(duration) and abs(divisor) < 1e300):
        return int64(0), LEFT
    return nearest_duration(float64(duration) / divisor)
