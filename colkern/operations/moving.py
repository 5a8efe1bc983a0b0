"""Arrays from host to device, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from colkern.arrays import Array, RecordBatch
from colkern.cuda import memory
from colkern.cuda.placement import placed
from colkern.cuda.staging import Piece, Upload, downloaded
from colkern.memory import EMPTY, HOST, Buffer, Device, allocate_for_overwrite, device_named

Value = TypeVar("Value", Array, RecordBatch)


def to_device(value: Value, device: str | Device = "cuda") -> Value:
    """The same array, or record batch, with its bytes in the memory of a CUDA device; copied.

    All buffers go into one block of device memory, through page-locked memory, while the current stream
    does what it has to; it waits for them before what it gets next. Of a slice, whole buffers are
    copied: `trim` it first. What is on that device already is not copied.

    Args:
        value: The array or the record batch, in host memory or on that device.
        device: "cuda", "cuda:1", or a `Device`; "cpu" for what `to_host` does.

    Raises:
        DeviceUnavailableError: If there is no such device.
        LimitExceededError: If it is out of memory.
        ValueError: If `device` is none, or bytes are on another device.
    """
    target = device_named(device)
    if target == HOST:
        return to_host(value)
    if target.kind != "cuda":
        raise ValueError(f"device: expected 'cpu' or a CUDA device, got {target}")
    memory.require_device(target)
    buffers = [buffer for buffer in _buffers(value) if buffer.device != target]
    for buffer in buffers:
        if buffer.device != HOST:
            raise ValueError(f"value: its bytes are on {buffer.device}; copy them to_host first")
    found = map(id, buffers)
    return _over(value, dict(zip(found, uploaded(buffers, target), strict=True)))


def to_host(value: Value) -> Value:
    """The same array, or record batch, with its bytes in host memory; copied, unless they are there.

    Waits for what the current stream has to do for them.
    """
    found: dict[int, Buffer] = {}
    for device in {buffer.device for buffer in _buffers(value)} - {HOST}:
        buffers = [buffer for buffer in _buffers(value) if buffer.device == device]
        found |= _downloaded(buffers, device)
    return _over(value, found) if found else value


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


def _downloaded(buffers: list[Buffer], device: Device) -> dict[int, Buffer]:
    """The bytes of a device's buffers in host memory, by the buffers' identities."""
    made = [allocate_for_overwrite(buffer.size, np.uint8) for buffer in buffers]
    filled = [0] * len(buffers)
    for number, bytes_ in downloaded([buffer.array for buffer in buffers], device):
        begin = filled[number]
        filled[number] += bytes_.size
        made[number][begin : filled[number]] = bytes_
    return {
        id(buffer): Buffer(array) if array.size else EMPTY
        for buffer, array in zip(buffers, made, strict=True)
    }


def _buffers(value: Array | RecordBatch) -> list[Buffer]:
    """All buffers of an array or a batch, each once."""
    found: dict[int, Buffer] = {}
    for column in value.columns if isinstance(value, RecordBatch) else [value]:
        _find_buffers(column, found)
    return list(found.values())


def _find_buffers(array: Array, found: dict[int, Buffer]) -> None:
    for buffer in array.buffers:
        if buffer is not None:
            found[id(buffer)] = buffer
    for child in array.children:
        _find_buffers(child, found)
    if array.dictionary is not None:
        _find_buffers(array.dictionary, found)


def _over(value: Value, found: dict[int, Buffer]) -> Value:
    """A value over other buffers, by the identities of its own."""
    made: dict[int, Array] = {}
    if isinstance(value, RecordBatch):
        columns = [_rebuilt(column, found, made) for column in value.columns]
        return RecordBatch(value.schema, columns, value.length, value.metadata)
    return _rebuilt(value, found, made)


def _rebuilt(array: Array, found: dict[int, Buffer], made: dict[int, Array]) -> Array:
    """An array over other buffers, with what is known of it; columns go on sharing a dictionary."""
    if id(array) in made:
        return made[id(array)]
    dictionary = array.dictionary
    moved = Array(
        array.type,
        array.length,
        [None if b is None else found.get(id(b), b) for b in array.buffers],
        [_rebuilt(child, found, made) for child in array.children],
        None if dictionary is None else _rebuilt(dictionary, found, made),
        array.offset,
        array.known_null_count,
    )
    moved._checked = array._checked
    made[id(array)] = moved
    return moved
