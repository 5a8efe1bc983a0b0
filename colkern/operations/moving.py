"""Copies of arrays from host to device, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from colkern.arrays import Array, ChunkedArray, RecordBatch, Table
from colkern.arrays.chunked import chunks_of
from colkern.builders import array as array_of
from colkern.cuda import memory
from colkern.cuda.memory import placed
from colkern.cuda.staging import Piece, Upload, download
from colkern.memory import EMPTY, HOST, Buffer, Device, allocate_for_overwrite, device_named
from colkern.operations.devices import device_of_rows
from colkern.operations.encodings import decoded

Value = TypeVar("Value", Array, ChunkedArray, RecordBatch, Table)


def to_device(value: Value, device: str | Device = "cuda") -> Value:
    """The same column, batch or table with all its bytes in the memory of one CUDA device; copied.

    All buffers are copied into one block of device memory, through page-locked memory. The current
    stream goes on meanwhile, and waits for them before later work. For a slice, whole buffers are
    copied: `trim` it first. Buffers that are already on the device are not copied; those on another
    device go through host memory.

    Args:
        value: An array, chunked array, record batch or table.
        device: "cuda", "cuda:1", or a `Device`; "cpu" to do as `to_host`.

    Raises:
        DeviceUnavailableError: If there is no such device.
        LimitExceededError: If it is out of memory.
        ValueError: If `device` names no device.
    """
    target = device_named(device)
    if target == HOST:
        return to_host(value)
    if target.kind != "cuda":
        raise ValueError(f"device: expected 'cpu' or a CUDA device, got {target}")
    memory.require_device(target)
    buffers = [buffer for buffer in buffers_of(value) if buffer.device != target]
    fetched = _on_host(buffers)
    sent = uploaded([fetched.get(id(buffer), buffer) for buffer in buffers], target)
    return over_copies(value, dict(zip(map(id, buffers), sent, strict=True)))


def to_host(value: Value) -> Value:
    """The same column, batch or table with its bytes in host memory; only device memory is copied.

    Waits for the work on the current stream.
    """
    copies = _on_host(buffers_of(value))
    return over_copies(value, copies) if copies else value


def there(values: Any, data: Any) -> Array:
    """Values of the host as an array on the device of a column, or of a table's first column."""
    array, device = array_of(values), device_of_rows(data)
    return array if device == HOST else to_device(array, device)


def uploaded(buffers: Sequence[Buffer], device: Device) -> list[Buffer]:
    """The bytes of host buffers on a device, in one block, for use on the current stream."""
    placement = placed([buffer.size for buffer in buffers])
    upload = Upload(device, placement.size)
    arrays = [buffer.array for buffer in buffers]
    upload.send_pieces(list(map(Piece.of, placement.starts, arrays)))
    upload.end()
    upload.hold_current()
    return [
        Buffer(upload.block[at : at + buffer.size], device)
        for at, buffer in zip(placement.starts, buffers, strict=True)
    ]


def _on_host(buffers: list[Buffer]) -> dict[int, Buffer]:
    """Copies of the buffers that are on devices, by the `id` of each original."""
    copies: dict[int, Buffer] = {}
    for device in {buffer.device for buffer in buffers} - {HOST}:
        own = [buffer for buffer in buffers if buffer.device == device]
        outputs = [allocate_for_overwrite(buffer.size, np.uint8) for buffer in own]
        download([buffer.array for buffer in own], outputs, device)
        for buffer, array in zip(own, outputs, strict=True):
            copies[id(buffer)] = Buffer(array) if array.size else EMPTY
    return copies


def buffers_of(value: Array | ChunkedArray | RecordBatch | Table) -> list[Buffer]:
    """All buffers of a value, each once."""
    buffers: dict[int, Buffer] = {}
    for array in _arrays_of(value):
        _add_buffers(array, buffers)
    return list(buffers.values())


def _arrays_of(value: Array | ChunkedArray | RecordBatch | Table) -> list[Array]:
    if isinstance(value, Table):
        return [column for batch in value.batches for column in batch.columns]
    if isinstance(value, RecordBatch):
        return value.columns
    return list(chunks_of(value))


def _add_buffers(array: Array, buffers: dict[int, Buffer]) -> None:
    buffers.update((id(buffer), buffer) for buffer in array.buffers if buffer is not None)
    for child in array.children:
        _add_buffers(child, buffers)
    if array.dictionary is not None:
        _add_buffers(array.dictionary, buffers)


def over_copies(value: Value, copies: dict[int, Buffer]) -> Value:
    """A value made over copies of its buffers, which are given by the `id` of each original."""
    moved: dict[int, Array] = {}

    def batch_over(batch: RecordBatch) -> RecordBatch:
        columns = [_moved(column, copies, moved) for column in batch.columns]
        return RecordBatch(batch.schema, columns, batch.length, batch.metadata)

    if isinstance(value, Table):
        return Table(map(batch_over, value.batches), value.schema)
    if isinstance(value, RecordBatch):
        return batch_over(value)
    if isinstance(value, ChunkedArray):
        return ChunkedArray([_moved(c, copies, moved) for c in value.chunks], value.type)
    return _moved(value, copies, moved)


def _moved(array: Array, copies: dict[int, Buffer], moved: dict[int, Array]) -> Array:
    """An array over copies of its buffers; columns that share a dictionary still share it."""
    if id(array) not in moved:
        dictionary = array.dictionary
        moved[id(array)] = array.over(
            array.type,
            [None if b is None else copies.get(id(b), b) for b in array.buffers],
            [_moved(child, copies, moved) for child in array.children],
            None if dictionary is None else _moved(dictionary, copies, moved),
        )
    return moved[id(array)]


def few_on_host(array: Array) -> Array:
    """A few slots in host memory, decoded if they are on a device: nothing else of its column is copied."""
    if array.device == HOST:
        return array
    # Imported late: only columns on devices are trimmed.
    from colkern.operations.selection.trimming import trim

    return to_host(trim(decoded(array)))
