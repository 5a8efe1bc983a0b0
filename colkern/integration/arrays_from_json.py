"""Converts columns of Arrow's integration JSON to arrays: each buffer is made from a member of the JSON.

Values under nulls are not read; zeros take their place. Nothing is compiled.

Integration testing: "JSON test data format", FieldData.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colkern.arrays import UNKNOWN, Array
from colkern.arrays.array import empty_array
from colkern.arrays.slots import (
    Slots,
    all_slots,
    byte_ranges,
    dictionary_slots,
    element_ranges,
    run_slots,
    same_slots,
    union_members,
    valid_at,
    views_at,
)
from colkern.bitmaps import packed
from colkern.dispatch import Dispatch, by_layout
from colkern.errors import InvalidArrowError, LimitExceededError, placed
from colkern.integration.json_values import HEX, Entry, flag, integer_codec, read_all, value_codec
from colkern.ipc.fields import WireField
from colkern.layouts import VIEW_INLINE_BYTES, BufferSpec, ChildLength, Extent, LayoutKind, Role
from colkern.layouts import layout as layout_of
from colkern.memory import Buffer, Items, allocate
from colkern.schema import DataType, Field


def check_positions(array: Array) -> None:
    """Check that offsets, views and indices stay within this array; its children are not checked."""
    check = _CHECKS.get(array.layout.kind)
    if check is not None and array.length:
        check(array)


def _valid_slots(array: Array) -> Slots:
    slots = all_slots(array)
    valid = valid_at(array, slots)
    return slots if valid is None else slots[valid]


_CHECKS: Dispatch[LayoutKind, Callable[[Array], object]] = by_layout(
    "positions of integration JSON", LayoutKind.NULL, LayoutKind.FIXED_SIZE
)
_CHECKS |= {
    LayoutKind.BINARY: lambda array: byte_ranges(array, all_slots(array)),
    LayoutKind.BINARY_VIEW: lambda array: views_at(array, _valid_slots(array)),
    LayoutKind.LIST: lambda array: element_ranges(array, all_slots(array)),
    LayoutKind.LIST_VIEW: lambda array: element_ranges(array, _valid_slots(array)),
    LayoutKind.FIXED_SIZE_LIST: lambda array: element_ranges(array, all_slots(array)),
    LayoutKind.STRUCT: lambda array: [
        same_slots(array, child, np.zeros(1, np.int64)) for child in range(len(array.children))
    ],
    LayoutKind.SPARSE_UNION: lambda array: list(union_members(array, all_slots(array))),
    LayoutKind.DENSE_UNION: lambda array: list(union_members(array, all_slots(array))),
    LayoutKind.DICTIONARY: lambda array: dictionary_slots(array, _valid_slots(array)),
    # The runs of the first and the last slot include all runs in use between them.
    LayoutKind.RUN_END_ENCODED: lambda array: run_slots(
        array, np.array([0, array.length - 1], np.int64)
    ),
}


MAX_UNSPELLED_BYTES = 1 << 20
"""The largest size of a column's buffer whose nulls take more bytes than DATA has digits."""

_BYTES_A_CHARACTER = 64
"""Additional bytes allowed for each character of DATA, for short nulls next to long values."""

_MAX_COUNT = 2**63 - 1
_LONG_VIEW = struct.Struct("<i4sii")


class JsonDictionaries:
    """The dictionaries of a document; each is decoded once, when a column needs it."""

    def __init__(self, columns: Mapping[int, Entry]) -> None:
        self._columns = columns
        self._arrays: dict[tuple[int, DataType], Array] = {}

    def values(self, node: WireField, unneeded: bool) -> Array:
        """Returns the values of a field's dictionary, which may be missing if it is `unneeded`."""
        assert node.dictionary is not None
        key = node.dictionary, node.values
        if key not in self._arrays:
            if node.dictionary not in self._columns:
                if unneeded:
                    return empty_array(node.values)
                raise InvalidArrowError(f"dictionary {node.dictionary} is missing")
            with placed(f"dictionary {node.dictionary}"):
                column = self._columns[node.dictionary]
                self._arrays[key] = array_from_json(values_of(node), column, self)
        return self._arrays[key]


def values_of(node: WireField) -> WireField:
    """Returns the field of the values of a field's dictionary."""
    return WireField(Field(node.field.name, node.values), node.children, None, node.values)


def array_from_json(node: WireField, column: Entry, dictionaries: JsonDictionaries) -> Array:
    """Returns the array of a column's entry, in host memory."""
    count = column.integer("count")
    if not 0 <= count <= _MAX_COUNT:
        raise InvalidArrowError(f"count: expected 0 to {_MAX_COUNT}, got {count}")
    rule = layout_of(node.field.type)
    valid = np.ones(0, np.bool_)
    if rule.has_validity:
        # The document must have as many items as `count` claims before memory for them is allocated.
        slots = read_all(_items(column, "VALIDITY", count), flag, "VALIDITY slot")
        valid = np.array(slots, np.bool_)
    source = _Column(node.field.type, column, count, valid)
    buffers = [_BUFFERS[spec.role](source, spec) for spec in rule.buffers]
    if rule.variadic:
        data = read_all(column.items("VARIADIC_DATA_BUFFERS"), HEX.read, "data buffer")
        buffers += map(Buffer.from_object, data)
    dictionary = None
    children: list[Array] = []
    if node.dictionary is None:
        children = _children(node, column, dictionaries)
    else:
        dictionary = dictionaries.values(node, unneeded=not valid.any())
    null_count = count - int(valid.sum()) if rule.has_validity else UNKNOWN
    array = Array(node.field.type, count, buffers, children, dictionary, null_count=null_count)
    check_positions(array)
    return array


def _children(node: WireField, column: Entry, dictionaries: JsonDictionaries) -> list[Array]:
    columns = column.entries("children", [])
    if len(columns) != len(node.children):
        raise InvalidArrowError(f"expected {len(node.children)} children, got {len(columns)}")
    pairs = zip(node.children, columns, strict=True)
    return [named_array_from_json(child, entry, dictionaries) for child, entry in pairs]


def named_array_from_json(node: WireField, column: Entry, dictionaries: JsonDictionaries) -> Array:
    """Like `array_from_json`, for a column that must have its field's name; errors name the column."""
    name = node.field.name
    with placed(f"column {name!r}"):
        own_name = column.text("name", name)
        if own_name != name:
            raise InvalidArrowError(f"found the column {own_name!r} instead")
        return array_from_json(node, column, dictionaries)


# Buffers


@dataclass(frozen=True, slots=True)
class _Column:
    """A column while its buffers are made."""

    type: DataType
    entry: Entry
    count: int
    #: The validity of the slots, bool[count]; empty for a type without a bitmap.
    valid: NDArray[np.bool_]


def _items(column: Entry, key: str, count: int) -> list[object]:
    items = column.items(key)
    if len(items) != count:
        raise InvalidArrowError(f"expected {count} items, got {len(items)}", place=key)
    return items


def _buffer_of(items: Items) -> Buffer:
    return Buffer(items.view(np.uint8) if items.dtype.itemsize else np.zeros(0, np.uint8))


def _validity(column: _Column, spec: BufferSpec) -> Buffer | None:
    return None if column.valid.all() else Buffer(packed(column.valid))


def _check_size(size: int, values: list[object]) -> None:
    """Raise `LimitExceededError` if a buffer is far larger than DATA, which nulls could cause."""
    if size <= MAX_UNSPELLED_BYTES:
        return
    spelled = sum(len(value) if isinstance(value, str) else 1 for value in values)
    if size > MAX_UNSPELLED_BYTES + _BYTES_A_CHARACTER * spelled:
        raise LimitExceededError(
            f"a buffer of {size} bytes for {spelled} characters of DATA; "
            "colkern.integration.arrays_from_json.MAX_UNSPELLED_BYTES sets the limit"
        )


def _data(column: _Column, spec: BufferSpec) -> Buffer:
    values = _items(column.entry, "DATA", column.count)
    places = np.flatnonzero(column.valid)
    valid_values = [values[place] for place in places.tolist()]
    items = read_all(valid_values, value_codec(column.type).read, "valid DATA value")
    _check_size(column.count * spec.dtype.itemsize, values)
    if spec.extent is Extent.BITS:
        bits = np.zeros(column.count, np.bool_)
        bits[places] = items
        return Buffer(packed(bits))
    out = allocate(column.count, spec.dtype)
    if spec.dtype.itemsize:
        out[places] = np.array(items, spec.dtype)
    return _buffer_of(out)


def _integers(column: Entry, spec: BufferSpec, key: str, count: int) -> Items:
    out = allocate(count, spec.dtype)
    out[:] = read_all(_items(column, key, count), integer_codec(spec.dtype).read, f"{key} item")
    return out


def _offsets(column: _Column, spec: BufferSpec) -> Buffer:
    items = column.count + (spec.extent is Extent.SLOTS_AND_ONE)
    # Some writers leave out the only offset of an empty column.
    if column.count == 0 and not column.entry.items("OFFSET"):
        items = 0
    offsets = _integers(column.entry, spec, "OFFSET", items)
    if layout_of(column.type).child_length is ChildLength.NONE:
        # Offsets of byte strings refer to the joined DATA, wherever the writer's bytes began.
        offsets -= offsets[:1]
    return _buffer_of(offsets)


def _bytes(column: _Column, spec: BufferSpec) -> Buffer:
    items = _items(column.entry, "DATA", column.count)
    values = read_all(items, value_codec(column.type).read, "DATA slot")
    if column.count:
        spelled = layout_of(column.type).spec(Role.OFFSETS)
        offsets = _integers(column.entry, spelled, "OFFSET", column.count + 1).astype(np.int64)
        sizes = np.array([len(value) for value in values], np.int64)
        wrong = np.flatnonzero(np.diff(offsets) != sizes)
        if wrong.size:
            slot = int(wrong[0])
            raise InvalidArrowError(
                f"{sizes[slot]} bytes between the offsets {offsets[slot]} and {offsets[slot + 1]}",
                place=f"DATA slot {slot}",
            )
    return Buffer.from_object(b"".join(values))


def _views(column: _Column, spec: BufferSpec) -> Buffer:
    items = _items(column.entry, "VIEWS", column.count)
    read = value_codec(column.type).read
    places = np.flatnonzero(column.valid)
    valid_items = [items[place] for place in places.tolist()]
    views = read_all(valid_items, lambda view: _view(Entry(view, "view"), read), "valid VIEWS item")
    out = allocate(column.count, spec.dtype)
    out[places] = np.array(views, spec.dtype)
    return _buffer_of(out)


def _view(view: Entry, read: Callable[[object], bytes]) -> bytes:
    size = integer_codec(np.dtype("<i4")).read(view.value("SIZE"))
    if size <= VIEW_INLINE_BYTES:
        value = read(view.value("INLINED"))
        if len(value) != size:
            raise ValueError(f"{len(value)} bytes INLINED, not {size}")
        return struct.pack("<i12s", size, value)
    prefix = HEX.read(view.value("PREFIX_HEX"))
    if len(prefix) != 4:
        raise ValueError(f"a prefix of {len(prefix)} bytes, not 4")
    place = integer_codec(np.dtype("<i4"))
    index, offset = (place.read(view.value(key)) for key in ("BUFFER_INDEX", "OFFSET"))
    return _LONG_VIEW.pack(size, prefix, index, offset)


_BUFFERS: dict[Role, Callable[[_Column, BufferSpec], Buffer | None]] = {
    Role.VALIDITY: _validity,
    Role.DATA: _data,
    Role.OFFSETS: _offsets,
    Role.SIZES: lambda column, spec: _buffer_of(
        _integers(column.entry, spec, "SIZE", column.count)
    ),
    Role.TYPE_IDS: lambda column, spec: _buffer_of(
        _integers(column.entry, spec, "TYPE_ID", column.count)
    ),
    Role.VIEWS: _views,
    Role.BYTES: _bytes,
}
