"""Reads the rows of files as Spark takes them, in its types; only wanted columns are decoded."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa
from pyspark.sql import datasource as spark
from pyspark.sql.types import StructType

from colkern import schema as s
from colkern.arrays import Array, RecordBatch
from colkern.errors import UnsupportedError, placed
from colkern.memory import HOST, Device
from colkern.operations import any as any_true
from colkern.operations import cast, nulls, require_valid
from colkern.operations.casting.dispatch import retyped
from colkern.operations.casting.times import rounded_down
from colkern.spark.declared_nulls import require_declared_nulls
from colkern.spark.devices import task_device
from colkern.spark.source.contents import Piece, Rows, naming
from colkern.spark.source.filters import mask_of, parsed_filters, path_of
from colkern.spark.source.formats import files_of
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
        result = cast(_in_units_of(column, field.type), field.type)
        require_declared_nulls(result, field)
    except UnsupportedError as error:
        raise TypeError(
            f"{path}: {field.name}: {column.type} does not become {field.type}, which the schema "
            f"asks for ({error})"
        ) from error
    except ValueError as error:
        raise ValueError(f"{path}: {field.name}: {error}") from error
    return result


_TIMES = s.Timestamp | s.Duration | s.Time | s.Date
_LISTS = s.List | s.LargeList | s.ListView | s.LargeListView | s.FixedSizeList


def _in_units_of(array: Array, wanted: s.DataType) -> Array:
    """Returns an array with its times, at any depth, rounded down to another type's units."""
    storage = array.type.storage
    if isinstance(storage, _TIMES):
        is_date = isinstance(storage, s.Date)
        larger = s.date32() if isinstance(storage, s.Date) else replace(storage, unit="us")
        is_smaller = storage.unit == ("ms" if is_date else "ns")
        if not is_smaller or getattr(wanted, "unit", None) != larger.unit:
            return array
        return rounded_down(retyped(array, storage), larger)
    parts = zip(array.children, _wanted_of_children(storage, wanted), strict=True)
    children = [_in_units_of(child, part) for child, part in parts]
    dictionary = None if array.dictionary is None else _in_units_of(array.dictionary, wanted)
    if dictionary is array.dictionary and all(map(operator.is_, children, array.children)):
        return array
    type_ = _type_of_parts(storage, children, dictionary)
    return array.over(type_, array.buffers, children, dictionary)


def _wanted_of_children(storage: s.DataType, wanted: s.DataType) -> Sequence[s.DataType]:
    """Returns the type to which each child is cast; children of structs are matched by name."""
    own = [field.type for field in storage.fields]
    if isinstance(storage, s.RunEndEncoded):
        return own[0], wanted
    if isinstance(storage, s.Struct):
        named = {field.name: field.type for field in wanted.fields}
        return [named.get(field.name, field.type) for field in storage.fields]
    if isinstance(storage, s.Map) and isinstance(wanted, s.Map):
        # The names of the fields of keys and values are up to the writer.
        entries = zip(own[0].fields, wanted.entries_field.type.fields, strict=True)
        return [s.struct([(ours.name, theirs.type) for ours, theirs in entries])]
    if isinstance(storage, _LISTS) and isinstance(wanted, s.List):
        return [wanted.value_type]
    return own


def _type_of_parts(
    storage: s.DataType, children: Sequence[Array], dictionary: Array | None
) -> s.DataType:
    """Returns the type of an array with given children or a given dictionary."""
    fields = [
        replace(field, type=child.type)
        for field, child in zip(storage.fields, children, strict=True)
    ]
    changes: dict[str, object]
    if dictionary is not None:
        changes = {"value_type": dictionary.type}
    elif isinstance(storage, s.RunEndEncoded):
        changes = {"values_field": fields[1]}
    elif isinstance(storage, s.Struct):
        changes = {"struct_fields": tuple(fields)}
    elif isinstance(storage, s.Map):
        changes = {"entries_field": fields[0]}
    else:
        changes = {"value_field": fields[0]}
    return replace(storage, **changes)
