"""Which slots are null, and what is put in their place: every layout, against its plain values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from arrow_oracle import from_pyarrow
from operations.device_checks import no_kernels_on_the_host
from operations.samples import sample, samples

import colkern as ck
from colkern.arrays import Array
from colkern.cuda.stand_in import StandIn
from colkern.operations.moving import to_device, to_host


def forward(values: list[Any]) -> list[Any]:
    last, result = None, []
    for value in values:
        last = last if value is None else value
        result.append(last)
    return result


def backward(values: list[Any]) -> list[Any]:
    return forward(values[::-1])[::-1]


WHOLE: dict[str, Callable[[list[Any]], list[Any]]] = {
    "is_null": lambda values: [value is None for value in values],
    "is_valid": lambda values: [value is not None for value in values],
    "fill_null_forward": forward,
    "fill_null_backward": backward,
    "drop_null": lambda values: [value for value in values if value is not None],
    "shift": lambda values: [None, *values][: len(values)],
}
"""Functions of an array, and what they give for a list."""


@pytest.mark.parametrize("name", samples())
def test_slots_are_null_by_what_they_stand_for(name: str) -> None:
    for array in (sample(name), sample(name).slice(3, 8), sample(name).slice(5, 0)):
        for function, plain in WHOLE.items():
            actual = getattr(ck, function)(array)
            actual.validate(full=True)
            assert actual.to_pylist() == plain(array.to_pylist()), function


@pytest.mark.parametrize(
    "name", ["int8", "utf8", "dictionary", "run-end encoded", "list", "struct"]
)
def test_functions_of_nulls_run_where_the_bytes_are(name: str, device: StandIn) -> None:
    array = sample(name)
    moved = to_device(array)
    for function, plain in WHOLE.items():
        with no_kernels_on_the_host():
            result = getattr(ck, function)(moved)
        assert to_host(result).to_pylist() == plain(array.to_pylist()), function


FLAT = (
    "bool",
    "int8",
    "float16",
    "decimal128",
    "timestamp",
    "date32",
    "utf8",
    "utf8_view",
    "binary_view",
)


@pytest.mark.parametrize("name", FLAT)
def test_a_value_in_place_of_nulls(name: str) -> None:
    array, theirs = sample(name), samples()[name]
    value = next(value for value in array.to_pylist() if value is not None)
    expected = [value if each is None else each for each in theirs.to_pylist()]
    actual = ck.fill_null(array, value)
    assert actual.type == array.type
    assert actual.to_pylist() == expected
    assert (
        ck.fill_null(array, ck.reverse(array)).to_pylist()
        == ck.coalesce(array, ck.reverse(array)).to_pylist()
    )


def test_encoded_arrays_stay_encoded_when_nulls_are_filled() -> None:
    runs, words = ck.run_end_encode(ck.array([1, 1, None])), ck.array(["a", None])
    assert ck.fill_null(runs, 0).equals(ck.run_end_encode(ck.array([1, 1, 0])))
    filled = ck.fill_null(ck.dictionary_encode(words), "b")
    assert filled.type == ck.dictionary_encode(words).type
    assert filled.to_pylist() == ["a", "b"]


def test_nulls_of_a_dictionary_are_filled() -> None:
    theirs = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 0], pa.int8()), ["a", None])
    encoded = ck.array(theirs)
    assert ck.fill_null(encoded, "b").to_pylist() == ["a", "b", "b", "a"]
    assert ck.coalesce(encoded, ck.reverse(encoded), "c").to_pylist() == ["a", "c", "c", "a"]


def test_the_first_value_that_is_not_null() -> None:
    first, second = [1, None, None], [4, 5, None]
    arrays = ck.array(first), ck.array(second)
    assert (
        ck.coalesce(*arrays).to_pylist() == pc.coalesce(*map(pa.array, (first, second))).to_pylist()
    )
    assert ck.coalesce(*arrays, 9).to_pylist() == [1, 5, 9]
    assert ck.coalesce(None, 7, arrays[0]).to_pylist() == [7, 7, 7]
    with pytest.raises(TypeError, match="expected an Array"):
        ck.coalesce(1, 2)


def test_nulls_without_a_type_get_that_of_what_fills_them() -> None:
    none, numbers = ck.nulls(2, "null"), ck.array([1, None])
    assert ck.fill_null(none, 1.5).equals(ck.array([1.5, 1.5]))
    assert ck.fill_null(none, None).equals(none)
    assert ck.coalesce(none, numbers, 3).equals(ck.array([1, 3]))
    assert ck.if_else(ck.array([True, False]), none, "a").equals(ck.array([None, "a"]))
    assert ck.case_when([ck.array([True, False])], numbers, none).equals(ck.array([1, None]))


def test_nan_may_count_as_null() -> None:
    values = pa.array([1.0, None, float("nan")])
    plain = from_pyarrow(values)
    for array in (plain, ck.dictionary_encode(plain), ck.run_end_encode(plain)):
        actual = ck.is_null(array, nan_is_null=True)
        assert actual.to_pylist() == pc.is_null(values, nan_is_null=True).to_pylist()


def test_the_first_case_that_is_true() -> None:
    conditions = [[True, None, False, False], [True, True, None, False]]
    theirs = pc.make_struct(*map(pa.array, conditions), field_names=["a", "b"])
    cases = pa.array([1, 2, 3, 4]), pa.array([10, 20, 30, 40])
    ours: list[Array] = [*map(from_pyarrow, cases)]
    for extra in ([], [-1]):
        expected = pc.case_when(theirs, *cases, *extra).to_pylist()
        assert ck.case_when([*map(ck.array, conditions)], *ours, *extra).to_pylist() == expected
        assert ck.case_when(from_pyarrow(theirs), *ours, *extra).to_pylist() == expected
    with pytest.raises(ValueError, match="cases: 3 for 1 conditions"):
        ck.case_when([ck.array([True])], 1, 2, 3)
    with pytest.raises(
        TypeError, match=r"conditions\[0\]: expected an Array of booleans, got tuple"
    ):
        ck.case_when([(ck.array([True]), 1)], 2)  # type: ignore[list-item]


def test_values_that_come_in_from_the_side() -> None:
    array = ck.array([1, 2, 3])
    assert ck.shift(array, 2).to_pylist() == [None, None, 1]
    assert ck.shift(array, -1, fill_value=0).to_pylist() == [2, 3, 0]
    assert ck.shift(array, 5, fill_value=0).to_pylist() == [0, 0, 0]
    assert ck.shift(array, 0).to_pylist() == [1, 2, 3]


def test_rows_without_nulls() -> None:
    batch = ck.record_batch({"a": [1, None, 3], "b": ["x", "y", None]})
    result = ck.drop_null(batch)
    assert isinstance(result, ck.RecordBatch)
    assert [column.to_pylist() for column in result.columns] == [[1], ["x"]]
