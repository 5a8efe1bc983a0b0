"""python connected.py ADDRESS FOLDER: colkern on a server of Spark Connect that does not know it.

FOLDER/report: what `install` says; FOLDER/rows: what functions and the data source made; FOLDER/native: the
results of a function with a native plan.
"""

import json
import sys
from pathlib import Path

from pyspark.sql import SparkSession

import colkern.spark
from colkern.spark import install, map_groups, udf


def steps(n: int) -> int:
    taken = 0
    while n > 1:
        n = 3 * n + 1 if n % 2 else n // 2
        taken += 1
    return taken


def longest(taken: list[int]) -> int:
    most = 0
    for one in taken:
        most = max(most, one)
    return most


def shifted(n: int) -> int:
    return n // 7 + n * 2**60 - (n - 1) * 2**60


def written(spark, steps, folder):
    """The rows read from files that executors wrote."""
    rows = spark.range(0, 100, numPartitions=2)
    taken = rows.selectExpr("id % 10 AS digit", "id").withColumn("taken", steps("id"))
    taken.write.format("colkern").mode("overwrite").save(str(folder / "files"))
    actual = colkern.spark.read(spark, str(folder / "files"), filters=[("id", "<", 50)])
    return map_groups(actual, "digit", longest).collect()


if __name__ == "__main__":
    address, folder = sys.argv[1], Path(sys.argv[2])
    spark = SparkSession.builder.remote(address).getOrCreate()
    # Whether functions are for Spark Connect, PySpark asks when they are made.
    steps = udf(steps)
    report = install(spark)
    (folder / "report").write_text(json.dumps({"works": report.works, "text": str(report)}))
    spark.udf.register("steps", steps)
    in_sql = spark.sql("SELECT steps(27) AS taken").collect()[0].taken
    native = spark.range(100).select(udf(shifted, plan="native")("id").alias("shifted"))
    (folder / "native").write_text(json.dumps([row.shifted for row in native.collect()]))
    rows = [list(row) for row in written(spark, steps, folder)]
    (folder / "rows").write_text(json.dumps({"in_sql": in_sql, "rows": rows}))
    spark.stop()
