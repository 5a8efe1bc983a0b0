"""Fields and schemas in Arrow's integration JSON, both ways.

A field's entry says which dictionary the field has, as in IPC, so both have the same fields with ids:
`colkern.ipc.fields.WireField`.

Integration testing: "JSON test data format", Schema and Field.
"""

from __future__ import annotations

from collections.abc import Mapping

from colkern.errors import InvalidArrowError, LimitExceededError, UnsupportedError
from colkern.integration.entries import Entry, Json, shown
from colkern.integration.json_types import index_type_from_json, type_from_json, type_to_json
from colkern.ipc.fields import WireField, WireSchema
from colkern.key_values import metadata_of, pairs_of
from colkern.schema import DataType, Dictionary, Schema, field_from_wire, field_to_wire

MAX_NESTING = 64


# Reading


def schema_from_json(entry: Entry) -> WireSchema:
    """The schema of a `schema` entry."""
    fields = _fields(entry, "fields", MAX_NESTING)
    schema = Schema(tuple(node.field for node in fields), _metadata_from_json(entry))
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
        data_type: DataType = values
        dictionary = None
        if "dictionary" in entry:
            encoding = entry.entry("dictionary")
            index_type = index_type_from_json(encoding.entry("indexType"))
            data_type = Dictionary(index_type, values, encoding.flag("isOrdered", False))
            dictionary = encoding.integer("id")
            if not -(2**63) <= dictionary < 2**63:
                raise InvalidArrowError(f"dictionary id {shown(dictionary)}; it has 64 bits")
        nullable = entry.flag("nullable", True)
        field = field_from_wire(name, data_type, nullable, _metadata_from_json(entry))
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
    wire = field_to_wire(node.field)
    entry: dict[str, Json] = {
        "name": wire.name,
        "type": type_to_json(node.values.storage),
        "nullable": wire.nullable,
        "children": [_field_to_json(child) for child in node.children],
    }
    storage = node.field.type.storage
    if isinstance(storage, Dictionary):
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
