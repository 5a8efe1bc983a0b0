"""Columns of a file as Spark takes them."""

from __future__ import annotations

from dataclasses import replace

from colkern import schema as s
from colkern.arrays import Array
from colkern.errors import UnsupportedError
from colkern.operations import cast, require_valid
from colkern.spark.declared_nulls import require_declared_nulls


def converted(column: Array, field: s.Field, path: str) -> Array:
    """A column with the type in which Spark takes it; what has it already is not copied.

    Nanoseconds become microseconds, Spark's unit, by cutting off what is below.

    Args:
        column: A column of a file.
        field: The field of Spark's schema.
        path: The file, for errors.

    Raises:
        ValueError: If a value does not fit the type, or is null where that has none; names the file and
            the field.
        UnsupportedError: If the type does not become the other.
        InvalidArrowError: If the column points outside its own memory.
    """
    # From here on the bytes are in the hands of others, who do not look at them.
    require_valid(column, field.name)
    try:
        cut = _in_microseconds(column.type, field.type)
        made = cast(cast(column, cut, safe=False), field.type)
        require_declared_nulls(made, field)
        return made
    except UnsupportedError as error:
        raise TypeError(
            f"{path}: {field.name}: {column.type} does not become {field.type}, which the schema "
            f"asks for ({error})"
        ) from error
    except ValueError as error:
        raise ValueError(f"{path}: {field.name}: {error}") from error


def _in_microseconds(type_: s.DataType, wanted: s.DataType) -> s.DataType:
    """A type with microseconds wherever it has nanoseconds and is to have microseconds; else itself."""
    storage = type_.storage
    if isinstance(storage, s.Dictionary | s.RunEndEncoded):
        values = _in_microseconds(storage.value_type, wanted)
        return type_ if values is storage.value_type else values
    if isinstance(storage, s.Timestamp | s.Time | s.Duration):
        cut = storage.unit == "ns" and getattr(wanted, "unit", None) == "us"
        return replace(storage, unit="us") if cut else type_
    if len(storage.fields) != len(wanted.fields):
        return type_
    fields = tuple(map(_field_in_microseconds, storage.fields, wanted.fields))
    if all(made is field for made, field in zip(fields, storage.fields, strict=True)):
        return type_
    if isinstance(storage, s.Struct):
        return replace(storage, struct_fields=fields)
    if isinstance(storage, s.Map):
        return replace(storage, entries_field=fields[0])
    return replace(storage, value_field=fields[0])  # type: ignore[call-arg]  # a list of some kind


def _field_in_microseconds(field: s.Field, wanted: s.Field) -> s.Field:
    made = _in_microseconds(field.type, wanted.type)
    return field if made is field.type else s.field(field.name, made, field.nullable)
