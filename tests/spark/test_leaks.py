"""Jobs leave nothing behind that adds up in a Spark that goes on."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

import colkern.spark

pytestmark = pytest.mark.spark

MEGABYTE = 1 << 20


class Process(NamedTuple):
    """The resources of one process.

    Args:
        memory: Bytes that are resident.
        most: The most bytes that have been resident.
        threads: How many threads it has.
        files: How many files, sockets and pipes are open.
    """

    memory: int
    most: int
    threads: int
    files: int


def this_process() -> Process:
    lines = Path("/proc/self/status").read_text().splitlines()
    status = dict(line.split(":", 1) for line in lines)
    memory, most = (int(status[name].split()[0]) * 1024 for name in ("VmRSS", "VmHWM"))
    return Process(memory, most, int(status["Threads"]), len(os.listdir("/proc/self/fd")))


def workers(spark: SparkSession) -> dict[int, Process]:
    """The Python workers of a session, by their process ids."""

    def look(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            gc.collect()
            yield pa.record_batch([[os.getpid()], *([value] for value in this_process())], NAMES)

    names = ["pid", *Process._fields]
    NAMES = names
    schema = ", ".join(f"{name} long" for name in names)
    actual = spark.range(2, numPartitions=2).mapInArrow(look, schema).collect()
    return {row[0]: Process(*row[1:]) for row in actual}


def cached_files() -> int:
    """The number of files that colkern keeps for this session."""
    return len(list(Path(os.environ["COLKERN_CACHE_DIR"]).rglob("*")))


@colkern.spark.udf(plan="arrow")
def net(price: float, discount: float | None) -> float:
    return price * (1 - discount) if discount is not None else price


@colkern.spark.udf
class total:
    def init():
        return 0.0

    def update(state, value: float):
        return state + value


def frame_of(spark: SparkSession, rows: int, partitions: int = 2) -> DataFrame:
    return spark.range(0, rows, 1, partitions).select(
        (f.col("id") % 7).alias("shop"),
        f.col("id").cast("double").alias("price"),
        f.when(f.col("id") % 3 > 0, 0.5).alias("discount"),
        f.format_string("%0100d", "id").alias("text"),
    )


def test_a_hundred_jobs_leave_no_memory_threads_or_files(
    spark: SparkSession, tmp_path: Path
) -> None:
    frame = frame_of(spark, 1000)
    colkern.spark.register_source(spark)
    frame.write.format("colkern").mode("overwrite").save(str(tmp_path / "rows"))

    def job(number: int) -> None:
        if number % 2:
            rows = colkern.spark.read(spark, str(tmp_path / "rows"))
            actual = rows.select(net("price", "discount")).collect()
            assert len(actual) == 1000
        else:
            actual = frame.groupBy("shop").agg(total("price")).collect()
            assert len(actual) == 7

    for number in range(10):
        job(number)
    gc.collect()
    before, before_here, cached = workers(spark), this_process(), cached_files()
    for number in range(100):
        job(number)
    gc.collect()
    after, after_here = workers(spark), this_process()

    assert after.keys() & before.keys(), "workers were not used again"
    for pid in after.keys() & before.keys():
        assert after[pid].memory - before[pid].memory < 8 * MEGABYTE
        assert after[pid].threads == before[pid].threads
        assert after[pid].files == before[pid].files
    assert after_here.memory - before_here.memory < 8 * MEGABYTE
    assert after_here.files <= before_here.files + 2
    assert threading.active_count() <= after_here.threads <= before_here.threads + 1
    assert cached_files() == cached


def test_memory_stays_that_of_a_few_of_a_thousand_batches(spark: SparkSession) -> None:
    @colkern.spark.udf
    def shout(text: str) -> str:
        return str(text) + str(text)

    batches, rows = 1000, 1000
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", str(rows))
    try:
        few = frame_of(spark, 10 * rows, partitions=1).select(shout("text").alias("loud"))
        few.write.format("noop").mode("overwrite").save()
        before = workers(spark)
        many = frame_of(spark, batches * rows, partitions=1).select(shout("text").alias("loud"))
        many.write.format("noop").mode("overwrite").save()
        after = workers(spark)
    finally:
        spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "100")
    # 200 bytes for each of a million rows went out, and half of that came in.
    for pid in after.keys() & before.keys():
        assert after[pid].most - before[pid].most < 50 * MEGABYTE
