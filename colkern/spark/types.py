"""The data types that Spark's Arrow path has, in colkern's terms and in Spark's."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

from pyspark.sql import types as spark

from colkern import schema as s
from colkern.errors import UnsupportedError

_INTEGERS = {8: spark.ByteType, 16: spark.ShortType, 32: spark.IntegerType, 64: spark.LongType}
_FLOATS = {32: spark.FloatType, 64: spark.DoubleType}
_MAX_PRECISION = 38


def _int(type_: s.Int) -> spark.DataType | None:
    return _INTEGERS[type_.bit_width]() if type_.signed else None


def _float(type_: s.FloatingPoint) -> spark.DataType | None:
    made = _FLOATS.get(type_.bit_width)
    return made() if made else None


def _decimal(type_: s.Decimal) -> spark.DataType | None:
    fits = type_.precision <= _MAX_PRECISION and 0 <= type_.scale <= type_.precision
    return spark.DecimalType(type_.precision, type_.scale) if fits else None


def _timestamp(type_: s.Timestamp) -> spark.DataType | None:
    if type_.unit != "us":
        return None
    return spark.TimestampType() if type_.timezone else spark.TimestampNTZType()


def _time(type_: s.Time) -> spark.DataType | None:
    return spark.TimeType() if type_.bit_width == 64 else None


def _string(_: s.DataType) -> spark.DataType:
    return spark.StringType()


def _binary(_: s.DataType) -> spark.DataType:
    return spark.BinaryType()


_SPARK_TYPES: dict[type[s.DataType], Callable[[Any], spark.DataType | None]] = {
    s.Bool: lambda _: spark.BooleanType(),
    s.Int: _int,
    s.FloatingPoint: _float,
    s.Decimal: _decimal,
    s.Date: lambda t: spark.DateType() if t.unit == "day" else None,
    s.Time: _time,
    s.Timestamp: _timestamp,
    s.Duration: lambda t: spark.DayTimeIntervalType() if t.unit == "us" else None,
    s.Utf8: _string,
    s.LargeUtf8: _string,
    s.Binary: _binary,
    s.LargeBinary: _binary,
}

_INSTEAD: dict[type[s.DataType], str] = {
    s.Int: "int64",
    s.FloatingPoint: "float32 or float64",
    s.Decimal: "decimal128, with a scale from 0 to its precision",
    s.Date: "date32",
    s.Time: "time64",
    s.Timestamp: 'timestamp("us")',
    s.Duration: 'duration("us")',
}

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


def spark_type(data_type: s.DataType) -> spark.DataType:
    """Spark's type for a column of results.

    Raises:
        UnsupportedError: If Spark has none; says what to declare instead.
    """
    kind = type(data_type)
    found = _SPARK_TYPES[kind](data_type) if kind in _SPARK_TYPES else None
    if found is None:
        hint = f"; declare {_INSTEAD[kind]}" if kind in _INSTEAD else ""
        raise UnsupportedError(f"Spark has no type for results of {data_type}{hint}")
    return found
