"""`examples/shared_service.py`: what tasks get from the service is what Spark computes itself."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from pyspark import cloudpickle
from pyspark.sql import SparkSession

from colkern.dissociated import connect, serve
from colkern.errors import StreamError

pytestmark = pytest.mark.spark

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(EXAMPLES)
    import shared_service

    # Its functions go to the workers as those of a script do.
    cloudpickle.register_pickle_by_value(shared_service)
    yield shared_service
    cloudpickle.unregister_pickle_by_value(shared_service)
    del sys.modules["shared_service"]


def test_tasks_and_the_service_exchange_batches(spark: SparkSession, example: ModuleType) -> None:
    orders = spark.range(1000, numPartitions=3).selectExpr(
        "id", "id / 100D AS price", "pmod(id, 10) / 100D AS discount"
    )
    empty = orders.where("id < 0")
    with serve(example.answer_to, "shm:") as service:
        exchange = example.through(service.uri)
        actual = orders.union(empty).mapInArrow(exchange, "id long, net double").collect()
        assert service.traffic.packed_bytes == 0
    expected = orders.selectExpr("id", "price * (1 - discount)").collect()
    assert len(actual) == 1000
    assert dict(map(tuple, actual)) == pytest.approx(dict(map(tuple, expected)))


def test_the_service_connects_to_shared_memory_alone(example: ModuleType) -> None:
    with (
        serve(example.answer_to, "shm:") as service,
        pytest.raises(StreamError, match="a task serves in shared memory, not at tcp://"),
    ):
        connect(service.uri, "tcp://127.0.0.1:1?want_data=1")
