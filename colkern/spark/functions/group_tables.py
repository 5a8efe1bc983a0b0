"""Spark's tables, one for each group, as record batches, at a low cost a group."""

from __future__ import annotations

from functools import partial

import numpy as np
import pyarrow as pa

from colkern import schema as s
from colkern.arrays import Array, RecordBatch
from colkern.errors import LimitExceededError
from colkern.interchange import import_batch, import_schema
from colkern.layouts import layout
from colkern.memory import EMPTY, Buffer


class GroupTables:
    """The rows of one group after the other.

    The groups of a partition have one schema, which is read for the first of them. Columns without
    children are taken buffer by buffer: an import by the C Data interface takes longer than most
    functions of ten rows.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._theirs: pa.Schema | None = None
        self._ours = s.Schema([])
        self._is_flat = False

    def batch(self, table: pa.Table) -> RecordBatch:
        """A group's rows in one piece; copied if Spark sent several, unless these are too many bytes."""
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
            self._is_flat = all(map(_is_flat, self._ours.types))
        if not self._is_flat:
            return import_batch(piece)
        return RecordBatch.lazy(
            self._ours, piece.num_rows, partial(_flat_column, piece, self._ours)
        )


def _is_flat(type_: s.DataType) -> bool:
    """Whether arrays of a type are a validity bitmap and buffers, as many as the layout says."""
    rule = layout(type_)
    return rule.has_validity and not (type_.fields or rule.has_dictionary or rule.variadic)


def _flat_column(piece: pa.RecordBatch, schema: s.Schema, position: int) -> Array:
    column = piece.column(position)
    return Array(
        schema.field(position).type,
        len(column),
        [_buffer(each) for each in column.buffers()],
        offset=column.offset,
        null_count=column.null_count,
    )


def _buffer(theirs: pa.Buffer | None) -> Buffer | None:
    if theirs is None:
        return None
    return Buffer(np.frombuffer(theirs, np.uint8)) if theirs.size else EMPTY
