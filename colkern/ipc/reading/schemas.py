"""Schemas out of metadata: data types, and which field has which dictionary.

Columnar format 1.5: "Schema message", "Data Types".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TypeVar

from colkern import schema as s
from colkern.errors import InvalidArrowError, UnsupportedError
from colkern.ipc.enums import (
    DATE_UNITS,
    FLOAT_BITS,
    INTERVAL_UNITS,
    UNION_MODES,
    DictionaryKind,
    Endianness,
    Type,
)
from colkern.ipc.fields import WireField, WireSchema
from colkern.ipc.flatbuffer import Record, Tables
from colkern.ipc.limits import FieldCount, Limits
from colkern.ipc.reading.flat_fields import FEWEST, FieldsOf, FlatFields, flat_fields
from colkern.ipc.reading.messages import key_values


def schema_from_wire(record: Record, limits: Limits) -> WireSchema:
    """The schema of a decoded `Schema` table.

    Raises:
        InvalidArrowError: If a type or field breaks a rule of the format; the place names it.
        UnsupportedError: If a type, or an encoding, is not known.
        LimitExceededError: If types nest deeper, or fields are more, than the limits allow.
    """
    endianness = record["endianness"]
    if endianness not in (Endianness.Little, Endianness.Big):
        raise InvalidArrowError(f"endianness {endianness}")
    metadata = key_values(record["custom_metadata"])
    fields = _fields(record["fields"] or (), limits)
    if isinstance(fields, FlatFields):
        schema = s.Schema.late(FieldsOf(fields), metadata)
    else:
        schema = s.Schema([wire.field for wire in fields], metadata)
    return WireSchema(schema, fields, endianness == Endianness.Big)


def _fields(entries: Tables | Sequence[Record], limits: Limits) -> Sequence[WireField]:
    def make_field(entry: Record, position: int) -> WireField:
        return _field(entry, position, 1, fields)

    fields = FieldCount(limits)
    fields.add(len(entries), 1)
    if isinstance(entries, Tables) and len(entries) >= FEWEST:
        flat = flat_fields(
            entries, lambda number, parameters: _data_type(number, parameters, ()), make_field
        )
        if flat is not None:
            return flat
        fields = FieldCount(limits)
        fields.add(len(entries), 1)
    return [make_field(entry, position) for position, entry in enumerate(entries)]


def _field(record: Record, position: int, depth: int, fields: FieldCount) -> WireField:
    name = record["name"] or ""
    entries = record["children"] or ()
    fields.add(len(entries), depth + 1)
    try:
        children = (
            tuple(_field(entry, i, depth + 1, fields) for i, entry in enumerate(entries))
            if entries
            else ()
        )
        values = _data_type(record["type_type"], record["type"], children)
        encoding = record["dictionary"]
        if encoding is None:
            type_, dictionary = values, None
        else:
            type_, dictionary = _dictionary_type(encoding, values), encoding["id"]
        pairs = record["custom_metadata"]
        if pairs:
            field = s.field_from_wire(name, type_, record["nullable"], key_values(pairs))
        else:
            field = s.Field(name, type_, record["nullable"])
    except InvalidArrowError as error:
        raise error.at(f"field {name or position!r}") from None
    return WireField(field, children, dictionary, values)


def _dictionary_type(encoding: Record, values: s.DataType) -> s.Dictionary:
    if encoding["dictionaryKind"] != DictionaryKind.DenseArray:
        raise UnsupportedError(f"dictionaries of kind {encoding['dictionaryKind']}")
    index = encoding["indexType"]
    index_type = s.int32() if index is None else _int(index["bitWidth"], index["is_signed"])
    return s.Dictionary(index_type, values, encoding["isOrdered"])


def data_type_from_wire(number: int, parameters: Record | None) -> s.DataType:
    """The type of that number in the `Type` union, which has no children.

    Raises:
        InvalidArrowError: If its parameters break a rule of the format, or it should have children.
        UnsupportedError: If it is not known.
    """
    return _data_type(number, parameters, ())


Children = tuple[WireField, ...]
Choice = TypeVar("Choice")


def _data_type(number: int, parameters: Record | None, children: Children) -> s.DataType:
    if parameters is None:
        if number == Type.NONE:
            raise InvalidArrowError("no type")
        if number in _LEAVES or number in _NESTED:
            raise InvalidArrowError(f"type {number} without its table")
        raise UnsupportedError(f"data type number {number}, which format 1.5 does not have")
    leaf = _LEAVES.get(number)
    if leaf is not None:
        if children:
            raise InvalidArrowError(f"{len(children)} children of a type that has none")
        return leaf(**parameters)
    nested = _NESTED[number]
    return nested(parameters, tuple(child.field for child in children))


def _one_of(what: str, values: tuple[Choice, ...], position: int) -> Choice:
    if not 0 <= position < len(values):
        raise InvalidArrowError(f"{what} number {position}; there are {len(values)}")
    return values[position]


# Cached: the columns of a wide table share their types.
@cache
def _int(bitWidth: int, is_signed: bool) -> s.Int:
    if bitWidth not in (8, 16, 32, 64):
        raise InvalidArrowError(f"integers of {bitWidth} bits; there are 8, 16, 32 and 64")
    return s.Int(bitWidth, is_signed)


@cache
def _floating_point(precision: int) -> s.FloatingPoint:
    return s.FloatingPoint(_one_of("floating-point precision", FLOAT_BITS, precision))


def _decimal(precision: int, scale: int, bitWidth: int) -> s.Decimal:
    digits = s.MAX_DECIMAL_PRECISION.get(bitWidth)
    if digits is None:
        raise InvalidArrowError(f"decimals of {bitWidth} bits; there are 32, 64, 128 and 256")
    if not 1 <= precision <= digits:
        raise InvalidArrowError(f"decimal{bitWidth} with {precision} digits, not 1 to {digits}")
    return s.Decimal(bitWidth, precision, scale)


def _date(unit: int) -> s.Date:
    return s.Date(_one_of("date unit", DATE_UNITS, unit))


def _time(unit: int, bitWidth: int) -> s.Time:
    time = s.Time(_one_of("time unit", s.TIME_UNITS, unit))
    if bitWidth != time.bit_width:
        raise InvalidArrowError(f"times in {time.unit} of {bitWidth} bits, not {time.bit_width}")
    return time


def _timestamp(unit: int, timezone: str | None) -> s.Timestamp:
    return s.Timestamp(_one_of("time unit", s.TIME_UNITS, unit), timezone or None)


def _fixed_size_binary(byteWidth: int) -> s.FixedSizeBinary:
    if byteWidth < 0:
        raise InvalidArrowError(f"values of {byteWidth} bytes")
    return s.FixedSizeBinary(byteWidth)


# Called with the slots of the type's table by name.
_LEAVES: dict[int, Callable[..., s.DataType]] = {
    Type.Null: cache(s.Null),
    Type.Int: _int,
    Type.FloatingPoint: _floating_point,
    Type.Binary: cache(s.Binary),
    Type.Utf8: cache(s.Utf8),
    Type.Bool: cache(s.Bool),
    Type.Decimal: _decimal,
    Type.Date: _date,
    Type.Time: _time,
    Type.Timestamp: _timestamp,
    Type.Interval: lambda unit: s.Interval(_one_of("interval unit", INTERVAL_UNITS, unit)),
    Type.FixedSizeBinary: _fixed_size_binary,
    Type.Duration: lambda unit: s.Duration(_one_of("time unit", s.TIME_UNITS, unit)),
    Type.LargeBinary: cache(s.LargeBinary),
    Type.LargeUtf8: cache(s.LargeUtf8),
    Type.BinaryView: cache(s.BinaryView),
    Type.Utf8View: cache(s.Utf8View),
}

Fields = tuple[s.Field, ...]


def _only_child(fields: Fields) -> s.Field:
    if len(fields) != 1:
        raise InvalidArrowError(f"a list with {len(fields)} children; it has one")
    return fields[0]


def _fixed_size_list(parameters: Record, fields: Fields) -> s.FixedSizeList:
    size = parameters["listSize"]
    if size < 0:
        raise InvalidArrowError(f"lists of {size} elements")
    return s.FixedSizeList(_only_child(fields), size)


def _map(parameters: Record, fields: Fields) -> s.Map:
    entries = _only_child(fields)
    if not isinstance(entries.type, s.Struct) or len(entries.type.fields) != 2:
        raise InvalidArrowError(f"map with entries of {entries.type}, not a struct of two fields")
    return s.Map(entries, parameters["keysSorted"])


def _union(parameters: Record, fields: Fields) -> s.Union:
    mode = _one_of("union mode", UNION_MODES, parameters["mode"])
    ids = parameters["typeIds"]
    codes = tuple(range(len(fields))) if ids is None else tuple(ids.tolist())
    if len(codes) != len(fields) or len(set(codes)) != len(codes):
        raise InvalidArrowError(f"union of {len(fields)} children with type ids {codes[:200]}")
    if any(not 0 <= code <= 127 for code in codes):
        raise InvalidArrowError(f"union with type ids {codes}; they are 0 to 127")
    return s.Union(mode, fields, codes)


def _run_end_encoded(parameters: Record, fields: Fields) -> s.RunEndEncoded:
    if len(fields) != 2:
        raise InvalidArrowError(f"run ends with {len(fields)} children; they have two")
    if fields[0].type not in (s.int16(), s.int32(), s.int64()):
        raise InvalidArrowError(f"run ends of {fields[0].type}, not int16, int32 or int64")
    return s.RunEndEncoded(*fields)


_NESTED: dict[int, Callable[[Record, Fields], s.DataType]] = {
    Type.List: lambda _, fields: s.List(_only_child(fields)),
    Type.Struct_: lambda _, fields: s.Struct(fields),
    Type.Union: _union,
    Type.FixedSizeList: _fixed_size_list,
    Type.Map: _map,
    Type.LargeList: lambda _, fields: s.LargeList(_only_child(fields)),
    Type.RunEndEncoded: _run_end_encoded,
    Type.ListView: lambda _, fields: s.ListView(_only_child(fields)),
    Type.LargeListView: lambda _, fields: s.LargeListView(_only_child(fields)),
}
