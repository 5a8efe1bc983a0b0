"""Timing on a noisy machine: contestants take turns in one process, and medians are compared."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

Work = Callable[[], object]

_LIKE = 10
"""Contestants that are up to so many times slower than the fastest are called as often."""


def medians(contestants: dict[str, Work], rounds: int, at_least: float = 0.002) -> dict[str, float]:
    """The median seconds of one call of each contestant.

    Each is called often enough in a row for `at_least` seconds, so that the clock does not matter;
    then the next one has its turn, for `rounds` rounds. The first call of each is not counted. Those of
    like speed are called as often as each other: the first calls of a turn find cold caches.
    """
    calls = _alike({name: _calls_for(work, at_least) for name, work in contestants.items()})
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, work in contestants.items():
            seconds[name].append(_seconds(work, calls[name]) / calls[name])
    return {name: statistics.median(measured) for name, measured in seconds.items()}


def _alike(calls: dict[str, int]) -> dict[str, int]:
    """The same number of calls for all that are not many times slower than the fastest."""
    most = max(calls.values())
    return {name: most if most <= _LIKE * count else count for name, count in calls.items()}


def _calls_for(work: Work, at_least: float) -> int:
    work()
    calls = 1
    while (spent := _seconds(work, calls)) < at_least:
        calls = max(2 * calls, int(calls * at_least / max(spent, 1e-7)))
    return calls


def _seconds(work: Work, calls: int) -> float:
    begin = time.perf_counter()
    for _ in range(calls):
        work()
    return time.perf_counter() - begin
