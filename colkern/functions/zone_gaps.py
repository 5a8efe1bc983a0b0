"""Local times that a zone's clocks pass over."""

from __future__ import annotations

from bisect import bisect_left
from datetime import UTC, datetime, timedelta, tzinfo

from colkern import schema as s
from colkern.arrays import Array
from colkern.builders import array
from colkern.operations.moving import to_device, to_host
from colkern.schema import PER_SECOND

_EPOCH = datetime(1970, 1, 1)


def ends_of_gaps(zone: tzinfo, clocks: Array, is_before: bool, unit: str) -> Array:
    """The moments at which clocks pass over missing local times, or the last ones before."""
    moments = [_end_of_gap(zone, clock) for clock in to_host(clocks).to_pylist()]
    numbers = [moment * PER_SECOND[unit] - is_before for moment in moments]
    return to_device(array(numbers, s.int64()), clocks.device)


def _end_of_gap(zone: tzinfo, clock: int) -> int:
    """The moment at which clocks pass over a local time; both in seconds since 1970."""
    wall = _EPOCH + timedelta(seconds=clock)
    # The offsets before the gap and behind it. Of two moments, the one is past the gap, the other is not.
    before, after = (int(_offset(wall.replace(tzinfo=zone, fold=fold))) for fold in (0, 1))

    def is_past(moment: int) -> bool:
        return _offset(datetime.fromtimestamp(moment, UTC).astimezone(zone)) != before

    moments = range(clock - after + 1, clock - before + 1)
    return moments[bisect_left(moments, True, key=is_past)]


def _offset(moment: datetime) -> float:
    offset = moment.utcoffset()
    assert offset is not None
    return offset.total_seconds()
