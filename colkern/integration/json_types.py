"""Data types in Arrow's integration JSON, both ways, by the table of metadata: `colkern.ipc.types`.

Integration testing: "JSON test data format", Type.
"""

from __future__ import annotations

from typing import Any

from colkern import schema as s
from colkern.errors import InvalidArrowError
from colkern.integration.entries import Entry, Json, shown
from colkern.ipc.flatbuffer.tables import Text, Vector
from colkern.ipc.types import BOOL, ROWS, Parameter


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
    return row.made(fields, attributes)


def type_to_json(data_type: s.DataType) -> dict[str, Json]:
    """The `type` entry of a data type that is neither a dictionary nor an extension type."""
    row = ROWS[type(data_type)]
    members: dict[str, Json] = {"name": row.name}
    for key, parameter in row.parameters.items():
        value = getattr(data_type, parameter.attribute)
        # A timestamp without a zone has none here.
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
    """The member of JSON for a parameter: `isSigned` for `is_signed`."""
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
