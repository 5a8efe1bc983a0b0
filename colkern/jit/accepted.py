"""Which columns a parameter takes: those of its hint, or those that read as its declared type does."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable
from typing import Any

from colkern import schema as s
from colkern.dispatch import TEXT
from colkern.jit.signatures import Parameter
from colkern.rows.columns import LISTS
from colkern.rows.encoded import decoded_type

_BINARY = (s.Binary, s.LargeBinary, s.BinaryView, s.FixedSizeBinary)


def _is_int(t: s.DataType) -> bool:
    return isinstance(t, s.Int) and t != s.uint64()


_HINTS: dict[type, tuple[Callable[[Any], bool], str]] = {
    bool: (lambda t: t == s.bool_(), "bool"),
    int: (_is_int, "an integer type (uint64 when declared as such)"),
    # As Python's own hints have it: the function gets integers.
    float: (lambda t: isinstance(t, s.FloatingPoint) or _is_int(t), "a floating-point type"),
    str: (lambda t: isinstance(t, TEXT), "a utf8 type"),
    bytes: (lambda t: isinstance(t, _BINARY + TEXT), "a binary or utf8 type"),
    datetime.date: (lambda t: isinstance(t, s.Date), "a date type"),
    datetime.datetime: (lambda t: isinstance(t, s.Timestamp), "a timestamp type"),
    datetime.timedelta: (lambda t: isinstance(t, s.Duration), "a duration type"),
    datetime.time: (lambda t: isinstance(t, s.Time), "a time type"),
    decimal.Decimal: (lambda t: isinstance(t, s.Decimal), "a decimal type"),
}
"""A test of the types that a hint accepts, and that in words."""


def _same_names(a: s.DataType, b: s.DataType) -> bool:
    return [field.name for field in a.fields] == [field.name for field in b.fields]


def _same_parts(a: s.DataType, b: s.DataType) -> bool:
    pairs = zip(a.fields, b.fields, strict=True)
    return all(reads_alike(left.type, right.type) for left, right in pairs)


# What two types must share to be read alike, and their children; others must be equal.
_SAME_MEANING: dict[type[s.DataType], Callable[[Any, Any], bool]] = {
    s.Decimal: lambda a, b: isinstance(b, s.Decimal) and a.scale == b.scale,
    s.Timestamp: lambda a, b: isinstance(b, s.Timestamp) and a.unit == b.unit,
    s.Map: lambda a, b: (
        isinstance(b, s.Map) and _same_parts(a.entries_field.type, b.entries_field.type)
    ),
    s.Struct: lambda a, b: isinstance(b, s.Struct) and _same_names(a, b) and _same_parts(a, b),
    s.Union: lambda a, b: (
        isinstance(b, s.Union) and a.type_codes == b.type_codes and _same_parts(a, b)
    ),
    **{kind: lambda a, b: isinstance(b, TEXT) for kind in TEXT},
    **{kind: lambda a, b: isinstance(b, _BINARY) for kind in _BINARY},
    **{kind: lambda a, b: isinstance(b, LISTS) and _same_parts(a, b) for kind in LISTS},
}


def reads_alike(a: s.DataType, b: s.DataType) -> bool:
    """Whether a function for columns of one type may take those of the other: it reads the same.

    Layouts may differ, and so may what says nothing about values: names of elements, nullability.
    """
    a, b = decoded_type(a).storage, decoded_type(b).storage
    same = _SAME_MEANING.get(type(a), lambda a, b: bool(a == b))
    return same(a, b)


def require_accepted(parameter: Parameter, data_type: s.DataType) -> None:
    """Check that a parameter takes columns of a type.

    Raises:
        TypeError: If it was declared to be something else; names it.
    """
    declared = parameter.type
    if isinstance(declared, s.DataType):
        if not reads_alike(declared, data_type):
            raise TypeError(f"{parameter.name}: expected {declared}, got {data_type}")
    elif declared is not None:
        accepts, words = _HINTS[declared]
        if not accepts(decoded_type(data_type).storage):
            raise TypeError(f"{parameter.name}: expected {words}, got {data_type}")
