"""Where the bytes of a column live: in one memory, where they are trimmed.

`colkern.cuda` is imported when the first bytes are on a device.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from colkern.arrays import Array
from colkern.memory import HOST, Buffer, Device
from colkern.operations import trim

_HOST_ONLY = {HOST}


def is_on_device(buffer: Buffer) -> bool:
    """Whether a buffer has bytes, and has them in device memory."""
    return buffer.device != HOST and buffer.size > 0


def on_host(buffers: Sequence[Buffer]) -> Iterator[Buffer]:
    """Buffers in host memory, in order; those of devices are copied when they are asked for."""
    if not any(map(is_on_device, buffers)):
        yield from buffers
        return
    from colkern.ipc.writing.fetching import fetched_buffers

    for _, buffer in fetched_buffers(buffers):
        yield buffer


def devices_of(array: Array) -> set[Device]:
    """Where an array has bytes, but for those of dictionaries."""
    found: set[Device] = set()
    _find_devices(array, found)
    return found


def _find_devices(array: Array, found: set[Device]) -> None:
    for buffer in array.buffers:
        if buffer is not None and buffer.size:
            found.add(buffer.device)
    for child in array.children:
        _find_devices(child, found)


def current(devices: set[Device]) -> AbstractContextManager[Any]:
    """Within it, what is allocated and launched is on the one device; of host memory there is none."""
    if not devices or devices == _HOST_ONLY:
        return nullcontext()
    from colkern.cuda import memory

    (device,) = devices
    return memory.current(device)


def trimmed(array: Array, what: str) -> Array:
    """The array as it leaves the process, trimmed where it lives: see `colkern.operations.trim`.

    Args:
        array: The array, in host or in device memory.
        what: What it is called where it is refused.

    Raises:
        InvalidArrowError: If it points outside its own memory.
        LimitExceededError: If its device is out of memory.
        ValueError: If its bytes, but for a dictionary's, live in several memories.
    """
    devices = devices_of(array)
    if len(devices) > 1:
        places = " and ".join(sorted(map(str, devices)))
        raise ValueError(
            f"{what}: its bytes live on {places}; copy them to one place with colkern.to_host or "
            f"colkern.to_device"
        )
    with current(devices):
        return trim(array)
