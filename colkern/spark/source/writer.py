"""The writer of a job: one file a task, which the driver makes visible when all tasks have succeeded.

A file has Spark's batches, regrouped to a chosen number of rows, with statistics.

Tasks write into a directory of the job, below the target, which readers ignore. On commit the driver moves
each file into the target, and adds a `_SUCCESS` when all are there. A job that fails leaves at most that
directory, never a part of a file where readers see it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from colkern import ipc
from colkern.arrays import RecordBatch
from colkern.arrays.chunked import regrouped
from colkern.interchange import import_batch
from colkern.operations import cast
from colkern.spark.source.listing import visible_entries
from colkern.spark.source.options import WriteOptions
from colkern.spark.source.statistics import KEY, statistics_of
from colkern.spark.types import arrow_schema
from colkern.spark.worker_errors import told_plainly

SUCCESS = "_SUCCESS"


@dataclass(frozen=True, slots=True)
class Staging:
    """The files of one job until it is committed, in a directory that only this job uses."""

    target: str
    job: str  #: A name that no other job uses that writes there.

    @property
    def folder(self) -> Path:
        """The job's own directory, in the same file system as the target."""
        return Path(self.target, f"_colkern-{self.job}")

    def begin(self) -> None:
        """Make the directory; raise NotADirectoryError if the target is a file."""
        if os.path.exists(self.target) and not os.path.isdir(self.target):
            raise NotADirectoryError(f"{self.target}: a file stands where a directory is written")
        self.folder.mkdir(parents=True, exist_ok=True)

    def publish(self, names: Mapping[str, str], *, overwrite: bool) -> None:
        """Move files into the target, also if an earlier call has moved some; `overwrite` removes all
        others."""
        # If a file is missing, raises `FileNotFoundError` before anything is moved.
        target = Path(self.target)
        target.mkdir(parents=True, exist_ok=True)
        for name, final in names.items():
            if not (self.folder / name).exists() and not (target / final).exists():
                raise FileNotFoundError(
                    f"{self.folder / name}: written by a task, but not to be seen on the driver; "
                    f"write to a file system that the driver and all executors share"
                )
        (target / SUCCESS).unlink(missing_ok=True)
        before = visible_entries(self.target) if overwrite else []
        for name, final in names.items():
            staged = self.folder / name
            if staged.exists():
                # Streams that read this directory go by the time of modification.
                os.utime(staged)
                os.replace(staged, target / final)
        kept = set(names.values())
        for entry in before:
            if entry.name in kept:
                continue
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path)
            else:
                Path(entry.path).unlink(missing_ok=True)
        self.remove()
        (target / SUCCESS).touch()

    def remove(self) -> None:
        """Remove the directory and its files."""
        # Tasks of a failed job may still be writing; after this renaming they can add no files.
        removed = self.folder.with_name(f"{self.folder.name}-removed")
        with contextlib.suppress(OSError):
            os.replace(self.folder, removed)
        shutil.rmtree(removed, ignore_errors=True)


class TaskWriting:
    """The common part of the writers of queries; their commit may `overwrite` what is there."""

    def __init__(self, options: WriteOptions, schema: StructType, overwrite: bool) -> None:
        self._options = options
        self._schema = schema
        self._overwrite = overwrite

    def _write_part(
        self, staging: Staging, batches: Iterator[pa.RecordBatch], partition: int, *, needed: bool
    ) -> str | None:
        """Writes a task's file where no reader sees it; without rows, only if it is `needed`, else returns
        None."""
        first = next(batches, None)
        if first is None and not needed:
            return None
        name = f"part-{partition:05d}-{uuid.uuid4()}.arrow"
        rest = batches if first is None else chain([first], batches)
        write_file(staging.folder / name, rest, self._schema, self._options)
        return name


@dataclass(frozen=True)
class Written(WriterCommitMessage):
    """A task's message to the driver: the name of its file; None if it had no rows."""

    name: str | None


class SourceWriter(TaskWriting, DataSourceArrowWriter):
    """Writes the files of one job."""

    def __init__(self, options: WriteOptions, schema: StructType, overwrite: bool) -> None:
        super().__init__(options, schema, overwrite)
        self._staging = Staging(options.path, uuid.uuid4().hex)
        # The driver makes the directory, so that a task that outlives the job cannot make it again.
        self._staging.begin()

    @told_plainly()
    def write(self, iterator: Iterator[pa.RecordBatch]) -> Written:
        """Write a task's file `part-<partition>-<uuid>.arrow` unseen; without rows, only that of the first
        task."""
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


def write_file(
    path: Path, batches: Iterable[pa.RecordBatch], schema: StructType, options: WriteOptions
) -> None:
    """Write an Arrow IPC file, which appears complete or not at all.

    No more than one batch of `options.batch_rows` rows is held in memory.
    """
    ours = arrow_schema(schema)
    with ipc.new_file(path, ours, compression=options.compression) as writer:
        for batch in regrouped(batches, options.batch_rows, pa.concat_batches):
            # Spark gives timestamps in the session's time zone: the same numbers with another zone in the
            # type.
            theirs = import_batch(batch).columns
            columns = [cast(*pair) for pair in zip(theirs, ours.types, strict=True)]
            metadata = {KEY: statistics_of(batch)} if options.statistics else None
            writer.write(RecordBatch(ours, columns, batch.num_rows, metadata))


def task_partition() -> int:
    """Returns the number of the partition that this task writes."""
    context = TaskContext.get()
    return 0 if context is None else context.partitionId()
