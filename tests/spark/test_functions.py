"""`colkern.spark.udf`: functions of one row as columns of a DataFrame, on Spark's Arrow path."""

from __future__ import annotations

import datetime
import decimal
import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import pyarrow as pa
import pytest
from pyspark.errors import PythonException
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

import colkern as ck
import colkern.spark
from colkern.spark.worker import READER_VARIABLE

pytestmark = pytest.mark.spark

ROWS = 1000  # ten batches of the session's 100


@contextmanager
def settings(spark: SparkSession, **values: str) -> Iterator[None]:
    names = {name.replace("__", "."): value for name, value in values.items()}
    before = {name: spark.conf.get(name) for name in names}
    for name, value in names.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)


# Types: each of Spark's that a function of colkern takes, there and back, with a null


def same(value):  # no hints: the column decides
    return value


DAY = datetime.date(1996, 2, 29)
MOMENT = datetime.datetime(1969, 12, 31, 23, 59, 59, 999999)

TYPES: list[tuple[str, Any, list[Any]]] = [
    ("boolean", ck.bool_(), [True, False]),
    ("byte", ck.int8(), [-128, 127]),
    ("short", ck.int16(), [-(2**15), 2**15 - 1]),
    ("int", ck.int32(), [-(2**31), 2**31 - 1]),
    ("long", ck.int64(), [-(2**63), 2**63 - 1]),
    ("float", ck.float32(), [0.5, float("inf")]),
    ("double", ck.float64(), [0.1, -0.0]),
    ("decimal(7, 2)", ck.decimal128(7, 2), [decimal.Decimal("-12345.67"), decimal.Decimal("0.01")]),
    ("date", ck.date32(), [DAY, datetime.date(1, 1, 1)]),
    ("timestamp", ck.timestamp("us", "UTC"), [MOMENT.replace(tzinfo=datetime.UTC)]),
    ("timestamp_ntz", ck.timestamp("us"), [MOMENT]),
    ("interval day to second", ck.duration("us"), [datetime.timedelta(days=-1, microseconds=1)]),
    ("string", ck.utf8(), ["", "ascii", "naïve 🐍"]),
    ("binary", ck.binary(), [b"", b"\x00\xff"]),
]


def test_values_of_all_types_go_in_and_out(spark: SparkSession) -> None:
    # One query: all types are columns of one frame.
    names = [f"c{k}" for k in range(len(TYPES))]
    padded = [[*values, None, None, None][:4] for _, _, values in TYPES]
    schema = ", ".join(f"{name} {kind}" for name, (kind, _, _) in zip(names, TYPES, strict=True))
    frame = spark.createDataFrame(list(zip(range(4), *padded, strict=True)), f"place int, {schema}")
    functions = [colkern.spark.udf(same, returns=data_type) for _, data_type, _ in TYPES]
    results = [function(name).alias(name) for name, function in zip(names, functions, strict=True)]
    rows = frame.select("place", *results).orderBy("place").collect()
    _, *columns = zip(*rows, strict=True)
    for (kind, _, _), column, values in zip(TYPES, columns, padded, strict=True):
        assert list(map(plain, column)) == list(map(plain, values)), kind


def plain(value: Any) -> Any:
    """A value as it compares: a session in UTC gives timestamps without a zone that are UTC's."""
    if isinstance(value, datetime.datetime):
        return value.replace(tzinfo=None)
    return bytes(value) if isinstance(value, bytearray) else value


def test_a_time_of_day_has_nanoseconds(spark: SparkSession) -> None:
    @colkern.spark.udf
    def noon(
        at: Annotated[datetime.time, ck.time64("ns")],
    ) -> Annotated[datetime.time, ck.time64("ns")]:
        return max(at, datetime.time(12))

    frame = spark.sql("select time'08:30:00' t union all select null")
    actual = {row[0] for row in frame.select(noon("t")).collect()}
    assert actual == {datetime.time(12), None}


def test_a_hint_of_datetime_is_a_moment_in_any_time_zone(spark: SparkSession) -> None:
    @colkern.spark.udf
    def a_second_later(at: datetime.datetime) -> datetime.datetime:
        assert at.tzinfo is not None
        return at + datetime.timedelta(seconds=1)

    @colkern.spark.udf
    def hour_on_the_wall(at: datetime.datetime) -> int:
        return (at - datetime.datetime(1996, 2, 29)).seconds // 3600

    zone = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    try:
        frame = spark.sql("select timestamp'1996-02-29 12:00:00' at")
        later = frame.select(a_second_later("at").alias("later"), "at")
        assert later.schema["later"].dataType.typeName() == "timestamp"
        assert later.where("later = at + interval 1 second").count() == 1
        hours = spark.sql("select timestamp_ntz'1996-02-29 12:00:00' at").select(
            hour_on_the_wall("at")
        )
        assert hours.collect()[0][0] == 12
    finally:
        spark.conf.set("spark.sql.session.timeZone", zone)


# Columns and batches


@pytest.fixture(scope="module")
def numbers(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """`n`: 0 to ROWS - 1; `half`: its half, null where n is a multiple of 7; `text`."""
    frame = spark.range(ROWS).select(
        f.col("id").alias("n"),
        f.expr("if(id % 7 = 0, null, id / 2)").alias("half"),
        f.expr("concat('row ', id)").alias("text"),
    )
    # From Parquet, Spark hands columns to Python; from rows it makes them first.
    path = str(tmp_path_factory.mktemp("numbers"))
    frame.write.mode("overwrite").parquet(path)
    return spark.read.parquet(path)


def test_nulls_pass_by_or_go_in_as_declared(numbers: Any) -> None:
    @colkern.spark.udf
    def plus_one(half: float) -> float:
        return half + 1

    @colkern.spark.udf(nulls="pass")
    def or_minus_one(half: float | None) -> float | None:
        if half is None:
            return -1.0
        return None if half == 0.5 else half

    actual = numbers.select("n", plus_one("half").alias("a"), or_minus_one("half").alias("b"))
    for n, a, b in actual.collect():
        assert a == (None if n % 7 == 0 else n / 2 + 1)
        assert b == (-1.0 if n % 7 == 0 else None if n == 1 else n / 2)


def test_several_columns_and_functions_share_a_query_with_others(numbers: Any) -> None:
    @colkern.spark.udf
    def last_digit(text: str) -> int:
        return int(text[-1])

    @colkern.spark.udf
    def added(a: int, b: int) -> int:
        return a + b

    actual = numbers.select("n", added("n", last_digit("text")).alias("sum"), f.upper("text"))
    for n, total, text in actual.collect():
        assert (total, text) == (n + n % 10, f"ROW {n}")


def test_an_empty_column_gives_an_empty_column(numbers: Any) -> None:
    @colkern.spark.udf
    def shortened(text: str) -> str:
        return text[:2]

    assert numbers.where("n < 0").select(shortened("text")).collect() == []


def test_registered_functions_work_in_sql(spark: SparkSession, numbers: Any) -> None:
    @colkern.spark.udf
    def cubed(n: int) -> int:
        return n * n * n

    spark.udf.register("cubed", cubed)
    numbers.createOrReplaceTempView("numbers")
    actual = spark.sql("select sum(cubed(n)), max(cubed(n)) from numbers where cubed(n) > 0")
    assert tuple(actual.first() or ()) == (sum(n**3 for n in range(ROWS)), (ROWS - 1) ** 3)


def test_a_column_of_another_type_fails_with_the_name_of_the_parameter(numbers: Any) -> None:
    @colkern.spark.udf(plan="arrow")
    def halved(amount: float) -> float:
        return amount / 2

    with pytest.raises(PythonException, match="amount: expected a floating-point type, got string"):
        numbers.select(halved("text")).collect()


def test_an_exception_of_the_function_fails_the_query(numbers: Any) -> None:
    @colkern.spark.udf(plan="arrow")
    def picky(n: int) -> int:
        if n == 500:
            raise ValueError("five hundred")
        return n

    with pytest.raises(PythonException, match="five hundred"):
        numbers.select(picky("n")).collect()


@pytest.mark.parametrize("codec", ["lz4", "zstd"])
def test_compressed_batches(spark: SparkSession, numbers: Any, codec: str) -> None:
    @colkern.spark.udf
    def length(text: str) -> int:
        return len(text)

    with settings(spark, spark__sql__execution__arrow__compression__codec=codec):
        actual = numbers.select(f.sum(length("text"))).first()
    assert actual[0] == sum(len(f"row {n}") for n in range(ROWS))


def test_large_types(spark: SparkSession, numbers: Any) -> None:
    @colkern.spark.udf
    def tail(text: str) -> str:
        return text[4:]

    with settings(spark, spark__sql__execution__arrow__useLargeVarTypes="true"):
        actual = numbers.select("n", tail("text").alias("tail")).collect()
    assert all(row.tail == str(row.n) for row in actual)


def test_grouped_and_filtered_by_a_function(numbers: Any) -> None:
    @colkern.spark.udf
    def odd(n: int) -> bool:
        return n % 2 == 1

    actual = {row[0]: row[1] for row in numbers.groupBy(odd("n")).count().collect()}
    assert actual == {True: ROWS // 2, False: ROWS // 2}
    assert numbers.where(odd("n")).count() == ROWS // 2


# Functions mean what they mean in Python


SEASONS = {12: "winter", 1: "winter", 2: "winter", 6: "summer", 7: "summer", 8: "summer"}


def label(name: str, day: datetime.date, share: float) -> str:
    """A label of one row, in ordinary Python."""
    first, *rest = name.split(" ")
    return f"{first.title()}{len(rest)} {SEASONS.get(day.month, '-')} {day:%d.%m.} {share:.1%}"


def test_a_function_of_a_row_gives_what_it_gives_in_python(spark: SparkSession) -> None:
    days = [DAY + datetime.timedelta(n) for n in range(ROWS)]
    names = ["ann lee", "ÉMILE ZOLA", "", "straße nach ulm"]
    rows = [(names[n % 4], days[n], n / 7) for n in range(ROWS)]
    frame = spark.createDataFrame(rows, "name string, day date, share double")
    result = frame.select("*", colkern.spark.udf(label)("name", "day", "share").alias("made"))
    assert [row.made for row in result.collect()] == [label(*row) for row in rows]


def test_rows_left_to_python_are_told_in_the_log(spark: SparkSession, spark_log: Path) -> None:
    @colkern.spark.udf
    def shouted(text: str) -> str:
        return text.encode("cp1252").decode("cp1252")

    frame = spark.createDataFrame([("a",), ("ß",), ("é",)], "text string").repartition(1)
    assert {row[0] for row in frame.select(shouted("text")).collect()} == {"a", "ß", "é"}
    deadline = time.monotonic() + 30
    while "shouted: 3 rows" not in (log := spark_log.read_text()):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    (line,) = [line for line in log.splitlines() if "shouted: 3 rows" in line]
    assert "left to Python; " in line
    assert "str.encode" in line


def test_rows_of_reducers_left_to_python_are_told_in_the_log(
    spark: SparkSession, spark_log: Path
) -> None:
    class widest:
        def init():
            return 0

        def update(state, text: str):
            return max(state, len(text.encode("cp1252")))

        def merge(left, right):
            return max(left, right)

        def finish(state) -> int:
            return state

    texts = [(1, "a"), (1, "ß"), (1, "é")]
    frame = spark.createDataFrame(texts, "key long, text string").repartition(1)
    by_groups = colkern.spark.map_groups(frame, "key", widest)
    beside = colkern.spark.aggregate(frame, "key", widest=(widest, "text"))
    assert by_groups.collect() == beside.collect() == [(1, 1)]
    deadline = time.monotonic() + 30
    while (log := spark_log.read_text()).count("widest: 3 rows") < 2:
        assert time.monotonic() < deadline, log[-2000:]
        time.sleep(0.1)


# Where compiled code comes from


def test_workers_compile_nothing_that_the_driver_has_compiled(numbers: Any) -> None:
    @colkern.spark.udf(plan="arrow")
    def seventh(n: int) -> int:
        return n // 7

    numbers.select(f.sum(seventh("n"))).collect()
    assert compiled_in_workers(numbers, seventh) == {0}


def compiled_in_workers(frame: Any, function: Any) -> set[int]:
    """The number of functions that each worker compiles which runs `function` over the column `n`."""
    call = function.func

    def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from colkern.cache import COUNTS

        before = COUNTS["compiled"]
        for batch in batches:
            call(batch["n"])
        yield pa.record_batch({"compiled": pa.array([COUNTS["compiled"] - before], pa.int64())})

    actual = frame.select("n").repartition(4).mapInArrow(count, "compiled long").collect()
    return {row.compiled for row in actual}


SCRIPT = """
    import sys
    from colkern.spark import start_session, udf

    FACTOR = 3

    def scaled(n):
        return n * FACTOR

    @udf(plan="arrow")
    def tripled(n: int) -> int:
        return scaled(n)

    if __name__ == "__main__":
        session = start_session("local[2]", log=sys.argv[1])
        made = session.range(10).select(tripled("id").alias("made"))
        print(made.agg({"made": "sum"}).first()[0])
        session.stop()
"""


def test_functions_of_a_script_run_without_a_home(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(SCRIPT))
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    environment = {"PATH": "/usr/bin:/bin", "HOME": "/dev/null", "TMPDIR": str(temporary)}
    environment[READER_VARIABLE] = os.environ.get(READER_VARIABLE, "0")
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path / "log")],
        capture_output=True,
        text=True,
        timeout=240,
        env=environment,
        check=False,
    )
    assert done.stdout.strip() == "135", done.stderr
    (cache,) = temporary.glob("colkern-*")
    assert cache.stat().st_mode & 0o077 == 0
    assert list(cache.glob("kernels/*tripled*"))
