"""Reads the rows of files of all formats as Spark takes them, in its types; decodes only wanted columns."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import pyarrow as pa
from pyspark.sql import datasource as spark
from pyspark.sql.types import StructType

from colkern import schema as s
from colkern.arrays import Array, RecordBatch
from colkern.errors import UnsupportedError, placed
from colkern.memory import HOST, Device
from colkern.operations import any as any_true
from colkern.operations import nulls, require_valid
from colkern.operations.casting.dispatch import Rounding, convert
from colkern.spark.declared_nulls import require_declared_nulls
from colkern.spark.devices import task_device
from colkern.spark.source.arrow_files import ArrowFiles
from colkern.spark.source.contents import Files, Piece, Rows, naming
from colkern.spark.source.filters import mask_of, parsed_filters, path_of
from colkern.spark.source.line_files import COMPRESSED, CsvFiles, TextFiles
from colkern.spark.source.options import ReadOptions
from colkern.spark.types import arrow_schema
from colkern.spark.worker_errors import told_plainly


@dataclass(frozen=True, slots=True)
class Request:
    """The columns and rows that a query asks for."""

    schema: s.Schema  #: The columns, with the types in which Spark takes them.
    filters: tuple[spark.Filter, ...] = ()  #: All rows must pass these; may be empty.
    options: ReadOptions = field(default_factory=lambda: ReadOptions(()))

    @classmethod
    def of(cls, options: ReadOptions, schema: StructType) -> Request:
        """Returns the request of a query with some options, and a Spark schema."""
        columns = arrow_schema(schema)
        return cls(columns, parsed_filters(options.filters, columns), options)


def read_pieces(pieces: Iterable[Piece], request: Request) -> Iterator[pa.RecordBatch]:
    """Yields the requested rows of some pieces, a batch at a time, each as soon as it is read."""
    with told_plainly():
        for piece in pieces:
            for rows in wanted_rows(piece, request):
                yield pa.record_batch(rows.batch)


def wanted_rows(piece: Piece, request: Request) -> Iterator[Rows]:
    """Yields the requested rows of a piece, on the host; raises as `read_pieces`."""

    def device_of(theirs: s.Schema) -> Device:
        _check_columns(theirs, piece.path, request)
        # A device is used only for filters.
        return task_device() if _can_filter_there(theirs, request) else HOST

    for rows in files_of(piece.path, request.options).rows(piece, request.schema, device_of):
        with naming(piece.path):
            wanted = _wanted(rows, piece.path, request)
        if wanted is not None and wanted.batch.length:
            yield wanted


def _can_filter_there(theirs: s.Schema, request: Request) -> bool:
    """Whether filters can be evaluated on a device: there are some, on columns that need no conversion."""
    names = {path_of(filter_)[0] for filter_ in request.filters}
    return bool(names) and all(
        name in theirs.names and theirs.field(name).type == request.schema.field(name).type
        for name in names
    )


def _check_columns(theirs: s.Schema, path: str, request: Request) -> None:
    several = [name for name in request.schema.names if theirs.names.count(name) > 1]
    if several:
        raise ValueError(f"{path}: {theirs.names.count(several[0])} columns {several[0]!r}")
    missing = [name for name in request.schema.names if name not in theirs.names]
    if missing and not request.options.merge_schema:
        raise ValueError(
            f"{path}: no column {missing[0]!r}; set the option mergeSchema to read it as nulls"
        )


def _wanted(rows: Rows, path: str, request: Request) -> Rows | None:
    """Returns the rows of a batch that pass all filters, not decoded yet; None if there are none."""
    schema, filters, batch = request.schema, list(request.filters), rows.batch
    there = set(batch.schema.names)

    def raw(field: s.Field) -> Array:
        if field.name not in there:
            return nulls(batch.length, field.type, rows.device)
        with placed(field.name):
            return batch.column(field.name)

    if not filters:
        columns = [converted(raw(field), field, path) for field in schema]
        return rows.of(RecordBatch(schema, columns, batch.length))
    fields = [schema.field(name) for name in {path_of(filter_)[0] for filter_ in filters}]
    tested = {field.name: converted(raw(field), field, path) for field in fields}
    mask = mask_of(filters, tested)
    if not any_true(mask):
        return None
    # Other columns are converted only for batches that have wanted rows, and only those rows.
    unfiltered = [tested[f.name] if f.name in tested else raw(f) for f in schema]
    kept = rows.where(RecordBatch.from_arrays(unfiltered, schema.names), mask)
    pairs = zip(kept.batch.columns, schema, strict=True)
    columns = [converted(column, field, path) for column, field in pairs]
    return kept.of(RecordBatch(schema, columns, kept.batch.length))


def converted(column: Array, field: s.Field, path: str) -> Array:
    """Returns a column in the type in which Spark takes it; not copied if it has that type already."""
    # Nanoseconds become microseconds, and milliseconds of dates become days, by rounding down.
    require_valid(column, field.name)
    try:
        result = convert(column, field.type, Rounding.TIMES)
        require_declared_nulls(result, field)
    except UnsupportedError as error:
        raise TypeError(
            f"{path}: {field.name}: {column.type} does not become {field.type}, which the schema "
            f"asks for ({error})"
        ) from error
    except ValueError as error:
        raise ValueError(f"{path}: {field.name}: {error}") from error
    return result


# The format of a file, by the option `format` or by the file's name


def _parquet(_: ReadOptions) -> Files:
    # pyarrow's Parquet library is loaded only if there are such files.
    from colkern.spark.source.parquet_files import ParquetFiles

    return ParquetFiles()


_FORMATS: dict[str, Callable[[ReadOptions], Files]] = {
    "arrow": lambda _: ArrowFiles(),
    "parquet": _parquet,
    "csv": CsvFiles,
    "text": TextFiles,
}

_SUFFIXES: dict[str, str] = {
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    ".csv": "csv",
    **dict.fromkeys((".txt", ".text", ".log"), "text"),
}


def files_of(path: str, options: ReadOptions) -> Files:
    """Returns the reader for a file, by the format in the options, else by its name, else for Arrow."""
    name, suffix = os.path.splitext(path)
    if suffix in COMPRESSED:
        suffix = os.path.splitext(name)[1]
    return _FORMATS[options.format or _SUFFIXES.get(suffix.lower(), "arrow")](options)
