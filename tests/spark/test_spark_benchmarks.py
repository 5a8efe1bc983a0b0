"""The ways that `python -m benchmarks.spark` compares, over few rows: they agree, and have figures."""

from __future__ import annotations

import argparse
import functools
import json
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from benchmarks.spark import CASES, __main__, natives, source
from benchmarks.spark.case import IDENTITY, Case
from colkern.spark import udf

pytestmark = pytest.mark.spark

ROWS = 40


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_all_ways_give_the_same_rows(case: Case, spark: SparkSession) -> None:
    frame = case.frame(spark, ROWS)
    ways = {name: way(frame) for name, way in case.ways().items() if name != IDENTITY}
    actual = rows_of(ways)
    expected = actual.pop("colkern")
    assert len(expected) == (case.group_count(ROWS) or ROWS)
    for name, rows in actual.items():
        assert rows == expected, name


def rows_of(frames: dict[str, DataFrame]) -> dict[str, list[str]]:
    """The rows of each, in order, floats to nine digits: one query for all of them."""
    columns = len(next(iter(frames.values())).columns)
    parts = [
        frame.toDF(*[f"c{n}" for n in range(columns)]).select(
            f.lit(name).alias("name"), f.to_json(f.struct("*")).alias("row")
        )
        for name, frame in frames.items()
    ]
    actual: dict[str, list[str]] = {name: [] for name in frames}
    for name, row in functools.reduce(DataFrame.union, parts).collect():
        rounded = json.loads(row, parse_float=lambda text: round(float(text), 9))
        actual[name].append(json.dumps(rounded))
    return {name: sorted(rows) for name, rows in actual.items()}


def test_native_plans_give_what_is_written_by_hand(spark: SparkSession) -> None:
    frame = spark.range(ROWS).selectExpr(*natives.COLUMNS)
    columns, expected = [], []
    for function in natives.FUNCTIONS:
        given = [f.col(name) for name in function.columns]
        columns.append(udf(function.plain, plan="native")(*given))
        expected.append(function.by_hand(*given))
    names = [function.plain.__name__ for function in natives.FUNCTIONS]
    actual = [frame.select(*each).toDF(*names).collect() for each in (columns, expected)]
    for ours, by_hand in zip(*actual, strict=True):
        for name in names:
            assert ours[name] == pytest.approx(by_hand[name]), name


def test_the_figures_of_a_case(spark: SparkSession, tmp_path: Path) -> None:
    case = CASES["many small groups"]
    options = argparse.Namespace(case=[case.name], rows=ROWS * case.divisor, rounds=2)
    (figures,) = __main__.measured(spark, tmp_path, options)
    assert (figures["rows"], figures["groups"]) == (ROWS, 4)
    assert list(figures["seconds"]) == list(figures["ratios"]) == list(case.ways())
    assert figures["ratios"]["colkern"] == 1
    assert figures["runs"] == {"colkern": 2, "Spark SQL": 2} | dict.fromkeys(case.once, 1)
    assert figures["first_seconds"].keys() == {"colkern", "Spark SQL"}
    assert __main__.table(figures).row_count == 5


def test_the_figures_of_the_data_source(spark: SparkSession, tmp_path: Path) -> None:
    options = argparse.Namespace(case=["source"], rows=ROWS * source.DIVISOR, rounds=1)
    figures = next(__main__.measured(spark, tmp_path, options))
    assert figures["rows"] == 1
    assert figures["seconds"].keys() == {"Parquet, pandas_udf", "colkern"}
    assert __main__.table(figures).row_count == 2
