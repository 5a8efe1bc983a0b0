"""Native plans of existing pandas_udfs: they give what pandas gives; where they would not, Arrow does."""

from __future__ import annotations

import random
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import corpus_pandas
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from corpus_pandas.case import RETURNS, Case, benign, extreme, with_nulls
from corpus_pandas.cases import CASES
from pyspark import cloudpickle
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.functions import pandas_udf
from pyspark.sql.types import DoubleType, IntegerType

from colkern.errors import CompileError
from colkern.spark import accelerate, explain
from colkern.spark.acceleration.original import Original, Settings

pytestmark = pytest.mark.filterwarnings("ignore")

ROWS: dict[str, Callable[[tuple[str, ...]], list[pa.Array]]] = {
    "benign": benign,
    "nulls": with_nulls,
    "extremes": lambda columns: extreme(columns, nulls=False),
    "extremes and nulls": lambda columns: extreme(columns, nulls=True),
}


@pytest.fixture(scope="module", autouse=True)
def by_value() -> Iterator[None]:
    """Workers get this file's functions, not its imports."""
    modules = (corpus_pandas, sys.modules[__name__])
    for module in modules:
        cloudpickle.register_pickle_by_value(module)
    yield
    for module in modules:
        cloudpickle.unregister_pickle_by_value(module)


@pytest.fixture(scope="module")
def functions(spark: SparkSession) -> list[tuple[Case, Any]]:
    return [
        (case, accelerate(pandas_udf(case.function, RETURNS[case.returns]), plan="auto"))
        for case in CASES
        if case.style == "native"
    ]


def _in_worker(frame: DataFrame) -> bool:
    plan: str = frame._jdf.queryExecution().executedPlan().toString()
    return "ArrowEvalPython" in plan


@pytest.mark.parametrize("ansi", ["true", "false"])
@pytest.mark.parametrize("kind", ROWS)
def test_results_are_those_of_pandas(
    spark: SparkSession, functions: list[tuple[Case, Any]], ansi: str, kind: str
) -> None:
    table: dict[str, pa.Array] = {}
    wanted: dict[str, list[object]] = {}
    columns: dict[str, Column] = {}
    refused: dict[str, Column] = {}
    for case, function in functions:
        rows = ROWS[kind](case.columns)
        names = [f"{case.function.__name__}_{k}" for k in range(len(rows))]
        table |= zip(names, rows, strict=True)
        column = function(*names)
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                expected = Original(case.function, RETURNS[case.returns], Settings())(rows)
        except (ValueError, OverflowError):
            refused[case.name] = column
        else:
            wanted[case.name] = expected.to_pylist()
            columns[case.name] = column
    frame = spark.createDataFrame(pa.table(table))
    spark.conf.set("spark.sql.ansi.enabled", ansi)
    try:
        chosen = frame.select(
            *(column.alias(name.replace(".", "_")) for name, column in columns.items())
        )
        assert not _in_worker(chosen)
        result = chosen.toArrow()
        for name, results in wanted.items():
            # Python's texts tell signs of zeros and nulls apart.
            assert repr(result[name.replace(".", "_")].to_pylist()) == repr(results), name
        for name, column in refused.items():
            with pytest.raises(PySparkException, match=name.partition(".")[2]):
                frame.select(column).collect()
    finally:
        spark.conf.unset("spark.sql.ansi.enabled")


TEXTS = pa.array(["a1b22", "x@a", "a", "½", "一", "\\\\", "", None])

OF_TEXTS: dict[str, tuple[Callable[[pd.Series], pd.Series], str, bool]] = {
    "count of a class": (lambda s: s.str.count("[0-9]"), "double", False),
    "count of digits": (lambda s: s.str.count(r"\d"), "double", False),
    "count of a backslash": (lambda s: s.str.count("\\\\"), "double", False),
    "count of a letter": (lambda s: s.str.count("a"), "double", True),
    "split at digits": (lambda s: s.str.split(r"\d").str[0], "string", False),
    "split at a letter": (lambda s: s.str.split("a").str[0], "string", True),
    "split at a sign": (lambda s: s.str.split("@").str[1], "string", True),
    "rfind": (lambda s: s.str.rfind("a"), "double", True),
    "isdigit": (lambda s: s.str.isdigit(), "boolean", False),
    "isnumeric": (lambda s: s.str.isnumeric(), "boolean", False),
    "isdecimal": (lambda s: s.str.isdecimal(), "boolean", False),
    "isspace": (lambda s: s.str.isspace(), "boolean", True),
    "entries in single precision": (
        lambda s: s.map(pd.Series([1.1], index=["a"], dtype="float32")) * 3,
        "double",
        False,
    ),
    "entries of a nullable dtype": (
        lambda s: s.map(pd.Series(["x"], index=["a"], dtype="string")) == "x",
        "boolean",
        False,
    ),
    "entries": (lambda s: s.map(pd.Series([1.1], index=["a"])) * 3, "double", True),
    "texts as entries": (lambda s: s.map(pd.Series(["x"], index=["a"])) == "x", "boolean", True),
}
"""By what they do: functions of texts, what they return, and whether Spark has an expression."""


def test_functions_of_texts_give_what_pandas_gives(spark: SparkSession) -> None:
    columns, expected, native = {}, {}, {}
    for name, (function, returns, is_native) in OF_TEXTS.items():
        original = pandas_udf(function, returns)
        result = accelerate(original, plan="auto")
        columns[name], native[name] = result("s").alias(name), (result.planned(), is_native)
        plain = Original(function, original.returnType, Settings())
        expected[name] = plain([TEXTS]).to_pylist()
    results = spark.createDataFrame(pa.table({"s": TEXTS})).select(*columns.values()).toArrow()
    assert results.to_pydict() == expected
    assert {name for name, (is_native, wanted) in native.items() if is_native != wanted} == set()


@pandas_udf(DoubleType())
def doubled(x: pd.Series) -> pd.Series:
    return x * 2


@pandas_udf(IntegerType())
def hour(t: pd.Series) -> pd.Series:
    return t.dt.hour


def test_integers_whose_results_would_be_rounded_run_over_arrow(spark: SparkSession) -> None:
    result = accelerate(doubled, plan="auto")
    frame = spark.range(1 << 60, (1 << 60) + 3).selectExpr("id", "CAST(id AS double) AS x")
    assert not _in_worker(frame.select(result("x")))
    assert _in_worker(frame.select(result("id")))
    assert [row[0] for row in frame.select(result("x")).collect()] == [2.0**61] * 3


def test_timestamps_in_another_time_zone_run_over_arrow(spark: SparkSession) -> None:
    result = accelerate(hour, plan="auto")
    frame = spark.sql("SELECT timestamp_seconds(0) AS t")
    assert not _in_worker(frame.select(result("t")))
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    try:
        there = frame.select(result("t"))
        assert _in_worker(there)
        assert there.first()[0] == 9
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")


def test_seconds_between_timestamps_far_apart_are_rounded_as_in_pandas(spark: SparkSession) -> None:
    @pandas_udf("double")
    def seconds(start: pd.Series, end: pd.Series) -> pd.Series:
        return (end - start).dt.total_seconds()

    micros = [0, 1, -1, 999_999, 9_223_200_000_999_999, -9_223_200_000_999_999, (1 << 53) + 1]
    choice = random.Random(1)
    micros += [choice.randrange(-(1 << 62), 1 << 62) // 1000 for _ in range(200)]
    rows = [pa.array([0] * len(micros)), pa.array(micros)]
    columns = [each.cast(pa.timestamp("us", "UTC")) for each in rows]
    frame = spark.createDataFrame(pa.table(columns, ["start", "end"]))
    result = frame.select(accelerate(seconds, plan="native")("start", "end")).toArrow()
    expected = Original(seconds.func, DoubleType(), Settings())(columns)
    assert result.column(0).to_pylist() == expected.to_pylist()


ASKING: dict[str, Callable[[pd.Series], pd.Series]] = {
    "the class of a column": lambda x: x * 2 if x.__class__ is pd.Series else x,
    "of which class it is": lambda x: x * 2 if isinstance(x, pd.Series) else x,
    "a length": lambda x: x * 2 if isinstance(len(x), int) else x,
    "a size": lambda x: x * 2 if isinstance(x.size, int | np.integer) else x,
    "a shape": lambda x: x * 2 if isinstance(x.shape[0], int) else x,
    "a list of values": lambda x: x * 2 if isinstance(x.tolist(), list) else x,
    "a list of that length": lambda x: x * 2 if isinstance([1.0] * len(x), list) else x,
    "what can be called": lambda x: x * 2 if callable(pd.Series) and not callable(x) else x,
}


@pytest.mark.parametrize("asked", ASKING)
def test_a_body_that_asks_for_classes_gets_those_of_columns(
    spark: SparkSession, asked: str
) -> None:
    function = pandas_udf(ASKING[asked], DoubleType())
    frame = spark.createDataFrame([(1.0,), (None,)], "x double").coalesce(1)
    result = frame.select(function("x"), accelerate(function, plan="auto")("x")).first()
    assert result is not None
    assert list(result) == [2.0, 2.0]


def test_the_plan_is_chosen_and_explained(spark: SparkSession) -> None:
    frame = spark.range(3).selectExpr("CAST(id AS double) AS x", "CAST(id AS string) AS name")

    @pandas_udf("string")
    def loud(name: pd.Series) -> pd.Series:
        return name.str.upper()

    assert _in_worker(frame.select(accelerate(doubled, plan="arrow")("x")))
    reason = "upper has no native form: Java has another version of Unicode"
    with pytest.raises(CompileError, match=reason):
        accelerate(loud, plan="native")("name")
    result = accelerate(loud, plan="auto")
    place = f"(line {loud.func.__code__.co_firstlineno + 2} of {__file__})"
    assert (
        explain(frame.select(result("name")))
        == f"loud: arrow, in a Python worker: {reason} {place}"
    )
    native = accelerate(doubled, plan="native")
    assert explain(native) == "doubled: native for columns of double; arrow for others"
    with pytest.raises(PySparkException, match="doubled: no native plan for columns of string"):
        frame.select(native("name")).collect()
    with pytest.raises(ValueError, match="plan: expected 'auto', 'native' or 'arrow'"):
        accelerate(doubled, plan="fast")


def test_columns_of_any_type_that_pandas_takes_are_taken(spark: SparkSession) -> None:
    @pandas_udf("boolean")
    def missing(x: pd.Series) -> pd.Series:
        return x.isna()

    result = accelerate(missing, plan="auto")
    frame = spark.sql(
        "SELECT DATE'2024-01-31' AS day, array(1.0D) AS list, CAST(NULL AS double) AS x"
    )
    assert frame.select(result("day"), result("list"), result("x")).first()[:] == (
        False,
        False,
        True,
    )


def test_two_columns_of_any_type_that_pandas_compares_are_taken(spark: SparkSession) -> None:
    @pandas_udf("boolean")
    def before(x: pd.Series, y: pd.Series) -> pd.Series:
        return x < y

    result = accelerate(before, plan="auto")
    frame = spark.sql("SELECT DATE'2024-01-31' AS x, DATE'2024-02-01' AS y, X'61' AS a, X'62' AS b")
    assert frame.select(result("x", "y"), result("a", "b")).first()[:] == (True, True)
    numbers = spark.range(3).selectExpr("id * 2D AS x", "id + 1 AS y").select(result("x", "y"))
    assert not _in_worker(numbers)
    assert [row[0] for row in numbers.collect()] == [True, False, False]


def test_columns_of_any_type_that_pandas_takes_without_nulls_are_taken(spark: SparkSession) -> None:
    @pandas_udf("boolean")
    def is_last(x: pd.Series, y: pd.Series) -> pd.Series:
        return pd.Series(np.maximum(x, y) == x)

    result = accelerate(is_last, plan="auto")
    frame = spark.sql("SELECT DATE'2024-01-31' AS x, DATE'2024-02-01' AS y, 2.0D AS a, true AS b")
    assert frame.select(result("x", "y"), result("y", "x"), result("a", "a")).first()[:] == (
        *(False, True, True),
    )


def test_spark_inlines_few_copies_of_columns(spark: SparkSession) -> None:
    @pandas_udf("double")
    def limited(x: pd.Series) -> pd.Series:
        return x.clip(upper=9.5)

    # Beside functions in Python, Spark inlines what stands in a column before it drops branches.
    said = repr(accelerate(limited, plan="auto")("x"))
    assert said.count("typeof(x)") == 1


def test_columns_of_many_types_stand_in_few_places(spark: SparkSession) -> None:
    @pandas_udf("double")
    def order(x: pd.Series, y: pd.Series) -> pd.Series:
        return pd.Series(np.select([x > y, x == y], [1.0, 2.0], 3.0))

    result = accelerate(order, plan="auto")
    # Its type, its value twice, for a method of its own, the argument of the function in Python, the name.
    assert repr(result("first_of_two", "y")).count("first_of_two") == 5
    frame = spark.sql("SELECT 1.5D AS x, 2.5D AS y UNION ALL SELECT 3D, CAST(NULL AS double)")
    wanted = frame.toPandas()
    for _ in range(3):
        frame = frame.select(result("x", "y").alias("x"), result("y", "x").alias("y"))
        wanted = pd.DataFrame(
            {"x": order.func(wanted.x, wanted.y), "y": order.func(wanted.y, wanted.x)}
        )
    assert not _in_worker(frame)
    assert [tuple(row) for row in frame.collect()] == [*wanted.itertuples(index=False, name=None)]


def test_the_text_of_a_plan_has_types_in_order(spark: SparkSession) -> None:
    @pandas_udf("boolean")
    def same(x: pd.Series, y: pd.Series) -> pd.Series:
        return x == y

    said = repr(accelerate(same, plan="auto")("x", "y"))
    assert "'double', 'bigint', 'int') THEN 'v'" in said


def test_results_of_accelerated_functions_are_arguments_of_others(spark: SparkSession) -> None:
    @pandas_udf("double")
    def limited(x: pd.Series) -> pd.Series:
        return x.clip(upper=9.5)

    @pandas_udf("string")
    def trimmed(s: pd.Series) -> pd.Series:
        return s.str.strip() + "."

    number, text = accelerate(limited, plan="auto"), accelerate(trimmed, plan="auto")
    frame = spark.sql("SELECT 12.5D AS x, ' a ' AS s").select(number(number("x")), text(text("s")))
    assert not _in_worker(frame)
    assert frame.first()[:] == (9.5, "a..")
    column: Column | str = "x"
    for _ in range(5):
        column = number(column)
    # Natively, each function would have that before it in all its places.
    assert len(repr(column)) < 100_000
    assert spark.sql("SELECT 12.5D AS x").select(column).first() == (9.5,)


def test_explain_names_the_columns_for_which_null_alone_raises(spark: SparkSession) -> None:
    @pandas_udf("string")
    def stripped(s: pd.Series) -> pd.Series:
        return s.apply(lambda value: value.strip())

    said = explain(accelerate(stripped, plan="auto"))
    assert "for columns of string with nulls, it raises AttributeError" in said


def test_explain_says_what_the_function_raises_for_nulls(spark: SparkSession) -> None:
    @pandas_udf("int")
    def whole(x: pd.Series) -> pd.Series:
        return x.astype("int32")

    @pandas_udf("bigint")
    def kept(x: pd.Series) -> pd.Series:
        return x * 1

    said = explain(accelerate(whole, plan="auto"))
    assert "IntCastingNaNError" in said
    assert f"line {whole.func.__code__.co_firstlineno + 2} of" in said
    assert "for columns of double with nulls, it raises ArrowInvalid: Float value 1.5" in explain(
        accelerate(kept, plan="auto")
    )


def test_explain_says_why_a_function_is_left_to_pandas(spark: SparkSession) -> None:
    @pandas_udf("double")
    def standardized(x: pd.Series) -> pd.Series:
        return x - x.mean()

    frame = spark.range(3).selectExpr("CAST(id AS double) AS x")
    result = accelerate(standardized)
    said = explain(result)
    assert said.startswith("standardized: in pandas as before: Series.mean is no element-wise")
    assert explain(frame.select(result("x"))) == said
    result = accelerate(pandas_udf(doubled.func, DoubleType()).asNondeterministic())
    assert explain(result) == "doubled: arrow, in a Python worker: it is not deterministic"


def test_texts_are_not_tried_where_numbers_are_multiplied(spark: SparkSession) -> None:
    @pandas_udf("bigint")
    def nanoseconds(seconds: pd.Series) -> pd.Series:
        return seconds * 30_000_000

    before = pa.default_memory_pool().max_memory()
    assert "float64, where bigint" in explain(accelerate(nanoseconds, plan="auto"))
    # A text of ten characters, repeated, would have 300 MB.
    assert pa.default_memory_pool().max_memory() - before < 50_000_000
