"""Filters on columns and on what is known of batches, against rows of plain Python.

Spark's order puts NaN above all numbers, equal to itself; a comparison with null is neither true nor
false, and its row does not pass.
"""

from __future__ import annotations

import datetime
import json
import math
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import datasource as spark

import colkern as ck
from colkern.spark.source.filters import can_evaluate, key_of, mask_of
from colkern.spark.source.statistics import KEY, Bounds, Known, bounds_of, may_pass, statistics_of

UTC = datetime.UTC
EAST = datetime.timezone(datetime.timedelta(hours=5))
COMPARISONS = [
    spark.EqualTo,
    spark.EqualNullSafe,
    spark.GreaterThan,
    spark.GreaterThanOrEqual,
    spark.LessThan,
    spark.LessThanOrEqual,
]

TYPES: dict[ck.DataType, st.SearchStrategy[Any]] = {
    ck.int32(): st.integers(-3, 3) | st.sampled_from([-(2**31), 2**31 - 1]),
    ck.int64(): st.integers(-3, 3) | st.sampled_from([-(2**63), 2**63 - 1]),
    ck.float64(): st.sampled_from([-math.inf, -1.5, -0.0, 0.0, 1.5, math.inf, math.nan]),
    ck.decimal128(30, 2): st.sampled_from(
        [Decimal(n).scaleb(-2) for n in (-(10**29), -1, 0, 1, 2**64, 2**64 + 1, 10**29)]
    ),
    ck.date32(): st.dates(datetime.date(1969, 12, 30), datetime.date(1970, 1, 3)),
    ck.timestamp("us"): st.datetimes(
        datetime.datetime(1969, 12, 31, 23, 59, 59), datetime.datetime(1970, 1, 1, 0, 0, 1)
    ),
    ck.timestamp("us", "UTC"): st.datetimes(
        datetime.datetime(1969, 12, 31), datetime.datetime(1970, 1, 2), timezones=st.just(UTC)
    ),
    ck.duration("us"): st.timedeltas(datetime.timedelta(-1), datetime.timedelta(1)),
    ck.utf8(): st.text(st.sampled_from("ab\U0001f40d\uffff"), max_size=3),
}


@st.composite
def questions(draw: Any) -> tuple[ck.DataType, list[Any], spark.Filter]:
    """A type, a column of it, and a filter on that column, whose name is `c`."""
    type_ = draw(st.sampled_from(list(TYPES)))
    values = TYPES[type_]
    column = draw(st.lists(st.none() | values, min_size=1, max_size=9))
    literal = values.filter(lambda v: v == v)
    filters = [st.just(spark.IsNull(("c",))), st.just(spark.IsNotNull(("c",)))]
    filters += [st.builds(kind, st.just(("c",)), literal) for kind in COMPARISONS]
    lists = st.lists(st.none() | literal, min_size=1, max_size=3).map(tuple)
    filters.append(st.builds(spark.In, st.just(("c",)), lists))
    if type_ == ck.utf8():
        filters += [
            st.builds(kind, st.just(("c",)), values)
            for kind in (spark.StringStartsWith, spark.StringEndsWith)
        ]
    filter_ = draw(st.one_of(filters))
    return type_, column, draw(st.sampled_from([filter_, spark.Not(filter_)]))


def passes(value: Any, filter_: Any) -> bool | None:
    """The result of a filter for one value, as in SQL."""
    if isinstance(filter_, spark.Not):
        inner = passes(value, filter_.child)
        return None if inner is None else not inner
    if isinstance(filter_, spark.IsNull | spark.IsNotNull):
        return (value is None) is isinstance(filter_, spark.IsNull)
    if isinstance(filter_, spark.EqualNullSafe):
        return value == filter_.value
    if value is None:
        return None
    if isinstance(filter_, spark.In):
        return True if value in filter_.value else None if None in filter_.value else False
    if isinstance(filter_, spark.StringStartsWith):
        return str(value).startswith(filter_.value)
    if isinstance(filter_, spark.StringEndsWith):
        return str(value).endswith(filter_.value)
    left, right = order(value), order(filter_.value)
    return {
        spark.EqualTo: left == right,
        spark.GreaterThan: left > right,
        spark.GreaterThanOrEqual: left >= right,
        spark.LessThan: left < right,
        spark.LessThanOrEqual: left <= right,
    }[type(filter_)]


def order(value: Any) -> Any:
    if isinstance(value, float) and math.isnan(value):
        return (1, 0.0)
    if isinstance(value, float):
        return (0, value)
    return value.encode() if isinstance(value, str) else value


@given(questions())
def test_a_mask_has_the_rows_that_pass(question: tuple[ck.DataType, list[Any], Any]) -> None:
    type_, values, filter_ = question
    if not can_evaluate(filter_, ck.Schema([("c", type_)])):
        pytest.fail("left to Spark")
    mask = mask_of([filter_], {"c": ck.array(values, type_)})
    assert [bool(bit) for bit in mask.to_pylist()] == [bool(passes(v, filter_)) for v in values]


@given(questions())
def test_a_batch_is_skipped_only_if_no_row_passes(
    question: tuple[ck.DataType, list[Any], Any],
) -> None:
    type_, values, filter_ = question
    if not may_pass(filter_, known(type_, values)):
        assert not any(passes(value, filter_) for value in values)


def known(type_: ck.DataType, values: list[Any]) -> Known:
    """The bounds that a reader knows of a batch of colkern's writer."""
    schema = ck.Schema([("c", type_)])
    said = statistics_of(pa.record_batch({"c": pa.array(ck.array(values, type_))}))
    bounds = bounds_of({KEY: said}, schema).get("c", Bounds())
    return Known(type_, len(values), values.count(None), bounds)


# What is skipped


@pytest.mark.parametrize(
    "filter_",
    [
        spark.EqualTo(("c",), 0),
        spark.EqualNullSafe(("c",), 9),
        spark.In(("c",), (0, 9)),
        spark.GreaterThan(("c",), 3),
        spark.GreaterThanOrEqual(("c",), 4),
        spark.LessThan(("c",), 1),
        spark.LessThanOrEqual(("c",), 0),
        spark.Not(spark.LessThan(("c",), 4)),
        spark.IsNull(("c",)),
        spark.Not(spark.IsNotNull(("c",))),
    ],
    ids=repr,
)
def test_batches_out_of_reach_are_skipped(filter_: spark.Filter) -> None:
    assert not may_pass(filter_, known(ck.int64(), [1, 2, 3]))


@pytest.mark.parametrize(
    "filter_", [spark.EqualTo(("c",), 1), spark.IsNotNull(("c",)), spark.LessThan(("c",), 1)]
)
def test_without_any_value_there_is_nothing_to_compare(filter_: spark.Filter) -> None:
    unknown = Known(ck.int64(), 2, 2, Bounds())
    assert not may_pass(filter_, unknown)
    assert may_pass(spark.IsNull(("c",)), unknown)


def test_without_statistics_nothing_is_skipped_by_value() -> None:
    unknown = Known(ck.int64(), 3, None, Bounds())
    for kind in COMPARISONS:
        assert may_pass(kind(("c",), 10**6), unknown)


def test_prefixes_are_compared_with_bounds() -> None:
    names = known(ck.utf8(), ["bernd", "carla"])
    for prefix, expected in {"a": False, "b": True, "bf": True, "ca": True, "d": False}.items():
        assert may_pass(spark.StringStartsWith(("c",), prefix), names) is expected


# Statistics


def statistics(values: Any) -> dict[str, Any]:
    actual = json.loads(statistics_of(pa.record_batch({"c": values})))
    assert actual["version"] == 1
    return actual["columns"].get("c", {})


def test_statistics_are_the_json_that_is_documented() -> None:
    assert statistics(pa.array([3, None, 1])) == {"min": 1, "max": 3}
    assert statistics(pa.array([0.5, -math.inf])) == {"min": "-Infinity", "max": 0.5}
    assert statistics(pa.array([0.5, math.nan])) == {"min": 0.5}
    assert statistics(pa.array([Decimal("-1.50"), Decimal("0.25")])) == {"min": -150, "max": 25}
    assert statistics(pa.array([datetime.date(1970, 1, 2)])) == {"min": 1, "max": 1}
    moment = datetime.datetime(1970, 1, 1, 0, 0, 1)
    assert statistics(pa.array([moment], pa.timestamp("us", "UTC"))) == {
        "min": 1_000_000,
        "max": 1_000_000,
    }


def test_columns_without_values_or_without_order_have_no_statistics() -> None:
    assert statistics(pa.array([None, None], pa.int64())) == {}
    assert statistics(pa.array([[1]])) == {}
    assert statistics(pa.array([math.nan, None])) == {}
    # Spark lets any bytes be a string.
    assert statistics(pa.array([b"\xff\xfe"]).view(pa.string())) == {}


def test_long_strings_are_cut_so_that_the_bounds_still_hold() -> None:
    assert statistics(pa.array(["a" * 40])) == {"min": "a" * 32, "max": "a" * 31 + "b"}
    # The character before the surrogates is followed by the one behind them.
    assert statistics(pa.array(["\ud7ff" * 40]))["max"] == "\ud7ff" * 31 + "\ue000"
    # There is no greater text of that length.
    assert "max" not in statistics(pa.array(["\U0010ffff" * 40]))


@pytest.mark.parametrize(
    "said",
    [
        b"{",
        b"[]",
        b'{"version": 2, "columns": {"c": {"min": 1}}}',
        b'{"version": 1, "columns": {"c": 1}}',
        b'{"version": 1, "columns": {"c": {"min": "1", "max": true}, "d": {}}}',
        b"\xff",
        b"[" * 200_000,
        b'{"version": 1, "columns": {"x": {"min": NaN, "max": 1' + b"0" * 400 + b"}}}",
        b'{"version": 1, "columns": {"t": {"min": "\\ud800"}}}',
    ],
    ids=range(9),
)
def test_statistics_of_another_form_are_not_used(said: bytes) -> None:
    schema = ck.Schema([("c", ck.int64()), ("x", ck.float64()), ("t", ck.utf8())])
    actual = bounds_of({KEY: said}, schema)
    assert all(bounds == Bounds() for name, bounds in actual.items() if name in schema.names)


# What is left to Spark


@pytest.mark.parametrize(
    ("filter_", "type_"),
    [
        (spark.StringContains(("c",), "a"), ck.utf8()),
        (spark.EqualTo(("c",), math.nan), ck.float64()),
        (spark.EqualTo(("c",), [1]), ck.list_(ck.int64())),
        (spark.EqualTo(("d",), 1), ck.int64()),
        (spark.EqualTo(("c", "x"), 1), ck.int64()),
        (spark.In(("c",), tuple(range(65))), ck.int64()),
        (spark.GreaterThan(("c",), True), ck.bool_()),
    ],
    ids=repr,
)
def test_other_filters_are_left_to_spark(filter_: spark.Filter, type_: ck.DataType) -> None:
    assert not can_evaluate(filter_, ck.Schema([("c", type_)]))


def test_fields_of_structs_are_looked_into() -> None:
    type_ = ck.struct([("a", ck.struct([("b", ck.int64())]))])
    column = ck.array([{"a": {"b": 1}}, {"a": None}, None, {"a": {"b": 2}}], type_)
    above = spark.GreaterThan(("c", "a", "b"), 1)
    assert can_evaluate(above, ck.Schema([("c", type_)]))
    assert mask_of([above], {"c": column}).to_pylist() == [False, None, None, True]
    missing = spark.IsNull(("c", "a", "b"))
    assert mask_of([missing], {"c": column}).to_pylist() == [False, True, True, False]


def test_booleans_and_binary_values_are_compared_for_equality() -> None:
    flags = ck.array([True, None, False])
    actual = mask_of([spark.Not(spark.EqualTo(("c",), True))], {"c": flags})
    assert actual.to_pylist() == [False, None, True]
    blobs = ck.array([b"\x00", b"", None])
    assert mask_of([spark.EqualTo(("c",), b"")], {"c": blobs}).to_pylist() == [False, True, None]


def test_a_decimal_of_more_digits_than_the_column_has_no_key() -> None:
    assert key_of(Decimal("1.5"), ck.decimal128(5, 2)) == 150
    assert key_of(Decimal("1.555"), ck.decimal128(5, 2)) is None


@pytest.mark.parametrize(
    ("value", "type_", "fits"),
    [
        (127, ck.int8(), True),
        (128, ck.int8(), False),
        (-128, ck.int8(), True),
        (-129, ck.int8(), False),
        (-1, ck.uint8(), False),
        (2**63 - 1, ck.int64(), True),
        (2**63, ck.int64(), False),
        (1e300, ck.float32(), False),
        (float("-inf"), ck.float32(), True),
        (10**400, ck.float64(), False),
        (Decimal("999.99"), ck.decimal128(5, 2), True),
        (Decimal("1E3"), ck.decimal128(5, 2), False),
        (Decimal("1E999999"), ck.decimal128(5, 2), False),
        (Decimal("0E-2"), ck.decimal128(2, 2), True),
        (datetime.datetime(1, 1, 1, tzinfo=EAST), ck.timestamp("us", "UTC"), True),
    ],
)
def test_what_a_type_cannot_hold_is_compared_with_nothing(
    value: Any, type_: ck.DataType, fits: bool
) -> None:
    assert (key_of(value, type_) is not None) == fits
