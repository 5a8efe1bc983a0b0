"""Finds the first difference between two schemas, arrays or batches, by value.

Values are compared by `colkern.arrays.equality`, with NaN equal to NaN and dictionaries replaced by the
values to which slots refer. A null does not equal an index that refers to a null.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from colkern.arrays import Array, RecordBatch, slots
from colkern.arrays.display import MOST_MEMBERS, cell_text
from colkern.arrays.equality import equal_slots, parts_of
from colkern.arrays.values import preview
from colkern.errors import DifferenceError, placed, shown
from colkern.layouts import Role
from colkern.schema import DataType, Dictionary, Field, Map, Null, Schema, Union, same_type

_ROWS = 1 << 16
"""The number of rows compared at a time, so that the memory gathered for them stays small."""


# Schemas


def require_equal_schemas(a: Schema, b: Schema, a_name: str, b_name: str) -> None:
    """Raise DifferenceError unless schemas are equal, except for names in lists and maps, ids, metadata
    order."""

    def refuse(path: str, a_says: object, b_says: object) -> None:
        place = f"schema, field {path}" if path else "schema"
        raise DifferenceError(f"{place}: {a_says} in {a_name}, {b_says} in {b_name}")

    if a.names != b.names:
        refuse("", shown(a.names), shown(b.names))
    _compare_metadata("", a.metadata, b.metadata, refuse)
    for a_field, b_field in zip(a, b, strict=True):
        _compare_fields(a_field.name, a_field, b_field, refuse)


_Refuse = Callable[[str, object, object], None]


def _compare_fields(
    path: str, a: Field, b: Field, refuse: _Refuse, are_entries: bool = False
) -> None:
    # The deepest difference comes first, as it makes the enclosing types differ.
    a_children, b_children = _children(a.type), _children(b.type)
    if len(a_children) == len(b_children):
        for a_child, b_child in zip(a_children, b_children, strict=True):
            _compare_fields(
                f"{path}.{a_child.name}", a_child, b_child, refuse, isinstance(a.type.storage, Map)
            )
    # The names in the entries of a map have no meaning; those in other structs do.
    if not are_entries and not same_type(a.type, b.type):
        refuse(path, a.type, b.type)
    if a.nullable != b.nullable:
        refuse(path, *("nullable" if field.nullable else "not nullable" for field in (a, b)))
    _compare_metadata(path, a.metadata, b.metadata, refuse)


def _children(data_type: DataType) -> tuple[Field, ...]:
    storage = data_type.storage
    return storage.value_type.fields if isinstance(storage, Dictionary) else storage.fields


def _compare_metadata(
    path: str, a: Mapping[bytes, bytes] | None, b: Mapping[bytes, bytes] | None, refuse: _Refuse
) -> None:
    if dict(a or {}) != dict(b or {}):
        refuse(path, f"metadata {shown(dict(a or {}))}", f"{shown(dict(b or {}))}")


# Batches


class Difference(NamedTuple):
    """The place at which two arrays differ."""

    row: int
    path: tuple[str, ...]  #: The names of the nested children that lead to the difference.
    a: str
    b: str  #: The value in the other array.


def require_equal_batches(a: RecordBatch, b: RecordBatch, a_name: str, b_name: str) -> None:
    """Raise DifferenceError, with the place, unless two batches of equal schemas have the same rows."""
    if a.num_rows != b.num_rows:
        raise DifferenceError(f"{a.num_rows} rows in {a_name}, {b.num_rows} in {b_name}")
    for position, field in enumerate(a.schema):
        with placed(f"column {field.name!r}"):
            difference = array_difference(a.column(position), b.column(position))
        if difference is not None:
            path = ".".join((field.name, *difference.path))
            raise DifferenceError(
                f"column {path!r}, row {difference.row}: {difference.a} in {a_name}, "
                f"{difference.b} in {b_name}"
            )


def array_difference(a: Array, b: Array) -> Difference | None:
    """Returns a row in which two arrays of equal types and lengths differ, or None; host memory only."""
    if isinstance(a.type.storage, Null):
        return None
    for start in range(0, a.length, _ROWS):
        slots = np.arange(start, min(start + _ROWS, a.length), dtype=np.int64)
        row = _first_difference(a, slots, b, slots)
        if row is not None:
            slot = slots[row : row + 1]
            return Difference(start + row, *_explained(a, slot, b, slot))
    return None


def _first_difference(a: Array, a_slots: slots.Slots, b: Array, b_slots: slots.Slots) -> int | None:
    """Returns the first i for which slot `a_slots[i]` of `a` differs from slot `b_slots[i]` of `b`, by
    bisection."""
    if equal_slots(a, a_slots, b, b_slots, by_value=True):
        return None
    start, stop = 0, a_slots.size
    while stop - start > 1:
        half = slice(start, (start + stop) // 2)
        if equal_slots(a, a_slots[half], b, b_slots[half], by_value=True):
            start = half.stop
        else:
            stop = half.stop
    return start


def _explained(
    a: Array, a_slot: slots.Slots, b: Array, b_slot: slots.Slots
) -> tuple[tuple[str, ...], str, str]:
    """Returns the path to the difference of two slots (int64[1]), and both values there as text."""
    sides = ((a, a_slot), (b, b_slot))
    validity = [slots.valid_at(array, slot) for array, slot in sides]
    valid = [bits is None or bool(bits[0]) for bits in validity]
    if all(valid):
        find_parts = parts_of.get(a.layout.kind)
        parts = None if find_parts is None else find_parts(a, a_slot, b, b_slot)
        for way, a_part, a_places, b_part, b_places in parts or ():
            row = _first_difference(a_part, a_places, b_part, b_places)
            if row is not None:
                one = slice(row, row + 1)
                path, a_text, b_text = _explained(a_part, a_places[one], b_part, b_places[one])
                return way + path, a_text, b_text
        if isinstance(a.type.storage, Union):
            a_id, b_id = (slots.items_at(array, Role.TYPE_IDS, slot)[0] for array, slot in sides)
            return (), f"type id {a_id}", f"{b_id}"
    a_text, b_text = (
        _text(array, int(slot[0])) if is_valid else "no value"
        for (array, slot), is_valid in zip(sides, valid, strict=True)
    )
    return (), a_text, b_text


def _text(array: Array, slot: int) -> str:
    (value,) = preview(array.slice(slot, 1), MOST_MEMBERS + 1)
    return repr(value) if isinstance(value, str) else cell_text(value)
