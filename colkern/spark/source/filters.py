"""Filters that Spark pushes down, evaluated on columns as Spark would evaluate them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

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
from colkern.operations.moving import to_device
from colkern.operations.order import GREATER, GREATER_EQUAL, LESS, LESS_EQUAL
from colkern.operations.ordering import ordered
from colkern.spark.source.ordering import key_of

MOST_VALUES = 64
"""How many values an `in` may have: each is a comparison of the whole column."""

_BOOL = s.bool_()


def path_of(filter_: spark.Filter) -> tuple[str, ...]:
    """The column that a filter looks at, and the fields that lead into it."""
    plain: Any = filter_.child if isinstance(filter_, spark.Not) else filter_
    return tuple(plain.attribute)


def can_evaluate(filter_: spark.Filter, schema: s.Schema) -> bool:
    """Whether `mask_of` can tell which rows a filter lets pass; if not, Spark must.

    Args:
        filter_: The filter.
        schema: The columns, with the types in which Spark takes them.
    """
    plain: Any = filter_.child if isinstance(filter_, spark.Not) else filter_
    type_ = type_at(path_of(filter_), schema)
    if type_ is None:
        return False
    if isinstance(plain, spark.IsNull | spark.IsNotNull):
        return True
    if isinstance(plain, spark.EqualNullSafe) and plain.value is None:
        return True
    if isinstance(plain, spark.In):
        values = [value for value in plain.value if value is not None]
        return len(values) <= MOST_VALUES and all(_is_comparable(v, type_) for v in values)
    if isinstance(plain, spark.StringStartsWith | spark.StringEndsWith):
        return isinstance(type_, s.Utf8) and isinstance(plain.value, str)
    if isinstance(plain, spark.EqualTo | spark.EqualNullSafe):
        return _is_comparable(plain.value, type_)
    return type(plain) in _ORDERED and _is_ordered(type_) and _is_comparable(plain.value, type_)


def type_at(path: tuple[str, ...], schema: s.Schema) -> s.DataType | None:
    """The type of a column, or of a field within it by its path; None if it is not to be found."""
    fields = schema.fields
    type_: s.DataType | None = None
    for name in path:
        types = [field.type for field in fields if field.name == name]
        if len(types) != 1:
            return None
        type_ = types[0]
        fields = type_.fields if isinstance(type_, s.Struct) else ()
    return type_


def _is_comparable(value: Any, type_: s.DataType) -> bool:
    return key_of(value, type_) is not None


def _is_ordered(type_: s.DataType) -> bool:
    return isinstance(
        type_, s.Int | s.FloatingPoint | s.Decimal | s.Date | s.Timestamp | s.Duration | s.Utf8
    )


def mask_of(filters: list[spark.Filter], columns: Mapping[str, Array]) -> Array:
    """Which rows all of some filters let pass: booleans; a null does not let its row pass.

    Args:
        filters: At least one, all of which `can_evaluate`.
        columns: The columns that they look at, with the types in which Spark takes them.
    """
    return reduce(and_, [_evaluated(filter_, columns) for filter_ in filters])


def _evaluated(filter_: spark.Filter, columns: Mapping[str, Array]) -> Array:
    """What a filter is of each row: true, false or null, as in SQL."""
    if isinstance(filter_, spark.Not):
        return invert(_evaluated(filter_.child, columns))
    name, *inner = path_of(filter_)
    column = struct_field(columns[name], inner) if inner else columns[name]
    return _EVALUATE[type(filter_)](column, filter_)


def _is_null(column: Array, _: Any) -> Array:
    return invert(_is_not_null(column, _))


def _is_not_null(column: Array, _: Any) -> Array:
    length = column.length
    if column.null_count in (0, length):
        return _everywhere(column, column.null_count == 0)
    return Array(_BOOL, length, [None, compact_validity(column)], null_count=0)


def _everywhere(column: Array, value: bool) -> Array:
    """The same for each row, on the device of the column."""
    bits = np.full((column.length + 7) // 8, 0xFF if value else 0, np.uint8)
    made = Array(_BOOL, column.length, [None, Buffer(bits)], null_count=0)
    return to_device(made, column.device)


def _equal_to(column: Array, filter_: Any) -> Array:
    return equal(column, filter_.value)


def _equal_null_safe(column: Array, filter_: Any) -> Array:
    if filter_.value is None:
        return _is_null(column, filter_)
    # False, where a plain comparison is null.
    return and_kleene(equal(column, filter_.value), _is_not_null(column, filter_))


def _in(column: Array, filter_: Any) -> Array:
    values = [value for value in filter_.value if value is not None]
    if not filter_.value:
        return _everywhere(column, False)
    if not values:
        return nulls(column.length, _BOOL, column.device)
    found = reduce(or_, [equal(column, value) for value in values])
    if len(values) < len(filter_.value):
        found = or_kleene(found, nulls(column.length, _BOOL, column.device))
    return found


def _starts_with(column: Array, filter_: Any) -> Array:
    return starts_with(column, filter_.value)


def _ends_with(column: Array, filter_: Any) -> Array:
    return ends_with(column, filter_.value)


def _ordered(column: Array, filter_: Any) -> Array:
    # For Spark a NaN is greater than any number.
    return ordered(column, filter_.value, _ORDERED[type(filter_)], nans_greatest=True)


_ORDERED = {
    spark.GreaterThan: GREATER,
    spark.GreaterThanOrEqual: GREATER_EQUAL,
    spark.LessThan: LESS,
    spark.LessThanOrEqual: LESS_EQUAL,
}

_EVALUATE: dict[type, Callable[[Array, Any], Array]] = {
    spark.IsNull: _is_null,
    spark.IsNotNull: _is_not_null,
    spark.EqualTo: _equal_to,
    spark.EqualNullSafe: _equal_null_safe,
    spark.In: _in,
    spark.StringStartsWith: _starts_with,
    spark.StringEndsWith: _ends_with,
    **dict.fromkeys(_ORDERED, _ordered),
}
