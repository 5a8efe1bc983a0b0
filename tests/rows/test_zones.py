"""Row functions over timestamps with a time zone, against Python's own datetimes."""

from __future__ import annotations

import bisect
import datetime
from collections.abc import Callable
from datetime import UTC, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pytest

import colkern as ck
from colkern.rows.time_zones import periods_of

BERLIN, NEW_YORK = ZoneInfo("Europe/Berlin"), ZoneInfo("America/New_York")
TURN = datetime.datetime(2024, 10, 27, 1, 0, tzinfo=UTC)
NAIVE = datetime.datetime(2024, 3, 31)

INSTANTS = [
    datetime.datetime(2024, 3, 31, 0, 59, 59, 999_999, UTC),
    datetime.datetime(2024, 3, 31, 1, 0, tzinfo=UTC),
    datetime.datetime(2024, 10, 27, 0, 30, tzinfo=UTC),
    datetime.datetime(2024, 10, 27, 1, 30, tzinfo=UTC),
    datetime.datetime(1969, 12, 31, 23, 59, 59, 1, UTC),
    datetime.datetime(1850, 1, 1, tzinfo=UTC),
    datetime.datetime(2150, 7, 1, tzinfo=UTC),
    TURN,
    None,
]
LEFT_BANK, RIGHT_BANK = timezone(timedelta(hours=1), "A"), timezone(timedelta(hours=1), "B")
ODD = timezone(timedelta(hours=5, minutes=30, seconds=15))
ZONES = ["UTC", "+05:30", "-08:00", "Europe/Berlin"]


def parts(d: Any) -> Any:
    return d.year, d.month, d.day, d.hour, d.minute, d.second, d.microsecond, d.weekday()


def texts(d: Any) -> Any:
    return d.isoformat("_", "milliseconds"), str(d), f"{d:%d.%m.%Y %H%%%z}", d.strftime("%Z")


def offsets(d: Any) -> Any:
    return d.utcoffset(), d.dst(), d.tzname(), d.timestamp(), d.tzinfo is None


def arithmetic(d: Any) -> Any:
    start = d.replace(hour=5, minute=0, second=0, microsecond=0)
    return d + timedelta(hours=3), d - timedelta(days=90), d - start, d < start, d == start


def other_zones(d: Any) -> Any:
    there = d.astimezone(NEW_YORK)
    here = d.astimezone(timezone(timedelta(hours=5, minutes=45)))
    return there.hour, here.isoformat(), d - there, there <= d, there - TURN, d == TURN, d != NAIVE


def without(d: Any) -> Any:
    result = datetime.datetime(d.year, d.month, 15, tzinfo=NEW_YORK)
    return d.replace(tzinfo=None), d.date(), d.time(), result.timestamp(), NAIVE.tzinfo


def again(d: Any) -> Any:
    return datetime.datetime.fromtimestamp(d.timestamp(), tz=UTC)


def replaced(d: Any) -> Any:
    there = d.astimezone(BERLIN)
    clock = there.replace(tzinfo=None).replace(tzinfo=BERLIN)
    joined = datetime.datetime.combine(there.date(), there.time(), tzinfo=BERLIN)
    whole = there.replace(minute=0, second=0)
    return d.replace(second=7), whole.timestamp(), clock.timestamp(), joined.timestamp()


def names(d: Any) -> Any:
    left, right = d.astimezone(LEFT_BANK), d.astimezone(RIGHT_BANK)
    there = left.astimezone(RIGHT_BANK)
    return left.tzname(), right.tzname(), f"{there:%Z}", str(d.astimezone(ODD)), left == right


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize(
    "function",
    [parts, texts, offsets, arithmetic, other_zones, without, again, replaced, names],
)
def test_each_row_has_what_python_gives(function: Callable[[Any], Any], zone: str) -> None:
    column = ck.array(INSTANTS, ck.timestamp("us", zone))
    compiled = ck.udf(function)
    actual = compiled(column).to_pylist()
    for value, got in zip(column.to_pylist(), actual, strict=True):
        want = None if value is None else function(value)
        assert (tuple(got.values()) if isinstance(got, dict) else got) == want
    # The years outside of the table, and of the hours that are there twice, those of a change.
    rows = sum(compiled.report().left.values())
    assert rows <= (5 if zone == "Europe/Berlin" or function in (other_zones, replaced) else 2)


def _moment(text: str) -> float:
    return datetime.datetime.strptime(text, "%Y-%m-%d %H:%M%z").timestamp()


def test_texts_with_an_offset_are_not_left_to_python() -> None:
    texts = ["2024-01-02 03:04+01:00", "2024-01-02 03:04-0130", "2024-01-02 03:04Z"]
    compiled = ck.udf(_moment)
    assert compiled(ck.array(texts)).to_pylist() == [*map(_moment, texts)]
    assert sum(compiled.report().left.values()) == 0


def test_a_datetime_with_a_zone_becomes_a_timestamp_with_it() -> None:
    column = ck.array(INSTANTS[1:3], ck.timestamp("s", "Europe/Berlin"))

    @ck.udf
    def later(d: datetime.datetime) -> datetime.datetime:
        return d + timedelta(days=1)

    assert later(column).type == ck.timestamp("us", "Europe/Berlin")
    assert later(ck.array([NAIVE])).type == ck.timestamp("us")
    declared = ck.udf(later.function, returns=ck.timestamp("ns", "UTC"))
    assert declared(column).type == ck.timestamp("ns", "UTC")


def test_with_and_without_a_zone_are_of_different_types() -> None:
    column = ck.array(INSTANTS[:2], ck.timestamp("us", "UTC"))

    @ck.udf
    def guarded(d: datetime.datetime) -> bool:
        try:
            return d < NAIVE
        except TypeError:
            return d != NAIVE

    assert guarded(column).to_pylist() == [True, True]
    assert guarded(ck.array([NAIVE])).to_pylist() == [False]


@pytest.mark.parametrize("name", ["Africa/Freetown", "Asia/Gaza", "Australia/Lord_Howe"])
def test_the_table_of_a_zone_has_all_its_changes(name: str) -> None:
    zone = ZoneInfo(name)
    periods = periods_of(zone)
    epoch = datetime.datetime(1970, 1, 1, tzinfo=UTC)
    for start, offset in zip(periods.starts[1:-1], periods.offsets[1:], strict=False):
        at = (epoch + timedelta(microseconds=start)).astimezone(zone)
        before = (epoch + timedelta(microseconds=start - 1)).astimezone(zone)
        assert at.utcoffset() == timedelta(microseconds=offset)
        assert (at.utcoffset(), at.tzname()) != (before.utcoffset(), before.tzname())
    starts = sorted(periods.starts)
    assert starts == list(periods.starts)
    for day in range(0, 70_000, 2):
        at = datetime.datetime(1900, 1, 1, 12, tzinfo=UTC) + timedelta(days=day)
        place = bisect.bisect_right(starts, (at - epoch) // timedelta(microseconds=1))
        assert at.astimezone(zone).utcoffset() == timedelta(microseconds=periods.offsets[place - 1])


def test_a_time_of_day_has_no_zone() -> None:
    with pytest.raises(ck.CompileError, match="time with a time zone"):
        ck.udf(lambda t: t.replace(tzinfo=UTC))(ck.array([datetime.time(3)]))


def test_a_text_that_is_no_time_is_a_value_error() -> None:
    def in_utc(text: str) -> datetime.datetime | None:
        try:
            moment = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
        except ValueError:
            return None
        return moment.replace(tzinfo=None)

    texts = ["", "x", "n/a", "ä024-01-01T10:00:00Z", "202"]
    compiled = ck.udf(in_utc, strict=True)
    assert compiled(ck.array(texts)).to_pylist() == [in_utc(text) for text in texts]
