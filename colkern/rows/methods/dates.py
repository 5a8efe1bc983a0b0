"""Rows for `date`, `datetime`, `time`, `timedelta` and `calendar`."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from functools import partial
from typing import Any

from colkern.kernels import calendar, clock, date_text, row_numbers
from colkern.rows import date_formats as formats
from colkern.rows import library
from colkern.rows.methods import COMPARISONS, Body, Bound, Method, raised_by

_KEPT = f"int = {calendar.KEPT}"
_DATE_FIELDS = f"year: {_KEPT}, month: {_KEPT}, day: {_KEPT}"
_TIME_FIELDS = f"hour: {_KEPT}, minute: {_KEPT}, second: {_KEPT}, microsecond: {_KEPT}"
_CLOCK = "hour: int = 0, minute: int = 0, second: int = 0, microsecond: int = 0"
_UNITS = ("days", "seconds", "microseconds", "milliseconds", "minutes", "hours", "weeks")

_ISO_FORM = "sep: const = 'T', timespec: const = 'auto'"


_HAS_PLAIN_TEXTS = raised_by(datetime.date, 2024, 13, 31) == "month must be in 1..12"
"""Whether the texts of exceptions are those of Python before 3.14, which do not have the numbers."""


def _if_plain(text: Callable[..., Any]) -> Callable[..., Any] | str:
    return text if _HAS_PLAIN_TEXTS else ""


def _formatted(kind: str, plain: Body) -> Callable[[str], Body]:
    """Returns the maker of `format` for a kind; without a specification it is `str`."""

    def body(specification: str) -> Body:
        return plain if specification == "" else formats.strftime(kind, specification)

    return body


def _texts(of: str, plain: Body) -> list[Method]:
    """Returns the rows for `str`, `format` and `strftime`, which all kinds but durations have."""
    return [
        Method("str", f"({of}) -> str", plain),
        Method(
            "format", f"({of}, format_spec: const = '') -> str", _formatted(of, plain), maker=True
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
        Method(name, f"({of}, {of}) -> bool", f"{{0}} {name} {{1}}") for name in COMPARISONS
    ] + [
        Method(name, f"({of}, {of}) -> {of}", f"{{1}} if {{1}} {sign} {{0}} else {{0}}")
        for name, sign in (("min", "<"), ("max", ">"))
    ]


_OF_DAYS: dict[str, Body] = {
    "year": Bound(calendar.civil, result="{}[0]"),
    "month": Bound(calendar.civil, result="{}[1]"),
    "day": Bound(calendar.civil, result="{}[2]"),
    "weekday": calendar.weekday,
    "isoweekday": calendar.isoweekday,
    "toordinal": calendar.toordinal,
    "isocalendar": calendar.isocalendar,
}
"""The parts of a date, which a datetime also has."""

_OF_CLOCKS: dict[str, Body] = {
    name: Bound(clock.clock, result=f"{{}}[{place}]")
    for place, name in enumerate(("hour", "minute", "second", "microsecond"))
}
"""The parts of a time, which a datetime also has."""


def _parts(of: str, bodies: dict[str, Body]) -> list[Method]:
    """Returns the rows for parts, each by its name."""
    kinds = {"isocalendar": "IsoCalendarDate"}
    return [
        Method(f"{of}.{name}", f"({of}) -> {kinds.get(name, 'int')}", body)
        for name, body in bodies.items()
    ]


_DATES = [
    *_parts("date", _OF_DAYS),
    Method("date.timetuple", "(date) -> struct_time", calendar.timetuple),
    Method("date.replace", f"(date, {_DATE_FIELDS}) -> date", calendar.replace_date),
    Method("date.isoformat", "(date) -> str", date_text.isoformat_date),
    *_texts("date", date_text.isoformat_date),
    *_compared("date"),
    Method("bool", "(date) -> bool", "True"),
    Method(
        "datetime.date",
        "(year: int, month: int, day: int) -> date",
        calendar.new_date,
        message=_if_plain(library.text_of_wrong_date),
    ),
    Method("datetime.date.fromordinal", "(int) -> date", calendar.fromordinal),
    Method(
        "datetime.date.fromisoformat",
        "(str) -> date",
        date_text.fromisoformat_date,
        message=_if_plain(library.text_of_wrong_iso_date),
    ),
    Method("+", "(date, timedelta) -> date", calendar.later_date),
    Method("+", "(timedelta, date) -> date", Bound(calendar.later_date, "duration", "days")),
    Method("-", "(date, timedelta) -> date", calendar.earlier_date),
    Method("-", "(date, date) -> timedelta", f"({{0}} - {{1}}) * {calendar.DAY}"),
]

_TIMES = [
    *_parts("time", _OF_CLOCKS),
    Method("time.replace", f"(time, {_TIME_FIELDS}) -> time", clock.replace_time),
    Method(
        "time.isoformat",
        "(time, timespec: const = 'auto') -> str",
        partial(formats.isoformat, "time", ""),
        maker=True,
    ),
    *_texts("time", Bound(date_text.isoformat_time, size=date_text.AUTO)),
    *_compared("time"),
    Method("bool", "(time) -> bool", "True"),
    Method("datetime.time", f"({_CLOCK}) -> time", clock.new_time),
    Method("datetime.time.fromisoformat", "(str) -> time", date_text.fromisoformat_time),
]


_DATETIMES = [
    *_parts("datetime", {n: Bound(body, days=clock.date_of) for n, body in _OF_DAYS.items()}),
    *_parts("datetime", {n: Bound(body, time=clock.time_of) for n, body in _OF_CLOCKS.items()}),
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
    *_texts(
        "datetime", Bound(date_text.isoformat_datetime, separator=ord(" "), size=date_text.AUTO)
    ),
    *_compared("datetime"),
    Method("bool", "(datetime) -> bool", "True"),
    Method("+", "(datetime, timedelta) -> datetime", clock.later),
    Method("+", "(timedelta, datetime) -> datetime", Bound(clock.later, "duration", "instant")),
    Method("-", "(datetime, timedelta) -> datetime", clock.earlier),
    Method("-", "(datetime, datetime) -> timedelta", "{0} - {1}"),
    Method("datetime.timetuple", "(datetime) -> struct_time", clock.datetime_timetuple),
    Method("datetime.timestamp", "(datetime) -> float", clock.local_timestamp),
    Method(
        "datetime.datetime",
        f"(year: int, month: int, day: int, {_CLOCK}) -> datetime",
        clock.new_datetime,
    ),
    Method(
        "datetime.datetime.combine",
        "(date: date, time: time) -> datetime",
        f"{{0}} * {calendar.DAY} + {{1}}",
    ),
    Method(
        "datetime.datetime.fromordinal",
        "(int) -> datetime",
        Bound(calendar.fromordinal, result=f"{{}} * {calendar.DAY}"),
    ),
    Method(
        "datetime.datetime.fromisoformat", "(str) -> datetime", date_text.fromisoformat_datetime
    ),
    Method("datetime.datetime.utcfromtimestamp", "(int) -> datetime", clock.from_timestamp),
    Method("datetime.datetime.utcfromtimestamp", "(float) -> datetime", clock.from_float_timestamp),
    Method(
        "datetime.datetime.strptime",
        "(str, const) -> datetime",
        formats.strptime,
        maker=True,
        message=_if_plain(library.text_of_wrong_moment),
    ),
]

_WITHOUT_OPPOSITE = "{0} < -9223372036854775807"
"""A test for the duration that cannot be negated."""

_TIMEDELTAS = [
    Method("timedelta.days", "(timedelta) -> int", f"{{0}} // {calendar.DAY}"),
    Method("timedelta.seconds", "(timedelta) -> int", f"{{0}} % {calendar.DAY} // {clock.SECOND}"),
    Method("timedelta.microseconds", "(timedelta) -> int", f"{{0}} % {clock.SECOND}"),
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
    Method("*", "(float, timedelta) -> timedelta", Bound(clock.scaled, "factor", "duration")),
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
