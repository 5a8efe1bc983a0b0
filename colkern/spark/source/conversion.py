"""Columns of a file as Spark takes them."""

from __future__ import annotations

from collections.abc import Iterator

from colkern import schema as s
from colkern.arrays import Array
from colkern.errors import UnsupportedError
from colkern.operations import cast, require_valid


def converted(column: Array, field: s.Field, path: str) -> Array:
    """A column with the type in which Spark takes it; what has it already is not copied.

    Nanoseconds become microseconds, Spark's unit, by cutting off what is below.

    Args:
        column: A column of a file.
        field: The field of Spark's schema.
        path: The file, for errors.

    Raises:
        ValueError: If a value does not fit the type; names the file, the field and the slot.
        UnsupportedError: If the type does not become the other.
        InvalidArrowError: If the column points outside its own memory.
    """
    # From here on the bytes are in the hands of others, who do not look at them.
    require_valid(column, field.name)
    try:
        return cast(column, field.type, safe=not _has_nanoseconds(column.type))
    except UnsupportedError as error:
        raise TypeError(
            f"{path}: {field.name}: {column.type} does not become {field.type}, which the schema "
            f"asks for ({error})"
        ) from error
    except ValueError as error:
        raise ValueError(f"{path}: {field.name}: {error}") from error


def _has_nanoseconds(type_: s.DataType) -> bool:
    return any(getattr(part, "unit", None) == "ns" for part in _parts(type_))


def _parts(type_: s.DataType) -> Iterator[s.DataType]:
    """A type, those of its fields, and those of dictionaries."""
    storage = type_.storage
    yield storage
    if isinstance(storage, s.Dictionary):
        yield from _parts(storage.value_type)
    for field in storage.fields:
        yield from _parts(field.type)
