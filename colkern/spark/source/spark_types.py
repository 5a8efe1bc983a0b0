"""Which type a column of a file has in Spark, and which Arrow type Spark takes it as."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import types as spark
from pyspark.sql.pandas.types import to_arrow_schema

from colkern import schema as s
from colkern.errors import UnsupportedError
from colkern.interchange import import_schema

_MAX_PRECISION = 38

_INTEGERS: dict[tuple[int, bool], Callable[[], spark.DataType]] = {
    (8, True): spark.ByteType,
    (16, True): spark.ShortType,
    (32, True): spark.IntegerType,
    (64, True): spark.LongType,
    (8, False): spark.ShortType,
    (16, False): spark.IntegerType,
    (32, False): spark.LongType,
    (64, False): lambda: spark.DecimalType(20, 0),
}


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
    return spark.StructField(field.name, _spark_type(field.type, f"{path}: {field.name}"), True)


def _spark_type(type_: s.DataType, place: str) -> spark.DataType:
    """Spark's type for values of a type; `place` is the file and the path of the field."""
    storage = type_.storage
    if isinstance(storage, s.Dictionary | s.RunEndEncoded):
        return _spark_type(storage.value_type, place)
    make = _TYPES.get(type(storage))
    found = make(storage, place) if make is not None else None
    if found is None:
        raise UnsupportedError(
            f"{place}: Spark has no type for {type_}; leave the column out, with the option columns"
        )
    return found


def _decimal(type_: s.Decimal, _: str) -> spark.DataType | None:
    fits = type_.precision <= _MAX_PRECISION and 0 <= type_.scale <= type_.precision
    return spark.DecimalType(type_.precision, type_.scale) if fits else None


def _timestamp(type_: s.Timestamp, _: str) -> spark.DataType:
    return spark.TimestampNTZType() if type_.timezone is None else spark.TimestampType()


def _list(type_: Any, place: str) -> spark.DataType:
    return spark.ArrayType(_spark_type(type_.value_type, f"{place}.element"), True)


def _map(type_: s.Map, place: str) -> spark.DataType:
    key, value = type_.fields[0].type.fields
    return spark.MapType(
        _spark_type(key.type, f"{place}.key"), _spark_type(value.type, f"{place}.value"), True
    )


def _struct(type_: s.Struct, place: str) -> spark.DataType:
    return spark.StructType(
        [
            spark.StructField(field.name, _spark_type(field.type, f"{place}.{field.name}"), True)
            for field in type_.fields
        ]
    )


def _always(make: Callable[[], spark.DataType]) -> Callable[[Any, str], spark.DataType]:
    return lambda type_, place: make()


_STRING, _BINARY = _always(spark.StringType), _always(spark.BinaryType)

_TYPES: dict[type[s.DataType], Callable[[Any, str], spark.DataType | None]] = {
    s.Null: _always(spark.NullType),
    s.Bool: _always(spark.BooleanType),
    s.Int: lambda t, _: _INTEGERS[t.bit_width, t.signed](),
    s.FloatingPoint: lambda t, _: spark.DoubleType() if t.bit_width == 64 else spark.FloatType(),
    s.Decimal: _decimal,
    s.Date: _always(spark.DateType),
    s.Time: _always(spark.TimeType),
    s.Timestamp: _timestamp,
    s.Duration: _always(spark.DayTimeIntervalType),
    s.Utf8: _STRING,
    s.LargeUtf8: _STRING,
    s.Utf8View: _STRING,
    s.Binary: _BINARY,
    s.LargeBinary: _BINARY,
    s.BinaryView: _BINARY,
    s.FixedSizeBinary: _BINARY,
    s.List: _list,
    s.LargeList: _list,
    s.ListView: _list,
    s.LargeListView: _list,
    s.FixedSizeList: _list,
    s.Map: _map,
    s.Struct: _struct,
}


def pyarrow_schema(schema: spark.StructType) -> pa.Schema:
    """The Arrow schema in which Spark takes and gives batches of a schema."""
    return to_arrow_schema(schema, timezone="UTC")


def colkern_schema(schema: spark.StructType) -> s.Schema:
    """The same in colkern's terms."""
    return import_schema(pyarrow_schema(schema))


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
