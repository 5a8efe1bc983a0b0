"""The writer of a job: one file a task, made visible by the driver when all tasks have succeeded."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

import pyarrow as pa
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from colkern.spark.source.commits import Staging
from colkern.spark.source.options import WriteOptions
from colkern.spark.source.writing import task_partition, write_file
from colkern.spark.worker_errors import told_plainly


@dataclass(frozen=True)
class Written(WriterCommitMessage):
    """What a task tells the driver.

    Args:
        name: The file that it has written; None if it had no rows.
        rows: How many rows are in it.
    """

    name: str | None
    rows: int


class SourceWriter(DataSourceArrowWriter):
    """Writes the files of one job.

    Args:
        options: Where to, and how.
        schema: The columns, in Spark's terms.
        overwrite: Whether what is there goes when the job is committed.
    """

    def __init__(self, options: WriteOptions, schema: StructType, overwrite: bool) -> None:
        self._options = options
        self._schema = schema
        self._overwrite = overwrite
        self._staging = Staging(options.path, uuid.uuid4().hex)

    @told_plainly()
    def write(self, iterator: Iterator[pa.RecordBatch]) -> Written:
        """Write the file of a task, `part-<partition>-<uuid>.arrow`, where no reader sees it yet.

        A partition without rows has no file, but for the first one: its file keeps the schema.
        """
        partition = task_partition()
        first = next(iterator, None)
        if first is None and partition:
            return Written(None, 0)
        name = f"part-{partition:05d}-{uuid.uuid4()}.arrow"
        batches = iterator if first is None else chain([first], iterator)
        rows = write_file(self._staging.file(name), batches, self._schema, self._options)
        return Written(name, rows)

    @told_plainly()
    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        """Make the files of all tasks visible."""
        names = [m.name for m in messages if isinstance(m, Written) and m.name is not None]
        self._staging.publish({name: name for name in names}, overwrite=self._overwrite)

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        """Remove what tasks have written."""
        self._staging.remove()
