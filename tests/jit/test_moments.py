"""Dates, times and durations in compiled loops do what Python's do."""

from __future__ import annotations

import datetime
from typing import Any

import numba
import pyarrow as pa
import pytest

import colkern as ck
from colkern.errors import UnsupportedError

DAYS = [datetime.date(2020, 2, 29), datetime.date(1900, 3, 1), datetime.date(9999, 12, 31)]
INSTANTS = [
    datetime.datetime(2020, 2, 29, 23, 59, 59, 999_999),
    datetime.datetime(1900, 3, 1),
    datetime.datetime(1969, 12, 31, 12),
]
SPANS = [datetime.timedelta(days=-3, microseconds=7), datetime.timedelta(hours=30)]
TIMES = [datetime.time(0, 0), datetime.time(23, 59, 59, 999_999)]


def of_a_day(d):
    return (
        (d.year, d.month, d.day, d.weekday(), d.isoweekday(), d.toordinal(), d.isocalendar()),
        (d.isoformat(), str(d), d.strftime("%d/%m/%Y")),
        d.replace(day=1),
    )


def of_an_instant(t):
    return (
        (t.year, t.hour, t.minute, t.second, t.microsecond, t.weekday()),
        (t.isoformat(), str(t), t.strftime("%H:%M")),
        (t.date(), t.time(), t.replace(microsecond=0)),
    )


def of_a_span(d):
    return d.days, d.seconds, d.microseconds, d.total_seconds(), str(d), -d, abs(d), d * 2, d // 2


def of_a_time(t):
    return t.hour, t.minute, t.second, t.microsecond, str(t), t.replace(minute=0)


def of_two(a, b):
    return a == b, a != b, a < b, a >= b, max(a, b), min(a, b)


def plain(value: Any) -> Any:
    """Named tuples of Python are tuples in compiled code."""
    return tuple(map(plain, value)) if isinstance(value, tuple) else value


@pytest.mark.parametrize(
    ("function", "values"),
    [(of_a_day, DAYS), (of_an_instant, INSTANTS), (of_a_span, SPANS), (of_a_time, TIMES)],
)
def test_attributes_and_methods(function: Any, values: list[Any]) -> None:
    inner = numba.njit(function)

    @numba.njit
    def at(column, i):
        return inner(column.value(i))

    column = ck.array(values)
    for i, value in enumerate(values):
        assert at(column, i) == plain(function(value))


@pytest.mark.parametrize("values", [DAYS, SPANS])
def test_comparisons(values: list[Any]) -> None:
    inner = numba.njit(of_two)
    compared = numba.njit(lambda column: inner(column.value(0), column.value(1)))
    assert compared(ck.array(values[:2])) == of_two(*values[:2])


def test_arithmetic_constructors_and_keys() -> None:
    def worked(d, span):
        later = d + span
        counts = {d: 1}
        counts[later] = 2
        made = datetime.datetime(2020, 1, 31, hour=5) - datetime.timedelta(days=31)
        return later, later - d, counts[d + span], made, datetime.date(d.year, 1, 1) <= d

    inner = numba.njit(worked)
    found = numba.njit(lambda days, spans: inner(days.value(0), spans.value(0)))
    span = datetime.timedelta(days=2)
    assert found(ck.array(DAYS), ck.array([span])) == worked(DAYS[0], span)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_every_unit_is_read_and_appended(unit: str) -> None:
    @numba.njit
    def copied(column, out):
        for value in column:
            out.append(value)

    values = [datetime.datetime(2020, 2, 29, 1), None, datetime.datetime(1900, 1, 1)]
    for type_, part in ((ck.timestamp(unit), values), (ck.duration(unit), [SPANS[1], None])):
        column, out = ck.array(part, type_), ck.Builder(type_)
        copied(column, out)
        assert out.finish().to_pylist() == ck.array(part, type_).to_pylist()


@pytest.mark.parametrize("type_", [ck.date32(), ck.date64()])
def test_days_are_read_and_appended(type_: Any) -> None:
    @numba.njit
    def next_days(column, out):
        for value in column:
            out.append(value + datetime.timedelta(days=1))

    out = ck.Builder(type_)
    next_days(ck.array(DAYS[:2], type_), out)
    assert out.finish().to_pylist() == [datetime.date(2020, 3, 1), datetime.date(1900, 3, 2)]


def test_what_python_has_no_value_for_is_an_error_and_an_integer() -> None:
    column = ck.array(pa.array([1, 2**30], pa.int32()).cast(pa.date32()))
    first = numba.njit(lambda column, i: column.value(i))
    with pytest.raises(UnsupportedError, match="date"):
        first(column, 1)
    assert numba.njit(lambda column: column.as_integers()[1])(column) == 2**30
    with pytest.raises(OverflowError):
        numba.njit(lambda c, out: out.append(c.value(0)))(
            ck.array(INSTANTS), ck.Builder(ck.timestamp("s"))
        )


def test_instants_of_a_zone_are_numbers() -> None:
    column = ck.array([datetime.datetime(1970, 1, 2, tzinfo=datetime.UTC)])
    assert numba.njit(lambda column: column.value(0))(column) == 86_400_000_000
