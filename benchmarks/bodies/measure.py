"""Rounds in which each contestant has its turn, and rows out of their seconds."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.bodies.contestant import SECONDS, SPEED, Against, Contestant, Group, Place, Skipped
from colkern.cuda import Transfers, count_transfers, memory
from colkern.memory import Device

Row = dict[str, Any]


@dataclass
class _Taken:
    """The figures of a contestant.

    Args:
        contestant: The contestant.
        transfers: What crosses the bus each time.
        seconds: Of each round.
        error: Why there is no more.
    """

    contestant: Contestant
    transfers: Transfers
    seconds: list[float] = field(default_factory=list)
    error: str | None = None

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def bytes_per_second(self) -> float:
        return self.contestant.nbytes / self.median


def rows_of(group: Group, place: Place, rounds: int) -> list[Row]:
    """The rows of a group; one with `skipped` or `error` if its contestants could not be made."""
    try:
        with group.make(place) as contestants:
            return rows(contestants, place.device, rounds)
    except Skipped as reason:
        return [{"case": group.name, "skipped": str(reason)}]
    except Exception as error:  # noqa: BLE001 (whatever it is, the other groups are worth having)
        return [{"case": group.name, "error": _said(error)}]


def rows(contestants: Sequence[Contestant], device: Device, rounds: int) -> list[Row]:
    """A row for each contestant; with `error` in the place of figures for one that fails.

    The first time of each is not timed: it compiles kernels, fills the page cache and the pool of device
    memory. What crosses the bus is counted then.
    """
    taken = [_begun(contestant, device) for contestant in contestants]
    for _ in range(rounds):
        for each in taken:
            if each.error is None:
                _take_turn(each, device)
    measured = {each.contestant.case: each for each in taken if each.error is None}
    return [_row(each, measured) for each in taken]


def _begun(contestant: Contestant, device: Device) -> _Taken:
    with count_transfers() as transfers:
        first = _Taken(contestant, transfers)
        _take_turn(first, device)
    return _Taken(contestant, transfers, error=first.error)


def _take_turn(taken: _Taken, device: Device) -> None:
    try:
        memory.finish(device)
        begin = time.perf_counter()
        work = taken.contestant.work()
        memory.finish(device)
        taken.seconds.append(time.perf_counter() - begin)
        del work
    except Exception as error:  # noqa: BLE001 (whatever it is, the other rows are worth having)
        taken.error = _said(error)


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _row(taken: _Taken, measured: dict[str, _Taken]) -> Row:
    contestant, against = taken.contestant, taken.contestant.against
    row: Row = {"case": contestant.case, "bytes": contestant.nbytes, **contestant.facts}
    if against is not None:
        row |= {"kind": against.kind, "against": against.case, "target": against.target}
    if taken.error is not None:
        return row | {"error": taken.error}
    row |= {
        "seconds": taken.median,
        "rounds": taken.seconds,
        "bytes_per_second": taken.bytes_per_second,
        "bytes_to_device": taken.transfers.bytes_to_device,
        "bytes_to_host": taken.transfers.bytes_to_host,
    }
    if against is None or against.case not in measured:
        return row
    ratio = _ratio(taken, against, measured[against.case])
    return row | {"ratio": ratio, "meets_target": _meets(ratio, against)}


def _ratio(taken: _Taken, against: Against, other: _Taken) -> float:
    if against.kind == SECONDS:
        return taken.median / other.median
    if against.kind == SPEED:
        return other.median / taken.median
    return taken.bytes_per_second / other.bytes_per_second


def _meets(ratio: float, against: Against) -> bool | None:
    if against.target is None:
        return None
    return ratio <= against.target if against.kind == SECONDS else ratio >= against.target
