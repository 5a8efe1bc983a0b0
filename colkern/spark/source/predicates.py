"""The option `filters`: conditions on columns, in JSON, as the filters that Spark would push down.

A list of `[column, comparison, value]`, all of which a row must pass; see `COMPARISONS`. A column is a
name, or a list of names that lead into structs. Dates and timestamps are ISO 8601 texts; decimals may be
texts. Comparisons with null let no row pass.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any

from pyspark.sql import datasource as spark

from colkern import schema as s
from colkern.spark.source.filters import can_evaluate, type_at

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
    path = (column,) if isinstance(column, str) else tuple(column)
    if comparison not in COMPARISONS:
        raise ValueError(f"{place}: expected one of {', '.join(COMPARISONS)}")
    if len(values) != (comparison not in _WITHOUT_VALUE):
        raise ValueError(f"{place}: {comparison!r} takes {'no' if values else 'a'} value")
    type_ = type_at(path, schema)
    if type_ is None:
        raise ValueError(f"{place}: no such column among {', '.join(schema.names)}")
    made = COMPARISONS[comparison](path, *(_value(v, comparison, type_) for v in values))
    if not can_evaluate(made, schema):
        raise ValueError(f"{place}: a column of {type_} cannot be asked that, or has no such value")
    return made


def _value(value: Any, comparison: str, type_: s.DataType) -> Any:
    if comparison in _LISTS:
        return tuple(_literal(one, type_) for one in value) if isinstance(value, list) else ()
    return _literal(value, type_)


def _literal(value: Any, type_: s.DataType) -> Any:
    """A value as Spark would pass it; as it is where it cannot be one of that type."""
    read = _READ.get(type(type_))
    if read is None or not isinstance(value, str | int | float) or isinstance(value, bool):
        return value
    try:
        return read(str(value))
    except (ValueError, InvalidOperation):
        return value


_READ: dict[type[s.DataType], Callable[[str], Any]] = {
    s.Decimal: Decimal,
    s.Date: datetime.date.fromisoformat,
    s.Timestamp: datetime.datetime.fromisoformat,
}
