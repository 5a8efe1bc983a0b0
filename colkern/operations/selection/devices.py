"""Where the bytes of several arrays are: arrays without bytes are nowhere, and do not decide.

Columnar format 1.5: "Physical Memory Layout".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from colkern.arrays import Array, ChunkedArray, Table, Tabular
from colkern.memory import HOST, Device


def device_of(arrays: Iterable[Array], default: Device = HOST) -> Device:
    """The device of the first of the arrays that has buffers; `default` if none has."""
    for array in arrays:
        device = array._device_of_bytes()
        if device is not None:
            return device
    return default


def device_of_rows(data: Array | ChunkedArray | Tabular) -> Device:
    """The device of a column; of a table, that of its first column in its first batch with rows."""
    if isinstance(data, Table):
        filled = [batch for batch in data.batches if batch.length]
        return device_of_rows(filled[0]) if filled else HOST
    if isinstance(data, Tabular):
        return device_of_rows(data.column(0)) if len(data.schema) else HOST
    return data.device


def require_one_device(arrays: Sequence[Array]) -> None:
    """Make sure that the bytes of the argument `arrays` are on one device; else raise `ValueError`.

    Arrays without values are let through: nothing is read of them.
    """
    places = [array._device_of_bytes() if array.length else None for array in arrays]
    if places.count(HOST) == len(places):
        return
    known = [position for position, device in enumerate(places) if device is not None]
    for position in known[1:]:
        if places[position] != places[known[0]]:
            raise ValueError(
                f"arrays: number {position} is on {places[position]}, "
                f"number {known[0]} is on {places[known[0]]}; colkern.to_device copies all to one"
            )
