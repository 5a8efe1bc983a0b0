"""Schemas from metadata: data types, and the dictionary of each field.

Columnar format 1.5: "Schema message", "Data Types".
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from colkern import schema as s
from colkern.errors import InvalidArrowError, UnsupportedError
from colkern.ipc.enums import DictionaryKind, Endianness, Type
from colkern.ipc.fields import WireField, WireSchema
from colkern.ipc.flatbuffer.tables import Record, Tables
from colkern.ipc.limits import FieldCount, Limits
from colkern.ipc.reading.flat_fields import FEWEST, FieldsOf, FlatFields, flat_fields
from colkern.ipc.reading.messages import key_values
from colkern.ipc.types import ROWS, TypeRow


def schema_from_wire(record: Record, limits: Limits) -> WireSchema:
    """The schema in a decoded `Schema` table."""
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
        flat = flat_fields(entries, data_type_from_wire, make_field)
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
        below = tuple([child.field for child in children]) if children else ()
        values = data_type_from_wire(record["type_type"], record["type"], below)
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
    index_type = s.int32() if index is None else data_type_from_wire(Type.Int, index)
    assert isinstance(index_type, s.Int)
    return s.Dictionary(index_type, values, encoding["isOrdered"])


def data_type_from_wire(
    number: int, parameters: Record | None, fields: tuple[s.Field, ...] = ()
) -> s.DataType:
    """The type with a number of the `Type` union, with those parameters and child fields."""
    row = _BY_NUMBER.get(number)
    if row is None:
        if number == Type.NONE:
            raise InvalidArrowError("no type")
        raise UnsupportedError(f"data type number {number}, which format 1.5 does not have")
    if parameters is None:
        raise InvalidArrowError(f"type {number} without its table")
    # Types with text from untrusted input, such as time zones, are not cached: the cache is never
    # emptied.
    has_text = any(isinstance(parameter, str) for parameter in parameters.values())
    if not fields and row.children == 0 and not has_text:
        return _leaf(number, *parameters.items())
    return _new_type(row, fields, parameters)


def _new_type(row: TypeRow, fields: tuple[s.Field, ...], parameters: Record) -> s.DataType:
    attributes = {
        parameter.attribute: parameter.of_number(name, parameters[name])
        for name, parameter in row.parameters.items()
    }
    return row.new_type(fields, attributes)


# The columns of a wide table share their types.
@lru_cache(maxsize=4096)
def _leaf(number: int, *parameters: tuple[str, object]) -> s.DataType:
    return _new_type(_BY_NUMBER[number], (), dict(parameters))


_BY_NUMBER = {row.number: row for row in ROWS.values()}
