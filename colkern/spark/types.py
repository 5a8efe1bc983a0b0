"""Spark's data types and Arrow's: each pair is declared once, and used in both directions."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TypeAlias

from pyspark.sql import types as spark

from colkern import schema as s
from colkern.dispatch import Dispatch, by_type
from colkern.errors import UnsupportedError

_SCALARS: dict[type[spark.DataType], s.DataType] = {
    spark.NullType: s.null(),
    spark.BooleanType: s.bool_(),
    spark.ByteType: s.int8(),
    spark.ShortType: s.int16(),
    spark.IntegerType: s.int32(),
    spark.LongType: s.int64(),
    spark.FloatType: s.float32(),
    spark.DoubleType: s.float64(),
    spark.DateType: s.date32(),
    spark.TimestampType: s.timestamp("us", "UTC"),
    spark.TimestampNTZType: s.timestamp("us"),
    spark.DayTimeIntervalType: s.duration("us"),
    spark.StringType: s.utf8(),
    spark.BinaryType: s.binary(),
}
if hasattr(spark, "TimeType"):
    # This type is newer than the oldest PySpark that colkern works with.
    _SCALARS[spark.TimeType] = s.time64("ns")

_SPARK_SCALARS = {ours: theirs for theirs, ours in _SCALARS.items()}

VARIANT: s.Struct = s.struct(
    [
        s.field("value", s.binary(), nullable=False),
        s.field("metadata", s.binary(), nullable=False, metadata={b"variant": b"true"}),
    ]
)
"""A column of Spark's variants: a struct of two byte strings, marked by metadata."""

_SPATIAL: dict[str, type[spark.DataType]] = {
    kind: getattr(spark, f"{kind.title()}Type")
    for kind in ("geometry", "geography")
    if hasattr(spark, f"{kind.title()}Type")
}
"""Spark's spatial types, by the metadata that marks the field `wkb` of their structs."""

_MAX_PRECISION = 38
_METADATA_KEY = b"SPARK::metadata::json"


# From Arrow's types to Spark's


def spark_type(data_type: s.DataType) -> spark.DataType:
    """Returns Spark's type for a column of results; UnsupportedError says which type to declare instead."""
    return counterpart(data_type, _not_as_result)


def spark_schema(fields: Mapping[str, s.DataType] | s.Schema) -> spark.StructType:
    """Returns Spark's schema for a table of results; UnsupportedError if Spark has no type for a column."""
    return _fields(s.as_fields(fields), lambda type_, _: spark_type(type_))


def counterpart(
    data_type: s.DataType,
    refusal: Callable[[s.DataType, str], UnsupportedError],
    place: str = "",
    as_held: Callable[[s.DataType], s.DataType] = lambda type_: type_,
) -> spark.DataType:
    """Returns Spark's type for a column; `refusal` makes the error from a type that Spark lacks and its
    place; `as_held` gives the type that holds the values of a type or of a part of it."""

    def part(type_: s.DataType, name: str) -> spark.DataType:
        return counterpart(type_, refusal, f"{place}.{name}" if place else name, as_held)

    held = as_held(data_type)
    make = _IN_SPARK.get(type(held))
    result = None if make is None else make(held, part)
    if result is None:
        raise refusal(held, place)
    return result


def _not_as_result(data_type: s.DataType, place: str) -> UnsupportedError:
    hint = _INSTEAD.get(type(data_type))
    advice = f"; declare {hint}" if hint else ""
    return UnsupportedError(f"Spark has no type for results of {data_type}{advice}")


_INSTEAD: dict[type[s.DataType], str] = {
    s.Int: "int64",
    s.FloatingPoint: "float32 or float64",
    s.Decimal: "decimal128, with a scale from 0 to its precision",
    s.Date: "date32",
    s.Time: "time64",
    s.Timestamp: 'timestamp("us")',
    s.Duration: 'duration("us")',
    s.Interval: 'int32 for months, duration("us") for days and times, and cast it in SQL',
    s.Union: "a struct with a field for each alternative",
    s.Extension: "its storage type, or colkern.spark.types.VARIANT for variants",
}


def is_variant(data_type: s.DataType) -> bool:
    """Whether a type is a struct that Spark marks as a variant."""
    fields = {field.name: field for field in data_type.fields}
    return (
        isinstance(data_type, s.Struct)
        and len(data_type.fields) == 2
        and fields.keys() == {"value", "metadata"}
        and all(isinstance(field.type, _BYTES) for field in fields.values())
        and (fields["metadata"].metadata or {}).get(b"variant") == b"true"
    )


_BYTES = s.Binary | s.LargeBinary | s.BinaryView

Part: TypeAlias = Callable[[s.DataType, str], spark.DataType]
"""Makes Spark's type for a nested field, from the field's type and name."""

_IN_SPARK: Dispatch[type[s.DataType], Callable[..., spark.DataType | None]] = by_type(
    "the counterpart in Spark", s.Interval, s.Union, s.Extension
)
"""By class: returns Spark's type for a type and a `Part`; None if Spark has none for these parameters."""


@_IN_SPARK.of(s.Null, s.Bool, s.Int, s.FloatingPoint, s.Date, s.Time, s.Timestamp, s.Duration)
@_IN_SPARK.of(s.Utf8, s.LargeUtf8, s.Utf8View)
@_IN_SPARK.of(s.Binary, s.LargeBinary, s.BinaryView, s.FixedSizeBinary)
def _scalar(type_: s.DataType, _: Part) -> spark.DataType | None:
    plain = type_
    if isinstance(type_, s.LargeUtf8 | s.Utf8View):
        plain = s.utf8()
    elif isinstance(type_, s.LargeBinary | s.BinaryView | s.FixedSizeBinary):
        plain = s.binary()
    elif isinstance(type_, s.Time) and type_.bit_width == 64:
        plain = s.time64("ns")
    elif isinstance(type_, s.Timestamp):
        plain = s.timestamp(type_.unit, "UTC" if type_.timezone else None)
    theirs = _SPARK_SCALARS.get(plain)
    return theirs and theirs()


@_IN_SPARK.of(s.Decimal)
def _decimal(type_: s.Decimal, _: Part) -> spark.DataType | None:
    fits = type_.precision <= _MAX_PRECISION and 0 <= type_.scale <= type_.precision
    return spark.DecimalType(type_.precision, type_.scale) if fits else None


@_IN_SPARK.of(s.Dictionary, s.RunEndEncoded)
def _encoded(type_: s.Dictionary | s.RunEndEncoded, part: Part) -> spark.DataType:
    return part(type_.value_type, "values")


@_IN_SPARK.of(s.List, s.LargeList, s.ListView, s.LargeListView, s.FixedSizeList)
def _list(type_: s.List | s.FixedSizeList, part: Part) -> spark.DataType:
    return spark.ArrayType(part(type_.value_type, "element"), type_.value_field.nullable)


@_IN_SPARK.of(s.Map)
def _map(type_: s.Map, part: Part) -> spark.DataType:
    key, value = type_.key_field, type_.item_field
    return spark.MapType(part(key.type, "key"), part(value.type, "value"), value.nullable)


@_IN_SPARK.of(s.Struct)
def _struct(type_: s.Struct, part: Part) -> spark.DataType:
    if is_variant(type_):
        return spark.VariantType()
    for field in type_.fields:
        metadata = field.metadata or {}
        for kind, theirs in _SPATIAL.items():
            if field.name == "wkb" and metadata.get(kind.encode()) == b"true":
                reference = int(metadata[b"srid"])
                return theirs("ANY" if reference == theirs.MIXED_SRID else reference)
    return _fields(type_.fields, part)


def _fields(fields: tuple[s.Field, ...], part: Part) -> spark.StructType:
    return spark.StructType(
        [
            spark.StructField(
                field.name,
                part(field.type, field.name),
                field.nullable,
                json.loads((field.metadata or {}).get(_METADATA_KEY, b"null")),
            )
            for field in fields
        ]
    )


# From Spark's types to Arrow's


def arrow_type(data_type: spark.DataType) -> s.DataType:
    """Returns the data type in which Spark passes a column; UnsupportedError says what to do instead."""
    for kind in type(data_type).__mro__:
        if kind in _SCALARS:
            return _SCALARS[kind]
        if kind in _OF_SPARK:
            return _OF_SPARK[kind](data_type)
    hint = next((h for k, h in _CAST_IN_SQL.items() if isinstance(data_type, k)), "")
    name = data_type.simpleString()
    raise UnsupportedError(f"Spark passes no columns of {name} to Python as Arrow{hint}")


def arrow_schema(schema: spark.StructType) -> s.Schema:
    """Returns the schema in which Spark passes and takes a table; UnsupportedError names a column."""
    return s.Schema(tuple(map(_arrow_field, schema.fields)))


def _arrow_field(field: spark.StructField) -> s.Field:
    try:
        type_ = arrow_type(field.dataType)
    except UnsupportedError as error:
        raise UnsupportedError(f"{field.name}: {error}") from None
    metadata = {_METADATA_KEY: json.dumps(field.metadata).encode()} if field.metadata else None
    return s.field(field.name, type_, field.nullable, metadata)


def _arrow_spatial(type_: spark.DataType) -> s.DataType:
    kind = next(kind for kind, theirs in _SPATIAL.items() if isinstance(type_, theirs))
    metadata = {kind.encode(): b"true", b"srid": str(type_.srid).encode()}
    wkb = s.field("wkb", s.binary(), nullable=False, metadata=metadata)
    return s.struct([s.field("srid", s.int32(), nullable=False), wkb])


_OF_SPARK: dict[type[spark.DataType], Callable[[spark.DataType], s.DataType]] = {
    spark.DecimalType: lambda t: s.decimal128(t.precision, t.scale),
    spark.ArrayType: lambda t: s.list_(
        s.field("element", arrow_type(t.elementType), t.containsNull)
    ),
    spark.MapType: lambda t: s.map_(
        s.field("key", arrow_type(t.keyType), nullable=False),
        s.field("value", arrow_type(t.valueType), t.valueContainsNull),
    ),
    spark.StructType: lambda t: s.Struct(arrow_schema(t).fields),
    spark.VariantType: lambda _: VARIANT,
    spark.UserDefinedType: lambda t: arrow_type(t.sqlType()),
    **dict.fromkeys(_SPATIAL.values(), _arrow_spatial),
}

_CAST_IN_SQL: dict[type[spark.DataType], str] = {
    spark.YearMonthIntervalType: "; cast it to a number of months: CAST(x AS INTERVAL MONTH), then "
    "CAST(… AS INT)",
    spark.CalendarIntervalType: "; use a day-time interval, or extract its parts in SQL",
}
