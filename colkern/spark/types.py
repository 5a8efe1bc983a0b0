"""The data types that Spark's Arrow path has, in colkern's terms and in Spark's, both ways."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from pyspark.sql import types as spark

from colkern import schema as s
from colkern.errors import UnsupportedError

if TYPE_CHECKING:
    from colkern.jit.signatures import Parameter

_INTEGERS = {8: spark.ByteType, 16: spark.ShortType, 32: spark.IntegerType, 64: spark.LongType}
_FLOATS = {32: spark.FloatType, 64: spark.DoubleType}
_MAX_PRECISION = 38

VARIANT: s.Struct = s.struct(
    [
        s.field("value", s.binary(), nullable=False),
        s.field("metadata", s.binary(), nullable=False, metadata={b"variant": b"true"}),
    ]
)
"""A column of Spark's variants: two byte strings a value; what tells it from a struct is metadata."""

_METADATA_KEY = b"SPARK::metadata::json"


# From colkern's types to Spark's

Part = Callable[[s.DataType, str], spark.DataType]
"""Spark's type for a part of a nested one; the part's type, and its name."""


def spark_type(data_type: s.DataType) -> spark.DataType:
    """Spark's type for a column of results; encoded types and views become the plain ones.

    Raises:
        UnsupportedError: If Spark has none; says what to declare instead.
    """
    return counterpart(data_type, _not_as_result)


def spark_schema(fields: Mapping[str, s.DataType] | s.Schema) -> spark.StructType:
    """Spark's schema for a table of results.

    Raises:
        UnsupportedError: If Spark has no type for a column.
    """
    schema = fields if isinstance(fields, s.Schema) else s.Schema(s.as_fields(fields))
    return _fields(schema.fields, lambda type_, _: spark_type(type_))


def counterpart(
    data_type: s.DataType, refusal: Callable[[s.DataType, str], UnsupportedError], place: str = ""
) -> spark.DataType:
    """Spark's type for a column.

    Args:
        data_type: The column's type.
        refusal: Makes the error for a type that Spark lacks, out of it and its place.
        place: What the column is called; names of its parts follow, with points between them.

    Raises:
        UnsupportedError: What `refusal` made.
    """

    def part(type_: s.DataType, name: str) -> spark.DataType:
        return counterpart(type_, refusal, f"{place}.{name}" if place else name)

    make = _SPARK_TYPES.get(type(data_type))
    found = None if make is None else make(data_type, part)
    if found is None:
        raise refusal(data_type, place)
    return found


def _not_as_result(data_type: s.DataType, place: str) -> UnsupportedError:
    hint = _INSTEAD.get(type(data_type))
    said = f"; declare {hint}" if hint else ""
    return UnsupportedError(f"Spark has no type for results of {data_type}{said}")


def is_variant(data_type: s.DataType) -> bool:
    """Whether a struct is one of Spark's variants: by its two fields, and the mark at one of them."""
    fields = {field.name: field for field in data_type.fields}
    return (
        isinstance(data_type, s.Struct)
        and len(data_type.fields) == 2
        and fields.keys() == {"value", "metadata"}
        and all(isinstance(field.type, _BYTES) for field in fields.values())
        and (fields["metadata"].metadata or {}).get(b"variant") == b"true"
    )


_BYTES = s.Binary | s.LargeBinary | s.BinaryView


def _fields(fields: tuple[s.Field, ...], part: Part) -> spark.StructType:
    return spark.StructType(
        [
            spark.StructField(
                field.name, part(field.type, field.name), field.nullable, _metadata(field)
            )
            for field in fields
        ]
    )


def _metadata(field: s.Field) -> Any:
    return json.loads((field.metadata or {}).get(_METADATA_KEY, b"null"))


def _int(type_: s.Int, _: Part) -> spark.DataType | None:
    return _INTEGERS[type_.bit_width]() if type_.signed else None


def _float(type_: s.FloatingPoint, _: Part) -> spark.DataType | None:
    made = _FLOATS.get(type_.bit_width)
    return made() if made else None


def _decimal(type_: s.Decimal, _: Part) -> spark.DataType | None:
    fits = type_.precision <= _MAX_PRECISION and 0 <= type_.scale <= type_.precision
    return spark.DecimalType(type_.precision, type_.scale) if fits else None


def _date(type_: s.Date, _: Part) -> spark.DataType | None:
    return spark.DateType() if type_.unit == "day" else None


def _time(type_: s.Time, _: Part) -> spark.DataType | None:
    return spark.TimeType() if type_.bit_width == 64 else None


def _timestamp(type_: s.Timestamp, _: Part) -> spark.DataType | None:
    if type_.unit != "us":
        return None
    return spark.TimestampType() if type_.timezone else spark.TimestampNTZType()


def _duration(type_: s.Duration, _: Part) -> spark.DataType | None:
    return spark.DayTimeIntervalType() if type_.unit == "us" else None


def _encoded(type_: s.Dictionary | s.RunEndEncoded, part: Part) -> spark.DataType:
    return part(type_.value_type, "values")


def _list(type_: Any, part: Part) -> spark.DataType:
    return spark.ArrayType(part(type_.value_type, "element"), type_.value_field.nullable)


def _map(type_: s.Map, part: Part) -> spark.DataType:
    key, value = type_.key_field, type_.item_field
    return spark.MapType(part(key.type, "key"), part(value.type, "value"), value.nullable)


def _struct(type_: s.Struct, part: Part) -> spark.DataType:
    if is_variant(type_):
        return spark.VariantType()
    for field in type_.fields:
        for key, value in (field.metadata or {}).items():
            if value == b"true" and (field.name, key) in _MARKED:
                return _MARKED[field.name, key](field)
    return _fields(type_.fields, part)


def _geometry(field: s.Field) -> spark.DataType:
    return spark.GeometryType(_spatial_reference(field))


def _geography(field: s.Field) -> spark.DataType:
    return spark.GeographyType(_spatial_reference(field))


def _spatial_reference(field: s.Field) -> int | str:
    number = int((field.metadata or {})[b"srid"])
    return "ANY" if number == spark.GeometryType.MIXED_SRID else number


_MARKED: dict[tuple[str, bytes], Callable[[s.Field], spark.DataType]] = {
    ("wkb", b"geometry"): _geometry,
    ("wkb", b"geography"): _geography,
}
"""Structs that Spark takes for values of another type: the field and the key that mark them."""


def _always(make: Callable[[], spark.DataType]) -> Callable[[Any, Part], spark.DataType]:
    return lambda type_, part: make()


_STRING, _BINARY = _always(spark.StringType), _always(spark.BinaryType)

_SPARK_TYPES: dict[type[s.DataType], Callable[[Any, Part], spark.DataType | None]] = {
    s.Null: _always(spark.NullType),
    s.Bool: _always(spark.BooleanType),
    s.Int: _int,
    s.FloatingPoint: _float,
    s.Decimal: _decimal,
    s.Date: _date,
    s.Time: _time,
    s.Timestamp: _timestamp,
    s.Duration: _duration,
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
    s.Dictionary: _encoded,
    s.RunEndEncoded: _encoded,
}

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


# From Spark's types to colkern's


def arrow_type(data_type: spark.DataType) -> s.DataType:
    """The data type in which Spark passes a column of one of its types, and wants it back.

    Raises:
        UnsupportedError: If it passes none; says what to do instead.
    """
    kind = next((kind for kind in type(data_type).__mro__ if kind in _ARROW_TYPES), None)
    if kind is None:
        name = data_type.simpleString()
        hint = next((h for k, h in _CAST_IN_SQL.items() if isinstance(data_type, k)), "")
        raise UnsupportedError(f"Spark passes no columns of {name} to Python as Arrow{hint}")
    return _ARROW_TYPES[kind](data_type)


def arrow_schema(schema: spark.StructType) -> s.Schema:
    """The schema in which Spark passes a table, and wants it back.

    Raises:
        UnsupportedError: If it passes no such columns; names the first of them.
    """
    return s.Schema(tuple(map(_arrow_field, schema.fields)))


def _arrow_field(field: spark.StructField) -> s.Field:
    try:
        type_ = arrow_type(field.dataType)
    except UnsupportedError as error:
        raise UnsupportedError(f"{field.name}: {error}") from None
    metadata = {_METADATA_KEY: json.dumps(field.metadata).encode()} if field.metadata else None
    return s.field(field.name, type_, field.nullable, metadata)


def _arrow_map(type_: spark.MapType) -> s.DataType:
    key = s.field("key", arrow_type(type_.keyType), nullable=False)
    return s.map_(key, s.field("value", arrow_type(type_.valueType), type_.valueContainsNull))


def _arrow_list(type_: spark.ArrayType) -> s.DataType:
    return s.list_(s.field("element", arrow_type(type_.elementType), type_.containsNull))


def _geo(kind: str) -> Callable[[Any], s.DataType]:
    def made(type_: Any) -> s.DataType:
        metadata = {kind.encode(): b"true", b"srid": str(type_.srid).encode()}
        wkb = s.field("wkb", s.binary(), nullable=False, metadata=metadata)
        return s.struct([s.field("srid", s.int32(), nullable=False), wkb])

    return made


_ARROW_TYPES: dict[type[spark.DataType], Callable[[Any], s.DataType]] = {
    spark.NullType: lambda _: s.null(),
    spark.BooleanType: lambda _: s.bool_(),
    spark.ByteType: lambda _: s.int8(),
    spark.ShortType: lambda _: s.int16(),
    spark.IntegerType: lambda _: s.int32(),
    spark.LongType: lambda _: s.int64(),
    spark.FloatType: lambda _: s.float32(),
    spark.DoubleType: lambda _: s.float64(),
    spark.DecimalType: lambda t: s.decimal128(t.precision, t.scale),
    spark.DateType: lambda _: s.date32(),
    spark.TimestampType: lambda _: s.timestamp("us", "UTC"),
    spark.TimestampNTZType: lambda _: s.timestamp("us"),
    spark.DayTimeIntervalType: lambda _: s.duration("us"),
    spark.StringType: lambda _: s.utf8(),
    spark.BinaryType: lambda _: s.binary(),
    spark.ArrayType: _arrow_list,
    spark.MapType: _arrow_map,
    spark.StructType: lambda t: s.Struct(arrow_schema(t).fields),
    spark.VariantType: lambda _: VARIANT,
    spark.UserDefinedType: lambda t: arrow_type(t.sqlType()),
}

# Types that came with later releases than the oldest that colkern works with.
for _name, _made in {
    "TimeType": lambda _: s.time64("ns"),
    "GeometryType": _geo("geometry"),
    "GeographyType": _geo("geography"),
}.items():
    if hasattr(spark, _name):
        _ARROW_TYPES[getattr(spark, _name)] = _made

_CAST_IN_SQL: dict[type[spark.DataType], str] = {
    spark.YearMonthIntervalType: "; cast it to a number of months: CAST(x AS INTERVAL MONTH), then "
    "CAST(… AS INT)",
    spark.CalendarIntervalType: "; use a day-time interval, or extract its parts in SQL",
}


# Hints

COLUMNS_OF_HINTS: dict[type, s.DataType] = {
    bool: s.bool_(),
    int: s.int64(),
    float: s.float64(),
    str: s.utf8(),
    bytes: s.binary(),
    datetime.date: s.date32(),
    datetime.datetime: s.timestamp("us"),
    datetime.timedelta: s.duration("us"),
    datetime.time: s.time64("us"),
}
"""The type that a Spark column most likely has for a parameter with one of Python's types as hint."""


def column_type(parameter: Parameter) -> s.DataType | None:
    """The type of the column that a parameter will most likely get; None if nobody can tell."""
    declared = parameter.type
    if declared is None or isinstance(declared, s.DataType):
        return declared
    return COLUMNS_OF_HINTS.get(declared)
