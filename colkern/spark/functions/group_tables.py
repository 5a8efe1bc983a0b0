"""Spark's tables, one for each group, as record batches, at a low cost a group."""

from __future__ import annotations

import pyarrow as pa

from colkern import schema as s
from colkern.arrays import RecordBatch
from colkern.errors import LimitExceededError
from colkern.interchange import import_schema
from colkern.spark.functions.worker_columns import from_pyarrow


class GroupTables:
    """The rows of one group after the other.

    The groups of a partition have one schema, which is read for the first of them, and each column is made
    when it is asked for.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._theirs: pa.Schema | None = None
        self._ours = s.Schema([])

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
        return RecordBatch.lazy(
            self._ours, piece.num_rows, lambda place: from_pyarrow(piece.column(place))
        )
