"""Lists, maps, structs and nulls: a slot ends what was appended to the nodes below, or has nothing."""

from __future__ import annotations

from collections.abc import Callable

from colkern.jit.building.nodes import NodeKind
from colkern.jit.device.emitter import Emitter, Value
from colkern.jit.device.nodes import (
    child,
    end_slot,
    has_marks,
    is_measured,
    kind_of,
    length,
    new_slot,
    require,
    store,
    used,
)


def end_list(e: Emitter, out: Value) -> None:
    """`out.end_list()`."""
    values = child(out, 0)
    if kind_of(out).node.kind is NodeKind.LIST:
        _end_range(e, out, e.bind(length(values)))
        return
    slot, _ = new_slot(e, out)
    size, message = kind_of(out).node.per_slot, kind_of(out).data_type
    right = f"{length(values)} == ({slot} + 1) * {size}"
    require(e, out, right, ValueError, f"end_list: another number of values than a {message} has")
    end_slot(e, out, slot)


def _end_range(e: Emitter, out: Value, end: str) -> None:
    """Append the slot of the values up to `end`."""
    slot, room = new_slot(e, out)
    store(e, out, "items", f"{slot} + 1", end, room)
    e.emit(f"{used(out)} = {end}")
    end_slot(e, out, slot)


def _entries(out: Value) -> tuple[Value, Value, Value]:
    """The entries of a map, their keys and their items."""
    entries = child(out, 0)
    return entries, child(entries, 0), child(entries, 1)


def end_map(e: Emitter, out: Value) -> None:
    """`out.end_map()`."""
    entries, keys, values = _entries(out)
    end = e.bind(length(keys))
    require(e, out, f"{length(values)} == {end}", ValueError, "end_map: not as many items as keys")
    _end_range(e, out, end)
    e.emit(f"{length(entries)} = {end}")


def end_row(e: Emitter, out: Value) -> None:
    """`out.end_row()`."""
    slot, _ = new_slot(e, out)
    for k, field in enumerate(kind_of(out).node.children):
        message = f"end_row: not one value of {field.name!r} since the last row"
        require(e, out, f"{length(child(out, k))} == {slot} + 1", ValueError, message)
    end_slot(e, out, slot)


# Nulls


def append_null(e: Emitter, out: Value) -> None:
    """`out.append_null()`."""
    kind = kind_of(out)
    if not kind.nullable:
        message = f"a null among values of {kind.data_type} that are declared not nullable"
        require(e, out, "False", ValueError, message)
    elif kind.node.kind is not NodeKind.NULL:
        _mark(e, out)
    _append_empty(e, out)


def _mark(e: Emitter, out: Value) -> None:
    """The next slot is null: counted where rows are measured, and a byte says so."""
    kind = kind_of(out)
    if is_measured(out):
        nulls = f"{out.parts[1]}[{kind.row}]"
        e.emit(f"{nulls} = {nulls} + 1")
        return
    slot, room = new_slot(e, out)
    store(e, out, "nulls", slot, "1", f"{room} and {has_marks(e, out)}")


def _append_empty(e: Emitter, out: Value) -> None:
    """Append a slot of zeros, which memory has, or of nothing: what stands under a null."""
    _EMPTY.get(kind_of(out).node.kind, _append_zeros)(e, out)


def _append_zeros(e: Emitter, out: Value) -> None:
    end_slot(e, out, length(out))


def _empty_binary(e: Emitter, out: Value) -> None:
    _end_range(e, out, e.bind(used(out)))


def _empty_list(e: Emitter, out: Value) -> None:
    right = f"{length(child(out, 0))} == {used(out)}"
    require(e, out, right, ValueError, "a null among values of a list: end_list() is missing")
    _end_range(e, out, e.bind(used(out)))


def _empty_map(e: Emitter, out: Value) -> None:
    _, keys, values = _entries(out)
    right = f"{length(keys)} == {used(out)} and {length(values)} == {used(out)}"
    require(e, out, right, ValueError, "a null among entries of a map: end_map() is missing")
    _end_range(e, out, e.bind(used(out)))


def _empty_fixed_size_list(e: Emitter, out: Value) -> None:
    values, size = child(out, 0), kind_of(out).node.per_slot
    slot, _ = new_slot(e, out)
    right = f"{length(values)} == {slot} * {size}"
    require(e, out, right, ValueError, "a null among values of a list: end_list() is missing")
    e.repeated(str(size), lambda _: _append_empty(e, values))
    end_slot(e, out, slot)


def _empty_struct(e: Emitter, out: Value) -> None:
    slot, _ = new_slot(e, out)
    children = kind_of(out).node.children
    for k, field in enumerate(children):
        message = f"a null in a row that has a value of {field.name!r}: end_row() is missing"
        require(e, out, f"{length(child(out, k))} == {slot}", ValueError, message)
    for k in range(len(children)):
        _append_empty(e, child(out, k))
    end_slot(e, out, slot)


_EMPTY: dict[NodeKind, Callable[[Emitter, Value], None]] = {
    NodeKind.BINARY: _empty_binary,
    NodeKind.LIST: _empty_list,
    NodeKind.MAP: _empty_map,
    NodeKind.FIXED_SIZE_LIST: _empty_fixed_size_list,
    NodeKind.STRUCT: _empty_struct,
}
