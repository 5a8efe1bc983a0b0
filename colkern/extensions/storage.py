"""The storage types of the canonical extension types.

Format: "Canonical Extension Types".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from colkern import schema as s

OFFSET_MINUTES = range(-779, 781)
"""The offsets of `arrow.timestamp_with_offset`: 12 hours and 59 minutes west to 13 hours east."""

_BINARY = (s.Binary, s.LargeBinary, s.BinaryView)
TEXT = (s.Utf8, s.LargeUtf8, s.Utf8View)


def tensor_fields(storage: s.DataType) -> tuple[s.Field, s.Field]:
    """Returns the fields `data` and `shape` of variable-shape tensors, which may stand in either order."""
    by_name = {field.name: field for field in storage.fields}
    return by_name["data"], by_name["shape"]


def stores_variable_shapes(storage: s.DataType) -> bool:
    """Whether `arrow.variable_shape_tensor` may have this storage type."""
    if not isinstance(storage, s.Struct) or sorted(_names(storage)) != ["data", "shape"]:
        return False
    data, shapes = tensor_fields(storage)
    return (
        isinstance(data.type, s.List)
        and isinstance(shapes.type, s.FixedSizeList)
        and shapes.type.value_type == s.int32()
    )


def _names(storage: s.DataType) -> list[str]:
    return [field.name for field in storage.fields]


def _unencoded(type_: s.DataType) -> s.DataType:
    """Returns the type of the values of a dictionary or of runs."""
    return type_.value_type if isinstance(type_, s.Dictionary | s.RunEndEncoded) else type_


def stores_offset_timestamps(storage: s.DataType) -> bool:
    """Whether `arrow.timestamp_with_offset` may have this storage type."""
    if not isinstance(storage, s.Struct) or _names(storage) != ["timestamp", "offset_minutes"]:
        return False
    stamp, offset = (field.type for field in storage.fields)
    return (
        isinstance(stamp, s.Timestamp)
        and stamp.timezone == "UTC"
        and _unencoded(offset) == s.int16()
    )


def stores_variants(storage: s.DataType) -> bool:
    """Whether `arrow.parquet.variant` may have this storage type."""
    if not isinstance(storage, s.Struct) or len(set(_names(storage))) != len(storage.fields):
        return False
    fields = {field.name: field for field in storage.fields}
    metadata = fields.pop("metadata", None)
    return (
        metadata is not None
        and not metadata.nullable
        and isinstance(_unencoded(metadata.type), _BINARY)
        and _is_shredded(tuple(fields.values()))
    )


def _is_shredded(fields: tuple[s.Field, ...]) -> bool:
    """Whether fields are `value`, `typed_value` or both, each of an allowed type."""
    rules = {"value": lambda type_: isinstance(type_, _BINARY), "typed_value": _is_typed_value}
    names = [field.name for field in fields]
    return (
        bool(fields)
        and len(set(names)) == len(names)
        and all(field.name in rules and rules[field.name](field.type) for field in fields)
    )


def _is_typed_value(type_: s.DataType) -> bool:
    if isinstance(type_, s.List | s.LargeList | s.ListView):
        return _is_shredded_field(type_.value_field)
    if isinstance(type_, s.Struct):
        return all(map(_is_shredded_field, type_.fields))
    return _VARIANT_PRIMITIVES.get(type(type_), lambda _: False)(type_)


def _is_shredded_field(field: s.Field) -> bool:
    return (
        not field.nullable and isinstance(field.type, s.Struct) and _is_shredded(field.type.fields)
    )


_VARIANT_PRIMITIVES: dict[type[s.DataType], Callable[[Any], bool]] = {
    s.Null: lambda _: True,
    s.Bool: lambda _: True,
    s.Int: lambda t: t != s.uint64(),
    s.FloatingPoint: lambda t: t.bit_width != 16,
    s.Decimal: lambda t: t.bit_width != 256,
    s.Date: lambda t: t.unit == "day",
    s.Time: lambda t: t.bit_width == 64,
    s.Timestamp: lambda t: t.unit in ("us", "ns") and t.timezone in (None, "UTC"),
    **dict.fromkeys((*_BINARY, *TEXT), lambda _: True),
    s.Extension: lambda t: (
        t.extension_name == "arrow.uuid"
        and t.storage_type == s.fixed_size_binary(16)
        and not t.extension_metadata
    ),
}
