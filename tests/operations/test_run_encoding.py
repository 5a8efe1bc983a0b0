"""`run_end_encode`."""

from __future__ import annotations

import itertools
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from arrow_oracle import from_pyarrow
from hypothesis import given
from hypothesis import strategies as st
from operations.samples import ints, sample, samples

import colkern.schema as s
from colkern.arrays import Array
from colkern.errors import LimitExceededError, UnsupportedError
from colkern.operations import nulls, run_end_decode, run_end_encode, take, validate

LISTS_AND_SUCH = {
    name
    for name in samples()
    if name.startswith(("list", "large_list", "fixed_size_list", "map", "run-end"))
    or name.endswith("union")
}
PICKS = [0, 0, 0, 1, 1, 2, 2, 3, 4, 4, 6, 7, 7, 7, 0, 0, 5, 11, 11, 8, 9, 9, 8] * 4


def runs_of(values: list[Any]) -> tuple[list[int], list[Any]]:
    """Where each run of equal values ends, and its value."""
    groups = [(len(list(group)), value) for value, group in itertools.groupby(values)]
    return list(itertools.accumulate(n for n, _ in groups)), [value for _, value in groups]


@pytest.mark.parametrize("name", sorted(samples().keys() - LISTS_AND_SUCH))
def test_equal_neighbours_are_one_run(name: str) -> None:
    array = take(sample(name), ints(PICKS))
    for offset, length in ((0, 92), (1, 70), (63, 29), (5, 0), (7, 1)):
        part = array.slice(offset, length)
        encoded = run_end_encode(part)
        validate(encoded, full=True)
        assert encoded.type == s.run_end_encoded(s.int32(), array.type)
        assert encoded.to_pylist() == part.to_pylist()
        assert run_end_decode(encoded).to_pylist() == part.to_pylist()
        if name != "dictionary":
            ends, values = runs_of(part.to_pylist())
            assert encoded.children[0].to_pylist() == ends
            assert encoded.children[1].to_pylist() == values


@pytest.mark.parametrize("name", sorted(LISTS_AND_SUCH))
def test_what_cannot_be_encoded(name: str) -> None:
    with pytest.raises(UnsupportedError, match="cannot be run-end encoded"):
        run_end_encode(sample(name))


@pytest.mark.parametrize(
    "values",
    [
        pa.array([float("nan"), float("nan"), 0.0, -0.0, None, None]),
        pa.array([1, 1, None, None, 5, 5, 5, 7], pa.uint8()),
        pa.array([True, True, None, None, False, False, True]),
        pa.array(["a", "a", None, None, "", "b", "b"]),
        pa.array([b"", b"", None], pa.binary(0)),
        pa.nulls(4),
        pa.nulls(0),
        pa.array([], pa.int8()),
    ],
    ids=str,
)
@pytest.mark.parametrize("ends", [pa.int16(), pa.int32(), pa.int64()], ids=str)
def test_encode_agrees_with_pyarrow(values: pa.Array, ends: pa.DataType) -> None:
    theirs = from_pyarrow(pc.run_end_encode(values, run_end_type=ends))
    mine = run_end_encode(from_pyarrow(values), run_end_type=theirs.children[0].type)
    assert mine.type == theirs.type
    assert mine.children[0].to_pylist() == theirs.children[0].to_pylist()
    assert str(mine.children[1].to_pylist()) == str(theirs.children[1].to_pylist())


@pytest.mark.parametrize("type_", [pa.int8(), pa.int64(), pa.utf8(), pa.string_view()], ids=str)
@given(data=st.data())
def test_encode_any_values(type_: pa.DataType, data: st.DataObject) -> None:
    texts = type_ in (pa.utf8(), pa.string_view())
    one = st.sampled_from(["", "ab", "x" * 13, "x" * 14] if texts else [0, 1, -1])
    lengths = st.integers(1, 90)
    runs = data.draw(st.lists(st.tuples(st.none() | one, lengths), max_size=8))
    values = [value for value, length in runs for _ in range(length)]
    array = from_pyarrow(pa.array(values, type_))
    offset = data.draw(st.integers(0, len(values)))
    encoded = run_end_encode(array.slice(offset))
    ends, shown = runs_of(values[offset:])
    assert encoded.children[0].to_pylist() == ends
    assert encoded.children[1].to_pylist() == shown


def test_null_structs_are_equal_whatever_is_in_them() -> None:
    # The child has other values under the nulls.
    child = ints([1, 2, 3, 3])
    validity = from_pyarrow(pa.array([False, False, True, True])).buffers[1]
    array = Array(s.struct([s.field("x", s.int64())]), 4, [validity], [child])
    assert run_end_encode(array).children[0].to_pylist() == [2, 4]


def test_run_ends_too_small() -> None:
    with pytest.raises(LimitExceededError, match="40000 slots do not fit run ends of int16"):
        run_end_encode(nulls(40_000, s.int8()), run_end_type=s.int16())


def test_run_ends_of_another_type() -> None:
    with pytest.raises(TypeError, match="run_end_type: expected int16, int32 or int64, got int8"):
        run_end_encode(ints([1]), run_end_type=s.int8())
