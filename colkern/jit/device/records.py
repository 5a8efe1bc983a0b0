"""The numbers of a column that generated code asks for by name, as a launch passes them.

`offset`, `length` and `null_count` of an array, the address of each buffer by its role (0 for an absent
one), and `table`: where the addresses of any number of data buffers stand.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from colkern.arrays import Array, RecordBatch
from colkern.cuda import memory
from colkern.forks import Lock
from colkern.layouts import Role
from colkern.memory import Buffer
from colkern.operations.operands import buffer_addresses
from colkern.targets import target_of

_WORD = 8

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
    """Numbers of one array that have been asked for, and what keeps the memory behind them alive.

    Launches on other streams find them, so that what is copied for one is waited for, once.
    """

    def __init__(self) -> None:
        self._known: dict[str, Any] = {}
        self._owners: list[Any] = []

    def number(self, array: Array, name: str) -> Any:
        """A number by its name: uint64 for addresses and offsets, int64 for counts."""
        if name not in self._known:
            self._known[name] = self._number(array, name)
        return self._known[name]

    def _number(self, array: Array, name: str) -> Any:
        if name in ("length", "null_count"):
            return np.int64(getattr(array, name))
        if name == "offset":
            return np.uint64(array.offset)
        if name == "table":
            return self._table(array)
        return self._address(array, Role(name))

    def _address(self, array: Array, role: Role) -> np.uint64:
        buffer = array.buffer(role)
        if buffer is None or (role is Role.VALIDITY and array.known_null_count == 0):
            return np.uint64(0)
        size = max(array.layout.spec(role).swap_bytes, default=1)
        # The device has no unaligned loads.
        if buffer.address % min(size, _WORD):
            with memory.current(buffer.device):
                buffer = Buffer(buffer.array.copy(), buffer.device)
            memory.finish(buffer.device)
            self._owners.append(buffer)
        return np.uint64(buffer.address)

    def _table(self, array: Array) -> np.uint64:
        target = target_of(array.device)
        table = target.table(buffer_addresses(array) or [0], np.uint64)
        memory.finish(array.device)
        self._owners.append(table)
        return np.uint64(target.address(table))


def number_of(column: Array | RecordBatch, steps: tuple[int, ...], name: str) -> Any:
    """A number of an array within a column or a batch in device memory; kept with the array.

    No bytes are copied, unless a buffer is misaligned for its items.
    """
    array = array_at(column, steps)
    if isinstance(array, RecordBatch):
        return np.int64(array.num_rows)
    with _MAKING:
        record: Record | None = getattr(array, "_device_record", None)
        if record is None:
            record = array._device_record = Record()
        return record.number(array, name)
