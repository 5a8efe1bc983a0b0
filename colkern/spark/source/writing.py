"""One file of a task: Spark's batches, put together to batches of a chosen size, with statistics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.types import StructType

from colkern import ipc
from colkern.arrays import RecordBatch
from colkern.interchange import import_batch
from colkern.operations import cast
from colkern.spark.source.options import WriteOptions
from colkern.spark.source.statistics import KEY, statistics_of
from colkern.spark.types import arrow_schema


def write_file(
    path: Path, batches: Iterable[pa.RecordBatch], schema: StructType, options: WriteOptions
) -> int:
    """Write an Arrow IPC file, which is there whole or not at all; returns how many rows it has.

    No more than one batch of `options.batch_rows` rows is held in memory.

    Args:
        path: The file.
        batches: Batches as Spark gives them.
        schema: Their schema, in Spark's terms.
        options: How they are written.
    """
    ours = arrow_schema(schema)
    rows = 0
    with ipc.new_file(path, ours, compression=options.compression) as writer:
        for batch in regrouped(batches, options.batch_rows):
            # Spark gives moments in the time zone of the session: the same numbers under another name.
            theirs = import_batch(batch).columns
            columns = [cast(*pair) for pair in zip(theirs, ours.types, strict=True)]
            metadata = {KEY: statistics_of(batch)} if options.statistics else None
            writer.write(RecordBatch(ours, columns, batch.num_rows, metadata))
            rows += batch.num_rows
    return rows


def regrouped(batches: Iterable[pa.RecordBatch], rows: int) -> Iterator[pa.RecordBatch]:
    """The same rows in batches of `rows` rows, the last one of fewer."""
    held: list[pa.RecordBatch] = []
    count = 0
    for batch in batches:
        while batch.num_rows:
            part = batch.slice(0, rows - count)
            held.append(part)
            count += part.num_rows
            batch = batch.slice(part.num_rows)
            if count == rows:
                yield _joined(held)
                held, count = [], 0
    if held:
        yield _joined(held)


def _joined(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    return batches[0] if len(batches) == 1 else pa.concat_batches(batches)


def task_partition() -> int:
    """The number of the partition that this task writes."""
    context = TaskContext.get()
    return 0 if context is None else context.partitionId()
