"""Time zones as compiled code knows them: one offset, or a table of periods."""

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
"""No clock in the database of time zones was turned twice within fewer days, and back again."""


class _OfRow(tzinfo):
    """The zone of datetimes that are read from text: one offset each, which compiled code does not keep."""

    def utcoffset(self, dt: datetime | None) -> timedelta:
        """Raises: the offset depends on the row."""
        raise ValueError("the zone depends on the row")

    dst = utcoffset

    def tzname(self, dt: datetime | None) -> str:
        """As it is shown."""
        return repr(self)

    def __repr__(self) -> str:
        return "an offset in the row"


OF_ROW = _OfRow()


class Periods(NamedTuple):
    """The offsets that a zone has in turn, see `colkern.kernels.row_zones`."""

    starts: list[int]
    offsets: list[int]
    turns: list[int]
    names: list[str]
    savings: list[timedelta]


@cache
def periods_of(zone: tzinfo) -> Periods:
    """The periods of a zone in the years that the table is for."""

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
    # Of what a clock repeats, the first time counts; what it leaves out goes before the turn.
    walls = [
        start + max(pair)
        for start, pair in zip(
            starts, zip(offsets[:1] + offsets, offsets, strict=False), strict=True
        )
    ]
    return Periods(starts, offsets, walls, names, savings)


def with_stretches(starts: list[int]) -> list[int]:
    """Starts of periods, and what finds one of them without a search."""
    first, end = starts[0], starts[-1]
    stretches = range(first, end, 1 << STRETCH)
    places = [bisect_right(starts, begin) - 1 for begin in stretches]
    return [*starts, *places, len(starts) - 1]


@cache
def fixed_offset(zone: tzinfo) -> int | None:
    """The offset of a zone in microseconds, if it has one only."""
    key = getattr(zone, "key", None) or ""
    if isinstance(zone, timezone) or key == "UTC" or key.startswith("Etc/"):
        return (datetime(2000, 1, 1, tzinfo=zone).utcoffset() or timedelta()) // _MICROSECOND
    return None
