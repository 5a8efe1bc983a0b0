"""One Spark session for all tests of the folder: two workers, small batches, its own caches.

With COLKERN_SPARK_READER=1 in the environment, colkern reads what Spark sends to workers, in all of the
tests (`make test-spark-reader`); without, in those of test_worker_reader.py.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from colkern.spark import start_session
from colkern.spark.worker import READER_VARIABLE


@pytest.fixture(scope="package")
def spark_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("spark") / "spark.log"


@pytest.fixture(scope="package")
def spark(spark_log: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    kept = os.environ.get("COLKERN_CACHE_DIR")
    os.environ["COLKERN_CACHE_DIR"] = str(tmp_path_factory.mktemp("cache"))
    config = {
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.timeType.enabled": "true",
        # Else each function of columns notes its caller, which takes ten times as long as the rest of it.
        "spark.python.sql.dataFrameDebugging.enabled": "false",
        # Several batches even of small data, whichever way Spark cuts them.
        "spark.sql.execution.arrow.maxRecordsPerBatch": "100",
        "spark.sql.parquet.columnarReaderBatchSize": "100",
        f"spark.executorEnv.{READER_VARIABLE}": os.environ.get(READER_VARIABLE, "0"),
    }
    session = start_session("local[2]", name="colkern tests", config=config, log=spark_log)
    yield session
    session.stop()
    if kept is None:
        del os.environ["COLKERN_CACHE_DIR"]
    else:
        os.environ["COLKERN_CACHE_DIR"] = kept
