"""Between the layouts for lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from arrow_oracle import from_pyarrow
from hypothesis import given
from hypothesis import strategies as st
from operations.list_samples import list_samples, scattered, slices
from operations.samples import buffer, ints, sample, samples

import colkern.schema as s
from colkern.arrays import Array
from colkern.errors import LimitExceededError
from colkern.operations import (
    fixed_size_list_to_list,
    list_flatten,
    list_to_fixed_size_list,
    list_to_list_view,
    list_view_to_list,
    list_with_offsets,
    validate,
)

OFFSETS = (s.List, s.LargeList)
VIEWS = (s.ListView, s.LargeListView)


def named(*types: type[s.DataType]) -> list[str]:
    return [name for name, array in list_samples().items() if isinstance(array.type, types)]


def same(actual: Array, array: Array, kind: s.DataType) -> None:
    assert actual.to_pylist() == array.to_pylist()
    assert actual.type == kind
    if actual is not array:
        # Strictly, null views must be in bounds too.
        validate(actual, full=True)


@pytest.mark.parametrize("name", named(*OFFSETS))
def test_lists_as_views(name: str) -> None:
    for array in slices(list_samples()[name]):
        large = isinstance(array.type, s.LargeList)
        result = list_to_list_view(array)
        make = s.large_list_view if large else s.list_view
        same(result, array, make(array.type.fields[0]))
        assert all(map(Array.equals, result.children, array.children))


@pytest.mark.parametrize("name", named(*VIEWS))
def test_views_as_lists(name: str) -> None:
    for array in slices(list_samples()[name]):
        large = isinstance(array.type, s.LargeListView)
        make = s.large_list if large else s.list_
        same(list_view_to_list(array), array, make(array.type.fields[0]))


def test_views_in_order_share_their_elements() -> None:
    for name in ("list", "large_list"):
        array = sample(name)
        actual = list_view_to_list(list_to_list_view(array))
        assert actual.children[0].buffers == array.children[0].buffers
    child = sample("int64, no nulls")
    begins, sizes = buffer([2, 99, 5, 0, 5], "<i4"), buffer([3, 1, 0, 0, 2], "<i4")
    validity = buffer([0b11101], "u1")
    views = Array(s.list_view(s.int64()), 5, [validity, begins, sizes], [child])
    actual = list_view_to_list(views)
    assert actual.to_pylist() == [[2, 3, 4], None, [], [], [5, 6]]
    assert actual.children[0].buffers == child.buffers


def test_views_that_do_not_fit_offsets() -> None:
    child = Array(s.null(), 2**31 - 1, [])
    sizes = buffer([2**31 - 1] * 2, "<i4")
    views = Array(s.list_view(s.null()), 2, [None, buffer([0, 0], "<i4"), sizes], [child])
    with pytest.raises(
        LimitExceededError, match="4294967294 bytes or elements do not fit offsets of int32"
    ):
        list_view_to_list(views)
    actual = list_view_to_list(list_with_offsets(views, 64))
    assert actual.children[0].length == 2**32 - 2


@pytest.mark.parametrize("operation", [list_view_to_list, list_flatten])
def test_views_of_more_elements_than_64_bits_count(operation: Callable[[Array], Array]) -> None:
    child = Array(s.null(), 2**56, [])
    begins, sizes = buffer([0] * 256, "<i8"), buffer([2**56] * 256, "<i8")
    views = Array(s.large_list_view(s.null()), 256, [None, begins, sizes], [child])
    with pytest.raises(LimitExceededError, match=f"{2**64} bytes or elements"):
        operation(views)


@pytest.mark.parametrize("name", [*named(*OFFSETS), *named(*VIEWS)])
def test_another_width_of_offsets(name: str) -> None:
    kinds = [(s.list_, s.large_list), (s.list_view, s.large_list_view)]
    for array in slices(list_samples()[name]):
        small, large = kinds[isinstance(array.type, VIEWS)]
        field = array.type.fields[0]
        same(list_with_offsets(array, 32), array, small(field))
        same(list_with_offsets(array, 64), array, large(field))
    array = list_samples()[name]
    own = 64 if isinstance(array.type, s.LargeList | s.LargeListView) else 32
    assert list_with_offsets(array, own) is array


def test_offsets_too_far_for_32_bits() -> None:
    far = Array(s.null(), 2**40, [])
    near = Array(
        s.large_list(s.null()), 2, [None, buffer([2**35, 2**35 + 1, 2**35 + 3], "<i8")], [far]
    )
    actual = list_with_offsets(near, 32)
    assert actual.to_pylist() == [[None], [None, None]]
    assert actual.children[0].length == 3
    wide = Array(s.large_list(s.null()), 1, [None, buffer([0, 2**31], "<i8")], [far])
    with pytest.raises(LimitExceededError, match="2147483648 elements do not fit offsets of int32"):
        list_with_offsets(wide, 32)
    views = Array(s.large_list_view(s.null()), 0, [None, None, None], [far])
    with pytest.raises(LimitExceededError, match="1099511627776 elements"):
        list_with_offsets(views, 32)


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("name", ["fixed_size_list", "fixed_size_list of 0"])
def test_fixed_size_lists_as_lists(name: str, large: bool) -> None:
    for array in slices(sample(name)):
        actual = fixed_size_list_to_list(array, large=large)
        same(actual, array, (s.large_list if large else s.list_)(array.type.fields[0]))
        assert actual.children[0].buffers == array.children[0].buffers


def test_fixed_size_lists_that_do_not_fit_offsets() -> None:
    array = Array(s.fixed_size_list(s.null(), 2**30), 2, [None], [Array(s.null(), 2**31, [])])
    with pytest.raises(LimitExceededError, match="2147483648 elements"):
        fixed_size_list_to_list(array)
    assert fixed_size_list_to_list(array, large=True).children[0].length == 2**31


def evenly(values: list[Any], kind: Any) -> Array:
    return from_pyarrow(pa.array(values, kind(pa.int32())))


@pytest.mark.parametrize("kind", [pa.list_, pa.large_list, pa.list_view, pa.large_list_view])
def test_lists_as_fixed_size_lists(kind: Any) -> None:
    values = [[1, None, 3], None, [4, 5, 6], None, None, [7, 8, 9], [10, 11, 12]]
    array = evenly(values, kind)
    for part in (array, array.slice(1), array.slice(2, 3), array.slice(5), array.slice(3, 2)):
        actual = list_to_fixed_size_list(part, 3)
        same(actual, part, s.fixed_size_list(s.int32(), 3))
        assert actual.children[0].length == 3 * part.length
    # "The elements … null under nulls."
    shown = list_to_fixed_size_list(array, 3).children[0].to_pylist()
    assert shown == [e for v in values for e in v or [None] * 3]
    same(
        list_to_fixed_size_list(array.slice(0, 0), 5),
        array.slice(0, 0),
        s.fixed_size_list(s.int32(), 5),
    )


def test_fixed_size_lists_there_and_back_share_their_elements() -> None:
    for name in ("fixed_size_list", "fixed_size_list of 0"):
        array = sample(name).slice(2)
        assert isinstance(array.type, s.FixedSizeList)
        size = array.type.list_size
        for large in (False, True):
            lists = fixed_size_list_to_list(array, large=large)
            actual = list_to_fixed_size_list(lists, size)
            assert actual.equals(array)
            assert actual.children[0].buffers == array.children[0].buffers
    views = list_to_list_view(from_pyarrow(pa.array([[1, 2], [3, 4]])))
    assert list_to_fixed_size_list(views, 2).children[0].buffers == views.children[0].buffers


def test_lists_of_the_wrong_length() -> None:
    for kind in (pa.list_, pa.large_list, pa.list_view):
        array = evenly([[1, 2], None, [3, 4], [5], [6, 7]], kind)
        with pytest.raises(ValueError, match="list_size: 2, the list in slot 3 has length 1"):
            list_to_fixed_size_list(array, 2)
        with pytest.raises(ValueError, match="the list in slot 2 has length 1"):
            list_to_fixed_size_list(array.slice(1), 2)


def test_all_null_as_fixed_size_lists() -> None:
    array = evenly([None] * 3, pa.list_)
    actual = list_to_fixed_size_list(array, 2)
    same(actual, array, s.fixed_size_list(s.int32(), 2))
    assert actual.children[0].to_pylist() == [None] * 6


@pytest.mark.parametrize("name", samples())
def test_fixed_size_lists_of_anything(name: str) -> None:
    child = sample(name)
    validity = buffer([0b1011], "u1")
    begins, sizes = buffer([3, 1, 0, 7], "<i4"), buffer([2, 2, 9, 2], "<i4")
    views = Array(s.list_view(child.type), 4, [validity, begins, sizes], [child])
    values = child.to_pylist()
    actual = list_to_fixed_size_list(views, 2)
    assert actual.to_pylist() == [values[3:5], values[1:3], None, values[7:9]]
    assert actual.children[0].slice(4, 2).to_pylist() == [None, None]
    validate(actual, full=True)


@pytest.mark.parametrize(
    ("theirs", "make"),
    [
        (pa.array([[1, 2], None, [3, 4]], pa.list_(pa.int8(), 2)), fixed_size_list_to_list),
        (pa.array([[1, 2], None, [3]]), lambda a: list_with_offsets(a, 64)),
        (
            pa.array([[1, 2], None, [3]], pa.large_list(pa.int8())),
            lambda a: list_with_offsets(a, 32),
        ),
        (pa.array([[1, 2], None, [3, 4]]), lambda a: list_to_fixed_size_list(a, 2)),
    ],
)
def test_agrees_with_pyarrow(theirs: pa.Array, make: Any) -> None:
    result = make(from_pyarrow(theirs))
    to = pa.field("", pa.array(result).type).type
    assert result.equals(from_pyarrow(pc.cast(theirs, to)))


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        (list_to_list_view, "expected list or large_list, got map"),
        (list_view_to_list, "expected list_view or large_list_view, got map"),
        (lambda a: list_to_fixed_size_list(a, 2), "expected list, large_list or a view"),
        (lambda a: list_with_offsets(a, 64), "expected list, large_list or a view"),
        (fixed_size_list_to_list, "expected fixed_size_list, got map"),
    ],
)
def test_other_types(operation: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        operation(sample("map"))


def test_wrong_arguments() -> None:
    with pytest.raises(ValueError, match="bit_width: expected 32 or 64, got 16"):
        list_with_offsets(sample("list"), 16)
    with pytest.raises(TypeError):
        list_with_offsets(ints([1]), 32)


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 20), st.booleans()), max_size=80))
def test_views_anywhere(slots: list[tuple[int, int, bool]]) -> None:
    child = from_pyarrow(pa.array([None if i % 9 == 2 else i for i in range(50)]))
    packed = np.packbits(np.array([ok for *_, ok in slots], bool), bitorder="little")
    columns = [buffer([slot[k] for slot in slots], "<i4") for k in (0, 1)]
    views = Array(s.list_view(s.int64()), len(slots), [buffer(packed, "u1"), *columns], [child])
    same(list_view_to_list(views), views, s.list_(s.int64()))


def test_scattered_views_have_no_order() -> None:
    # Else the samples would prove nothing about copying.
    views = scattered(sample("int64, no nulls"))
    assert list_view_to_list(views).children[0].buffers != views.children[0].buffers


def test_types_of_equal_fields_keep_the_metadata_of_their_own() -> None:
    for value in (b"1", b"2", b"1"):
        field = s.field("item", s.int64(), metadata={b"k": value})
        lists = Array(s.list_(field), 1, [None, buffer([0, 1], "<i4")], [ints([7])])
        assert list_with_offsets(lists, 64).type.fields[0].metadata == {b"k": value}
