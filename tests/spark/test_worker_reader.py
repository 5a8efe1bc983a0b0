"""colkern in the place of PySpark's reader of streams: the same rows, whatever kind of function asks."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.pandas.serializers import ArrowStreamSerializer

import colkern as ck
import colkern.spark
from colkern.spark.worker_reader import read_batches

# What it takes from a stream

BATCHES = [
    pa.record_batch({"n": [1, None, 3], "word": ["a", "", None]}),
    pa.record_batch({"n": pa.array([], pa.int64()), "word": pa.array([], pa.string())}),
]


def stream_of(batches: list[pa.RecordBatch]) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batches[0].schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return sink.getvalue().to_pybytes()


def test_it_takes_no_byte_beyond_the_end_of_the_stream() -> None:
    source = io.BytesIO(stream_of(BATCHES) + stream_of(BATCHES[:1]) + b"rest")
    serializer = ArrowStreamSerializer()
    assert list(read_batches(serializer, source)) == BATCHES
    assert list(read_batches(serializer, source)) == BATCHES[:1]
    assert source.read() == b"rest"


def test_batches_stay_when_the_stream_goes_on() -> None:
    found = list(read_batches(ArrowStreamSerializer(), io.BytesIO(stream_of(BATCHES * 50))))
    assert found == BATCHES * 50


def test_batches_without_columns_have_rows() -> None:
    batch = pa.RecordBatch.from_struct_array(pa.array([{}, {}], pa.struct([])))
    (found,) = read_batches(ArrowStreamSerializer(), io.BytesIO(stream_of([batch])))
    assert found.num_rows == 2


def test_metadata_of_fields_comes_along() -> None:
    field = pa.field("n", pa.int64(), nullable=False, metadata={"variant": "true"})
    batch = pa.record_batch([pa.array([1])], schema=pa.schema([field]))
    (found,) = read_batches(ArrowStreamSerializer(), io.BytesIO(stream_of([batch])))
    assert found.schema.field(0).equals(field, check_metadata=True)


def test_a_damaged_stream_is_refused() -> None:
    damaged = stream_of(BATCHES)[:-60]
    with pytest.raises(ck.InvalidArrowError):
        list(read_batches(ArrowStreamSerializer(), io.BytesIO(damaged)))


# In Spark's workers


@pytest.fixture(scope="module")
def numbers(spark: SparkSession) -> Iterator[DataFrame]:
    """1000 rows, read by colkern wherever a function of colkern is near."""
    environment = spark.sparkContext.environment
    before = environment.get("COLKERN_SPARK_READER")
    environment["COLKERN_SPARK_READER"] = "1"
    yield spark.range(1000).select(
        f.col("id").alias("n"),
        f.expr("if(id % 7 = 0, null, id / 2)").alias("half"),
        f.expr("concat('row ', id)").alias("text"),
    )
    environment["COLKERN_SPARK_READER"] = before or "0"


@ck.udf
def doubled(n: int) -> int:
    return n * 2


@pytest.fixture
def near(numbers: DataFrame) -> Callable[..., Any]:
    """A function of colkern that others can call, and thereby bring into their process."""
    call = colkern.spark.udf(doubled).func
    return lambda function: lambda *arguments: function(call, *arguments)


@pytest.mark.spark
def test_columns_of_scalar_functions(numbers: DataFrame) -> None:
    @colkern.spark.udf
    def more(half: float, text: str) -> float:
        return half + len(text)

    found = numbers.select("n", more("half", "text").alias("more")).collect()
    assert len(found) == 1000
    for n, value in found:
        assert value == (None if n % 7 == 0 else n / 2 + len(f"row {n}"))


@pytest.mark.spark
def test_batches_of_map_in_arrow(numbers: DataFrame, near: Callable[..., Any]) -> None:
    def mapped(call: Any, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        reader = ArrowStreamSerializer.load_stream.__module__
        for batch in batches:
            made = call(batch["n"])
            yield pa.record_batch({"made": made, "reader": [reader] * len(made)})

    found = numbers.mapInArrow(near(mapped), "made long, reader string").collect()
    assert sorted(row.made for row in found) == [n * 2 for n in range(1000)]
    assert {row.reader for row in found} == {"colkern.spark.worker_reader"}


@pytest.mark.spark
def test_tables_of_groups(numbers: DataFrame, near: Callable[..., Any]) -> None:
    def summed(call: Any, group: pa.Table) -> pa.Table:
        total = sum(call(group["n"].combine_chunks()).to_pylist())
        return pa.table({"digit": [group["digit"][0].as_py()], "total": [total]})

    digits = numbers.withColumn("digit", f.expr("n % 10"))
    made = near(summed)
    found = digits.groupBy("digit").applyInArrow(lambda t: made(t), "digit long, total long")
    expected = {d: sum(2 * n for n in range(d, 1000, 10)) for d in range(10)}
    assert {row.digit: row.total for row in found.collect()} == expected
