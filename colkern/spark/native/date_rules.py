"""Rules for dates, datetimes without a zone or in UTC, and durations, which are microseconds.

Spark's calendar is Python's, but has more years than 1 to 9999. Functions that take only timestamps with a
zone, such as `date_format`, depend on the session's time zone, so they are not used.
"""

from __future__ import annotations

import datetime
import operator
from collections.abc import Callable, Iterable
from decimal import Decimal
from functools import partial, reduce
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as f

from colkern.kernels.calendar import BEFORE_FIRST, DAY, FIRST_DAY, KEPT, LAST_DAY
from colkern.rows import date_formats
from colkern.spark.native.integers import BOUNDS
from colkern.spark.native.number_rules import (
    as_long,
    floor_quotient,
    is_zero,
    modulo,
    no_quotient,
    true_quotient,
)
from colkern.spark.native.rule import (
    LEAST,
    Operand,
    Rule,
    Rules,
    literal,
    of_columns,
    order,
    where_null,
)

_SECOND = 1_000_000
_FIRST = datetime.datetime(1, 1, 1)
_UNIX = datetime.datetime(1970, 1, 1)


def known(value: Any) -> Operand:
    """Returns a Python object that has a column as an operand."""
    return Operand(None, value)


# Fields


def _iso_calendar(day: Column) -> tuple[Column, ...]:
    year = as_long(f.extract(f.lit("YEAROFWEEK"), day))
    return year, as_long(f.weekofyear(day)), _iso_weekday(day)


def _weekday(day: Column) -> Column:
    # 1970 began with a Thursday. Spark's own function takes four times as long.
    return f.pmod(as_long(f.unix_date(day)) + 3, f.lit(7))


def _iso_weekday(day: Column) -> Column:
    return _weekday(day) + 1


_OF_DAYS: dict[str, Callable[[Column], Column]] = {
    "year": lambda day: as_long(f.year(day)),
    "month": lambda day: as_long(f.month(day)),
    "day": lambda day: as_long(f.dayofmonth(day)),
    "weekday": _weekday,
    "isoweekday": _iso_weekday,
    "toordinal": lambda day: as_long(f.unix_date(day)) + BEFORE_FIRST,
}


_OF_CLOCKS: dict[str, Callable[[Column], Column]] = {
    "hour": lambda instant: as_long(f.hour(instant)),
    "minute": lambda instant: as_long(f.minute(instant)),
    "second": lambda instant: as_long(f.second(instant)),
    "microsecond": lambda instant: as_long(f.extract(f.lit("SECOND"), instant) % 1 * _SECOND),
}


def _day_of(instant: Column) -> Column:
    return instant.cast("date")


def _microseconds(instant: Column) -> Column:
    """Returns the microseconds since 1970, from the fields: `unix_timestamp` rounds towards 1970."""
    minutes = f.hour(instant).cast("bigint") * 60 + f.minute(instant)
    seconds = as_long(f.extract(f.lit("SECOND"), instant) * _SECOND)
    days = as_long(f.unix_date(_day_of(instant)))
    return days * known(DAY).column + minutes * (60 * _SECOND) + seconds


def instant_of(moment: Column) -> Column:
    """Returns a timestamp as a datetime in UTC, whatever the session's time zone is."""
    return f.timestamp_add("MICROSECOND", f.unix_micros(moment), known(_UNIX).column)


def moment_of(instant: Column) -> Column:
    """Returns a datetime in UTC as a timestamp."""
    return f.timestamp_micros(_microseconds(instant))


# New ones


def _is_leap(year: Column) -> Column:
    return ((year % 4 == 0) & (year % 100 != 0)) | (year % 400 == 0)


def _is_day(year: Operand, month: Operand, day: Operand) -> Column | None:
    """Whether such a day exists; None if it exists for all values of the operands."""
    tests = [_is_between(year, 1, 9999), _is_between(month, 1, 12)]
    if not day.is_within(1, 28):
        y, m, d = year.column, month.column, day.column
        in_month = (
            (d <= 28)
            | ((m != 2) & (d <= 30))
            | ((d == 31) & m.isin(1, 3, 5, 7, 8, 10, 12))
            | ((d == 29) & (m == 2) & _is_leap(y))
        )
        tests += [d >= 1, in_month]
    return _all(tests)


def _is_between(part: Operand, low: int, high: int) -> Column | None:
    return None if part.is_within(low, high) else part.column.between(low, high)


def _all(tests: Iterable[Column | None]) -> Column | None:
    """Whether all tests hold; None stands for a test that always holds."""
    asked = [test for test in tests if test is not None]
    return reduce(operator.and_, asked) if asked else None


def _new_day(year: Operand, month: Operand, day: Operand) -> Column:
    first = f.make_date(_within(year, 1, 9999), _within(month, 1, 12), f.lit(1))
    if day.constant == 1:
        return first
    return f.date_add(first, _within(day, 0, 40) - 1)


def _within(part: Operand, low: int, high: int) -> Column:
    """Returns a number as an int, limited to bounds."""
    if part.is_within(low, high):
        return part.column.cast("int")
    return f.least(f.greatest(part.column, f.lit(low)), f.lit(high)).cast("int")


def _is_instant(*parts: Operand) -> Column | None:
    clock = zip(parts[3:], _OF_CLOCKS, strict=True)
    return _all([_is_day(*parts[:3]), *(_is_between(part, *BOUNDS[name]) for part, name in clock)])


def _new_instant(*parts: Operand) -> Column:
    *small, second, microsecond = (part.column.try_cast("int") for part in parts)
    seconds = (second.cast("bigint") * _SECOND + microsecond).cast("decimal(16,0)")
    fraction = (seconds * f.lit(Decimal("0.000001"))).cast("decimal(16,6)")
    return f.try_make_timestamp_ntz(*small, fraction)


def _none_of(is_there: Callable[..., Column | None]) -> Callable[..., Column | None]:
    """Whether no such day or instant exists; None if one exists for all values."""

    def fails(*parts: Operand) -> Column | None:
        present = is_there(*parts)
        return None if present is None else ~present

    return fails


def _replacing(
    fields: dict[str, Callable[[Column], Column]],
    make: Callable[..., Column],
    is_there: Callable[..., Column | None],
) -> Rule:
    """`replace`: fields that are not given keep their values."""

    def parts(owner: Operand, values: tuple[Operand, ...]) -> list[Operand]:
        return [
            Operand(own(owner.column), bounds=BOUNDS[name]) if part.constant == KEPT else part
            for (name, own), part in zip(fields.items(), values, strict=True)
        ]

    return Rule(
        lambda owner, *given: make(*parts(owner, given)),
        lambda owner, *given: _none_of(is_there)(*parts(owner, given)),
        is_total=False,
    )


_DAY_FIELDS = {name: _OF_DAYS[name] for name in ("year", "month", "day")}


# Durations


def days_of(duration: Operand) -> Column:
    """`timedelta.days`."""
    if duration.item is not None:
        return duration.item()
    if isinstance(duration.constant, datetime.timedelta):
        return known(duration.constant.days).column
    return floor_quotient(duration, known(DAY))


def _number(duration: Operand) -> Operand:
    """Returns a duration as an operand that is an integer."""
    if isinstance(duration.constant, datetime.timedelta):
        return known(duration.constant // datetime.timedelta(microseconds=1))
    return duration


def _as_integers(rule: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *operands: rule(*map(_number, operands))


def _total_seconds(duration: Operand) -> Column:
    """`timedelta.total_seconds`; long durations are computed as in `colkern.kernels.clock`."""
    number = _number(duration).column
    return f.when(number.between(-(1 << 53), 1 << 53), number.cast("double") / 1e6).otherwise(
        seconds_of(number)
    )


def seconds_of(micros: Column) -> Column:
    """Returns microseconds as seconds, rounded once for the rest of a second and once for the sum."""
    number, second = Operand(micros), known(_SECOND)
    return (
        floor_quotient(number, second).cast("double") + modulo(number, second).cast("double") / 1e6
    )


def _nearest_quotient(duration: Operand, divisor: Operand) -> Column | None:
    """Returns the integer nearest to a quotient; of two, the even one."""
    if not isinstance(divisor.constant, int) or not 0 < divisor.constant < 1 << 61:
        return None
    quotient, twice = floor_quotient(duration, divisor), modulo(duration, divisor) * 2
    is_odd = quotient.bitwiseAND(f.lit(1)) == 1
    is_above = (twice > divisor.column) | ((twice == divisor.column) & is_odd)
    return f.when(is_above, quotient + 1).otherwise(quotient)


_UNITS = {
    "days": DAY,
    "seconds": _SECOND,
    "microseconds": 1,
    "milliseconds": 1000,
    "minutes": 60 * _SECOND,
    "hours": 3600 * _SECOND,
    "weeks": 7 * DAY,
}


def _duration(*parts: Operand) -> Column | None:
    """Returns a sum of units; null if it is not a bigint. Decimals hold sums of parts that are not."""
    units = [
        (part, size)
        for part, size in zip(parts, _UNITS.values(), strict=True)
        if not (part.is_constant and part.constant == 0)
    ]
    if len(units) == 1:
        return f.try_multiply(units[0][0].column, known(units[0][1]).column)
    terms = [part.column.cast("decimal(19,0)") * f.lit(Decimal(size)) for part, size in units]
    return reduce(operator.add, terms, f.lit(Decimal(0))).try_cast("bigint")


def _days_between(first: Operand, second: Operand) -> Column:
    """Returns the days from a second date to a first one."""
    return as_long(f.datediff(first.column, second.column))


_SUMS = {
    ("+", "(timedelta, timedelta) -> timedelta"): f.try_add,
    ("-", "(timedelta, timedelta) -> timedelta"): f.try_subtract,
    ("*", "(timedelta, int) -> timedelta"): f.try_multiply,
    ("*", "(int, timedelta) -> timedelta"): f.try_multiply,
}


def _is_shortest(duration: Column) -> Column:
    """Whether a duration is the one that cannot be negated."""
    return duration == known(LEAST).column


_DURATIONS: Rules = {
    ("timedelta.days", "(timedelta) -> int"): Rule(days_of),
    ("timedelta.seconds", "(timedelta) -> int"): Rule(
        lambda x: floor_quotient(Operand(modulo(_number(x), known(DAY))), known(_SECOND))
    ),
    ("timedelta.microseconds", "(timedelta) -> int"): Rule(
        lambda duration: modulo(_number(duration), known(_SECOND))
    ),
    ("timedelta.total_seconds", "(timedelta) -> float"): Rule(_total_seconds),
    (
        "datetime.timedelta",
        f"({', '.join(f'{unit}: int = 0' for unit in _UNITS)}) -> timedelta",
    ): where_null(_duration),
    **{key: where_null(of_columns(make)) for key, make in _SUMS.items()},
    ("//", "(timedelta, int) -> timedelta"): Rule(
        _as_integers(floor_quotient), _as_integers(no_quotient), is_total=False
    ),
    ("//", "(timedelta, timedelta) -> int"): Rule(
        _as_integers(floor_quotient), _as_integers(no_quotient), is_total=False
    ),
    ("%", "(timedelta, timedelta) -> timedelta"): Rule(_as_integers(modulo), _as_integers(is_zero)),
    ("divmod", "(timedelta, timedelta) -> tuple[int, timedelta]"): Rule(
        _as_integers(lambda x, y: (floor_quotient(x, y), modulo(x, y))),
        _as_integers(no_quotient),
        is_total=False,
    ),
    ("/", "(timedelta, timedelta) -> float"): Rule(
        _as_integers(true_quotient), _as_integers(is_zero)
    ),
    ("/", "(timedelta, int) -> timedelta"): Rule(_as_integers(_nearest_quotient)),
    ("neg", "(timedelta) -> timedelta"): Rule(
        of_columns(lambda x: -x), of_columns(_is_shortest), is_total=False
    ),
    ("pos", "(timedelta) -> timedelta"): Rule(lambda x: x.column),
    ("abs", "(timedelta) -> timedelta"): Rule(
        of_columns(f.abs), of_columns(_is_shortest), is_total=False
    ),
    ("bool", "(timedelta) -> bool"): Rule(of_columns(lambda x: x != 0)),
}


# Sums of dates and durations


def _moved_by(day: Column, days: int) -> tuple[Column, Column]:
    """Returns a day moved by a constant number of days, and whether it leaves Python's years."""
    ends = FIRST_DAY - days, LAST_DAY - days
    before, behind = (
        f.date_from_unix_date(f.lit(max(FIRST_DAY - 1, min(end, LAST_DAY + 1)))) for end in ends
    )
    is_beyond = f.lit(False) if days == 0 else day > behind if days > 0 else day < before
    return f.date_add(day, f.lit(days)), is_beyond


def _moved_day(day: Operand, duration: Operand, sign: int) -> tuple[Column, Column]:
    """Returns a day moved by a duration, and whether it leaves Python's years."""
    if isinstance(duration.constant, datetime.timedelta):
        return _moved_by(day.column, duration.constant.days * sign)
    days = days_of(duration) * sign
    number = as_long(f.unix_date(day.column)) + days
    return (f.date_from_unix_date(number.try_cast("int")), ~number.between(FIRST_DAY, LAST_DAY))


def _moved_for(instant: Column, duration: datetime.timedelta) -> tuple[Column, Column]:
    """Returns an instant moved by a constant duration, and whether it leaves Python's years."""
    microseconds = f.lit(duration // datetime.timedelta(microseconds=1))
    is_later = duration > datetime.timedelta()
    least, most = datetime.datetime.min, datetime.datetime.max
    try:
        last = literal(most - duration if is_later else least - duration)
        assert last is not None
        is_beyond = instant > last if is_later else instant < last
    except OverflowError:
        is_beyond = f.lit(True)
    return f.timestamp_add("MICROSECOND", microseconds, instant), is_beyond


def _moved(instant: Operand, duration: Operand, sign: int) -> tuple[Column, Column]:
    """Returns an instant moved by a duration, and whether it leaves Python's years."""
    number = _number(duration)
    if isinstance(duration.constant, datetime.timedelta):
        return _moved_for(instant.column, duration.constant * sign)
    distance = number.column if sign > 0 else f.try_multiply(number.column, known(-1).column)
    since = f.try_add(
        f.try_subtract(_microseconds(instant.column), known(FIRST_DAY * DAY).column), distance
    )
    span = (LAST_DAY - FIRST_DAY + 1) * DAY - 1
    moved = f.timestamp_add("MICROSECOND", distance, instant.column)
    return moved, ~f.coalesce(since.between(0, span), f.lit(False))


def _sum(move: Callable[..., tuple[Column, Column]], sign: int = 1, swapped: bool = False) -> Rule:
    def part(number: int) -> Callable[[Operand, Operand], Column]:
        return lambda x, y: move(y, x, sign)[number] if swapped else move(x, y, sign)[number]

    return Rule(part(0), part(1), is_total=move is _moved_day)


_SUMS_OF_KINDS: Rules = {
    key: rule
    for kind, move in (("date", _moved_day), ("datetime", _moved))
    for key, rule in (
        (("+", f"({kind}, timedelta) -> {kind}"), _sum(move)),
        (("+", f"(timedelta, {kind}) -> {kind}"), _sum(move, swapped=True)),
        (("-", f"({kind}, timedelta) -> {kind}"), _sum(move, -1)),
    )
}


# Texts


def _iso_text(instant: Column) -> Column:
    """Returns a datetime as `2000-01-01 00:00:00.000000`; Spark drops zeros at the end."""
    text = instant.cast("string")
    dot = f.when(f.char_length(text) == 19, f.lit(".")).otherwise("")
    return f.rpad(f.concat(text, dot), 26, "0")


def _str(instant: Column) -> Column:
    """`str` of a datetime, which shows a fraction if that is not zero."""
    text = instant.cast("string")
    return f.when(f.char_length(text) == 19, text).otherwise(f.rpad(text, 26, "0"))


_CUT = {"hours": 13, "minutes": 16, "seconds": 19, "milliseconds": 23, "microseconds": 26}


def _isoformat(instant: Operand, separator: Operand, precision: Operand) -> Column | None:
    between = separator.constant
    if not isinstance(between, str) or len(between) != 1:
        return None
    if precision.constant == "auto":
        text = _str(instant.column)
    elif precision.constant in _CUT:
        size = _CUT[precision.constant]
        whole = _iso_text(instant.column) if size > 19 else instant.column.cast("string")
        text = f.substring(whole, 1, size)
    else:
        return None
    if between == " ":
        return text
    return f.concat(f.substring(text, 1, 10), f.lit(between), f.substring(text, 12, 26))


_PLACES = {
    "Y": (1, 4),
    "m": (6, 2),
    "d": (9, 2),
    "H": (12, 2),
    "M": (15, 2),
    "S": (18, 2),
    "f": (21, 6),
}
"""The places of directives in a text of `_iso_text`."""
_NAMES = {
    "a": [f"{datetime.date(2024, 1, day):%a}" for day in range(1, 8)],
    "A": [f"{datetime.date(2024, 1, day):%A}" for day in range(1, 8)],
    "b": [f"{datetime.date(2024, month, 1):%b}" for month in range(1, 13)],
    "B": [f"{datetime.date(2024, month, 1):%B}" for month in range(1, 13)],
}


def _digits(number: Column, size: int, fill: str = "0") -> Column:
    return f.lpad(number.cast("string"), size, fill)


def _year_text(year: Column) -> Column:
    """Returns a year as the C library formats it, with leading zeros or without."""
    text = year.cast("string")
    return _digits(year, 4) if f"{_FIRST:%Y}" == "0001" else text


_DIRECTIVES: dict[str, Callable[[Column, Column], Column]] = {
    "a": lambda day, hour: f.elt(f.weekday(day) + 1, *map(f.lit, _NAMES["a"])),
    "A": lambda day, hour: f.elt(f.weekday(day) + 1, *map(f.lit, _NAMES["A"])),
    "b": lambda day, hour: f.elt(f.month(day), *map(f.lit, _NAMES["b"])),
    "B": lambda day, hour: f.elt(f.month(day), *map(f.lit, _NAMES["B"])),
    "e": lambda day, hour: _digits(f.dayofmonth(day), 2, " "),
    "I": lambda day, hour: _digits((hour + 11) % 12 + 1, 2),
    "j": lambda day, hour: _digits(f.dayofyear(day), 3),
    "p": lambda day, hour: f.when(hour < 12, "AM").otherwise("PM"),
    "u": lambda day, hour: (f.weekday(day) + 1).cast("string"),
    "U": lambda day, hour: _digits(_sevenths(f.dayofyear(day) + 6 - (f.weekday(day) + 1) % 7), 2),
    "V": lambda day, hour: _digits(f.weekofyear(day), 2),
    "w": lambda day, hour: ((f.weekday(day) + 1) % 7).cast("string"),
    "W": lambda day, hour: _digits(_sevenths(f.dayofyear(day) + 6 - f.weekday(day)), 2),
    "y": lambda day, hour: _digits(f.year(day) % 100, 2),
}


def _sevenths(number: Column) -> Column:
    return f.call_function("div", number, f.lit(7))


def _strftime(value: Operand, format: Operand, *, is_date: bool) -> Column | None:
    written = date_formats.expanded(format.constant)
    if written is None:
        return None
    text = value.column.cast("string") if is_date else None
    day = value.column if is_date else _day_of(value.column)
    hour = f.lit(0) if is_date else f.hour(value.column)
    if text is None:
        text = _iso_text(value.column) if "%f" in written else value.column.cast("string")
    parts: list[Column] = []
    for plain, directive in date_formats.pieces(written):
        parts += [f.lit(plain)] if plain else []
        if directive == "Y":
            parts.append(_year_text(f.year(day)))
        elif directive in _PLACES and is_date and directive in "HMSf":
            parts.append(f.lit("0" * _PLACES[directive][1]))
        elif directive in _PLACES:
            parts.append(f.substring(text, *_PLACES[directive]))
        elif directive in _DIRECTIVES:
            parts.append(_DIRECTIVES[directive](day, hour))
        elif directive:
            return None
    return f.concat(*parts) if parts else f.lit("")


def _formatted(plain: Callable[[Column], Column], is_date: bool) -> Rule:
    def value(operand: Operand, specification: Operand) -> Column | None:
        if specification.constant == "":
            return plain(operand.column)
        return _strftime(operand, specification, is_date=is_date)

    return Rule(value)


_KEPT = f"int = {KEPT}"
_DATE_FORM = f"year: {_KEPT}, month: {_KEPT}, day: {_KEPT}"
_CLOCK_FORM = ", ".join(f"{name}: {_KEPT}" for name in _OF_CLOCKS)
_NEW_CLOCK = ", ".join(f"{name}: int = 0" for name in _OF_CLOCKS)
_ISO_FORM = "sep: const = 'T', timespec: const = 'auto'"


def _day_text(day: Column) -> Column:
    return day.cast("string")


def _on_day(make: Callable[[Column], Any]) -> Callable[[Column], Any]:
    return lambda instant: make(_day_of(instant))


_OF_INSTANTS = {name: _on_day(field) for name, field in _OF_DAYS.items()} | _OF_CLOCKS
_INSTANT_FIELDS = {name: _OF_INSTANTS[name] for name in (*_DAY_FIELDS, *_OF_CLOCKS)}


def _month_range(year: Column, month: Column) -> tuple[Column, Column]:
    """`calendar.monthrange`, computed for a year between 2000 and 2399 with the same days."""
    same = Operand(f.pmod(year, f.lit(400)) + 2000, bounds=(2000, 2399))
    first = _new_day(same, Operand(month), known(1))
    return _weekday(first), as_long(f.dayofmonth(f.last_day(first)))


RULES: Rules = {
    **order("date"),
    **order("datetime"),
    **order("timedelta"),
    **_DURATIONS,
    **_SUMS_OF_KINDS,
    **{(f"date.{n}", "(date) -> int"): Rule(of_columns(field)) for n, field in _OF_DAYS.items()},
    **{
        (f"datetime.{name}", "(datetime) -> int"): Rule(of_columns(field))
        for name, field in _OF_INSTANTS.items()
    },
    ("date.isocalendar", "(date) -> IsoCalendarDate"): Rule(of_columns(_iso_calendar)),
    ("datetime.isocalendar", "(datetime) -> IsoCalendarDate"): Rule(
        of_columns(_on_day(_iso_calendar))
    ),
    ("datetime.date", "(datetime) -> date"): Rule(of_columns(_day_of)),
    ("bool", "(date) -> bool"): Rule(lambda day: f.lit(True)),
    ("bool", "(datetime) -> bool"): Rule(lambda instant: f.lit(True)),
    ("datetime.date", "(year: int, month: int, day: int) -> date"): Rule(
        _new_day, _none_of(_is_day)
    ),
    ("datetime.datetime", f"(year: int, month: int, day: int, {_NEW_CLOCK}) -> datetime"): Rule(
        _new_instant, _none_of(_is_instant), is_total=False
    ),
    ("date.replace", f"(date, {_DATE_FORM}) -> date"): _replacing(_DAY_FIELDS, _new_day, _is_day),
    ("datetime.replace", f"(datetime, {_DATE_FORM}, {_CLOCK_FORM}) -> datetime"): _replacing(
        _INSTANT_FIELDS, _new_instant, _is_instant
    ),
    ("datetime.date.fromordinal", "(int) -> date"): Rule(
        of_columns(
            lambda n: f.date_from_unix_date(f.try_subtract(n, f.lit(BEFORE_FIRST)).try_cast("int"))
        ),
        of_columns(lambda n: ~n.between(1, BEFORE_FIRST + LAST_DAY)),
    ),
    ("datetime.datetime.utcfromtimestamp", "(int) -> datetime"): Rule(
        of_columns(lambda n: f.timestamp_add("SECOND", n, known(_UNIX).column)),
        of_columns(lambda n: ~n.between(FIRST_DAY * 86400, (LAST_DAY + 1) * 86400 - 1)),
        is_total=False,
    ),
    ("-", "(date, date) -> timedelta"): Rule(
        lambda x, y: _days_between(x, y) * known(DAY).column,
        item=lambda name, x, y: partial(_days_between, x, y) if name == "timedelta.days" else None,
    ),
    ("-", "(datetime, datetime) -> timedelta"): Rule(
        of_columns(lambda x, y: _microseconds(x) - _microseconds(y))
    ),
    ("str", "(date) -> str"): Rule(of_columns(_day_text)),
    ("date.isoformat", "(date) -> str"): Rule(of_columns(_day_text)),
    ("str", "(datetime) -> str"): Rule(of_columns(_str)),
    ("datetime.isoformat", f"(datetime, {_ISO_FORM}) -> str"): Rule(_isoformat),
    ("date.strftime", "(date, format: const) -> str"): Rule(
        lambda day, format: _strftime(day, format, is_date=True)
    ),
    ("datetime.strftime", "(datetime, format: const) -> str"): Rule(
        lambda instant, format: _strftime(instant, format, is_date=False)
    ),
    ("format", "(date, format_spec: const = '') -> str"): _formatted(_day_text, True),
    ("format", "(datetime, format_spec: const = '') -> str"): _formatted(_str, False),
    ("calendar.isleap", "(year: int) -> bool"): Rule(of_columns(_is_leap)),
    ("calendar.monthrange", "(year: int, month: int) -> tuple[int, int]"): Rule(
        of_columns(_month_range), of_columns(lambda year, month: ~month.between(1, 12))
    ),
}
"""The rules for dates, datetimes and durations."""
