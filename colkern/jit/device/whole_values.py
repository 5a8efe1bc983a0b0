"""Lists, maps and structs appended whole: each part goes to the node below that holds it."""

from __future__ import annotations

from collections.abc import Callable

from colkern import schema as s
from colkern.jit.building.nodes import NodeKind
from colkern.jit.device import columns, elements, methods, nesting
from colkern.jit.device.appending import append_items
from colkern.jit.device.emitter import Emitter, Value, items
from colkern.jit.device.kinds import Column, Element, Record, Row
from colkern.jit.device.nodes import child, kind_of
from colkern.rows.kinds import Container

Append = Callable[[Emitter, Value, Value], None]


def append_whole(e: Emitter, out: Value, value: Value, append: Append) -> bool:
    """Append a list, a map or a struct; False if the builder does not take such a value.

    Args:
        e: What writes the statements.
        out: The builder.
        value: The value, which is not None.
        append: How a part is appended.
    """
    made = _APPENDS.get(kind_of(out).node.kind)
    return made is not None and made(e, out, value, append)


def _append_list(e: Emitter, out: Value, value: Value, append: Append) -> bool:
    values = child(out, 0)
    if isinstance(value.kind, Column):
        _each(e, value, lambda item: append(e, values, item))
    elif isinstance(value.kind, Element) and isinstance(value.kind.of, Container):
        count, item = methods.iterated(e, value)
        e.repeated(count, lambda position: append(e, values, item(position)))
    elif not append_items(e, values, value):
        return False
    nesting.end_list(e, out)
    return True


def _append_map(e: Emitter, out: Value, value: Value, append: Append) -> bool:
    if not isinstance(value.kind, Column) or value.kind.form != "entries":
        return False
    entries = child(out, 0)

    def append_entry(entry: Value) -> None:
        for k in range(2):
            append(e, child(entries, k), columns.field_of_row(e, entry, k))

    _each(e, value, append_entry)
    nesting.end_map(e, out)
    return True


def _each(e: Emitter, column: Value, body: Callable[[Value], None]) -> None:
    """Add a loop over what a column holds."""
    start, length = column.parts

    def at(position: str) -> None:
        slot = e.bind(f"{start} + {position}")
        body(columns.slot_item(e, column, slot, elements.ALWAYS))

    e.repeated(length, at)


def _append_struct(e: Emitter, out: Value, value: Value, append: Append) -> bool:
    parts = _parts(e, value)
    if parts is None or len(parts) != len(kind_of(out).node.children):
        return False
    for k, part in enumerate(parts):
        append(e, child(out, k), part)
    nesting.end_row(e, out)
    return True


def _parts(e: Emitter, value: Value) -> list[Value] | None:
    """The values of a tuple or of a row; None of what is neither."""
    if isinstance(value.kind, Record):
        return items(value)
    if isinstance(value.kind, Row) and isinstance(value.kind.data_type, s.Struct):
        return [columns.field_of_row(e, value, k) for k in range(len(value.kind.data_type.fields))]
    return None


_APPENDS: dict[NodeKind, Callable[[Emitter, Value, Value, Append], bool]] = {
    NodeKind.LIST: _append_list,
    NodeKind.FIXED_SIZE_LIST: _append_list,
    NodeKind.MAP: _append_map,
    NodeKind.STRUCT: _append_struct,
}
