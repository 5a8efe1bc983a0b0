"""Sums and differences of times, as those of pyarrow."""

import datetime as dt
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import colkern as ck

UNITS = ["s", "ms", "us", "ns"]
TIMES = [pa.timestamp(unit) for unit in UNITS] + [pa.timestamp("us", "Europe/Oslo")]
SPANS = [pa.duration(unit) for unit in UNITS]
DATES = [pa.date32(), pa.date64()]


def array(type_: pa.DataType, *days: int | None) -> pa.Array:
    """Whole days in any type, which date64 asks for."""
    per_day = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
    factor = 1 if type_ == pa.date32() else per_day[getattr(type_, "unit", "ms")]
    numbers = [None if day is None else day * factor for day in days]
    return pa.array(numbers, pa.int32() if type_ == pa.date32() else pa.int64()).cast(type_)


@pytest.mark.parametrize("left", [*TIMES[:4], *SPANS], ids=str)
@pytest.mark.parametrize("right", SPANS, ids=str)
def test_a_duration_is_added_and_subtracted(left: pa.DataType, right: pa.DataType) -> None:
    a, b = array(left, 3, None, -700, 5), array(right, 1, 2, 3, None)
    for _ in range(2):  # The second time, by plans.
        assert pa.array(ck.add(ck.array(a), ck.array(b))).equals(pc.add(a, b))
        assert pa.array(ck.add(ck.array(b), ck.array(a))).equals(pc.add(b, a))
        assert pa.array(ck.subtract(ck.array(a), ck.array(b))).equals(pc.subtract(a, b))


@pytest.mark.parametrize(
    ("left", "right"),
    [(TIMES[0], TIMES[3]), (TIMES[2], TIMES[2]), (TIMES[4], TIMES[4]), *((d, d) for d in DATES)],
    ids=str,
)
def test_the_difference_of_times_is_a_duration(left: pa.DataType, right: pa.DataType) -> None:
    a, b = array(left, 3, None, -700, 5), array(right, 1, 2, 3, None)
    for _ in range(2):
        assert pa.array(ck.subtract(ck.array(a), ck.array(b))).equals(pc.subtract(a, b))


def test_the_difference_of_times_of_day_is_a_duration() -> None:
    a = pa.array([dt.time(12), None, dt.time(0, 0, 1)], pa.time32("s"))
    b = pa.array([dt.time(1), dt.time(2), dt.time(3)], pa.time64("us"))
    actual = ck.subtract(ck.array(a), ck.array(b))
    assert actual.to_pylist() == [dt.timedelta(hours=11), None, dt.timedelta(seconds=1 - 3 * 3600)]


@pytest.mark.parametrize("type_", [*DATES, TIMES[0], TIMES[2]], ids=str)
def test_values_of_python_and_numpy(type_: pa.DataType) -> None:
    column = ck.array(array(type_, 3, None))
    day = dt.timedelta(days=1, microseconds=3)
    epoch = dt.datetime(1970, 1, 1)
    assert (column + day).to_pylist() == [epoch + 3 * dt.timedelta(days=1) + day, None]
    assert (column + np.timedelta64(2, "s")).to_pylist()[0] == dt.datetime(1970, 1, 4, 0, 0, 2)
    assert (column - dt.datetime(1970, 1, 2)).to_pylist() == [dt.timedelta(days=2), None]
    assert (dt.datetime(1970, 1, 2) - column).to_pylist() == [dt.timedelta(days=-2), None]


def test_encoded_times_are_decoded() -> None:
    days = ck.dictionary_encode(ck.array([dt.date(2024, 1, 1), None, dt.date(2024, 1, 1)]))
    assert (days - dt.date(2023, 12, 31)).to_pylist() == [dt.timedelta(1), None, dt.timedelta(1)]
    moments = ck.array([dt.datetime(2024, 1, 1), None])
    runs = ck.run_end_encode(moments)
    for left, right in ((runs, moments), (moments, runs), (runs, runs)):
        assert (left - right).to_pylist() == [dt.timedelta(0), None]


@pytest.mark.parametrize(
    ("left", "right", "message"),
    [
        (TIMES[0], TIMES[0], r"add: timestamp\[s\] \+ timestamp\[s\] is no time"),
        (TIMES[4], TIMES[2], "subtract: .* is no time"),
        (SPANS[0], TIMES[0], r"subtract: duration\[s\] - timestamp\[s\] is no time"),
    ],
)
def test_what_has_no_meaning_is_refused(left: Any, right: Any, message: str) -> None:
    apply = ck.add if message.startswith("add") else ck.subtract
    with pytest.raises(TypeError, match=message):
        apply(ck.array(array(left, 1)), ck.array(array(right, 1)))
    with pytest.raises(TypeError, match="is no time"):
        ck.array(array(left, 1)) + 1


def test_a_time_that_the_finer_unit_does_not_hold_is_refused() -> None:
    far = ck.array([2**40], "int64").cast("timestamp[s]")
    with pytest.raises(ValueError, match="1099511627776"):
        far + ck.array([1]).cast("duration[ns]")


@pytest.mark.parametrize("type_", SPANS, ids=str)
def test_durations_are_multiplied_and_divided_by_integers_and_by_each_other(
    type_: pa.DataType,
) -> None:
    spans, numbers = array(type_, 3, None, -700), pa.array([2, 3, -7])
    column = ck.array(spans)
    assert pa.array(column * 2).equals(pc.multiply(spans, 2))
    assert pa.array(ck.array(numbers) * column).equals(pc.multiply(numbers, spans))
    assert pa.array(column / ck.array(numbers)).equals(pc.divide(spans, numbers))
    assert pa.array(column / 7).equals(pc.divide(spans, 7))
    assert (column / dt.timedelta(hours=5)).to_pylist() == [14.4, None, -3360.0]
    assert pa.array(-column).equals(pc.negate(spans))
    assert pa.array(abs(column)).equals(pc.abs(spans))


@pytest.mark.parametrize("one", [dt.timedelta(hours=1), np.timedelta64(1, "h")], ids=repr)
def test_integers_times_a_duration_are_durations(one: Any) -> None:
    hours = ck.chunked_array([[1, None], [3]])
    assert (hours * one).to_pylist() == [dt.timedelta(hours=1), None, dt.timedelta(hours=3)]
    assert (one * hours).to_pylist() == (hours * one).to_pylist()


def test_what_durations_are_not_multiplied_by_is_refused() -> None:
    spans = ck.array([dt.timedelta(1)])
    for left, right in ((spans, 1.5), (spans, spans)):
        with pytest.raises(TypeError, match="durations are multiplied and divided by integers"):
            left * right
    with pytest.raises(ZeroDivisionError):
        spans / 0
