"""Records of columns for compiled code: one row of numbers, found by walking the table of layouts.

A record is a row of 64-bit words: offset, length and null count of the array, the address of each
buffer of its layout, the address of a table of data buffers if there can be any number of them; then
the records of its children and of its dictionary. Its size follows from the data type alone, so that
compiled code finds every part at a place that it knows.

Nothing here imports a compiler.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from colkern import schema as s
from colkern.arrays import Array, RecordBatch, RecordBatchStream
from colkern.cuda import memory
from colkern.errors import UnsupportedError
from colkern.forks import Lock
from colkern.layouts import Role, layout
from colkern.memory import HOST
from colkern.operations import require_valid
from colkern.operations.operands import buffer_addresses
from colkern.rows.columns import all_ascii
from colkern.targets import target_of

HEADER = ("offset", "length", "null_count")
"""The first words of a record."""

COUNTS = ("length", "null_count")
"""The signed words; addresses and slots are unsigned."""

TABLE = "table"
"""The member for the addresses of data buffers, of layouts with any number of them."""

ASCII = "ascii"
"""The member that says whether all texts are known to be ASCII; 0 for byte strings."""

_OF_OFFSETS = (s.Utf8, s.LargeUtf8)
_OF_BYTES = (*_OF_OFFSETS, s.Utf8View, s.Binary, s.LargeBinary, s.BinaryView)

_WORD = 8

_KEEPING = Lock()
"""Compiled code of one thread must not lose its record to that of another.

A record is made before this is taken: positions are checked and nulls counted by threads of the pool,
which may all be waiting for it.
"""


def members(data_type: s.DataType) -> list[str]:
    """The names of a record's own words, in their order: those of `HEADER`, and of the buffers."""
    rule = layout(data_type)
    names = [*HEADER, *(spec.role.value for spec in rule.buffers)]
    names += [TABLE] if rule.variadic else []
    return [*names, ASCII] if isinstance(data_type.storage, _OF_BYTES) else names


def parts(data_type: s.DataType) -> list[s.DataType]:
    """The types of the records within a record: of the children, or of the dictionary."""
    storage = data_type.storage
    if isinstance(storage, s.Dictionary):
        return [storage.value_type]
    return [field.type for field in storage.fields]


@lru_cache(maxsize=4096)
def record_size(data_type: s.DataType) -> int:
    """The number of words of a record."""
    return len(members(data_type)) + sum(record_size(part) for part in parts(data_type))


def part_position(data_type: s.DataType, k: int) -> int:
    """The word at which the record of child `k`, or of the dictionary, begins."""
    before = parts(data_type)[:k]
    return len(members(data_type)) + sum(record_size(part) for part in before)


def number_of(array: Array, name: str, owners: list[object]) -> int:
    """A number of an array, in the memory of the host or of a device.

    No bytes are copied, unless a buffer is misaligned for its items: compiled loads are aligned ones. What
    is copied is there for all streams of a device.

    Args:
        owners: Gets what keeps the memory behind an address alive.
    """
    if name in HEADER:
        return int(getattr(array, name))
    if name == ASCII:
        return all_ascii(array) if isinstance(array.type.storage, _OF_OFFSETS) else 0
    target = target_of(array.device)
    if name == TABLE:
        table = target.table(buffer_addresses(array) or [0], np.uint64)
        memory.finish(array.device)
        owners += [table, *(part.array for part in array.data_buffers if part is not None)]
        return target.address(table)
    role = Role(name)
    buffer = array.buffer(role)
    if buffer is None or (role is Role.VALIDITY and array.known_null_count == 0):
        return 0
    size = max(array.layout.spec(role).swap_bytes, default=1)
    if buffer.address % min(size, _WORD):
        copied = target.output(buffer.size, np.uint8)
        target.copy(buffer.array, copied)
        memory.finish(array.device)
        buffer = target.buffer(copied)
    owners.append(buffer.array)
    return buffer.address


class Record:
    """The words of a column or a batch, and what keeps the memory behind their addresses alive.

    Attributes:
        words: int64[record_size]
        address: Their address.
    """

    def __init__(self, column: Array | RecordBatch) -> None:
        self._owners: list[object] = []
        walked = self._of_array(column) if isinstance(column, Array) else self._of_batch(column)
        self.words: NDArray[np.int64] = np.array(list(walked), np.uint64).view(np.int64)
        self.address: int = self.words.ctypes.data

    def _of_array(self, array: Array) -> Iterator[int]:
        for name in members(array.type):
            yield number_of(array, name, self._owners)
        for part in array.children if array.dictionary is None else (array.dictionary,):
            yield from self._of_array(part)

    def _of_batch(self, batch: RecordBatch) -> Iterator[int]:
        """A batch is a struct column without nulls."""
        yield from (0, batch.num_rows, 0)
        yield 0
        for column in batch.columns:
            yield from self._of_array(column)


class StreamRecord:
    """The records of a stream's batches.

    Attributes:
        words: int64[2]: the number of batches, and the address of the table of their records' addresses.
        address: Their address.
    """

    def __init__(self, batches: list[RecordBatch]) -> None:
        self._owners = [record_of(batch) for batch in batches]
        self._table = np.array([record.address for record in self._owners], np.int64)
        self.words: NDArray[np.int64] = np.array([len(batches), self._table.ctypes.data], np.int64)
        self.address: int = self.words.ctypes.data


def record_of(column: Array | RecordBatch) -> Record:
    """The record of a column or a batch in host memory, made once and kept with it.

    No bytes are copied, unless a buffer is misaligned for its items.

    Raises:
        InvalidArrowError: If a position in it points outside its memory.
        UnsupportedError: If it lives on a device.
    """
    kept: Record | None = getattr(column, "_record", None)
    if kept is not None:
        return kept
    named = (
        [("", column)]
        if isinstance(column, Array)
        else zip(column.schema.names, column.columns, strict=True)
    )
    for name, array in named:
        if array.device != HOST:
            raise UnsupportedError(
                f"{name or 'array'}: compiled code on the CPU reads host memory, and this is on "
                f"{array.device}: copy it with to_host, or use ck.cuda_jit"
            )
        require_valid(array, name)
    record = Record(column)
    with _KEEPING:
        # Another thread may have kept one meanwhile, which its code is reading.
        first: Record | None = getattr(column, "_record", None)
        if first is None:
            column._record = record
        return first or record


def record_address(column: Array | RecordBatch | RecordBatchStream) -> int:
    """The address of the record of a column, batch or stream, valid as long as that is alive.

    The remaining batches of a stream are read.

    Raises:
        ValueError: If it is a stream that was passed before.
    """
    if isinstance(column, RecordBatchStream):
        return stream_record_of(column).address
    return record_of(column).address


def stream_record_of(stream: RecordBatchStream) -> StreamRecord:
    """The records of all batches that a stream still has; the stream keeps them.

    Raises:
        ValueError: If compiled code has been handed the stream before: it would find no batches.
    """
    if stream._record is not None:
        raise ValueError(
            "a stream of batches is passed to compiled code once, as one argument: its batches are "
            "read then. Keep them with read_all, and pass them or a new stream"
        )
    record = StreamRecord(stream.read_all())
    stream._record = record
    return record
