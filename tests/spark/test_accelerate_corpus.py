"""The corpus of pandas_udfs: accelerated, they give what they give in pandas, and most of them are."""

from __future__ import annotations

import collections

import corpus_pandas
import pyarrow as pa
import pytest
from corpus_pandas.case import RETURNS, benign, with_nulls
from corpus_pandas.cases import CASES
from corpus_pandas.runner import compare
from pyspark import cloudpickle
from pyspark.sql import SparkSession
from pyspark.sql.functions import pandas_udf

from colkern.spark import accelerate

pytestmark = pytest.mark.filterwarnings("ignore")

LEAST_TAKEN = 0.9


@pytest.mark.parametrize("safely", [True, False])
def test_results_are_those_of_pandas_and_most_functions_are_taken(safely: bool) -> None:
    taken: collections.Counter[str] = collections.Counter()
    # Those with native plans are in test_native_accelerate.py.
    cases = [case for case in CASES if case.style != "native"]
    for case in cases:
        outcome = compare(case, safely=safely)
        assert not outcome.differences, (case.name, outcome.differences)
        taken[case.style] += outcome.is_taken
    assert len(cases) > 140
    assert sum(taken.values()) >= LEAST_TAKEN * len(cases), taken


SAFELY = "spark.sql.execution.pandas.convertToArrowArraySafely"

SAMPLE = [
    *("numeric.grade", "numeric.located", "finance.gross", "finance.half_up", "texts.domain"),
    *("texts.null_safe", "texts.serial", "days.season", "days.age", "days.parsed"),
    *("tables.limits", "tables.graded", "tables.city", "tables.loaded_once", "loops.due"),
    *("tables.northern", "tables.summed", "tables.less"),
]


@pytest.mark.parametrize(("ansi", "safely"), [("true", "true"), ("false", "false")])
def test_in_spark_too(spark: SparkSession, ansi: str, safely: str) -> None:
    cases = [case for case in CASES if case.name in SAMPLE]
    assert len(cases) == len(SAMPLE)
    # Workers do not have this package.
    cloudpickle.register_pickle_by_value(corpus_pandas)
    settings = {"spark.sql.ansi.enabled": ansi, SAFELY: safely}
    for name, value in settings.items():
        spark.conf.set(name, value)
    try:
        for case in cases:
            # Rows with nulls where pandas takes them.
            rows = with_nulls if case.name in ("texts.null_safe", "days.season") else benign
            names = [f"c{k}" for k in range(len(case.columns))]
            frame = spark.createDataFrame(pa.table(rows(case.columns), names)).repartition(2)
            original = pandas_udf(case.function, RETURNS[case.returns])
            result = accelerate(original)
            assert result is not original
            columns = frame.select(result(*names).alias("a"), original(*names).alias("b")).collect()
            assert [repr(row.a) for row in columns] == [repr(row.b) for row in columns], case.name
    finally:
        cloudpickle.unregister_pickle_by_value(corpus_pandas)
        for name in settings:
            spark.conf.unset(name)
