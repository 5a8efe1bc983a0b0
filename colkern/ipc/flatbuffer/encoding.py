"""Writing FlatBuffers by the description of their tables, through the library's builder."""

from __future__ import annotations

from typing import Any

import numpy as np
from flatbuffers.builder import Builder

from colkern.ipc.flatbuffer.tables import Record, Table

_INITIAL_BYTES = 1024


class Writer:
    """The state of one `encode`: children are written before the tables that refer to them.

    Args:
        builder: The library's builder, which writes from the back to the front.
    """

    __slots__ = ("builder",)

    def __init__(self, builder: Builder) -> None:
        self.builder = builder

    def table(self, table: Table, record: Record) -> int:
        """Write a table with what it refers to; returns where it stands.

        Raises:
            KeyError: If the record has a slot that the table lacks.
            ValueError: If a required slot has no value.
        """
        unknown = record.keys() - table.slots.keys()
        if unknown:
            raise KeyError(f"{table.name} has no slots {sorted(unknown)}")
        ready = []
        for number, (name, kind) in enumerate(table.slots.items()):
            value = record.get(name)
            if value is not None:
                ready.append((kind, number, kind.write(self, value, record)))
            elif name in table.required:
                raise ValueError(f"{table.name} lacks the required {name}")
        self.builder.StartObject(len(table.slots))
        for kind, number, written in ready:
            kind.put(self.builder, number, written)
        return int(self.builder.EndObject())

    def tables(self, table: Table, records: list[Record]) -> int:
        """Write a vector of tables; returns where it stands."""
        places = [self.table(table, record) for record in records]
        self.builder.StartVector(4, len(places), 4)
        for place in reversed(places):
            self.builder.PrependUOffsetTRelative(place)
        return int(self.builder.EndVector())

    def vector(self, items: Any) -> int:
        """Write a one-dimensional NumPy array of numbers or structs; returns where it stands."""
        builder = self.builder
        alignment = max(items.dtype.alignment, _largest_member(items.dtype))
        builder.StartVector(items.dtype.itemsize, items.size, alignment)
        start = builder.Head() - items.nbytes
        builder.Bytes[start : builder.Head()] = _without_gaps(items).tobytes()
        builder.head = start
        return int(builder.EndVector())


def _without_gaps(items: Any) -> Any:
    """The same structs with zeros between their members, where NumPy leaves what was in memory."""
    members = items.dtype.fields
    if members is None or sum(m[0].itemsize for m in members.values()) == items.dtype.itemsize:
        return items
    clean = np.zeros(items.shape, items.dtype)
    for name in members:
        clean[name] = items[name]
    return clean


def _largest_member(dtype: Any) -> int:
    """NumPy aligns packed structs to one byte, FlatBuffers to their largest member."""
    if dtype.fields is None:
        return int(dtype.itemsize)
    return max(int(member[0].itemsize) for member in dtype.fields.values())


def encode(table: Table, record: Record) -> bytes:
    """A FlatBuffer with a record as its root table; `decode` gives the record back.

    Args:
        table: The description of the root.
        record: Slot → value; slots that are missing, None, or equal to their default take no room.

    Raises:
        KeyError: If a record has a slot that its table lacks.
        ValueError: If a required slot has no value.
        flatbuffers.builder.BuilderSizeError: If it becomes larger than 2 GiB.
    """
    builder = Builder(_INITIAL_BYTES)
    builder.Finish(Writer(builder).table(table, record))
    return bytes(builder.Output())
