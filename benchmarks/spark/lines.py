"""Lines of a log that become three numbers: computed where the file is read, and behind Spark's reader.

The lines are about as long as those of a web server's log. Whatever reads them, a function gets whole
lines, and three numbers of each go on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql import types as spark
from pyspark.sql.functions import PandasUDFType, pandas_udf

import colkern.spark
from benchmarks.spark.turns import OURS, in_turn

DIVISOR = 2
"""Of how many rows the command is told, the file has a part."""
LINE = """concat(
    '10.0.', id % 256, '.', id % 251, ' - - [31/Jan/2024:', lpad(id % 24, 2, '0'), ':10:00 +0000] "GET /',
    repeat('shop/', int(id % 4)), 'item/', id, '?ref=mail HTTP/1.1" ', 200 + id % 3 * 102,
    ' ', id * 7 % 99991, ' "https://example.org/search?q=', id % 1009,
    '" "Mozilla/5.0 (X11; Linux x86_64; rv:', id % 120, '.0) Gecko/20100101 Firefox/', id % 120, '.0"')"""


def measured(
    session: SparkSession, folder: Path, rows: int, rounds: int
) -> Iterator[dict[str, Any]]:
    """The figures; arguments as for `source.measured`."""
    count = max(1, rows // DIVISOR)
    path = str(folder / "lines")
    session.range(count, numPartitions=2).selectExpr(f"{LINE} value").write.text(path)
    figures = in_turn(ways(session, path), rounds)
    yield {"name": "lines of a log to three numbers", "rows": count} | figures


def ways(session: SparkSession, path: str) -> dict[str, Callable[[], DataFrame]]:
    """The ways to compute the numbers of the lines of some files."""

    def status(value: str) -> int:
        return int(value.split('" ')[1].split(" ")[0])

    def size(value: str) -> int:
        return int(value.split('" ')[1].split(" ")[1])

    def depth(value: str) -> int:
        return value.split('"')[1].count("/")

    functions = {"status": status, "size": size, "depth": depth}

    def status_pandas(value: pd.Series) -> pd.Series:
        return value.str.split('" ').str[1].str.split(" ").str[0].astype(int)

    def size_pandas(value: pd.Series) -> pd.Series:
        return value.str.split('" ').str[1].str.split(" ").str[1].astype(int)

    def depth_pandas(value: pd.Series) -> pd.Series:
        return value.str.split('"').str[1].str.count("/")

    series = {"status": status_pandas, "size": size_pandas, "depth": depth_pandas}
    in_pandas = {
        name: pandas_udf(function, spark.LongType(), PandasUDFType.SCALAR)
        for name, function in series.items()
    }
    after = f.split(f.split("value", '" ')[1], " ")
    request = f.split("value", '"')[1]
    in_sql = {
        "status": after[0].cast("long"),
        "size": after[1].cast("long"),
        "depth": (f.length(request) - f.length(f.replace(request, f.lit("/")))).cast("long"),
    }

    def behind_reader(columns: dict[str, Column]) -> DataFrame:
        return session.read.text(path).select(*[c.alias(name) for name, c in columns.items()])

    def called(udfs: dict[str, Callable[..., Column]]) -> Callable[[], DataFrame]:
        return lambda: behind_reader({name: udf("value") for name, udf in udfs.items()})

    chosen = {name: colkern.spark.udf(each) for name, each in functions.items()}
    over_arrow = {name: colkern.spark.udf(each, plan="arrow") for name, each in functions.items()}
    return {
        "Spark's reader, pandas_udf": called(in_pandas),
        "Spark's reader, Spark SQL": lambda: behind_reader(in_sql),
        "Spark's reader, colkern's udf": called(chosen),
        "Spark's reader, colkern over Arrow": called(over_arrow),
        OURS: lambda: colkern.spark.read(session, path, columns=[], compute=functions),
    }
