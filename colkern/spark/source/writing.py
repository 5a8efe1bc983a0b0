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
from colkern.spark.source.options import WriteOptions
from colkern.spark.source.spark_types import colkern_schema, pyarrow_schema
from colkern.spark.source.statistics import KEY, statistics_of


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
    theirs, ours = pyarrow_schema(schema), colkern_schema(schema)
    rows = 0
    with ipc.new_file(path, ours, compression=options.compression) as writer:
        for batch in regrouped(batches, options.batch_rows):
            # Spark gives moments in the time zone of the session: the same numbers under another name.
            found = import_batch(batch.cast(theirs))
            metadata = {KEY: statistics_of(batch)} if options.statistics else None
            writer.write(RecordBatch(ours, found.columns, found.length, metadata))
            rows += found.length
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
