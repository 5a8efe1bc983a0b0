"""The types of files that Spark lacks, and those among its own that hold all their values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from colkern import schema as s
from colkern.spark.types import VARIANT, is_variant


def widened(type_: s.DataType) -> s.DataType:
    """The type in which Spark takes a column of a file: the same values, some of them rounded down.

    What Spark has no type for at all stays as it is. All fields may hold nulls, but for the two of a
    variant.
    """
    storage = type_.storage
    make = _WIDER.get(type(storage))
    return storage if make is None else make(storage)


def _int(type_: s.Int) -> s.DataType:
    if type_.signed:
        return type_
    return s.decimal128(20, 0) if type_.bit_width == 64 else s.Int(2 * type_.bit_width, True)


def _values(type_: s.Dictionary | s.RunEndEncoded) -> s.DataType:
    return widened(type_.value_type)


def _list(type_: Any) -> s.DataType:
    return s.list_(widened(type_.value_type))


def _map(type_: s.Map) -> s.DataType:
    key = s.field("key", widened(type_.key_field.type), nullable=False)
    return s.map_(key, s.field("value", widened(type_.item_field.type)))


def _struct(type_: s.Struct) -> s.DataType:
    if is_variant(type_):
        return VARIANT
    return s.struct([s.field(field.name, widened(field.type)) for field in type_.fields])


_WIDER: dict[type[s.DataType], Callable[[Any], s.DataType]] = {
    s.Int: _int,
    s.FloatingPoint: lambda t: t if t.bit_width > 16 else s.float32(),
    s.Date: lambda _: s.date32(),
    s.Time: lambda _: s.time64("ns"),
    s.Timestamp: lambda t: s.timestamp("us", t.timezone),
    s.Duration: lambda _: s.duration("us"),
    s.Dictionary: _values,
    s.RunEndEncoded: _values,
    s.List: _list,
    s.LargeList: _list,
    s.ListView: _list,
    s.LargeListView: _list,
    s.FixedSizeList: _list,
    s.Map: _map,
    s.Struct: _struct,
}
