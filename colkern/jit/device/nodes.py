"""The nodes of a builder's tree in a kernel: counts, and stores into slots.

`colkern.jit.building` has the methods of builders, made of a few functions. This module has those functions
for kernels. An appended value is counted, and stored if it is within the room of its row: in the launch
that measures, rows have no room.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from colkern import schema as s
from colkern.cuda import adapter
from colkern.jit import lowering
from colkern.jit.building import byte_strings, nulls, state
from colkern.jit.building.builder_type import BuilderType
from colkern.jit.building.nodes import Node, child_rows, counters
from colkern.jit.building.numbers import put_decimal
from colkern.jit.device import columns, decimals
from colkern.jit.device.emitter import Built, Emitter, Value, present
from colkern.jit.device.kinds import BOOL, NOTHING, PLAIN, Kind, Number, Record
from colkern.jit.elements import memory
from colkern.jit.views.slots import row_field
from colkern.kernels import slot_values
from colkern.kernels.row_values import Text


@dataclass(frozen=True)
class Builder(Kind):
    """A builder, or a node below one.

    Its parts are arrays (int64) that the whole tree of a thread shares: the counts of each node, the ends
    of the row's room, and the number of nulls that the thread has seen.

    Args:
        type: Its type in compiled loops.
        row: The place of the node in the tree, each standing before its children.
        counter: The position of its counts, as in `counters`.
    """

    type: BuilderType
    row: int = 0
    counter: int = 0

    parts = ("counts", "ends", "nulls")

    @property
    def words(self) -> str:
        return f"a builder of {self.data_type}"

    @property
    def data_type(self) -> s.DataType:
        """The data type of the node."""
        return self.type.data_type

    @property
    def node(self) -> Node:
        """The description of how its values are built."""
        return self.type.node

    def child(self, k: int) -> Builder:
        """The kind of a node below."""
        rows = child_rows(self.data_type)[k]
        counter = self.counter + counters(self.data_type)[rows]
        return Builder(self.type.child(k), self.row + rows, counter)


NONE = Value(NOTHING, ())


def kind_of(out: Value) -> Builder:
    """The kind of a builder."""
    assert isinstance(out.kind, Builder)
    return out.kind


def child(out: Value, k: int) -> Value:
    """A node below."""
    return Value(kind_of(out).child(k), out.parts)


def _length(out: Value) -> str:
    """The code of the number of slots; it can be assigned to."""
    return f"{out.parts[0]}[{kind_of(out).counter}]"


def _used(out: Value) -> str:
    """The code of the number of bytes or values that they use; it can be assigned to."""
    return f"{out.parts[0]}[{kind_of(out).counter + 1}]"


def _end(out: Value, further: int = 0) -> str:
    """The code of the end of the row's room, for slots; `further` 1 for bytes."""
    return f"{out.parts[1]}[{kind_of(out).counter + further}]"


def _store(e: Emitter, out: Value, name: str, place: str, value: str, end: str) -> None:
    """Store a value as item `place` of the node's memory of a name, if that is before the end."""
    item = kind_of(out).node.item if name == "items" else np.dtype(np.uint8)
    assert item is not None
    code = item.str[1:]
    e.namespace |= {
        "_ck_store_item": adapter.primitive("store_item"),
        f"_ck_type_{code}": np.dtype(code).type,
    }
    address = _address(e, out, name, place, item.itemsize)
    stored = f"_ck_store_item({e.like(code)}, {address}, _ck_type_{code}({value}))"
    e.emit(f"if {place} < {end}: {stored}")


def _address(e: Emitter, out: Value, name: str, place: str, size: int) -> str:
    """The code of the address of an item of `size` bytes."""
    first = e.need(Built(kind_of(out).row, name))
    return f"{first} + _ck_u8({place})" + (f" * _ck_u8({size})" if size > 1 else "")


def _copy(e: Emitter, out: Value, name: str, place: Value, plain: Value, end: str) -> None:
    """Copy the bytes of a text or byte string to `place`, if all of them are before the end."""
    at = e.bind(place.parts[0])
    address, size = plain.parts[:2]
    length = f"{size} if {at} + {size} <= {end} else 0"
    target = _address(e, out, name, at, 1)
    likes = e.like("u1"), e.like("u8")
    e.emit(e.call(slot_values.write_bytes, *likes, target, f"_ck_u8({address})", length))


# The functions that methods of builders are made of


def _nothing(e: Emitter, *values: Value) -> Value:
    return NONE


def _number(count: Callable[[Value], str]) -> Callable[..., Value]:
    """The reader of a count of a node."""
    return lambda e, row, *values: Value(PLAIN, (e.bind(count(row)),))


def _set(count: Callable[[Value], str]) -> Callable[..., Value]:
    """The writer of an assignment to a count of a node."""

    def assign(e: Emitter, row: Value, value: Value) -> Value:
        e.emit(f"{count(row)} = {value.parts[0]}")
        return NONE

    return assign


def _put_item(e: Emitter, out: Value, place: Value, item: Value) -> Value:
    at, node = e.bind(place.parts[0]), kind_of(out).node
    _store(e, out, "items", at, e.plain(item), f"{_end(out)} + {int(node.has_offsets)}")
    return NONE


def _put_empty(e: Emitter, out: Value, slot: Value) -> Value:
    """Store the offset before again; other memory has zeros where nothing is stored."""
    if kind_of(out).node.has_offsets:
        _put_item(e, out, Value(PLAIN, (f"{slot.parts[0]} + 1",)), Value(PLAIN, (_used(out),)))
    return NONE


def _put_bytes(e: Emitter, row: Value, place: Value, plain: Value) -> Value:
    _copy(e, row, "data", place, plain, _end(row, 1))
    return NONE


def _put_sized(e: Emitter, out: Value, place: Value, plain: Value) -> Value:
    _copy(e, out, "items", place, plain, f"{_end(out)} * {kind_of(out).node.per_slot}")
    return NONE


def _mark(e: Emitter, row: Value, slot: Value) -> Value:
    """Count a null, and mark its slot by a byte."""
    kind = kind_of(row)
    nulls = f"{row.parts[2]}[{kind.row}]"
    e.emit(f"{nulls} = {nulls} + 1")
    # There are marks if there were nulls to measure.
    has_marks = f"{e.need(Built(kind.row, 'nulls'))} != _ck_zero"
    _store(e, row, "nulls", slot.parts[0], "1", e.bind(f"{_end(row)} if {has_marks} else 0"))
    return NONE


def _raw(e: Emitter, value: Value) -> Value:
    """A number of a date or time; address and size of a text or byte string."""
    if len(value.parts) == 1:
        return Value(Number("i8"), value.parts)
    kinds = (Number("i8"), Number("i8"), BOOL)[: len(value.parts)]
    return Value(Record(kinds, Text._fields[: len(kinds)]), value.parts)


def _row_field(e: Emitter, row: Value, k: Value) -> Value:
    return columns.field_of_row(e, row, int(k.parts[0]))


# Integers of several words


def _put_decimal(e: Emitter, out: Value, slot: Value, value: Value) -> Value:
    """Store a number in a slot; whether it has no more digits than the type."""
    storage, at = kind_of(out).data_type.storage, e.bind(slot.parts[0])
    assert isinstance(storage, s.Decimal)
    words = decimals.stored(e, value, storage)
    for k, word in enumerate(words):
        place, end = e.bind(f"{at} * {len(words)} + {k}"), f"{_end(out)} * {len(words)}"
        _store(e, out, "items", place, f"_ck_i8({word})", end)
    return decimals.is_within(e, words, storage)


IN_A_KERNEL: dict[object, Callable[..., Value]] = {
    byte_strings.put_bytes: _put_bytes,
    byte_strings.put_sized: _put_sized,
    memory.keep: _nothing,
    memory.raw: _raw,
    nulls.ensure_marks: _nothing,
    nulls.mark: _mark,
    put_decimal: _put_decimal,
    lowering.unwrapped: lambda e, value: present(value),
    state.ensure_slots: _nothing,
    state.new_bytes: _number(_used),
    state.new_slot: _number(_length),
    state.length_of: _number(_length),
    state.put_empty: _put_empty,
    state.put_item: _put_item,
    state.row_of: lambda e, out: out,
    state.set_length: _set(_length),
    state.set_used: _set(_used),
    state.used_of: _number(_used),
    row_field: _row_field,
}
"""The writers of a kernel's code, by the functions of `colkern.jit.building` that they stand for."""
