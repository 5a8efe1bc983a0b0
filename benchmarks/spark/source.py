"""The data source beside Spark's Parquet.

The same rows of 50 columns, as Arrow files that colkern has written and as Parquet that Spark has
written. A filter that lets few rows pass, over 3 of the columns, is evaluated by colkern in the data
source, and on Spark's side in a `pandas_udf`; a scan of all columns stands beside an identity
`mapInArrow` over the Parquet reader.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

import colkern.spark
from benchmarks.spark.case import identity
from benchmarks.spark.turns import OURS, in_turn

COLUMNS = 50
WANTED = ["key", "scattered", "c2"]
SHARE = 0.001
"""The share of rows that pass a selective filter."""
DIVISOR = 10
"""Of how many rows the command is told, the files have a part."""


def measured(
    session: SparkSession, folder: Path, rows: int, rounds: int
) -> Iterator[dict[str, Any]]:
    """The figures of each case.

    Args:
        session: The session.
        folder: Where the files go; must be empty.
        rows: Of how many rows the command was told.
        rounds: How often each side is timed after it has run once.
    """
    count = max(1, rows // DIVISOR)
    arrow, parquet = str(folder / "arrow"), str(folder / "parquet")
    frame = data(session, count)
    colkern.spark.register_source(session)
    frame.write.format("colkern").mode("append").save(arrow)
    frame.write.parquet(parquet)
    for name, column, bound in (
        ("3 of 50 columns, filter on a sorted key", "key", max(1, int(count * SHARE))),
        ("3 of 50 columns, filter on a scattered column", "scattered", SHARE),
    ):
        sides = {
            "Parquet, pandas_udf": partial(filtered_in_pandas, session, parquet, column, bound),
            OURS: partial(selected, session, arrow, column, bound),
        }
        yield compared(name, sides, rounds)
    sides = {
        "Parquet, mapInArrow identity": lambda: identity(session.read.parquet(parquet)),
        OURS: lambda: colkern.spark.read(session, arrow),
    }
    yield compared("full scan of 50 columns", sides, rounds)


def data(session: SparkSession, rows: int) -> DataFrame:
    """`key`, in order; `scattered`, evenly from 0 to 1; and doubles, a tenth of them null."""
    numbers = [
        f.expr(f"if(pmod(id, 10) = {n % 10}, null, cast(pmod(id * {2 * n + 1}, 9973) as double))")
        for n in range(2, COLUMNS)
    ]
    named = [column.alias(f"c{n}") for n, column in enumerate(numbers, 2)]
    return session.range(rows, numPartitions=2).select(
        f.col("id").alias("key"), f.rand(42).alias("scattered"), *named
    )


def selected(session: SparkSession, path: str, column: str, bound: float) -> DataFrame:
    return colkern.spark.read(session, path, columns=WANTED, filters=[(column, "<", bound)])


def filtered_in_pandas(session: SparkSession, path: str, column: str, bound: float) -> DataFrame:
    @f.pandas_udf("boolean")
    def passes(values: pd.Series) -> pd.Series:
        return values < bound

    return session.read.parquet(path).select(*WANTED).where(passes(column))


def compared(name: str, sides: dict[str, Callable[[], DataFrame]], rounds: int) -> dict[str, Any]:
    seconds = in_turn(sides, rounds)
    counts = {side: make().count() for side, make in sides.items()}
    if len(set(counts.values())) > 1:
        raise AssertionError(f"{name}: not as many rows on both sides: {counts}")
    return {"name": name, "rows": counts[OURS]} | seconds
