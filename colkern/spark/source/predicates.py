"""The option `filters`: conditions on columns, in JSON, as the filters that Spark would push down.

A list of `[column, comparison, value]`, all of which a row must pass; see `COMPARISONS`. A column is a
name, or a list of names that lead into structs. Dates and timestamps are ISO 8601 texts; decimals may be
texts. Comparisons with null let no row pass.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

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
"""What a condition may ask. `in` takes a list; `is null` and `is not null` take no value."""

_LISTS = ("in", "not in")
_WITHOUT_VALUE = ("is null", "is not null")


def filters_text(conditions: Any) -> str:
    """Conditions as the option takes them; dates, timestamps and decimals become texts."""
    return json.dumps(conditions, default=_plain)


def _plain(value: Any) -> str:
    if isinstance(value, datetime.date | datetime.datetime):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    raise TypeError(f"filters: no condition has a value of type {type(value).__name__}")


def parsed_filters(text: str | None, schema: s.Schema) -> tuple[spark.Filter, ...]:
    """The filters that an option stands for.

    Args:
        text: The option; None for none.
        schema: The columns, with the types in which Spark takes them.

    Raises:
        ValueError: If it is not such a list, or a condition cannot be told of its column.
    """
    if text is None:
        return ()
    try:
        conditions = json.loads(text)
    except ValueError:
        conditions = None
    if not isinstance(conditions, list):
        raise ValueError(f"option filters: expected a JSON list of conditions, got {text!r}")
    return tuple(_filter(condition, schema) for condition in conditions)


def _filter(condition: Any, schema: s.Schema) -> spark.Filter:
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
    made = COMPARISONS[comparison](path, *(_value(v, comparison, type_) for v in values))
    if not can_evaluate(made, schema):
        raise ValueError(f"{place}: {_why_not(values, comparison, type_)}")
    return made


def _why_not(values: Sequence[Any], comparison: str, type_: s.DataType) -> str:
    """Why a condition cannot be evaluated."""
    if comparison in _LISTS and len(values[0]) > MOST_VALUES:
        return f"{len(values[0])} values, {MOST_VALUES} are the most; join with them instead"
    hint = _HINTS.get(type(type_), "")
    return f"a column of {type_} cannot be asked that, or has no such value{hint}"


_HINTS: dict[type[s.DataType], str] = {
    s.Date: ": its values are texts such as 2024-12-31",
    s.Timestamp: (
        ": its values are texts such as 2024-12-31T23:59:00, and behind them +00:00 if it has a time zone"
    ),
    s.Decimal: ": its values have no more digits, nor digits behind the point",
}


def _value(value: Any, comparison: str, type_: s.DataType) -> Any:
    if comparison in _LISTS:
        return tuple(_literal(one, type_) for one in value)
    return _literal(value, type_)


def _literal(value: Any, type_: s.DataType) -> Any:
    """A value as Spark would pass it; as it is where it cannot be one of that type."""
    read, classes = _READ.get(type(type_), (None, ()))
    if read is None or not isinstance(value, classes) or isinstance(value, bool):
        return value
    try:
        return read(str(value))
    except (ValueError, InvalidOperation):
        return value


_READ: dict[type[s.DataType], tuple[Callable[[str], Any], tuple[type, ...]]] = {
    s.Decimal: (Decimal, (str, int, float)),
    s.Date: (datetime.date.fromisoformat, (str,)),
    s.Timestamp: (datetime.datetime.fromisoformat, (str,)),
}
"""What makes a value of what stands in JSON, and which classes that may have."""
