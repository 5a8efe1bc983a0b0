"""Ways that take turns in one session: seconds until Spark's `noop` sink has all rows."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from benchmarks.spark.case import Case

OURS = "colkern"
FEW = 1000
"""Rows to warm up with what then runs once."""


def measured(case: Case, session: SparkSession, rows: int, rounds: int) -> dict[str, Any]:
    """The figures of a case, its rows in Spark's cache.

    Args:
        case: What is measured.
        session: The session.
        rows: Of how many rows the command was told.
        rounds: How often each way is timed after it has run once.
    """
    count = max(1, rows // case.divisor)
    frame = case.frame(session, count).cache()
    frame.count()
    ways = case.ways()
    few = case.frame(session, min(count, FEW))
    try:
        seconds = in_turn(
            {name: lambda way=way: way(frame) for name, way in ways.items()},
            rounds,
            {name: lambda way=ways[name]: way(few) for name in case.once},
        )
    finally:
        frame.unpersist()
    head = {"name": case.name, "rows": count}
    if groups := case.group_count(count):
        head["groups"] = groups
    return head | seconds


def in_turn(
    ways: dict[str, Callable[[], DataFrame]],
    rounds: int,
    warm_up: dict[str, Callable[[], DataFrame]] | None = None,
) -> dict[str, Any]:
    """Seconds of each way: of its first run, and the median of the others, which are interleaved.

    Args:
        ways: What makes the rows of each.
        rounds: How many runs follow the first.
        warm_up: What runs first in the place of some ways, which then run once.

    Returns:
        `first_seconds` and `seconds` by way, and `ratios`: how many times as long as colkern's `seconds`
        the others take.
    """
    shortened = warm_up or {}
    first = {name: spent(shortened.get(name, way)) for name, way in ways.items()}
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for n in range(rounds):
        for name, way in ways.items():
            if n == 0 or name not in shortened:
                seconds[name].append(spent(way))
    medians = {name: statistics.median(runs) for name, runs in seconds.items()}
    return {
        "first_seconds": {name: first[name] for name in ways if name not in shortened},
        "seconds": medians,
        "runs": {name: len(runs) for name, runs in seconds.items()},
        "ratios": {name: value / medians[OURS] for name, value in medians.items()},
    }


def spent(way: Callable[[], DataFrame]) -> float:
    """Seconds of one run, the planning of the query among them."""
    begin = time.perf_counter()
    way().write.format("noop").mode("overwrite").save()
    return time.perf_counter() - begin
