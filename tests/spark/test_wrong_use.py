"""Wrong use is told on the driver, in words that name the argument, before a task fails on it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from pyspark import sql
from pyspark.errors import PythonException
from pyspark.sql.types import StructType

import colkern as ck
import colkern.spark as cs


@cs.udf
def doubled(n: int) -> int:
    return 2 * n


def kept(batches: Iterator[ck.RecordBatch]) -> Iterator[ck.RecordBatch]:
    yield from batches


def whole(group: ck.RecordBatch) -> ck.RecordBatch:
    return group


@pytest.mark.parametrize(
    "make",
    [cs.udf, cs.udtf, lambda given: cs.iterator_udf(given, returns=ck.int64()), ck.udf],
    ids=["udf", "udtf", "iterator_udf", "colkern.udf"],
)
def test_a_function_of_sparks_columns_is_no_plain_function(make: Callable[..., Any]) -> None:
    with pytest.raises(TypeError, match=r"^function: doubled is a function of Spark's columns"):
        make(doubled)


@pytest.mark.parametrize(
    "given", [functools.partial(kept), kept, len, 3], ids=["partial", "function", "len", "3"]
)
def test_what_explain_cannot_explain_is_named(given: Any) -> None:
    with pytest.raises(
        TypeError, match=r"^subject: expected a column, a data frame, or a function"
    ):
        cs.explain(given)


def test_a_result_without_a_type_says_what_to_write() -> None:
    with pytest.raises(TypeError, match=r"untyped: .*write it as a hint, as in `-> float`"):

        @cs.udf
        def untyped(x):
            return x


class Column:
    """A stand-in: as of columns and data frames of Spark, there are attributes of any name."""

    def __getattr__(self, name: str) -> Column:
        return self


class DataFrame(Column):
    schema = StructType([])


class GroupedData:
    _df = DataFrame()

    def applyInArrow(self) -> None: ...


class SparkSession:
    def addArtifacts(self) -> None: ...


WRONG: dict[str, tuple[Callable[..., Any], tuple[Any, ...], str]] = {
    "a column": (cs.install, (Column(),), "spark: expected a SparkSession, got Column"),
    "a frame": (cs.register_source, (DataFrame(),), "spark: .* got DataFrame"),
    "nothing": (cs.read, (None, "x"), "spark: .* got NoneType"),
    "a session": (
        cs.map_batches,
        (SparkSession(), kept, "id long"),
        "frame: .*DataFrame, got SparkSession",
    ),
    "no groups": (
        cs.apply_in_groups,
        (DataFrame(), whole, "id long"),
        r"grouped: expected frame.groupBy\(…\), got DataFrame",
    ),
    "one side without": (
        cs.cogroup_apply,
        (GroupedData(), DataFrame(), kept, "id long"),
        "right: expected frame.groupBy",
    ),
    "groups": (cs.map_groups, (GroupedData(), "id", whole), "frame: .*GroupedData"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_given_for_a_session_or_a_frame_is_named(case: str) -> None:
    call, arguments, message = WRONG[case]
    with pytest.raises(TypeError, match=message) as caught:
        call(*arguments)
    assert "0x" not in str(caught.value)


def test_a_year_month_interval_is_refused_by_the_name_of_its_column(
    spark: sql.SparkSession,
) -> None:
    # pyarrow has no such type, and its KeyError in a worker names nothing.
    frame = spark.sql("SELECT 1 AS k, INTERVAL '1' YEAR AS span")
    groups = frame.groupBy("k")
    calls = (
        lambda: cs.map_batches(frame, kept, "k int"),
        lambda: cs.apply_in_groups(groups, whole, "k int"),
        lambda: cs.cogroup_apply(groups, groups, lambda a, b: a, "k int"),
    )
    for call in calls:
        with pytest.raises(
            ck.errors.UnsupportedError, match=r"^span: .*CAST\(x AS INTERVAL MONTH\)"
        ):
            call()
    # What is not passed to Python is no matter.
    assert cs.map_groups(frame, "k", count, columns=["k"]).collect() == [(1, 1)]


def ranked(table: pd.DataFrame) -> pd.DataFrame:
    return table.rank()


def test_functions_of_pandas_tables_are_refused_where_they_are_given(
    spark: sql.SparkSession,
) -> None:
    groups = spark.range(2).groupBy("id")
    for call in (
        lambda: cs.apply_in_groups(groups, ranked, "id double"),
        lambda: cs.cogroup_apply(groups, groups, ranked, "id double"),
        lambda: cs.map_batches(spark.range(2), ranked, "id double"),
    ):
        with pytest.raises(TypeError, match=r"ranked: its hints are pandas'.*to_pandas\(\)"):
            call()


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (
            lambda rows: rows.assign(id=1),
            r"no attribute 'assign'(.*\n)+rows are .* rows\.to_pandas\(\)",
        ),
        (
            lambda rows: rows.to_pandas(),
            r"got DataFrame; .*from_pandas\(table, preserve_index=False",
        ),
    ],
    ids=["method", "result"],
)
def test_a_function_of_pandas_tables_without_hints_says_what_it_gets(
    spark: sql.SparkSession, function: Callable[..., Any], message: str
) -> None:
    groups = spark.range(2).groupBy("id")
    with pytest.raises(PythonException, match=message):
        cs.apply_in_groups(groups, function, "id long").collect()


def test_a_table_of_pyarrow_is_a_result(spark: sql.SparkSession) -> None:
    groups = spark.range(4).groupBy("id")
    found = cs.apply_in_groups(groups, lambda rows: pa.table(rows.to_pandas()), "id long")
    assert sorted(found.collect()) == [(0,), (1,), (2,), (3,)]


@cs.udf
def difference(left: float, right: float = 1.0) -> float:
    return left - right


@cs.udf(plan="arrow")
def sum_of(left: float, right: float) -> float:
    return left + right


@pytest.mark.parametrize("function", [difference, sum_of])
def test_columns_without_a_parameter_or_too_few_are_told_where_they_are_given(
    function: Any, spark: sql.SparkSession
) -> None:
    name = function.__name__
    for columns, named, message in (
        (("id",), {}, f"{name}: no column for right"),
        (("id", "id", "id"), {}, f"{name} takes 2 columns, got 3"),
        (("id",), {"top": "id"}, f"{name} has no parameter 'top': it takes left, right"),
        (("id",), {"left": "id"}, f"{name}: left is given by position and by name"),
    ):
        with pytest.raises(TypeError, match=message):
            function(*columns, **named)


def count(k: list[int]) -> int:
    return len(k)


@cs.udf(plan="arrow")
def fails(n: int) -> float:
    return [1.0][n]


def users_helper(n: int) -> None:
    raise ValueError(f"no use for {n}")


def users_function(batches: Iterator[ck.RecordBatch]) -> Iterator[ck.RecordBatch]:
    for batch in batches:
        users_helper(len(batch))
        yield batch


def test_an_error_of_a_worker_begins_with_what_happened(spark: sql.SparkSession) -> None:
    rows = spark.range(0, 3, 1, 1)
    with pytest.raises(PythonException) as caught:
        rows.select(fails("id")).collect()
    lines = str(caught.value).splitlines()
    assert lines[1] == "IndexError: list index out of range"
    assert lines[2] == "fails: row 1"
    assert len(lines) <= 15

    with pytest.raises(PythonException) as caught:
        cs.map_batches(rows, users_function, "id long").collect()
    lines = str(caught.value).splitlines()
    assert lines[1] == "ValueError: no use for 3"
    assert len(lines) <= 15
    text = str(caught.value)
    # Where in the user's own code, and nothing of colkern's or Spark's.
    assert "in users_function" in text
    assert "in users_helper" in text
    assert "colkern/spark" not in text
    assert "pyspark" not in text
