"""Row functions over tables: their parameters are columns, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from colkern.arrays import Array, ChunkedArray, RecordBatch, Table
from colkern.arrays.chunked import chunks_of, cut_alike
from colkern.arrays.pandas_metadata import renamed_columns
from colkern.jit.column_function import ColumnFunction
from colkern.jit.scalar import udf
from colkern.operations import repeat
from colkern.operations.chunks import as_columns, as_structs, combined
from colkern.operations.moving import there
from colkern.schema import Field, Schema

Rows = RecordBatch | Table


def column_for(table: Rows, value: object) -> Any:
    """The results of a row function for the rows of a table; else the value, or the column it gives."""
    if callable(value) and not isinstance(value, ColumnFunction):
        value = udf(value)
    if not isinstance(value, ColumnFunction):
        return as_columns(value)
    names = [parameter.name for parameter in value.signature.parameters]
    function: Callable[..., Any] = value  # type: ignore[assignment]
    if len(names) == 1 and names[0] not in table.column_names:
        return function(as_structs(table))
    return function(*map(table.column, names))


def with_column(table: Rows, name: str, value: object) -> Any:
    """A table with a column more, or another one in the place of that of its name.

    Args:
        table: The table, or a batch.
        value: A column; values in a list; or one value for all rows.
    """
    if isinstance(value, Array | ChunkedArray):
        column = value
    elif isinstance(value, list | tuple | range):
        column = there(value, table)
    else:
        column = repeat(there([value], table), table.length)
    if column.length != table.length:
        raise ValueError(f"column: {column.length} values for {table.length} rows")
    fields = list(table.schema.fields)
    position = table.schema.names.index(name) if name in table.column_names else len(fields)
    metadata = table.schema.metadata
    if [field.type for field in fields[position : position + 1]] != [column.type]:
        metadata = renamed_columns(metadata, {name: None})
    fields[position : position + 1] = [Field(name, column.type)]
    schema = Schema(tuple(fields), metadata)
    if isinstance(table, RecordBatch):
        array = combined(column) if isinstance(column, ChunkedArray) else column
        return _with(table, schema, position, array)
    pairs = zip(*cut_alike([table.batches, chunks_of(column)]), strict=True)
    return Table([_with(batch, schema, position, array) for batch, array in pairs], schema)


def _with(batch: RecordBatch, schema: Schema, position: int, array: Array) -> RecordBatch:
    """A batch with that array as the column at a position; the others are as lazy as they were."""
    return RecordBatch.lazy(
        schema, batch.length, lambda i: array if i == position else batch.column(i), batch.metadata
    )
