"""The option `filters`: conditions on columns, in JSON, as the filters that Spark would push down.

A list of `[column, comparison, value]`, all of which a row must pass; see `COMPARISONS`. A column is a
name, or a list of names that lead into structs. Dates and timestamps are ISO 8601 texts; decimals may be
texts. Comparisons with null let no row pass.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from pyspark.sql import datasource as spark

from colkern import schema as s
from colkern.spark.source.filters import MOST_VALUES, can_evaluate, type_at

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
