"""Dates, times and durations: the rows of `date`, `datetime`, `time`, `timedelta` and `calendar`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from colkern.kernels import calendar, clock, date_text, row_numbers
from colkern.rows import date_formats as formats
from colkern.rows.methods import Method

Body = Callable[..., Any]

_KEPT = f"int = {calendar.KEPT}"
_DATE_FIELDS = f"year: {_KEPT}, month: {_KEPT}, day: {_KEPT}"
_TIME_FIELDS = f"hour: {_KEPT}, minute: {_KEPT}, second: {_KEPT}, microsecond: {_KEPT}"
_CLOCK = "hour: int = 0, minute: int = 0, second: int = 0, microsecond: int = 0"
_UNITS = ("days", "seconds", "microseconds", "milliseconds", "minutes", "hours", "weeks")

_ISO_FORM = "sep: const = 'T', timespec: const = 'auto'"


def _formatted(kind: str, plain: Body) -> Callable[[str], Body]:
    """`format` of a kind: without a specification it is `str`."""

    def body(specification: str) -> Body:
        return plain if specification == "" else formats.strftime(kind, specification)

    return body


def _texts(of: str, plain: Body) -> list[Method]:
    """The methods of all but durations: `str`, `format` and `strftime`."""
    return [
        Method("str", f"({of}) -> str", plain),
        Method(
            "format",
            f"({of}, format_spec: const = '') -> str",
            _formatted(of, plain),
            maker=True,
        ),
        Method(
            f"{of}.strftime",
            f"({of}, format: const) -> str",
            partial(formats.strftime, of),
            maker=True,
        ),
    ]


def _compared(of: str) -> list[Method]:
    return [
        Method(name, f"({of}, {of}) -> bool", f"{{0}} {name} {{1}}")
        for name in ("==", "!=", "<", "<=", ">", ">=")
    ] + [
        Method(name, f"({of}, {of}) -> {of}", f"{{1}} if {{1}} {sign} {{0}} else {{0}}")
        for name, sign in (("min", "<"), ("max", ">"))
    ]


_DATES = [
    Method("date.year", "(date) -> int", calendar.year_of),
    Method("date.month", "(date) -> int", calendar.month_of),
    Method("date.day", "(date) -> int", calendar.day_of),
    Method("date.weekday", "(date) -> int", calendar.weekday),
    Method("date.isoweekday", "(date) -> int", calendar.isoweekday),
    Method("date.toordinal", "(date) -> int", calendar.toordinal),
    Method("date.isocalendar", "(date) -> IsoCalendarDate", calendar.isocalendar),
    Method("date.timetuple", "(date) -> struct_time", calendar.timetuple),
    Method("date.replace", f"(date, {_DATE_FIELDS}) -> date", calendar.replace_date),
    Method("date.isoformat", "(date) -> str", date_text.isoformat_date),
    *_texts("date", date_text.isoformat_date),
    *_compared("date"),
    Method("bool", "(date) -> bool", "True"),
    Method("datetime.date", "(year: int, month: int, day: int) -> date", calendar.new_date),
    Method("datetime.date.fromordinal", "(int) -> date", calendar.fromordinal),
    Method("datetime.date.fromisoformat", "(str) -> date", date_text.fromisoformat_date),
    Method("+", "(date, timedelta) -> date", calendar.later_date),
    Method("+", "(timedelta, date) -> date", calendar.later_date_of),
    Method("-", "(date, timedelta) -> date", calendar.earlier_date),
    Method("-", "(date, date) -> timedelta", f"({{0}} - {{1}}) * {calendar.DAY}"),
]

_TIMES = [
    Method("time.hour", "(time) -> int", clock.hour_of),
    Method("time.minute", "(time) -> int", clock.minute_of),
    Method("time.second", "(time) -> int", clock.second_of),
    Method("time.microsecond", "(time) -> int", clock.microsecond_of),
    Method("time.replace", f"(time, {_TIME_FIELDS}) -> time", clock.replace_time),
    Method(
        "time.isoformat",
        "(time, timespec: const = 'auto') -> str",
        partial(formats.isoformat, "time", ""),
        maker=True,
    ),
    *_texts("time", date_text.str_time),
    *_compared("time"),
    Method("bool", "(time) -> bool", "True"),
    Method("datetime.time", f"({_CLOCK}) -> time", clock.new_time),
    Method("datetime.time.fromisoformat", "(str) -> time", date_text.fromisoformat_time),
]


_DATETIMES = [
    *(
        Method(f"datetime.{name}", "(datetime) -> int", getattr(clock, f"datetime_{name}"))
        for name in (
            *("year", "month", "day", "hour", "minute", "second", "microsecond"),
            *("weekday", "isoweekday", "toordinal"),
        )
    ),
    Method("datetime.isocalendar", "(datetime) -> IsoCalendarDate", clock.datetime_isocalendar),
    Method("datetime.date", "(datetime) -> date", clock.date_of),
    Method("datetime.time", "(datetime) -> time", clock.time_of),
    Method(
        "datetime.replace",
        f"(datetime, {_DATE_FIELDS}, {_TIME_FIELDS}) -> datetime",
        clock.replace_datetime,
    ),
    Method(
        "datetime.isoformat",
        f"(datetime, {_ISO_FORM}) -> str",
        partial(formats.isoformat, "datetime"),
        maker=True,
    ),
    *_texts("datetime", date_text.str_datetime),
    *_compared("datetime"),
    Method("bool", "(datetime) -> bool", "True"),
    Method("+", "(datetime, timedelta) -> datetime", clock.later),
    Method("+", "(timedelta, datetime) -> datetime", clock.later_of),
    Method("-", "(datetime, timedelta) -> datetime", clock.earlier),
    Method("-", "(datetime, datetime) -> timedelta", "{0} - {1}"),
    Method("datetime.timetuple", "(datetime) -> struct_time", clock.datetime_timetuple),
    Method("datetime.timestamp", "(datetime) -> float", clock.local_timestamp),
    Method(
        "datetime.datetime",
        f"(year: int, month: int, day: int, {_CLOCK}) -> datetime",
        clock.new_datetime,
    ),
    Method("datetime.datetime.combine", "(date: date, time: time) -> datetime", clock.combine),
    Method("datetime.datetime.fromordinal", "(int) -> datetime", clock.datetime_fromordinal),
    Method(
        "datetime.datetime.fromisoformat", "(str) -> datetime", date_text.fromisoformat_datetime
    ),
    Method("datetime.datetime.utcfromtimestamp", "(int) -> datetime", clock.from_timestamp),
    Method("datetime.datetime.utcfromtimestamp", "(float) -> datetime", clock.from_float_timestamp),
    Method("datetime.datetime.strptime", "(str, const) -> datetime", formats.strptime, maker=True),
]

_WITHOUT_OPPOSITE = "{0} < -9223372036854775807"
"""Whether a duration is the one without an opposite."""

_TIMEDELTAS = [
    Method("timedelta.days", "(timedelta) -> int", clock.days_part),
    Method("timedelta.seconds", "(timedelta) -> int", clock.seconds_part),
    Method("timedelta.microseconds", "(timedelta) -> int", clock.microseconds_part),
    Method("timedelta.total_seconds", "(timedelta) -> float", clock.total_seconds),
    Method("str", "(timedelta) -> str", date_text.str_timedelta),
    Method(
        "format",
        "(timedelta, format_spec: const = '') -> str",
        lambda specification: date_text.leave_text if specification else date_text.str_timedelta,
        maker=True,
    ),
    *_compared("timedelta"),
    Method("bool", "(timedelta) -> bool", "{0} != 0"),
    Method(
        "datetime.timedelta",
        f"({', '.join(f'{unit}: int = 0' for unit in _UNITS)}) -> timedelta",
        clock.new_timedelta,
    ),
    Method(
        "datetime.timedelta",
        f"({', '.join(f'{unit}: float = 0.0' for unit in _UNITS)}) -> timedelta",
        clock.new_float_timedelta,
    ),
    Method(
        "+", "(timedelta, timedelta) -> timedelta", "{0} + {1}", check="sum_overflows({0}, {1})"
    ),
    Method(
        "-",
        "(timedelta, timedelta) -> timedelta",
        "{0} - {1}",
        check="difference_overflows({0}, {1})",
    ),
    Method("*", "(timedelta, int) -> timedelta", "{0} * {1}", check="product_overflows({0}, {1})"),
    Method("*", "(int, timedelta) -> timedelta", "{0} * {1}", check="product_overflows({0}, {1})"),
    Method("*", "(timedelta, float) -> timedelta", clock.scaled),
    Method("*", "(float, timedelta) -> timedelta", clock.scaled_by),
    Method("//", "(timedelta, int) -> timedelta", row_numbers.floor_divide_integers),
    Method("//", "(timedelta, timedelta) -> int", row_numbers.floor_divide_integers),
    Method("/", "(timedelta, int) -> timedelta", clock.nearest_quotient),
    Method("/", "(timedelta, float) -> timedelta", clock.divided),
    Method("/", "(timedelta, timedelta) -> float", clock.quotient),
    Method("%", "(timedelta, timedelta) -> timedelta", row_numbers.modulo_integers),
    Method(
        "divmod", "(timedelta, timedelta) -> tuple[int, timedelta]", row_numbers.divmod_integers
    ),
    Method("neg", "(timedelta) -> timedelta", "-{0}", check=_WITHOUT_OPPOSITE),
    Method("pos", "(timedelta) -> timedelta", "{0}"),
    Method("abs", "(timedelta) -> timedelta", "abs({0})", check=_WITHOUT_OPPOSITE),
]

_CALENDAR = [
    Method("calendar.isleap", "(year: int) -> bool", calendar.is_leap),
    Method(
        "calendar.monthrange", "(year: int, month: int) -> tuple[int, int]", calendar.month_range
    ),
    Method("calendar.weekday", "(year: int, month: int, day: int) -> int", calendar.weekday_of),
]

METHODS: list[Method] = [*_DATES, *_TIMES, *_DATETIMES, *_TIMEDELTAS, *_CALENDAR]
