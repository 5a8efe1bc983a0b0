"""Where the numbers of a FlatBuffer stand: what a mutation that goes deep has to change.

A walk over a valid message by the description of its tables. It follows offsets without a check of
its own and knows nothing of `flatbuffer.decoding`, which is under test.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from colkern.ipc.flatbuffer.tables import Choice, Inline, Kind, Ref, Refs, Scalar, Table, Vector


@dataclass(frozen=True, slots=True)
class Site:
    """A number in metadata.

    Args:
        position: Its first byte.
        width: How many bytes it has: 1, 2, 4 or 8.
        path: What it is, such as `Message.header.nodes[0].length`.
    """

    position: int
    width: int
    path: str


def sites(table: Table, data: bytes) -> list[Site]:
    """Every number of a valid FlatBuffer: scalars, offsets, lengths, and those of its vtables."""
    root = struct.unpack_from("<I", data)[0]
    return [Site(0, 4, "root offset"), *_table(table, data, root, table.name)]


def _table(table: Table, data: bytes, position: int, path: str) -> Iterator[Site]:
    vtable = position - struct.unpack_from("<i", data, position)[0]
    yield Site(position, 4, f"{path} vtable offset")
    (vtable_bytes,) = struct.unpack_from("<H", data, vtable)
    for entry in range(0, vtable_bytes, 2):
        yield Site(vtable + entry, 2, f"{path} vtable[{entry // 2}]")
    tags: dict[str, int] = {}
    for number, (name, kind) in enumerate(table.slots.items()):
        entry = 4 + 2 * number
        if entry >= vtable_bytes:
            return
        (offset,) = struct.unpack_from("<H", data, vtable + entry)
        if offset == 0:
            continue
        place = position + offset
        if kind.size == 1:
            tags[name] = data[place]
        yield from _slot(kind, data, place, f"{path}.{name}", tags)


def _slot(
    kind: Kind[Any], data: bytes, place: int, path: str, tags: dict[str, int]
) -> Iterator[Site]:
    if isinstance(kind, Scalar):
        yield Site(place, kind.size, path)
        return
    if isinstance(kind, Inline):
        # Structs in tables are pairs of int64.
        yield from (Site(place + at, 8, f"{path}[{at // 8}]") for at in range(0, kind.size, 8))
        return
    yield Site(place, 4, f"{path} offset")
    target = place + struct.unpack_from("<I", data, place)[0]
    if isinstance(kind, Ref):
        yield from _table(kind.table, data, target, path)
    elif isinstance(kind, Choice):
        member = kind.members.get(tags.get(kind.tag, 0))
        if member is not None:
            yield from _table(member, data, target, path)
    else:
        yield Site(target, 4, f"{path} length")
        yield from _items(kind, data, target, path)


def _items(kind: Kind[Any], data: bytes, target: int, path: str) -> Iterator[Site]:
    (count,) = struct.unpack_from("<I", data, target)
    first = target + 4
    if isinstance(kind, Refs):
        for number in range(count):
            place = first + 4 * number
            yield Site(place, 4, f"{path}[{number}] offset")
            below = place + struct.unpack_from("<I", data, place)[0]
            yield from _table(kind.table, data, below, f"{path}[{number}]")
    elif isinstance(kind, Vector):
        for number in range(count):
            for name, offset, width in _members(kind.dtype):
                place = first + kind.dtype.itemsize * number + offset
                yield Site(place, width, f"{path}[{number}]{name}")


def _members(dtype: np.dtype) -> list[tuple[str, int, int]]:
    if dtype.fields is None:
        return [("", 0, dtype.itemsize)]
    return [(f".{name}", m[1], m[0].itemsize) for name, m in dtype.fields.items()]
