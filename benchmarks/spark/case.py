"""Cases: rows, and the ways to compute the same from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

Way = Callable[[DataFrame], DataFrame]

IDENTITY = "mapInArrow identity"
"""The floor: what it takes Spark to send the rows to Python and back."""


@dataclass(frozen=True)
class Case:
    """One function over rows of one shape.

    Args:
        name: Its name.
        columns: The rows, as expressions in SQL over `id`, the number of a row.
        ways: Makes the ways to compute it, by name, in a running session. What is defined within, workers
            get by value. All give the same rows, but for `IDENTITY`.
        divisor: Of how many rows the command is told, this case has a part: rows are larger here, or
            one of the ways is slow.
        group_rows: How many rows a group has; 0 if that is not said.
        groups: How many groups there are, of enough rows; 0 if that is not said.
        once: Ways that run once, after a run over few rows, since they take very long.
    """

    name: str
    columns: tuple[str, ...]
    ways: Callable[[], dict[str, Way]]
    divisor: int = 1
    group_rows: int = 0
    groups: int = 0
    once: tuple[str, ...] = ()

    def frame(self, session: SparkSession, rows: int) -> DataFrame:
        """That many rows."""
        return session.range(rows).selectExpr(*self.columns)

    def group_count(self, rows: int) -> int | None:
        """How many groups that many rows have; None if the case has none."""
        if self.group_rows:
            return -(-rows // self.group_rows)
        return min(self.groups, rows) or None


def applied(
    functions: dict[str, Callable[..., Column]], arguments: tuple[str, ...]
) -> dict[str, Way]:
    """Ways that call a function of columns; and what takes the rows through Python as they are."""

    def way(function: Callable[..., Column]) -> Way:
        return lambda frame: frame.select(function(*map(f.col, arguments)))

    return {IDENTITY: identity} | {name: way(function) for name, function in functions.items()}


def identity(frame: DataFrame) -> DataFrame:
    def passed_on(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from batches

    return frame.mapInArrow(passed_on, frame.schema)
