"""Schemas into metadata: the opposite of `colkern.ipc.reading.schemas`.

Columnar format 1.5: "Schema message", "Data Types".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import count
from typing import Any

from colkern import schema as s
from colkern.errors import UnsupportedError
from colkern.ipc.fields import WireField, WireSchema
from colkern.ipc.flatbuf.DictionaryKind import DictionaryKind
from colkern.ipc.flatbuf.Endianness import Endianness
from colkern.ipc.flatbuf.Type import Type
from colkern.ipc.flatbuffer import Record


def wire_schema_of(schema: s.Schema, dictionary_ids: Mapping[str, int]) -> WireSchema:
    """A schema with an id for every dictionary.

    Args:
        schema: The schema.
        dictionary_ids: The path of a field (names with dots between them) → the id of its dictionary.
            Fields with one id share a dictionary. The others get ids of their own.

    Raises:
        ValueError: If a path leads to no dictionary field, or fields of one id have different values.
        UnsupportedError: If IPC has no form for a type.
    """
    numbering = _Numbering(dictionary_ids)
    fields = tuple(numbering.field(field, field.name) for field in schema)
    unknown = sorted(dictionary_ids.keys() - numbering.seen)
    if unknown:
        raise ValueError(f"dictionary_ids: no dictionary field {unknown[0]!r}")
    return WireSchema(schema, fields, big_endian=False)


class _Numbering:
    """Gives each dictionary field its id."""

    def __init__(self, ids: Mapping[str, int]) -> None:
        self._ids = ids
        self._values: dict[int, s.DataType] = {}
        self._fresh: Iterator[int] = (i for i in count() if i not in set(ids.values()))
        self.seen: set[str] = set()

    def field(self, field: s.Field, path: str) -> WireField:
        type_ = s.field_to_wire(field).type
        values, dictionary = type_, None
        if isinstance(type_, s.Dictionary):
            values, dictionary = type_.value_type, self._id(path)
            if isinstance(values, s.Extension | s.Dictionary):
                raise UnsupportedError(
                    f"{path}: IPC has no form for a dictionary whose values are {values}"
                )
            known = self._values.setdefault(dictionary, values)
            if known != values:
                raise ValueError(
                    f"dictionary_ids: dictionary {dictionary} has values of {known} in one field "
                    f"and of {values} in {path!r}"
                )
        children = tuple(self.field(child, f"{path}.{child.name}") for child in values.fields)
        return WireField(field, children, dictionary, values)

    def _id(self, path: str) -> int:
        self.seen.add(path)
        known = self._ids.get(path)
        return next(self._fresh) if known is None else known


def schema_to_wire(wire: WireSchema) -> Record:
    """The `Schema` table of a schema."""
    return {
        "endianness": Endianness.Little,
        "fields": [_field(field) for field in wire.fields],
        "custom_metadata": pairs(wire.schema.metadata),
    }


def pairs(metadata: Mapping[bytes, bytes] | None) -> list[Record] | None:
    """Custom metadata as `KeyValue` tables; None where there is none."""
    if not metadata:
        return None
    return [{"key": key, "value": value} for key, value in metadata.items()]


def type_to_wire(type_: s.DataType) -> Record:
    """The slots of any table that has a data type: its number, and the table of its parameters."""
    number, parameters = _TYPES[type(type_)]
    return {"type_type": number, "type": parameters(type_)}


def _field(field: WireField) -> Record:
    plain = s.field_to_wire(field.field)
    encoding = None
    if isinstance(plain.type, s.Dictionary):
        encoding = {
            "id": field.dictionary,
            "indexType": _int(plain.type.index_type),
            "isOrdered": plain.type.ordered,
            "dictionaryKind": DictionaryKind.DenseArray,
        }
    return {
        "name": plain.name,
        "nullable": plain.nullable,
        **type_to_wire(field.values),
        "dictionary": encoding,
        "children": [_field(child) for child in field.children],
        "custom_metadata": pairs(plain.metadata),
    }


def _no_parameters(_: Any) -> Record:
    return {}


def _int(type_: s.Int) -> Record:
    return {"bitWidth": type_.bit_width, "is_signed": type_.signed}


def _unit(type_: Any) -> int:
    return s.TIME_UNITS.index(type_.unit)


_INTERVAL_UNITS = ("year_month", "day_time", "month_day_nano")

_TYPES: dict[type[s.DataType], tuple[int, Callable[[Any], Record]]] = {
    s.Null: (Type.Null, _no_parameters),
    s.Bool: (Type.Bool, _no_parameters),
    s.Int: (Type.Int, _int),
    s.FloatingPoint: (
        Type.FloatingPoint,
        lambda t: {"precision": (16, 32, 64).index(t.bit_width)},
    ),
    s.Decimal: (
        Type.Decimal,
        lambda t: {"precision": t.precision, "scale": t.scale, "bitWidth": t.bit_width},
    ),
    s.Date: (Type.Date, lambda t: {"unit": ("day", "ms").index(t.unit)}),
    s.Time: (Type.Time, lambda t: {"unit": _unit(t), "bitWidth": t.bit_width}),
    s.Timestamp: (Type.Timestamp, lambda t: {"unit": _unit(t), "timezone": t.timezone}),
    s.Duration: (Type.Duration, lambda t: {"unit": _unit(t)}),
    s.Interval: (Type.Interval, lambda t: {"unit": _INTERVAL_UNITS.index(t.unit)}),
    s.FixedSizeBinary: (Type.FixedSizeBinary, lambda t: {"byteWidth": t.byte_width}),
    s.Binary: (Type.Binary, _no_parameters),
    s.Utf8: (Type.Utf8, _no_parameters),
    s.LargeBinary: (Type.LargeBinary, _no_parameters),
    s.LargeUtf8: (Type.LargeUtf8, _no_parameters),
    s.BinaryView: (Type.BinaryView, _no_parameters),
    s.Utf8View: (Type.Utf8View, _no_parameters),
    s.List: (Type.List, _no_parameters),
    s.LargeList: (Type.LargeList, _no_parameters),
    s.ListView: (Type.ListView, _no_parameters),
    s.LargeListView: (Type.LargeListView, _no_parameters),
    s.FixedSizeList: (Type.FixedSizeList, lambda t: {"listSize": t.list_size}),
    s.Struct: (Type.Struct_, _no_parameters),
    s.Map: (Type.Map, lambda t: {"keysSorted": t.keys_sorted}),
    s.Union: (
        Type.Union,
        lambda t: {"mode": ("sparse", "dense").index(t.mode), "typeIds": t.type_codes},
    ),
    s.RunEndEncoded: (Type.RunEndEncoded, _no_parameters),
}
