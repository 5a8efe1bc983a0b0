"""The Spark data source beside Spark's Parquet: `python -m benchmarks.spark_source --json FILE`.

The same rows of 50 columns, as Arrow files that colkern has written and as Parquet that Spark has
written. Cases: a filter that lets few rows pass, over 3 of the columns, which colkern evaluates in the
data source and Spark's side in a `pandas_udf`; and a scan of all columns, beside an identity
`mapInArrow` over the Parquet reader. Both sides run in turn, in one session, after one run to warm up;
figures are medians of seconds.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

import colkern.spark
from benchmarks import machine

COLUMNS = 50
WANTED = ["key", "scattered", "c2"]
SHARE = 0.001
"""The share of rows that pass a selective filter."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "spark.log")
        session = colkern.spark.start_session(arguments.master, name="benchmark", log=log)
        try:
            cases = measured(session, Path(folder), arguments.rows, arguments.repeat)
        finally:
            session.stop()
    for case in cases:
        print(f"{case['name']:40} {case['seconds']} {case['ratio']:.2f}×")
    if arguments.json is not None:
        head = {**machine.facts(1), "rows": arguments.rows, "master": arguments.master}
        arguments.json.write_text(json.dumps({**head, "cases": cases}, indent=1) + "\n")


def measured(session: SparkSession, folder: Path, rows: int, repeat: int) -> list[dict[str, Any]]:
    """All cases: the seconds of each side, and how many times as long Spark's side takes."""
    arrow, parquet = str(folder / "arrow"), str(folder / "parquet")
    frame = data(session, rows)
    colkern.spark.register_source(session)
    frame.write.format("colkern").mode("append").save(arrow)
    frame.write.parquet(parquet)
    return [
        compared(
            "3 of 50 columns, filter on a sorted key",
            lambda: selected(session, arrow, "key", int(rows * SHARE)),
            lambda: filtered_in_pandas(session, parquet, "key", int(rows * SHARE)),
            repeat,
        ),
        compared(
            "3 of 50 columns, filter on a scattered column",
            lambda: selected(session, arrow, "scattered", SHARE),
            lambda: filtered_in_pandas(session, parquet, "scattered", SHARE),
            repeat,
        ),
        compared(
            "full scan",
            lambda: colkern.spark.read(session, arrow),
            lambda: passed_through(session.read.parquet(parquet)),
            repeat,
        ),
    ]


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


def passed_through(frame: DataFrame) -> DataFrame:
    def identity(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from batches

    return frame.mapInArrow(identity, frame.schema)


def compared(
    name: str, ours: Callable[[], DataFrame], theirs: Callable[[], DataFrame], repeat: int
) -> dict[str, Any]:
    sides = {"colkern": ours, "spark": theirs}
    counts = {side: make().count() for side, make in sides.items()}
    assert counts["colkern"] == counts["spark"], counts
    seconds: dict[str, list[float]] = {side: [] for side in sides}
    for _ in range(repeat):
        for side, make in sides.items():
            begin = time.perf_counter()
            make().write.format("noop").mode("append").save()
            seconds[side].append(time.perf_counter() - begin)
    medians = {side: statistics.median(all_of) for side, all_of in seconds.items()}
    ratio = medians["spark"] / medians["colkern"]
    return {"name": name, "result_rows": counts["spark"], "seconds": medians, "ratio": ratio}


if __name__ == "__main__":
    main()
