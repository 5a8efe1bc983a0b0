"""Columns of a file as Spark takes them."""

from __future__ import annotations

from colkern import schema as s
from colkern.arrays import Array
from colkern.errors import UnsupportedError
from colkern.operations import cast, require_valid
from colkern.spark.declared_nulls import require_declared_nulls
from colkern.spark.source.rounding import in_units_of


def converted(column: Array, field: s.Field, path: str) -> Array:
    """A column with the type in which Spark takes it; what has it already is not copied.

    Nanoseconds become microseconds, and milliseconds of dates become days, by rounding down.

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
        made = cast(in_units_of(column, field.type), field.type)
        require_declared_nulls(made, field)
    except UnsupportedError as error:
        raise TypeError(
            f"{path}: {field.name}: {column.type} does not become {field.type}, which the schema "
            f"asks for ({error})"
        ) from error
    except ValueError as error:
        raise ValueError(f"{path}: {field.name}: {error}") from error
    return made
