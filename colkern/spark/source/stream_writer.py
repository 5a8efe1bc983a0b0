"""The writer of a streaming query: one file a task and batch, under a name that says which batch.

A batch that is done again writes the same names, so that its rows are there once.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceStreamArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from colkern.spark.source.commits import Staging
from colkern.spark.source.listing import visible_files
from colkern.spark.source.options import WriteOptions
from colkern.spark.source.writing import task_partition, write_file

_QUERY_PROPERTY = "sql.streaming.queryId"


@dataclass(frozen=True)
class Staged(WriterCommitMessage):
    """What a task tells the driver.

    Args:
        query: The id of the query, which it keeps when it is started again from its checkpoint.
        partition: The number of the partition.
        name: The file that has its rows; None if it had none.
    """

    query: str
    partition: int
    name: str | None


class SourceStreamWriter(DataSourceStreamArrowWriter):
    """Writes the files of a streaming query.

    Args:
        options: Where to, and how.
        schema: The columns, in Spark's terms.
        overwrite: Whether each batch takes the place of all before it (output mode complete).
    """

    def __init__(self, options: WriteOptions, schema: StructType, overwrite: bool) -> None:
        self._options = options
        self._schema = schema
        self._overwrite = overwrite
        self._target = options.path
        self._checkpoint = options.checkpoint and _short_name(options.checkpoint)

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Staged:
        """Write the file of a task where no reader sees it yet."""
        query, partition = _query(), task_partition()
        first = next(iterator, None)
        if first is None:
            return Staged(query, partition, None)
        name = f"{partition:05d}-{uuid.uuid4()}.arrow"
        file = self._staging(query).file(name)
        write_file(file, chain([first], iterator), self._schema, self._options)
        return Staged(query, partition, name)

    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        """Make the files of a batch visible, as `part-<query>-<batch>-<partition>.arrow`."""
        staged = [message for message in messages if isinstance(message, Staged)]
        if not staged:
            return
        query = staged[0].query
        prefix = f"part-{query}-{batchId:09d}-"
        names = {m.name: f"{prefix}{m.partition:05d}.arrow" for m in staged if m.name is not None}
        self._forget(prefix, set(names.values()))
        self._staging(query).publish(names, overwrite=self._overwrite)

    def _forget(self, prefix: str, kept: set[str]) -> None:
        """Remove what an earlier attempt at a batch left under names that this one does not have."""
        if not Path(self._target).is_dir():
            return
        for name in visible_files(self._target):
            if name.startswith(prefix) and name not in kept:
                Path(self._target, name).unlink(missing_ok=True)

    def abort(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        """Remove what the tasks of a batch have written."""
        # No task may have lived to tell of its query, but the driver knows the checkpoint as well.
        told = {message.query for message in messages if isinstance(message, Staged)}
        for job in {self._checkpoint} if self._checkpoint else told:
            Staging(self._target, job).remove()

    def _staging(self, query: str) -> Staging:
        return Staging(self._target, self._checkpoint or query)


def _short_name(path: str) -> str:
    """A name for what a path is the place of, which has no separators in it."""
    return uuid.uuid5(uuid.NAMESPACE_URL, path).hex


def _query() -> str:
    """The id of the query that this task is of."""
    context = TaskContext.get()
    found = None if context is None else context.getLocalProperty(_QUERY_PROPERTY)
    if found is None:
        raise RuntimeError(f"a task of a streaming query without {_QUERY_PROPERTY}")
    return str(found)
