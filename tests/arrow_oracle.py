"""Arrays of pyarrow's as colkern's, through pyarrow's public accessors alone.

An oracle for what colkern makes of bytes must not go through colkern's own import: types are mapped
by a table here, buffers are taken as pyarrow lists them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa

import colkern.schema as s
from colkern.arrays import Array, RecordBatch
from colkern.memory import Buffer

_PLAIN: dict[pa.DataType, s.DataType] = {
    pa.null(): s.null(),
    pa.bool_(): s.bool_(),
    pa.int8(): s.int8(),
    pa.int16(): s.int16(),
    pa.int32(): s.int32(),
    pa.int64(): s.int64(),
    pa.uint8(): s.uint8(),
    pa.uint16(): s.uint16(),
    pa.uint32(): s.uint32(),
    pa.uint64(): s.uint64(),
    pa.float16(): s.float16(),
    pa.float32(): s.float32(),
    pa.float64(): s.float64(),
    pa.date32(): s.date32(),
    pa.date64(): s.date64(),
    pa.time32("s"): s.time32("s"),
    pa.time32("ms"): s.time32("ms"),
    pa.time64("us"): s.time64("us"),
    pa.time64("ns"): s.time64("ns"),
    pa.month_day_nano_interval(): s.month_day_nano_interval(),
    pa.binary(): s.binary(),
    pa.utf8(): s.utf8(),
    pa.large_binary(): s.large_binary(),
    pa.large_utf8(): s.large_utf8(),
    pa.binary_view(): s.binary_view(),
    pa.string_view(): s.utf8_view(),
    **{pa.duration(unit): s.duration(unit) for unit in s.TIME_UNITS},
}

_LISTS: list[tuple[Callable[[pa.DataType], bool], Callable[[s.Field], s.DataType]]] = [
    (pa.types.is_list, s.list_),
    (pa.types.is_large_list, s.large_list),
    (pa.types.is_list_view, s.list_view),
    (pa.types.is_large_list_view, s.large_list_view),
]


def field_of(field: pa.Field) -> s.Field:
    """The same field of colkern's."""
    return s.field(field.name, type_of(field.type), field.nullable, field.metadata)


def type_of(type_: pa.DataType) -> s.DataType:
    """The same type of colkern's."""
    if type_ in _PLAIN:
        return _PLAIN[type_]
    if isinstance(type_, pa.BaseExtensionType):
        return s.extension(
            type_.extension_name,
            type_of(type_.storage_type),
            type_.__arrow_ext_serialize__(),
        )
    for is_list, make in _LISTS:
        if is_list(type_):
            return make(field_of(type_.value_field))
    kind = pa.types
    fields = [field_of(type_.field(i)) for i in range(type_.num_fields)]
    if kind.is_timestamp(type_):
        return s.timestamp(type_.unit, type_.tz)
    if kind.is_decimal(type_):
        return s.decimal(type_.bit_width, type_.precision, type_.scale)
    if kind.is_fixed_size_binary(type_):
        return s.fixed_size_binary(type_.byte_width)
    if kind.is_fixed_size_list(type_):
        return s.fixed_size_list(field_of(type_.value_field), type_.list_size)
    if kind.is_struct(type_):
        return s.struct(fields)
    if kind.is_map(type_):
        return s.map_(field_of(type_.key_field), field_of(type_.item_field), type_.keys_sorted)
    if kind.is_union(type_):
        make_union = s.sparse_union if type_.mode == "sparse" else s.dense_union
        return make_union(fields, type_.type_codes)
    if kind.is_dictionary(type_):
        return s.dictionary(int_of(type_.index_type), type_of(type_.value_type), type_.ordered)
    if kind.is_run_end_encoded(type_):
        return s.run_end_encoded(int_of(type_.run_end_type), type_of(type_.value_type))
    raise NotImplementedError(str(type_))


def int_of(type_: pa.DataType) -> s.Int:
    result = type_of(type_)
    assert isinstance(result, s.Int)
    return result


def children_of(array: pa.Array) -> list[tuple[pa.Array, int]]:
    """The child arrays, each with the number of slots to put back before its own.

    pyarrow cuts the children that run beside their parent to the parent's slots.
    """
    kind, type_ = pa.types, array.type
    if kind.is_struct(type_):
        return [(array.field(i), array.offset) for i in range(type_.num_fields)]
    if kind.is_union(type_):
        back = array.offset if type_.mode == "sparse" else 0
        return [(array.field(i), back) for i in range(type_.num_fields)]
    if kind.is_run_end_encoded(type_):
        return [(array.run_ends, 0), (array.values, 0)]
    return [(array.values, 0)] if type_of(type_).fields else []


def _own_buffers(array: pa.Array, children: list[pa.Array]) -> list[Any]:
    kind = pa.types
    below = sum(len(child.buffers()) for child in children)
    own = array.buffers()[: len(array.buffers()) - below]
    if kind.is_null(array.type) or kind.is_union(array.type) or kind.is_run_end_encoded(array.type):
        # pyarrow lists a validity buffer, always absent, that the format does not have.
        return list(own[1:])
    return list(own)


def from_pyarrow(array: pa.Array, back: int = 0) -> Array:
    """The same array of colkern's over the same bytes; `back` slots are put back at the front."""
    storage = array.storage if isinstance(array, pa.ExtensionArray) else array
    children = children_of(storage)
    buffers = _own_buffers(storage, [child for child, _ in children])
    is_dictionary = pa.types.is_dictionary(storage.type)
    return Array(
        type_of(array.type),
        len(array) + back,
        [None if buffer is None else Buffer.from_object(buffer) for buffer in buffers],
        [from_pyarrow(child, slots) for child, slots in children],
        from_pyarrow(storage.dictionary) if is_dictionary else None,
        storage.offset - back,
    )


def batch_from_pyarrow(batch: pa.RecordBatch) -> RecordBatch:
    """The same batch of colkern's over the same bytes."""
    fields = [field_of(field) for field in batch.schema]
    columns = [from_pyarrow(column) for column in batch.columns]
    return RecordBatch(s.Schema(tuple(fields), batch.schema.metadata), columns, batch.num_rows)
