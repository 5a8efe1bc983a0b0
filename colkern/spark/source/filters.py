"""Evaluates the filters that Spark pushes down, with the same results as in Spark."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce

import numpy as np
from pyspark.sql import datasource as spark

from colkern import schema as s
from colkern.arrays import Array
from colkern.memory import Buffer
from colkern.operations import (
    and_,
    and_kleene,
    compact_validity,
    ends_with,
    equal,
    invert,
    nulls,
    or_,
    or_kleene,
    starts_with,
    struct_field,
)
from colkern.operations.comparing import GREATER, GREATER_EQUAL, LESS, LESS_EQUAL
from colkern.operations.moving import to_device
from colkern.operations.ordering import ordered
from colkern.spark.source.ordering import key_of

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
    plain = unnegated(filter_)
    type_ = type_at(path_of(filter_), schema)
    if type_ is None:
        return False
    if isinstance(plain, spark.IsNull | spark.IsNotNull):
        return True
    if isinstance(plain, spark.EqualNullSafe) and plain.value is None:
        return True
    if isinstance(plain, spark.In):
        values = [value for value in plain.value if value is not None]
        return len(values) <= MOST_VALUES and all(key_of(v, type_) is not None for v in values)
    if isinstance(plain, spark.StringStartsWith | spark.StringEndsWith):
        return isinstance(type_, s.Utf8) and isinstance(plain.value, str)
    is_equality = isinstance(plain, spark.EqualTo | spark.EqualNullSafe)
    is_order = type(plain) in _ORDERED and isinstance(type_, _ORDERED_TYPES)
    return (is_equality or is_order) and key_of(plain.value, type_) is not None


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
    return reduce(and_, [_evaluated(filter_, columns) for filter_ in filters])


def _evaluated(filter_: spark.Filter, columns: Mapping[str, Array]) -> Array:
    """Returns the filter's value for each row: true, false or null, as in SQL."""
    if isinstance(filter_, spark.Not):
        return invert(_evaluated(filter_.child, columns))
    name, *inner = path_of(filter_)
    column = struct_field(columns[name], inner) if inner else columns[name]
    return _EVALUATE[type(filter_)](column, filter_)


def _is_not_null(column: Array) -> Array:
    length = column.length
    if column.null_count in (0, length):
        return _everywhere(column, column.null_count == 0)
    return Array(_BOOL, length, [None, compact_validity(column)], null_count=0)


def _everywhere(column: Array, value: bool) -> Array:
    """Returns an array of one value for all rows, on the device of the column."""
    bits = np.full((column.length + 7) // 8, 0xFF if value else 0, np.uint8)
    values = Array(_BOOL, column.length, [None, Buffer(bits)], null_count=0)
    return to_device(values, column.device)


def _equal_null_safe(column: Array, filter_: spark.EqualNullSafe) -> Array:
    not_null = _is_not_null(column)
    if filter_.value is None:
        return invert(not_null)
    # Null is unequal to the value here; a plain comparison would give null.
    return and_kleene(equal(column, filter_.value), not_null)


def _in(column: Array, filter_: spark.In) -> Array:
    values = [value for value in filter_.value if value is not None]
    if not filter_.value:
        return _everywhere(column, False)
    if not values:
        return nulls(column.length, _BOOL, column.device)
    mask = reduce(or_, [equal(column, value) for value in values])
    if len(values) < len(filter_.value):
        mask = or_kleene(mask, nulls(column.length, _BOOL, column.device))
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
    spark.IsNull: lambda column, _: invert(_is_not_null(column)),
    spark.IsNotNull: lambda column, _: _is_not_null(column),
    spark.EqualTo: lambda column, filter_: equal(column, filter_.value),
    spark.EqualNullSafe: _equal_null_safe,
    spark.In: _in,
    spark.StringStartsWith: lambda column, filter_: starts_with(column, filter_.value),
    spark.StringEndsWith: lambda column, filter_: ends_with(column, filter_.value),
    **dict.fromkeys(_ORDERED, _ordered),
}
