"""Unions: `select_child` and `gather_union`."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from arrow_oracle import from_pyarrow
from hypothesis import given
from hypothesis import strategies as st
from operations.device_checks import no_kernels_on_the_host
from operations.samples import buffer, ints, sample, samples

import colkern.schema as s
from colkern.arrays import Array
from colkern.cuda.stand_in import StandIn
from colkern.errors import InvalidArrowError
from colkern.operations import gather_union, nulls, select_child, validate
from colkern.operations.moving import to_device, to_host

CODES = [7, 0, 127]


def dense_of(children: list[Array], ids: list[int], offsets: list[int]) -> Array:
    fields = [s.field(str(k), child.type) for k, child in enumerate(children)]
    buffers = [buffer([CODES[i] for i in ids], "i1"), buffer(offsets, "<i4")]
    return Array(s.dense_union(fields, CODES), len(ids), buffers, children)


def sparse_of(children: list[Array], ids: list[int]) -> Array:
    fields = [s.field(str(k), child.type) for k, child in enumerate(children)]
    return Array(
        s.sparse_union(fields, CODES), len(ids), [buffer([CODES[i] for i in ids], "i1")], children
    )


@pytest.mark.parametrize("mode", ["dense union", "sparse union"])
@pytest.mark.parametrize(("offset", "length"), [(0, 12), (1, 7), (4, 8), (6, 0)])
def test_select_child(mode: str, offset: int, length: int) -> None:
    array = sample(mode).slice(offset, length)
    ids = samples()[mode].type_codes.to_pylist()[offset : offset + length]
    values = array.to_pylist()
    for child, code in enumerate((5, 3)):
        slots, shown = select_child(array, child)
        assert slots.to_pylist() == [i for i in range(length) if ids[i] == code]
        assert shown.to_pylist() == [values[i] for i in slots.to_pylist()]
        validate(shown, full=True)


def test_select_child_over_many_blocks() -> None:
    ids = [k * k % 3 for k in range(1000)]
    array = sparse_of([ints([k * 10 + c for k in range(1000)]) for c in range(3)], ids)
    for child in range(3):
        slots, shown = select_child(array, child)
        expected = [k for k in range(1000) if ids[k] == child]
        assert slots.to_pylist() == expected
        assert shown.to_pylist() == [k * 10 + child for k in expected]


def test_select_child_there_is_not() -> None:
    for child in (-1, 2):
        with pytest.raises(IndexError, match=f"child {child} of a union of 2"):
            select_child(sample("dense union"), child)
    with pytest.raises(TypeError, match="expected a union, got int64"):
        select_child(ints([1]), 0)


# `gather_union`: the same values from any layout of the children


@pytest.mark.parametrize("name", samples())
def test_gather_any_layout(name: str) -> None:
    values = sample(name).to_pylist()
    children = [sample(name), sample(name).slice(2), sample(name)]
    ids = [0, 1, 2, 1, 1, 0, 2, 0, 1, 0]
    offsets = [11, 0, 4, 9, 9, 0, 3, 1, 2, 2]
    starts = [0, 2, 0]
    expected = [values[o + starts[c]] for c, o in zip(ids, offsets, strict=True)]
    array = dense_of(children, ids, offsets)
    gathered = gather_union(array)
    assert gathered.to_pylist() == expected
    assert gathered.type == sample(name).type
    validate(gathered, full=True)
    assert gather_union(array.slice(3, 5)).to_pylist() == expected[3:8]
    assert gather_union(array.slice(3, 0)).to_pylist() == []

    sparse = sparse_of(children, ids)
    expected = [values[k + starts[c]] for k, c in enumerate(ids)]
    assert gather_union(sparse).to_pylist() == expected
    part = gather_union(sparse.slice(4, 6))
    assert part.to_pylist() == expected[4:]
    validate(part, full=True)


@given(st.data())
def test_gather_any_slots(data: st.DataObject) -> None:
    numbers = st.lists(st.none() | st.integers(-99, 99), min_size=1, max_size=9)
    lists = [data.draw(numbers) for _ in range(3)]
    ids = data.draw(st.lists(st.integers(0, 2), max_size=70))
    offsets = [data.draw(st.integers(0, len(lists[c]) - 1)) for c in ids]
    array = dense_of([ints(values) for values in lists], ids, offsets)
    expected = [lists[c][o] for c, o in zip(ids, offsets, strict=True)]
    gathered = gather_union(array)
    assert gathered.to_pylist() == expected
    assert gathered.null_count == expected.count(None)


def test_gather_agrees_with_taking_apart() -> None:
    gathered: list[Any] = [None] * 12
    array = sample("sparse union")
    for child in (0, 1):
        slots, shown = select_child(array, child)
        for slot, value in zip(slots.to_pylist(), shown.to_pylist(), strict=True):
            gathered[slot] = value
    assert gathered == array.to_pylist()


def test_gather_wants_one_type() -> None:
    with pytest.raises(TypeError, match="its children must be of one type"):
        gather_union(sample("dense union"))
    with pytest.raises(TypeError, match="expected a union, got int64"):
        gather_union(ints([1]))


def test_bad_unions_are_refused() -> None:
    children = [ints([1, 2]), ints([]), ints([])]
    with pytest.raises(InvalidArrowError, match="slot 1: type id 0, offset 0 leads to no value"):
        gather_union(dense_of(children, [0, 1], [0, 0]))
    with pytest.raises(InvalidArrowError, match="slot 0: type id 7, offset 2"):
        select_child(dense_of(children, [0], [2]), 0)


def test_gather_with_children_that_nobody_shows() -> None:
    empty = from_pyarrow(pa.array([], pa.utf8()))
    array = dense_of([empty, from_pyarrow(pa.array(["a", None])), empty], [1, 1], [1, 0])
    assert gather_union(array).to_pylist() == [None, "a"]


@pytest.mark.parametrize("of", [dense_of, sparse_of])
def test_gather_children_without_bytes_on_a_device(of: Any, device: StandIn) -> None:
    lists = Array(s.fixed_size_list(s.null(), 2), 3, [None], [nulls(6, s.null())])
    for child in (nulls(3, s.null()), lists):
        array = of([child] * 3, [2, 0, 1], *([[1, 0, 2]] if of is dense_of else []))
        there = to_device(array)
        with no_kernels_on_the_host():
            gathered = gather_union(there)
        assert to_host(gathered).to_pylist() == child.to_pylist()


def test_gather_structs_that_begin_without_bytes_on_a_device(device: StandIn) -> None:
    fields = [s.field("n", s.null()), s.field("i", s.int64())]
    child = Array(s.struct(fields), 3, [None], [nulls(3, s.null()), ints([1, None, 3])])
    array = sparse_of([child] * 3, [2, 0, 1])
    there = to_device(array)
    with no_kernels_on_the_host():
        gathered = gather_union(there)
    assert gathered.children[1].device.kind == "cuda"
    assert to_host(gathered).to_pylist() == child.to_pylist()
