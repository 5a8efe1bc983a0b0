"""The plan of a query: the parts of files that it reads, grouped into Spark's partitions; its readers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, Filter, InputPartition
from pyspark.sql.types import StructType

from colkern import schema as s
from colkern.errors import UnsupportedError
from colkern.spark.source.contents import Contents, Part, Piece
from colkern.spark.source.filters import can_evaluate, path_of
from colkern.spark.source.listing import list_files
from colkern.spark.source.options import ReadOptions
from colkern.spark.source.reading import Request, files_of, read_pieces
from colkern.spark.source.spark_types import FileSchema, require_same, schema_in_spark
from colkern.spark.source.statistics import Bounds, Known, may_pass
from colkern.spark.worker_errors import told_plainly


class SourcePartition(InputPartition):
    """The pieces of files that one task reads; none if a query has nothing to read."""

    def __init__(self, pieces: tuple[Piece, ...]) -> None:
        super().__init__(pieces)
        self.pieces = pieces


MOST_FILES = 128
"""The largest number of files in a partition: opening many small files takes most of the time."""

_LEAST, _MOST = 1 << 20, 128 << 20

Wanted = Callable[[Contents, Part], bool]
"""Whether a part of a file can have rows that a query requests."""


def share(size: int, tasks: int) -> int:
    """Returns the bytes of a task's share: 1 to 128 MiB, since starting a task takes as long as reading
    some."""
    return max(_LEAST, min(-(-size // tasks), _MOST))


def planned(
    files: Iterable[Contents],
    columns: int,
    partition_bytes: int,
    wanted: Wanted,
    tasks: int | None = None,
) -> list[SourcePartition]:
    """Returns the partitions of a query, at least one, of about `partition_bytes` each; or one for each
    task."""
    # Parts stay in the order of the files; those of up to `MOST_FILES` small files share a partition. A
    # stream cannot be cut, and is a partition of its own. The bytes are those of the columns that are read;
    # all columns of a file count as equally large, and lines are read as a whole.
    if tasks is not None:
        files = list(files)
        costs = [_cost(file, part, columns) for file in files for part in file.parts or ()]
        # Add half a part: otherwise the last parts that do not fit would be a partition of their own.
        partition_bytes = min(share(sum(costs), tasks) + max(costs, default=0) // 2, _MOST)
    pieces = _grouped(files, columns, partition_bytes, wanted)
    # Given no partition, Spark would call the reader with one of its own.
    return list(map(SourcePartition, pieces)) or [SourcePartition(())]


def _grouped(
    files: Iterable[Contents], columns: int, partition_bytes: int, wanted: Wanted
) -> Iterator[tuple[Piece, ...]]:
    group: dict[str, list[int]] = {}
    size = 0
    for file in files:
        if file.parts is None:
            if group:
                yield _pieces(group)
            group, size = {}, 0
            yield (Piece(file.path, None),)
            continue
        for part in file.parts:
            if part.rows == 0 or not wanted(file, part):
                continue
            cost = _cost(file, part, columns)
            count = len(group) + (file.path not in group)
            if group and (size + cost > partition_bytes or count > MOST_FILES):
                yield _pieces(group)
                group, size = {}, 0
            group.setdefault(file.path, []).append(part.where)
            size += cost
    if group:
        yield _pieces(group)


def _cost(file: Contents, part: Part, columns: int) -> int:
    """Returns the bytes of a part that are read."""
    read = 1.0 if file.schema is None else min(1.0, columns / max(len(file.schema), 1))
    # A batch without a body, whose columns are of type null, also takes time.
    return max(int(part.size * read), 1)


def _pieces(group: dict[str, list[int]]) -> tuple[Piece, ...]:
    return tuple(Piece(path, tuple(parts)) for path, parts in group.items())


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a query."""

    options: ReadOptions
    request: Request
    first: FileSchema | None = None  #: The file with which all files must agree, unless it is None.
    files: list[str] | None = None  #: The files, if they have been listed already.
    tasks: int | None = None  #: The number of tasks that share the files, if known.

    def shared(self, tasks: int) -> Plan:
        """Returns the plan with files cut as by Spark's own readers: a share for each task."""
        files = list_files(self.options) if self.files is None else self.files
        # Lines are cut anywhere, other files at their batches or row groups.
        size = share(sum(map(os.path.getsize, files)), tasks)
        options = replace(self.options, partition_bytes=size)
        request = replace(self.request, options=options)
        return replace(self, options=options, request=request, files=files, tasks=tasks)

    def partitions(self, files: Iterable[str] | None = None) -> list[SourcePartition]:
        """Returns the partitions, at least one, of some files; None for the files of the query."""
        paths = self.files if files is None else files
        paths = list_files(self.options) if paths is None else paths
        contents = self._checked(files_of(path, self.options).contents(path) for path in paths)
        size = self.options.partition_bytes
        columns = len(self.request.schema)
        return planned(contents, columns, size, self._is_wanted, self.tasks)

    def _checked(self, files: Iterable[Contents]) -> Iterator[Contents]:
        """Yields the files, after a check that each agrees with the first."""
        agreed: s.Schema | None = None
        for file in files:
            # Most of thousands of files have the very same schema.
            if self.first is not None and file.schema is not None and file.schema != agreed:
                wanted = self.request.schema.names
                names = [name for name in wanted if name in file.schema.names]
                theirs = schema_in_spark(file.schema, names, file.path)
                require_same(self.first, FileSchema(file.path, theirs))
                agreed = file.schema
            yield file

    def _is_wanted(self, file: Contents, part: Part) -> bool:
        """Whether a part may have rows that pass all filters."""

        def known(name: str) -> Known:
            type_ = self.request.schema.field(name).type
            if file.schema is not None and name not in file.schema.names:
                rows = part.rows or 0
                return Known(type_, rows, rows, Bounds())
            return part.known(name, type_)

        columns = [each for each in self.request.filters if len(path_of(each)) == 1]
        return all(may_pass(filter_, known(path_of(filter_)[0])) for filter_ in columns)


def file_schemas(options: ReadOptions, files: list[str]) -> Iterator[FileSchema]:
    """Yields the schemas of the files of a query, each read when needed; ValueError without files."""
    if not files:
        raise ValueError(
            f"{', '.join(options.paths)}: no file; declare the columns with schema(…), or write first"
        )
    for path in files:
        schema = files_of(path, options).schema(path)
        columns = options.columns
        if columns is not None and options.merge_schema:
            columns = tuple(name for name in columns if name in schema.names)
        yield FileSchema(path, schema_in_spark(schema, columns, path))


class FileReading:
    """The common part of the readers of queries; all files agree with `first`, unless it is None."""

    def __init__(
        self,
        options: ReadOptions,
        schema: StructType,
        first: FileSchema | None = None,
        files: list[str] | None = None,
    ) -> None:
        self.plan = Plan(options, Request.of(options, schema), first, files)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yields the rows of a partition that pass the filters, a record batch at a time."""
        assert isinstance(partition, SourcePartition)
        return read_pieces(partition.pieces, self.plan.request)


class SourceReader(FileReading, DataSourceReader):
    """Reads the files of one query."""

    @told_plainly()
    def partitions(self) -> list[InputPartition]:
        """Returns groups of record batches; see `colkern.spark.source.planning`."""
        try:
            return list(self.plan.partitions())
        except UnsupportedError as error:
            # This error is a NotImplementedError, which would tell Spark that the reader has no partitions.
            raise TypeError(str(error)) from error


class PushdownReader(SourceReader):
    """A reader that takes filters over from Spark.

    Spark (4.3) keeps the filters of a scan with the DataFrame that was loaded, not with the query: the
    filters of one query also hold for a later one without filters over the same DataFrame, and those
    of one branch of a query for all branches. Hence this is for a DataFrame that is used once.
    """

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:
        """Takes over the filters that colkern evaluates as Spark would; returns the others."""
        request = self.plan.request
        ours = [filter_ for filter_ in filters if can_evaluate(filter_, request.schema)]
        request = replace(request, filters=(*request.filters, *ours))
        self.plan = replace(self.plan, request=request)
        return [filter_ for filter_ in filters if not any(filter_ is one for one in ours)]
