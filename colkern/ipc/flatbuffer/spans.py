"""Which bytes of a FlatBuffer `decode` has looked at.

In FlatBuffers of honest writers nothing overlaps. Whoever wants to rely on that has to check it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import Any

from colkern.ipc.flatbuffer.tables import (
    Bytes,
    Choice,
    LateRefs,
    Ref,
    Refs,
    Table,
    Text,
    Vector,
)

_int32 = struct.Struct("<i").unpack_from
_uint32 = struct.Struct("<I").unpack_from
_uint16 = struct.Struct("<H").unpack_from
_COUNT = 4

Span = tuple[int, int]
"""First byte, and the one behind the last."""


def spans(table: Table, data: bytes, position: int) -> Iterator[Span]:
    """The bytes that make up the table at `position` and all behind it; some come more than once.

    Args:
        table: The table's description.
        data: A FlatBuffer that `decode` has taken: nothing is checked here.
        position: Where the table stands.
    """
    vtable = position - _int32(data, position)[0]
    vtable_bytes = _uint16(data, vtable)[0]
    yield position, position + 4
    yield vtable, vtable + vtable_bytes
    places: dict[str, int] = {}
    entries = range(vtable + 4, vtable + vtable_bytes, 2)
    for (name, kind), entry in zip(table.slots.items(), entries, strict=False):
        offset = _uint16(data, entry)[0]
        if offset:
            places[name] = position + offset
            yield position + offset, position + offset + kind.size
            behind = _BEHIND.get(type(kind))
            if behind is not None:
                yield from behind(kind, data, places[name], places)


def target(data: bytes, position: int) -> int:
    """Where the offset at `position` leads."""
    return position + int(_uint32(data, position)[0])


def _table(kind: Ref, data: bytes, place: int, _: Any) -> Iterator[Span]:
    return spans(kind.table, data, target(data, place))


def _member(kind: Choice, data: bytes, place: int, places: dict[str, int]) -> Iterator[Span]:
    tag = places.get(kind.tag)
    member = None if tag is None else kind.members.get(data[tag])
    return iter(()) if member is None else spans(member, data, target(data, place))


def _tables(kind: Refs, data: bytes, place: int, _: Any) -> Iterator[Span]:
    first, end = yield from _items(4, data, place)
    for slot in range(first, end, 4):
        yield from spans(kind.table, data, target(data, slot))


def _numbers(kind: Vector, data: bytes, place: int, _: Any) -> Iterator[Span]:
    yield from _items(kind.dtype.itemsize, data, place)


def _text(kind: Text | Bytes, data: bytes, place: int, _: Any) -> Iterator[Span]:
    yield from _items(1, data, place)


def _items(itemsize: int, data: bytes, place: int) -> Any:
    """The count of a vector, and its items."""
    start = target(data, place)
    first = start + _COUNT
    end = first + itemsize * _uint32(data, start)[0]
    yield start, first
    yield first, end
    return first, end


_BEHIND: dict[type, Callable[..., Iterator[Span]]] = {
    Ref: _table,
    Refs: _tables,
    LateRefs: _tables,
    Vector: _numbers,
    Choice: _member,
    Text: _text,
    Bytes: _text,
}
