"""`concat`: arrays of one type, one after the other."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from arrow_oracle import from_pyarrow
from operations.device_checks import no_kernels_on_the_host
from operations.samples import buffer, ints, sample, samples
from present import present

import colkern as ck
import colkern.schema as s
from colkern.arrays import Array
from colkern.cuda.stand_in import StandIn
from colkern.errors import InvalidArrowError, LimitExceededError
from colkern.operations import concat, nulls, run_end_decode, validate
from colkern.operations.moving import to_device, to_host


@pytest.mark.parametrize("name", samples())
def test_concat_is_joining_lists(name: str) -> None:
    array = sample(name)
    values = array.to_pylist()
    joined = concat([array, array])
    assert joined.to_pylist() == values + values
    assert joined.type == array.type
    validate(joined, full=True)


@pytest.mark.parametrize("name", samples())
@pytest.mark.parametrize("times", [1, 3])
def test_concat_of_slices(name: str, times: int) -> None:
    array = sample(name)
    values = array.to_pylist()
    # Of many short arrays, one kernel copies the items.
    cuts = [(3, 7), (0, 0), (11, 1), (0, 5), (12, 0), (1, 8)] * times
    joined = concat([array.slice(*cut) for cut in cuts])
    assert joined.to_pylist() == [v for o, n in cuts for v in values[o : o + n]]
    validate(joined, full=True)


@pytest.mark.parametrize("name", samples())
def test_concat_of_empty_arrays(name: str) -> None:
    array = sample(name)
    joined = concat([array.slice(4, 0), array.slice(0, 0)])
    assert joined.to_pylist() == []
    validate(joined, full=True)


@pytest.mark.parametrize("name", samples())
def test_concat_agrees_with_pyarrow(name: str) -> None:
    theirs = samples()[name]
    parts = [theirs.slice(2, 5), theirs, theirs.slice(9)]
    expected = pa.concat_arrays(parts)
    joined = concat([from_pyarrow(part) for part in parts])
    if joined.dictionary is None:
        assert joined.equals(from_pyarrow(expected))
    else:
        assert joined.to_pylist() == from_pyarrow(expected).to_pylist()


@pytest.mark.parametrize("name", samples())
def test_concat_with_all_nulls(name: str) -> None:
    array = sample(name)
    joined = concat([nulls(3, array.type), array, nulls(1, array.type)])
    assert joined.to_pylist() == [None] * 3 + array.to_pylist() + [None]
    validate(joined, full=True)


def test_concat_of_nothing_but_nulls_through_empty_dictionaries() -> None:
    joined = concat([encoded([None], []), encoded([None, None], [])])
    assert joined.to_pylist() == [None] * 3
    assert present(joined.dictionary).length == 0


@pytest.mark.parametrize("left", range(10))
def test_bits_meet_at_any_bit(left: int) -> None:
    values = [True, False, None, True, True, None, False, True, False, None, True, False, True]
    array = from_pyarrow(pa.array(values))
    joined = concat([array.slice(0, left), array.slice(2, 9), array.slice(left)])
    assert joined.to_pylist() == values[:left] + values[2:11] + values[left:]
    assert joined.null_count == joined.to_pylist().count(None)


@pytest.mark.parametrize("cuts", [[(8, 16), (0, 24), (16, 3)], [(8, 16), (1, 8)], [(0, 9), (8, 8)]])
def test_bits_that_begin_with_bytes_here_and_there(
    cuts: list[tuple[int, int]], device: StandIn
) -> None:
    rng = np.random.default_rng(1)
    bits = pa.array(rng.random(30) < 0.5, mask=rng.random(30) < 0.3)
    plain = pa.array(rng.random(30) < 0.5)
    for peers in ([bits] * 3, [plain] * 3, [bits, plain, bits]):
        parts = [peer.slice(*cut) for peer, cut in zip(peers, cuts, strict=False)]
        expected = pa.concat_arrays(parts)
        arrays = [from_pyarrow(part) for part in parts]
        assert concat(arrays).equals(from_pyarrow(expected))
        joined = to_host(concat([to_device(array) for array in arrays]))
        assert joined.equals(from_pyarrow(expected))
        assert joined.null_count == expected.null_count


def test_one_array_is_returned_as_it_is() -> None:
    array = ints([1, 2])
    assert concat([array]) is array


def test_no_array() -> None:
    with pytest.raises(ValueError, match="arrays: need at least one"):
        concat([])


def test_types_differ() -> None:
    with pytest.raises(TypeError, match="arrays: number 1 is int8, not int64"):
        concat([ints([1]), ints([1], s.int8())])
    rows = ck.table({"k": ["a"], "x": [1]})
    other = rows.with_column("k", rows["k"].cast("string_view"))
    with pytest.raises(TypeError, match="'k' of number 1 is string_view, not string; cast one"):
        ck.concat([rows, other])
    assert ck.concat([rows, other.with_column("k", other["k"].cast("string"))]).num_rows == 2


def test_the_names_of_list_elements_make_no_other_type() -> None:
    one, other = (
        from_pyarrow(pa.array([[1]], pa.list_(pa.field(name, pa.int64()))))
        for name in ("element", "item")
    )
    joined = concat([one, other])
    assert joined.type == one.type
    assert joined.to_pylist() == [[1], [1]]


# Dictionaries


def encoded(indices: list[int | None], values: list[str]) -> Array:
    indices_ = pa.array(indices, pa.int8())
    return from_pyarrow(pa.DictionaryArray.from_arrays(indices_, pa.array(values, pa.utf8())))


def test_dictionaries_that_differ_become_one_without_repeated_values() -> None:
    one, two = encoded([1, None, 0], ["a", "b"]), encoded([0, 1], ["c", "a"])
    joined = concat([one, two, one])
    assert joined.to_pylist() == ["b", None, "a", "c", "a", "b", None, "a"]
    assert present(joined.dictionary).to_pylist() == ["a", "b", "c"]
    validate(joined, full=True)


def test_equal_dictionaries_fit_indices_that_hold_one_of_them() -> None:
    words = [str(n) for n in range(128)]
    parts = [encoded([127, None], words), encoded([0], words[::-1]), encoded([64], words)] * 9
    assert concat(parts).to_pylist() == ["127", None, "127", "64"] * 9


def test_floats_of_dictionaries_keep_their_bits() -> None:
    parts = [
        from_pyarrow(pa.DictionaryArray.from_arrays([0, 1], pa.array([value, math.nan])))
        for value in (0.0, -0.0)
    ]
    assert list(map(str, concat(parts).to_pylist())) == ["0.0", "nan", "-0.0", "nan"]


def test_tables_of_several_dictionaries_become_categories_of_pandas() -> None:
    parts = [pa.array(words).dictionary_encode() for words in (["a", "b"], ["b", "c", None])]
    table = ck.table(pa.table({"k": pa.chunked_array(parts)})).sort_by("k")
    assert table.to_pandas()["k"].to_list()[:4] == ["a", "b", "b", "c"]


def test_nested_values_of_dictionaries_are_put_one_after_the_other() -> None:
    parts = [
        from_pyarrow(pa.DictionaryArray.from_arrays([1, 0, None], pa.array(rows)))
        for rows in ([[1], [2]], [[1], []])
    ]
    assert concat(parts).to_pylist() == [[2], [1], None, [], [1], None]


def test_one_dictionary_is_kept() -> None:
    one = encoded([1, None, 0], ["a", "b"])
    assert concat([one, one.slice(1)]).dictionary is one.dictionary


def test_one_dictionary_that_came_twice_is_kept() -> None:
    theirs = pa.DictionaryArray.from_arrays(pa.array([1, 0], pa.int8()), pa.array(["a", "b"]))
    joined = concat([from_pyarrow(theirs), from_pyarrow(theirs.slice(1))])
    assert present(joined.dictionary).length == 2
    assert joined.to_pylist() == ["b", "a", "a"]


def test_dictionaries_fill_the_index_type_to_its_end() -> None:
    words = [str(n) for n in range(128)]
    joined = concat([encoded([0], words[:100]), encoded([27], words[100:])])
    assert joined.to_pylist() == ["0", "127"]
    with pytest.raises(LimitExceededError, match="int8"):
        concat([encoded([0], words), encoded([0], ["one more"])])


def test_empty_dictionary_after_one_that_fills_the_index_type() -> None:
    words = [str(n) for n in range(128)]
    joined = concat([encoded([127], words), encoded([None], []), encoded([], ["unused"])])
    assert joined.to_pylist() == ["127", None]


# What does not fit


def test_run_ends_that_do_not_fit() -> None:
    ends = Array(s.int16(), 1, [None, buffer([30_000], "<i2")])
    array = Array(s.run_end_encoded(s.int16(), s.int64()), 30_000, [], [ends, ints([7])])
    with pytest.raises(LimitExceededError, match="60000 slots do not fit run ends of int16"):
        concat([array, array])


def test_elements_that_do_not_fit_32_bit_offsets() -> None:
    half = 2**30
    offsets = buffer([0, half], "<i4")
    array = Array(s.list_(s.null()), 1, [None, offsets], [nulls(half, s.null())])
    with pytest.raises(LimitExceededError, match="do not fit offsets of int32"):
        concat([array, array])


# Layouts whose parts point somewhere


def test_runs_of_a_slice_are_cut() -> None:
    array = sample("run-end encoded")
    joined = concat([array.slice(1, 4), array.slice(6, 6)])
    # Slots 1 to 4 show three runs; the last six show two.
    assert joined.children[0].to_pylist() == [1, 2, 4, 5, 10]
    assert run_end_decode(joined).to_pylist() == array.to_pylist()[1:5] + array.to_pylist()[6:]


def test_views_point_into_the_buffers_of_their_own_array() -> None:
    one = from_pyarrow(pa.array(["first long string", "short"], pa.string_view()))
    two = from_pyarrow(pa.array(["second long string", None], pa.string_view()))
    joined = concat([one, two, one])
    words = present(joined.buffers[1]).array.view("<i4").reshape(-1, 4)
    assert [int(words[i, 2]) for i in (0, 2, 4)] == [0, 1, 0]
    # Those of an array that comes again are there once.
    assert len(joined.data_buffers) == 2


def test_what_stands_under_nulls_stays_there() -> None:
    # A view under a null may point anywhere, before and after.
    garbage = np.array([[13, 0, 2**31 - 1, -1], [2, 0x4141, 0, 0]], "<i4")
    bits = buffer([0b10], "u1")
    array = Array(s.utf8_view(), 2, [bits, buffer(garbage.reshape(-1), "<i4")])
    joined = concat([sample("utf8_view"), array])
    assert joined.to_pylist()[-2:] == [None, "AA"]
    validate(joined, full=True)


def test_bad_input_is_refused() -> None:
    array = Array(s.list_(s.int64()), 1, [None, buffer([0, 5], "<i4")], [ints([1])])
    with pytest.raises(InvalidArrowError):
        concat([array, array])


def test_lengths_have_63_bits() -> None:
    half = Array(s.null(), 1 << 62, [])
    with pytest.raises(LimitExceededError, match="at most 63 bits"):
        concat([half, half])
    with pytest.raises(InvalidArrowError, match="63 bits"):
        Array(s.null(), 1 << 63, [])
    with pytest.raises(InvalidArrowError, match="63 bits"):
        Array(s.null(), 1 << 62, [], offset=1 << 62)


def dense_of_nulls(children: int, length: int) -> Array:
    fields = [s.field(str(k), s.null()) for k in range(children)]
    parts = [nulls(length, s.null()) for _ in range(children)]
    return Array(s.dense_union(fields), 1, [buffer([0], "i1"), buffer([0], "<i4")], parts)


@pytest.mark.parametrize(("times", "length"), [(2, 1 << 31), (3, 1 << 62), (2, 1 << 30)])
def test_children_of_dense_unions_that_32_bit_offsets_do_not_reach(times: int, length: int) -> None:
    for children in (1, 2):
        with pytest.raises(LimitExceededError, match=r"a dense union have more than 2\*\*31 - 1"):
            concat([dense_of_nulls(children, length)] * times)
    assert concat([dense_of_nulls(2, (1 << 30) - 1)] * 2).children[1].length == (1 << 31) - 2


# On a device


def test_arrays_are_on_one_device(device: StandIn) -> None:
    here, there = ints([1, 2]), to_device(ints([3]))
    with pytest.raises(ValueError, match="arrays\\[1\\]: on cuda:0, arrays\\[0\\] is on cpu"):
        concat([here, there])
    with pytest.raises(ValueError, match="arrays\\[2\\]: on cpu, arrays\\[1\\] is on cuda:0"):
        concat([here.slice(0, 0), there, here])


def test_the_first_array_need_not_have_bytes(device: StandIn) -> None:
    plain = nulls(0, s.fixed_size_list(s.null(), 2))
    plain = Array(plain.type, 3, [None], [nulls(6, s.null())])
    with_nulls = Array(plain.type, 3, [buffer([0b101], "u1")], [nulls(6, s.null())])
    with no_kernels_on_the_host():
        joined = concat([plain, to_device(with_nulls)])
    assert joined.device.kind == "cuda"
    assert to_host(joined).to_pylist() == plain.to_pylist() + with_nulls.to_pylist()
