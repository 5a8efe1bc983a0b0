"""The data source from end to end, in a local Spark, against Spark's own Parquet."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import reduce
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException, PythonException
from pyspark.sql import DataFrame, SparkSession

import colkern.spark
from colkern.spark import register_source

ROWS = 1000


@pytest.fixture(scope="module")
def both(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> tuple[DataFrame, DataFrame, Path]:
    """The same rows read by colkern and by Spark from Parquet, and colkern's directory."""
    register_source(spark)
    frame = spark.range(ROWS, numPartitions=2).selectExpr(
        "id n",
        "if(id % 7 = 0, null, if(id % 11 = 0, double('NaN'), id / 8)) x",
        "if(id % 5 = 0, null, concat('row ', id)) t",
        "cast(id / 4 as decimal(20, 3)) d",
        "date_add(date'1970-01-01', int(id)) day",
        "timestamp_micros(id * 1000001) at",
        "timestamp_ntz'2000-01-01 00:00:00' + make_dt_interval(0, 0, 0, id) wall",
        "id % 2 = 0 flag",
        "named_struct('a', id, 'l', array(id, null)) s",
        "map('k', id) m",
        "cast(concat('b', id) as binary) b",
        "if(id % 9 = 0, null, parse_json(concat('{\"n\": ', id, '}'))) v",
    )
    folder = tmp_path_factory.mktemp("source")
    colkern, parquet = folder / "colkern", folder / "parquet"
    save(frame, colkern, compression="lz4", batchRows="100")
    frame.write.parquet(str(parquet))
    return load(spark, colkern), spark.read.parquet(str(parquet)), colkern


def save(frame: DataFrame, path: Path, mode: str = "append", **options: str) -> None:
    frame.write.format("colkern").mode(mode).options(**options).save(str(path))


def load(spark: SparkSession, path: Path, **options: str) -> DataFrame:
    return spark.read.format("colkern").options(**options).load(str(path))


def rows(frame: DataFrame) -> list[str]:
    # As text: a NaN is not equal to itself.
    return sorted(map(repr, frame.collect()))


Both = tuple[DataFrame, DataFrame, Path]


def test_what_is_written_is_read(both: Both) -> None:
    ours, theirs, folder = both
    assert ours.schema == theirs.schema
    assert rows(ours) == rows(theirs)
    assert sorted(name.split("-")[0] for name in os.listdir(folder)) == ["_SUCCESS", "part", "part"]


FILTERS = [
    (
        "n > 905 and s.a not in (970) and t > 'row 91'",
        [("n", ">", 905), ("t", ">", "row 91"), (["s", "a"], "not in", [970])],
    ),
    (
        "x >= 0.5 and d in (1.25, 8.5) and flag <=> false",
        [("x", ">=", 0.5), ("d", "in", ["1.25", 8.5]), ("flag", "=", False)],
    ),
    (
        "at < timestamp'1970-01-01 00:00:50' and t is null and day <= '1970-02-01'",
        [("at", "<", "1970-01-01T00:00:50Z"), ("t", "is null"), ("day", "<=", "1970-02-01")],
    ),
]


def test_filters_let_the_same_rows_pass_as_sparks_own(spark: SparkSession, both: Both) -> None:
    _, theirs, folder = both

    def summary(frame: DataFrame, number: int) -> DataFrame:
        return frame.selectExpr(f"{number} i", "count(*) c", "sum(n) s")

    texts, conditions = zip(*FILTERS, strict=True)
    ours = [
        summary(colkern.spark.read(spark, str(folder), filters=chosen), number)
        for number, chosen in enumerate(conditions)
    ]
    expected = [summary(theirs.where(text), number) for number, text in enumerate(texts)]
    assert rows(reduce(DataFrame.union, ours)) == rows(reduce(DataFrame.union, expected))


@pytest.fixture
def pushdown(spark: SparkSession) -> Iterator[None]:
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    yield
    spark.conf.unset("spark.sql.python.filterPushdown.enabled")


def test_filters_that_are_pushed_down_are_not_evaluated_again(
    spark: SparkSession, both: Both, pushdown: None
) -> None:
    _, theirs, folder = both
    text = (
        "n > 5 and x > 50 and t like 'row 9%' and t like '%2' and t <=> 'row 982' and not (n = 905)"
        " and d between 1 and 1000 and at < timestamp'2000-01-01' and contains(t, '9')"
    )
    frame = load(spark, folder, pushdown="true").where(text)
    assert rows(frame) == rows(theirs.where(text)) != []
    plan = frame._jdf.queryExecution().executedPlan().toString()
    (left,) = {line.split("Filter ")[1] for line in plan.splitlines() if "Filter " in line}
    assert re.fullmatch(r"Contains\(t#\d+, 9\)", left)


def test_queries_over_one_frame_do_not_share_filters(both: Both, pushdown: None) -> None:
    # As they would if the source took filters over unasked.
    ours, _, _ = both
    assert ours.where("n < 10").count() == 10
    assert ours.count() == ROWS


def test_columns_that_are_asked_for(spark: SparkSession, both: Both) -> None:
    _, theirs, folder = both
    assert rows(load(spark, folder, columns="t,n")) == rows(theirs.select("t", "n"))
    declared = spark.read.format("colkern").schema("n int").load(f"file://{folder}/*.arrow")
    assert rows(declared) == rows(theirs.selectExpr("int(n) n"))


def test_overwriting_the_directory_that_is_read(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "out"
    save(spark.range(10, numPartitions=2), path)
    save(load(spark, path).selectExpr("id + 1 id"), path, "overwrite")
    assert {row.id for row in load(spark, path).collect()} == set(range(1, 11))


def test_a_job_that_fails_leaves_no_file(spark: SparkSession, both: Both, tmp_path: Path) -> None:
    def failing(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            if 700 in batch["id"].to_pylist():
                raise ValueError("seven hundred")
            yield batch

    path = tmp_path / "out"
    with pytest.raises(Exception, match="seven hundred"):
        save(spark.range(1000, numPartitions=2).mapInArrow(failing, "id long"), path)
    assert not path.exists() or os.listdir(path) == []


def test_errors_name_the_file(spark: SparkSession, both: Both, tmp_path: Path) -> None:
    (tmp_path / "bad.arrow").write_bytes(b"ARROW1\0\0 but no more")
    with pytest.raises(AnalysisException, match=r"bad\.arrow"):
        load(spark, tmp_path)
    declared = spark.read.format("colkern").schema("n long").load(str(tmp_path))
    with pytest.raises((AnalysisException, PythonException), match=r"bad\.arrow"):
        declared.collect()


def test_what_sparks_interface_does_not_offer(spark: SparkSession, both: Both) -> None:
    frame: Any = spark.range(1)
    with pytest.raises(AnalysisException, match="UNSUPPORTED_DATA_SOURCE_SAVE_MODE"):
        save(frame, Path("unused"), "ignore")
    with pytest.raises(Exception, match="partitioning or clustering columns do not match"):
        frame.write.format("colkern").mode("append").partitionBy("id").save("unused")


def test_a_stream_from_directory_to_directory(
    spark: SparkSession, both: Both, tmp_path: Path
) -> None:
    incoming, out = tmp_path / "in", tmp_path / "out"

    def run() -> None:
        stream = spark.readStream.format("colkern").schema("id long")
        frame = stream.option("maxFilesPerTrigger", "1").load(str(incoming)).where("id <> 5")
        sink = frame.writeStream.format("colkern").option(
            "checkpointLocation", str(tmp_path / "at")
        )
        query = sink.trigger(availableNow=True).start(str(out))
        query.awaitTermination()

    save(spark.range(10, numPartitions=2), incoming)
    run()
    save(spark.range(10, 20, numPartitions=1), incoming)
    run()
    actual = [row.id for row in load(spark, out).collect()]
    assert sorted(actual) == [n for n in range(20) if n != 5]
    assert len([name for name in os.listdir(out) if name.startswith("part-")]) == 3
