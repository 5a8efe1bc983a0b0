"""`equals`: pyarrow's answer, whatever the bytes look like."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from arrow_oracle import from_pyarrow
from arrow_strategies import arrays
from by_hand import buffer, int8s
from hypothesis import given
from hypothesis import strategies as st

import colkern as ck
from colkern import schema as s
from colkern.arrays import Array, RecordBatch
from colkern.arrays.equality import equals
from colkern.errors import InvalidArrowError
from colkern.memory import Buffer

NAN = float("nan")


def same(a: pa.Array, b: pa.Array) -> bool:
    return equals(from_pyarrow(a), from_pyarrow(b))


@given(arrays())
def test_an_array_equals_its_copy_of_other_bytes(array: pa.Array) -> None:
    copy = pa.concat_arrays([array.slice(0, len(array) // 2), array.slice(len(array) // 2)])
    assert same(array, copy) is array.equals(copy)


@given(arrays(length=6), st.integers(0, 4), st.integers(0, 4))
def test_two_slices_are_equal_where_pyarrow_says_so(array: pa.Array, i: int, j: int) -> None:
    a, b = array.slice(i, 2), array.slice(j, 2)
    assert same(a, b) is a.equals(b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (pa.array([NAN]), pa.array([NAN])),
        (pa.array([0.0]), pa.array([-0.0])),
        (pa.array([[NAN]]), pa.array([[NAN]])),
        (pa.array([1, None]), pa.array([1, 0])),
        (pa.array([1], pa.int32()), pa.array([1], pa.int64())),
        (pa.array([1, 2]), pa.array([1])),
        (pa.array(["ab", "c"]), pa.array(["a", "bc"])),
        (pa.array(["a"]), pa.array([b"a"])),
        (pa.nulls(2), pa.nulls(2)),
        (pa.array([], pa.utf8()), pa.array([], pa.utf8())),
        (pa.array(["x" * 20], pa.string_view()), pa.array(["x" * 19 + "y"], pa.string_view())),
        (pa.array(["x" * 12], pa.string_view()), pa.array(["x" * 11 + "y"], pa.string_view())),
    ],
    ids=lambda array: f"{array.type} {array.to_pylist()}",
)
def test_values_compare_as_pyarrow_compares_them(a: pa.Array, b: pa.Array) -> None:
    assert same(a, b) is a.equals(b)


def test_a_not_a_number_does_not_even_equal_itself() -> None:
    array = from_pyarrow(pa.array([NAN]))
    assert not equals(array, array)


def encoded(indices: list[int | None], dictionary: list[str]) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(indices, pa.int8()), pa.array(dictionary))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (encoded([0, 1], ["a", "b"]), encoded([0, 1], ["a", "b"])),
        (encoded([0, 1], ["a", "b"]), encoded([1, 0], ["b", "a"])),
        (encoded([0, 1], ["a", "b"]), encoded([0, 1], ["a", "b", "c"])),
        (encoded([0, None], ["a"]), encoded([0, None], ["a"])),
    ],
)
def test_dictionaries_are_part_of_what_is_compared(a: pa.Array, b: pa.Array) -> None:
    assert same(a, b) is a.equals(b)


def test_runs_may_be_cut_differently() -> None:
    def runs(ends: list[int], values: list[int]) -> pa.Array:
        return pa.RunEndEncodedArray.from_arrays(pa.array(ends, pa.int16()), pa.array(values))

    whole, cut, other = runs([4], [5]), runs([1, 4], [5, 5]), runs([1, 4], [5, 6])
    assert same(whole, cut) is whole.equals(cut) is True
    assert same(whole, other) is whole.equals(other) is False


def test_a_bitmap_of_ones_is_no_bitmap() -> None:
    assert equals(int8s([1, 2]), int8s([1, 2], valid=0b11))


def test_what_stands_under_nulls_plays_no_part() -> None:
    assert equals(int8s([1, 2], valid=0b01), int8s([1, 3], valid=0b01))
    a = Array(s.utf8(), 2, [buffer([1]), buffer([0, 1, 2], "<i4"), Buffer.from_object(b"ab")])
    b = Array(s.utf8(), 2, [buffer([1]), buffer([0, 1, 1], "<i4"), Buffer.from_object(b"a")])
    assert equals(a, b)


def test_padding_of_short_views_plays_no_part() -> None:
    def view(raw: bytes) -> Array:
        return Array(s.utf8_view(), 1, [None, Buffer.from_object(raw)])

    clean = view(b"\x02\0\0\0ab" + bytes(10))
    dirty = view(b"\x02\0\0\0ab" + b"z" * 10)
    assert equals(clean, dirty)


def test_views_may_point_into_other_buffers_in_another_order() -> None:
    first, second = b"the first long value", b"another quite long one"

    def views(order: list[tuple[bytes, int, int]], *data: bytes) -> Array:
        raw = b"".join(
            len(value).to_bytes(4, "little")
            + value[:4]
            + source.to_bytes(4, "little")
            + start.to_bytes(4, "little")
            for value, source, start in order
        )
        buffers = [None, Buffer.from_object(raw), *map(Buffer.from_object, data)]
        return Array(s.binary_view(), len(order), buffers)

    one = views([(first, 0, 0), (second, 0, len(first))], first + second)
    two = views([(first, 1, 3), (second, 0, 0)], second, b"..." + first)
    wrong = views([(first, 1, 0), (second, 0, 0)], second, b"..." + first)
    assert equals(one, two)
    assert not equals(one, wrong)


def test_list_views_may_stand_in_another_order() -> None:
    def lists(offsets: list[int], child: list[int]) -> Array:
        buffers = [None, buffer(offsets, "<i4"), buffer([2, 1], "<i4")]
        return Array(s.list_view(s.int8()), 2, buffers, [int8s(child)])

    assert equals(lists([0, 2], [1, 2, 3]), lists([1, 0], [3, 1, 2]))
    assert not equals(lists([0, 2], [1, 2, 3]), lists([0, 0], [1, 2, 3]))


def test_names_of_list_elements_and_map_entries_play_no_part() -> None:
    """pyarrow writes `item`, Spark and Parquet `element`: the same lists."""
    for a, b in [
        (pa.list_(pa.field("x", pa.int8())), pa.list_(pa.field("y", pa.int8()))),
        (pa.list_(pa.field("x", pa.int8(), nullable=False)), pa.list_(pa.field("x", pa.int8()))),
        (pa.struct({"a": pa.int8()}), pa.struct({"b": pa.int8()})),
        (pa.map_(pa.int8(), pa.int8(), True), pa.map_(pa.int8(), pa.int8())),
    ]:
        empty_a, empty_b = pa.array([], a), pa.array([], b)
        assert same(empty_a, empty_b) is (a == b), (a, b)
    deep = [s.struct([("s", s.list_(s.field(name, s.int8())))]) for name in "xy"]
    assert s.same_type(*deep)
    assert deep[0] != deep[1]


def test_a_tower_of_overlapping_list_views_is_compared_level_by_level() -> None:
    def tower() -> Array:
        array = int8s([1, 2])
        for _ in range(40):
            buffers = [None, buffer([0, 0], "<i4"), buffer([2, 2], "<i4")]
            array = Array(s.list_view(array.type), 2, buffers, [array])
        return array

    assert equals(tower(), tower())


def test_a_large_column_is_compared_in_blocks() -> None:
    data = np.zeros(5_000_000, np.uint8)
    changed = data.copy()
    changed[-1] = 1

    def column(content: np.ndarray[Any, Any]) -> Array:
        return Array(s.binary(), 1, [None, buffer([0, content.size], "<i4"), Buffer(content)])

    assert equals(column(data), column(data.copy()))
    assert not equals(column(data), column(changed))


def test_bad_bytes_are_named() -> None:
    bad = Array(s.utf8(), 1, [None, buffer([0, 9], "<i4"), Buffer.from_object(b"a")])
    with pytest.raises(InvalidArrowError, match="slot 0"):
        equals(bad, bad)


def test_operators_compare_values() -> None:
    numbers = ck.array([1, 2, None])
    assert (numbers == ck.array([1, 3, 3])).to_pylist() == [True, False, None]
    assert (numbers != 1).to_pylist() == [False, True, None]
    with pytest.raises(TypeError, match="right: expected an integer"):
        assert numbers == "1"
    batch = RecordBatch.from_arrays([int8s([1])], ["a"])
    assert batch == RecordBatch.from_arrays([int8s([1])], ["a"])
    assert batch != RecordBatch.from_arrays([int8s([1])], ["b"])


def test_a_column_has_no_truth() -> None:
    """Code that took `==` for one answer gets an error, not another answer."""
    with pytest.raises(TypeError, match=r"truth of a column .*a.equals\(b\)"):
        assert int8s([1]) == int8s([1])
