"""Statistics: the bounds of the columns of a record batch, which colkern's writer stores with it.

They are JSON in the custom metadata of the record batch's message, under the key `colkern.statistics`::

    {"version": 1, "columns": {"price": {"min": 0.5, "max": 99.0}, "name": {"min": "a", "max": "c"}}}

Columns without a value, and those whose type is not listed here, are left out. Either bound may be
missing. Bounds are inclusive:

=============================  ==================================================================
integers                       a number
floating point                 a number, or "Infinity", "-Infinity"; where there is a NaN, no max
decimals                       the unscaled integer, a number
dates, timestamps, durations   the integer that the column stores, a number
strings                        a string of at most 32 characters: `min` cut short, `max` cut short
                               and its last character raised; in the order of their UTF-8 bytes
=============================  ==================================================================

Counts of nulls are not repeated: the message has them for every column. Columnar format 1.5: "Custom
Application Metadata", "RecordBatch message".
"""

from __future__ import annotations

import contextlib
import json
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import datasource as spark

from colkern import schema as s
from colkern.spark.source.filters import Key, key_of, unnegated

Json: TypeAlias = dict[str, object]

KEY = b"colkern.statistics"
"""The key of the custom metadata of a record batch."""

_VERSION = 1
_CHARACTERS = 32
_SURROGATES = range(0xD800, 0xE000)
_LAST_CHARACTER = 0x10FFFF
_INFINITIES = {"Infinity": math.inf, "-Infinity": -math.inf}


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds of a column's values, as keys (`filters.key_of`); None if unknown."""

    least: Key | None = None
    greatest: Key | None = None


# Writing


def statistics_of(batch: pa.RecordBatch) -> bytes:
    """Returns the JSON for a batch that Spark passed."""
    columns = {}
    for field, column in zip(batch.schema, batch.columns, strict=True):
        bounds = next((bounds for holds, bounds in _WRITTEN.items() if holds(field.type)), None)
        if bounds is not None and column.null_count < len(column):
            columns[field.name] = bounds(column)
    return json.dumps({"version": _VERSION, "columns": columns}, allow_nan=False).encode()


def _extremes(column: pa.Array) -> tuple[Any, Any]:
    extremes = pc.min_max(column)
    return extremes["min"].as_py(), extremes["max"].as_py()


def _of_integers(column: pa.Array) -> Json:
    least, greatest = _extremes(column)
    return {"min": least, "max": greatest}


def _of_stored_integers(column: pa.Array) -> Json:
    return _of_integers(column.view(pa.int32() if column.type.bit_width == 32 else pa.int64()))


def _of_floats(column: pa.Array) -> Json:
    least, greatest = _extremes(column)
    if math.isnan(least):
        # All values are NaN.
        return {}
    # In Spark, NaN is greater than any number; pyarrow ignores it.
    if pc.any(pc.is_nan(column)).as_py():
        return {} if least == math.inf else {"min": _float_text(least)}
    return {"min": _float_text(least), "max": _float_text(greatest)}


def _float_text(value: float) -> float | str:
    if not math.isinf(value):
        return value
    return "Infinity" if value > 0 else "-Infinity"


def _of_decimals(column: pa.Array) -> Json:
    scale = 10**column.type.scale
    ratios = [bound.as_integer_ratio() for bound in _extremes(column)]
    least, greatest = [numerator * scale // denominator for numerator, denominator in ratios]
    return {"min": least, "max": greatest}


def _of_strings(column: pa.Array) -> Json:
    try:
        least, greatest = _extremes(column)
    except UnicodeDecodeError:
        # A string of Spark's may have any bytes.
        return {}
    bounds = {"min": least[:_CHARACTERS]}
    end = greatest if len(greatest) <= _CHARACTERS else _raised(greatest[:_CHARACTERS])
    return bounds if end is None else {**bounds, "max": end}


def _raised(text: str) -> str | None:
    """Returns the least text, no longer than `text`, that is greater than all texts that start with it."""
    for end in range(len(text), 0, -1):
        code = ord(text[end - 1]) + 1
        if code in _SURROGATES:
            code = _SURROGATES.stop
        if code <= _LAST_CHARACTER:
            return text[: end - 1] + chr(code)
    return None


_WRITTEN: dict[Callable[[pa.DataType], bool], Callable[[pa.Array], Json]] = {
    pa.types.is_signed_integer: _of_integers,
    pa.types.is_floating: _of_floats,
    pa.types.is_decimal128: _of_decimals,
    pa.types.is_date32: _of_stored_integers,
    pa.types.is_timestamp: _of_stored_integers,
    pa.types.is_duration: _of_stored_integers,
    pa.types.is_string: _of_strings,
}
"""The statistics of columns, by the kinds of types that have some."""


# Reading


def bounds_of(metadata: Mapping[bytes, bytes] | None, schema: s.Schema) -> dict[str, Bounds]:
    """Returns the bounds of a batch's columns from its metadata; none if that has another form."""
    try:
        statistics = json.loads((metadata or {}).get(KEY, b"{}"))
    except (ValueError, RecursionError):
        return {}
    if not isinstance(statistics, dict) or statistics.get("version") != _VERSION:
        return {}
    columns = statistics.get("columns")
    if not isinstance(columns, dict):
        return {}
    types = {field.name: field.type for field in schema}
    return {
        name: Bounds(_key(bounds.get("min"), types[name]), _key(bounds.get("max"), types[name]))
        for name, bounds in columns.items()
        if name in types and isinstance(bounds, dict)
    }


def _key(bound: object, type_: s.DataType) -> Key | None:
    match type_, bound:
        case s.Utf8(), str():
            with contextlib.suppress(UnicodeEncodeError):
                return bound.encode()
        case (s.Utf8(), _) | (_, bool()):
            return None
        case s.FloatingPoint(), str():
            return _INFINITIES.get(bound)
        case s.FloatingPoint(), int() | float():
            with contextlib.suppress(OverflowError):
                return None if math.isnan(bound) else float(bound)
        case _, int():
            return bound
    return None


# Skipping batches


@dataclass(frozen=True, slots=True)
class Known:
    """Facts about a column of a batch that need no decoding."""

    type: s.DataType  #: The type in which Spark takes the column.
    rows: int
    nulls: int | None  #: The number of nulls; None if only the values tell.
    bounds: Bounds


def may_pass(filter_: spark.Filter, column: Known) -> bool:
    """Whether some row of the batch may pass a filter of the column itself, not of a field within it."""
    negated = isinstance(filter_, spark.Not)
    plain = unnegated(filter_)
    if isinstance(plain, spark.IsNull | spark.IsNotNull):
        wants_nulls = isinstance(plain, spark.IsNull) is not negated
        return column.nulls != (0 if wants_nulls else column.rows)
    if isinstance(plain, spark.In) and not plain.value:
        # `IN ()` is false for each row, null or not.
        return negated
    null_safe = isinstance(plain, spark.EqualNullSafe)
    if null_safe and (negated or plain.value is None):
        return True
    if column.nulls == column.rows:
        # A comparison with null is neither true nor false.
        return False
    test = (_NEGATED if negated else _TESTS).get(type(plain))
    return test is None or test(plain.value, column)


Test = Callable[..., bool]
"""Whether a batch may have rows for which a comparison with a value is true."""


def _bound(
    name: Literal["least", "greatest"], compare: Callable[[Key, Key], bool]
) -> Callable[[object, Known], bool]:
    """Returns a test that compares one bound of a column with a value."""

    def test(value: object, column: Known) -> bool:
        key, bound = key_of(value, column.type), getattr(column.bounds, name)
        return key is None or bound is None or compare(bound, key)

    return test


_may_exceed = _bound("greatest", operator.gt)
_may_reach = _bound("greatest", operator.ge)
_may_stay_below = _bound("least", operator.lt)
_may_stay_within = _bound("least", operator.le)


def _may_equal(value: object, column: Known) -> bool:
    return _may_reach(value, column) and _may_stay_within(value, column)


def _may_start(value: object, column: Known) -> bool:
    key = key_of(value, column.type)
    if not isinstance(key, bytes):
        return True
    least, greatest = column.bounds.least, column.bounds.greatest
    if isinstance(greatest, bytes) and greatest < key:
        return False
    return not isinstance(least, bytes) or least[: len(key)] <= key


def _may_differ(value: object, column: Known) -> bool:
    key, bounds = key_of(value, column.type), column.bounds
    return key is None or not (bounds.least == key == bounds.greatest)


_TESTS: dict[type[spark.Filter], Test] = {
    spark.EqualTo: _may_equal,
    spark.EqualNullSafe: _may_equal,
    spark.In: lambda values, column: any(_may_equal(v, column) for v in values if v is not None),
    spark.StringStartsWith: _may_start,
    spark.GreaterThan: _may_exceed,
    spark.GreaterThanOrEqual: _may_reach,
    spark.LessThan: _may_stay_below,
    spark.LessThanOrEqual: _may_stay_within,
}

_NEGATED: dict[type[spark.Filter], Test] = {
    spark.EqualTo: _may_differ,
    spark.GreaterThan: _may_stay_within,
    spark.GreaterThanOrEqual: _may_stay_below,
    spark.LessThan: _may_reach,
    spark.LessThanOrEqual: _may_exceed,
}
