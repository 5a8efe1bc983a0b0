"""The reader and the writer of a streaming query.

The writer makes one file a task and batch, with the batch's number in its name: a repeated batch writes the
same names, so that its rows exist once. The reader takes new files in directories, since an offset in JSON.

Files are taken in the order of their modification times, and by name for equal times. An offset has all
that a later run needs: ``files``, those of its batch, so that a repeated batch has the same files;
``since``, a time in nanoseconds; and ``seen``, the files taken so far that were modified at that time or
later. A file from before ``since`` is not new, whether it has been taken or not: otherwise an offset would
grow with the history of the directory.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.datasource import (
    DataSourceStreamArrowWriter,
    DataSourceStreamReader,
    InputPartition,
    WriterCommitMessage,
)
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxFiles,
    SupportsTriggerAvailableNow,
)

from colkern.spark.source.listing import list_files, visible_files
from colkern.spark.source.options import ReadOptions
from colkern.spark.source.planning import FileReading
from colkern.spark.source.writer import Staging, TaskWriting, task_partition

_SECOND = 1_000_000_000


class JsonOffset(TypedDict):
    """An offset in JSON; times are strings, since some readers of JSON round them."""

    since: str
    seen: dict[str, str]
    files: list[str]


@dataclass(frozen=True, slots=True, order=True)
class Stamped:
    """A file and when it was last written, in nanoseconds since 1970."""

    time: int
    path: str


@dataclass(frozen=True, slots=True)
class Offset:
    """A position in the sequence of files."""

    since: int = 0  #: Files modified before this time are not new.
    seen: tuple[Stamped, ...] = ()  #: The files taken so far that are at least as new.
    files: tuple[str, ...] = ()  #: The files of the last batch.

    @classmethod
    def of_json(cls, offset: JsonOffset) -> Offset:
        """The inverse of `as_json`."""
        seen = tuple(Stamped(int(time), path) for path, time in offset["seen"].items())
        return cls(int(offset["since"]), seen, tuple(offset["files"]))

    def as_json(self) -> JsonOffset:
        """Returns the offset in JSON types."""
        seen = {file.path: str(file.time) for file in self.seen}
        return {"since": str(self.since), "seen": seen, "files": list(self.files)}

    def new_among(self, files: Iterable[Stamped]) -> list[Stamped]:
        """Returns the files that have not been taken, in the order in which they will be."""
        taken = {file.path for file in self.seen}
        return sorted(f for f in files if f.time >= self.since and f.path not in taken)

    def after(self, taken: Collection[Stamped], late_seconds: int) -> Offset:
        """Returns the offset after new files; files up to `late_seconds` older than the last still count as
        new."""
        # A file with a time in the future would exclude all files until that time.
        latest = min(max(taken).time, time.time_ns())
        since = max(self.since, latest - late_seconds * _SECOND)
        seen = tuple(file for file in (*self.seen, *sorted(taken)) if file.time >= since)
        return Offset(since, seen, tuple(file.path for file in sorted(taken)))


def stamped_files(options: ReadOptions) -> list[Stamped]:
    """Returns the files under the paths of a query, with their times; a pattern may match none yet."""
    stamped = []
    for path in list_files(options, globs_may_be_empty=True):
        try:
            stamped.append(Stamped(os.stat(path).st_mtime_ns, path))
        except FileNotFoundError:
            # The file was removed after the directory was listed.
            continue
    return stamped


class SourceStreamReader(FileReading, DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads the files of a streaming query, each once unless a batch is repeated."""

    _all: list[Stamped] | None = None

    def initialOffset(self) -> JsonOffset:
        """Returns the offset before all files."""
        return Offset().as_json()

    def getDefaultReadLimit(self) -> ReadLimit:
        """Returns the number of files that the option `maxFilesPerTrigger` gives."""
        most = self.plan.options.max_files
        return ReadMaxFiles(most) if most else ReadAllAvailable()

    def prepareForTriggerAvailableNow(self) -> None:
        """Remember the present files; files that come later are not read."""
        self._all = stamped_files(self.plan.options)

    def latestOffset(self, start: JsonOffset, limit: ReadLimit) -> JsonOffset:
        """Returns the offset after the new files, or after as many as the limit allows."""
        options = self.plan.options
        files = stamped_files(options) if self._all is None else self._all
        offset = Offset.of_json(start)
        new = offset.new_among(files)
        if isinstance(limit, ReadMaxFiles):
            new = new[: limit.max_files]
        return offset.after(new, options.late_seconds).as_json() if new else start

    def partitions(self, start: JsonOffset, end: JsonOffset) -> Sequence[InputPartition]:
        """Returns groups of record batches of the files of the batch that ends at `end`."""
        return [] if start == end else self.plan.partitions(Offset.of_json(end).files)


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
