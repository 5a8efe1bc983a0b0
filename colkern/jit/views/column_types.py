"""The Numba types of columns, batches and streams as arguments of `@numba.njit` functions, and of rows.

A column is a small structure in registers: where its record stands (`colkern.jit.views.records`),
offset, length, null count, and the address of each buffer of its layout. Children are read from the
record when they are asked for, so a batch costs what is touched of it, however many columns it has.
Nothing is counted and nothing copied: the arguments outlive the call. CPU target only.

Numba finds the types through `_numba_type_` of the arrays, so nothing has to be registered anywhere.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from numba import types
from numba.core.errors import NumbaTypeError

from colkern import schema as s
from colkern.jit.values.borrowing import Borrowed
from colkern.jit.views.records import parts


class ColumnType(Borrowed, types.IterableType):
    """The Numba type of a column of one data type.

    Args:
        data_type: The type; an extension type is read as its storage.
    """

    WORD = "Column"

    def __init__(self, data_type: s.DataType) -> None:
        # Any: which attributes it has, the tables of layouts and elements know by its class.
        self.data_type: Any = data_type.storage
        super().__init__(name=f"{self.WORD}({self.data_type})")

    @property
    def key(self) -> object:
        """The data type: names tell types not apart, as fields may have any name."""
        return self.data_type

    @property
    def iterator_type(self) -> types.IteratorType:
        """The type of `iter(column)`."""
        return ColumnIteratorType(self)

    @property
    def column(self) -> ColumnType:
        """The type itself; `RowType.column` is the type of a row's column."""
        return self

    def part(self, k: int) -> ColumnType:
        """The type of child `k`, or of the dictionary."""
        part = parts(self.data_type)[k]
        return EntriesType(part) if isinstance(self.data_type, s.Map) else column_type(part)


class BatchType(ColumnType):
    """The Numba type of a record batch: a struct column without nulls."""

    WORD = "RecordBatch"


class EntriesType(ColumnType):
    """The Numba type of a map's entries: a struct column of keys and values."""

    WORD = "Entries"


class StreamType(Borrowed, types.IterableType):
    """The Numba type of a stream of record batches."""

    def __init__(self, batch: BatchType) -> None:
        self.batch = batch
        super().__init__(name=f"RecordBatchStream({batch.data_type})")

    @property
    def key(self) -> object:
        """The type of its batches."""
        return self.batch

    @property
    def iterator_type(self) -> types.IteratorType:
        """The type of `iter(stream)`."""
        return ColumnIteratorType(self)


class RowType(Borrowed, types.Type):
    """The Numba type of a row of a struct column or a batch, or of a slot of a union.

    Args:
        column: The type of the column.
    """

    def __init__(self, column: ColumnType) -> None:
        self.column = column
        super().__init__(name=f"Row({column.data_type})")

    @property
    def key(self) -> object:
        """The type of its column."""
        return self.column


def immutable(kind: types.Type) -> NumbaTypeError:
    """The error where compiled code writes to a column, a row or a stream."""
    return NumbaTypeError(
        f"{kind} cannot be written to: Arrow columns are immutable. Write to a NumPy array, or append to "
        f"a builder"
    )


class ColumnIteratorType(Borrowed, types.SimpleIteratorType):
    """The Numba type of an iterator over a column's elements, or over a stream's batches."""

    def __init__(self, source: ColumnType | StreamType) -> None:
        # Imported here, as it is written in terms of these types.
        from colkern.jit.views.elements import element_type

        self.source = source
        yields = source.batch if isinstance(source, StreamType) else element_type(source)
        super().__init__(f"iter({source.name})", yields)

    @property
    def key(self) -> object:
        """The type of its source."""
        return self.source


@lru_cache(maxsize=4096)
def column_type(data_type: s.DataType) -> ColumnType:
    """The Numba type of arrays of a data type."""
    return ColumnType(data_type)


@lru_cache(maxsize=1024)
def batch_type(schema: s.Schema) -> BatchType:
    """The Numba type of record batches under a schema."""
    return BatchType(s.struct(list(schema)))


def stream_type(schema: s.Schema) -> StreamType:
    """The Numba type of streams of record batches under a schema."""
    return StreamType(batch_type(schema))
