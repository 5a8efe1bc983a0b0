"""Between which values the columns of a record batch lie, as colkern's writer says with the batch.

In the custom metadata of the record batch's message, under the key `colkern.statistics`, stands JSON::

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

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from colkern import schema as s
from colkern.spark.source.ordering import Key

KEY = b"colkern.statistics"
"""The key of the custom metadata of a record batch."""

_VERSION = 1
_CHARACTERS = 32
_SURROGATES = range(0xD800, 0xE000)
_LAST_CHARACTER = 0x10FFFF
_INFINITIES = {"Infinity": math.inf, "-Infinity": -math.inf}


@dataclass(frozen=True, slots=True)
class Bounds:
    """Between which values a column of a batch lies, by their keys; see `ordering.key_of`.

    Args:
        least: No value is less; None if that is not known.
        greatest: No value is greater; None if that is not known.
    """

    least: Key | None = None
    greatest: Key | None = None


# Writing


def statistics_of(batch: pa.RecordBatch) -> bytes:
    """The JSON of a batch that Spark gave."""
    columns = {}
    for field, column in zip(batch.schema, batch.columns, strict=True):
        kind = next((kind for holds, kind in _WRITTEN if holds(field.type)), None)
        if kind is not None and column.null_count < len(column):
            columns[field.name] = kind(column)
    return json.dumps({"version": _VERSION, "columns": columns}, allow_nan=False).encode()


def _extremes(column: pa.Array) -> tuple[Any, Any]:
    found = pc.min_max(column)
    return found["min"], found["max"]


def _of_integers(column: pa.Array) -> dict[str, Any]:
    least, greatest = _extremes(column)
    return {"min": least.as_py(), "max": greatest.as_py()}


def _of_stored_integers(column: pa.Array) -> dict[str, Any]:
    return _of_integers(column.view(pa.int32() if column.type.bit_width == 32 else pa.int64()))


def _of_floats(column: pa.Array) -> dict[str, Any]:
    least, greatest = (bound.as_py() for bound in _extremes(column))
    # Of NaN alone.
    if math.isnan(least):
        return {}
    # For Spark a NaN is greater than any number, and pyarrow passes it over.
    if pc.any(pc.is_nan(column)).as_py():
        return {} if least == math.inf else {"min": _float_text(least)}
    return {"min": _float_text(least), "max": _float_text(greatest)}


def _float_text(value: float) -> float | str:
    if not math.isinf(value):
        return value
    return "Infinity" if value > 0 else "-Infinity"


def _of_decimals(column: pa.Array) -> dict[str, Any]:
    least, greatest = (bound.as_py() for bound in _extremes(column))
    scale = Decimal(10) ** column.type.scale
    return {"min": _unscaled(least, scale), "max": _unscaled(greatest, scale)}


def _unscaled(value: Decimal, scale: Decimal) -> int:
    numerator, denominator = value.as_integer_ratio()
    return numerator * int(scale) // denominator


def _of_strings(column: pa.Array) -> dict[str, Any]:
    try:
        least, greatest = (bound.as_py() for bound in _extremes(column))
    except UnicodeDecodeError:
        # Spark lets any bytes be a string.
        return {}
    bounds = {"min": least[:_CHARACTERS]}
    end = greatest if len(greatest) <= _CHARACTERS else _raised(greatest[:_CHARACTERS])
    return bounds if end is None else {**bounds, "max": end}


def _raised(text: str) -> str | None:
    """The least text of at most that length which is greater than all that start with `text`."""
    for end in range(len(text), 0, -1):
        code = ord(text[end - 1]) + 1
        if code in _SURROGATES:
            code = _SURROGATES.stop
        if code <= _LAST_CHARACTER:
            return text[: end - 1] + chr(code)
    return None


_Written = tuple[Callable[[pa.DataType], bool], Callable[[pa.Array], dict[str, Any]]]

_WRITTEN: tuple[_Written, ...] = (
    (pa.types.is_signed_integer, _of_integers),
    (pa.types.is_floating, _of_floats),
    (pa.types.is_decimal128, _of_decimals),
    (pa.types.is_date32, _of_stored_integers),
    (pa.types.is_timestamp, _of_stored_integers),
    (pa.types.is_duration, _of_stored_integers),
    (pa.types.is_string, _of_strings),
)


# Reading


def bounds_of(metadata: Mapping[bytes, bytes] | None, schema: s.Schema) -> dict[str, Bounds]:
    """The bounds of the columns of a batch; none where its writer gave none.

    Statistics that are not as this module writes them are not used: whatever they were to say, the
    batch itself says.

    Args:
        metadata: The custom metadata of the batch's message.
        schema: The schema of the file.
    """
    try:
        found = json.loads((metadata or {}).get(KEY, b"{}"))
    except (ValueError, RecursionError):
        return {}
    if not isinstance(found, dict) or found.get("version") != _VERSION:
        return {}
    columns = found.get("columns")
    if not isinstance(columns, dict):
        return {}
    types = {field.name: field.type for field in schema}
    return {
        name: Bounds(_key(said.get("min"), types[name]), _key(said.get("max"), types[name]))
        for name, said in columns.items()
        if name in types and isinstance(said, dict)
    }


def _key(said: Any, type_: s.DataType) -> Key | None:
    if isinstance(type_, s.FloatingPoint):
        return _float_key(said)
    if isinstance(type_, s.Utf8):
        return _text_key(said)
    return said if isinstance(said, int) and not isinstance(said, bool) else None


def _float_key(said: Any) -> float | None:
    said = _INFINITIES.get(said, said) if isinstance(said, str) else said
    if not isinstance(said, int | float) or isinstance(said, bool):
        return None
    try:
        number = float(said)
    except OverflowError:
        return None
    return None if math.isnan(number) else number


def _text_key(said: Any) -> bytes | None:
    try:
        return said.encode() if isinstance(said, str) else None
    except UnicodeEncodeError:
        return None
