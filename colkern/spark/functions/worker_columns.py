"""Converts columns between pyarrow and colkern by their buffers, for each batch of a worker.

The C Data interface carries all columns, but takes some 30 µs each way, most of it Python: for a small
batch that is most of its time. Columns without children do not need it, since pyarrow gives their buffers
as objects that know their sizes.
"""

from __future__ import annotations

from functools import lru_cache

import pyarrow as pa

from colkern import schema as s
from colkern.arrays import Array, RecordBatch
from colkern.errors import LimitExceededError
from colkern.interchange import import_array, import_schema, import_type
from colkern.layouts import Layout, layout
from colkern.memory import Buffer

_TYPES = 256


def from_pyarrow(column: pa.Array) -> Array:
    """Returns a pyarrow column as an array that keeps its buffers; raises as `import_array`."""
    type_ = _own_type(column.type)
    if type_ is None:
        return import_array(column)
    buffers = [
        None if buffer is None else Buffer.from_address(buffer.address, buffer.size, buffer)
        for buffer in column.buffers()
    ]
    nulls = column.null_count
    return Array(type_, len(column), buffers, offset=column.offset, null_count=nulls)


def to_pyarrow(column: Array) -> pa.Array:
    """Returns a pyarrow array that keeps the column's buffers."""
    type_ = _pyarrow_type(column.type)
    # pyarrow reads the first offset of an empty array, whether it exists or not.
    if type_ is None or not column.length:
        return pa.array(column)
    buffers = [
        None if buffer is None else pa.foreign_buffer(buffer.address, buffer.size, buffer)
        for buffer in column.buffers
    ]
    nulls = column.known_null_count
    if not nulls:
        buffers[0] = None
    return pa.Array.from_buffers(type_, column.length, buffers, nulls, column.offset)


def _is_plain(type_: s.DataType, rule: Layout) -> bool:
    """Whether columns of a type consist of buffers only, the first of which is the validity bitmap."""
    is_whole = not (type_.fields or rule.has_dictionary or rule.variadic)
    return is_whole and rule.has_validity and type_ is type_.storage


@lru_cache(_TYPES)
def _own_type(type_: pa.DataType) -> s.DataType | None:
    own = import_type(type_)
    return own if _is_plain(own, layout(own)) else None


@lru_cache(_TYPES)
def _pyarrow_type(type_: s.DataType) -> pa.DataType | None:
    return pa.field(s.field("", type_)).type if _is_plain(type_, layout(type_)) else None


class GroupTables:
    """Makes batches of the rows of one group after the other.

    The groups of a partition have one schema, which is read for the first of them; each column is made when
    it is first used.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._theirs: pa.Schema | None = None
        self._ours = s.Schema([])

    def batch(self, table: pa.Table) -> RecordBatch:
        """Returns a group's rows in one piece; copied if Spark sent several, unless they have too many
        bytes."""
        pieces = table.to_batches()
        if len(pieces) > 1:
            pieces = table.combine_chunks().to_batches()
        if len(pieces) > 1:
            raise LimitExceededError(
                f"{self._name}: the group has too many bytes for one record batch; take it in parts, "
                f"with iterator=True, or set spark.sql.execution.arrow.useLargeVarTypes"
            )
        piece = pieces[0] if pieces else pa.RecordBatch.from_pylist([], schema=table.schema)
        if self._theirs is None or not piece.schema.equals(self._theirs, check_metadata=True):
            self._theirs = piece.schema
            self._ours = import_schema(piece.schema)
        return RecordBatch.lazy(
            self._ours, piece.num_rows, lambda place: from_pyarrow(piece.column(place))
        )
