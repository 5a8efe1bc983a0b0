"""Where the bytes of a column live: in one memory, where they are trimmed.

`colkern.cuda` is imported when the first bytes are on a device.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from colkern.arrays import Array
from colkern.memory import HOST, Device
from colkern.operations import trim

_HOST_ONLY = {HOST}


def devices_of(array: Array) -> set[Device]:
    """The memories that hold bytes of an array, those of dictionaries left out."""
    devices: set[Device] = set()
    _add_devices(array, devices)
    return devices


def _add_devices(array: Array, devices: set[Device]) -> None:
    for buffer in array.buffers:
        if buffer is not None and buffer.size:
            devices.add(buffer.device)
    for child in array.children:
        _add_devices(child, devices)


def current(devices: set[Device]) -> AbstractContextManager[object]:
    """Make the one device current; host memory needs nothing."""
    if not devices or devices == _HOST_ONLY:
        return nullcontext()
    from colkern.cuda import memory

    (device,) = devices
    return memory.current(device)


def trimmed(array: Array, what: str) -> Array:
    """The array as it leaves the process, trimmed where it lives: see `colkern.operations.trim`."""
    devices = devices_of(array)
    if len(devices) > 1:
        places = " and ".join(sorted(map(str, devices)))
        raise ValueError(
            f"{what}: its bytes live on {places}; copy them to one place with colkern.to_host or "
            f"colkern.to_device"
        )
    with current(devices):
        return trim(array)
