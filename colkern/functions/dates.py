"""Functions of dates and times, named as in `pyarrow.compute`: row functions of their numbers.

A timestamp with a time zone is taken as the local time of its zone, as in pyarrow. Only the types limit
years.
"""

from __future__ import annotations

import re
import typing
from collections.abc import Callable
from datetime import UTC, date, datetime, time, tzinfo
from functools import lru_cache, partial
from typing import Literal, get_args

from colkern import schema as s
from colkern.arrays import Array
from colkern.arrays.values import zone_of
from colkern.builders import array as build_array
from colkern.functions.row_functions import (
    STRINGS,
    Rule,
    Values,
    boolean,
    element_wise,
    long,
    named,
    over_rows,
    same,
)
from colkern.functions.zone_gaps import ends_of_gaps
from colkern.operations import (
    add,
    and_,
    any,
    cast,
    equal,
    filter,
    greater_equal,
    if_else,
    index_in,
    invert,
    make_struct,
    multiply,
    not_equal,
    repeat,
    subtract,
    take,
    unique,
)
from colkern.operations.casting.dispatch import retyped
from colkern.operations.encodings import decoded, encoded_alike, on_values
from colkern.operations.moving import to_device
from colkern.operations.position_checks import require_valid
from colkern.operations.validity import compact_validity, null_outside
from colkern.rows.encoded import decoded_type
from colkern.schema import PER_SECOND
from colkern.schema import SECONDS_A_DAY as DAY

MOST_FORMATS = 256
"""The number of functions kept that have a format, a zone or a period of their own."""


# Dates and times as numbers


def _per_second(type_: s.DataType) -> int:
    """The number of a type's units in a second; 0 for date32, which has days only."""
    if isinstance(type_.storage, s.Date):
        return 1000 if type_ == s.date64() else 0
    return PER_SECOND[type_.storage.unit]  # type: ignore[attr-defined]


def _numbers(values: Array) -> Array:
    """The integers of dates or times that are not encoded; not copied."""
    width = values.layout.buffers[1].dtype.itemsize
    return retyped(values, s.int32() if width == 4 else s.int64())


def _shown(values: Array) -> Array:
    """The local times that clocks show: timestamps with a zone become timestamps without one."""
    storage = values.type.storage
    zoned = isinstance(storage, s.Timestamp) and storage.timezone
    return _local(values) if zoned else values


_MOMENTS = (s.Date, s.Timestamp)


def _worked(
    name: str, values: Array, takes: tuple[type[s.DataType], ...], work: Callable[[Array], Array]
) -> Array:
    """Applies `work` to the values of an array of dates or times, in whatever encoding."""
    require_valid(values)

    def checked(plain: Array) -> Array:
        if not isinstance(plain.type.storage, takes):
            words = "dates or timestamps" if takes is _MOMENTS else "times or timestamps"
            raise TypeError(f"{name}: expected {words}, got {plain.type}")
        return work(plain)

    return on_values(values, checked)


def _of_numbers(
    name: str,
    values: Array,
    takes: tuple[type[s.DataType], ...],
    function_of: Callable[[int], Callable[..., object]],
    rule: Rule = long,
) -> Array:
    """Applies a function, chosen by how many units a second has, to the numbers that clocks show."""

    def work(plain: Array) -> Array:
        shown = _shown(plain)
        function = function_of(_per_second(shown.type))
        return over_rows(function, [_numbers(shown)], rule, machine=True)

    return _worked(name, values, takes, work)


# Days


def from_march(days: int) -> tuple[int, int, int]:
    """The year of a day, if years begin in March; the day in that year, from 0 on; and its leap days."""
    # In such a year, a leap day is the last day. The leap days, 0 or 1, are those of the civil
    # year. Days are counted from the beginning of an era of 400 years, up to two eras before their
    # own. A product and a shift replace divisions for all days that a timestamp has; LLVM
    # vectorises them, and what follows, as in `colkern.kernels.calendar`.
    since = days + 719468
    era = ((since >> 16) * 3853261555 >> 33) - 1
    quarters = 4 * (since - era * 146097) + 3
    century = quarters * 240828848 >> 45
    quarters = (quarters - century * 146097) | 3
    year = quarters * 2939745 >> 32
    is_leap = year & 3 == 0 and (year != 0 or century & 3 == 0)
    return 400 * era + 100 * century + year, (quarters - year * 1461) >> 2, 1 if is_leap else 0


def civil(days: int) -> tuple[int, int, int]:
    """Year, month and day of a day that is counted from 1970-01-01."""
    year, day, _ = from_march(days)
    # The product has the month above its low 16 bits; one day adds 2141 to them.
    month_and_day = 2141 * day + 197913
    month = month_and_day >> 16
    day = ((month_and_day & 65535) * 31345 >> 26) + 1
    return (year, month, day) if month <= 12 else (year + 1, month - 12, day)


def days_of(year: int, month: int) -> int:
    """The first day of a month, counted from 1970-01-01."""
    since = year - (1 if month <= 2 else 0)
    era = since // 400
    in_era = since - era * 400
    day = 979 * (month - 3 if month > 2 else month + 9) + 18 >> 5
    return era * 146097 + (1461 * in_era >> 2) - (in_era * 5243 >> 19) + day - 719468


def _year(days: int) -> int:
    return civil(days)[0]


def _month(days: int) -> int:
    return civil(days)[1]


def _day(days: int) -> int:
    return civil(days)[2]


def _quarter(days: int) -> int:
    return (civil(days)[1] + 2) // 3


def day_of_year_of(days: int) -> int:
    """The day in its year, from 1 on, of a day that is counted from 1970-01-01."""
    _, day, leap_days = from_march(days)
    return day - 305 if day >= 306 else day + 60 + leap_days


def weekday_of(days: int, back: int = 3) -> int:
    """The day in its week, from 0 on: `(days + back) % 7`; 3 days before 1970-01-01 was a Monday."""
    # 2^24 is one more than a multiple of 7. With no negative number, a product and a shift divide
    # by 7.
    number = (days & 0xFFFFFF) + (days >> 24) + 7 * 0x400000 + back
    return number - 7 * (number * 76695845 >> 29)


def _is_leap_year(days: int) -> bool:
    year = civil(days)[0]
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


@lru_cache(maxsize=MOST_FORMATS)
def _by_days(of_days: Callable[[int], int], per_second: int) -> Callable[..., object]:
    """A function of a date or timestamp that applies `of_days` to its day."""
    per_day = per_second * DAY

    def of_moment(values: int) -> int:
        return of_days(values // per_day)

    def of_date(values: int) -> int:
        return of_days(values)

    return of_moment if per_day else of_date


def of_each_day(
    values: Array, of_days: Callable[[int], object], name: str, rule: Rule = long
) -> Array:
    """The results of a function of a day, counted from 1970-01-01, for dates or timestamps."""
    return _of_numbers(name, values, _MOMENTS, partial(_by_days, of_days), rule)


def part_by_days(name: str, of_days: Callable[[int], int], text: str) -> Callable[[Values], Values]:
    """The public function `name`, which gives a part of dates and timestamps."""

    def part(values: Array) -> Array:
        return of_each_day(values, of_days, name)

    text = f"{text} of dates or timestamps: int64."
    operation = element_wise("Dates and times")(named(part, name, text))
    return operation  # noqa: RET504 - mypy does not see the type of the call in its place


year = part_by_days("year", _year, "The year")
month = part_by_days("month", _month, "The month, from 1 on,")
day = part_by_days("day", _day, "The day in its month, from 1 on,")
quarter = part_by_days("quarter", _quarter, "The quarter, from 1 on,")
day_of_year = part_by_days("day_of_year", day_of_year_of, "The day in its year, from 1 on,")


@element_wise("Dates and times")
def is_leap_year(values: Array) -> Array:
    """Whether the year of each date or timestamp has 366 days: booleans."""
    return of_each_day(values, _is_leap_year, "is_leap_year", boolean)


@element_wise("Dates and times")
def day_of_week(values: Array, *, count_from_zero: bool = True, week_start: int = 1) -> Array:
    """The day of the week of each date or timestamp: int64.

    Args:
        count_from_zero: Whether the first day is 0, not 1.
        week_start: The first day of a week: 1 for Monday, to 7 for Sunday.

    Raises:
        ValueError: If `week_start` is not 1 to 7.
    """
    if not 1 <= week_start <= 7:
        raise ValueError(f"week_start: expected 1 to 7, got {week_start}")
    return of_each_day(values, _weekday_from(week_start, not count_from_zero), "day_of_week")


@lru_cache(maxsize=14)
def _weekday_from(week_start: int, first: int) -> Callable[..., object]:
    back = 4 - week_start

    def weekday(days: int) -> int:
        return weekday_of(days, back) + first

    return weekday


@element_wise("Dates and times")
def year_month_day(values: Array) -> Array:
    """Year, month and day of each date or timestamp: structs of int64."""
    return struct_of_parts(values, year=year, month=month, day=day)


def struct_of_parts(values: Array, **parts: Callable[[Array], Array]) -> Array:
    """Structs of parts of values, null where they are."""
    record = make_struct([part(values) for part in parts.values()], [*parts])
    first = record.children[0]
    visible = compact_validity(first)
    return record if visible is None else null_outside(record, visible, first.null_count)


# Times of day


@lru_cache(maxsize=MOST_FORMATS)
def _by_ticks(divisor: int, most: int) -> Callable[..., object]:
    period = divisor * most
    zeros = (divisor & -divisor).bit_length() - 1
    # The remainder of a period, by a product and a shift instead of its division, if they fit 63
    # bits.
    odd, bits = divisor >> zeros, 62 - most.bit_length()
    factor = (1 << bits) // odd + 1

    def of_moment(values: int) -> int:
        return values // divisor % most

    def of_period(values: int) -> int:
        return ((values - values // period * period) >> zeros) * factor >> bits

    is_exact = (factor * odd - (1 << bits)) * odd * most <= 1 << bits
    return of_period if is_exact else of_moment


def _zero(values: int) -> int:
    return 0


_CLOCK = (s.Time, s.Timestamp)


def _part_by_ticks(
    name: str, text: str, per_second: int, most: int, seconds: int = 1
) -> Callable[[Values], Values]:
    """The public function `name`, which gives a part of the time of day, from 0 to `most` - 1."""

    def function_of(own: int) -> Callable[..., object]:
        divisor = own * seconds // per_second
        return _by_ticks(divisor, most) if divisor else _zero

    def part(values: Array) -> Array:
        return _of_numbers(name, values, _CLOCK, function_of)

    text = f"The {text} of timestamps or times: int64."
    operation = element_wise("Dates and times")(named(part, name, text))
    return operation  # noqa: RET504 - mypy does not see the type of the call in its place


hour = _part_by_ticks("hour", "hour", 1, 24, 3600)
minute = _part_by_ticks("minute", "minute", 1, 60, 60)
second = _part_by_ticks("second", "second", 1, 60)
millisecond = _part_by_ticks("millisecond", "milliseconds in the last second", 1000, 1000)
microsecond = _part_by_ticks("microsecond", "microseconds in the last millisecond", 10**6, 1000)
nanosecond = _part_by_ticks("nanosecond", "nanoseconds in the last microsecond", 10**9, 1000)


@lru_cache(maxsize=len(PER_SECOND))
def _fraction(per_second: int) -> Callable[..., object]:
    def fraction(values: int) -> float:
        return values % per_second / per_second

    return fraction


@element_wise("Dates and times")
def subsecond(values: Array) -> Array:
    """The fraction of a second in each timestamp or time: float64."""
    return _of_numbers("subsecond", values, _CLOCK, _fraction, lambda *_: s.float64())


# Distances


@lru_cache(maxsize=MOST_FORMATS)
def _distance(number_of: Callable[[int], int], per: int) -> Callable[..., object]:
    def distance(start: int, end: int) -> int:
        return number_of(end // per) - number_of(start // per)

    return distance


def _same(number: int) -> int:
    return number


def _weeks(days: int) -> int:
    return (days + 3) // 7


def _quarters(days: int) -> int:
    year, month, _ = civil(days)
    return 4 * year + (month + 2) // 3


def _between(
    name: str,
    start: Array,
    end: object,
    of_days: Callable[[int], int],
    seconds: int,
    parts: int,
) -> Array:
    """The number of boundaries of a unit that are between two moments."""
    if not isinstance(end, Array):
        one = to_device(build_array([end], decoded_type(start.type)), start.device)
        end = repeat(one, start.length)
    for array in (start, end):
        require_valid(array)
    sides = [_shown(decoded(array)) for array in (start, end)]
    type_ = sides[0].type
    if not isinstance(type_.storage, (s.Date, s.Timestamp, s.Time)) or sides[1].type != type_:
        raise TypeError(
            f"{name}: expected two arrays of one type of dates or times, got {start.type} and {end.type}"
        )
    own = _per_second(type_)
    if not own and seconds == DAY:
        return over_rows(_distance(of_days, 1), [*map(_numbers, sides)], long, machine=True)
    if not own:
        sides = [cast(side, s.timestamp("s")) for side in sides]
        own = 1
    per = own * seconds // parts
    ints = [*map(_numbers, sides)]
    if per:
        return over_rows(_distance(of_days, per), ints, long, machine=True)
    distances = over_rows(_distance(_same, 1), ints, long, machine=True)
    return multiply(distances, parts // own)


def _counted_between(
    units: str, of_days: Callable[[int], int], seconds: int = DAY, parts: int = 1
) -> Callable[[Values, Array | date | time], Values]:
    """The public function that counts the boundaries of a unit between two moments."""
    name = f"{units}_between"

    def between(start: Array, end: Array | date | time) -> Array:
        return _between(name, start, end, of_days, seconds, parts)

    text = (
        f"How many {units} begin after `start`, up to `end`, which may be one value for all: int64."
    )
    operation = element_wise("Dates and times")(named(between, name, text))
    return typing.cast("Callable[[Values, Array | date | time], Values]", operation)


years_between = _counted_between("years", _year)
quarters_between = _counted_between("quarters", _quarters)
weeks_between = _counted_between("weeks", _weeks)
days_between = _counted_between("days", _same)
hours_between = _counted_between("hours", _same, 3600)
minutes_between = _counted_between("minutes", _same, 60)
seconds_between = _counted_between("seconds", _same, 1)
milliseconds_between = _counted_between("milliseconds", _same, 1, 1000)
microseconds_between = _counted_between("microseconds", _same, 1, 10**6)
nanoseconds_between = _counted_between("nanoseconds", _same, 1, 10**9)


# Rounding

Unit = Literal[
    "year",
    "quarter",
    "month",
    "week",
    "day",
    "hour",
    "minute",
    "second",
    "millisecond",
    "microsecond",
    "nanosecond",
]

_MONTHS = {"year": 12, "quarter": 3, "month": 1}
_SECONDS = {"week": 7 * DAY, "day": DAY, "hour": 3600, "minute": 60, "second": 1}
_PARTS = {"millisecond": 1000, "microsecond": 1_000_000, "nanosecond": 1_000_000_000}
_FLOOR, _CEIL, _NEAREST, _ABOVE = range(4)


@lru_cache(maxsize=MOST_FORMATS)
def _to_period(period: int, origin: int, way: int) -> Callable[..., int]:
    def to_period(values: int) -> int:
        low = (values + origin) // period * period - origin
        if way == _FLOOR or (low == values and way != _ABOVE):
            return low
        high = low + period
        return low if way == _NEAREST and values - low < high - values else high

    return to_period


@lru_cache(maxsize=MOST_FORMATS)
def _to_months(months: int, per_day: int, way: int) -> Callable[..., int]:
    def to_months(values: int) -> int:
        year, month, _ = civil(values // per_day)
        first = (12 * (year - 1970) + month - 1) // months * months
        years = first // 12
        low = days_of(1970 + years, first - 12 * years + 1) * per_day
        if way == _FLOOR or (low == values and way != _ABOVE):
            return low
        last = first + months
        years = last // 12
        high = days_of(1970 + years, last - 12 * years + 1) * per_day
        return low if way == _NEAREST and values - low < high - values else high

    return to_months


@lru_cache(maxsize=MOST_FORMATS)
def _away_from_ends(function: Callable[..., int], margin: int) -> Callable[..., object]:
    least, most = (margin - (1 << 63), (1 << 63) - 1 - margin) if margin < 1 << 63 else (1, 0)

    def away_from_ends(values: int) -> int:
        if values < least or values > most:
            raise OverflowError  # The machine's integers might wrap; Python's do not.
        return function(values)

    return away_from_ends


def _to_unit(
    name: str, values: Array, multiple: int, unit: Unit, week_starts_monday: bool, way: int
) -> Array:
    require_valid(values)
    if unit not in get_args(Unit):
        raise ValueError(f"unit: expected one of {get_args(Unit)}, got {unit!r}")
    if multiple < 1:
        raise ValueError(f"multiple: must be positive, got {multiple}")

    def work(plain: Array) -> Array:
        type_ = plain.type
        if not isinstance(type_.storage, (s.Date, s.Timestamp, s.Time)):
            raise TypeError(f"{name}: expected dates or times, got {type_}")
        rounding = _rounding(type_, multiple, unit, week_starts_monday, way)
        return plain if rounding is None else _rounded(name, plain, *rounding)

    return encoded_alike(values, work)


def _rounding(
    type_: s.DataType, multiple: int, unit: Unit, week_starts_monday: bool, way: int
) -> tuple[Callable[..., int], int] | None:
    """The function that rounds numbers of a type, and its margin; None if every number is rounded."""
    is_time, per_day = isinstance(type_.storage, s.Time), _per_second(type_) * DAY or 1
    if is_time and (unit in _MONTHS or unit == "week"):
        raise ValueError(f"unit: expected at most a day, as the column has {type_}, got {unit!r}")
    origin = 0
    if unit in _MONTHS:
        period = _MONTHS[unit] * multiple
    else:
        ticks, parts = multiple * per_day * _SECONDS.get(unit, 1), DAY * _PARTS.get(unit, 1)
        period, rest = divmod(ticks, parts)
        if parts % ticks == 0 and (rest or way != _ABOVE):
            return None
        if rest:
            raise ValueError(
                f"multiple: {multiple} {unit}s are no whole number of units of {type_}, nor are "
                f"those a multiple of them; cast to a timestamp of a finer unit first"
            )
        origin = (3 if week_starts_monday else 4) * per_day if unit == "week" else 0
    if is_time:
        # In any day, a period of two days or more has one multiple, 0, which is the nearest too.
        period = min(period, 2 * per_day)
    if period >= 1 << 63:
        raise ValueError(f"multiple: a {unit} times {multiple} is beyond {type_}")
    if unit in _MONTHS:
        return _to_months(period, per_day, way), 31 * (period + 1) * per_day
    return _to_period(period, origin, way), period + origin


def _rounded(name: str, plain: Array, function: Callable[..., int], margin: int) -> Array:
    """The results of a function that rounds numbers, as dates or times; `margin` is for overflows."""
    shown, storage = _shown(plain), plain.type.storage
    away = _away_from_ends(function, margin)
    rounded = over_rows(away, [_numbers(shown)], same, name=name, machine=True, otherwise=function)
    if isinstance(storage, s.Time) and any(greater_equal(rounded, _per_second(plain.type) * DAY)):
        raise ValueError(
            f"{name}: a time rounds up to the end of the day, which no {plain.type} is"
        )
    result = retyped(rounded, shown.type)
    if isinstance(storage, s.Timestamp) and storage.timezone:
        return _moments_near(plain, shown, result, storage.timezone)
    return result


@element_wise("Dates and times")
def floor_temporal(
    values: Array, multiple: int = 1, unit: Unit = "day", *, week_starts_monday: bool = True
) -> Array:
    """Dates or times rounded down to a multiple of a unit, counted from 1970 on; the type is kept.

    Args:
        multiple: The number of units to round to.
        unit: "year" to "nanosecond".
        week_starts_monday: Whether weeks start on Monday, not on Sunday.

    Raises:
        ValueError: If the unit is unknown, `multiple` is not positive or too large, the type has no
            such multiples, as dates have none of 7 hours, a local time does not exist in its zone, or a
            time of day is rounded to more than a day, or up to the end of the day.
        OverflowError: If a result is outside the range of the type.
        TypeError: If the array has neither dates nor times.
    """
    return _to_unit("floor_temporal", values, multiple, unit, week_starts_monday, _FLOOR)


@element_wise("Dates and times")
def ceil_temporal(
    values: Array,
    multiple: int = 1,
    unit: Unit = "day",
    *,
    week_starts_monday: bool = True,
    ceil_is_strictly_greater: bool = False,
) -> Array:
    """Dates or times rounded up to a multiple of a unit, or always to the next; see `floor_temporal`."""
    way = _ABOVE if ceil_is_strictly_greater else _CEIL
    return _to_unit("ceil_temporal", values, multiple, unit, week_starts_monday, way)


@element_wise("Dates and times")
def round_temporal(
    values: Array, multiple: int = 1, unit: Unit = "day", *, week_starts_monday: bool = True
) -> Array:
    """Dates or times rounded to the nearest multiple of a unit, halves up; see `floor_temporal`."""
    return _to_unit("round_temporal", values, multiple, unit, week_starts_monday, _NEAREST)


# Zones


def _require_calendar(moment: object) -> None:
    """Raise an error if a moment is in no year that `datetime` has; it is a `numpy.datetime64` then."""
    if not isinstance(moment, datetime):
        raise OverflowError(f"{moment} is outside the years 1 to 9999")


def _wall(values: datetime) -> datetime:
    _require_calendar(values)
    return values.replace(tzinfo=None)


def _fixed_offset(timezone: str) -> int | None:
    """The seconds between UTC and the local times of a zone in which they are always the same."""
    offset = zone_of(timezone).utcoffset(None)
    return None if offset is None else int(offset.total_seconds())


def _sum(values: int, other: int) -> int:
    return values + other


def _moved(numbers: Array, distance: int) -> Array:
    """Integers with a number added to each; raises `OverflowError` if a sum is outside their type."""
    return over_rows(_sum, [numbers, distance], same, name="local times") if distance else numbers


@lru_cache(maxsize=MOST_FORMATS)
def _in_zone(zone: tzinfo | None) -> Callable[..., object]:
    def in_zone(values: datetime) -> datetime:
        _require_calendar(values)
        return values.replace(tzinfo=zone)

    return in_zone


def _seconds(plain: Array) -> tuple[Array, Array | None]:
    """Timestamps in whole seconds, of the same zone, and the rest as integers; None for seconds."""
    storage = plain.type.storage
    assert isinstance(storage, s.Timestamp)
    if storage.unit == "s":
        return plain, None
    per_second = PER_SECOND[storage.unit]
    numbers = _numbers(plain)
    whole = over_rows(_to_period(per_second, 0, _FLOOR), [numbers], long, machine=True)
    counts = over_rows(_quotient(per_second), [numbers], long, machine=True)
    return retyped(counts, s.timestamp("s", storage.timezone)), subtract(numbers, whole)


@lru_cache(maxsize=len(PER_SECOND))
def _quotient(divisor: int) -> Callable[..., object]:
    def quotient(values: int) -> int:
        return values // divisor

    return quotient


def _with_rest(seconds: Array, rest: Array | None, type_: s.DataType) -> Array:
    """Timestamps of a type, put together from whole seconds and the rest."""
    if rest is None:
        return retyped(seconds, type_)
    parts = [_numbers(seconds), _per_second(type_), rest]
    return retyped(over_rows(_joined, parts, long, name="local times"), type_)


def _joined(seconds: int, per_second: int, rest: int) -> int:
    return seconds * per_second + rest


def _local(plain: Array) -> Array:
    storage = plain.type.storage
    assert isinstance(storage, s.Timestamp)
    assert storage.timezone
    type_ = s.timestamp(storage.unit)
    offset = _fixed_offset(storage.timezone)
    if offset is not None:
        return retyped(_moved(_numbers(plain), offset * PER_SECOND[storage.unit]), type_)
    seconds, rest = _seconds(plain)
    shown = over_rows(_wall, [seconds], lambda *_: s.timestamp("s"), name="local times")
    return _with_rest(shown, rest, type_)


def _shifted(wanted: int, shown: int, moment: int) -> int:
    return wanted - (shown - moment)


def _moments_near(moments: Array, shown: Array, wanted: Array, timezone: str) -> Array:
    """The moments with the wanted local times: by the offsets at `moments`, if these are right there."""
    # So a local time that occurs twice becomes the moment with the offset at `moments`.
    numbers = [_numbers(each) for each in (wanted, shown, moments)]
    near = retyped(over_rows(_shifted, numbers, long, name="local times"), moments.type)
    is_right = equal(_numbers(_local(near)), _numbers(wanted))
    if not any(invert(is_right)):
        return near
    return if_else(is_right, near, assume_timezone(wanted, timezone, ambiguous="earliest"))


@element_wise("Dates and times")
def local_timestamp(values: Array) -> Array:
    """The local times of timestamps with a zone, as timestamps without one."""
    require_valid(values)

    def work(plain: Array) -> Array:
        if not isinstance(plain.type.storage, s.Timestamp):
            raise TypeError(f"local_timestamp: expected timestamps, got {plain.type}")
        return _shown(plain)

    return encoded_alike(values, work)


@element_wise("Dates and times")
def assume_timezone(
    values: Array,
    timezone: str,
    *,
    ambiguous: Literal["raise", "earliest", "latest"] = "raise",
    nonexistent: Literal["raise", "earliest", "latest"] = "raise",
) -> Array:
    """Local times, as timestamps without a zone, turned into timestamps with a zone.

    Args:
        values: Timestamps without a zone.
        timezone: The name of the zone.
        ambiguous: Which moment is meant if a local time occurs twice.
        nonexistent: Which moment is meant if clocks pass over a local time: the last one before, in the
            unit of the values, or the one at which they do.

    Raises:
        ValueError: If a local time does not exist in the zone, or occurs twice, and its option is "raise";
            or if an option is another word.
        TypeError: If the values are no timestamps without a zone.
    """
    for name, word in (("ambiguous", ambiguous), ("nonexistent", nonexistent)):
        if word not in ("raise", "earliest", "latest"):
            raise ValueError(f"{name}: expected 'raise', 'earliest' or 'latest', got {word!r}")
    require_valid(values)
    zone = zone_of(timezone)

    def work(plain: Array) -> Array:
        storage = plain.type.storage
        if not isinstance(storage, s.Timestamp) or storage.timezone:
            raise TypeError(
                f"assume_timezone: expected timestamps without a zone, got {plain.type}"
            )
        whole = s.timestamp(storage.unit, timezone)
        fixed = _fixed_offset(timezone)
        if fixed is not None:
            return retyped(_moved(_numbers(plain), -fixed * PER_SECOND[storage.unit]), whole)
        seconds, rest = _seconds(plain)
        type_ = s.timestamp("s", timezone)
        moments = over_rows(_in_zone(zone), [seconds], lambda *_: type_, name="assume_timezone")
        clock = _numbers(seconds)
        missing = not_equal(_numbers(_local(moments)), clock)
        has_gaps = any(missing)
        if has_gaps and nonexistent == "raise":
            raise ValueError(
                f"assume_timezone: a local time does not exist in {timezone}; "
                f"choose a moment with nonexistent='earliest' or 'latest'"
            )
        if ambiguous != "earliest":
            # The time occurs twice if the offset of a day later gives another moment.
            later = add(_numbers(moments), DAY)
            offset = subtract(_numbers(_local(retyped(later, type_))), later)
            again = subtract(clock, offset)
            shown = equal(_numbers(_local(retyped(again, type_))), clock)
            twice = and_(shown, not_equal(again, _numbers(moments)))
            if ambiguous == "raise" and any(twice):
                raise ValueError(
                    f"assume_timezone: a local time occurs twice in {timezone}; "
                    f"choose one with ambiguous='earliest' or 'latest'"
                )
            moments = if_else(twice, retyped(again, type_), moments)
        result = _with_rest(moments, rest, whole)
        if not has_gaps:
            return result
        gaps = unique(filter(clock, missing))
        ends = ends_of_gaps(zone, gaps, nonexistent == "earliest", storage.unit)
        return if_else(missing, retyped(take(ends, index_in(clock, gaps)), whole), result)

    return encoded_alike(values, work)


# Text


@lru_cache(maxsize=MOST_FORMATS)
def _formats(format: str, digits: int) -> Callable[..., object]:
    """The function of a format, for timestamps in seconds and a rest with that number of digits."""
    marks = {"%f": "\x02"}
    if digits:
        marks |= {"%S": "%S.\x03", "%T": "%H:%M:%S.\x03"}
    usual = _with_marks(format, marks)
    # Python writes early years with fewer than four digits.
    early = _with_marks(format, marks | {"%Y": "\x01"})
    has_microseconds, has_fraction = "\x02" in usual, "\x03" in usual

    def strftime(values: datetime, rest: int) -> str:
        _require_calendar(values)
        if values.year < 1000:
            text = values.strftime(early).replace("\x01", str(values.year).zfill(4))
        else:
            text = values.strftime(usual)
        fraction = str(rest).zfill(digits)
        if has_fraction:
            text = text.replace("\x03", fraction)
        if has_microseconds:
            text = text.replace("\x02", fraction.ljust(6, "0")[:6])
        return text

    return strftime


def _with_marks(format: str, marks: dict[str, str]) -> str:
    """The format with other text in place of directives."""
    return re.sub("%.", lambda match: marks.get(match[0], match[0]), format)


@element_wise("Dates and times")
def strftime(values: Array, format: str = "%Y-%m-%dT%H:%M:%S") -> Array:
    """Dates or timestamps as text, by a format of Python's `strftime`.

    As in pyarrow, `%S` and `%T` have a fraction with as many digits as the unit has.

    Raises:
        TypeError: If the array has neither dates nor timestamps.
    """

    def work(plain: Array) -> Array:
        moments = cast(plain, s.timestamp("s")) if isinstance(plain.type.storage, s.Date) else plain
        seconds, rest = _seconds(moments)
        digits = len(str(_per_second(moments.type))) - 1
        return over_rows(
            _formats(format, digits), [seconds, 0 if rest is None else rest], name="strftime"
        )

    return _worked("strftime", values, _MOMENTS, work)


def _ends_in_offset(format: str) -> bool:
    """Whether a format of `strptime` ends in the directive `%z`, not in an escaped `%` and a `z`."""
    return format.replace("%%", "").endswith("%z")


@lru_cache(maxsize=MOST_FORMATS)
def _parses(format: str, error_is_null: bool) -> Callable[..., object]:
    def in_utc(strings: str) -> datetime:
        return datetime.strptime(strings, format).astimezone(UTC)

    def plain(strings: str) -> datetime:
        return datetime.strptime(strings, format)

    parsed = in_utc if _ends_in_offset(format) else plain

    def strptime_or_none(strings: str) -> datetime | None:
        try:
            return parsed(strings)
        except ValueError:
            return None

    return strptime_or_none if error_is_null else parsed


@element_wise("Dates and times")
def strptime(
    strings: Array, format: str, unit: str = "us", *, error_is_null: bool = False
) -> Array:
    """Text as timestamps without a zone, or of UTC, by a format of Python's `strptime`.

    Args:
        format: The format. If it ends with `%z`, as `+0100`, the results are in UTC.
        unit: "s", "ms", "us" or "ns".
        error_is_null: Whether text that does not match the format gives null.

    Raises:
        ValueError: If a text does not match the format; a note names the row.
        TypeError: If the array has no strings.
    """
    type_ = s.timestamp(unit, "UTC" if _ends_in_offset(format) else None)
    parses = _parses(format, error_is_null)
    return over_rows(parses, [strings], lambda *_: type_, STRINGS, name="strptime")
