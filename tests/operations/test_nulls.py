"""Null counts, validity bitmaps, and arrays of nothing but nulls."""

from __future__ import annotations

import pyarrow as pa
import pytest
from arrow_oracle import from_pyarrow
from hypothesis import given
from hypothesis import strategies as st
from operations.samples import buffer, ints, sample, samples
from present import present

import colkern.schema as s
from colkern.arrays import Array
from colkern.errors import LimitExceededError
from colkern.memory import Buffer
from colkern.operations import (
    combine_validity,
    compact_validity,
    concat,
    count_set_bits,
    null_count,
    nulls,
    run_end_decode,
    validate,
)

HAVE_NO_NULLS_OF_THEIR_OWN = ("dense union", "sparse union", "run-end encoded")


@pytest.mark.parametrize("name", samples())
def test_null_count_is_pyarrows(name: str) -> None:
    for offset, length in ((0, 12), (1, 3), (3, 9), (5, 0), (11, 1)):
        theirs = samples()[name].slice(offset, length)
        assert null_count(from_pyarrow(theirs)) == theirs.null_count
        assert null_count(sample(name).slice(offset, length)) == theirs.null_count


def test_null_count_is_remembered() -> None:
    array = ints([1, None])
    assert array.known_null_count == -1
    assert array.null_count == 1
    assert array.known_null_count == 1


def test_bits_after_the_last_slot_count_for_nothing() -> None:
    assert null_count(Array(s.int8(), 3, [buffer([0b11111_010], "u1"), buffer([0] * 3, "i1")])) == 2


@given(st.binary(max_size=40), st.data())
def test_count_set_bits(data: bytes, draw: st.DataObject) -> None:
    bits = "".join(f"{byte:08b}"[::-1] for byte in data)
    begin = draw.draw(st.integers(0, len(bits)))
    end = draw.draw(st.integers(begin, len(bits)))
    assert count_set_bits(Buffer.from_object(data), begin, end - begin) == bits[begin:end].count(
        "1"
    )


@pytest.mark.parametrize(("offset", "length"), [(-1, 1), (0, -1), (0, 9), (8, 1), (2**63, 1)])
def test_count_set_bits_outside_the_bitmap(offset: int, length: int) -> None:
    with pytest.raises(ValueError, match="of 1 bytes"):
        count_set_bits(Buffer.from_object(b"\xff"), offset, length)


MASKS = [True, False, None, True, None, True, True, None, None, True, False, True] * 3


def bits_of(bitmap: Buffer | None, count: int) -> list[bool]:
    assert bitmap is not None
    return [bool(bitmap.array[i // 8] >> i % 8 & 1) for i in range(count)]


@pytest.mark.parametrize("offset", range(18))
def test_compact_validity_starts_at_bit_0(offset: int) -> None:
    array = from_pyarrow(pa.array(MASKS)).slice(offset, 15)
    expected = [value is not None for value in MASKS[offset : offset + 15]]
    assert bits_of(compact_validity(array), 15) == expected


def test_compact_validity_at_a_byte_is_not_copied() -> None:
    array = from_pyarrow(pa.array(MASKS)).slice(8, 10)
    actual = compact_validity(array)
    assert actual is not None
    assert actual.address == present(array.buffers[0]).address + 1
    assert actual.size == 2


def test_compact_validity_without_nulls() -> None:
    assert compact_validity(ints([1, 2])) is None
    assert compact_validity(ints([1, None]).slice(0, 1)) is None
    assert compact_validity(sample("run-end encoded")) is None
    assert compact_validity(nulls(3, s.null())) is None


@pytest.mark.parametrize("offset", range(9))
def test_combine_validity(offset: int) -> None:
    one = from_pyarrow(pa.array(MASKS)).slice(offset, 20)
    two = from_pyarrow(pa.array([None, *MASKS])).slice(3, 20)
    third = ints(list(range(20)))
    bitmap, count = combine_validity([one, third, two])
    both = [
        a is not None and b is not None
        for a, b in zip(MASKS[offset : offset + 20], [None, *MASKS][3:23], strict=True)
    ]
    assert bits_of(bitmap, 20) == both
    assert count == both.count(False)


def test_combine_validity_of_arrays_without_nulls() -> None:
    assert combine_validity([ints([1]), ints([2])]) == (None, 0)
    assert combine_validity([]) == (None, 0)
    assert combine_validity([ints([]), ints([])]) == (None, 0)


# `nulls`


@pytest.mark.parametrize("name", samples())
@pytest.mark.parametrize("length", [0, 1, 2, 9])
def test_nulls_are_pyarrows(name: str, length: int) -> None:
    actual = nulls(length, sample(name).type)
    assert actual.to_pylist() == [None] * length
    assert actual.null_count == (0 if actual.layout.name in HAVE_NO_NULLS_OF_THEIR_OWN else length)
    validate(actual, full=True)
    theirs = from_pyarrow(pa.nulls(length, samples()[name].type))
    assert actual.to_pylist() == theirs.to_pylist()


def test_nulls_of_one_run() -> None:
    actual = nulls(5, s.run_end_encoded(s.int16(), s.int64()))
    assert actual.children[0].to_pylist() == [5]
    assert run_end_decode(actual).to_pylist() == [None] * 5


def test_nulls_that_do_not_fit_the_run_ends() -> None:
    nulls(2**15 - 1, s.run_end_encoded(s.int16(), s.int64()))
    with pytest.raises(LimitExceededError, match="32768 slots do not fit run ends of int16"):
        nulls(2**15, s.run_end_encoded(s.int16(), s.int64()))


def test_union_without_children_has_no_null() -> None:
    assert len(nulls(0, s.sparse_union([]))) == 0
    with pytest.raises(ValueError, match="no child"):
        nulls(1, s.sparse_union([]))


def test_negative_length() -> None:
    with pytest.raises(ValueError, match="length: must not be negative, got -1"):
        nulls(-1, s.int8())


def test_nulls_join_their_kind() -> None:
    type_ = s.dense_union([s.field("a", s.int8()), s.field("b", s.utf8())], [9, 4])
    assert concat([nulls(2, type_), nulls(1, type_)]).to_pylist() == [None] * 3
