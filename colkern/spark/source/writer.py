"""The writer of a job: one file a task, which the driver makes visible when all tasks have succeeded."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from colkern.spark.source.commits import Staging
from colkern.spark.source.options import WriteOptions
from colkern.spark.source.writing import TaskWriting, task_partition
from colkern.spark.worker_errors import told_plainly


@dataclass(frozen=True)
class Written(WriterCommitMessage):
    """The message of a task to the driver: the name of its file, None if it had no rows."""

    name: str | None


class SourceWriter(TaskWriting, DataSourceArrowWriter):
    """Writes the files of one job."""

    def __init__(self, options: WriteOptions, schema: StructType, overwrite: bool) -> None:
        super().__init__(options, schema, overwrite)
        self._staging = Staging(options.path, uuid.uuid4().hex)

    @told_plainly()
    def write(self, iterator: Iterator[pa.RecordBatch]) -> Written:
        """Write the file of a task, `part-<partition>-<uuid>.arrow`, where no reader sees it yet.

        A partition without rows has no file, but for the first one: its file keeps the schema.
        """
        partition = task_partition()
        return Written(self._write_part(self._staging, iterator, partition, needed=partition == 0))

    @told_plainly()
    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        """Make the files of all tasks visible."""
        names = [m.name for m in messages if isinstance(m, Written) and m.name is not None]
        self._staging.publish({name: name for name in names}, overwrite=self._overwrite)

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        """Remove the files of the tasks."""
        self._staging.remove()
