"""Time zones in compiled code: a fixed offset, or a table of periods."""

from __future__ import annotations

from bisect import bisect_right
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import cache
from typing import NamedTuple

from colkern.kernels.row_zones import STRETCH

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

_FIRST_YEAR, _END_YEAR = 1900, 2100
_STEP = timedelta(days=3)
"""No clock in the time zone database was changed and changed back within fewer days."""


class _OfRow(tzinfo):
    """The zone of datetimes that are read from text: compiled code does not keep the offset of each."""

    def utcoffset(self, dt: datetime | None) -> timedelta:
        """Raises ValueError: the offset depends on the row."""
        raise ValueError("the zone depends on the row")

    dst = utcoffset

    def tzname(self, dt: datetime | None) -> str:
        """Returns the name that is shown."""
        return repr(self)

    def __repr__(self) -> str:
        return "an offset in the row"


OF_ROW = _OfRow()


class Periods(NamedTuple):
    """The offsets of a zone over time, see `colkern.kernels.row_zones`."""

    starts: list[int]
    offsets: list[int]
    turns: list[int]
    names: list[str]
    savings: list[timedelta]


@cache
def periods_of(zone: tzinfo) -> Periods:
    """Returns the periods of a zone in the years of the table."""

    def local(moment: datetime) -> datetime:
        return moment.astimezone(zone)

    def state(moment: datetime) -> tuple[timedelta | None, str | None, timedelta | None]:
        own = local(moment)
        return own.utcoffset(), own.tzname(), own.dst()

    moment, end = (datetime(year, 1, 1, tzinfo=UTC) for year in (_FIRST_YEAR, _END_YEAR))
    turns = [moment]
    while moment < end:
        after = min(moment + _STEP, end)
        if state(after) != state(moment):
            low, high = moment, after
            while high - low > timedelta(seconds=1):
                middle = low + timedelta(seconds=(high - low) // timedelta(seconds=2))
                low, high = (middle, high) if state(middle) == state(low) else (low, middle)
            turns.append(high)
        moment = after
    offsets, names, savings = [], [], []
    for turn in turns:
        offset, name, saving = state(turn)
        offsets.append((offset or timedelta()) // _MICROSECOND)
        names.append(name or "")
        savings.append(saving or timedelta())
    starts = [(turn - _EPOCH) // _MICROSECOND for turn in [*turns, end]]
    offsets.append(offsets[-1])
    # For a repeated local time the first counts; a skipped one belongs to the period before the change.
    walls = [
        start + max(pair)
        for start, pair in zip(
            starts, zip(offsets[:1] + offsets, offsets, strict=False), strict=True
        )
    ]
    return Periods(starts, offsets, walls, names, savings)


def with_stretches(starts: list[int]) -> list[int]:
    """Returns the starts of periods, and a table that finds the period of a time without a search."""
    first, end = starts[0], starts[-1]
    stretches = range(first, end, 1 << STRETCH)
    places = [bisect_right(starts, begin) - 1 for begin in stretches]
    return [*starts, *places, len(starts) - 1]


@cache
def fixed_offset(zone: tzinfo) -> int | None:
    """Returns the offset of a zone in microseconds if it is fixed; None if it changes."""
    key = getattr(zone, "key", None) or ""
    if isinstance(zone, timezone) or key == "UTC" or key.startswith("Etc/"):
        return (datetime(2000, 1, 1, tzinfo=zone).utcoffset() or timedelta()) // _MICROSECOND
    return None
