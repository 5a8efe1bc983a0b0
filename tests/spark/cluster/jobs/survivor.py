"""spark-submit survivor.py FOLDER: a query with a function of colkern, written to files again and again.

colkern is installed on the executors first: FOLDER/report. Each run is named in FOLDER by a folder, with
the outcome in `files`. But for the first, the first attempt of the run's first task stops in the middle
of its rows. It then says which processes it is in, in `running`, and goes on once there is `go`. At last
FOLDER/workers says what each worker process has imported and compiled.
"""

import itertools
import json
import os
import sys
import time
from pathlib import Path

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import SparkSession
from pyspark.sql.functions import arrow_udf

from colkern.spark import install, register_source, udf

ROWS = 4000
BATCH = 100


@udf
def steps(n: int) -> int:
    taken = 0
    while n > 1:
        n = 3 * n + 1 if n % 2 else n // 2
        taken += 1
    return taken


def stopping(folder):
    """A column function that hands batches on; Spark has it run in the process of the one before it."""
    handed_on = itertools.count()

    @arrow_udf("long")
    def stopped(column: pa.Array) -> pa.Array:
        task = TaskContext.get()
        first = task.partitionId() == 0 and task.attemptNumber() == 0
        if folder is not None and first and next(handed_on) == 3:
            wait(folder)
        return column

    return stopped


def wait(folder):
    daemon = os.getppid()
    executor = int(Path(f"/proc/{daemon}/stat").read_text().rpartition(")")[2].split()[1])
    write(folder / "running", {"executor": executor, "worker": os.getpid()})
    while not (folder / "go").exists():
        time.sleep(0.02)


def write(path, value):
    part = path.with_suffix(".part")
    part.write_text(json.dumps(value))
    part.rename(path)


def run(spark, folder, stops):
    folder.mkdir()
    stopped = stopping(folder if stops else None)
    rows = spark.range(0, ROWS, numPartitions=4).select("id", stopped(steps("id")).alias("steps"))
    rows.write.format("colkern").mode("append").save(str(folder / "files"))


def describing(call):
    """A function for `mapInArrow` that calls another, and says what there is in its process then."""

    def described(batches):
        import colkern
        from colkern.cache import COUNTS

        for batch in batches:
            call(batch["id"])
        said = json.dumps([os.path.abspath(colkern.__file__), COUNTS])
        yield pa.RecordBatch.from_pydict({"said": [said]})

    return described


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    spark = SparkSession.builder.getOrCreate()
    report = install(spark)
    register_source(spark)
    write(folder / "report", {"works": report.works, "text": str(report)})
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", str(BATCH))
    run(spark, folder / "undisturbed", stops=False)
    run(spark, folder / "worker", stops=True)
    run(spark, folder / "executor", stops=True)
    rows = spark.range(0, 4, numPartitions=4)
    said = rows.mapInArrow(describing(steps.func), "said string").collect()
    write(folder / "workers", [json.loads(row.said) for row in said])
    spark.stop()
