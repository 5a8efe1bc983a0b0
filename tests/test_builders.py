"""`array` and `record_batch`: what goes in comes out; what does not fit is named with its place."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from arrow_oracle import batch_from_pyarrow, from_pyarrow, type_of
from arrow_strategies import arrays
from hypothesis import assume, given

from colkern import schema as s
from colkern.arrays import Array
from colkern.arrays.values import DayTime, MonthDayNano, Months
from colkern.builders import UnionValue, array, record_batch
from colkern.errors import LimitExceededError
from colkern.extensions.making import timestamp_with_offset
from colkern.memory import ALIGNMENT


def has_union(type_: pa.DataType) -> bool:
    return "union" in str(type_)


@given(arrays())
def test_values_of_any_array_build_the_same_values(original: pa.Array) -> None:
    # A union value that fits several children may come back from another one.
    assume(not has_union(original.type))
    values = original.to_pylist()
    built = array(values, type_of(original.type))
    assert built.to_pylist() == values
    assert built.type == type_of(original.type)


@given(arrays())
def test_buffers_are_aligned_and_null_counts_known(original: pa.Array) -> None:
    assume(not has_union(original.type))
    built = array(original.to_pylist(), type_of(original.type))
    assert all(b.address % ALIGNMENT == 0 for b in built.buffers if b is not None and b.size)
    if built.layout.has_validity:
        assert built.known_null_count == original.to_pylist().count(None)


PYTHON_VALUES: list[list[Any]] = [
    [],
    [None],
    [True, None],
    [1, None, -(2**63)],
    [2**63],
    [1, 2.5],
    ["é", None],
    [b"\xff"],
    [dt.date(2020, 2, 29)],
    [dt.datetime(2020, 2, 29, 1, 2, 3, 4)],
    [dt.datetime(2020, 2, 29, tzinfo=dt.UTC)],
    [dt.time(1, 2, 3, 4)],
    [dt.timedelta(-1, 2, 3)],
    [Decimal("1.50"), Decimal("-200"), None],
    [[1], None, [2.5, None]],
    [(1, 2)],
    [{"a": 1}, {"b": ["x"]}, None],
    [np.int8(3), None],
    [np.float32(1.5)],
    [[], [[b""]]],
]


@pytest.mark.parametrize("values", PYTHON_VALUES, ids=repr)
def test_types_are_inferred_as_pyarrow_infers_them(values: list[Any]) -> None:
    if values == [2**63]:
        theirs = pa.array(values, pa.uint64())
    else:
        theirs = pa.array(values)
    ours = array(values)
    assert ours.to_pylist() == theirs.to_pylist()
    if not pa.types.is_decimal(theirs.type):
        assert ours.type == type_of(theirs.type)


def test_inferred_decimals_hold_every_value() -> None:
    assert array([Decimal("1.5"), Decimal("200")]).type == s.decimal128(4, 1)
    assert array([Decimal(10) ** 50]).type == s.decimal256(51, 0)
    with pytest.raises(ValueError, match=r"values\[0\]: no decimal type has 101 digits"):
        array([Decimal(10) ** 100])


def test_a_fixed_offset_is_spelled_as_the_format_spells_it() -> None:
    zone = dt.timezone(dt.timedelta(hours=-3, minutes=-30))
    assert array([dt.datetime(2020, 1, 1, tzinfo=zone)]).type == s.timestamp("us", "-03:30")


def test_intervals_are_inferred_from_their_tuples() -> None:
    for value, type_ in [
        (Months(1), s.month_interval()),
        (DayTime(1, 2), s.day_time_interval()),
        (MonthDayNano(1, 2, 3), s.month_day_nano_interval()),
    ]:
        built = array([value, None])
        assert built.type == type_
        assert built.to_pylist() == [value, None]


BAD: list[tuple[list[Any], s.DataType | None, type[Exception], str]] = [
    ([1, "a"], None, TypeError, r"values\[1\]"),
    ([True, 1], None, TypeError, r"values\[1\]"),
    ([None, object()], None, TypeError, r"values\[1\]"),
    ([[1], ["a"]], None, TypeError, r"values\[1\]\[0\]"),
    ([{"a": 1}, {"a": "x"}], None, TypeError, r"values\[1\]\['a'\]"),
    ([{1: 2}], None, TypeError, r"values\[0\].* name of a field"),
    ([1], s.null(), TypeError, r"values\[0\]"),
    ([0], s.bool_(), TypeError, r"values\[0\]"),
    ([True], s.int8(), TypeError, r"values\[0\]"),
    ([1, 1.0], s.int8(), TypeError, r"values\[1\]"),
    ([1, 128], s.int8(), ValueError, r"values\[1\]: 128 is outside"),
    ([-1], s.uint64(), ValueError, r"values\[0\]: -1"),
    ([2**24 + 1], s.float32(), ValueError, r"values\[0\].*exactly"),
    ([Decimal("1.005")], s.decimal128(5, 2), ValueError, "digits after the point"),
    ([Decimal("1000")], s.decimal128(5, 2), ValueError, "more than 5 digits"),
    ([Decimal("inf")], s.decimal128(5, 2), ValueError, "finite"),
    ([Decimal("1e999999")], s.decimal256(5, 2), ValueError, "does not fit"),
    ([0.5], s.decimal128(5, 2), TypeError, r"values\[0\]"),
    ([dt.datetime(2020, 1, 1)], s.date32(), TypeError, "datetime"),
    ([1], s.date64(), ValueError, "whole days"),
    ([dt.time(0, 0, 0, 1)], s.time32("ms"), ValueError, "whole number of ms"),
    ([86_400], s.time32("s"), ValueError, "time of day"),
    ([dt.datetime(2020, 1, 1)], s.timestamp("s", "UTC"), ValueError, "timezone"),
    ([dt.datetime(2020, 1, 1, tzinfo=dt.UTC)], s.timestamp("s"), ValueError, "timezone"),
    ([dt.datetime(9999, 1, 1)], s.timestamp("ns"), ValueError, "outside the range"),
    ([(1, 2)], s.month_day_nano_interval(), TypeError, "3 integers"),
    ([b"abc"], s.fixed_size_binary(2), ValueError, "expected 2 bytes, got 3"),
    ([b"a"], s.utf8(), TypeError, "expected str"),
    (["a"], s.binary(), TypeError, "expected bytes"),
    (["\ud800"], s.utf8(), ValueError, "surrogates"),
    ([[1], [2, 300]], s.list_view(s.int8()), ValueError, r"values\[1\]\[1\]: 300"),
    (["ab"], s.list_(s.utf8()), TypeError, "expected a list"),
    ([[1]], s.fixed_size_list(s.int8(), 2), ValueError, "expected 2 elements, got 1"),
    ([{"z": 1}], s.struct({"a": s.int8()}), ValueError, "no field named 'z'"),
    ([(1, 2)], s.struct({"a": s.int8()}), ValueError, "expected 1 members, got 2"),
    ([{"a": [1, "x"]}], s.struct({"a": s.list_(s.int8())}), TypeError, r"\[0\]\['a'\]\[1\]"),
    ([{None: 1}], s.map_(s.utf8(), s.int8()), ValueError, "never null"),
    ([[], {"k": "1"}], s.map_(s.utf8(), s.int8()), TypeError, r"values\[1\]\[0\]\['value'\]"),
    ([1.5], s.dense_union([("a", s.int8())]), TypeError, "expected a value of dense_union"),
    ([UnionValue(3, 1)], s.sparse_union([("a", s.int8())]), ValueError, "type code 3"),
    ([1, UnionValue(0, "x")], s.dense_union([("a", s.int8())]), TypeError, r"values\[1\]"),
    (["a", "b", 3], s.dictionary(s.int8(), s.utf8()), TypeError, r"values\[2\]"),
    (list(range(129)), s.dictionary(s.int8(), s.int64()), ValueError, r"values\[128\]"),
    (["a", "a", 3], s.run_end_encoded(s.int16(), s.utf8()), TypeError, r"values\[2\]"),
]


@pytest.mark.parametrize(("values", "type_", "kind", "message"), BAD)
def test_what_does_not_fit_is_named_with_its_place(
    values: list[Any], type_: s.DataType | None, kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=message) as caught:
        array(values, type_)
    assert str(caught.value).startswith("values[")


def test_stored_integers_stand_for_times() -> None:
    assert array([1], s.date32()).to_pylist() == [dt.date(1970, 1, 2)]
    assert array([np.int64(1)], s.timestamp("s")).to_pylist() == [dt.datetime(1970, 1, 1, 0, 0, 1)]
    assert array([np.timedelta64(2, "h")], s.duration("s")).to_pylist() == [dt.timedelta(hours=2)]


def test_floats_are_rounded_to_their_type() -> None:
    assert array([0.1, 1e300], s.float32()).to_pylist() == [float(np.float32(0.1)), float("inf")]


def test_long_values_of_views_share_a_data_buffer_and_short_ones_need_none() -> None:
    short = array(["twelve bytes", None], s.utf8_view())
    assert len(short.data_buffers) == 0
    long = array(["thirteen byte", "x", "another long value"], s.utf8_view())
    assert [b.tobytes() for b in long.data_buffers if b] == [b"thirteen byteanother long value"]


def test_equal_values_share_a_dictionary_entry() -> None:
    built = array(["a", "b", None, "a"], s.dictionary(s.uint8(), s.utf8()))
    assert built.dictionary is not None
    assert built.dictionary.to_pylist() == ["a", "b"]
    nested = array([[1], [2], [1]], s.dictionary(s.int8(), s.list_(s.int8())))
    assert nested.dictionary is not None
    assert nested.dictionary.to_pylist() == [[1], [2]]


def test_zeros_of_both_signs_and_not_a_number_keep_their_places() -> None:
    nan = float("nan")
    built = array([0.0, -0.0, nan, nan], s.run_end_encoded(s.int32(), s.float64()))
    assert built.children[0].to_pylist() == [1, 2, 4]
    assert list(map(str, built)) == ["0.0", "-0.0", "nan", "nan"]


def test_union_values_go_to_the_first_child_that_fits_or_where_they_are_sent() -> None:
    fields = [("a", s.int8()), ("b", s.int64()), ("c", s.utf8())]
    values = [1, 1000, "x", None, UnionValue(7, 2), UnionValue(9, None)]
    for make in (s.dense_union, s.sparse_union):
        built = array(values, make(fields, [5, 7, 9]))
        assert built.to_pylist() == [1, 1000, "x", None, 2, None]
        assert list(built.items(built.layout.buffers[0].role)) == [5, 7, 9, 5, 7, 9]


# NumPy


@pytest.mark.parametrize(
    "values",
    [
        np.arange(3, dtype="u2"),
        np.array([1.5, np.nan], "f2"),
        np.arange(3, dtype="f8"),
        np.array([1, 2], "M8[us]"),
        np.array([1, 2], "m8[ns]"),
        np.array([b"ab", b"cd"], "V2"),
    ],
    ids=lambda values: str(values.dtype),
)
def test_numpy_memory_is_not_copied(values: np.ndarray[Any, Any]) -> None:
    built = array(values)
    data = built.buffers[1]
    assert data is not None
    assert data.address == values.ctypes.data


@pytest.mark.parametrize(
    "values",
    [
        np.array([True, False, True]),
        np.arange(6)[::2],
        np.arange(3, dtype=">i4"),
        np.array(["NaT", 5], "M8[us]"),
        np.array([1, 2], "M8[D]"),
        np.array(["a", "é"]),
        np.array([b"a"]),
        np.array([None, "x"], object),
        np.array([], "i8"),
    ],
    ids=repr,
)
def test_numpy_arrays_are_read_as_pyarrow_reads_them(values: np.ndarray[Any, Any]) -> None:
    theirs = pa.array(values.astype(values.dtype.newbyteorder("=")))
    ours = array(values)
    assert ours.to_pylist() == theirs.to_pylist()
    assert ours.type == type_of(theirs.type)


@pytest.mark.parametrize("name", ["int8", "uint16", "int64", "uint64", "float16", "float64"])
def test_numbers_of_numpy_have_the_one_object_of_their_type(name: str) -> None:
    assert array(np.zeros(2, name)).type is getattr(s, name)()


def test_masked_values_are_nulls() -> None:
    assert array(np.ma.masked_array([1, 2], [True, False])).to_pylist() == [None, 2]


def test_numpy_integers_stand_for_times_without_a_copy() -> None:
    counts = np.arange(3)
    built = array(counts, s.timestamp("us", "UTC"))
    assert built.buffers[1] is not None
    assert built.buffers[1].address == counts.ctypes.data


def test_numpy_numbers_are_converted_only_if_nothing_is_lost() -> None:
    assert array(np.arange(3), s.int8()).type == s.int8()
    assert array(np.arange(3), s.float32()).to_pylist() == [0.0, 1.0, 2.0]
    with pytest.raises(ValueError, match=r"values\[128\]"):
        array(np.arange(300), s.int8())
    with pytest.raises(ValueError, match=r"values\[0\]"):
        array(np.array([-1]), s.uint64())
    with pytest.raises(ValueError, match=r"values\[0\]"):
        array(np.array([2**53 + 1]), s.float64())
    with pytest.raises(TypeError, match="float64"):
        array(np.array([1.0]), s.int64())


def test_other_shapes_and_kinds_of_numpy_are_refused() -> None:
    with pytest.raises(ValueError, match="one dimension"):
        array(np.zeros((2, 2)))
    with pytest.raises(TypeError, match="complex128"):
        array(np.array([1j]))


# Other libraries


def test_an_arrow_object_is_taken_over_without_a_copy() -> None:
    theirs = pa.array([1, None, 3])
    ours = array(theirs)
    assert ours.equals(from_pyarrow(theirs))
    assert ours.buffers[1] is not None
    assert ours.buffers[1].address == theirs.buffers()[1].address
    assert array(ours) is ours
    with pytest.raises(ValueError, match="expected int8, got an array of int64"):
        array(theirs, s.int8())


@pytest.mark.parametrize("values", ["abc", b"abc", {"a": 1}, 5, None])
def test_what_is_no_sequence_of_values_is_refused(values: object) -> None:
    with pytest.raises(TypeError, match="values: expected a sequence"):
        array(values)


MISSING = [pd.NA, pd.NaT, np.datetime64("NaT"), np.timedelta64("NaT"), None]


@pytest.mark.parametrize("missing", MISSING, ids=repr)
def test_what_other_libraries_have_for_a_null_is_a_null(missing: Any) -> None:
    day, nothing = dt.date(2020, 1, 1), dict[str, int]().get("")
    assert array([missing, 1]).to_pylist() == [None, 1]
    assert array([day, missing]).to_pylist() == [day, None]
    assert array([[1, missing], missing, nothing]).to_pylist() == [[1, None], None, None]
    assert array([{"a": missing}, {"a": "x"}]).to_pylist() == [{"a": None}, {"a": "x"}]
    assert array([missing]).type == s.null()
    times = array([missing, np.datetime64("2020-01-01", "s")], s.timestamp("s"))
    assert (times.null_count, times.to_pylist()[1]) == (1, dt.datetime(2020, 1, 1))


def test_a_nan_is_no_null() -> None:
    assert array([float("nan"), np.float32("nan")]).null_count == 0


def test_a_key_of_a_map_is_never_null() -> None:
    for key in MISSING:
        with pytest.raises(ValueError, match=r"^values\[1\]: a key of a map is never null$"):
            array([{"a": 1}, [(key, 1)]], s.map_(s.utf8(), s.int64()))


def test_nulls_of_other_libraries_within_unions_and_times_with_offset() -> None:
    for make in (s.sparse_union, s.dense_union):
        union = make([("n", s.int64())])
        assert array([UnionValue(0, pd.NA), 1], union).to_pylist() == [None, 1]
    local = timestamp_with_offset("us")
    pairs = [(pd.NaT, pd.NA), {"timestamp": 0, "offset_minutes": pd.NA}]
    first, second = array(pairs, local).to_pylist()
    assert first is None
    assert second == dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


def test_times_of_two_units_that_do_not_fit_one_numpy_array() -> None:
    times = [np.datetime64("9999-01-01", "s"), np.datetime64("NaT", "ns"), np.datetime64(1, "D")]
    expected = [dt.datetime(9999, 1, 1), None, dt.datetime(1970, 1, 2)]
    assert array(times, s.timestamp("s")).to_pylist() == expected


def test_nanoseconds_of_pandas_scalars_are_kept() -> None:
    moment, span = pd.Timestamp("2020-01-01 00:00:00.123456789"), pd.Timedelta(1_000_000_789)
    for type_ in (None, s.timestamp("ns")):
        actual = array([None, moment], type_)
        assert np.asarray(actual)[1] == moment.to_datetime64()
        assert (actual == moment).to_pylist() == [None, True]
        assert np.asarray(actual + span)[1] == (moment + span).to_datetime64()
    assert array([span]).type == s.duration("ns")
    assert array([span.floor("us")]).type == s.duration("us")
    with pytest.raises(ValueError, match="not a whole number of us"):
        array([moment], s.timestamp("us"))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: array(pd.Series([1, "a"])), "^values: Series cannot be exported as Arrow: .*'a'"),
        (
            lambda: record_batch({"n": pd.Series(["a", 1.5], dtype=object)}),
            "^n: Series cannot be exported as Arrow: ",
        ),
        (
            lambda: record_batch(pd.DataFrame({"n": [1], "x": [[1, "a"]]})),
            "DataFrame cannot be exported as Arrow: Conversion failed for column x",
        ),
    ],
)
def test_a_mixed_column_of_pandas_is_refused_in_words(
    make: Callable[[], Any], message: str
) -> None:
    with pytest.raises((TypeError, ValueError), match=message) as caught:
        make()
    assert type(caught.value) in (TypeError, ValueError)
    assert "convert them first" in str(caught.value)


def test_no_message_shows_an_address() -> None:
    calls: tuple[Callable[[Any], object], ...] = (
        array,
        lambda odd: array([odd]),
        lambda odd: array([1], odd),
        s.Schema,
    )
    for call in calls:
        with pytest.raises(TypeError, match="expected") as caught:
            call(object())
        assert "0x" not in str(caught.value)


# Batches


def test_a_batch_of_a_mapping() -> None:
    batch = record_batch({"a": [1, None], "b": np.array([1.5, 2.5]), "c": Array(s.null(), 2, [])})
    assert batch.schema.names == ["a", "b", "c"]
    assert batch.schema.types == [s.int64(), s.float64(), s.null()]
    assert batch.to_pydict() == {"a": [1, None], "b": [1.5, 2.5], "c": [None, None]}


def test_a_schema_gives_types_and_order() -> None:
    schema = s.Schema({"b": s.int8(), "a": s.utf8()})
    batch = record_batch({"a": ["x"], "b": [1]}, schema)
    assert batch.schema is schema
    assert batch.to_pylist() == [{"b": 1, "a": "x"}]
    assert record_batch([[1], ["x"]], schema) == batch
    assert record_batch([[1], ["x"]], list(schema)) == batch


def test_a_batch_of_another_library() -> None:
    theirs = pa.record_batch({"a": [1, 2]})
    assert record_batch(theirs) == batch_from_pyarrow(theirs)
    with pytest.raises(ValueError, match="schema: the data has another one"):
        record_batch(theirs, s.Schema({"a": s.int8()}))
    elements = pa.record_batch({"a": pa.array([[1]], pa.list_(pa.field("element", pa.int8())))})
    assert record_batch(elements, s.Schema({"a": s.list_(s.int8())})).to_pydict() == {"a": [[1]]}


def test_what_gives_only_a_stream_keeps_its_types() -> None:
    """Such are columns of polars, chunked arrays and tables: value by value, types would be lost."""
    assert array(pl.Series([1, None], dtype=pl.UInt8)).type == s.uint8()
    assert array(pa.chunked_array([pa.array([1], pa.int8())])).type == s.int8()
    assert record_batch(pl.DataFrame({"a": [1.5]})).to_pydict() == {"a": [1.5]}
    assert record_batch({"a": pl.Series([True])}).schema.types == [s.bool_()]
    with pytest.raises(ValueError, match=r"a stream of 2 arrays .+ `combine_chunks\(\)`"):
        array(pa.chunked_array([[1], [2]]))
    with pytest.raises(ValueError, match="expected int64, got an array of int8"):
        array(pa.chunked_array([pa.array([1], pa.int8())]), s.int64())


def test_columns_are_as_long_as_each_other_and_named() -> None:
    with pytest.raises(ValueError, match="b: 1 values, a has 2"):
        record_batch({"a": [1, 2], "b": [1]})
    with pytest.raises(ValueError, match="need one"):
        record_batch([[1]])
    with pytest.raises(ValueError, match="data: columns"):
        record_batch({"a": [1]}, s.Schema({"b": s.int8()}))
    with pytest.raises(ValueError, match="2 columns for 1 fields"):
        record_batch([[1], [2]], s.Schema({"b": s.int8()}))
    with pytest.raises(TypeError, match=r"a\[1\]: expected an integer"):
        record_batch({"a": [1, "x"]}, s.Schema({"a": s.int8()}))
    with pytest.raises(TypeError, match="name of a column"):
        record_batch({1: [1]})  # type: ignore[dict-item]


def test_only_nulls_need_values_under_them() -> None:
    """A size is a number in a type: it costs nothing until a value has it."""
    lists, binary = s.fixed_size_list(s.int8(), 2**31 - 1), s.fixed_size_binary(2**31 - 1)
    assert len(array([], lists)) == len(array([], binary)) == 0
    for type_ in (lists, binary, s.fixed_size_list(s.fixed_size_list(s.int8(), 2**15), 2**15)):
        with pytest.raises(LimitExceededError, match="over the limit"):
            array([None], type_)
    assert array([None], s.fixed_size_list(s.int8(), 2)).children[0].to_pylist() == [None] * 2
