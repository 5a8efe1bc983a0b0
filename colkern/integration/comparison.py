"""Where two schemas, arrays or batches differ, by value.

Compared is what the slots mean: what stands under nulls, offsets, the order of views and how runs are
cut play no part, nor by which dictionary a value is said. NaN equals NaN here, and 0.0 equals -0.0; a
null does not equal an index that leads to a null.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from colkern.arrays import Array, RecordBatch
from colkern.arrays.display import MOST_MEMBERS, cell_text
from colkern.arrays.slots import (
    Slots,
    bits_at,
    byte_ranges,
    concatenated,
    dictionary_slots,
    element_ranges,
    items_at,
    run_slots,
    same_slots,
    union_members,
    valid_at,
    views_at,
)
from colkern.arrays.values import preview
from colkern.errors import DifferenceError, InvalidArrowError
from colkern.integration.entries import shown
from colkern.layouts import Extent, LayoutKind, Role
from colkern.memory import EMPTY
from colkern.schema import DataType, Dictionary, Field, Map, Null, Schema, same_type

# So many rows are compared at a time: what is gathered for it stays small.
_ROWS = 1 << 16


# Schemas


def require_equal_schemas(a: Schema, b: Schema, a_name: str, b_name: str) -> None:
    """Make sure that two schemas have the same names, types, nullability and metadata.

    Not compared are the names of list elements and of map entries, keys and items (see
    `colkern.schema.same_type`), the ids of dictionaries, and the order of metadata.

    Args:
        a: One schema.
        b: The other.
        a_name: What messages call `a`, such as "the JSON".
        b_name: What they call `b`.

    Raises:
        DifferenceError: If they differ, with the path of the field and what both say.
    """

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
    # The deepest difference first: the types of the fields around it differ for its sake.
    a_children, b_children = _children(a.type), _children(b.type)
    if len(a_children) == len(b_children):
        for a_child, b_child in zip(a_children, b_children, strict=True):
            _compare_fields(
                f"{path}.{a_child.name}", a_child, b_child, refuse, isinstance(a.type.storage, Map)
            )
    # The names in the entries of a map mean nothing, those in other structs do.
    if not are_entries and not same_type(a.type, b.type):
        refuse(path, a.type, b.type)
    if a.nullable != b.nullable:
        refuse(path, *("nullable" if field.nullable else "not nullable" for field in (a, b)))
    _compare_metadata(path, a.metadata, b.metadata, refuse)


def _children(data_type: DataType) -> tuple[Field, ...]:
    storage = data_type.storage
    return storage.value_type.fields if isinstance(storage, Dictionary) else storage.fields


def _compare_metadata(
    path: str,
    a: Mapping[bytes, bytes] | None,
    b: Mapping[bytes, bytes] | None,
    refuse: _Refuse,
) -> None:
    if dict(a or {}) != dict(b or {}):
        refuse(path, f"metadata {shown(dict(a or {}))}", f"{shown(dict(b or {}))}")


# Batches


class Difference(NamedTuple):
    """Where two arrays differ.

    Args:
        row: The slot of the arrays that were given.
        path: The names of the children from there to where it shows.
        a: The value of the one, as text.
        b: The value of the other.
    """

    row: int
    path: tuple[str, ...]
    a: str
    b: str


def require_equal_batches(a: RecordBatch, b: RecordBatch, a_name: str, b_name: str) -> None:
    """Make sure that two batches of equal schemas have the same rows.

    Args:
        a: One batch.
        b: The other.
        a_name: What messages call `a`, such as "the JSON".
        b_name: What they call `b`.

    Raises:
        DifferenceError: If they differ, with the path of the column, the row and both values.
        InvalidArrowError: If an offset, a view, an index, a type id or a run end is bad.
    """
    if a.num_rows != b.num_rows:
        raise DifferenceError(f"{a.num_rows} rows in {a_name}, {b.num_rows} in {b_name}")
    for position, field in enumerate(a.schema):
        try:
            found = array_difference(a.column(position), b.column(position))
        except InvalidArrowError as error:
            raise error.at(f"column {field.name!r}") from None
        if found is not None:
            path = ".".join((field.name, *found.path))
            raise DifferenceError(
                f"column {path!r}, row {found.row}: {found.a} in {a_name}, {found.b} in {b_name}"
            )


def array_difference(a: Array, b: Array) -> Difference | None:
    """A row in which two arrays of equal types and lengths differ, or None; host memory only."""
    if isinstance(a.type.storage, Null):
        return None
    for start in range(0, a.length, _ROWS):
        slots = np.arange(start, min(start + _ROWS, a.length), dtype=np.int64)
        found = _difference(a, slots, b, slots)
        if found is not None:
            return found._replace(row=start + found.row)
    return None


# All below compare slot `a_slots[i]` of `a` with slot `b_slots[i]` of `b`, and give that i as row.


def _difference(a: Array, a_slots: Slots, b: Array, b_slots: Slots) -> Difference | None:
    a_valid, b_valid = _validity(a, a_slots), _validity(b, b_slots)
    if (a_valid != b_valid).any():
        row = int(np.flatnonzero(a_valid != b_valid)[0])
        texts = (
            _text(array, slots[row]) if valid[row] else "no value"
            for array, slots, valid in ((a, a_slots, a_valid), (b, b_slots, b_valid))
        )
        return Difference(row, (), *texts)
    rows = np.flatnonzero(a_valid)
    compare = _COMPARERS[a.layout.kind]
    return _from(compare(a, a_slots[rows], b, b_slots[rows]), rows)


def _validity(array: Array, slots: Slots) -> NDArray[np.bool_]:
    valid = valid_at(array, slots)
    return np.ones(slots.size, np.bool_) if valid is None else valid


def _from(found: Difference | None, rows: NDArray[Any], *names: str) -> Difference | None:
    """The difference of a part as one of the whole, of which the part holds `rows`."""
    if found is None:
        return None
    return found._replace(row=int(rows[found.row]), path=(*names, *found.path))


def _text(array: Array, slot: int) -> str:
    (value,) = preview(array.slice(int(slot), 1), MOST_MEMBERS + 1)
    return repr(value) if isinstance(value, str) else cell_text(value)


def _where(
    different: NDArray[np.bool_], a: Array, a_slots: Slots, b: Array, b_slots: Slots
) -> Difference | None:
    if not different.any():
        return None
    row = int(np.flatnonzero(different)[0])
    return Difference(row, (), _text(a, a_slots[row]), _text(b, b_slots[row]))


def _items(a: Array, a_slots: Slots, b: Array, b_slots: Slots) -> Difference | None:
    spec = a.layout.spec(Role.DATA)
    if spec.extent is Extent.BITS:
        different = bits_at(a, Role.DATA, a_slots) != bits_at(b, Role.DATA, b_slots)
    else:
        a_items, b_items = items_at(a, Role.DATA, a_slots), items_at(b, Role.DATA, b_slots)
        if spec.dtype.kind == "f":
            different = (a_items != b_items) & ~(np.isnan(a_items) & np.isnan(b_items))
        else:
            different = (_raw(a_items) != _raw(b_items)).any(axis=1)
    return _where(different, a, a_slots, b, b_slots)


def _raw(items: NDArray[Any]) -> NDArray[np.uint8]:
    """The bytes of each item, uint8[items, bytes]."""
    return np.frombuffer(items.tobytes(), np.uint8).reshape(items.size, items.dtype.itemsize)


def _variable(a: Array, a_slots: Slots, b: Array, b_slots: Slots) -> Difference | None:
    a_bytes, a_sizes = _own_bytes(a, a_slots)
    b_bytes, b_sizes = _own_bytes(b, b_slots)
    found = _where(a_sizes != b_sizes, a, a_slots, b, b_slots)
    if found is None and (a_bytes != b_bytes).any():
        byte = int(np.flatnonzero(a_bytes != b_bytes)[0])
        row = _row_of(byte, a_sizes)
        found = Difference(row, (), _text(a, a_slots[row]), _text(b, b_slots[row]))
    return found


def _row_of(place: int, sizes: Slots) -> int:
    """Which of several ranges of those sizes, one after the other, holds a place."""
    return int(np.searchsorted(np.cumsum(sizes), place, side="right"))


def _own_bytes(array: Array, slots: Slots) -> tuple[NDArray[np.uint8], Slots]:
    """The bytes of byte strings, one after the other, and their sizes."""
    return (_bytes_of_views if array.layout.variadic else _bytes_between_offsets)(array, slots)


def _bytes_between_offsets(array: Array, slots: Slots) -> tuple[NDArray[np.uint8], Slots]:
    starts, sizes = byte_ranges(array, slots)
    return (array.buffer(Role.BYTES) or EMPTY).array[concatenated(starts, sizes)], sizes


def _bytes_of_views(array: Array, slots: Slots) -> tuple[NDArray[np.uint8], Slots]:
    views = views_at(array, slots)
    stops = np.cumsum(views.sizes)
    joined = np.empty(int(stops[-1]) if slots.size else 0, np.uint8)
    for rows, data in views.parts(array.data_buffers):
        sizes = views.sizes[rows]
        joined[concatenated(stops[rows] - sizes, sizes)] = data[
            concatenated(views.starts[rows], sizes)
        ]
    return joined, views.sizes


def _lists(a: Array, a_slots: Slots, b: Array, b_slots: Slots) -> Difference | None:
    a_starts, sizes = element_ranges(a, a_slots)
    b_starts, b_sizes = element_ranges(b, b_slots)
    found = _where(sizes != b_sizes, a, a_slots, b, b_slots)
    if found is not None:
        return found
    a_places, b_places = concatenated(a_starts, sizes), concatenated(b_starts, sizes)
    elements = np.arange(a_places.size)
    if a_places.size > a.children[0].length:
        # Lists that overlap at each of many levels would multiply.
        pairs = np.stack([a_places, b_places])
        (a_places, b_places), elements = np.unique(pairs, axis=1, return_index=True)
    found = _difference(a.children[0], a_places, b.children[0], b_places)
    if found is None:
        return None
    row = _row_of(int(elements[found.row]), sizes)
    return found._replace(row=row, path=(a.type.fields[0].name, *found.path))


def _structs(a: Array, a_slots: Slots, b: Array, b_slots: Slots) -> Difference | None:
    rows = np.arange(a_slots.size)
    for child, field in enumerate(a.type.fields):
        places = same_slots(a, child, a_slots), same_slots(b, child, b_slots)
        found = _difference(a.children[child], places[0], b.children[child], places[1])
        if found is not None:
            return _from(found, rows, field.name)
    return None


def _unions(a: Array, a_slots: Slots, b: Array, b_slots: Slots) -> Difference | None:
    a_ids, b_ids = (
        items_at(array, Role.TYPE_IDS, slots) for array, slots in ((a, a_slots), (b, b_slots))
    )
    if (a_ids != b_ids).any():
        row = int(np.flatnonzero(a_ids != b_ids)[0])
        return Difference(row, (), f"type id {a_ids[row]}", f"{b_ids[row]}")
    # Equal ids, so both sides go through the same children in the same order.
    members = zip(union_members(a, a_slots), union_members(b, b_slots), strict=True)
    for (child, rows, a_places), (_, _, b_places) in members:
        found = _difference(a.children[child], a_places, b.children[child], b_places)
        if found is not None:
            return _from(found, rows, a.type.fields[child].name)
    return None


def _encoded(a: Array, a_slots: Slots, b: Array, b_slots: Slots) -> Difference | None:
    assert a.dictionary is not None
    assert b.dictionary is not None
    places = dictionary_slots(a, a_slots), dictionary_slots(b, b_slots)
    found = _difference(a.dictionary, places[0], b.dictionary, places[1])
    return _from(found, np.arange(a_slots.size), "dictionary")


def _runs(a: Array, a_slots: Slots, b: Array, b_slots: Slots) -> Difference | None:
    a_runs, b_runs = run_slots(a, a_slots), run_slots(b, b_slots)
    # One comparison for each stretch in which neither side comes to a new run.
    new = np.ones(a_runs.size, np.bool_)
    new[1:] = (np.diff(a_runs) != 0) | (np.diff(b_runs) != 0)
    found = _difference(a.children[1], a_runs[new], b.children[1], b_runs[new])
    return _from(found, np.flatnonzero(new), a.type.fields[1].name)


_COMPARERS: dict[LayoutKind, Callable[[Array, Slots, Array, Slots], Difference | None]] = {
    LayoutKind.NULL: lambda a, a_slots, b, b_slots: None,
    LayoutKind.FIXED_SIZE: _items,
    LayoutKind.BINARY: _variable,
    LayoutKind.BINARY_VIEW: _variable,
    LayoutKind.LIST: _lists,
    LayoutKind.LIST_VIEW: _lists,
    LayoutKind.FIXED_SIZE_LIST: _lists,
    LayoutKind.STRUCT: _structs,
    LayoutKind.SPARSE_UNION: _unions,
    LayoutKind.DENSE_UNION: _unions,
    LayoutKind.DICTIONARY: _encoded,
    LayoutKind.RUN_END_ENCODED: _runs,
}
