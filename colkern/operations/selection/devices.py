"""Where the bytes of several arrays are: arrays without bytes are nowhere, and do not decide.

Columnar format 1.5: "Physical Memory Layout".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from colkern.arrays import Array
from colkern.memory import HOST, Device


def device_of(arrays: Iterable[Array], default: Device = HOST) -> Device:
    """The device of the first of the arrays that has buffers; `default` if none has."""
    for array in arrays:
        device = array._device_of_bytes()
        if device is not None:
            return device
    return default


def require_one_device(arrays: Sequence[Array]) -> None:
    """Make sure that the bytes of the argument `arrays` are on one device; else raise `ValueError`.

    Arrays without values are let through: nothing is read of them.
    """
    first: tuple[int, Device] | None = None
    for position, array in enumerate(arrays):
        device = array._device_of_bytes() if array.length else None
        if device is None:
            continue
        if first is None:
            first = position, device
        elif device != first[1]:
            raise ValueError(
                f"arrays: number {position} is on {device}, number {first[0]} is on {first[1]}"
            )
