"""Reading FlatBuffers that cannot be trusted.

The Python runtime of FlatBuffers has no verifier: its accessors follow any offset. `decode` checks
and reads in one pass, by a description of the tables (`colkern.ipc.wire`): a value is handed out
only after every offset on the way to it was found to stay inside the buffer, so nothing is read
that was not checked, and no second pass can disagree with the first.

Work and memory are bounded by the size of the buffer: offsets only point forwards, nesting has a
limit, there cannot be more tables than the buffer has room for, and strings together are no larger
than the buffer (several references to one string count once).

Alignment is not asked for: every load is by byte.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from colkern.errors import InvalidArrowError, LimitExceededError

_int32 = struct.Struct("<i").unpack_from
_uint32 = struct.Struct("<I").unpack_from
_two_uint16 = struct.Struct("<HH").unpack_from

Record = dict[str, Any]
# The name of a slot, where it stands in the table, and what reads it.
Present = tuple[str, int, Callable[..., Any]]


class Kind:
    """The kind of a table's slot: how many bytes stand in the table, and how to read them."""

    size: int
    default: Any = None

    def read(self, reader: Reader, position: int, depth: int, record: Record) -> Any:
        """The value whose slot is at `position`; `record` has the slots before this one."""
        raise NotImplementedError


class Scalar(Kind):
    """A number or boolean, by its `struct` code."""

    def __init__(self, code: str, default: Any = 0) -> None:
        self._unpack = struct.Struct("<" + code).unpack_from
        self.size = struct.calcsize("<" + code)
        self.default = default

    def read(self, reader: Reader, position: int, depth: int, record: Record) -> Any:
        """The number."""
        return self._unpack(reader.data, position)[0]


class Inline(Kind):
    """A FlatBuffers struct that stands in the table itself; read as a tuple."""

    def __init__(self, codes: str) -> None:
        self._unpack = struct.Struct("<" + codes).unpack_from
        self.size = struct.calcsize("<" + codes)

    def read(self, reader: Reader, position: int, depth: int, record: Record) -> Any:
        """The members, as a tuple."""
        return self._unpack(reader.data, position)


class Bytes(Kind):
    """A string, taken as bytes."""

    size = 4

    def read(self, reader: Reader, position: int, depth: int, record: Record) -> Any:
        """The bytes."""
        return reader.string(reader.follow(position))


class Text(Kind):
    """A string that has to be UTF-8."""

    size = 4

    def read(self, reader: Reader, position: int, depth: int, record: Record) -> Any:
        """The text."""
        try:
            return reader.string(reader.follow(position)).decode()
        except UnicodeDecodeError as error:
            raise InvalidArrowError(
                f"string is not UTF-8: {error.reason}", place=f"metadata byte {position}"
            ) from None


class Vector(Kind):
    """A vector of numbers or structs, as one read-only NumPy array."""

    size = 4

    def __init__(self, dtype: Any) -> None:
        self.dtype = np.dtype(dtype)

    def read(self, reader: Reader, position: int, depth: int, record: Record) -> Any:
        """The items, not copied."""
        start, count = reader.vector(reader.follow(position), self.dtype.itemsize)
        return np.frombuffer(reader.data, self.dtype, count, start)


class Ref(Kind):
    """Another table."""

    size = 4

    def __init__(self, table: Table) -> None:
        self.table = table

    def read(self, reader: Reader, position: int, depth: int, record: Record) -> Any:
        """The table's record."""
        return reader.table(self.table, reader.follow(position), depth + 1)


class Refs(Kind):
    """A vector of tables."""

    size = 4

    def __init__(self, table: Table) -> None:
        self.table = table

    def read(self, reader: Reader, position: int, depth: int, record: Record) -> Any:
        """The tables' records."""
        start, count = reader.vector(reader.follow(position), 4)
        return [
            reader.table(self.table, reader.follow(slot), depth + 1)
            for slot in range(start, start + 4 * count, 4)
        ]


class Choice(Kind):
    """A union: the table that the slot `tag` says. None for members this description lacks."""

    size = 4

    def __init__(self, tag: str, members: Mapping[int, Table]) -> None:
        self.tag = tag
        self.members = members

    def read(self, reader: Reader, position: int, depth: int, record: Record) -> Any:
        """The record of the member that the tag says."""
        member = self.members.get(record[self.tag])
        if member is None:
            return None
        return reader.table(member, reader.follow(position), depth + 1)


class Table:
    """The description of a table: its slots in the order of their ids.

    Args:
        name: The table's name, for messages.
        slots: Name → kind. A union takes two slots: its tag, then its value.
        required: Names of the slots that must be there.
    """

    def __init__(
        self, name: str, slots: Mapping[str, Kind] | None = None, required: tuple[str, ...] = ()
    ) -> None:
        self.name = name
        self.required = required
        self.define(slots or {})

    def define(self, slots: Mapping[str, Kind]) -> None:
        """Give the slots later, for a table that contains itself."""
        self.slots = dict(slots)
        self.defaults: Record = {name: kind.default for name, kind in slots.items()}
        self.vtable_bytes = 4 + 2 * len(slots)
        # The messages of a writer share their vtables.
        self.present = lru_cache(maxsize=64)(self._present)

    def _present(self, vtable: bytes) -> tuple[Present, ...]:
        """The slots that are there, by a vtable without its own size: name, offset, reader."""
        table_bytes, *offsets = struct.unpack(f"<{len(vtable) // 2}H", vtable)
        present = []
        for (name, kind), offset in zip(self.slots.items(), offsets, strict=False):
            if offset == 0:
                continue
            if offset < 4 or offset + kind.size > table_bytes:
                raise InvalidArrowError(
                    f"{self.name}.{name} is said to stand at byte {offset} "
                    f"of a table of {table_bytes} bytes"
                )
            present.append((name, offset, kind.read))
        found = {name for name, _, _ in present}
        for name in self.required:
            if name not in found:
                raise InvalidArrowError(f"{self.name} lacks the required {name}")
        return tuple(present)


class Reader:
    """The state of one `decode`: the bytes, and what may still be spent on them."""

    __slots__ = (
        "_max_depth",
        "_string_bytes_left",
        "_strings",
        "_tables_left",
        "_vtables",
        "data",
        "size",
    )

    def __init__(self, data: bytes, max_depth: int) -> None:
        self.data = data
        self.size = len(data)
        self._max_depth = max_depth
        # A table takes four bytes, and so does the offset that leads to it.
        self._tables_left = self.size // 4
        self._string_bytes_left = self.size
        self._strings: dict[int, bytes] = {}
        # The tables of a message share few vtables.
        self._vtables: dict[int, tuple[Table, int, tuple[Present, ...]]] = {}

    def follow(self, position: int) -> int:
        """Where the offset at `position` leads: at least four bytes before the end."""
        if position + 4 > self.size:
            raise self._invalid("offset past the end", position)
        offset: int = _uint32(self.data, position)[0]
        target = position + offset
        if offset == 0 or target + 4 > self.size:
            raise self._invalid(f"offset {offset} leads out of {self.size} bytes", position)
        return target

    def vector(self, position: int, itemsize: int) -> tuple[int, int]:
        """Where the items of the vector at `position` start, and how many they are."""
        count: int = _uint32(self.data, position)[0]
        if count * itemsize > self.size - position - 4:
            raise self._invalid(
                f"vector of {count} items of {itemsize} bytes in {self.size} bytes", position
            )
        return position + 4, count

    def string(self, position: int) -> bytes:
        """The bytes of the string at `position`."""
        known = self._strings.get(position)
        if known is not None:
            return known
        start, count = self.vector(position, 1)
        self._string_bytes_left -= count
        if self._string_bytes_left < 0:
            raise self._invalid("strings overlap", position)
        text = self.data[start : start + count]
        self._strings[position] = text
        return text

    def table(self, table: Table, position: int, depth: int) -> Record:
        """The values of the table at `position`; absent ones have their defaults."""
        if depth > self._max_depth:
            raise LimitExceededError(
                f"metadata nests deeper than {self._max_depth} tables; "
                f"raise Limits.nesting_depth to read it"
            )
        self._tables_left -= 1
        if self._tables_left < 0:
            raise self._invalid("more tables than there are bytes for", position)
        vtable = position - _int32(self.data, position)[0]
        known = self._vtables.get(vtable)
        if known is None or known[0] is not table:
            known = self._vtables[vtable] = self._read_vtable(table, vtable, position)
        _, table_bytes, present = known
        if position + table_bytes > self.size:
            raise self._invalid(f"{table.name} of {table_bytes} bytes", position)
        record = table.defaults.copy()
        for name, offset, read in present:
            record[name] = read(self, position + offset, depth, record)
        return record

    def _read_vtable(
        self, table: Table, vtable: int, position: int
    ) -> tuple[Table, int, tuple[Present, ...]]:
        """The size of tables with that vtable, and which slots are there."""
        if not 0 <= vtable <= self.size - 4:
            raise self._invalid(f"vtable of {table.name} at {vtable}", position)
        vtable_bytes, table_bytes = _two_uint16(self.data, vtable)
        if vtable_bytes < 4 or vtable_bytes % 2 or vtable + vtable_bytes > self.size:
            raise self._invalid(f"vtable of {table.name} of {vtable_bytes} bytes", vtable)
        if table_bytes < 4:
            raise self._invalid(f"{table.name} of {table_bytes} bytes", position)
        entries = self.data[vtable + 2 : vtable + min(vtable_bytes, table.vtable_bytes)]
        try:
            return table, table_bytes, table.present(entries)
        except InvalidArrowError as error:
            raise error.at(f"metadata byte {position}") from None

    def _invalid(self, message: str, position: int) -> InvalidArrowError:
        return InvalidArrowError(message, place=f"metadata byte {position}")


def decode(table: Table, data: bytes, max_depth: int) -> Record:
    """The root table of a FlatBuffer, checked and read in one pass.

    Args:
        table: The description of the root.
        data: The FlatBuffer.
        max_depth: How deep tables may nest.

    Returns:
        Slot → value. Tables are dicts of the same form, vectors of tables lists of them, vectors of
        numbers and structs NumPy arrays over `data`; None for an absent table, vector or string.

    Raises:
        InvalidArrowError: If anything points, or reaches, out of the buffer.
        LimitExceededError: If tables nest deeper than `max_depth`.
    """
    reader = Reader(data, max_depth)
    return reader.table(table, reader.follow(0), 1)
