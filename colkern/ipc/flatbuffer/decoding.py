"""Reading FlatBuffers from untrusted input.

The Python runtime of FlatBuffers has no verifier: its accessors follow any offset. `decode` checks and
reads in one pass, by a description of the tables (`colkern.ipc.wire`): a value is returned only after
every offset on the way to it was checked to stay inside the buffer. So nothing unchecked is read, and
no second pass can disagree with the first.

Work and memory are bounded by the size of the buffer: offsets only point forwards, nesting has a
limit, there cannot be more tables than the buffer has room for, and strings together are no larger
than the buffer (several references to one string count once).

No alignment is needed: every load works for any address.
"""

from __future__ import annotations

import struct

from colkern.errors import InvalidArrowError, LimitExceededError
from colkern.ipc.flatbuffer.tables import Present, Record, Table

_int32 = struct.Struct("<i").unpack_from
_uint32 = struct.Struct("<I").unpack_from
_two_uint16 = struct.Struct("<HH").unpack_from


class Reader:
    """The state of one `decode`: the bytes, and the budget for reading them."""

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
        # A table takes at least four bytes, and so does the offset that leads to it.
        self._tables_left = self.size // 4
        self._string_bytes_left = self.size
        self._strings: dict[int, bytes] = {}
        # The tables of a message share only a few vtables.
        self._vtables: dict[int, Present] = {}

    def follow(self, position: int) -> int:
        """The target of the offset at `position`: at least four bytes before the end."""
        if position + 4 > self.size:
            raise self._invalid("offset past the end", position)
        offset: int = _uint32(self.data, position)[0]
        target = position + offset
        if offset == 0 or target + 4 > self.size:
            raise self._invalid(f"offset {offset} leads out of {self.size} bytes", position)
        return target

    def vector(self, position: int, itemsize: int) -> tuple[int, int]:
        """The start and the number of the items of the vector at `position`."""
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
        """The values of the table at `position`; absent ones get their defaults."""
        if depth > self._max_depth:
            raise LimitExceededError(
                f"metadata nests deeper than {self._max_depth} tables; "
                f"raise Limits.nesting_depth to read it"
            )
        self._tables_left -= 1
        if self._tables_left < 0:
            raise self._invalid("more tables than there are bytes for", position)
        place = position - _int32(self.data, position)[0]
        present = self._vtables.get(place)
        if present is None or present.table is not table:
            present = self._vtables[place] = self.present(table, place, position)
        _, size, numbers, others = present
        if position + size > self.size:
            raise self._invalid(f"{table.name} of {size} bytes", position)
        record = table.defaults.copy()
        # Numbers come first, since they include the tags of unions.
        for name, offset, unpack in numbers:
            record[name] = unpack(self.data, position + offset)[0]
        for name, offset, read in others:
            record[name] = read(self, position + offset, depth, record)
        return record

    def present(self, table: Table, vtable: int, position: int) -> Present:
        """The slots that are present in tables with the vtable at `vtable`."""
        if not 0 <= vtable <= self.size - 4:
            raise self._invalid(f"vtable of {table.name} at {vtable}", position)
        # The messages of a writer share their vtables.
        known, present = table.last
        if self.data.startswith(known, vtable) and present is not None:
            return present
        vtable_bytes, table_bytes = _two_uint16(self.data, vtable)
        if vtable_bytes < 4 or vtable_bytes % 2 or vtable + vtable_bytes > self.size:
            raise self._invalid(f"vtable of {table.name} of {vtable_bytes} bytes", vtable)
        if table_bytes < 4:
            raise self._invalid(f"{table.name} of {table_bytes} bytes", position)
        end = vtable + min(vtable_bytes, table.vtable_bytes)
        try:
            present = table.present(self.data[vtable + 2 : end])
        except InvalidArrowError as error:
            raise error.at(f"metadata byte {position}") from None
        if end == vtable + vtable_bytes:
            table.last = self.data[vtable:end], present
        return present

    def _invalid(self, message: str, position: int) -> InvalidArrowError:
        return InvalidArrowError(message, place=f"metadata byte {position}")


def decode(table: Table, data: bytes, max_depth: int) -> Record:
    """The root table of a FlatBuffer, checked and read in one pass, as a record: slot → value."""
    # Nested tables are records, too, vectors of tables lists of them, vectors of numbers and
    # structs NumPy arrays over `data`; None stands for an absent table, vector or string. Slots
    # described as `LateRefs` are read as `Tables`, which are checked when they are asked for.
    reader = Reader(data, max_depth)
    return reader.table(table, reader.follow(0), 1)
