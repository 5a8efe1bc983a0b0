"""`examples/pipelines`, over few rows: the ways to run them give the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from benchmarks.spark import pipelines

pytestmark = pytest.mark.spark

ROWS = 600


@pytest.mark.parametrize("name", pipelines.NAMES)
def test_all_ways_give_the_same_rows(name: str, spark: SparkSession, tmp_path: Path) -> None:
    pipeline = pipelines.pipeline(spark, name)
    pipeline.write(tmp_path, ROWS)
    actual = {way: frame.collect() for way, frame in pipeline.ways(spark, tmp_path).items()}
    expected = sorted(map(repr, actual.pop("colkern")))
    assert len(expected) > ROWS / 40
    for way, rows in actual.items():
        assert sorted(map(repr, rows)) == expected, way
