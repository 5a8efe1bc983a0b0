"""Columns, batches and rows in users' kernels, spelled as those of `colkern.Array`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from colkern import schema as s
from colkern.dispatch import TIMES
from colkern.jit.device import elements
from colkern.jit.device.emitter import Emitter, Value, integer
from colkern.jit.device.kinds import BOOL, PLAIN, Column, Literal, Number, Row, nullable
from colkern.jit.stored_elements import AS_OTHER
from colkern.kernels import slot_values as slots
from colkern.layouts import Role, layout

# Positions


def slot_at(e: Emitter, column: Value, index: str) -> tuple[str, str]:
    """The slot of an index, and the code of whether it may be read."""
    start, length = column.parts
    if not e.program.checked:
        return e.bind(e.call(slots.slot_of, index, start, length)), elements.ALWAYS
    place = e.place(IndexError, "column index out of range")
    slot = e.bind(e.call(slots.checked_slot_of, index, start, length, place))
    e.stop_if_noted()
    return slot, readable(e, slot)


def readable(e: Emitter, slot: str) -> str:
    """The code of whether a slot may be read: if indices are checked, there may be no such slot."""
    return f"({slot} != _ck_nowhere)" if e.program.checked else elements.ALWAYS


def item(e: Emitter, column: Value, index: str) -> Value:
    """`column[index]`."""
    return slot_item(e, column, *slot_at(e, column, index))


def slot_item(e: Emitter, column: Value, slot: str, may_read: str, asks: bool = True) -> Value:
    """The value of a slot of a column: the rows of batches and the entries of maps are never null."""
    kind = _kind(column)
    if kind.form != "column":
        return Value(Row(kind.path, kind.data_type, kind.form), (slot,))
    return elements.element(e, kind.path, kind.data_type, slot, may_read, asks=asks)


def part(e: Emitter, column: Value, start: str | None, stop: str | None) -> Value:
    """`column[start:stop]`."""
    kind = _kind(column)
    first, length = column.parts
    begin = e.bind(e.call(slots.bound_of, start, length)) if start else "0"
    end = e.bind(e.call(slots.bound_of, stop, length)) if stop else length
    count = e.bind(e.call(slots.span, begin, end))
    parts = e.bind(f"{first} + _ck_u8({begin})"), count
    return Value(Column(kind.path, kind.data_type, kind.form), parts)


# Fields


def position_of(e: Emitter, kind: Column | Row, name: str) -> int:
    """The position of the child with a field's name."""
    names = [field.name for field in kind.data_type.fields]
    if kind.form == "entries" and name in ("key", "value"):
        return ("key", "value").index(name)
    if names.count(name) != 1:
        problem = "more than one field" if name in names else "no field"
        raise e.failure(f"{kind.words} has {problem} {name!r}; its fields are {', '.join(names)}")
    return names.index(name)


def is_struct(kind: Column | Row) -> bool:
    """Whether there are fields: of structs, batches and the entries of maps."""
    return isinstance(kind.data_type, s.Struct)


def has_field(kind: Column | Row, name: str) -> bool:
    """Whether a column or a row has a field of that name."""
    if not is_struct(kind):
        return False
    named = any(field.name == name for field in kind.data_type.fields)
    return named or (isinstance(kind, Row) and kind.form == "entries" and name in ("key", "value"))


def chosen_position(e: Emitter, kind: Column | Row, key: Value) -> int:
    """The position of the child that a literal index or name selects."""
    if isinstance(key.kind, Literal) and isinstance(key.kind.value, str):
        return position_of(e, kind, key.kind.value)
    number, count = integer(key), len(kind.data_type.fields)
    if number is None:
        raise e.failure("a field or a child is named by a literal, as its type depends on it")
    if not -count <= number < count:
        raise e.failure(f"{kind.words} has {count} fields, and none at {number}")
    return number % count


def field_of_column(e: Emitter, column: Value, k: int) -> Value:
    """Child `k` of a struct column, a batch, a map's entries or a sparse union, as a column."""
    kind = _kind(column)
    path = kind.path.part(k)
    start = e.bind(f"{e.member(path, 'offset')} + {column.parts[0]}")
    whole = kind.whole and kind.form == "batch"
    child = Column(path, kind.data_type.fields[k].type.storage, whole=whole)
    return Value(child, (start, column.parts[1]))


def field_of_row(e: Emitter, row: Value, k: int) -> Value:
    """Child `k` of a row, None where it is null."""
    kind = _row_kind(row)
    (slot,) = row.parts
    child = elements.child_slot(e, kind.path, k, slot)
    return elements.element(
        e, kind.path.part(k), kind.data_type.fields[k].type, child, readable(e, slot)
    )


def whole_part(e: Emitter, column: Value, k: int, data_type: s.DataType) -> Value:
    """All of a child, or of the dictionary."""
    path = _kind(column).path.part(k)
    parts = e.member(path, "offset"), e.member(path, "length")
    return Value(Column(path, data_type.storage, whole=True), parts)


# Attributes


def null_count(e: Emitter, column: Value) -> Value:
    """`column.null_count`."""
    kind = _kind(column)
    start, length = column.parts
    if isinstance(kind.data_type, s.Null):
        return Value(PLAIN, (length,))
    if kind.form != "column" or not layout(kind.data_type).has_validity:
        return Value(PLAIN, ("0",))
    if kind.whole:
        return Value(PLAIN, (e.member(kind.path, "null_count"),))
    bitmap = e.member(kind.path, Role.VALIDITY.value)
    return Value(PLAIN, (e.bind(e.call(slots.count_nulls, e.like("u1"), bitmap, start, length)),))


def _unit(e: Emitter, column: Value) -> Value:
    return Value(Literal(_kind(column).data_type.unit), ())  # type: ignore[attr-defined]


def _dictionary(e: Emitter, column: Value) -> Value:
    return whole_part(e, column, 0, _kind(column).data_type.value_type)  # type: ignore[attr-defined]


def _run_ends(e: Emitter, column: Value) -> Value:
    return whole_part(e, column, 0, _kind(column).data_type.fields[0].type)


def _values(e: Emitter, column: Value) -> Value:
    if _kind(column).form == "entries":
        return field_of_column(e, column, 1)
    return whole_part(e, column, 1, _kind(column).data_type.fields[1].type)


def _keys(e: Emitter, column: Value) -> Value:
    return field_of_column(e, column, 0)


ATTRIBUTES: dict[str, tuple[tuple[type[s.DataType], ...], Callable[[Emitter, Value], Value]]] = {
    "null_count": ((s.DataType,), null_count),
    "unit": ((*TIMES, s.Interval), _unit),
    "dictionary": ((s.Dictionary,), _dictionary),
    "run_ends": ((s.RunEndEncoded,), _run_ends),
    "values": ((s.RunEndEncoded,), _values),
}


def attribute_of(column: Value, name: str) -> Callable[[Emitter, Value], Value] | None:
    """The writer of an attribute other than fields; None if columns of the type do not have it."""
    kind = _kind(column)
    if kind.form == "entries" and name in ("keys", "values"):
        return _keys if name == "keys" else _values
    types, attribute = ATTRIBUTES.get(name, ((), None))
    return attribute if isinstance(kind.data_type, types) else None


def column_attribute(e: Emitter, column: Value, name: str) -> Value:
    """`column.name`."""
    kind = _kind(column)
    attribute = attribute_of(column, name)
    if attribute is not None:
        return attribute(e, column)
    if has_field(kind, name):
        return field_of_column(e, column, position_of(e, kind, name))
    raise e.failure(f"{kind.words} has no {name!r} in a kernel")


def row_attribute(e: Emitter, row: Value, name: str) -> Value:
    """`row.name`."""
    kind = _row_kind(row)
    (slot,) = row.parts
    if name == "type_id" and isinstance(kind.data_type, s.Union):
        code = elements.type_id(e, kind.path, slot, readable(e, slot))
        return Value(Number("i1"), (code,))
    if has_field(kind, name):
        return field_of_row(e, row, position_of(e, kind, name))
    raise e.failure(f"{kind.words} has no {name!r} in a kernel")


# Methods


def _is_valid(e: Emitter, column: Value, slot: str, may_read: str) -> Value:
    kind = _kind(column)
    if kind.form != "column":
        return Value(BOOL, ("True",))
    return Value(BOOL, (elements.validity(e, kind.path, kind.data_type, slot, may_read),))


def _type_id(e: Emitter, column: Value, slot: str, may_read: str) -> Value:
    return Value(Number("i1"), (elements.type_id(e, _kind(column).path, slot, may_read),))


def _child_index(e: Emitter, column: Value, slot: str, may_read: str) -> Value:
    kind = _kind(column)
    if _union(kind).mode == "sparse":
        place = f"{slot} - {column.parts[0]}"
    else:
        place = elements.union_place(e, kind.path, _union(kind), slot, may_read)
    return Value(PLAIN, (e.bind(f"_ck_i8({place})"),))


def _index(e: Emitter, column: Value, slot: str, may_read: str) -> Value:
    kind = _kind(column)
    assert isinstance(kind.data_type, s.Dictionary)
    place = elements.index_slot(e, kind.path, kind.data_type, slot, may_read, "_ck_zero")
    return Value(PLAIN, (e.bind(f"_ck_i8({place})"),))


def _run(e: Emitter, column: Value, slot: str, may_read: str) -> Value:
    kind = _kind(column)
    assert isinstance(kind.data_type, s.RunEndEncoded)
    run = elements.run_of(e, kind.path, kind.data_type, slot, may_read)
    return Value(PLAIN, (e.bind(f"_ck_i8({run})"),))


def _child(e: Emitter, column: Value, key: Value) -> Value:
    kind = _kind(column)
    k = chosen_position(e, kind, key)
    if _union(kind).mode == "sparse":
        return field_of_column(e, column, k)
    return whole_part(e, column, k, kind.data_type.fields[k].type)


BY_POSITION: dict[str, tuple[type[s.DataType], Callable[[Emitter, Value, str, str], Value]]] = {
    "is_valid": (s.DataType, _is_valid),
    "value": (s.DataType, partial(slot_item, asks=False)),
    "type_id": (s.Union, _type_id),
    "child_index": (s.Union, _child_index),
    "index": (s.Dictionary, _index),
    "run": (s.RunEndEncoded, _run),
}


def column_method(e: Emitter, column: Value, name: str, arguments: Sequence[Value]) -> Value:
    """`column.name(…)`."""
    kind = _kind(column)
    types, other = AS_OTHER.get(name, ((), None))
    if other is not None and isinstance(kind.data_type, types) and not arguments:
        return Value(replace(kind, data_type=other(kind.data_type)), column.parts)
    is_child = name == "child" and isinstance(kind.data_type, s.Union)
    wanted, method = BY_POSITION.get(name, (None, None))
    if not is_child and (wanted is None or not isinstance(kind.data_type, wanted)):
        raise e.failure(f"{kind.words} has no {name!r} in a kernel")
    if len(arguments) != 1:
        raise e.failure(f"{name} takes one argument, got {len(arguments)}")
    if method is None:
        return _child(e, column, arguments[0])
    return method(e, column, *slot_at(e, column, e.plain(arguments[0])))


def row_method(e: Emitter, row: Value, name: str, arguments: Sequence[Value]) -> Value:
    """`slot.child(k)` of a union's slot: its value in the child, or None."""
    kind = _row_kind(row)
    if name != "child" or not isinstance(kind.data_type, s.Union) or len(arguments) != 1:
        raise e.failure(f"{kind.words} has no {name!r} in a kernel")
    (slot,) = row.parts
    k = chosen_position(e, kind, arguments[0])
    may_read = readable(e, slot)
    if kind.data_type.mode == "dense":
        # The offset of a slot of another type leads elsewhere.
        code = elements.type_id(e, kind.path, slot, may_read)
        may_read = e.bind(f"{may_read} and {code} == {kind.data_type.type_codes[k]}")
        e.is_of_child(may_read, k)
    place = elements.union_slot(e, kind.path, kind.data_type, k, slot, may_read)
    read = elements.element(e, kind.path.part(k), kind.data_type.fields[k].type, place, may_read)
    if kind.data_type.mode == "sparse" or nullable(read.kind) == read.kind:
        return read
    return Value(nullable(read.kind), (may_read, *read.parts))


def _kind(column: Value) -> Column:
    assert isinstance(column.kind, Column)
    return column.kind


def _row_kind(row: Value) -> Row:
    assert isinstance(row.kind, Row)
    return row.kind


def _union(kind: Column) -> s.Union:
    assert isinstance(kind.data_type, s.Union)
    return kind.data_type
