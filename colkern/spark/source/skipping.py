"""Skips batches without a row that passes a filter, by their counts of nulls and bounds."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from pyspark.sql import datasource as spark

from colkern import schema as s
from colkern.spark.source.filters import unnegated
from colkern.spark.source.ordering import Key, key_of
from colkern.spark.source.statistics import Bounds


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
