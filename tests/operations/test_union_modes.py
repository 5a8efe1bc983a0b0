"""`to_dense_union` and `to_sparse_union`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from operations.samples import ints, sample, samples
from operations.test_unions import dense_of, sparse_of

import colkern.schema as s
from colkern.errors import InvalidArrowError
from colkern.operations import take, to_dense_union, to_sparse_union, validate

IDS = [0, 1, 2, 1, 1, 0, 2, 0, 1, 0]
OFFSETS = [11, 0, 4, 9, 9, 0, 3, 1, 2, 2]
SLICES = ((0, 10), (3, 5), (9, 1), (4, 0))


@pytest.mark.parametrize("name", samples())
def test_any_child_from_dense_to_sparse(name: str) -> None:
    children = [sample(name), sample(name).slice(2), sample("utf8")]
    array = dense_of(children, IDS, OFFSETS)
    for offset, length in SLICES:
        part = array.slice(offset, length)
        sparse = to_sparse_union(part)
        validate(sparse, full=True)
        assert isinstance(array.type, s.Union)
        assert sparse.type == s.sparse_union(array.type.fields, array.type.type_codes)
        assert sparse.to_pylist() == part.to_pylist()
        # As any slots may be picked from it, what is not shown is as sound as what is.
        assert take(sparse, ints(list(range(length)))).to_pylist() == part.to_pylist()
        if sparse.children[2].length:
            hidden = [i for i, child in enumerate(IDS[offset : offset + length]) if child != 2]
            shown = sparse.children[2].to_pylist()
            assert [shown[i] for i in hidden] == [None] * len(hidden)


@pytest.mark.parametrize("name", samples())
def test_any_child_from_sparse_to_dense(name: str) -> None:
    children = [sample(name), sample(name).slice(2), sample("utf8")]
    array = sparse_of(children, IDS)
    for offset, length in SLICES:
        part = array.slice(offset, length)
        dense = to_dense_union(part)
        validate(dense, full=True)
        assert isinstance(array.type, s.Union)
        assert dense.type == s.dense_union(array.type.fields, array.type.type_codes)
        assert dense.to_pylist() == part.to_pylist()
        assert [c.length for c in dense.children] == [
            IDS[offset : offset + length].count(k) for k in range(3)
        ]
        assert to_sparse_union(dense).to_pylist() == part.to_pylist()


@given(st.data())
def test_there_and_back(data: st.DataObject) -> None:
    ids = data.draw(st.lists(st.integers(0, 2), max_size=200))
    numbers = st.none() | st.integers(-9, 9)
    children = [
        ints(data.draw(st.lists(numbers, min_size=len(ids), max_size=len(ids)))) for _ in range(3)
    ]
    array = sparse_of(children, ids)
    dense = to_dense_union(array)
    assert dense.to_pylist() == array.to_pylist()
    assert sum(child.length for child in dense.children) == len(ids)
    assert to_sparse_union(dense).to_pylist() == array.to_pylist()


def test_children_that_nobody_shows() -> None:
    array = dense_of(
        [ints([]), ints([5, 6]), sample("run-end encoded").slice(0, 0)], [1, 1], [1, 0]
    )
    sparse = to_sparse_union(array)
    validate(sparse, full=True)
    assert sparse.to_pylist() == [6, 5]
    assert sparse.children[0].to_pylist() == [None, None]


def test_what_has_the_mode_is_returned() -> None:
    for mode, change in (("dense union", to_dense_union), ("sparse union", to_sparse_union)):
        array = sample(mode)
        assert change(array) is array


def test_what_is_no_union() -> None:
    for change in (to_dense_union, to_sparse_union):
        with pytest.raises(TypeError, match="expected a union, got int64"):
            change(ints([1]))


def test_bad_unions_are_refused() -> None:
    children = [ints([1, 2]), ints([]), ints([])]
    with pytest.raises(InvalidArrowError, match="slot 1: type id 0, offset 0 leads to no value"):
        to_sparse_union(dense_of(children, [0, 1], [0, 0]))
