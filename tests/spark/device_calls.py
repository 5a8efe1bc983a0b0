"""Functions in a task that Spark has given a GPU, and what each of them should do: for the simulator.

Each case is a function that ends with an assertion; `jit.simulated_kernels` runs them all.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import pyarrow as pa
from pyspark import TaskContext
from pyspark.resource import ResourceInformation

import colkern as ck
from colkern.cuda.memory import count_transfers
from colkern.operations import moving
from colkern.spark.functions.worker_calls import ArrowAggregate, ArrowFunction


class _Task:
    def partitionId(self) -> int:
        return 0

    def resources(self) -> dict[str, ResourceInformation]:
        return {"gpu": ResourceInformation("gpu", ["0"])}


@contextmanager
def task_with_gpu() -> Iterator[Any]:
    """A task on GPU 0; gives the counts of what crosses the bus."""
    with patch.object(TaskContext, "get", return_value=_Task()), count_transfers() as counted:
        yield counted


@ck.udf
def net(price: float, discount: float | None) -> float:
    return price * (1 - discount) if discount is not None else price


@ck.udf
def is_promotion(kind: str) -> bool:
    return kind.startswith("PROMO")


def numbers_go_to_the_device_and_back() -> None:
    call = ArrowFunction(net, ck.float64())
    with task_with_gpu() as counted:
        actual = call(pa.array([1.0, 2.0, None]), discount=pa.array([0.5, None, 0.5]))
    assert actual.to_pylist() == [0.5, 2.0, None]
    assert counted.bytes_to_device > 0
    assert counted.bytes_to_host > 0


def the_columns_of_a_batch_are_one_upload() -> None:
    # Of its own: that of another case remembers where it ran.
    call = ArrowFunction(ck.udf(net.function), ck.float64())
    with task_with_gpu(), patch.object(moving, "uploaded", wraps=moving.uploaded) as uploaded:
        call(pa.array([1.0, 2.0] * 8), pa.array([0.5, None] * 8))
    # A few rows for the compiler, and then all.
    assert uploaded.call_count == 2


def text_goes_to_the_device() -> None:
    with task_with_gpu() as counted:
        actual = ArrowFunction(is_promotion, ck.bool_())(pa.array(["PROMO A", "PRO", None]))
    assert actual.to_pylist() == [True, False, None]
    assert counted.bytes_to_device > 0


def what_a_device_does_not_make_is_made_on_the_cpu() -> None:
    def product(n: int) -> int:
        return 1 if n < 2 else n * product(n - 1)

    call = ArrowFunction(ck.udf(product), ck.int64())
    with task_with_gpu() as counted, warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for _ in range(2):
            assert call(pa.array([1, 4])).to_pylist() == [1, 24]
    (only,) = [str(one.message) for one in said if "product" in str(one.message)]
    assert only.startswith("product runs on the CPU, not on cuda:0: ")
    assert counted.bytes_to_device == 0


def aggregates_stay_on_the_cpu() -> None:
    class Total:
        def init() -> Any:
            return 0.0

        def update(state: Any, value: float) -> Any:
            return state + value

    with task_with_gpu() as counted:
        assert ArrowAggregate(ck.reducer(Total), ck.float64())(pa.array([1.0, 2.0])) == 3.0
    assert counted.bytes_to_device == 0


CASES = [
    numbers_go_to_the_device_and_back,
    the_columns_of_a_batch_are_one_upload,
    text_goes_to_the_device,
    what_a_device_does_not_make_is_made_on_the_cpu,
    aggregates_stay_on_the_cpu,
]
