"""Spark's tasks and a service beside them exchange record batches through shared memory.

    python examples/shared_service.py --rows 1000000

A service is a process of its own, with what tasks cannot each have: the one GPU of a machine, a model, a
large table. A task serves its batches to it and asks for the answer by its own URI; the service connects
there, computes, and serves the answer. Columns are announced by their places in shared memory, both ways.
"""

from __future__ import annotations

import argparse
import itertools
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

import colkern as ck
from colkern.arrays import RecordBatchStream
from colkern.dissociated import connect, serve
from colkern.spark import start_session

ANSWER = ck.Schema([ck.Field("id", ck.int64()), ck.Field("net", ck.float64())])


@ck.udf
def net(price: float, discount: float) -> float:
    """The price after the discount."""
    return price * (1 - discount)


def answer_to(task: bytes, device: str | None = None) -> RecordBatchStream:
    """The batches that the service serves for the URI of a task, computed from the task's own.

    Args:
        task: The URI.
        device: Where to compute: "cuda", or None for where the batches are.
    """
    uri = task.decode()
    # Whoever asks chooses what this process connects to.
    if not uri.startswith("shm:"):
        raise ValueError(f"a task serves in shared memory, not at {uri}")
    batches = connect(uri, device=device)
    return RecordBatchStream(ANSWER, map(_answered, batches))


def _answered(batch: ck.RecordBatch) -> ck.RecordBatch:
    columns = [batch["id"], net(batch["price"], batch["discount"])]
    return ck.RecordBatch(ANSWER, columns, batch.num_rows)


def through(service: str) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """For `mapInArrow`: sends a task's batches to the service, and yields its answer."""

    def exchange(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        first = next(batches, None)
        if first is None:
            return
        stream = pa.RecordBatchReader.from_batches(first.schema, itertools.chain([first], batches))
        with serve(stream, "shm:") as task, connect(service, task.uri) as answer:
            yield from map(pa.record_batch, answer)

    return exchange


@contextmanager
def started_service(device: str | None) -> Iterator[str]:
    """The service in a process, which ends with this one; yields its URI."""
    words = [sys.executable, __file__, "--serve", *(["--device", device] if device else [])]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.communicate()


def main() -> None:
    """Be the service, or start it and a job beside it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--device", choices=["cuda"], help="where the service computes")
    parser.add_argument("--serve", action="store_true", help="be the service until input ends")
    options = parser.parse_args()
    if options.serve:
        with serve(lambda task: answer_to(task, options.device), "shm:") as server:
            print(server.uri, flush=True)
            sys.stdin.read()
        return
    spark = start_session(options.master, name="shared service")
    with started_service(options.device) as service:
        orders = spark.range(options.rows).selectExpr(
            "id", "id / 100D AS price", "pmod(id, 10) / 100D AS discount"
        )
        found: Any = orders.mapInArrow(through(service), "id long, net double")
        print(found.selectExpr("count(*) AS rows", "sum(net) AS net").first())
    spark.stop()


if __name__ == "__main__":
    main()
