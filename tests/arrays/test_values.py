"""`to_pylist`: what pyarrow says where pyarrow has an answer; bad bytes are named, never followed."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from arrow_oracle import from_pyarrow
from arrow_strategies import arrays
from by_hand import buffer, int8s, text, with_one_random_buffer
from hypothesis import given
from hypothesis import strategies as st
from present import present

import colkern as ck
from colkern import schema as s
from colkern.arrays import Array
from colkern.arrays.values import DayTime, MonthDayNano, Months, to_pylist
from colkern.builders import array
from colkern.errors import ColkernError, InvalidArrowError, LimitExceededError
from colkern.memory import Buffer


@given(arrays())
def test_values_are_pyarrows(array: pa.Array) -> None:
    assert to_pylist(from_pyarrow(array)) == array.to_pylist()


@given(arrays())
def test_values_have_pyarrows_classes(array: pa.Array) -> None:
    theirs = [type(value).__name__ for value in array.to_pylist()]
    assert [type(value).__name__ for value in to_pylist(from_pyarrow(array))] == theirs


def test_one_slot_of_each_is_what_the_whole_says() -> None:
    array = from_pyarrow(pa.array([[1, None], None, [], [2]]))
    assert [array[i] for i in range(4)] == list(array) == [[1, None], None, [], [2]]


def test_not_a_number_and_zeros_keep_their_signs() -> None:
    nan, plus, minus = to_pylist(from_pyarrow(pa.array([float("nan"), 0.0, -0.0])))
    assert nan != nan
    assert (str(plus), str(minus)) == ("0.0", "-0.0")


# What pyarrow answers through pandas, or not at all


def test_nanoseconds_are_numpy_scalars() -> None:
    def ns(type_: s.DataType) -> list[Any]:
        return to_pylist(Array(type_, 1, [None, buffer([1_001], "<i8")]))

    assert ns(s.timestamp("ns")) == [np.datetime64(1_001, "ns")]
    assert ns(s.timestamp("ns", "Europe/Paris")) == [np.datetime64(1_001, "ns")]
    assert ns(s.duration("ns")) == [np.timedelta64(1_001, "ns")]
    assert ns(s.time64("ns")) == [np.timedelta64(1_001, "ns")]


@pytest.mark.parametrize(
    ("type_", "dtype", "number", "scalar"),
    [
        (s.date32(), "<i4", 2**30, np.datetime64(2**30, "D")),
        (s.date64(), "<i8", 2**60, np.datetime64(2**60, "ms")),
        (s.time32("s"), "<i4", 86_400, np.timedelta64(86_400, "s")),
        (s.time64("us"), "<i8", -1, np.timedelta64(-1, "us")),
        (s.timestamp("s"), "<i8", 2**62, np.datetime64(2**62, "s")),
        (s.timestamp("us", "UTC"), "<i8", -(2**62), np.datetime64(-(2**62), "us")),
        (s.duration("ms"), "<i8", 2**62, np.timedelta64(2**62, "ms")),
    ],
    ids=str,
)
def test_what_python_cannot_hold_is_a_numpy_scalar(
    type_: s.DataType, dtype: str, number: int, scalar: object
) -> None:
    (value,) = to_pylist(Array(type_, 1, [None, buffer([number], dtype)]))
    assert value == scalar
    assert type(value) is type(scalar)


def test_the_least_integer_is_numpys_not_a_time_and_no_null() -> None:
    (value,) = to_pylist(Array(s.timestamp("us"), 1, [None, buffer([-(2**63)], "<i8")]))
    assert np.isnat(value)


def test_ends_of_the_calendar_are_python_datetimes() -> None:
    micros = [-62_135_596_800_000_000, 253_402_300_799_999_999]
    array = Array(s.timestamp("us"), 2, [None, buffer(micros, "<i8")])
    assert to_pylist(array) == [dt.datetime.min, dt.datetime.max]
    days = Array(s.date32(), 2, [None, buffer([-719_162, 2_932_896], "<i4")])
    assert to_pylist(days) == [dt.date.min, dt.date.max]


def test_ends_of_timedelta_are_python_timedeltas() -> None:
    most = 999_999_999 * 86_400
    array = Array(s.duration("s"), 2, [None, buffer([most, most + 1], "<i8")])
    inside, outside = to_pylist(array)
    assert inside == dt.timedelta(days=999_999_999)
    assert outside == np.timedelta64(most + 1, "s")


def test_a_zone_may_push_the_ends_of_the_calendar_out_of_it() -> None:
    array = Array(s.timestamp("us", "-01:00"), 1, [None, buffer([-62_135_596_800_000_000], "<i8")])
    assert to_pylist(array) == [np.datetime64("0001-01-01T00:00:00.000000", "us")]


@pytest.mark.parametrize("zone", ["Middle/Earth", "+25:00", "+1:00", "../../etc/passwd", "\0"])
def test_unknown_timezone_is_named(zone: str) -> None:
    with pytest.raises(InvalidArrowError, match="timezone"):
        to_pylist(Array(s.timestamp("s", zone), 1, [None, buffer([0], "<i8")]))


def test_intervals_are_named_tuples() -> None:
    months = Array(s.month_interval(), 1, [None, buffer([-5], "<i4")])
    days = Array(s.day_time_interval(), 1, [None, buffer([1, -2], "<i4")])
    nanos = Array(s.month_day_nano_interval(), 1, [None, buffer([1, 2, 3, 0], "<i4")])
    assert to_pylist(months) == [Months(-5)]
    assert to_pylist(days) == [DayTime(1, -2)]
    assert to_pylist(nanos) == [MonthDayNano(1, 2, 3)]


def test_decimals_have_all_their_digits_whatever_the_context() -> None:
    digits = 10**76 - 1
    array = Array(
        s.decimal256(76, 70), 1, [None, Buffer.from_object(digits.to_bytes(32, "little"))]
    )
    assert to_pylist(array) == [Decimal(f"999999.{'9' * 70}")]


def test_duplicate_field_names_keep_every_value() -> None:
    type_ = s.struct([("a", s.int8()), ("a", s.int8())])
    array = Array(type_, 2, [None], [int8s([1, 2]), int8s([3, 4])])
    assert to_pylist(array) == [[("a", 1), ("a", 3)], [("a", 2), ("a", 4)]]


def test_struct_without_fields_gives_a_dict_a_slot() -> None:
    first, second = to_pylist(Array(s.struct([]), 2, [None]))
    assert first == second == {}
    assert first is not second


def test_extension_values_are_storage_values() -> None:
    stored = text(b"ab", [0, 1, 2])
    array = Array(s.extension("x.y", s.utf8()), 2, stored.buffers)
    assert to_pylist(array) == ["a", "b"]


def test_fixed_size_binary_without_bytes() -> None:
    assert to_pylist(Array(s.fixed_size_binary(0), 3, [None, None])) == [b"", b"", b""]


def test_list_views_may_overlap_and_run_backwards() -> None:
    buffers = [None, buffer([2, 0, 1], "<i4"), buffer([1, 3, 2], "<i4")]
    array = Array(s.list_view(s.int8()), 3, buffers, [int8s([7, 8, 9])])
    assert to_pylist(array) == [[9], [7, 8, 9], [8, 9]]


def test_a_tower_of_overlapping_list_views_costs_its_levels_not_their_product() -> None:
    array = int8s([1, 2])
    for _ in range(60):
        buffers = [None, buffer([0, 0], "<i4"), buffer([2, 2], "<i4")]
        array = Array(s.list_view(array.type), 2, buffers, [array])
    value = to_pylist(array)
    for _ in range(60):
        value = value[1]
    assert value == [1, 2]


def test_an_empty_array_needs_no_offset() -> None:
    assert to_pylist(Array(s.utf8(), 0, [None, None, None])) == []
    assert to_pylist(Array(s.list_(s.int8()), 0, [None, None], [int8s([])])) == []


# Bad bytes


def test_what_stands_under_a_null_is_not_looked_at() -> None:
    bad = Buffer.from_object(b"\xff")
    array = Array(s.utf8(), 2, [buffer([0b10]), buffer([0, 1, 1], "<i4"), bad])
    assert to_pylist(array) == [None, ""]
    wild = Array(s.dictionary(s.int8(), s.int8()), 1, [buffer([0]), buffer([99])], (), int8s([]))
    assert to_pylist(wild) == [None]


@pytest.mark.parametrize("offsets", [[0, 1, 9], [0, 2, 1], [-1, 0, 1], [0, 2**31 - 1, 1]])
def test_offsets_that_leave_the_data_name_their_slot(offsets: list[int]) -> None:
    with pytest.raises(InvalidArrowError, match=r"slot [01]: offsets"):
        to_pylist(text(b"ab", offsets))
    child = int8s([1, 2])
    lists = Array(s.list_(s.int8()), 2, [None, buffer(offsets, "<i4")], [child])
    with pytest.raises(InvalidArrowError, match=r"slot [01]: offsets"):
        to_pylist(lists)


def test_invalid_utf8_names_its_slot_counted_from_the_start_of_the_slice() -> None:
    array = text(b"a\xc3\xa9\xffb", [0, 1, 3, 4, 5])
    with pytest.raises(InvalidArrowError, match=r"slot 2: not UTF-8"):
        to_pylist(array)
    with pytest.raises(InvalidArrowError, match=r"slot 1: not UTF-8"):
        to_pylist(array.slice(1))
    assert to_pylist(array.slice(0, 2)) == ["a", "é"]


def test_a_boundary_inside_a_character_is_not_utf8() -> None:
    with pytest.raises(InvalidArrowError, match="slot 0"):
        to_pylist(text("é".encode(), [0, 1, 2]))


def test_nested_errors_carry_the_path() -> None:
    inner = text(b"\xff", [0, 1])
    array = Array(s.struct([("name", s.utf8())]), 1, [None], [inner])
    with pytest.raises(InvalidArrowError, match=r"^name, slot 0: not UTF-8"):
        to_pylist(array)


@pytest.mark.parametrize("index", [-1, 2, 127])
def test_dictionary_indices_lie_in_the_dictionary(index: int) -> None:
    type_ = s.dictionary(s.int8(), s.int8())
    array = Array(type_, 2, [None, buffer([0, index], "i1")], (), int8s([1, 2]))
    with pytest.raises(InvalidArrowError, match=rf"slot 1: index {index} "):
        to_pylist(array)


def test_unsigned_64_bit_indices_do_not_wrap_around() -> None:
    type_ = s.dictionary(s.uint64(), s.int8())
    array = Array(type_, 1, [None, buffer([2**64 - 1], "<u8")], (), int8s([1, 2]))
    with pytest.raises(InvalidArrowError, match=r"slot 0: index 18446744073709551615"):
        to_pylist(array)


def test_unknown_type_ids_are_named() -> None:
    type_ = s.sparse_union([("a", s.int8())], [5])
    array = Array(type_, 2, [buffer([5, 6])], [int8s([1, 2])])
    with pytest.raises(InvalidArrowError, match="slot 1: type id 6"):
        to_pylist(array)


@pytest.mark.parametrize("place", [-1, 2])
def test_dense_union_offsets_lie_in_their_child(place: int) -> None:
    type_ = s.dense_union([("a", s.int8())])
    array = Array(type_, 1, [buffer([0]), buffer([place], "<i4")], [int8s([1, 2])])
    with pytest.raises(InvalidArrowError, match=f"slot 0: index {place} into child 0"):
        to_pylist(array)


@pytest.mark.parametrize("ends", [[2, 1, 4], [0, 2, 4], [-1, 2, 4], [2, 2, 4], [3, -1, 4]])
def test_run_ends_increase_from_above_zero(ends: list[int]) -> None:
    type_ = s.run_end_encoded(s.int16(), s.int8())
    run_ends = Array(s.int16(), 3, [None, buffer(ends, "<i2")])
    with pytest.raises(InvalidArrowError, match="run ends must"):
        to_pylist(Array(type_, 4, [], [run_ends, int8s([1, 2, 3])]))


def test_run_ends_reach_the_end() -> None:
    type_ = s.run_end_encoded(s.int16(), s.int8())
    run_ends = Array(s.int16(), 2, [None, buffer([1, 3], "<i2")])
    with pytest.raises(InvalidArrowError, match="stop before 4 slots"):
        to_pylist(Array(type_, 4, [], [run_ends, int8s([1, 2])]))
    with pytest.raises(InvalidArrowError, match="1 values stop before"):
        to_pylist(Array(type_, 3, [], [run_ends, int8s([1])]))


def test_run_ends_are_never_null() -> None:
    type_ = s.run_end_encoded(s.int16(), s.int8())
    run_ends = Array(s.int16(), 2, [buffer([0b01]), buffer([1, 3], "<i2")])
    with pytest.raises(InvalidArrowError, match="run 1: a run end is null"):
        to_pylist(Array(type_, 3, [], [run_ends, int8s([1, 2])]))


@pytest.mark.parametrize(
    ("view", "message"),
    [
        ([-1, 0, 0, 0], "view of -1 bytes"),
        ([20, 0, 1, 0], "data buffer 1 of 1"),
        ([20, 0, -1, 0], "data buffer -1 of 1"),
        ([20, 0, 0, 11], "20 bytes from 11"),
        ([20, 0, 0, -1], "20 bytes from -1"),
        ([2**31 - 1, 0, 0, 2**31 - 1], "in a data buffer of 30"),
    ],
)
def test_views_stay_in_their_data_buffer(view: list[int], message: str) -> None:
    data = Buffer.from_object(bytes(30))
    array = Array(s.binary_view(), 1, [None, buffer(view, "<i4"), data])
    with pytest.raises(InvalidArrowError, match=f"slot 0: .*{message}"):
        to_pylist(array)


def test_list_views_and_fixed_size_lists_stay_in_their_child() -> None:
    for offset, size in [(0, 3), (3, 0), (-1, 1), (1, -1)]:
        buffers = [None, buffer([offset], "<i4"), buffer([size], "<i4")]
        with pytest.raises(InvalidArrowError, match="slot 0: offset"):
            to_pylist(Array(s.list_view(s.int8()), 1, buffers, [int8s([1, 2])]))
    with pytest.raises(InvalidArrowError, match="need 4 values"):
        to_pylist(Array(s.fixed_size_list(s.int8(), 2), 2, [None], [int8s([1, 2, 3])]))


def test_children_beside_their_parent_are_as_long() -> None:
    short = Array(s.struct([("a", s.int8())]), 2, [None], [int8s([1])])
    with pytest.raises(InvalidArrowError, match="child 0 has 1 values, 2 are needed"):
        to_pylist(short)


def test_more_elements_than_can_be_counted_are_refused() -> None:
    child = Array(s.null(), 2**62, [])
    sizes = [2**62] * 4
    buffers = [None, buffer([0] * 4, "<i8"), buffer(sizes, "<i8")]
    with pytest.raises(LimitExceededError):
        to_pylist(Array(s.large_list_view(s.null()), 4, buffers, [child]))


@given(arrays(), st.data())
def test_no_bytes_make_it_crash(array: pa.Array, data: st.DataObject) -> None:
    """One buffer of any content gives values, or an error that says where."""
    broken = with_one_random_buffer(from_pyarrow(array), data)
    try:
        values = to_pylist(broken)
    except ColkernError:
        return
    assert len(values) == len(array)


# For NumPy


@pytest.mark.parametrize("data_type", [s.int8(), s.uint64(), s.float16(), s.float64()], ids=str)
def test_numbers_without_nulls_are_numpys_without_a_copy(data_type: s.DataType) -> None:
    column = array([0, 1, 2], data_type).slice(1)
    actual = np.asarray(column)
    assert (actual.tolist(), actual.flags.writeable) == ([1, 2], False)
    assert actual.ctypes.data == present(column.buffers[1]).address + actual.itemsize
    assert np.array(column, copy=True).flags.writeable
    assert np.asarray(column, np.float32).dtype == np.float32


@pytest.mark.parametrize(
    "values",
    [[1, None], [True, False], ["a", "b"], [dt.date(2024, 2, 29)], [[1], [2, 3]], [[1], [2]], []],
    ids=str,
)
def test_other_values_are_those_of_a_list(values: list[Any]) -> None:
    column = array(values, s.utf8() if not values else None)
    result = np.asarray(column)
    assert (result.shape, result.tolist()) == ((len(values),), values)
    with pytest.raises(ValueError, match="by a copy"):
        np.array(column, copy=False)


@given(arrays())
def test_an_array_of_numpys_has_one_item_for_each_value(array: pa.Array) -> None:
    column = from_pyarrow(array)
    actual = np.asarray(column)
    assert actual.shape == (len(array),)
    assert list(actual) == array.to_pylist()
    assert actual.itemsize <= 8


def test_numpys_text_and_bytes_are_whole_and_take_what_they_need() -> None:
    for values in (
        ["a\0\0", "", "\0", None],
        [b"\0", b"ab\0", b""],
        ["", "x" * 10**6] + ["y"] * 5000,
    ):
        actual = np.asarray(array(values))
        assert actual.tolist() == values
        assert actual.nbytes == 8 * len(values)


INTERVALS = [
    (s.month_interval(), [Months(1), Months(2)]),
    (s.day_time_interval(), [DayTime(1, 2), DayTime(3, 4)]),
    (s.month_day_nano_interval(), [MonthDayNano(1, 2, 3), MonthDayNano(4, 5, 6)]),
]


@pytest.mark.parametrize(("type_", "values"), INTERVALS, ids=str)
def test_intervals_are_objects_for_numpy(type_: s.DataType, values: list[Any]) -> None:
    result = np.asarray(array(values, type_))
    assert (result.shape, result.tolist()) == ((2,), values)


def test_numbers_of_a_union_keep_their_classes_in_numpy() -> None:
    ids, children = pa.array([0, 1], pa.int8()), [pa.array([2**53 + 1, 0]), pa.array([0.0, 0.5])]
    actual = np.asarray(from_pyarrow(pa.UnionArray.from_sparse(ids, children)))
    assert actual.tolist() == [2**53 + 1, 0.5]


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        (pa.array([1, 2], pa.uint8()), "u1"),
        (pa.array([1.5, 2.0], pa.float32()), "f4"),
        (pa.array([True, False]), "?"),
        (pa.array([1, 2], pa.timestamp("ns")), "M8[ns]"),
        (pa.array([1, 2], pa.duration("ns")), "m8[ns]"),
        (pa.array([1, 2], pa.time64("ns")), "m8[ns]"),
        (pa.array(["a", "b"]), "O"),
        (pa.array([Decimal(1), Decimal(2)]), "O"),
        (pa.array([1, 2], pa.timestamp("us")), "O"),
    ],
    ids=lambda value: str(value.type) if isinstance(value, pa.Array) else value,
)
def test_numpys_type_follows_from_the_type_and_whether_there_are_nulls(
    values: pa.Array, dtype: str
) -> None:
    for plain in (values, values.slice(0, 0)):
        assert np.asarray(from_pyarrow(plain)).dtype == dtype
        assert np.asarray(from_pyarrow(plain.dictionary_encode())).dtype == dtype
    with_null = pa.concat_arrays([values, pa.nulls(1, values.type)])
    assert np.asarray(from_pyarrow(with_null)).dtype == object


def test_a_type_of_numpys_without_a_value_for_nulls_is_refused() -> None:
    numbers, flags = array([1, None]), array([True, None])
    assert np.isnan(np.asarray(numbers, float)).tolist() == [False, True]
    assert np.isnat(np.asarray(array([dt.date(2024, 2, 29), None]), "M8[D]")).tolist() == [
        False,
        True,
    ]
    for column, dtype in ((numbers, "i8"), (flags, "?")):
        with pytest.raises(ValueError, match=r"dtype: .* has no value for nulls, and there are 1"):
            np.asarray(column, dtype)
    text = array(["a", None])
    with pytest.raises(ValueError, match=r"dtype: <U5 has no value for nulls, and there are 1"):
        np.asarray(text, "U5")
    # Without a length, NumPy converts the objects itself.
    assert np.asarray(text, "U").tolist() == ["a", "None"]


@pytest.mark.parametrize("dtype", [int, "f8", "U5", "M8[s]"])
@pytest.mark.parametrize(
    "column",
    [
        array([[1], [2]]),
        array([None, {"a": 1}]),
        array([{"a": 1}], s.map_("utf8", "int8")),
        array([[1, 2]], ck.fixed_shape_tensor("int8", [2])),
    ],
    ids=["list", "struct", "map", "tensor"],
)
def test_nested_values_have_no_numpy_type(column: Any, dtype: Any) -> None:
    assert np.asarray(column, object).dtype == object
    with pytest.raises(TypeError, match=r"^dtype: values of .* are nested and have no NumPy type"):
        np.asarray(column, dtype)
