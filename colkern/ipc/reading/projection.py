"""The columns of a source that a reader hands out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from colkern.arrays import RecordBatch
from colkern.ipc.fields import WireField, WireSchema
from colkern.ipc.reading.plans import ColumnsPlan
from colkern.schema import Schema


class Projection:
    """Some columns of a schema, in an order of their own, or all."""

    def __init__(self, schema: Schema, columns: Sequence[int | str] | None) -> None:
        if isinstance(columns, str):
            raise TypeError(f"columns: expected a list of names or positions, got {columns!r}")
        self._all = columns is None
        self._dictionary_ids: dict[ColumnsPlan, set[int]] = {}
        self.positions: Sequence[int] = range(len(schema))
        self.schema = schema
        if columns is not None:
            self.positions = [schema.index(key) for key in columns]
            fields = tuple(schema.fields[position] for position in self.positions)
            self.schema = Schema(fields, schema.metadata)

    def of(self, batch: RecordBatch) -> RecordBatch:
        """The chosen columns of a batch; none is decoded."""
        return batch if self._all else batch.select(self.positions)

    def fields_of(self, wire: WireSchema) -> Sequence[WireField]:
        """The fields of the chosen columns."""
        return wire.fields if self._all else [wire.fields[k] for k in self.positions]

    def counts_of(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """The counts of the chosen columns, of counts of all columns."""
        return counts if self._all else counts[list(self.positions)]

    def dictionary_ids(self, plan: ColumnsPlan) -> set[int]:
        """The ids of the dictionaries that the chosen columns need."""
        ids = self._dictionary_ids.get(plan)
        if ids is None:
            chosen = (plan.columns[position] for position in self.positions)
            ids = {id_ for column in chosen for id_ in column.dictionary_ids()}
            self._dictionary_ids[plan] = ids
        return ids
