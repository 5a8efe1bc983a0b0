"""What the first batch costs on a fresh executor: `python -m benchmarks.spark_cold`.

One executor of Spark's local-cluster, a process of its own, gets colkern by `colkern.spark.install`. Each
round starts fresh Python processes there, and times a job of one row: an identity with `mapInArrow`, which
imports nothing of colkern, and a function of colkern whose machine code the executor has not, or has got
with the package. Figures are medians of the rounds, in seconds.
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

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

import colkern as ck
from colkern.machine import machine
from colkern.spark import install, start_session, udf


@ck.udf
def net(price: float, discount: float | None) -> float:
    return price * (1 - discount) if discount is not None else price


def identity(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from batches


def plain(frame: DataFrame) -> DataFrame:
    return frame.mapInArrow(identity, frame.schema)


def colkern(frame: DataFrame) -> DataFrame:
    # Made anew: Spark keeps the environment that a function of its own was first used in.
    return frame.select(udf(net)("price", "discount"))


def first_batch(spark: SparkSession, job: Callable[[DataFrame], DataFrame], folder: Path) -> float:
    """Seconds of a job on one row, in Python processes that did nothing before.

    Args:
        spark: The session.
        job: What is done with a price and a discount.
        folder: An empty one, where the executor keeps machine code.
    """
    # Another environment is another daemon.
    spark.sparkContext.environment["COLKERN_CACHE_DIR"] = str(folder)
    frame = spark.range(1).selectExpr("id + 0.5D price", "id / 10D discount")
    made = job(frame)
    begin = time.perf_counter()
    made.collect()
    return time.perf_counter() - begin


def measure(rounds: int) -> dict[str, list[float]]:
    spark = start_session("local-cluster[1,1,1024]", name="cold start")
    with tempfile.TemporaryDirectory() as name:
        folders = (Path(name) / str(n) for n in range(1000))
        install(spark, kernels=False)
        found: dict[str, list[float]] = {"mapInArrow": [], "without": [], "shipped": []}
        for _ in range(rounds):
            found["mapInArrow"].append(first_batch(spark, plain, next(folders)))
            found["without"].append(first_batch(spark, colkern, next(folders)))
        print(install(spark, package=False))
        for _ in range(rounds):
            found["mapInArrow"].append(first_batch(spark, plain, next(folders)))
            found["shipped"].append(first_batch(spark, colkern, next(folders)))
        spark.stop()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path, help="where to write the figures")
    options = parser.parse_args()
    seconds = measure(options.rounds)
    medians = {name: statistics.median(times) for name, times in seconds.items()}
    for name, median in medians.items():
        print(f"{name:12} {median:6.2f} s   {median - medians['mapInArrow']:+6.2f} s")
    if options.json:
        report: dict[str, Any] = {"machine": machine(), "seconds": seconds}
        options.json.write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
