"""Data types, fields and schemas to and from Arrow's integration JSON.

Types follow the table of metadata: `colkern.ipc.types`. A field's entry names its dictionary, as in IPC, so
both use the same class of fields with ids: `colkern.ipc.fields.WireField`.

Integration testing: "JSON test data format", Schema, Field and Type.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from colkern import schema as s
from colkern.errors import InvalidArrowError, LimitExceededError, UnsupportedError, shown
from colkern.integration.json_values import Entry, Json
from colkern.ipc.fields import WireField, WireSchema
from colkern.ipc.flatbuffer.tables import Text, Vector
from colkern.ipc.types import BOOL, ROWS, Parameter
from colkern.key_values import metadata_of, pairs_of


def type_from_json(entry: Entry, fields: tuple[s.Field, ...]) -> s.DataType:
    """The data type of a field's `type` entry."""
    name = entry.text("name")
    row = _BY_NAME.get(name)
    if row is None:
        raise InvalidArrowError(f"unknown type {shown(name)}")
    attributes = {
        parameter.attribute: _read(entry, _member(key), parameter)
        for key, parameter in row.parameters.items()
        if _member(key) in entry or not parameter.optional
    }
    return row.new_type(fields, attributes)


def type_to_json(data_type: s.DataType) -> dict[str, Json]:
    """The `type` entry of a data type that is neither a dictionary nor an extension type."""
    row = ROWS[type(data_type)]
    members: dict[str, Json] = {"name": row.name}
    for key, parameter in row.parameters.items():
        value = getattr(data_type, parameter.attribute)
        # A timestamp without a zone has no such member.
        if value is not None and value != "":
            members[_member(key)] = _written(value, parameter)
    return members


def index_type_from_json(entry: Entry) -> s.Int:
    """The type of dictionary indices; raises like `type_from_json`, also if it is no integer."""
    index_type = type_from_json(entry, ())
    if not isinstance(index_type, s.Int):
        raise InvalidArrowError(f"dictionary indices of type {index_type}")
    return index_type


def _member(name: str) -> str:
    """Returns the JSON name of a parameter: `isSigned` for `is_signed`."""
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


def _integers(entry: Entry, key: str) -> list[object]:
    items = entry.items(key)
    if not all(type(item) is int for item in items):
        raise InvalidArrowError(f"{key}: expected integers, got {shown(items)}")
    return items


def _read(entry: Entry, key: str, parameter: Parameter) -> object:
    if parameter.members is not None:
        return entry.choice(key, parameter.members)
    if isinstance(parameter.slot, Text):
        return entry.text(key)
    if isinstance(parameter.slot, Vector):
        return _integers(entry, key)
    return entry.flag(key) if parameter.slot is BOOL else entry.integer(key)


def _written(value: Any, parameter: Parameter) -> Json:
    if parameter.members is not None:
        return next(name for name, other in parameter.members.items() if other == value)
    return list(value) if isinstance(parameter.slot, Vector) else value


_BY_NAME = {row.name: row for row in ROWS.values()}


MAX_NESTING = 64


# Reading


def schema_from_json(entry: Entry) -> WireSchema:
    """The schema of a `schema` entry."""
    fields = _fields(entry, "fields", MAX_NESTING)
    schema = s.Schema(tuple(node.field for node in fields), _metadata_from_json(entry))
    return WireSchema(schema, fields, big_endian=False)


def _fields(entry: Entry, key: str, depth_left: int) -> tuple[WireField, ...]:
    if depth_left == 0:
        raise LimitExceededError(
            f"types nest deeper than {MAX_NESTING}; "
            "colkern.integration.json_schemas.MAX_NESTING sets the limit"
        )
    entries = entry.entries(key, [])
    return tuple(_field(child, place, depth_left) for place, child in enumerate(entries))


def _field(entry: Entry, position: int, depth_left: int) -> WireField:
    name = ""
    try:
        name = entry.text("name", "")
        children = _fields(entry, "children", depth_left - 1)
        values = type_from_json(entry.entry("type"), tuple(node.field for node in children))
        data_type: s.DataType = values
        dictionary = None
        if "dictionary" in entry:
            encoding = entry.entry("dictionary")
            index_type = index_type_from_json(encoding.entry("indexType"))
            data_type = s.Dictionary(index_type, values, encoding.flag("isOrdered", False))
            dictionary = encoding.integer("id")
            if not -(2**63) <= dictionary < 2**63:
                raise InvalidArrowError(f"dictionary id {shown(dictionary)}; it has 64 bits")
        nullable = entry.flag("nullable", True)
        field = s.field_from_wire(name, data_type, nullable, _metadata_from_json(entry))
    except InvalidArrowError as error:
        raise error.at(f"field {name or position!r}") from None
    return WireField(field, children, dictionary, values)


def _metadata_from_json(entry: Entry) -> Mapping[bytes, bytes] | None:
    pairs = entry.entries("metadata", [])
    return metadata_of([(p.text("key").encode(), p.text("value").encode()) for p in pairs])


# Writing


def schema_to_json(schema: WireSchema) -> dict[str, Json]:
    """The `schema` entry; raises `UnsupportedError` if metadata is not UTF-8, which JSON cannot hold."""
    fields = [_field_to_json(node) for node in schema.fields]
    return {"fields": fields, **_metadata_to_json(schema.schema.metadata)}


def _field_to_json(node: WireField) -> dict[str, Json]:
    wire = s.field_to_wire(node.field)
    entry: dict[str, Json] = {
        "name": wire.name,
        "type": type_to_json(node.values.storage),
        "nullable": wire.nullable,
        "children": [_field_to_json(child) for child in node.children],
    }
    storage = node.field.type.storage
    if isinstance(storage, s.Dictionary):
        entry["dictionary"] = {
            "id": node.dictionary,
            "indexType": type_to_json(storage.index_type),
            "isOrdered": storage.ordered,
        }
    return {**entry, **_metadata_to_json(wire.metadata)}


def _metadata_to_json(metadata: Mapping[bytes, bytes] | None) -> dict[str, Json]:
    if not metadata:
        return {}
    try:
        pairs = [{"key": k.decode(), "value": v.decode()} for k, v in pairs_of(metadata)]
    except UnicodeDecodeError as error:
        raise UnsupportedError(f"metadata {shown(error.object)} is not UTF-8, as JSON is") from None
    return {"metadata": pairs}
