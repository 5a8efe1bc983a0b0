"""Schemas out of metadata: data types, and which field has which dictionary.

Columnar format 1.5: "Schema message", "Data Types".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TypeVar

from colkern.errors import InvalidArrowError, UnsupportedError
from colkern.ipc.enums import DictionaryKind, Endianness, Type
from colkern.ipc.fields import WireField, WireSchema
from colkern.ipc.flatbuffer import Record, Tables
from colkern.ipc.limits import Limits
from colkern.ipc.reading.flat_fields import FEWEST, FieldsOf, FlatFields, flat_fields
from colkern.ipc.reading.messages import key_values
from colkern.schema import (
    MAX_DECIMAL_PRECISION,
    TIME_UNITS,
    Binary,
    BinaryView,
    Bool,
    DataType,
    Date,
    Decimal,
    Dictionary,
    Duration,
    Field,
    FixedSizeBinary,
    FixedSizeList,
    FloatingPoint,
    Int,
    Interval,
    IntervalUnit,
    LargeBinary,
    LargeList,
    LargeListView,
    LargeUtf8,
    List,
    ListView,
    Map,
    Null,
    RunEndEncoded,
    Schema,
    Struct,
    Time,
    Timestamp,
    Union,
    UnionMode,
    Utf8,
    Utf8View,
    field_from_wire,
    int16,
    int32,
    int64,
)

_INTERVAL_UNITS: tuple[IntervalUnit, ...] = ("year_month", "day_time", "month_day_nano")
_FLOAT_BITS = (16, 32, 64)
_UNION_MODES: tuple[UnionMode, ...] = ("sparse", "dense")


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
        schema = Schema.late(FieldsOf(fields), metadata)
    else:
        schema = Schema([wire.field for wire in fields], metadata)
    return WireSchema(schema, fields, endianness == Endianness.Big)


class _Fields:
    """Counts the fields of a schema; raises when they are too many, or nest too deep."""

    __slots__ = ("_count", "_limits")

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._count = 0

    def add(self, count: int, depth: int) -> None:
        self._count += count
        self._limits.require_fields(self._count)
        if count:
            self._limits.require_depth(depth)


def _fields(entries: Tables | Sequence[Record], limits: Limits) -> Sequence[WireField]:
    def make_field(entry: Record, position: int) -> WireField:
        return _field(entry, position, 1, fields)

    fields = _Fields(limits)
    fields.add(len(entries), 1)
    if isinstance(entries, Tables) and len(entries) >= FEWEST:
        flat = flat_fields(
            entries, lambda number, parameters: _data_type(number, parameters, ()), make_field
        )
        if flat is not None:
            return flat
        fields = _Fields(limits)
        fields.add(len(entries), 1)
    return [make_field(entry, position) for position, entry in enumerate(entries)]


def _field(record: Record, position: int, depth: int, fields: _Fields) -> WireField:
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
            field = field_from_wire(name, type_, record["nullable"], key_values(pairs))
        else:
            field = Field(name, type_, record["nullable"])
    except InvalidArrowError as error:
        raise error.at(f"field {name or position!r}") from None
    return WireField(field, children, dictionary, values)


def _dictionary_type(encoding: Record, values: DataType) -> Dictionary:
    if encoding["dictionaryKind"] != DictionaryKind.DenseArray:
        raise UnsupportedError(f"dictionaries of kind {encoding['dictionaryKind']}")
    index = encoding["indexType"]
    index_type = int32() if index is None else _int(index["bitWidth"], index["is_signed"])
    return Dictionary(index_type, values, encoding["isOrdered"])


def data_type_from_wire(number: int, parameters: Record | None) -> DataType:
    """The type of that number in the `Type` union, which has no children.

    Raises:
        InvalidArrowError: If its parameters break a rule of the format, or it should have children.
        UnsupportedError: If it is not known.
    """
    return _data_type(number, parameters, ())


Children = tuple[WireField, ...]
Choice = TypeVar("Choice")


def _data_type(number: int, parameters: Record | None, children: Children) -> DataType:
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
def _int(bitWidth: int, is_signed: bool) -> Int:
    if bitWidth not in (8, 16, 32, 64):
        raise InvalidArrowError(f"integers of {bitWidth} bits; there are 8, 16, 32 and 64")
    return Int(bitWidth, is_signed)


@cache
def _floating_point(precision: int) -> FloatingPoint:
    return FloatingPoint(_one_of("floating-point precision", _FLOAT_BITS, precision))


def _decimal(precision: int, scale: int, bitWidth: int) -> Decimal:
    digits = MAX_DECIMAL_PRECISION.get(bitWidth)
    if digits is None:
        raise InvalidArrowError(f"decimals of {bitWidth} bits; there are 32, 64, 128 and 256")
    if not 1 <= precision <= digits:
        raise InvalidArrowError(f"decimal{bitWidth} with {precision} digits, not 1 to {digits}")
    return Decimal(bitWidth, precision, scale)


def _date(unit: int) -> Date:
    return Date(_one_of("date unit", ("day", "ms"), unit))


def _time(unit: int, bitWidth: int) -> Time:
    time = Time(_one_of("time unit", TIME_UNITS, unit))
    if bitWidth != time.bit_width:
        raise InvalidArrowError(f"times in {time.unit} of {bitWidth} bits, not {time.bit_width}")
    return time


def _timestamp(unit: int, timezone: str | None) -> Timestamp:
    return Timestamp(_one_of("time unit", TIME_UNITS, unit), timezone or None)


def _fixed_size_binary(byteWidth: int) -> FixedSizeBinary:
    if byteWidth < 0:
        raise InvalidArrowError(f"values of {byteWidth} bytes")
    return FixedSizeBinary(byteWidth)


# Called with the slots of the type's table by name.
_LEAVES: dict[int, Callable[..., DataType]] = {
    Type.Null: cache(Null),
    Type.Int: _int,
    Type.FloatingPoint: _floating_point,
    Type.Binary: cache(Binary),
    Type.Utf8: cache(Utf8),
    Type.Bool: cache(Bool),
    Type.Decimal: _decimal,
    Type.Date: _date,
    Type.Time: _time,
    Type.Timestamp: _timestamp,
    Type.Interval: lambda unit: Interval(_one_of("interval unit", _INTERVAL_UNITS, unit)),
    Type.FixedSizeBinary: _fixed_size_binary,
    Type.Duration: lambda unit: Duration(_one_of("time unit", TIME_UNITS, unit)),
    Type.LargeBinary: cache(LargeBinary),
    Type.LargeUtf8: cache(LargeUtf8),
    Type.BinaryView: cache(BinaryView),
    Type.Utf8View: cache(Utf8View),
}

Fields = tuple[Field, ...]


def _only_child(fields: Fields) -> Field:
    if len(fields) != 1:
        raise InvalidArrowError(f"a list with {len(fields)} children; it has one")
    return fields[0]


def _fixed_size_list(parameters: Record, fields: Fields) -> FixedSizeList:
    size = parameters["listSize"]
    if size < 0:
        raise InvalidArrowError(f"lists of {size} elements")
    return FixedSizeList(_only_child(fields), size)


def _map(parameters: Record, fields: Fields) -> Map:
    entries = _only_child(fields)
    if not isinstance(entries.type, Struct) or len(entries.type.fields) != 2:
        raise InvalidArrowError(f"map with entries of {entries.type}, not a struct of two fields")
    return Map(entries, parameters["keysSorted"])


def _union(parameters: Record, fields: Fields) -> Union:
    mode = _one_of("union mode", _UNION_MODES, parameters["mode"])
    ids = parameters["typeIds"]
    codes = tuple(range(len(fields))) if ids is None else tuple(ids.tolist())
    if len(codes) != len(fields) or len(set(codes)) != len(codes):
        raise InvalidArrowError(f"union of {len(fields)} children with type ids {codes[:200]}")
    if any(not 0 <= code <= 127 for code in codes):
        raise InvalidArrowError(f"union with type ids {codes}; they are 0 to 127")
    return Union(mode, fields, codes)


def _run_end_encoded(parameters: Record, fields: Fields) -> RunEndEncoded:
    if len(fields) != 2:
        raise InvalidArrowError(f"run ends with {len(fields)} children; they have two")
    if fields[0].type not in (int16(), int32(), int64()):
        raise InvalidArrowError(f"run ends of {fields[0].type}, not int16, int32 or int64")
    return RunEndEncoded(*fields)


_NESTED: dict[int, Callable[[Record, Fields], DataType]] = {
    Type.List: lambda _, fields: List(_only_child(fields)),
    Type.Struct_: lambda _, fields: Struct(fields),
    Type.Union: _union,
    Type.FixedSizeList: _fixed_size_list,
    Type.Map: _map,
    Type.LargeList: lambda _, fields: LargeList(_only_child(fields)),
    Type.RunEndEncoded: _run_end_encoded,
    Type.ListView: lambda _, fields: ListView(_only_child(fields)),
    Type.LargeListView: lambda _, fields: LargeListView(_only_child(fields)),
}
