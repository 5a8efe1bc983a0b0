"""A node of a tree that is built: its counts, the slot to append to, and what is stored there.

Where rows are measured nothing is stored. Where they are written, a row has the room that was measured
for it: what it appends beyond that is noted, and no memory is touched.
"""

from __future__ import annotations

import numpy as np

from colkern.cuda import adapter
from colkern.jit.device.builder_kinds import Builder
from colkern.jit.device.emitter import Built, Emitter, Value
from colkern.jit.device.tree import CHANGED
from colkern.kernels import slot_values


def kind_of(out: Value) -> Builder:
    """The kind of a builder."""
    assert isinstance(out.kind, Builder)
    return out.kind


def is_measured(out: Value) -> bool:
    """Whether rows are measured, and nothing is stored."""
    return kind_of(out).mode == "measure"


def child(out: Value, k: int) -> Value:
    """A node below."""
    return Value(kind_of(out).child(k), out.parts)


def length(out: Value) -> str:
    """The code of how many slots there are; it can be assigned to."""
    return f"{out.parts[0]}[{kind_of(out).counter}]"


def used(out: Value) -> str:
    """The code of how many bytes or values they use; it can be assigned to."""
    return f"{out.parts[0]}[{kind_of(out).counter + 1}]"


def require(e: Emitter, out: Value, right: str, exception: type[Exception], message: str) -> None:
    """A condition of what is appended, noted where it is false.

    Looked at where rows are measured. What is written has the same counts, whatever else it is then.
    """
    if is_measured(out):
        e.note_unless(right, exception, message)


def _room(e: Emitter, enough: str) -> str:
    """The name of whether there is room to write."""
    room = e.fresh()
    e.emit(f"{room} = {enough}")
    e.note_unless(room, ValueError, CHANGED)
    return room


def has_marks(e: Emitter, out: Value) -> str:
    """The name of whether nulls can be marked: they can where there were some to measure."""
    return _room(e, f"{e.need(Built(kind_of(out).row, 'nulls'))} != _ck_zero")


def new_slot(e: Emitter, out: Value) -> tuple[str, str]:
    """The slot to append to, and the code of whether there is room for it."""
    slot = e.bind(length(out))
    if is_measured(out):
        return slot, "True"
    end = f"{out.parts[1]}[{kind_of(out).counter}]"
    return slot, _room(e, f"{slot} < {end}")


def new_bytes(e: Emitter, out: Value, count: str) -> tuple[str, str]:
    """The bytes that there are, and the code of whether there is room for so many more."""
    before = e.bind(used(out))
    if is_measured(out):
        return before, "True"
    end = f"{out.parts[1]}[{kind_of(out).counter + 1}]"
    return before, _room(e, f"{count} <= {end} - {before}")


def end_slot(e: Emitter, out: Value, slot: str) -> None:
    """The slot has been appended."""
    e.emit(f"{length(out)} = {slot} + 1")


def store(e: Emitter, out: Value, name: str, place: str, value: str, room: str) -> None:
    """Item `place` of what the node has by a name becomes a value, if there is room."""
    if is_measured(out):
        return
    item = kind_of(out).node.item if name == "items" else np.dtype(np.uint8)
    assert item is not None
    code = item.str[1:]
    e.namespace |= {
        "_ck_store_item": adapter.primitive("store_item"),
        f"_ck_type_{code}": np.dtype(code).type,
    }
    address = _address(e, out, name, place, item.itemsize)
    e.emit(f"if {room}: _ck_store_item({e.like(code)}, {address}, _ck_type_{code}({value}))")


def _address(e: Emitter, out: Value, name: str, place: str, size: int) -> str:
    """The code of the address of an item of `size` bytes."""
    first = e.need(Built(kind_of(out).row, name))
    return f"{first} + _ck_u8({place})" + (f" * _ck_u8({size})" if size > 1 else "")


def copy(e: Emitter, out: Value, name: str, place: str, source: tuple[str, str], room: str) -> None:
    """A byte string goes to byte `place`, if there is room."""
    if is_measured(out):
        return
    address, length = source
    given = f"{length} if {room} else 0"
    target = _address(e, out, name, place, 1)
    likes = e.like("u1"), e.like("u8")
    e.emit(e.call(slot_values.write_bytes, *likes, target, f"_ck_u8({address})", given))
