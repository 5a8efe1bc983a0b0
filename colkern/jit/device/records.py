"""The numbers of a column that generated code asks for by name, as a launch passes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from colkern.arrays import Array, RecordBatch
from colkern.forks import Lock
from colkern.jit.views import records

_MAKING = Lock()
"""A launch of one thread must not lose its numbers to that of another."""


def array_at(column: Array | RecordBatch, steps: tuple[int, ...]) -> Array | RecordBatch:
    """The array that some steps lead to: children, columns, 0 for a dictionary."""
    for step in steps:
        if isinstance(column, RecordBatch):
            column = column.column(step)
        elif column.dictionary is not None:
            column = column.dictionary
        else:
            column = column.children[step]
    return column


class Record:
    """Numbers of one array that have been asked for, and what keeps the memory behind them alive."""

    def __init__(self) -> None:
        self._known: dict[str, Any] = {}
        self._owners: list[object] = []

    def number(self, array: Array, name: str) -> Any:
        """A number by its name: uint64 for addresses and offsets, int64 for counts."""
        if name not in self._known:
            as_number = np.int64 if name in ("length", "null_count") else np.uint64
            self._known[name] = as_number(records.number_of(array, name, self._owners))
        return self._known[name]


def number_of(column: Array | RecordBatch, steps: tuple[int, ...], name: str) -> Any:
    """A number of an array within a column or a batch in device memory; kept with the array."""
    array = array_at(column, steps)
    if isinstance(array, RecordBatch):
        return np.int64(array.num_rows)
    with _MAKING:
        record: Record | None = getattr(array, "_device_record", None)
        if record is None:
            record = array._device_record = Record()
        return record.number(array, name)
