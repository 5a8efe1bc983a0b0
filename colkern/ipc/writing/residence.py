"""Where the bytes of a column live: in one memory, where they are trimmed.

`colkern.cuda` is imported when the first bytes are on a device.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from colkern.arrays import Array
from colkern.memory import HOST, Buffer, Device
from colkern.operations import trim


def is_on_device(buffer: Buffer) -> bool:
    """Whether a buffer has bytes, and has them in device memory."""
    return buffer.device != HOST and buffer.size > 0


def current(device: Device) -> AbstractContextManager[Any]:
    """Within it, what is allocated and launched is on that device; there may be none."""
    if device == HOST:
        return nullcontext()
    from colkern.cuda import memory

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
    device = array.device
    _require_on(device, array, what)
    with current(device):
        return trim(array)


def _require_on(device: Device, array: Array, what: str) -> None:
    for buffer in array.buffers:
        if buffer is not None and buffer.device != device and buffer.size:
            raise ValueError(
                f"{what}: its bytes live on {device} and on {buffer.device}; copy them to one place "
                f"with colkern.to_host or colkern.to_device"
            )
    for child in array.children:
        _require_on(device, child, what)
