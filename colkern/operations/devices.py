"""The device of several arrays. Arrays without bytes are on no device, and do not decide.

Columnar format 1.5: "Physical Memory Layout".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from colkern.arrays import Array, ChunkedArray, Table, Tabular
from colkern.memory import HOST, Device


def device_of(arrays: Iterable[Array], default: Device = HOST) -> Device:
    """The device of the first array that has buffers; `default` if none has."""
    for array in arrays:
        device = array._device_of_bytes()
        if device is not None:
            return device
    return default


def device_of_rows(data: Array | ChunkedArray | Tabular) -> Device:
    """The device of a column; for a table, that of the first column of its first batch with rows."""
    if isinstance(data, Table):
        filled = [batch for batch in data.batches if batch.length]
        return device_of_rows(filled[0]) if filled else HOST
    if isinstance(data, Tabular):
        return device_of_rows(data.column(0)) if len(data.schema) else HOST
    return data.device


def one_device(arrays: Sequence[Array], *names: str) -> Device:
    """The device of the bytes of several arrays; the host if there are none.

    Arrays without values may be on any device, since nothing of them is read.

    Args:
        names: The names for messages, if not `arrays`.

    Raises:
        ValueError: If they are on several devices.
    """
    for array in arrays:
        last = array.buffers[-1] if array.buffers else None
        if (array if last is None else last).device is not HOST:
            break
    else:
        # The usual case, without a call for each array.
        return HOST
    places = [array._device_of_bytes() if array.length else None for array in arrays]
    known = [position for position, device in enumerate(places) if device is not None]
    for position in known[1:]:
        if places[position] != places[known[0]]:
            wrong, first = [names[k] if names else f"arrays[{k}]" for k in (position, known[0])]
            raise ValueError(
                f"{wrong}: on {places[position]}, {first} is on {places[known[0]]}; "
                f"colkern.to_device copies all to one"
            )
    return device_of([arrays[k] for k in known] or arrays)
