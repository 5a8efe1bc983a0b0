"""`take`: values by position, of every layout."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from arrow_oracle import from_pyarrow
from hypothesis import given
from hypothesis import strategies as st
from operations.samples import ints, sample, sample_layouts, samples
from present import present

import colkern.schema as s
from colkern.arrays import Array
from colkern.builders import array, record_batch
from colkern.errors import InvalidArrowError, LimitExceededError
from colkern.layouts import LayoutKind
from colkern.memory import Buffer
from colkern.operations import concat, nulls, take, validate

PICKS = [[], [0], [11], [3, 3, 3], [11, 0, 5, 1, 1, 7, 2, 8, 10, 4, 6, 9], list(range(12)) * 3]
PYARROW_DOES_NOT_TAKE = {
    "utf8_view",
    "binary_view",
    "list of views",
    "run-end encoded",
    "run-end encoded, int64 ends",
}
UNMARKED = ("dense union", "sparse union", "run-end encoded")


def test_samples_have_every_layout() -> None:
    assert sample_layouts() == set(LayoutKind)


@pytest.mark.parametrize("name", samples())
def test_take_is_picking_from_a_list(name: str) -> None:
    array = sample(name)
    values = array.to_pylist()
    for picks in PICKS:
        taken = take(array, ints(picks))
        assert taken.to_pylist() == [values[i] for i in picks]
        assert taken.type == array.type
        validate(taken, full=True)


def test_take_empty_lists_of_booleans_without_any_buffer() -> None:
    # An empty array may go without buffers; nothing of it is picked.
    nothing = Array(s.bool_(), 0, [None, None])
    offsets = Buffer.from_object(bytes(12))
    empty_lists = Array(s.list_(s.bool_()), 2, [None, offsets], [nothing])
    assert take(empty_lists, ints([1, 0, 1])).to_pylist() == [[], [], []]


@pytest.mark.parametrize("name", sorted(samples().keys() - PYARROW_DOES_NOT_TAKE))
def test_take_agrees_with_pyarrow(name: str) -> None:
    theirs = samples()[name].slice(1, 9)
    picks = pa.array([8, 0, 4, 4, 1, 7, 2])
    expected = from_pyarrow(theirs.take(picks))
    assert take(from_pyarrow(theirs), from_pyarrow(picks)).equals(expected)


@pytest.mark.parametrize("name", samples())
def test_take_from_a_slice(name: str) -> None:
    array = sample(name)
    values = array.to_pylist()
    for offset, length in ((0, 5), (1, 11), (3, 7), (8, 4), (9, 1)):
        picks = [length - 1, 0, length // 2, 0]
        taken = take(array.slice(offset, length), ints([0, *picks, 5]).slice(1, 4))
        assert taken.to_pylist() == [values[offset + i] for i in picks]
        validate(taken, full=True)


@pytest.mark.parametrize("name", samples())
def test_null_index_makes_null(name: str) -> None:
    array = sample(name)
    values = array.to_pylist()
    picks = [2, None, 0, 11, None, None, 5, 1, None, 3]
    taken = take(array, ints(picks))
    assert taken.to_pylist() == [None if i is None else values[i] for i in picks]
    # Nulls of unions and runs are their children's, some of dictionaries are in the dictionary.
    if array.layout.name not in UNMARKED and array.dictionary is None:
        assert taken.null_count == sum(v is None for v in taken.to_pylist())
    validate(taken, full=True)


@pytest.mark.parametrize("name", samples())
def test_take_of_what_was_taken(name: str) -> None:
    array = sample(name)
    values = array.to_pylist()
    once = take(array, ints([9, 4, 4, 1, 0, 7]))
    assert take(once.slice(1), ints([4, 0, 1])).to_pylist() == [values[7], values[4], values[4]]


@pytest.mark.parametrize("name", samples())
def test_nothing_can_be_taken_from_an_empty_array(name: str) -> None:
    empty = sample(name).slice(5, 0)
    assert take(empty, ints([])).to_pylist() == []
    assert take(empty, ints([None, None])).to_pylist() == [None, None]
    with pytest.raises(IndexError, match="there are 0 values"):
        take(empty, ints([0]))


@pytest.mark.parametrize("type_", [pa.int8(), pa.uint8(), pa.int16(), pa.uint32(), pa.uint64()])
def test_indices_of_any_integer_type(type_: pa.DataType) -> None:
    indices = from_pyarrow(pa.array([1, None, 2], type_))
    assert take(ints([5, 6, 7]), indices).to_pylist() == [6, None, 7]


@pytest.mark.parametrize("index", [-1, 3, 2**63 - 1, -(2**63)])
def test_index_out_of_bounds(index: int) -> None:
    with pytest.raises(IndexError, match=f"slot 1 has {index}, there are 3 values"):
        take(ints([5, 6, 7]), ints([0, index]))


@pytest.mark.parametrize("type_", [pa.int8(), pa.int16()])
@pytest.mark.parametrize("name", ["int64, no nulls", "utf8"])
def test_negative_indices_of_few_bits_are_no_large_ones(type_: pa.DataType, name: str) -> None:
    many = concat([sample(name)] * 6000)
    for values in ([0, -1], [5, 0, 1, 2, 3, -128, 7]):
        bad = from_pyarrow(pa.array(values, type_))
        with pytest.raises(IndexError, match=f"has {min(values)}, there are 72000 values"):
            take(many, bad)


def test_largest_unsigned_index_is_out_of_bounds() -> None:
    with pytest.raises(IndexError, match=f"slot 0 has {2**64 - 1}"):
        take(ints([5]), ints([2**64 - 1], s.uint64()))


def test_what_stands_under_a_null_index_is_not_looked_at() -> None:
    values = Buffer.from_object((99).to_bytes(8, "little") + (1).to_bytes(8, "little"))
    indices = Array(s.int64(), 2, [Buffer.from_object(b"\x02"), values])
    assert take(ints([5, 6]), indices).to_pylist() == [None, 6]


def test_nulls_take_no_room() -> None:
    # Not the bytes of slot 0 again and again, and not its elements.
    long = from_pyarrow(pa.array(["x" * (1 << 20), "y"]))
    taken = take(long, ints([None] * 5000 + [1]))
    assert taken.to_pylist()[-2:] == [None, "y"]
    assert present(taken.buffers[2]).size == 1
    lists = from_pyarrow(pa.array([["x"] * 1000, ["y"]]))
    taken = take(lists, ints([None] * 5000 + [1]))
    assert len(taken.children[0]) == 1
    nested = from_pyarrow(pa.array([{"t": "x" * (1 << 20)}, {"t": "y"}]))
    taken = take(nested, ints([None] * 5000 + [1]))
    assert present(taken.children[0].buffers[2]).size == 1


def test_nulls_among_the_values_and_the_indices() -> None:
    values = ["a", None, "ccc", None, "e" * 20] * 30
    picks = [None if i % 7 == 0 else (i * 11) % 150 for i in range(300)]
    expected = [None if i is None else values[i] for i in picks]
    for kind in (pa.utf8(), pa.large_utf8(), pa.string_view(), pa.dictionary(pa.int8(), pa.utf8())):
        taken = take(from_pyarrow(pa.array(values).cast(kind)), ints([0, *picks]).slice(1))
        assert taken.to_pylist() == expected
        assert taken.null_count == expected.count(None)


def test_rows_of_a_batch() -> None:
    table = pa.record_batch({"n": [1, 2, 3], "t": ["a", None, "c"]})
    batch = record_batch(table)
    assert take(batch, ints([2, 0, 2])).to_pylist() == table.take(pa.array([2, 0, 2])).to_pylist()
    assert take(batch, ints([None, 1])).to_pydict() == {"n": [None, 2], "t": [None, None]}
    assert len(take(batch.select([]), ints([1, 1]))) == 2
    with pytest.raises(IndexError, match="slot 0 has 3, there are 3"):
        take(batch.select([]), ints([3]))


@given(st.data())
def test_take_anything(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(samples())))
    array = sample(name)
    offset = data.draw(st.integers(0, 11))
    part = array.slice(offset, data.draw(st.integers(1, 12)))
    picks = data.draw(st.lists(st.none() | st.integers(0, len(part) - 1), max_size=150))
    values = part.to_pylist()
    taken = take(part, ints(picks))
    assert taken.to_pylist() == [None if i is None else values[i] for i in picks]
    validate(taken, full=True)


def test_indices_are_integers() -> None:
    with pytest.raises(TypeError, match="indices: expected integers, got double"):
        take(ints([1]), from_pyarrow(pa.array([0.0])))


def test_indices_without_a_type_are_none_or_nulls() -> None:
    """`array([])` cannot know of what it is empty."""
    batch = record_batch({"n": [1, 2]})
    assert take(batch["n"], array([])).equals(array([], s.int64()))
    assert take(batch, array([])).equals(record_batch({"n": array([], s.int64())}))
    assert take(batch["n"], array([None])).equals(array([None], s.int64()))


def test_take_looks_at_positions_before_it_follows_them() -> None:
    offsets = Buffer.from_object(b"".join(n.to_bytes(4, "little") for n in (0, 2**30)))
    array = Array(s.utf8(), 1, [None, offsets, Buffer.from_object(b"abc")])
    with pytest.raises(InvalidArrowError):
        take(array, ints([0]))


def test_strings_that_do_not_fit_32_bit_offsets() -> None:
    array = from_pyarrow(pa.array(["x" * (1 << 20)]))
    with pytest.raises(LimitExceededError, match="offsets of int32"):
        take(array, ints([0] * 2048))


def test_elements_that_do_not_fit_64_bits() -> None:
    # Nulls take no room, so a list of them may be as long as an offset can say.
    child = nulls(2**62, s.null())
    offsets = Buffer.from_object((0).to_bytes(8, "little") + (2**62).to_bytes(8, "little"))
    array = Array(s.large_list(s.null()), 1, [None, offsets], [child])
    with pytest.raises(LimitExceededError):
        take(array, ints([0, 0, 0, 0]))


def test_views_and_dictionaries_share_what_they_point_into() -> None:
    views = sample("utf8_view")
    assert take(views, ints([4])).data_buffers == views.data_buffers
    encoded = sample("dictionary")
    assert take(encoded, ints([4])).dictionary is encoded.dictionary


def test_slots_of_a_dense_union_keep_their_order() -> None:
    # "The offsets for each child value array must be in order / increasing."
    taken = take(sample("dense union"), ints([11, 0, 1, 5, 5, 0]))
    assert taken.to_pylist() == [sample("dense union").to_pylist()[i] for i in (11, 0, 1, 5, 5, 0)]
    ids = present(taken.buffers[0]).array.view("i1").tolist()
    offsets = present(taken.buffers[1]).array.view("<i4").tolist()
    for code in (5, 3):
        own = [o for i, o in zip(ids, offsets, strict=True) if i == code]
        assert own == sorted(own)


def test_take_of_a_concatenation() -> None:
    both = concat([sample("list of views"), sample("list of views").slice(3)])
    values = sample("list of views").to_pylist()
    assert take(both, ints([20, 13, 2])).to_pylist() == [values[11], values[4], values[2]]


def test_slots_without_bytes_are_taken_at_no_cost() -> None:
    """The elements are nulls, or structs of nothing: a list of 2**60 of them takes no memory."""
    for element in (s.null(), s.Struct(()), s.Struct((s.Field("n", s.null()),))):
        size = 1 << 60
        children = [Array(s.null(), 2 * size, [])] if element.fields else []
        no_buffers = [] if element == s.null() else [None]
        elements = Array(element, 2 * size, no_buffers, children)
        lists = Array(s.FixedSizeList(s.Field("item", element), size), 2, [None], [elements])
        taken = take(lists, Array(s.int8(), 3, [None, Buffer(np.array([1, 0, 1], np.uint8))]))
        assert (len(taken), len(taken.children[0])) == (3, 3 * size)
        validate(taken)


def test_too_many_nulls_for_the_offsets_are_refused() -> None:
    most = 2**31 - 1
    offsets = Buffer(np.array([0, most], np.int32).view(np.uint8))
    lists = Array(
        s.List(s.Field("item", s.null())), 1, [None, offsets], [Array(s.null(), most, [])]
    )
    with pytest.raises(LimitExceededError, match="do not fit offsets of int32"):
        take(lists, Array(s.int8(), 2, [None, Buffer(np.zeros(2, np.uint8))]))
