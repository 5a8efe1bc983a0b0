"""The plan of a query: the parts of files that it reads, and their partitions."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from colkern import schema as s
from colkern.spark.source.contents import Contents, Part
from colkern.spark.source.filters import path_of
from colkern.spark.source.formats import files_of
from colkern.spark.source.listing import list_files
from colkern.spark.source.merging import FileSchema, require_same
from colkern.spark.source.options import ReadOptions
from colkern.spark.source.partitions import SourcePartition, planned, share
from colkern.spark.source.reading import Request
from colkern.spark.source.skipping import Known, may_pass
from colkern.spark.source.spark_types import schema_in_spark
from colkern.spark.source.statistics import Bounds


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
