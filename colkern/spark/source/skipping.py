"""Whether a batch can have rows that a filter lets pass, by what is known without decoding it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pyspark.sql import datasource as spark

from colkern import schema as s
from colkern.spark.source.ordering import Key, key_of
from colkern.spark.source.statistics import Bounds


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a column of a batch.

    Args:
        type: The type in which Spark takes the column.
        rows: How many rows the batch has.
        nulls: How many of them are null; None if only the values tell.
        bounds: Between which values the others lie.
    """

    type: s.DataType
    rows: int
    nulls: int | None
    bounds: Bounds


def may_pass(filter_: spark.Filter, column: Known) -> bool:
    """False only if the filter lets no row of the batch pass.

    Args:
        filter_: A filter of that column itself, not of a field within it.
        column: What is known of it.
    """
    negated = isinstance(filter_, spark.Not)
    plain: Any = filter_.child if isinstance(filter_, spark.Not) else filter_
    if isinstance(plain, spark.IsNull | spark.IsNotNull):
        wants_nulls = isinstance(plain, spark.IsNull) is not negated
        return column.nulls != (0 if wants_nulls else column.rows)
    if isinstance(plain, spark.In) and not plain.value:
        # False of each row, also of nulls.
        return negated
    null_safe = isinstance(plain, spark.EqualNullSafe)
    if null_safe and (negated or plain.value is None):
        return True
    if column.nulls == column.rows:
        # A comparison with a null is neither true nor false.
        return False
    test = (_NEGATED if negated else _TESTS).get(type(plain))
    return test is None or test(plain.value, column)


def _may_equal(value: Any, column: Known) -> bool:
    key = key_of(value, column.type)
    return key is None or _reaches(column, key, key)


def _may_be_in(values: Any, column: Known) -> bool:
    return any(_may_equal(value, column) for value in values if value is not None)


def _may_start(value: Any, column: Known) -> bool:
    key = key_of(value, column.type)
    if not isinstance(key, bytes):
        return True
    least, greatest = column.bounds.least, column.bounds.greatest
    if isinstance(greatest, bytes) and greatest < key:
        return False
    return not isinstance(least, bytes) or least[: len(key)] <= key


def _may_exceed(value: Any, column: Known) -> bool:
    key, greatest = key_of(value, column.type), column.bounds.greatest
    return key is None or greatest is None or _less(key, greatest, strictly=True)


def _may_reach(value: Any, column: Known) -> bool:
    key, greatest = key_of(value, column.type), column.bounds.greatest
    return key is None or greatest is None or _less(key, greatest, strictly=False)


def _may_stay_below(value: Any, column: Known) -> bool:
    key, least = key_of(value, column.type), column.bounds.least
    return key is None or least is None or _less(least, key, strictly=True)


def _may_stay_within(value: Any, column: Known) -> bool:
    key, least = key_of(value, column.type), column.bounds.least
    return key is None or least is None or _less(least, key, strictly=False)


def _may_differ(value: Any, column: Known) -> bool:
    key, bounds = key_of(value, column.type), column.bounds
    return key is None or not (bounds.least == key == bounds.greatest)


def _reaches(column: Known, first: Key, last: Key) -> bool:
    """Whether some value can lie between two keys, both included."""
    least, greatest = column.bounds.least, column.bounds.greatest
    if least is not None and not _less(least, last, strictly=False):
        return False
    return greatest is None or _less(first, greatest, strictly=False)


def _less(left: Any, right: Any, *, strictly: bool) -> bool:
    """Whether one key is less than another of the same type, or as great unless `strictly`."""
    return bool(left < right if strictly else left <= right)


_TESTS: dict[type, Callable[[Any, Known], bool]] = {
    spark.EqualTo: _may_equal,
    spark.EqualNullSafe: _may_equal,
    spark.In: _may_be_in,
    spark.StringStartsWith: _may_start,
    spark.GreaterThan: _may_exceed,
    spark.GreaterThanOrEqual: _may_reach,
    spark.LessThan: _may_stay_below,
    spark.LessThanOrEqual: _may_stay_within,
}

_NEGATED: dict[type, Callable[[Any, Known], bool]] = {
    spark.EqualTo: _may_differ,
    spark.GreaterThan: _may_stay_within,
    spark.GreaterThanOrEqual: _may_stay_below,
    spark.LessThan: _may_reach,
    spark.LessThanOrEqual: _may_exceed,
}
