"""colkern in the place of PySpark's reader of streams: the same rows, whatever kind of function asks.

Each kind of function has a query here; all others run with it in `make test-spark-reader`.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as f
from pyspark.sql.pandas.serializers import ArrowStreamSerializer

import colkern as ck
import colkern.spark
from colkern.spark.worker import READER_VARIABLE, read_batches

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
    actual = list(read_batches(ArrowStreamSerializer(), io.BytesIO(stream_of(BATCHES * 50))))
    assert actual == BATCHES * 50


def test_batches_without_columns_have_rows() -> None:
    batch = pa.RecordBatch.from_struct_array(pa.array([{}, {}], pa.struct([])))
    (actual,) = read_batches(ArrowStreamSerializer(), io.BytesIO(stream_of([batch])))
    assert actual.num_rows == 2


def test_metadata_of_fields_comes_along() -> None:
    field = pa.field("n", pa.int64(), nullable=False, metadata={"variant": "true"})
    batch = pa.record_batch([pa.array([1])], schema=pa.schema([field]))
    (actual,) = read_batches(ArrowStreamSerializer(), io.BytesIO(stream_of([batch])))
    assert actual.schema.field(0).equals(field, check_metadata=True)


def test_a_damaged_stream_is_refused() -> None:
    damaged = stream_of(BATCHES)[:-60]
    with pytest.raises(ck.InvalidArrowError):
        list(read_batches(ArrowStreamSerializer(), io.BytesIO(damaged)))


# In Spark's workers


@pytest.fixture(scope="module")
def numbers(spark: SparkSession) -> Iterator[DataFrame]:
    """1000 rows, read by colkern wherever a function of colkern is near."""
    environment = spark.sparkContext.environment
    before = environment.get(READER_VARIABLE)
    environment[READER_VARIABLE] = "1"
    yield spark.range(1000).select(
        f.col("id").alias("n"),
        f.expr("if(id % 7 = 0, null, id / 2)").alias("half"),
        f.expr("concat('row ', id)").alias("text"),
    )
    environment[READER_VARIABLE] = before or "0"


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

    actual = numbers.select("n", more("half", "text").alias("more")).collect()
    assert len(actual) == 1000
    for n, value in actual:
        assert value == (None if n % 7 == 0 else n / 2 + len(f"row {n}"))


@pytest.mark.spark
def test_batches_of_map_in_arrow(numbers: DataFrame, near: Callable[..., Any]) -> None:
    def mapped(call: Any, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        reader = ArrowStreamSerializer.load_stream.__module__
        for batch in batches:
            result = call(batch["n"])
            yield pa.record_batch({"made": result, "reader": [reader] * len(result)})

    actual = numbers.mapInArrow(near(mapped), "made long, reader string").collect()
    assert sorted(row.made for row in actual) == [n * 2 for n in range(1000)]
    assert {row.reader for row in actual} == {"colkern.spark.worker"}


@pytest.mark.spark
def test_tables_of_groups(numbers: DataFrame, near: Callable[..., Any]) -> None:
    def summed(call: Any, group: pa.Table) -> pa.Table:
        total = sum(call(group["n"].combine_chunks()).to_pylist())
        return pa.table({"digit": [group["digit"][0].as_py()], "total": [total]})

    digits = numbers.withColumn("digit", f.expr("n % 10"))
    result = near(summed)
    actual = digits.groupBy("digit").applyInArrow(lambda t: result(t), "digit long, total long")
    expected = {d: sum(2 * n for n in range(d, 1000, 10)) for d in range(10)}
    assert {row.digit: row.total for row in actual.collect()} == expected


@pytest.mark.spark
def test_values_of_all_types(spark: SparkSession, numbers: DataFrame) -> None:
    every = numbers.selectExpr(
        "n",
        "n % 2 = 0 flag",
        "cast(n % 100 as tinyint) tiny",
        "cast(half as float) single",
        "cast(n / 8 as decimal(38, 3)) exact",
        "date_add(date'2000-01-01', int(n)) day",
        "timestamp_micros(n * 1000001) moment",
        "timestamp_ntz'2000-01-01 00:00:00' + make_dt_interval(0, 0, 0, n) wall",
        "make_dt_interval(int(n), 0, 0, half) span",
        "cast(text as binary) bytes",
        "if(n % 3 = 0, null, array(text, null, '')) words",
        "map(text, half) named",
        "named_struct('a', n, 'b', array(named_struct('c', half))) nested",
        "parse_json(concat('{\"n\": ', n, '}')) variant",
        "null nothing",
    )
    for codec in ("none", "zstd"):
        spark.conf.set("spark.sql.execution.arrow.compression.codec", codec)
        actual = colkern.spark.map_batches(every, iter, every.schema)
        assert sorted(map(str, actual.collect())) == sorted(map(str, every.collect()))
    spark.conf.unset("spark.sql.execution.arrow.compression.codec")


@pytest.mark.spark
def test_columns_of_iterators(numbers: DataFrame) -> None:
    @colkern.spark.iterator_udf(returns=ck.int64())
    def doubled(batches: Iterator[ck.Array]) -> Iterator[ck.Array]:
        for n in batches:
            yield ck.add(n, n)

    actual = numbers.select(doubled("n").alias("doubled")).collect()
    assert sorted(row.doubled for row in actual) == [2 * n for n in range(1000)]


@pytest.mark.spark
def test_columns_of_aggregates_and_windows(numbers: DataFrame) -> None:
    @colkern.spark.udf
    class total:
        def init():
            return 0.0

        def update(state, half: float):
            return state + half

    digits = numbers.withColumn("digit", f.expr("n % 10"))
    whole = Window.partitionBy("digit")
    sliding = whole.orderBy("n").rowsBetween(-1, 0)
    sums = digits.groupBy("digit").agg(total("half").alias("total")).collect()
    expected = {d: sum(n / 2 for n in range(d, 1000, 10) if n % 7) for d in range(10)}
    assert {row.digit: row.total for row in sums} == expected
    windows = digits.select(
        *[
            total("half").over(window).alias(name)
            for name, window in (("a", whole), ("c", sliding))
        ],
        f.sum("half").over(whole).alias("b"),
        f.coalesce(f.sum("half").over(sliding), f.lit(0.0)).alias("d"),
    )
    assert windows.where("a <=> b AND c <=> d").count() == 1000


@pytest.mark.spark
def test_pieces_of_groups_and_groups_of_two_frames(numbers: DataFrame) -> None:
    def counted(
        key: tuple[int], batches: Iterator[ck.RecordBatch]
    ) -> Iterator[dict[str, list[int]]]:
        for batch in batches:
            yield {"digit": [key[0]], "rows": [batch.num_rows]}

    def sides(key: tuple[int], left: ck.RecordBatch, right: ck.RecordBatch) -> dict[str, list[int]]:
        return {"digit": [key[0]], "left": [left.num_rows], "right": [right.num_rows]}

    digits = numbers.groupBy(f.expr("n % 2").alias("digit"))
    actual = colkern.spark.apply_in_groups(digits, counted, "digit long, rows long", iterator=True)
    rows = actual.collect()
    assert len(rows) > 2
    assert [sum(row.rows for row in rows if row.digit == digit) for digit in (0, 1)] == [500, 500]
    few = numbers.where("n < 5").groupBy(f.expr("n % 3").alias("digit"))
    pairs = colkern.spark.cogroup_apply(digits, few, sides, "digit long, left long, right long")
    assert sorted(map(tuple, pairs.collect())) == [(0, 500, 2), (1, 500, 2), (2, 0, 1)]


@pytest.mark.spark
def test_columns_of_table_functions(numbers: DataFrame) -> None:
    @colkern.spark.udtf
    def multiples(n: int) -> int:
        for k in range(n):
            yield k * n

    actual = multiples(numbers.where("n < 5").select("n").asTable()).collect()
    expected = sorted(k * n for n in range(5) for k in range(n))
    assert sorted(row.multiples for row in actual) == expected


@pytest.mark.spark
def test_rows_that_the_data_source_writes(
    spark: SparkSession, numbers: DataFrame, tmp_path: Path
) -> None:
    colkern.spark.register_source(spark)
    numbers.write.format("colkern").mode("append").save(str(tmp_path))
    actual = colkern.spark.read(spark, str(tmp_path), filters=[("half", "<", 4)]).collect()
    assert sorted(map(tuple, actual)) == [(n, n / 2, f"row {n}") for n in range(1, 8) if n % 7]
