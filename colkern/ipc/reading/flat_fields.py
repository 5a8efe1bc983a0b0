"""The fields of wide schemas, read together as NumPy arrays.

In a schema of ten thousand columns, the tables mostly differ only in name and position. Their offsets
are followed and checked together, as NumPy arrays; a field is made when it is asked for. Fields with
children, dictionaries or metadata are read one by one, like all fields of narrow schemas. If one offset
is wrong, the whole schema is read one by one, and the general decoder reports the error.

The second decoder is worth its code. To open a file and its batch takes, side by side and one by one
(AMD EPYC, one core, Python 3.11; `python -m benchmarks.wide_schemas`):

======= ======= ======== =====
Columns Side    One by   Ratio
        by side one
======= ======= ======== =====
    100  0.7 ms   1.0 ms   1.4
  1,000  1.1 ms    11 ms   9.6
 10,000  4.6 ms   209 ms    45
======= ======= ======== =====

Columnar format 1.5: "Schema message".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import overload

import numpy as np
from numpy.typing import NDArray

from colkern.errors import ColkernError
from colkern.ipc.fields import WireField
from colkern.ipc.flatbuffer.tables import Record, Table, Tables
from colkern.ipc.wire import FIELD, TYPES
from colkern.schema import DataType, Field
from colkern.targets import Items

FEWEST = 64
"""Schemas with fewer fields are read one by one."""

_MOST_VTABLES = 64
_MOST_TYPE_BYTES = 64

Places = NDArray[np.int64]


class FlatFields(Sequence[WireField]):
    """The fields of a wide schema, made when asked for; `type_of` is -1 for those in `others`."""

    def __init__(
        self,
        data: bytes,
        names: tuple[Places, Places],
        nullable: NDArray[np.bool_],
        types: list[DataType],
        type_of: Places,
        others: dict[int, WireField],
    ) -> None:
        self._data = data
        self._starts, self._ends = names
        self._nullable = nullable
        self.types = types
        self.type_of = type_of
        self.others = others

    def __len__(self) -> int:
        return len(self.type_of)

    @overload
    def __getitem__(self, position: int) -> WireField: ...

    @overload
    def __getitem__(self, position: slice) -> list[WireField]: ...

    def __getitem__(self, position: int | slice) -> WireField | list[WireField]:
        if isinstance(position, slice):
            return [self[i] for i in range(*position.indices(len(self)))]
        if not -len(self) <= position < len(self):
            raise IndexError(f"field {position} of {len(self)}")
        other = self.others.get(position % len(self))
        if other is not None:
            return other
        type_ = self.types[self.type_of[position]]
        name = self._data[self._starts[position] : self._ends[position]].decode()
        return WireField(Field(name, type_, bool(self._nullable[position])), (), None, type_)


class FieldsOf(Sequence[Field]):
    """The fields behind a schema's wire fields."""

    def __init__(self, wire: FlatFields) -> None:
        self._wire = wire

    def __len__(self) -> int:
        return len(self._wire)

    @overload
    def __getitem__(self, position: int) -> Field: ...

    @overload
    def __getitem__(self, position: slice) -> list[Field]: ...

    def __getitem__(self, position: int | slice) -> Field | list[Field]:
        if isinstance(position, slice):
            return [wire.field for wire in self._wire[position]]
        return self._wire[position].field

    def __iter__(self) -> Iterator[Field]:
        return (wire.field for wire in self._wire)


MakeType = Callable[[int, Record], DataType]
MakeField = Callable[[Record, int], WireField]


def flat_fields(tables: Tables, make_type: MakeType, make_field: MakeField) -> FlatFields | None:
    """The fields of a wide schema; None if they must be read one by one."""
    try:
        return _Reading(tables).fields(make_type, make_field)
    except (_NotFlatError, ColkernError):
        return None


class _NotFlatError(Exception):
    """Something is malformed or unusual: the fields must be read one by one."""


def _require(condition: NDArray[np.bool_] | bool) -> None:
    if not np.all(condition):
        raise _NotFlatError


class _Reading:
    """The tables of many fields, read together. Anything out of bounds raises `_NotFlatError`."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._reader = tables.reader
        data = self._reader.data
        self._size = len(data)
        self._u8 = np.frombuffer(data, np.uint8)
        self._u32 = self._overlapping("<u4")
        self._i32 = self._overlapping("<i4")
        slots = tables.start + 4 * np.arange(len(tables), dtype=np.int64)
        self._places = self._follow(slots)
        self._offsets = self._slot_offsets(FIELD, self._places)

    def _overlapping(self, code: str) -> Items:
        """The numbers that start at each byte."""
        count = self._size - 3
        return np.ndarray((count,), code, self._reader.data, strides=(1,))

    def _follow(self, slots: Places) -> Places:
        """The targets of the offsets at these places: at least four bytes before the end."""
        _require(slots + 4 <= self._size)
        offsets = self._u32[slots].astype(np.int64)
        targets = slots + offsets
        _require((offsets > 0) & (targets + 4 <= self._size))
        return targets

    def _vtables(self, places: Places) -> tuple[Places, Places]:
        """The distinct vtables of the tables at these places, and the number of each table's vtable."""
        vtables, which = np.unique(places - self._i32[places], return_inverse=True)
        _require(len(vtables) <= _MOST_VTABLES)
        return vtables, which.astype(np.int64)

    def _slot_offsets(self, table: Table, places: Places) -> dict[str, Places]:
        """The place of each slot in its table; 0 if it is absent."""
        vtables, which = self._vtables(places)
        offsets = {name: np.zeros(len(vtables), np.int64) for name in table.slots}
        sizes = np.zeros(len(vtables), np.int64)
        for k, vtable in enumerate(vtables.tolist()):
            _, sizes[k], *slots = self._reader.present(table, vtable, int(places[0]))
            for name, offset, _ in chain(*slots):
                offsets[name][k] = offset
        _require(places + sizes[which] <= self._size)
        return {name: of_vtable[which] for name, of_vtable in offsets.items()}

    def _slot(self, name: str) -> tuple[NDArray[np.bool_], Places]:
        """A mask of the fields that have a slot, and the places of the slot in those fields."""
        offsets = self._offsets[name]
        has = offsets > 0
        return has, (self._places + offsets)[has]

    def fields(self, make_type: MakeType, make_field: MakeField) -> FlatFields:
        count = len(self._places)
        # Each field takes two tables, and names have no more bytes than there are: counted as in
        # `decode`.
        _require(2 * count <= self._size // 4)
        starts, ends = self._names()
        flat = ~(self._has_members("children") | self._has_members("custom_metadata"))
        flat &= self._offsets["dictionary"] == 0
        flat &= self._offsets["type"] > 0
        types, type_of = self._types(flat, make_type)
        other = np.flatnonzero(type_of < 0).tolist()
        _require(2 * len(other) <= count)
        others = {i: make_field(self._tables.at(int(self._places[i])), i) for i in other}
        nullable = np.zeros(count, np.bool_)
        has, slots = self._slot("nullable")
        nullable[has] = self._u8[slots] != 0
        return FlatFields(self._reader.data, (starts, ends), nullable, types, type_of, others)

    def _names(self) -> tuple[Places, Places]:
        """The start and the end of each name; all are checked to be UTF-8."""
        starts = np.zeros(len(self._places), np.int64)
        ends = starts.copy()
        has, slots = self._slot("name")
        targets = self._follow(slots)
        starts[has] = targets + 4
        ends[has] = starts[has] + self._u32[targets]
        _require(ends <= self._size)
        _require((ends - starts).sum() <= self._size)
        # The number of non-ASCII bytes before each byte.
        others = np.zeros(self._size + 1, np.int32)
        np.cumsum(self._u8 >> 7, out=others[1:])
        for i in np.flatnonzero(others[starts] != others[ends]):
            try:
                self._reader.data[starts[i] : ends[i]].decode()
            except UnicodeDecodeError:
                raise _NotFlatError from None
        return starts, ends

    def _has_members(self, name: str) -> NDArray[np.bool_]:
        """Whether each field has a vector in slot `name` that is not empty."""
        has, slots = self._slot(name)
        members = np.zeros(len(self._places), np.bool_)
        members[has] = self._u32[self._follow(slots)] > 0
        return members

    def _types(self, flat: NDArray[np.bool_], make_type: MakeType) -> tuple[list[DataType], Places]:
        """The distinct types of the flat fields, and the number of each field's type; -1 for others."""
        numbers = np.zeros(len(self._places), np.int64)
        has, slots = self._slot("type_type")
        numbers[has] = self._u8[slots]
        types: list[DataType] = []
        type_of = np.full(len(self._places), -1, np.int64)
        for number in np.unique(numbers[flat]).tolist():
            chosen = np.flatnonzero(flat & (numbers == number))
            table = TYPES.get(number)
            if table is not None:
                places = self._follow((self._places + self._offsets["type"])[chosen])
                self._types_of(number, table, chosen, places, make_type, types, type_of)
        return types, type_of

    def _types_of(
        self,
        number: int,
        table: Table,
        chosen: Places,
        places: Places,
        make_type: MakeType,
        types: list[DataType],
        type_of: Places,
    ) -> None:
        """Fill in the types of the fields `chosen`, whose tables are at `places`."""
        # Tables with the same vtable and bytes are equal, as long as no bytes are offsets.
        vtables, which = self._vtables(places)
        for k, vtable in enumerate(vtables.tolist()):
            _, size, _, others = self._reader.present(table, vtable, int(places[0]))
            if size > _MOST_TYPE_BYTES or others:
                continue
            own = np.flatnonzero(which == k)
            _require(places[own] + size <= self._size)
            contents = self._u8[places[own, None] + np.arange(4, size)]
            _, firsts, same = np.unique(contents, axis=0, return_index=True, return_inverse=True)
            for first in firsts.tolist():
                record = self._reader.table(table, int(places[own[first]]), self._tables.depth + 1)
                types.append(make_type(number, record))
            type_of[chosen[own]] = len(types) - len(firsts) + same.reshape(-1)
