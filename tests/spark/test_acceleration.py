"""`accelerate` in Spark: the same results, and the same use, as of the `pandas_udf` that was there."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pyspark.errors import PythonException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.functions import pandas_udf

from colkern.spark import accelerate

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not:FutureWarning"),
    pytest.mark.filterwarnings("error:.*is not accelerated:RuntimeWarning"),
]


@pytest.fixture(scope="module")
def frame(spark: SparkSession) -> DataFrame:
    """Several batches; columns with nulls in some of them alone."""
    rows = spark.range(0, 1000, 1, 2)
    late = f.col("id") % 500 > 400
    return rows.select(
        f.col("id"),
        (f.col("id") / 7 - 20).alias("x"),
        f.when(late & (f.col("id") % 5 == 0), None).otherwise(f.col("id")).alias("n"),
        f.when(f.col("id") % 11 == 0, None).otherwise(f.col("id").cast("string")).alias("word"),
    )


def require_same(frame: DataFrame, original: Any, *columns: str) -> Any:
    result = accelerate(original)
    results = frame.select(result(*columns).alias("a"), original(*columns).alias("b")).collect()
    assert [row.a for row in results] == [row.b for row in results]
    assert len({row.a for row in results}) > 1
    return result


def test_results_and_use_are_those_of_the_original(spark: SparkSession, frame: DataFrame) -> None:
    rate = 1.5

    @pandas_udf("double")
    def due(x: pd.Series, n: pd.Series) -> pd.Series:
        return pd.Series(np.where(x > 0, np.sqrt(x) * rate, 0.0)) + n

    result = require_same(frame, due, "x", "n")
    spark.udf.register("due", result)
    frame.createOrReplaceTempView("accelerated")
    by_name = spark.sql("SELECT due(n => n, x => x) AS due FROM accelerated").collect()
    assert by_name == frame.select(due("x", "n").alias("due")).collect()


def test_text(frame: DataFrame) -> None:
    @pandas_udf("boolean")
    def marked(word: pd.Series) -> pd.Series:
        return word.str.startswith("1") & (word.str.len() > 2) | word.isna()

    require_same(frame, marked, "word")


def test_iterators_of_batches(frame: DataFrame) -> None:
    @pandas_udf("double")
    def scaled(batches: Iterator[tuple[pd.Series, pd.Series]]) -> Iterator[pd.Series]:
        factor = 3
        for x, n in batches:
            yield x * factor - n.fillna(-1)

    require_same(frame, scaled, "x", "n")


def test_what_only_workers_can_tell_is_in_the_executors_log_once(
    frame: DataFrame, spark_log: Path
) -> None:
    @pandas_udf("double")
    def seldom_null(n: pd.Series, day: pd.Series) -> pd.Series:
        return n + day.isna()

    result = accelerate(seldom_null)
    days = frame.withColumn("day", f.create_map(f.lit("2020-01-01"), f.lit(1)))
    expected = days.select(seldom_null("n", "day")).collect()
    before = len(spark_log.read_bytes())
    for _ in range(2):
        assert [*map(tuple, days.coalesce(1).select(result("n", "day")).collect())] == [
            *map(tuple, expected)
        ]
    reason = b"seldom_null is not accelerated, and runs in pandas as before: columns of map"
    # The log is written by another process.
    for _ in range(300):
        if reason in spark_log.read_bytes()[before:]:
            break
        time.sleep(0.1)
    log = spark_log.read_bytes()[before:]
    assert log.count(b"is not accelerated") == log.count(reason)
    # Each of the two queries has a task, in one of two workers.
    assert 1 <= log.count(reason) <= 2


SAFELY = "spark.sql.execution.pandas.convertToArrowArraySafely"


def halved(n: pd.Series) -> pd.Series:
    return n / 2


def raised(n: pd.Series) -> pd.Series:
    return n + 100


def halved_on_some_days(n: pd.Series, day: pd.Series) -> pd.Series:
    # Columns of maps are not taken, which workers alone can tell.
    return n / 2 + day.isna()


def outcome(frame: DataFrame, function: Any, columns: tuple[str, ...]) -> Any:
    """The values; or the kind of exception in the worker."""
    try:
        return [row.x for row in frame.select(function(*columns).alias("x")).collect()]
    except PythonException as error:
        return next(line for line in str(error).splitlines() if "Failed to convert" in line)


@pytest.mark.parametrize("safely", [None, "true", "false"])
@pytest.mark.filterwarnings("ignore:.*is not accelerated:RuntimeWarning")
def test_results_that_do_not_fit_are_treated_as_the_session_says(
    spark: SparkSession, safely: str | None
) -> None:
    day = f.create_map(f.lit("2020-01-01"), f.lit(1)).alias("day")
    rows = spark.range(100, 103).select("id", day)
    # Used before the setting changes: that of each query counts.
    cases = [
        (pandas_udf(function, returns), accelerate(pandas_udf(function, returns)), columns)
        for function, returns, columns in (
            (halved, "int", ("id",)),
            (raised, "byte", ("id",)),
            (halved_on_some_days, "int", ("id", "day")),
        )
    ]
    rows.limit(0).select(cases[0][1]("id")).collect()
    try:
        if safely is not None:
            spark.conf.set(SAFELY, safely)
        # What fails costs a worker process: what is said to be as it is by default, is tried once.
        for original, result, columns in cases[:1] if safely == "true" else cases:
            expected = outcome(rows, original, columns)
            assert outcome(rows, result, columns) == expected
            assert isinstance(expected, list) == (safely == "false")
    finally:
        spark.conf.unset(SAFELY)
