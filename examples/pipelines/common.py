"""The parts that the pipelines share: the ways to run them, the command line, timing, comparison."""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

import colkern.spark

PLAIN, PANDAS, SAME_JOB, OURS = "udf", "pandas_udf", "colkern, same job", "colkern"


@dataclass(frozen=True)
class Pipeline:
    """A job, and what it is made of.

    Args:
        write: Writes that many rows to a folder.
        read: The rows that are in the folder.
        plain: Plain Python functions of a row, for Spark's `udf` and for colkern.
        pandas: Functions of pandas' Series that do the same, by the names of the plain ones.
        job: Calls functions of columns, which it gets as attributes, on the rows.
        computed: The results for the rows in the folder, the plain functions called where these are read.
    """

    write: Callable[[Path, int], None]
    read: Callable[[SparkSession, Path], DataFrame]
    plain: tuple[Callable[..., object], ...]
    pandas: dict[str, Callable[..., object]]
    job: Callable[[DataFrame, SimpleNamespace], DataFrame]
    computed: Callable[[SparkSession, Path], DataFrame]

    def ways(self, spark: SparkSession, folder: Path) -> dict[str, DataFrame]:
        """The results, for which nothing is read yet: functions made in three ways, and `computed`."""
        functions = {plain.__name__: colkern.spark.udf(plain) for plain in self.plain}
        # The types of the results are those that colkern reads from the functions.
        types = {name: function.returnType for name, function in functions.items()}
        ways = {
            PLAIN: {plain.__name__: f.udf(plain, types[plain.__name__]) for plain in self.plain},
            PANDAS: {name: f.pandas_udf(self.pandas[name], types[name]) for name in types},
            SAME_JOB: functions,
        }
        rows = self.read(spark, folder)
        frames = {name: self.job(rows, SimpleNamespace(**made)) for name, made in ways.items()}
        return frames | {OURS: self.computed(spark, folder)}


def main(pipeline: Pipeline, description: str, rows: int) -> None:
    """Run a pipeline in each way, in turn, and print how long each takes; or write its results.

    Args:
        pipeline: The pipeline.
        description: What it does.
        rows: How many rows are made, unless the command line says.
    """
    parser = argparse.ArgumentParser(description=description.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=rows, help=f"how many are made ({rows:,})")
    parser.add_argument("--rounds", type=int, default=3, help="how often each way is timed (3)")
    parser.add_argument("--data", type=Path, help="a folder with rows, or for those that are made")
    parser.add_argument("--output", help="write Parquet files there, and time nothing")
    parser.add_argument("--master", help="Spark's master; spark-submit's, or else local[*]")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        data = (options.data or Path(temporary, "data")).absolute()
        if not data.exists():
            data.mkdir(parents=True)
            pipeline.write(data, options.rows)
        spark = started(options.master)
        try:
            if options.output:
                results = pipeline.computed(spark, data)
                results.write.mode("overwrite").parquet(options.output)
            else:
                compare(pipeline.ways(spark, data), options.rounds)
        finally:
            spark.stop()


def started(master: str | None) -> SparkSession:
    """spark-submit's session, or one on this machine."""
    if master is None and "PYSPARK_GATEWAY_PORT" in os.environ:
        return SparkSession.builder.getOrCreate()
    return colkern.spark.start_session(master or "local[*]", name="pipeline")


def compare(ways: dict[str, DataFrame], rounds: int) -> None:
    """Check that all ways give the same rows, then let them take turns, from files to results."""
    for name, frame in ways.items():
        require_same(name, frame, ways[OURS])
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, frame in ways.items():
            begin = time.perf_counter()
            frame.write.format("noop").mode("overwrite").save()
            seconds[name].append(time.perf_counter() - begin)
    medians = {name: statistics.median(runs) for name, runs in seconds.items()}
    for name, median in medians.items():
        print(f"{name:20}{median:8.2f} s{median / medians[OURS]:8.1f}×")


def require_same(name: str, frame: DataFrame, expected: DataFrame) -> None:
    """Raise AssertionError unless two DataFrames have the same rows, in any order."""
    for left, right in ((frame, expected), (expected, frame)):
        if rows := left.exceptAll(right).take(3):
            raise AssertionError(f"{name} and {OURS} give different rows, such as {rows}")
