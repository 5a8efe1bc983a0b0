"""Parquet files, read by pyarrow. Their parts are row groups."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

import pyarrow.parquet as pq

from colkern import schema as s
from colkern.interchange import import_batch, import_schema
from colkern.memory import Device
from colkern.spark.source.contents import Contents, Part, Piece, Rows, naming
from colkern.spark.source.filters import key_of
from colkern.spark.source.statistics import Bounds, Known

BATCH_ROWS = 1 << 16

_WITH_BOUNDS = s.Int | s.Date | s.Timestamp | s.Utf8
"""The types whose statistics are used: those of floats leave NaN out, Spark's greatest number."""


class ParquetFiles:
    """See `Files`. Rows are put on the host."""

    def schema(self, path: str) -> s.Schema:
        """Returns the columns as pyarrow reads them."""
        with _opened(path) as file:
            return import_schema(file.schema_arrow)

    def contents(self, path: str) -> Contents:
        """Returns the columns and the row groups, from the file's footer."""
        with _opened(path) as file:
            metadata = file.metadata
            schema = import_schema(file.schema_arrow)
            groups = [metadata.row_group(n) for n in range(metadata.num_row_groups)]
            parts = [_part(n, group, schema) for n, group in enumerate(groups)]
            return Contents(path, schema, parts)

    def rows(
        self, piece: Piece, wanted: s.Schema, device_of: Callable[[s.Schema], Device]
    ) -> Iterator[Rows]:
        """Yields the row groups, in batches; only the wanted columns are decoded."""
        with _opened(piece.path) as file:
            schema = import_schema(file.schema_arrow)
            device_of(schema)
            names = [name for name in wanted.names if name in schema.names]
            for group in piece.parts or ():
                first = 0
                for batch in file.iter_batches(BATCH_ROWS, [group], names, use_threads=False):
                    yield Rows(piece.path, import_batch(batch), _place(first, group))
                    first += batch.num_rows


@contextlib.contextmanager
def _opened(path: str) -> Iterator[pq.ParquetFile]:
    """Yields a reader of a file; errors raised within name the file."""
    with naming(path), pq.ParquetFile(path) as file:
        yield file


def _place(first: int, group: int) -> Callable[[int], str]:
    return lambda row: f"row {first + row} of row group {group}"


def _part(position: int, group: pq.RowGroupMetaData, schema: s.Schema) -> Part:
    def known(name: str, type_: s.DataType) -> Known:
        nothing = Known(type_, group.num_rows, None, Bounds())
        columns = map(group.column, range(group.num_columns))
        column = next((each for each in columns if each.path_in_schema == name), None)
        statistics = column.statistics if column is not None else None
        if statistics is None:
            return nothing
        nulls = statistics.null_count if statistics.has_null_count else None
        bounds = Bounds()
        is_same = s.same_type(schema.field(name).type, type_)
        if statistics.has_min_max and is_same and isinstance(type_, _WITH_BOUNDS):
            bounds = Bounds(key_of(statistics.min, type_), key_of(statistics.max, type_))
        return Known(type_, group.num_rows, nulls, bounds)

    return Part(position, group.num_rows, group.total_byte_size, known)
