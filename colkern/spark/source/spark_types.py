"""Which schema a file has in Spark."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pyspark.sql import types as spark

from colkern import schema as s
from colkern.errors import UnsupportedError
from colkern.spark.source.widening import widened
from colkern.spark.types import counterpart


def schema_in_spark(schema: s.Schema, columns: Sequence[str] | None, path: str) -> spark.StructType:
    """The schema in which Spark sees a file.

    All fields may hold nulls, as those of Spark's own file formats.

    Args:
        schema: The schema of the file.
        columns: The columns that are wanted, in their order; None for all.
        path: The file, for errors.

    Raises:
        UnsupportedError: If Spark has no type for a column.
        ValueError: If there is no column of a name, or more than one.
    """
    names = schema.names if columns is None else columns
    return spark.StructType([_spark_field(_named(schema, name, path), path) for name in names])


def _named(schema: s.Schema, name: str, path: str) -> s.Field:
    count = schema.names.count(name)
    if count != 1:
        found = "no column" if count == 0 else f"{count} columns"
        raise ValueError(f"{path}: {found} {name!r}; the file has {', '.join(schema.names)}")
    return schema.field(name)


def _spark_field(field: s.Field, path: str) -> spark.StructField:
    def refusal(type_: s.DataType, place: str) -> UnsupportedError:
        return UnsupportedError(
            f"{path}: {place}: Spark has no type for {type_}; leave the column out, with the option "
            f"columns"
        )

    made = counterpart(widened(field.type), refusal, field.name)
    return spark.StructField(field.name, made, True)


def as_nullable(fields: Iterable[spark.StructField]) -> spark.StructType:
    """The fields, all of which may hold nulls."""
    return spark.StructType(
        [spark.StructField(f.name, _nullable(f.dataType), True, f.metadata) for f in fields]
    )


def _nullable(type_: spark.DataType) -> spark.DataType:
    if isinstance(type_, spark.StructType):
        return as_nullable(type_)
    if isinstance(type_, spark.ArrayType):
        return spark.ArrayType(_nullable(type_.elementType), True)
    if isinstance(type_, spark.MapType):
        return spark.MapType(_nullable(type_.keyType), _nullable(type_.valueType), True)
    return type_
