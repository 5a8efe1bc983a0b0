"""The elements of lists: flattened, counted, attributed, and one of each."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from arrow_oracle import from_pyarrow
from hypothesis import given
from hypothesis import strategies as st
from operations.list_samples import elements, list_samples, lists_in, scattered, slices
from operations.samples import buffer, ints, sample, samples

import colkern.schema as s
from colkern.arrays import Array
from colkern.errors import InvalidArrowError
from colkern.memory import Buffer
from colkern.operations import (
    list_element,
    list_flatten,
    list_parent_indices,
    list_value_length,
    validate,
)

PYARROW_LISTS = ["list", "large_list", "list_view", "large_list_view", "fixed_size_list"]


@pytest.mark.parametrize("name", list_samples())
def test_flatten(name: str) -> None:
    for array in slices(list_samples()[name]):
        flat = list_flatten(array)
        assert flat.to_pylist() == elements(array)
        assert flat.type == array.type.storage.fields[0].type
        validate(flat, full=True)


@pytest.mark.parametrize("name", list_samples())
def test_value_length(name: str) -> None:
    for array in slices(list_samples()[name]):
        lengths = list_value_length(array)
        assert lengths.to_pylist() == [None if v is None else len(v) for v in lists_in(array)]
        large = isinstance(array.type, s.LargeList | s.LargeListView)
        assert lengths.type == (s.int64() if large else s.int32())
        validate(lengths, full=True)


@pytest.mark.parametrize("name", list_samples())
def test_parent_indices(name: str) -> None:
    for array in slices(list_samples()[name]):
        parents = list_parent_indices(array)
        assert parents.to_pylist() == [i for i, v in enumerate(lists_in(array)) for _ in v or ()]
        assert parents.type == s.int64()
        validate(parents, full=True)


@pytest.mark.parametrize("name", PYARROW_LISTS)
def test_agrees_with_pyarrow(name: str) -> None:
    theirs = samples()[name].slice(2, 9)
    ours = from_pyarrow(theirs)
    assert list_flatten(ours).equals(from_pyarrow(pc.list_flatten(theirs)))
    assert list_value_length(ours).equals(from_pyarrow(pc.list_value_length(theirs)))
    assert list_parent_indices(ours).equals(from_pyarrow(pc.list_parent_indices(theirs)))


def test_flatten_does_not_copy_lists_in_a_row() -> None:
    array = sample("list")
    flat = list_flatten(array.slice(4, 2))
    assert flat.buffers == array.children[0].buffers
    assert flat.offset == array.children[0].offset + 3
    views = sample("list_view").slice(0, 1)
    assert list_flatten(views).buffers == views.children[0].buffers
    fixed = from_pyarrow(pa.array([[1, 2], [3, 4]], pa.list_(pa.int8(), 2)))
    assert list_flatten(fixed.slice(1)).buffers == fixed.children[0].buffers


def test_lengths_of_views_are_their_sizes() -> None:
    views = sample("list_view")
    assert list_value_length(views).buffers[1].address == views.buffers[2].address  # type: ignore[union-attr]


def test_a_list_longer_than_an_offset_may_be_shown_twice() -> None:
    # Nulls take no room. Twice so many elements do not fit int32.
    child = Array(s.null(), 2**31 - 1, [])
    sizes = buffer([2**31 - 1] * 2, "<i4")
    views = Array(s.list_view(s.null()), 2, [None, buffer([0, 0], "<i4"), sizes], [child])
    assert list_flatten(views).length == 2**32 - 2


@pytest.mark.parametrize("name", list_samples())
def test_first_elements(name: str) -> None:
    for array in slices(list_samples()[name]):
        values = lists_in(array)
        short = [i for i, v in enumerate(values) if v is not None and not v]
        if short:
            with pytest.raises(IndexError, match=f"the list in slot {short[0]} has length 0"):
                list_element(array, 0)
        else:
            taken = list_element(array, 0)
            assert taken.to_pylist() == [None if v is None else v[0] for v in values]
            validate(taken, full=True)


@pytest.mark.parametrize("name", samples())
def test_element_of_any_type(name: str) -> None:
    views = scattered(sample(name)).slice(0, 5)
    taken = list_element(views.slice(0, 2), 1)
    assert taken.to_pylist() == [v[1] for v in views.slice(0, 2).to_pylist()]
    assert list_element(views, 0).to_pylist() == [v and v[0] for v in views.to_pylist()]


def test_element_agrees_with_pyarrow() -> None:
    theirs = pa.array([[1, 2, 3], None, [4, None, 6]])
    for index in range(3):
        expected = from_pyarrow(pc.list_element(theirs, index))
        assert list_element(from_pyarrow(theirs), index).equals(expected)


def test_elements_that_are_not_there() -> None:
    array = from_pyarrow(pa.array([[1, 2], None, [3]]))
    with pytest.raises(IndexError, match="index 1: the list in slot 2 has length 1"):
        list_element(array, 1)
    with pytest.raises(IndexError, match="index: must not be negative, got -1"):
        list_element(array, -1)


@pytest.mark.parametrize("operation", [list_flatten, list_value_length, list_parent_indices])
def test_what_has_no_lists(operation: Any) -> None:
    with pytest.raises(TypeError, match="array: expected lists, got int64"):
        operation(ints([1]))
    offsets = Buffer.from_object(b"".join(n.to_bytes(4, "little") for n in (0, 2**30)))
    bad = Array(s.list_(s.int64()), 1, [None, offsets], [ints([1])])
    with pytest.raises(InvalidArrowError):
        operation(bad)


def test_extension_over_lists() -> None:
    array = sample("list")
    tagged = Array(
        s.extension("tags", array.type), 12, array.buffers, array.children, null_count=-1
    )
    assert list_flatten(tagged).to_pylist() == elements(array)


@given(
    st.lists(st.none() | st.lists(st.none() | st.integers(0, 99), max_size=12), max_size=60),
    st.data(),
)
def test_lists_of_any_length(values: list[Any], data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from([pa.list_, pa.large_list, pa.list_view, pa.large_list_view]))
    array = from_pyarrow(pa.array(values, kind(pa.int32())))
    begin = data.draw(st.integers(0, len(values)))
    part, values = array.slice(begin), values[begin:]
    assert list_flatten(part).to_pylist() == [e for v in values for e in v or ()]
    assert list_parent_indices(part).to_pylist() == [
        i for i, v in enumerate(values) for _ in v or ()
    ]
