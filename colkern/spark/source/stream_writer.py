"""The writer of a streaming query: one file a task and batch, with the batch's number in its name.

A repeated batch writes the same names, so that its rows exist once.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceStreamArrowWriter, WriterCommitMessage

from colkern.spark.source.commits import Staging
from colkern.spark.source.listing import visible_files
from colkern.spark.source.writer import TaskWriting, task_partition

_QUERY_PROPERTY = "sql.streaming.queryId"


@dataclass(frozen=True)
class Staged(WriterCommitMessage):
    """A task's message to the driver: a query (as its checkpoint), and a file, if it has rows."""

    query: str
    partition: int
    name: str | None


class SourceStreamWriter(TaskWriting, DataSourceStreamArrowWriter):
    """Writes the files of a streaming query; each batch may replace all before it (mode complete)."""

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Staged:
        """Write the file of a task where no reader sees it yet."""
        query, partition = _query(), task_partition()
        staging = self._staging(query)
        staging.begin()
        name = self._write_part(staging, iterator, partition, needed=False)
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
        """Remove the files of an earlier attempt at a batch that this attempt does not have."""
        target = Path(self._options.path)
        if not target.is_dir():
            return
        for name in visible_files(self._options.path):
            if name.startswith(prefix) and name not in kept:
                (target / name).unlink(missing_ok=True)

    def abort(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        """Remove the files of the tasks of a batch."""
        # No task may have been able to report its query, but the driver knows the checkpoint as well.
        queries = {message.query for message in messages if isinstance(message, Staged)}
        for query in {""} if self._options.checkpoint else queries:
            self._staging(query).remove()

    def _staging(self, query: str) -> Staging:
        """Returns the directory of a query, named after its checkpoint if the options give one."""
        place = self._options.checkpoint
        job = uuid.uuid5(uuid.NAMESPACE_URL, place).hex if place else query
        return Staging(self._options.path, job)


def _query() -> str:
    """Returns the id of the query that this task belongs to."""
    context = TaskContext.get()
    query = None if context is None else context.getLocalProperty(_QUERY_PROPERTY)
    if query is None:
        raise RuntimeError(f"a task of a streaming query without {_QUERY_PROPERTY}")
    return str(query)
