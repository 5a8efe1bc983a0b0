"""Which record batches of which files a query reads, and in which partitions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pyspark.sql.datasource import Filter

from colkern import schema as s
from colkern.ipc import BatchSummary
from colkern.spark.source.contents import Contents, read_contents, read_schema
from colkern.spark.source.filters import path_of
from colkern.spark.source.listing import list_files
from colkern.spark.source.merging import FileSchema, require_same
from colkern.spark.source.options import ReadOptions
from colkern.spark.source.partitions import SourcePartition, planned
from colkern.spark.source.skipping import Known, may_pass
from colkern.spark.source.spark_types import schema_in_spark
from colkern.spark.source.statistics import Bounds, bounds_of


@dataclass(frozen=True, slots=True)
class Plan:
    """What a query reads.

    Args:
        options: What is read, and how it is cut up.
        schema: The columns, with the types in which Spark takes them.
        first: The file that the others must agree with; None if they need not.
        filters: What rows must pass.
    """

    options: ReadOptions
    schema: s.Schema
    first: FileSchema | None = None
    filters: tuple[Filter, ...] = ()

    def partitions(self, files: Iterable[str] | None = None) -> list[SourcePartition]:
        """The partitions, at least one, of some files; None for those under the paths.

        Raises:
            FileNotFoundError: If there is nothing at a path.
            ValueError: If files do not agree; names both and the field.
            InvalidArrowError, UnsupportedError: If a file cannot be read; names it.
        """
        paths = list_files(self.options) if files is None else files
        contents = self._checked(map(read_contents, paths))
        size = self.options.partition_bytes
        return planned(contents, len(self.schema), size, self._is_wanted)

    def _checked(self, files: Iterable[Contents]) -> Iterator[Contents]:
        """The files, each of which agrees with the first."""
        agreed: s.Schema | None = None
        for file in files:
            # Of thousands of files most have the very same schema.
            if self.first is not None and file.schema != agreed:
                names = [name for name in self.schema.names if name in file.schema.names]
                theirs = schema_in_spark(file.schema, names, file.path)
                require_same(self.first, FileSchema(file.path, theirs))
                agreed = file.schema
            yield file

    def _is_wanted(self, file: Contents, batch: BatchSummary) -> bool:
        """Whether a batch may have rows that pass all filters."""
        columns = [filter_ for filter_ in self.filters if len(path_of(filter_)) == 1]
        if not columns:
            return True
        known = _Batch(file.schema, self.schema, batch)
        return all(may_pass(filter_, known.column(path_of(filter_)[0])) for filter_ in columns)


class _Batch:
    """What is known of the columns of one batch.

    Args:
        theirs: The schema of the file.
        ours: The columns, with the types in which Spark takes them.
        summary: What the metadata of the batch says.
    """

    def __init__(self, theirs: s.Schema, ours: s.Schema, summary: BatchSummary) -> None:
        self._theirs = theirs
        self._ours = ours
        self._summary = summary
        self._bounds = bounds_of(summary.metadata, theirs)

    def column(self, name: str) -> Known:
        """What is known of a column that Spark asks for."""
        type_, rows = self._ours.field(name).type, self._summary.length
        if name not in self._theirs.names:
            return Known(type_, rows, rows, Bounds())
        position = self._theirs.index(name)
        nulls = int(self._summary.null_counts[position])
        if not _counts_all_nulls(self._theirs.field(name).type):
            nulls = -1
        # Bounds are those of the values as the file has them.
        same = s.same_type(self._theirs.field(name).type, type_)
        bounds = self._bounds.get(name, Bounds()) if same else Bounds()
        return Known(type_, rows, None if nulls < 0 else nulls, bounds)


def _counts_all_nulls(type_: s.DataType) -> bool:
    """Whether a null count is that of the values: a dictionary may have nulls of its own."""
    return not isinstance(type_.storage, s.Dictionary | s.RunEndEncoded | s.Union)


def file_schemas(options: ReadOptions, files: list[str]) -> Iterator[FileSchema]:
    """The schemas of the files of a query, each read when it is asked for.

    Raises:
        ValueError: If there is no file.
    """
    if not files:
        raise ValueError(
            f"{', '.join(options.paths)}: no file; declare the columns with schema(…), or write first"
        )
    for path in files:
        found = read_schema(path)
        columns = options.columns
        if columns is not None and options.merge_schema:
            columns = tuple(name for name in columns if name in found.names)
        yield FileSchema(path, schema_in_spark(found, columns, path))
