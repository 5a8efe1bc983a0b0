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


def test_dates_are_keys() -> None:
    @numba.njit
    def counted(days, spans):
        d, span = days.value(0), spans.value(0)
        counts = {d: 1}
        counts[d + span] = 2
        return counts[d + span]

    assert counted(ck.array(DAYS), ck.array(SPANS)) == 2


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
