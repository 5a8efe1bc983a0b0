"""Arrays as columns of Arrow's integration JSON.

A slice is written as an array of its own: offsets start at 0, and children are cut to the slots that are
used. Under nulls, zeros and empty values are written, whatever the buffers hold there.

Integration testing: "JSON test data format", FieldData.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from colkern.arrays import Array
from colkern.arrays.slots import (
    all_slots,
    bits_at,
    byte_ranges,
    items_at,
    require_host,
    run_slots,
    valid_at,
    views_at,
)
from colkern.errors import InvalidArrowError, UnsupportedError, placed
from colkern.integration.arrays_from_json import check_positions, values_of
from colkern.integration.comparison import array_difference
from colkern.integration.json_values import HEX, Json, integer_codec, to_hex, value_codec
from colkern.ipc.fields import WireField
from colkern.layouts import VIEW_INLINE_BYTES, ChildLength, Extent, Role
from colkern.memory import EMPTY, Buffer, Items
from colkern.schema import FixedSizeList

Column = dict[str, Json]


class WrittenDictionaries:
    """The columns' dictionaries: one for all batches, so each is the beginning of the longest."""

    def __init__(self) -> None:
        # The values and their column; dictionaries within stand before those around them.
        self._columns: dict[int, tuple[Array, Column]] = {}

    def add(self, node: WireField, values: Array) -> None:
        """Take note of the dictionary of a field."""
        id_ = node.dictionary
        assert id_ is not None
        before, _ = self._columns.get(id_, (None, None))
        if before is not None:
            if before is values or _is_start_of(values, before):
                return
            if not _is_start_of(before, values):
                raise UnsupportedError(
                    f"the dictionary of {node.field.name!r} is replaced from one batch to another; "
                    "the JSON format has one dictionary for all batches"
                )
        column = column_to_json(values_of(node), values, self, f"DICT{id_}")
        self._columns[id_] = values, column

    def to_json(self) -> list[Json]:
        """The `dictionaries` entry."""
        return [
            {"id": id_, "data": {"count": len(values), "columns": [column]}}
            for id_, (values, column) in self._columns.items()
        ]


def _is_start_of(start: Array, values: Array) -> bool:
    return len(start) <= len(values) and (
        array_difference(start, values.slice(0, len(start))) is None
    )


def column_to_json(
    node: WireField, array: Array, dictionaries: WrittenDictionaries, name: str | None = None
) -> Column:
    """The entry of a column; the bytes must be in host memory. `name` stands in place of the field's."""
    name = node.field.name if name is None else name
    require_host(array, f"column {name!r}")
    with placed(f"column {name!r}"):
        return _column(node, array, dictionaries, name)


def _column(node: WireField, array: Array, dictionaries: WrittenDictionaries, name: str) -> Column:
    check_positions(array)
    rule = array.layout
    slots = all_slots(array) if rule.buffers else np.zeros(0, np.int64)
    valid = valid_at(array, slots)
    if valid is None:
        valid = np.ones(slots.size, np.bool_)
    column: Column = {"name": name, "count": array.length}
    for spec in rule.buffers:
        column |= _MEMBERS[spec.role](array, valid)
    if rule.variadic:
        column["VARIADIC_DATA_BUFFERS"] = [
            to_hex((buffer or EMPTY).tobytes()) for buffer in array.data_buffers
        ]
    if array.dictionary is not None:
        dictionaries.add(node, array.dictionary)
        return column
    children = _CHILDREN[rule.child_length](array)
    if children:
        pairs = zip(node.children, children, strict=True)
        column["children"] = [column_to_json(part, child, dictionaries) for part, child in pairs]
    return column


# Buffers

Valid = NDArray[np.bool_]


def _data(array: Array, valid: Valid) -> Column:
    write = value_codec(array.type).write
    spec = array.layout.spec(Role.DATA)
    items: Items
    if spec.extent is Extent.BITS:
        items = bits_at(array, Role.DATA, all_slots(array)) & valid
    elif spec.dtype.itemsize == 0:
        return {"DATA": [""] * array.length}
    else:
        items = items_at(array, Role.DATA, all_slots(array))
        items[~valid] = np.zeros((), spec.dtype)
    return {"DATA": [write(item) for item in items.tolist()]}


def _integers(array: Array, role: Role, items: Items) -> list[Json]:
    return list(map(integer_codec(array.layout.spec(role).dtype).write, items.tolist()))


def _offsets(array: Array, valid: Valid) -> Column:
    if array.layout.child_length is ChildLength.NONE:
        _, sizes = byte_ranges(array, all_slots(array))
        items = np.concatenate([[0], np.cumsum(np.where(valid, sizes, 0))])
    elif array.layout.child_length is ChildLength.LAST_OFFSET:
        offsets = array.items(Role.OFFSETS)
        items = offsets - offsets[0]
    else:
        items = np.where(valid, array.items(Role.OFFSETS), 0)
    return {"OFFSET": _integers(array, Role.OFFSETS, items)}


def _bytes(array: Array, valid: Valid) -> Column:
    starts, sizes = byte_ranges(array, all_slots(array))
    data = (array.buffer(Role.BYTES) or EMPTY).array.data
    ranges = zip(starts.tolist(), np.where(valid, sizes, 0).tolist(), strict=True)
    values = [bytes(data[start : start + size]) for start, size in ranges]
    return {"DATA": _written(array, values)}


def _written(array: Array, values: list[bytes]) -> list[Json]:
    write = value_codec(array.type).write
    items: list[Json] = []
    for value in values:
        try:
            items.append(write(value))
        except UnicodeDecodeError as error:
            message = f"not UTF-8: {error.reason} at byte {error.start} of the value"
            raise InvalidArrowError(message, place=f"slot {len(items)}") from None
    return items


def _views(array: Array, valid: Valid) -> Column:
    slots = all_slots(array)[valid]
    views = views_at(array, slots)
    sizes = views.sizes.tolist()
    raw = [view.tobytes() for view in views.raw]
    short = [
        view[4 : 4 + size] if size <= VIEW_INLINE_BYTES else b""
        for view, size in zip(raw, sizes, strict=True)
    ]
    inlined = _written(array, short)
    places = zip(views.sources.tolist(), views.starts.tolist(), strict=True)
    entries: Iterator[Json] = iter(
        {"SIZE": size, "INLINED": text}
        if size <= VIEW_INLINE_BYTES
        else {
            "SIZE": size,
            "PREFIX_HEX": HEX.write(view[4:8]),
            "BUFFER_INDEX": index,
            "OFFSET": offset,
        }
        for view, size, text, (index, offset) in zip(raw, sizes, inlined, places, strict=True)
    )
    null: Json = {"SIZE": 0, "INLINED": ""}
    return {"VIEWS": [next(entries) if is_valid else null for is_valid in valid.tolist()]}


_MEMBERS: dict[Role, Callable[[Array, Valid], Column]] = {
    Role.VALIDITY: lambda array, valid: {"VALIDITY": valid.astype(np.int8).tolist()},
    Role.DATA: _data,
    Role.OFFSETS: _offsets,
    Role.SIZES: lambda array, valid: {
        "SIZE": _integers(array, Role.SIZES, np.where(valid, array.items(Role.SIZES), 0))
    },
    Role.TYPE_IDS: lambda array, valid: {"TYPE_ID": array.items(Role.TYPE_IDS).tolist()},
    Role.VIEWS: _views,
    Role.BYTES: _bytes,
}


# Children, cut to what the array's own slots lead to


def _between_offsets(array: Array) -> list[Array]:
    offsets = array.items(Role.OFFSETS)
    first, last = int(offsets[0]), int(offsets[-1])
    return [array.children[0].slice(first, last - first)]


def _of_list_size(array: Array) -> list[Array]:
    storage = array.type.storage
    assert isinstance(storage, FixedSizeList)
    size = storage.list_size
    return [array.children[0].slice(array.offset * size, array.length * size)]


def _runs(array: Array) -> list[Array]:
    run_ends, values = array.children
    if array.length == 0:
        return [run_ends.slice(0, 0), values.slice(0, 0)]
    ends_of = np.array([0, array.length - 1], np.int64)
    first, last = run_slots(array, ends_of).tolist()
    count = last - first + 1
    ends = items_at(run_ends, Role.DATA, np.arange(first, last + 1)) - array.offset
    ends[-1] = array.length
    buffers = [None, Buffer(ends.view(np.uint8))]
    return [Array(run_ends.type, count, buffers, null_count=0), values.slice(first, count)]


_CHILDREN: dict[ChildLength, Callable[[Array], list[Array]]] = {
    ChildLength.NONE: lambda array: [],
    ChildLength.SAME: lambda array: [
        child.slice(array.offset, array.length) for child in array.children
    ],
    ChildLength.LAST_OFFSET: _between_offsets,
    ChildLength.OFFSET_AND_SIZE: lambda array: list(array.children),
    ChildLength.LIST_SIZE: _of_list_size,
    ChildLength.SLOT_OFFSETS: lambda array: list(array.children),
    ChildLength.RUNS: _runs,
}
