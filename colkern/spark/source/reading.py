"""Record batches of files as Spark takes them: wanted rows of wanted columns, nothing else decoded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import datasource as spark
from pyspark.sql.types import StructType

from colkern import schema as s
from colkern.arrays import Array, RecordBatch
from colkern.errors import InvalidArrowError
from colkern.ipc import FileReader, StreamReader
from colkern.memory import HOST, Device
from colkern.operations import any as any_true
from colkern.operations import filter as keep_rows
from colkern.operations import nulls
from colkern.operations.moving import to_host
from colkern.spark.devices import task_device
from colkern.spark.source.contents import opened
from colkern.spark.source.conversion import converted
from colkern.spark.source.filters import mask_of, path_of
from colkern.spark.source.options import ReadOptions
from colkern.spark.source.partitions import Piece
from colkern.spark.source.predicates import parsed_filters
from colkern.spark.types import arrow_schema
from colkern.spark.worker_errors import told_plainly


@dataclass(frozen=True, slots=True)
class Request:
    """What a query asks of every file.

    Args:
        schema: The columns, with the types in which Spark takes them.
        filters: What all rows must pass; may be empty.
        may_lack: Whether a column that a file does not have is null there.
    """

    schema: s.Schema
    filters: tuple[spark.Filter, ...] = ()
    may_lack: bool = False

    @classmethod
    def of(cls, options: ReadOptions, schema: StructType) -> Request:
        """What the options of a query say, and a schema in Spark's terms.

        Raises:
            ValueError: If the option `filters` cannot be told of the columns.
        """
        columns = arrow_schema(schema)
        filters = parsed_filters(options.filters, columns)
        return cls(columns, filters, may_lack=options.merge_schema)


def read_pieces(pieces: Iterable[Piece], request: Request) -> Iterator[pa.RecordBatch]:
    """The rows of some pieces that a query asks for, a batch at a time; none is held back.

    Raises:
        ValueError: If a file lacks a column, or a value does not fit its type; names the file.
        InvalidArrowError: If a file is malformed; names it.
    """
    with told_plainly():
        for piece in pieces:
            with _reader(piece.path, request) as (reader, device):
                for batch in _batches(reader, piece.batches):
                    found = _Rows(batch, piece.path, request, device).wanted()
                    if found is not None and found.length:
                        yield pa.record_batch(found)


@contextmanager
def _reader(path: str, request: Request) -> Iterator[tuple[FileReader | StreamReader, Device]]:
    """A reader of a file, and where its columns come: to the task's GPU, if rows are chosen there."""
    with opened(path) as reader:
        _check_columns(reader.schema, path, request)
        device = task_device() if _can_filter_there(reader.schema, request) else HOST
        if device == HOST:
            yield reader, HOST
            return
        names = [name for name in request.schema.names if name in reader.schema.names]
    with opened(path, columns=names, device=device) as reader:
        yield reader, device


def _can_filter_there(theirs: s.Schema, request: Request) -> bool:
    """Whether filters can be evaluated on a device: there are some, of columns that need no conversion."""
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
    if missing and not request.may_lack:
        raise ValueError(
            f"{path}: no column {missing[0]!r}; set the option mergeSchema to read it as nulls"
        )


def _batches(
    reader: FileReader | StreamReader, positions: Sequence[int] | None
) -> Iterable[RecordBatch]:
    if positions is None or isinstance(reader, StreamReader):
        return reader
    return map(reader.get_batch, positions)


class _Rows:
    """The rows of one batch, whose columns are decoded when they are asked for.

    Args:
        batch: All columns of the file, of which none is decoded yet.
        path: The file, for errors.
        request: What is asked for.
        device: Where the batch is.
    """

    def __init__(self, batch: RecordBatch, path: str, request: Request, device: Device) -> None:
        self._batch = batch
        self._path = path
        self._request = request
        self._there = set(batch.schema.names)
        self._device = device

    def wanted(self) -> RecordBatch | None:
        """The rows that pass all filters; None if there are none."""
        schema, filters = self._request.schema, self._request.filters
        if not filters:
            columns = [self._converted(field) for field in schema]
            return RecordBatch(schema, columns, self._batch.length)
        names = {path_of(filter_)[0] for filter_ in filters}
        looked_at = {name: self._converted(schema.field(name)) for name in names}
        mask = mask_of(list(filters), looked_at)
        if not any_true(mask):
            return None
        # Whole columns are converted only where rows of them are wanted, and then only those rows.
        raw = [
            looked_at[field.name] if field.name in looked_at else self._raw(field)
            for field in schema
        ]
        unfiltered = RecordBatch.from_arrays(raw, schema.names)
        kept = to_host(keep_rows(unfiltered, mask))
        columns = [
            converted(column, field, self._path)
            for column, field in zip(kept.columns, schema, strict=True)
        ]
        return RecordBatch(schema, columns, kept.length)

    def _converted(self, field: s.Field) -> Array:
        return converted(self._raw(field), field, self._path)

    def _raw(self, field: s.Field) -> Array:
        if field.name not in self._there:
            return nulls(self._batch.length, field.type, self._device)
        try:
            return self._batch.column(field.name)
        except InvalidArrowError as error:
            raise error.at(field.name) from None
