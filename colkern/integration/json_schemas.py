"""Fields and schemas in Arrow's integration JSON, both ways.

A field's entry says more than `colkern.schema.Field` does, as in IPC: which dictionary the field has.
`JsonField` keeps both side by side.

Integration testing: "JSON test data format", Schema and Field.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any

from colkern.errors import InvalidArrowError, LimitExceededError, UnsupportedError
from colkern.integration.entries import Entry, shown
from colkern.integration.json_types import index_type_from_json, type_from_json, type_to_json
from colkern.schema import (
    DataType,
    Dictionary,
    Field,
    Schema,
    field_from_wire,
    field_to_wire,
)

MAX_NESTING = 64


@dataclass(frozen=True, slots=True)
class JsonField:
    """A field as the columns of the JSON follow it.

    Args:
        field: The field.
        children: The fields of the children: of the type, or of the dictionary's values.
        dictionary: The id of the dictionary, or None.
        values: The type of the dictionary's values, or the field's type.
    """

    field: Field
    children: tuple[JsonField, ...]
    dictionary: int | None
    values: DataType

    def of_values(self) -> JsonField:
        """The field of the dictionary's values."""
        return JsonField(Field(self.field.name, self.values), self.children, None, self.values)


@dataclass(frozen=True, slots=True)
class JsonSchema:
    """A schema as the batches of the JSON follow it."""

    schema: Schema
    fields: tuple[JsonField, ...]


# Reading


def schema_from_json(entry: Entry) -> JsonSchema:
    """The schema of a `schema` entry.

    Raises:
        InvalidArrowError: If an entry is malformed; the place names the field.
        LimitExceededError: If types nest deeper than `MAX_NESTING`.
    """
    fields = _fields(entry, "fields", MAX_NESTING)
    schema = Schema(tuple(node.field for node in fields), _metadata_from_json(entry))
    return JsonSchema(schema, fields)


def _fields(entry: Entry, key: str, depth_left: int) -> tuple[JsonField, ...]:
    if depth_left == 0:
        raise LimitExceededError(
            f"types nest deeper than {MAX_NESTING}; "
            "colkern.integration.json_schemas.MAX_NESTING sets the limit"
        )
    entries = entry.entries(key, [])
    return tuple(_field(child, place, depth_left) for place, child in enumerate(entries))


def _field(entry: Entry, position: int, depth_left: int) -> JsonField:
    name = entry.text("name", "")
    try:
        children = _fields(entry, "children", depth_left - 1)
        values = type_from_json(entry.entry("type"), tuple(node.field for node in children))
        data_type, dictionary = values, None
        if "dictionary" in entry:
            encoding = entry.entry("dictionary")
            index_type = index_type_from_json(encoding.entry("indexType"))
            data_type = Dictionary(index_type, values, encoding.flag("isOrdered", False))
            dictionary = encoding.integer("id")
        nullable = entry.flag("nullable", True)
        field = field_from_wire(name, data_type, nullable, _metadata_from_json(entry))
    except InvalidArrowError as error:
        raise error.at(f"field {name or position!r}") from None
    return JsonField(field, children, dictionary, values)


def _metadata_from_json(entry: Entry) -> dict[bytes, bytes] | None:
    pairs = entry.entries("metadata", [])
    try:
        return {p.text("key").encode(): p.text("value").encode() for p in pairs} or None
    except UnicodeEncodeError as error:
        raise InvalidArrowError(f"metadata {shown(error.object)}: {error.reason}") from None


# Writing


def json_schema(schema: Schema) -> JsonSchema:
    """The schema with an id for each dictionary: from 0 on, those within another one before it."""
    ids = count()
    return JsonSchema(schema, tuple(_json_field(field, ids) for field in schema))


def _json_field(field: Field, ids: Iterator[int]) -> JsonField:
    storage = field.type.storage
    values = storage.value_type if isinstance(storage, Dictionary) else field.type
    children = tuple(_json_field(child, ids) for child in values.fields)
    if values is field.type:
        return JsonField(field, children, None, values)
    if isinstance(values.storage, Dictionary):
        raise UnsupportedError(
            f"field {field.name!r}: a dictionary of {values}; the JSON format has one id a field"
        )
    return JsonField(field, children, next(ids), values)


def schema_to_json(schema: JsonSchema) -> dict[str, Any]:
    """The `schema` entry.

    Raises:
        UnsupportedError: If metadata is not UTF-8, which JSON cannot hold.
    """
    fields = [_field_to_json(node) for node in schema.fields]
    return {"fields": fields, **_metadata_to_json(schema.schema.metadata)}


def _field_to_json(node: JsonField) -> dict[str, Any]:
    wire = field_to_wire(node.field)
    entry: dict[str, Any] = {
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


def _metadata_to_json(metadata: Mapping[bytes, bytes] | None) -> dict[str, Any]:
    if not metadata:
        return {}
    try:
        pairs = [{"key": k.decode(), "value": v.decode()} for k, v in metadata.items()]
    except UnicodeDecodeError as error:
        raise UnsupportedError(f"metadata {shown(error.object)} is not UTF-8, as JSON is") from None
    return {"metadata": pairs}
