"""Descriptions of FlatBuffers tables: the slots of a table, and how each is read and written.

`colkern.ipc.wire` describes Arrow's metadata in these terms; `decoding` and `encoding` walk the
descriptions. A table's values are a `Record`: slot → value. Nested tables are records too, vectors of
tables lists of them, vectors of numbers and structs NumPy arrays; None stands for an absent value.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from colkern.errors import InvalidArrowError
from colkern.targets import Items

if TYPE_CHECKING:
    from colkern.ipc.flatbuffer.decoding import Reader
    from colkern.ipc.flatbuffer.encoding import Writer

Value = TypeVar("Value")

Record = dict[str, Any]


class Present(NamedTuple):
    """The slots that are present in tables with one vtable."""

    table: Table
    size: int  #: The size of each table in bytes.
    #: Name, offset in the table and `unpack_from` of each number.
    numbers: tuple[tuple[str, int, Callable[..., tuple[Any, ...]]], ...]
    #: Name, offset in the table and reader of each other slot.
    others: tuple[tuple[str, int, Callable[..., Any]], ...]


class Kind(Generic[Value]):
    """The kind of a table's slot: the bytes that it has in the table, and how they are read."""

    size: int
    code: str
    """The code of `struct` for the bytes in the table."""
    alignment: int
    default: Value | None = None

    def read(self, reader: Reader, position: int, depth: int, record: Record) -> Value:
        """The value in the slot at `position`; `record` has the slots before this one."""
        raise NotImplementedError

    def numbers(self, value: Value) -> tuple[object, ...]:
        """The value as `struct` packs it into the table itself."""
        return (value,)


AnyKind: TypeAlias = Kind[Any]


class Reference(Kind[Value]):
    """A slot with an offset that leads to the value."""

    size = alignment = 4
    code = "I"

    def write(self, writer: Writer, value: Value, record: Record) -> int:
        """Write the value; returns its position. `record` has all slots of the table."""
        raise NotImplementedError

    def write_all(
        self, writer: Writer, values: Sequence[Value], columns: Mapping[str, Sequence[object]]
    ) -> NDArray[np.int64]:
        """Write the values of many tables, whose slots are `columns`; returns their positions."""
        identities = list(map(id, values))
        places = {
            identity: self.write(writer, values[k], {name: of[k] for name, of in columns.items()})
            for identity, k in dict(zip(identities, range(len(values)), strict=True)).items()
        }
        return np.array([places[identity] for identity in identities], np.int64)


class Scalar(Kind[int]):
    """A number or boolean with a `struct` code."""

    def __init__(self, code: str, default: int = 0) -> None:
        self.unpack = struct.Struct("<" + code).unpack_from
        self.code = code
        self.size = self.alignment = struct.calcsize("<" + code)
        self.default = default


class Inline(Kind[tuple[object, ...]]):
    """A FlatBuffers struct within the table itself; read as a tuple."""

    def __init__(self, codes: str) -> None:
        self._unpack = struct.Struct("<" + codes).unpack_from
        self.code = codes
        self.alignment = max(struct.calcsize("<" + code) for code in codes)
        self.size = struct.calcsize("<" + codes)

    def read(self, reader: Reader, position: int, depth: int, record: Record) -> tuple[object, ...]:
        return self._unpack(reader.data, position)

    def numbers(self, value: tuple[object, ...]) -> tuple[object, ...]:
        return tuple(value)


class Bytes(Reference[bytes]):
    """A string, read as bytes."""

    def read(self, reader: Reader, position: int, depth: int, record: Record) -> bytes:
        return reader.string(reader.follow(position))

    def write(self, writer: Writer, value: bytes, record: Record) -> int:
        return writer.string(value)


class Text(Reference[str]):
    """A string that must be UTF-8."""

    def read(self, reader: Reader, position: int, depth: int, record: Record) -> str:
        try:
            return reader.string(reader.follow(position)).decode()
        except UnicodeDecodeError as error:
            raise InvalidArrowError(
                f"string is not UTF-8: {error.reason}", place=f"metadata byte {position}"
            ) from None

    def write(self, writer: Writer, value: str, record: Record) -> int:
        return writer.string(value.encode())

    def write_all(
        self, writer: Writer, values: Sequence[str], columns: Mapping[str, Sequence[object]]
    ) -> NDArray[np.int64]:
        return writer.strings(list(map(str.encode, values)))


class Vector(Reference[Items]):
    """A vector of numbers or structs, as one read-only NumPy array."""

    def __init__(self, dtype: DTypeLike) -> None:
        self.dtype = np.dtype(dtype)

    def read(self, reader: Reader, position: int, depth: int, record: Record) -> Items:
        """The items, not copied."""
        start, count = reader.vector(reader.follow(position), self.dtype.itemsize)
        return np.frombuffer(reader.data, self.dtype, count, start)

    def write(self, writer: Writer, value: Items, record: Record) -> int:
        return writer.vector(np.asarray(value, self.dtype))


class Ref(Reference[Record]):
    """Another table."""

    def __init__(self, table: Table) -> None:
        self.table = table

    def read(self, reader: Reader, position: int, depth: int, record: Record) -> Record:
        return reader.table(self.table, reader.follow(position), depth + 1)

    def write(self, writer: Writer, value: Record, record: Record) -> int:
        return writer.shared_table(self.table, value)


class Refs(Reference[list[Record]]):
    """A vector of tables."""

    def __init__(self, table: Table) -> None:
        self.table = table

    def read(self, reader: Reader, position: int, depth: int, record: Record) -> list[Record]:
        start, count = reader.vector(reader.follow(position), 4)
        return [
            reader.table(self.table, reader.follow(slot), depth + 1)
            for slot in range(start, start + 4 * count, 4)
        ]

    def write(self, writer: Writer, value: list[Record], record: Record) -> int:
        """Write the tables, and the vector of their positions."""
        return writer.tables(self.table, value)


class Tables:
    """A vector of tables that are read and checked only when they are asked for."""

    __slots__ = ("count", "depth", "reader", "start", "table")

    def __init__(self, reader: Reader, table: Table, start: int, count: int, depth: int) -> None:
        self.reader = reader
        self.table = table
        self.start = start
        self.count = count
        self.depth = depth

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[Record]:
        return (self.at(self.reader.follow(self.start + 4 * i)) for i in range(self.count))

    def at(self, position: int) -> Record:
        """The record of the member at a position in the buffer."""
        return self.reader.table(self.table, position, self.depth)


class LateRefs(Refs):
    """A vector of tables that is read as `Tables`."""

    def read(self, reader: Reader, position: int, depth: int, record: Record) -> Any:
        """The vector; its tables are not read yet."""
        start, count = reader.vector(reader.follow(position), 4)
        return Tables(reader, self.table, start, count, depth + 1)


class Choice(Reference[Record | None]):
    """A union: the table whose type is in the slot `tag`. None for types that this description lacks."""

    def __init__(self, tag: str, members: Mapping[int, Table]) -> None:
        self.tag = tag
        self.members = members

    def read(self, reader: Reader, position: int, depth: int, record: Record) -> Record | None:
        member = self.members.get(record[self.tag])
        if member is None:
            return None
        return reader.table(member, reader.follow(position), depth + 1)

    def write(self, writer: Writer, value: Record | None, record: Record) -> int:
        assert value is not None
        return writer.shared_table(self.members[record[self.tag]], value)


@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """The form of tables with the same slots present, for writing: references first, then numbers."""

    #: Packs the offset to the vtable, the offsets of references, and the numbers.
    pack: Callable[..., bytes]
    size: int
    alignment: int  #: The alignment of the table's start.
    vtable: bytes
    members: Mapping[str, tuple[int, str]]  #: Slot → where it stands, and its code of `struct`.


class Table:
    """The description of a table: its slots in the order of their ids.

    Args:
        name: The table's name, for messages.
        slots: Name → kind. A union takes two slots: its tag, then its value.
        required: Names of the slots that must be present.
    """

    def __init__(
        self, name: str, slots: Mapping[str, AnyKind] | None = None, required: tuple[str, ...] = ()
    ) -> None:
        self.name = name
        self.required = required
        self.define(slots or {})

    def define(self, slots: Mapping[str, AnyKind]) -> None:
        """Set the slots later, for a table that contains itself."""
        self.slots = dict(slots)
        self.defaults: Record = {name: kind.default for name, kind in slots.items()}
        self.vtable_bytes = 4 + 2 * len(slots)
        self.members = tuple((name, kind, 1 << k) for k, (name, kind) in enumerate(slots.items()))
        # The last vtable that was read, and its slots.
        self.last: tuple[bytes, Present | None] = b"", None
        self.present = lru_cache(maxsize=64)(self._present)
        self.form = lru_cache(maxsize=64)(self._form)

    def _present(self, vtable: bytes) -> Present:
        """The slots of tables with a vtable, which is given without its own size."""
        table_bytes, *offsets = struct.unpack(f"<{len(vtable) // 2}H", vtable)
        numbers, others = [], []
        for (name, kind), offset in zip(self.slots.items(), offsets, strict=False):
            if offset == 0:
                continue
            if offset < 4 or offset + kind.size > table_bytes:
                raise InvalidArrowError(
                    f"{self.name}.{name} is said to stand at byte {offset} "
                    f"of a table of {table_bytes} bytes"
                )
            if isinstance(kind, Scalar):
                numbers.append((name, offset, kind.unpack))
            else:
                others.append((name, offset, kind.read))
        for name in self.required:
            if all(name != present for present, _, _ in (*numbers, *others)):
                raise InvalidArrowError(f"{self.name} lacks the required {name}")
        return Present(self, table_bytes, tuple(numbers), tuple(others))

    def _form(self, present: int) -> Form:
        """The form of tables with those slots present; a bit stands for a slot."""
        chosen = [(k, kind) for k, (_, kind, bit) in enumerate(self.members) if present & bit]
        codes, size, alignment = ["<i"], 4, 4
        places = [0] * present.bit_length()
        # Sorting keeps the order of slots within references, and within numbers.
        for k, kind in sorted(chosen, key=lambda member: not isinstance(member[1], Reference)):
            padding = -size % kind.alignment
            codes.append(f"{padding}x{kind.code}")
            places[k] = size + padding
            size += padding + kind.size
            alignment = max(alignment, kind.alignment)
        entries = 2 + len(places)
        vtable = struct.pack(f"<{entries}H", 2 * entries, size, *places)
        members = {self.members[k][0]: (places[k], f"<{kind.code}") for k, kind in chosen}
        return Form(struct.Struct("".join(codes)).pack, size, alignment, vtable, members)
