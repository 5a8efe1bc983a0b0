"""Evaluates the filters that Spark pushes down, with the same results as in Spark; the option `filters`.

The option has conditions on columns in JSON: a list of `[column, comparison, value]`, all of which a row
must pass; see `COMPARISONS`. A column is a name, or a list of names that lead into structs. Dates and
timestamps are ISO 8601 texts; decimals may be texts. Comparisons with null let no row pass.
"""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import reduce

import numpy as np
from pyspark.sql import datasource as spark

from colkern import operations as o
from colkern import schema as s
from colkern.arrays import Array
from colkern.builders import array
from colkern.operations.comparing import GREATER, GREATER_EQUAL, LESS, LESS_EQUAL
from colkern.operations.comparison import ordered
from colkern.operations.moving import to_device
from colkern.operations.strings import matched

Key = int | float | bytes | bool
"""Values of one type are compared by their keys."""


def key_of(value: object, type_: s.DataType) -> Key | None:
    """Returns the key of a filter's value; None if the type has no keys, or cannot hold the value."""
    # A number is rounded to the bits of the type. NaN has no key: in Spark it equals itself and is greater
    # than any number, elsewhere it is not.
    match type_, value:
        case s.Utf8(), str():
            return value.encode()
        case s.Binary(), bytes() | bytearray():
            return bytes(value)
        case s.Bool(), bool():
            return value
        case _, bool():
            # In Python, it is an int.
            return None
        case s.Int(bit_width=bits, signed=signed), int():
            end = 1 << bits - signed
            return value if -end * signed <= value < end else None
        case s.FloatingPoint(bit_width=bits), int() | float():
            return _rounded(value, bits)
        case s.Decimal(), int() | Decimal():
            return _unscaled(Decimal(value), type_)
        case s.Date(), datetime.date() if not isinstance(value, datetime.datetime):
            return (value - _EPOCH.date()).days
        case s.Timestamp(timezone=zone), datetime.datetime(tzinfo=known):
            if (zone is None) is (known is None):
                return (value - (_EPOCH if zone is None else _EPOCH_IN_UTC)) // _MICROSECOND
        case s.Duration(), datetime.timedelta():
            return value // _MICROSECOND
    return None


def _rounded(value: float, bits: int) -> float | None:
    """Returns the float of some bits; None for NaN, and for numbers beyond its range."""
    try:
        with np.errstate(over="ignore"):
            number = float(np.dtype(f"f{bits // 8}").type(value))
    except OverflowError:
        return None
    return number if math.isfinite(number) or number == value else None


def _unscaled(value: Decimal, type_: s.Decimal) -> int | None:
    """Returns the integer that a column of decimals stores."""
    sign, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int) or exponent + type_.scale < 0:
        return None
    if len(digits) + exponent + type_.scale > type_.precision and any(digits):
        return None
    number: int = int("".join(map(str, digits)) or "0") * 10 ** (exponent + type_.scale)
    return -number if sign else number


_EPOCH = datetime.datetime(1970, 1, 1)
_EPOCH_IN_UTC = _EPOCH.replace(tzinfo=datetime.UTC)
_MICROSECOND = datetime.timedelta(microseconds=1)

MOST_VALUES = 64
"""The largest number of values in an `in`: each is a comparison of the whole column."""

_BOOL = s.bool_()


def unnegated(filter_: spark.Filter) -> spark.Filter:
    """Returns the filter within a `Not`, or the filter itself; Spark negates a filter at most once."""
    return filter_.child if isinstance(filter_, spark.Not) else filter_


def path_of(filter_: spark.Filter) -> tuple[str, ...]:
    """Returns the path to the value that a filter tests: the column's name, then those of nested fields."""
    return tuple(unnegated(filter_).attribute)


def can_evaluate(filter_: spark.Filter, schema: s.Schema) -> bool:
    """Whether `mask_of` can evaluate a filter over columns of Spark's types; otherwise Spark must."""
    type_ = type_at(path_of(filter_), schema)
    if type_ is None:
        return False
    match unnegated(filter_):
        case spark.IsNull() | spark.IsNotNull() | spark.EqualNullSafe(value=None):
            return True
        case spark.In(value=among):
            values = [value for value in among if value is not None]
            return len(values) <= MOST_VALUES and all(key_of(v, type_) is not None for v in values)
        case spark.StringStartsWith(value=value) | spark.StringEndsWith(value=value):
            return isinstance(type_, s.Utf8) and isinstance(value, str)
        case spark.EqualTo(value=value) | spark.EqualNullSafe(value=value):
            return key_of(value, type_) is not None
        case plain if type(plain) in _ORDERED and isinstance(type_, _ORDERED_TYPES):
            return key_of(plain.value, type_) is not None
    return False


def type_at(path: tuple[str, ...], schema: s.Schema) -> s.DataType | None:
    """Returns the type of a column or of a field within it; None if there is none, or more than one."""
    fields = schema.fields
    type_: s.DataType | None = None
    for name in path:
        types = [field.type for field in fields if field.name == name]
        if len(types) != 1:
            return None
        type_ = types[0]
        fields = type_.fields if isinstance(type_, s.Struct) else ()
    return type_


_ORDERED_TYPES = s.Int | s.FloatingPoint | s.Decimal | s.Date | s.Timestamp | s.Duration | s.Utf8


def mask_of(filters: list[spark.Filter], columns: Mapping[str, Array]) -> Array:
    """True for the rows that pass all filters, which `can_evaluate` must accept; a null does not pass."""
    return reduce(o.and_, [_evaluated(filter_, columns) for filter_ in filters])


def _evaluated(filter_: spark.Filter, columns: Mapping[str, Array]) -> Array:
    """Returns the filter's value for each row: true, false or null, as in SQL."""
    if isinstance(filter_, spark.Not):
        return o.invert(_evaluated(filter_.child, columns))
    name, *inner = path_of(filter_)
    column = o.struct_field(columns[name], inner) if inner else columns[name]
    return _EVALUATE[type(filter_)](column, filter_)


def _equal_null_safe(column: Array, filter_: spark.EqualNullSafe) -> Array:
    if filter_.value is None:
        return o.is_null(column)
    # Null is unequal to the value here; a plain comparison would give null.
    return o.and_kleene(o.equal(column, filter_.value), o.is_valid(column))


def _in(column: Array, filter_: spark.In) -> Array:
    values = [value for value in filter_.value if value is not None]
    if not filter_.value:
        return o.repeat(to_device(array([False]), column.device), column.length)
    if not values:
        return o.nulls(column.length, _BOOL, column.device)
    mask = reduce(o.or_, [o.equal(column, value) for value in values])
    if len(values) < len(filter_.value):
        mask = o.or_kleene(mask, o.nulls(column.length, _BOOL, column.device))
    return mask


def _ordered(column: Array, filter_: spark.Filter) -> Array:
    # In Spark, NaN is greater than any number.
    return ordered(column, filter_.value, _ORDERED[type(filter_)], nans_greatest=True)


_ORDERED = {
    spark.GreaterThan: GREATER,
    spark.GreaterThanOrEqual: GREATER_EQUAL,
    spark.LessThan: LESS,
    spark.LessThanOrEqual: LESS_EQUAL,
}

_EVALUATE: dict[type[spark.Filter], Callable[[Array, spark.Filter], Array]] = {
    spark.IsNull: lambda column, _: o.is_null(column),
    spark.IsNotNull: lambda column, _: o.is_valid(column),
    spark.EqualTo: lambda column, filter_: o.equal(column, filter_.value),
    spark.EqualNullSafe: _equal_null_safe,
    spark.In: _in,
    spark.StringStartsWith: lambda column, filter_: matched(column, filter_.value, at_end=False),
    spark.StringEndsWith: lambda column, filter_: matched(column, filter_.value, at_end=True),
    **dict.fromkeys(_ORDERED, _ordered),
}


# The option


COMPARISONS: dict[str, Callable[..., spark.Filter]] = {
    "=": spark.EqualTo,
    "==": spark.EqualTo,
    "!=": lambda path, value: spark.Not(spark.EqualTo(path, value)),
    "<": spark.LessThan,
    "<=": spark.LessThanOrEqual,
    ">": spark.GreaterThan,
    ">=": spark.GreaterThanOrEqual,
    "in": spark.In,
    "not in": lambda path, values: spark.Not(spark.In(path, values)),
    "starts with": spark.StringStartsWith,
    "ends with": spark.StringEndsWith,
    "is null": spark.IsNull,
    "is not null": spark.IsNotNull,
}
"""The comparisons of conditions. `in` takes a list; `is null` and `is not null` take no value."""

_LISTS = ("in", "not in")
_WITHOUT_VALUE = ("is null", "is not null")


def filters_text(conditions: object) -> str:
    """Returns conditions as text for the option; dates, timestamps and decimals become texts."""
    return json.dumps(conditions, default=_plain)


def _plain(value: object) -> str:
    if isinstance(value, datetime.date | datetime.datetime):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    raise TypeError(f"filters: no condition has a value of type {type(value).__name__}")


def parsed_filters(text: str | None, schema: s.Schema) -> tuple[spark.Filter, ...]:
    """Parses the filters of an option's text, on columns with the types in which Spark takes them."""
    if text is None:
        return ()
    try:
        conditions = json.loads(text)
    except ValueError:
        conditions = None
    if not isinstance(conditions, list):
        raise ValueError(f"option filters: expected a JSON list of conditions, got {text!r}")
    return tuple(_filter(condition, schema) for condition in conditions)


def _filter(condition: object, schema: s.Schema) -> spark.Filter:
    place = f"option filters: {json.dumps(condition)}"
    if not isinstance(condition, list) or len(condition) not in (2, 3):
        raise ValueError(f"{place}: expected [column, comparison, value]")
    column, comparison, *values = condition
    path = [column] if isinstance(column, str) else column
    if not isinstance(path, list) or not path or not all(isinstance(name, str) for name in path):
        raise ValueError(f"{place}: expected the name of a column, or a list of names")
    if not isinstance(comparison, str) or comparison not in COMPARISONS:
        raise ValueError(f"{place}: expected one of {', '.join(COMPARISONS)}")
    if len(values) != (comparison not in _WITHOUT_VALUE):
        raise ValueError(f"{place}: {comparison!r} takes {'no' if values else 'a'} value")
    if comparison in _LISTS and not isinstance(values[0], list):
        raise ValueError(f"{place}: {comparison!r} takes a list of values")
    path = tuple(path)
    type_ = type_at(path, schema)
    if type_ is None:
        raise ValueError(f"{place}: no such column among {', '.join(schema.names)}")
    result = COMPARISONS[comparison](path, *(_value(v, comparison, type_) for v in values))
    if not can_evaluate(result, schema):
        raise ValueError(f"{place}: {_why_not(values, comparison, type_)}")
    return result


def _why_not(values: Sequence[list[object]], comparison: str, type_: s.DataType) -> str:
    """Returns the reason why a condition cannot be evaluated."""
    if comparison in _LISTS and len(values[0]) > MOST_VALUES:
        return f"{len(values[0])} values, {MOST_VALUES} are the most; join with them instead"
    literal = _LITERALS.get(type(type_))
    hint = literal.hint if literal else ""
    return f"a column of {type_} cannot be asked that, or has no such value{hint}"


def _value(value: object, comparison: str, type_: s.DataType) -> object:
    if isinstance(value, list) and comparison in _LISTS:
        return tuple(_read(one, type_) for one in value)
    return _read(value, type_)


def _read(value: object, type_: s.DataType) -> object:
    """Returns a JSON value as Spark would pass it; unchanged if it is not a value of that type."""
    literal = _LITERALS.get(type(type_))
    if literal is None or not isinstance(value, literal.classes) or isinstance(value, bool):
        return value
    try:
        return literal.read(str(value))
    except (ValueError, InvalidOperation):
        return value


@dataclass(frozen=True, slots=True)
class _Literal:
    """The JSON form of a type that JSON lacks; messages show `hint`."""

    read: Callable[[str], object]
    classes: tuple[type, ...]
    hint: str


_LITERALS: dict[type[s.DataType], _Literal] = {
    s.Decimal: _Literal(
        Decimal, (str, int, float), ": its values have no more digits, nor digits behind the point"
    ),
    s.Date: _Literal(
        datetime.date.fromisoformat, (str,), ": its values are texts such as 2024-12-31"
    ),
    s.Timestamp: _Literal(
        datetime.datetime.fromisoformat,
        (str,),
        ": its values are texts such as 2024-12-31T23:59:00, and behind them +00:00 if it has a time zone",
    ),
}
