"""The rows of the table of methods for dates, times and durations, against Python's own."""

from __future__ import annotations

import ast
import calendar
import datetime
import enum
import inspect
import operator
import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows.bodies import LEFT, Memory, run

from colkern.errors import CompileError
from colkern.kernels import calendar as civil
from colkern.kernels import clock, date_text, primitives, row_values
from colkern.rows import date_formats
from colkern.rows.methods import Method, function_of
from colkern.rows.methods.dates import METHODS

KINDS = {name: getattr(datetime, name) for name in ("date", "time", "datetime", "timedelta")}
OPERATORS: dict[str, Callable[..., Any]] = {
    "min": min,
    "max": max,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "neg": operator.neg,
    "pos": operator.pos,
    "abs": abs,
    "bool": bool,
    "str": str,
    "format": format,
    "divmod": divmod,
}
LARGE = 2**63 - 1
DAYS = [datetime.date(*ymd) for ymd in ((1970, 1, 1), (2024, 2, 29), (1900, 2, 28), (2021, 1, 3))]
TIMES = [
    datetime.time(),
    datetime.time(23, 59, 59, 999999),
    datetime.time(9, 5, 7),
    datetime.time(12, 0, 30, 40),
]
POOLS: dict[str, list[Any]] = {
    "date": [*DAYS, datetime.date.min, datetime.date.max, datetime.date(1066, 12, 31)],
    "time": TIMES,
    "datetime": [
        datetime.datetime.min,
        datetime.datetime.max,
        *(datetime.datetime.combine(day, time) for day, time in zip(DAYS, TIMES, strict=True)),
    ],
    "timedelta": [
        *(datetime.timedelta(days) for days in (0, 1, -1, 100_000)),
        *(datetime.timedelta(microseconds=n) for n in (1, -1, 86_399_999_999, 10**13 + 10)),
        *(datetime.timedelta(microseconds=n) for n in (-(10**17) - 999, LARGE, -LARGE - 1)),
    ],
    "int": [0, 1, -1, 2, 7, 719163, 3652059, 3652060, -86400, 1_700_000_000, 2**40, LARGE, -LARGE],
    "float": [0.0, -0.5, 1.5e-06, 2.5e-06, 1e9 + 0.1, -1e10, 1e300, float("nan"), float("-inf")],
    "year": [1, 2024, 1900, 9999, 0, 10000, -4, 2**31, 400],
    "month": [1, 2, 12, 0, 13, -(2**31) - 1],
    "day": [1, 28, 29, 30, 31, 0, 32, 2**31],
    "hour": [0, 23, 24, -1],
    "minute": [0, 59, 60],
    "second": [0, 59, 60],
    "microsecond": [0, 999999, 1000000, -(2**40)],
    "sep": ["T", " ", "é", "--"],
    "timespec": ["auto", "hours", "minutes", "seconds", "milliseconds", "microseconds", "days"],
    "format": ["%Y-%m-%d", "%H:%M:%S.%f %p", "%A, %d %B %j week %V of %G %%"],
    "format_spec": ["", "%d.%m.%y %I %a %b %U %W %u %w"],
    "str": [
        "2024-02-29",
        "2023-02-29",
        "",
        "12:30",
        "2024-02-29T12:30:00.123456",
        "n/a",
        "٢024-01-01",
    ],
    "strptime": ["%Y-%m-%d", "%H:%M", "%z"][:2],
}
"""Values by the name of a parameter, or by its kind."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of a row; one without a name is called by its position."""

    name: str
    kind: str
    default: str


@cache
def parameters(row: Method) -> list[Parameter]:
    actual = []
    for k, part in enumerate(row.signature[1 : row.signature.index(") ->")].split(",")):
        declared, _, default = part.partition("=")
        name, _, kind = declared.rpartition(":")
        actual.append(Parameter(name.strip() or f"_{k}", kind.strip(), default.strip()))
    return actual


def oracle(row: Method) -> Callable[..., Any]:
    """Python's function for the name of a row."""
    if row.name in OPERATORS:
        return OPERATORS[row.name]
    owner, _, name = row.name.partition(".")
    first = parameters(row)[0]
    if (first.name, first.kind) == ("_0", owner):
        member = getattr(KINDS[owner], name)
        return member if inspect.isroutine(member) else operator.attrgetter(name)
    actual: Any = {"datetime": datetime, "calendar": calendar}[owner]
    for part in name.split("."):
        actual = getattr(actual, part)
    return actual


def expected(row: Method, values: dict[str, Any]) -> Any:
    """Python's result, or the class of its exception; dates and times as numbers."""
    by_position = [*values.values()]
    named: dict[str, Any] = {}
    if row.name.rpartition(".")[2] in ("replace", "isoformat", *KINDS):
        by_position = [value for name, value in values.items() if name.startswith("_")]
        named = {name: value for name, value in values.items() if not name.startswith("_")}
    try:
        return as_numbers(oracle(row)(*by_position, **named))
    except (ValueError, OverflowError, ZeroDivisionError) as error:
        return next(c for c in type(error).__mro__ if c.__module__ == "builtins")


def as_numbers(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(as_numbers, value))
    if isinstance(value, enum.IntEnum):
        # Days of the week, from Python 3.12 on.
        return int(value)
    return Memory(0).argument(value) if type(value) in KINDS.values() else value


def by_row(row: Method, values: dict[str, Any], by: str) -> Any:
    """The row's result."""
    body: Any = row.body
    given, constants = [], []
    for parameter in parameters(row):
        known = parameter.name in values
        value = values[parameter.name] if known else ast.literal_eval(parameter.default)
        if parameter.kind == "const":
            constants.append(value)
        else:
            given.append(float(value) if parameter.kind == "float" else value)
    body = function_of(body(*constants) if row.maker else body)
    if not isinstance(body, str):
        return run(body, *given, by=by)
    numbers = [as_numbers(value) for value in given]
    if row.check and eval(row.check.format(*numbers), vars(primitives)):
        return LEFT
    return eval(body.format(*numbers))


@cache
def samples(row: Method) -> list[dict[str, Any]]:
    """Arguments for a row: each value of the pools, some of those that have defaults left out."""
    chance = random.Random(row.signature)
    pools = {}
    for parameter in parameters(row):
        own = "strptime" if row.name.endswith("strptime") else "format"
        name = parameter.name if parameter.name in POOLS else parameter.kind
        pools[parameter] = POOLS[own if name == "const" else name]
    actual = []
    for turn in range(3 * max(map(len, pools.values()))):
        values = {}
        for parameter, pool in pools.items():
            value = pool[turn] if turn < len(pool) else chance.choice(pool)
            if not parameter.default or chance.random() < 0.5:
                values[parameter.name] = value
        actual.append(values)
    return actual


def label(row: Method) -> str:
    return f"{row.name}{row.signature.partition(' ->')[0]}"[:60]


@pytest.mark.parametrize("row", METHODS, ids=label)
def test_row_gives_what_python_gives(row: Method) -> None:
    left = 0
    for values in samples(row):
        actual = by_row(row, values, "plain")
        if actual == LEFT:
            left += 1
            continue
        wanted = expected(row, values)
        assert (actual, type(actual)) == (wanted, type(wanted)) or actual != actual, values
    assert left < len(samples(row)) or row.name == "datetime.timestamp"


COMPILED = (
    "+(date, timedelta)",
    "-(datetime, timedelta)",
    "date.isocalendar",
    "date.timetuple",
    "datetime.replace",
    "datetime.isoformat",
    "datetime.time(hour",
    "datetime.timetuple",
    "datetime.date.fromisoformat",
    "datetime.datetime.fromisoformat",
    "datetime.timedelta(days: float",
    "str(timedelta)",
    "/(timedelta",
    "divmod",
    "calendar.monthrange",
)
"""Rows of which each body, or what calls it, is compiled."""


@pytest.mark.parametrize("row", [r for r in METHODS if label(r).startswith(COMPILED)], ids=label)
def test_compiled_row_gives_what_the_plain_body_gives(row: Method) -> None:
    for values in samples(row):
        if row.maker and values.get("timespec", "auto") != "auto":
            continue  # one format is one body
        actual, wanted = by_row(row, values, "compiled"), by_row(row, values, "plain")
        assert (actual, type(actual)) == (wanted, type(wanted)), values


# The whole calendar and the whole day, at once as arrays.


def test_each_day_has_its_year_month_and_day() -> None:
    days = np.arange(civil.FIRST_DAY, civil.LAST_DAY + 1)
    dates = days.astype("M8[D]")
    years, months = dates.astype("M8[Y]"), dates.astype("M8[M]")
    year, month = years.astype(int) + 1970, months.astype(int) % 12 + 1
    day = (dates - months).astype(int) + 1
    for actual, wanted in zip(civil.civil(days), (year, month, day), strict=True):
        np.testing.assert_array_equal(actual, wanted)
    np.testing.assert_array_equal(civil.days_of(year, month, day), days)
    np.testing.assert_array_equal(civil.weekday(days), (days + 3) % 7)
    np.testing.assert_array_equal(
        civil.in_sevens(days - civil.FIRST_DAY), (days - civil.FIRST_DAY) // 7
    )


@pytest.mark.parametrize("microsecond", [0, 1, 500_000, 999_999])
def test_each_second_of_a_day_has_its_hour_and_minute(microsecond: int) -> None:
    second = np.arange(86400)
    wanted = second // 3600, second // 60 % 60, second % 60, microsecond
    actual = clock.clock(second * 1_000_000 + microsecond)
    for one, other in zip(actual, wanted, strict=True):
        np.testing.assert_array_equal(one, other)


@given(st.datetimes())
def test_a_datetime_is_its_date_and_its_time(value: datetime.datetime) -> None:
    assert run(clock.date_of, value) == as_numbers(value.date())
    assert run(clock.time_of, value) == as_numbers(value.time())


@given(st.integers(-(2**63), 2**63 - 1))
def test_total_seconds_are_rounded_as_in_python(number: int) -> None:
    duration = datetime.timedelta(microseconds=number)
    assert run(clock.total_seconds, duration) == duration.total_seconds()


@given(
    st.lists(st.floats(-1e6, 1e6) | st.integers(-(10**6), 10**6).map(lambda n: n / 8), max_size=7)
)
def test_durations_of_floats_are_rounded_as_in_python(units: list[float]) -> None:
    units += [0.0] * (7 - len(units))
    actual = run(clock.new_float_timedelta, *units)
    assert actual == as_numbers(datetime.timedelta(*units))


@given(st.integers(-(10**7), 10**7), st.integers(-50, 50))
def test_quotients_of_durations_are_rounded_as_in_python(number: int, divisor: int) -> None:
    row = next(r for r in METHODS if r.name == "/" and "int" in r.signature)
    values = {"_0": datetime.timedelta(microseconds=number), "_1": divisor}
    assert by_row(row, values, "plain") == expected(row, values)


@given(
    st.integers(-(2**52), 2**52), st.floats(-100, 100) | st.sampled_from([0.5, 1.5, -0.25, 1e-300])
)
def test_durations_times_floats_are_rounded_as_in_python(number: int, factor: float) -> None:
    for row in METHODS:
        if row.name in ("*", "/") and row.signature.startswith("(timedelta, float)"):
            values = {"_0": datetime.timedelta(microseconds=number), "_1": factor}
            assert by_row(row, values, "plain") in (expected(row, values), LEFT)


# Text.

DIRECTIVES = "aAbBCdefGHIjmMpSuUVwWyYZzcDFhnrRtTxX%"


@given(
    st.datetimes(datetime.datetime(1001, 1, 8)),
    st.lists(
        st.sampled_from(DIRECTIVES).map("%{}".format) | st.sampled_from(["年", "a long text ", "-"])
    ),
)
def test_strftime_writes_what_python_writes(value: datetime.datetime, parts: list[str]) -> None:
    format = "".join(parts)
    assert run(date_formats.strftime("datetime", format), value) == value.strftime(format)
    assert run(date_formats.strftime("date", format), value.date()) == value.date().strftime(format)
    assert run(date_formats.strftime("time", format), value.time()) == value.time().strftime(format)


@pytest.mark.parametrize("format", ["%Q", "%", "a\0b", "%:z", "%-d", "\ud800"])
def test_other_formats_are_left_to_python(format: str) -> None:
    assert run(date_formats.strftime("date", format), DAYS[0]) == LEFT


def test_years_of_less_than_four_digits_are_left_to_python() -> None:
    assert run(date_formats.strftime("date", "%Y"), datetime.date(999, 1, 1)) == LEFT
    assert run(date_formats.strftime("date", "%d"), datetime.date(999, 1, 1)) == "01"


PARSED = (
    *("%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%Y%m%d", "%Y%m%d%H%M%S", "%d/%b/%Y:%H:%M:%S", "%d.%m.%y"),
    *(
        "%m/%d/%Y %I:%M %p",
        "%A, %d %B %Y",
        "%H:%M:%S.%f",
        "%Y年%m月%d日",
        "%I%p",
        "%d %b5",
        "100%% %j",
    ),
)


def changed(text: str, chance: random.Random) -> str:
    """A text with some characters other, more, or less."""
    characters = list(text)
    for _ in range(chance.choice((0, 1, 1, 2))):
        place = chance.randrange(len(characters))
        other = chance.choice("0123456789-:/T .,aApPmM\0é٣\t\u017f")
        characters[place : place + chance.choice((0, 1))] = chance.choice(("", other))
        characters = characters or ["x"]
    return "".join(characters).replace(" 0", chance.choice((" ", " 0")))


@settings(deadline=None)
@given(st.datetimes(datetime.datetime(1960, 1, 1), datetime.datetime(2070, 1, 1)), st.randoms())
def test_strptime_reads_what_python_reads(value: datetime.datetime, chance: random.Random) -> None:
    for format in PARSED:
        text = changed(value.strftime(format), chance)
        actual = run(date_formats.strptime(format), text)
        try:
            wanted = as_numbers(datetime.datetime.strptime(text, format))
        except ValueError:
            wanted = ValueError
        assert actual in (wanted, LEFT)


def test_strptime_leaves_only_unusual_texts_to_python() -> None:
    date, digits = date_formats.strptime("%Y-%m-%d"), date_formats.strptime("%Y%m%d")
    assert run(date, "n/a") is ValueError
    assert run(date, "2024-01-01 ") is ValueError
    assert run(date, "2024-1-2") == run(date, "2024-01-02") == run(digits, "2024012")
    assert run(date, "2024-01- 2") == LEFT
    assert run(date, "٢٠٢٤-01-02") == LEFT
    assert run(digits, "202413") == run(date_formats.strptime("%Y-%m-%d"), "2024-1-3")
    assert run(digits, "20241x") == LEFT
    assert run(date_formats.strptime("%d5"), "15") == LEFT
    assert run(date_formats.strptime("%d %b"), "1\tMay") == LEFT
    assert run(date_formats.strptime("%Y %j"), "2024 100") == LEFT


@pytest.mark.parametrize("year", ["00", "68", "69", "99"])
def test_years_of_two_digits_have_the_century_of_python(year: str) -> None:
    wanted = as_numbers(datetime.datetime.strptime(year, "%y"))
    assert run(date_formats.strptime("%y"), year) == wanted


@pytest.mark.parametrize("text", ["90200102Z9", "2024-W09-4", "20240229", "2024W094"])
def test_other_iso_dates_are_left_to_python(text: str) -> None:
    assert run(date_text.fromisoformat_date, text) == LEFT
    assert run(date_text.fromisoformat_datetime, text) in (LEFT, ValueError)


@pytest.mark.parametrize(
    "text",
    ["31/12/2023", "Jan 5, 202", "not a date", "2024-1-5", "05.01.24", "2024-01", "2024-1-5 7:00"],
)
def test_other_dates_are_wrong(text: str) -> None:
    assert run(date_text.fromisoformat_date, text) is ValueError
    assert run(date_text.fromisoformat_datetime, text) is ValueError
    assert run(date_text.fromisoformat_datetime, f"{text}T09:10:11") is ValueError


@pytest.mark.parametrize("microseconds", [0.5, 1.5, 2.5, -0.5, -1.5, 0.49999999999999994, 1.25])
@pytest.mark.parametrize("milliseconds", [0.0, 0.001, 0.002])
def test_half_a_microsecond_goes_to_the_even_one(microseconds: float, milliseconds: float) -> None:
    zero = 0.0
    actual = run(
        clock.new_float_timedelta, zero, zero, microseconds, milliseconds, zero, zero, zero
    )
    wanted = datetime.timedelta(microseconds=microseconds, milliseconds=milliseconds)
    assert actual == as_numbers(wanted)


def test_a_zone_in_a_format_is_refused() -> None:
    with pytest.raises(CompileError, match="%z"):
        date_formats.strptime("%Y-%m-%d %z")


@pytest.mark.parametrize("by", ["plain", "compiled"])
def test_formats_by_each_way(by: str) -> None:
    value = datetime.datetime(2024, 9, 4, 13, 5, 7)
    long = "%A, %d %B %Y %I:%M:%S.%f %p"
    assert run(date_formats.strftime("datetime", long), value, by=by) == value.strftime(long)
    body = date_formats.strptime("%a %d/%b/%Y:%H:%M:%S")
    assert run(body, "Mon 04/sep/2024:13:05:07", by=by) == as_numbers(value)
    assert run(body, "Mon 04/Sep/2024:13:05:0x", by=by) is ValueError
    assert run(body, "Mon 04/Sep/2024:13:05:07é", by=by) == LEFT


@given(st.datetimes(), st.randoms())
def test_iso_text_is_read_as_in_python(value: datetime.datetime, chance: random.Random) -> None:
    for body, kind, text in (
        (date_text.fromisoformat_date, datetime.date, value.date().isoformat()),
        (date_text.fromisoformat_time, datetime.time, value.time().isoformat()),
        (date_text.fromisoformat_datetime, datetime.datetime, value.isoformat()),
    ):
        text = changed(text, chance)
        actual = run(body, text)
        try:
            wanted = as_numbers(kind.fromisoformat(text))
        except ValueError:
            wanted = ValueError
        assert actual in (wanted, LEFT), text


def test_no_room_in_the_arena() -> None:
    assert run(date_text.isoformat_date, DAYS[0], room=0) == row_values.NO_ROOM
    assert run(date_text.str_timedelta, datetime.timedelta(1), room=0) == row_values.NO_ROOM
    assert run(date_formats.strftime("date", "%d"), DAYS[0], room=0) == row_values.NO_ROOM
