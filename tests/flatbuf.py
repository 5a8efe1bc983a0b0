"""Arrow's metadata by the format's own `.fbs` files and FlatBuffers' own library.

The package uses neither, so that this is the oracle of what it reads and writes.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import flatbuffers
from flatbuffers import number_types
from flatbuffers.table import Table

import colkern.ipc

FORMAT = Path(colkern.ipc.__file__).parent / "format"
TEXT = re.sub(r"//[^\n]*", "", "".join(path.read_text() for path in FORMAT.glob("*.fbs")))

NUMBERS: dict[str, Any] = {
    "bool": number_types.BoolFlags,
    "byte": number_types.Int8Flags,
    "ubyte": number_types.Uint8Flags,
    "short": number_types.Int16Flags,
    "int": number_types.Int32Flags,
    "long": number_types.Int64Flags,
}
ENUMS = {}
for name, kind, members in re.findall(r"enum (\w+) : (\w+) {([^}]*)}", TEXT):
    NUMBERS[name] = NUMBERS[kind]
    ENUMS[name] = re.findall(r"[A-Za-z]\w*", members)
UNIONS = {
    name: ["NONE", *re.findall(r"\w+", members)]
    for name, members in re.findall(r"union (\w+) {([^}]*)}", TEXT)
}
STRUCTS = {
    name: [NUMBERS[kind] for kind in re.findall(r": (\w+);", members)]
    for name, members in re.findall(r"struct (\w+) {([^}]*)}", TEXT)
}


def slots_of(members: str) -> dict[str, tuple[str, int]]:
    """Slot → its kind and its default. A union takes a slot more, for its member's number."""
    slots = {}
    for slot, kind, default in re.findall(r"(\w+): (\[?\w+\]?)(?: = (\w+))?", members):
        if kind in UNIONS:
            slots[f"{slot}_type"] = "ubyte", 0
        names = ENUMS.get(kind, ["false", "true"])
        slots[slot] = kind, names.index(default) if default in names else int(default or 0)
    return slots


TABLES = {name: slots_of(members) for name, members in re.findall(r"table (\w+) {([^}]*)}", TEXT)}


def numbered(names: Iterable[str]) -> Any:
    return SimpleNamespace(**{name: number for number, name in enumerate(names)})


Type = numbered(UNIONS["Type"])
MessageHeader = numbered(UNIONS["MessageHeader"])
SparseTensorIndex = numbered(UNIONS["SparseTensorIndex"])
MetadataVersion = numbered(ENUMS["MetadataVersion"])


# Writing


def add_table(builder: flatbuffers.Builder, name: str, /, **values: int | None) -> int:
    """A table of those numbers, and of what was written before by its offset; None is absent."""
    slots = TABLES[name]
    builder.StartObject(len(slots))
    for slot, value in values.items():
        kind, default = slots[slot]
        place = list(slots).index(slot)
        if kind in NUMBERS and value is not None:
            builder.PrependSlot(NUMBERS[kind], place, NUMBERS[kind].py_type(value), default)
        elif value is not None:
            builder.PrependUOffsetTRelativeSlot(place, value, 0)
    result: int = builder.EndObject()
    return result


def add_offsets(builder: flatbuffers.Builder, items: Sequence[int]) -> int:
    """A vector of what was written before."""
    builder.StartVector(4, len(items), 4)
    for item in reversed(items):
        builder.PrependUOffsetTRelative(item)
    result: int = builder.EndVector()
    return result


def add_numbers(builder: flatbuffers.Builder, rows: Sequence[Sequence[int]], width: int) -> int:
    """A vector of 64-bit integers, or of structs of them."""
    builder.StartVector(8 * width, len(rows), 8)
    for row in reversed(rows):
        for number in reversed(row):
            builder.PrependInt64(number)
    result: int = builder.EndVector()
    return result


# Reading


def read(name: str, data: bytes) -> dict[str, Any]:
    """The slots of the table that the bytes begin with, and of all tables within it."""
    return table_at(name, Table(data, struct.unpack_from("<I", data)[0]))


def table_at(name: str, table: Table) -> dict[str, Any]:
    """The slots of this table. Text is bytes, an absent slot is its default."""
    slots: dict[str, Any] = {}
    for place, (slot, (kind, default)) in enumerate(TABLES[name].items()):
        offset = table.Offset(4 + 2 * place)
        if kind in NUMBERS:
            slots[slot] = table.Get(NUMBERS[kind], table.Pos + offset) if offset else default
        elif not offset:
            slots[slot] = None
        elif kind.startswith("["):
            slots[slot] = items_of(kind.strip("[]"), table, offset)
        else:
            kind = UNIONS[kind][slots[f"{slot}_type"]] if kind in UNIONS else kind
            slots[slot] = value_at(kind, table, table.Pos + offset)
    return slots


def items_of(kind: str, table: Table, offset: int) -> list[Any]:
    width = 4
    if kind in STRUCTS:
        width = struct.calcsize(codes_of(kind))
    elif kind in NUMBERS:
        width = NUMBERS[kind].bytewidth
    start = table.Vector(offset)
    return [value_at(kind, table, start + width * k) for k in range(table.VectorLen(offset))]


def value_at(kind: str, table: Table, position: int) -> Any:
    if kind in NUMBERS:
        return table.Get(NUMBERS[kind], position)
    if kind in STRUCTS:
        return struct.unpack_from(codes_of(kind), table.Bytes, position)
    if kind == "string":
        return table.String(position)
    return table_at(kind, Table(table.Bytes, table.Indirect(position)))


def codes_of(kind: str) -> str:
    """The codes of a struct, whose members are aligned as C aligns them."""
    return "".join(number.packer_type.format.strip("<") for number in STRUCTS[kind]) + "0q"
