"""`explode`: a row for each element."""

from __future__ import annotations

import itertools
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from arrow_oracle import from_pyarrow
from hypothesis import given
from hypothesis import strategies as st
from operations.device_checks import no_kernels_on_the_host
from operations.list_samples import list_samples, lists_in, slices
from operations.samples import sample, samples

import colkern.schema as s
from colkern.arrays import Array, RecordBatch
from colkern.cuda.stand_in import StandIn
from colkern.operations import explode, nulls, validate
from colkern.operations.moving import to_device, to_host

BOTH = list(itertools.product((False, True), (False, True)))


def exploded(lists: list[Any], empty: bool, null: bool) -> list[tuple[int, Any]]:
    """The row that each element comes from, and the element."""
    results = []
    for row, value in enumerate(lists):
        if value:
            results += [(row, element) for element in value]
        elif null if value is None else empty:
            results.append((row, None))
    return results


@pytest.mark.parametrize("name", list_samples())
def test_explode_lists(name: str) -> None:
    for array in slices(list_samples()[name]):
        rows = from_pyarrow(pa.array(range(array.length)))
        batch = RecordBatch.from_arrays([rows, array], ["row", "lists"])
        for empty, null in BOTH:
            actual = explode(batch, "lists", empty_as_null=empty, keep_nulls=null)
            expected = exploded(lists_in(array), empty, null)
            assert actual["row"].to_pylist() == [row for row, _ in expected]
            assert actual["lists"].to_pylist() == [element for _, element in expected]
            assert actual.num_rows == len(expected)
            validate(actual, full=True)


@pytest.mark.parametrize("name", samples())
@pytest.mark.parametrize("lists", ["list", "list that hides elements", "one long list", "no nulls"])
def test_values_of_other_columns_are_repeated(name: str, lists: str) -> None:
    for array in slices(list_samples()[lists]):
        begin = 12 - array.length
        values = sample(name).slice(begin, array.length)
        batch = RecordBatch.from_arrays([array, values], ["lists", "values"])
        for flag in (False, True):
            actual = explode(batch, 0, empty_as_null=flag, keep_nulls=flag)
            rows = [row for row, _ in exploded(array.to_pylist(), flag, flag)]
            expected = values.to_pylist()
            assert actual["values"].to_pylist() == [expected[row] for row in rows]
            validate(actual, full=True)


@pytest.mark.parametrize(("empty", "null"), BOTH)
def test_agrees_with_polars(empty: bool, null: bool) -> None:
    values = [[1, None], [], None, [3], [4] * 9, [], [5, 6]]
    data = {"a": ["x", None, "z", "u", "v", "w", "y"], "b": values, "c": [1.5, *[None] * 5, 2.0]}
    theirs = pl.DataFrame(data).explode("b", empty_as_null=empty, keep_nulls=null)
    columns = [from_pyarrow(pa.array(column)) for column in data.values()]
    batch = RecordBatch.from_arrays(columns, list(data))
    actual = explode(batch, "b", empty_as_null=empty, keep_nulls=null)
    assert actual.to_pydict() == theirs.to_dict(as_series=False)


def test_schema() -> None:
    lists, numbers = sample("list"), sample("int64, no nulls")
    fields = [s.field("n", numbers.type, False), s.field("l", lists.type, True, {b"k": b"v"})]
    batch = RecordBatch(s.Schema(fields, {b"a": b"b"}), [numbers, lists])
    actual = explode(batch, -1)
    assert actual.schema == s.Schema([fields[0], s.field("l", s.int16())])
    assert actual.schema.fields[1].metadata == {b"k": b"v"}
    assert actual.schema.metadata == {b"a": b"b"}


def test_elements_in_a_row_are_not_copied() -> None:
    lists = list_samples()["list"]
    batch = RecordBatch.from_arrays([lists], ["l"])
    actual = explode(batch, "l", empty_as_null=False, keep_nulls=False)
    assert actual["l"].buffers == lists.children[0].buffers


def test_lists_without_any_element() -> None:
    empty = from_pyarrow(pa.array([[], None, []], pa.list_(pa.string())))
    batch = RecordBatch.from_arrays([empty], ["l"])
    assert explode(batch, "l").to_pydict() == {"l": [None] * 3}
    assert explode(batch, "l", keep_nulls=False).to_pydict() == {"l": [None] * 2}
    assert explode(batch, "l", empty_as_null=False).to_pydict() == {"l": [None]}
    assert explode(batch, "l", empty_as_null=False, keep_nulls=False).num_rows == 0


def test_wrong_columns() -> None:
    batch = RecordBatch.from_arrays([sample("list"), nulls(12, s.null())], ["a", "b"])
    with pytest.raises(TypeError, match="column: expected lists, 'b' has null"):
        explode(batch, "b")
    with pytest.raises(KeyError, match="no field named 'c'"):
        explode(batch, "c")
    with pytest.raises(IndexError):
        explode(batch, 2)


@given(
    st.lists(st.none() | st.lists(st.none() | st.integers(0, 99), max_size=12), max_size=60),
    st.booleans(),
    st.booleans(),
)
def test_any_lists(values: list[Any], empty: bool, null: bool) -> None:
    array: Array = from_pyarrow(pa.array(values, pa.list_(pa.int32())))
    rows = from_pyarrow(pa.array(range(len(values)), pa.int64()))
    batch = RecordBatch.from_arrays([rows, array], ["row", "l"])
    result = explode(batch, "l", empty_as_null=empty, keep_nulls=null)
    results = list(zip(result["row"].to_pylist(), result["l"].to_pylist(), strict=True))
    assert results == exploded(values, empty, null)


def test_columns_without_bytes_beside_lists_on_a_device(device: StandIn) -> None:
    array = from_pyarrow(pa.array([[1, 2], None, [], [3]]))
    lists = Array(s.fixed_size_list(s.null(), 2), 4, [None], [nulls(8, s.null())])
    batch = RecordBatch.from_arrays([nulls(4, s.null()), array, lists], ["n", "l", "f"])
    there = to_device(batch)
    with no_kernels_on_the_host():
        result = explode(there, "l")
    assert to_host(result).to_pydict() == explode(batch, "l").to_pydict()
