"""Boolean arrays: combined slot by slot, and as bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from arrow_oracle import from_pyarrow
from hypothesis import given
from hypothesis import strategies as st
from operations.samples import ints
from present import present

import colkern.schema as s
from colkern import operations
from colkern.arrays import Array
from colkern.layouts import Role
from colkern.memory import Buffer
from colkern.operations import and_, invert, pack_bits, unpack_bits, validate

OPERATIONS = ("and_", "or_", "xor", "and_not", "and_kleene", "or_kleene", "and_not_kleene")
THREE = [True, False, None]
EACH = [(a, b) for a in THREE for b in THREE]


def booleans(values: Sequence[bool | None]) -> Array:
    return from_pyarrow(pa.array(values, pa.bool_()))


def agree(name: str, left: pa.Array, right: pa.Array) -> None:
    actual = getattr(operations, name)(from_pyarrow(left), from_pyarrow(right))
    validate(actual, full=True)
    assert actual.type == s.bool_()
    assert actual.to_pylist() == getattr(pc, name)(left, right).to_pylist()
    assert actual.null_count == actual.to_pylist().count(None)


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("times", [0, 1, 7, 8, 20])
def test_truth_tables_are_pyarrows(name: str, times: int) -> None:
    for pairs in (EACH, [(a, b is True) for a, b in EACH], [(a is True, b) for a, b in EACH]):
        left, right = (pa.array([p[k] for p in pairs] * times, pa.bool_()) for k in (0, 1))
        agree(name, left, right)


@given(st.sampled_from(OPERATIONS), st.lists(st.sampled_from(EACH), max_size=200), st.data())
def test_any_offset(name: str, pairs: list[tuple[Any, Any]], data: st.DataObject) -> None:
    before = data.draw(st.integers(0, 9)), data.draw(st.integers(0, 9))
    left, right = (
        pa.array([True] * n + [p[k] for p in pairs], pa.bool_()).slice(n)
        for k, n in enumerate(before)
    )
    agree(name, left, right)


@pytest.mark.parametrize("offset", [0, 1, 8, 11])
def test_invert(offset: int) -> None:
    theirs = pa.array(THREE * 30).slice(offset)
    actual = invert(from_pyarrow(theirs))
    assert actual.to_pylist() == pc.invert(theirs).to_pylist()
    validate(actual, full=True)


ENCODERS = {
    "plain": lambda values: values,
    "dictionary": lambda values: values.dictionary_encode(),
    "runs": pc.run_end_encode,
    "runs of a dictionary": lambda values: pa.RunEndEncodedArray.from_arrays(
        pa.array(range(1, len(values) + 1), pa.int32()), values.dictionary_encode()
    ),
}


@pytest.mark.parametrize("encoding", list(ENCODERS)[1:])
@pytest.mark.parametrize("other", ENCODERS)
def test_encoded_booleans(encoding: str, other: str) -> None:
    left, right = (pa.array([pair[k] for pair in EACH] * 3, pa.bool_()) for k in (0, 1))
    one = from_pyarrow(ENCODERS[encoding](left)).slice(1)
    two = from_pyarrow(ENCODERS[other](right)).slice(1)
    for name in OPERATIONS:
        for sides, theirs in (((one, two), (left, right)), ((two, one), (right, left))):
            actual = getattr(operations, name)(*sides)
            validate(actual, full=True)
            assert actual.type == s.bool_()
            assert actual.to_pylist() == getattr(pc, name)(*theirs).to_pylist()[1:]
    expected = pc.invert(left).to_pylist()[1:]
    assert invert(one).to_pylist() == (~one).to_pylist() == expected
    assert (one & two).to_pylist() == pc.and_kleene(left, right).to_pylist()[1:]
    assert (one | two).to_pylist() == pc.or_kleene(left, right).to_pylist()[1:]
    assert (one ^ True).to_pylist() == expected


def test_bad_arguments() -> None:
    with pytest.raises(TypeError, match="right: expected booleans, got int64"):
        and_(booleans([True]), ints([1]))
    with pytest.raises(ValueError, match="right: 2 values for the 1 of left"):
        and_(booleans([True]), booleans([True, False]))
    with pytest.raises(TypeError, match="array: expected booleans, got int64"):
        invert(ints([1]))


@given(st.lists(st.booleans(), max_size=200), st.integers(0, 20))
def test_bits_to_bytes_and_back(values: list[bool], offset: int) -> None:
    array = booleans([True] * offset + values).slice(offset)
    unpacked = unpack_bits(array)
    assert unpacked.dtype == np.bool_
    assert unpacked.tolist() == values
    packed = pack_bits(unpacked)
    assert packed.to_pylist() == values
    validate(packed, full=True)
    assert (
        present(packed.buffers[1]).tobytes() == np.packbits(unpacked, bitorder="little").tobytes()
    )


def test_part_of_a_bitmap_as_bytes() -> None:
    array = ints([1, None, 3, 4, None])
    validity = array.buffer(Role.VALIDITY)
    assert unpack_bits(present(validity), 1, 3).tolist() == [False, True, True]
    assert len(unpack_bits(Buffer.from_object(b"\xff\x01"))) == 16
    assert unpack_bits(booleans([True, False, True]).slice(1), 1).tolist() == [True]
    for offset, length in ((-1, 1), (0, 4), (2, 2), (1, -1)):
        with pytest.raises(ValueError, match="of 3"):
            unpack_bits(booleans([True, False, True]), offset, length)


def test_bytes_that_are_no_bools() -> None:
    assert pack_bits(np.array([0, 1, 2, 255], np.uint8)).to_pylist() == [False, True, True, True]
    assert pack_bits(np.array([0, -1], np.int8)).to_pylist() == [False, True]
    assert pack_bits(np.arange(10, dtype=np.uint8)[::-3]).to_pylist() == [True, True, True, False]
    assert pack_bits(np.zeros(0, np.bool_)).to_pylist() == []
    for values in (np.zeros(3), np.zeros((2, 2), np.bool_), [True], np.array([b"x"])):
        with pytest.raises(TypeError, match="values: expected"):
            pack_bits(values)


def test_nulls_have_no_byte() -> None:
    with pytest.raises(ValueError, match="1 of them are null"):
        unpack_bits(booleans([True, None]))
    with pytest.raises(TypeError, match="bits: expected booleans"):
        unpack_bits(ints([1]))
