"""`if_else` and `interleave`: values of several arrays, of every layout."""

from __future__ import annotations

import random
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from arrow_oracle import from_pyarrow
from arrow_strategies import arrays
from hypothesis import given
from hypothesis import strategies as st
from operations.device_checks import no_kernels_on_the_host
from operations.samples import ints, sample, samples

import colkern as ck
import colkern.schema as s
from colkern.arrays import Array
from colkern.cuda.stand_in import StandIn
from colkern.operations import concat, if_else, interleave, nulls, take, validate
from colkern.operations.moving import to_device, to_host

T, F, N = True, False, None
CONDITION = [T, N, F, T, F, F, T, N, T, T, F, F]
MANY = 300
"""More slots than plain Python computes: here compiled kernels do."""


def booleans(values: Sequence[bool | None]) -> Array:
    return from_pyarrow(pa.array(values, pa.bool_()))


def chosen(
    condition: Sequence[bool | None], left: list[object], right: list[object]
) -> list[object]:
    sides = zip(condition, left, right, strict=True)
    return [None if c is None else a if c else b for c, a, b in sides]


def other(name: str) -> Array:
    """An array of the sample's type in other memory, and in another order."""
    return take(concat([sample(name)] * 2), ints([7, 0, 11, 3, 3, 1, 9, 20, 5, 2, 10, 23]))


# if_else


@pytest.mark.parametrize("name", samples())
def test_if_else_is_choosing_slot_by_slot(name: str) -> None:
    left, right = sample(name), other(name)
    condition: list[Any]
    for condition in (CONDITION, [T] * 12, [F] * 12, [N] * 12):
        result = if_else(booleans(condition), left, right)
        assert result.to_pylist() == chosen(condition, left.to_pylist(), right.to_pylist())
        assert result.type == left.type
        validate(result, full=True)


@pytest.mark.parametrize("name", samples())
def test_if_else_of_slices(name: str) -> None:
    left, right = sample(name).slice(3, 8), other(name).slice(1, 8)
    condition = booleans(CONDITION).slice(2, 8)
    result = if_else(condition, left, right)
    assert result.to_pylist() == chosen(CONDITION[2:10], left.to_pylist(), right.to_pylist())
    validate(result, full=True)


@pytest.mark.parametrize(
    "name", ["bool", "int64, no nulls", "utf8", "struct", "list", "decimal128"]
)
def test_if_else_of_many_slots_agrees_with_pyarrow(name: str) -> None:
    left = pa.concat_arrays([samples()[name]] * (MANY // 12))
    right, rng = pa.concat_arrays([left.slice(5), left.slice(0, 5)]), random.Random(3)
    condition = pa.array([rng.choice((T, F, N)) for _ in range(len(left))])
    result = if_else(from_pyarrow(condition), from_pyarrow(left), from_pyarrow(right))
    assert result.equals(from_pyarrow(pc.if_else(condition, left, right)))


@pytest.mark.parametrize("name", samples())
def test_a_python_value_stands_for_all_slots(name: str) -> None:
    array = sample(name)
    values = array.to_pylist()
    for value in (values[0], None):
        actual = if_else(booleans(CONDITION), array, value)
        assert actual.to_pylist() == chosen(CONDITION, values, [value] * 12)
        actual = if_else(booleans(CONDITION), value, array)
        assert actual.to_pylist() == chosen(CONDITION, [value] * 12, values)
        assert actual.type == array.type
        validate(actual, full=True)


def test_two_python_values() -> None:
    assert if_else(booleans([T, F, N]), "yes", "no").to_pylist() == ["yes", "no", None]
    assert if_else(booleans([T, F]), 1, 2.5).equals(ck.array([1.0, 2.5]))
    assert if_else(booleans([T, F]), None, 2).equals(ck.array([None, 2]))
    assert if_else(booleans([T]), None, None).type == s.null()


def test_a_condition_without_a_type() -> None:
    assert if_else(ck.array([]), ck.array([], s.utf8()), "a").equals(ck.array([], s.utf8()))
    assert if_else(ck.array([None]), ck.array(["b"]), "a").equals(ck.array([None], s.utf8()))


@given(st.data())
def test_if_else_of_anything(data: st.DataObject) -> None:
    array = ck.array(data.draw(arrays()))
    values, count = array.to_pylist(), len(array)
    order = data.draw(st.permutations(range(count)))
    condition = data.draw(st.lists(st.sampled_from((T, F, N)), min_size=count, max_size=count))
    result = if_else(booleans(condition), array, take(array, ints(order)))
    assert result.to_pylist() == chosen(condition, values, [values[i] for i in order])
    validate(result, full=True)


@pytest.mark.parametrize(
    ("left", "right", "error", "text"),
    [
        (ints([1, 2]), ck.array(["a", "b"]), TypeError, "right: string, left is int64; cast one"),
        (ints([1, 2]), "a", TypeError, "right: expected an integer, got str 'a'"),
        (ck.array([1, 2], "int8"), 300, ValueError, "right: .*300"),
        (ints([1]), 0, ValueError, "left: 1 values, condition has 2"),
        ("a", 1, TypeError, "right: expected .*, got int 1"),
    ],
)
def test_sides_that_do_not_fit(left: object, right: object, error: type, text: str) -> None:
    with pytest.raises(error, match=text):
        if_else(booleans([T, F]), left, right)


TEXTS = ("string", "large_string", "string_view")


@pytest.mark.parametrize("second", TEXTS)
@pytest.mark.parametrize("first", TEXTS)
def test_text_of_two_layouts_is_that_of_the_first(first: str, second: str) -> None:
    left = ck.array(["a", None, "longer than a view holds"], first)
    right = ck.array(["c", "another text that is longer", None], second)
    condition = booleans([T, F, T])
    assert if_else(condition, left, right).equals(
        ck.array(["a", "another text that is longer", "longer than a view holds"], first)
    )
    filled = ck.array(["a", "another text that is longer", "longer than a view holds"], first)
    assert ck.coalesce(left, right).equals(filled)
    assert ck.fill_null(left, right).equals(filled)
    assert ck.case_when([condition], left, right).equals(filled)
    assert ck.max_element_wise(left, right).to_pylist() == ["c", *filled.to_pylist()[1:]]
    data = [
        ck.cast(each, kind.replace("string", "binary"))
        for each, kind in ((left, first), (right, second))
    ]
    assert ck.coalesce(*data).to_pylist() == [text.encode() for text in filled.to_pylist()]
    with pytest.raises(TypeError, match="cast one"):
        if_else(condition, left, data[1])
    # Categories of pandas and polars are dictionaries.
    assert ck.coalesce(left, ck.dictionary_encode(right)).equals(filled)
    assert ck.coalesce(ck.dictionary_encode(left), right).equals(filled)


def test_decimals_of_two_scales_and_integers_are_decimals() -> None:
    cents, whole = [Decimal("1.25"), None], [Decimal(700), Decimal(3)]
    ours = ck.array(cents, "decimal128(3, 2)"), ck.array(whole, "decimal128(3, 0)")
    for other in (ours[1], ck.cast(ours[1], "int16")):
        result = ck.coalesce(ours[0], other)
        assert result.to_pylist() == [Decimal("1.25"), Decimal("3.00")]
        assert ck.if_else(booleans([F, T]), ours[0], other).to_pylist() == [Decimal(700), None]


def test_a_condition_is_booleans() -> None:
    with pytest.raises(TypeError, match="condition: expected booleans, got int64"):
        if_else(ints([1]), 1, 2)


# interleave


@pytest.mark.parametrize("name", samples())
def test_interleave_is_picking_from_several_lists(name: str) -> None:
    parts = [sample(name), other(name).slice(2, 7), sample(name).slice(5, 0)]
    values = [part.to_pylist() for part in parts]
    for pairs in ([], [(1, 0)], [(0, 11), (1, 6), (0, 11), (1, 0), (0, 3), (0, 0), (1, 2), (1, 2)]):
        result = interleave(parts, pairs)
        assert result.to_pylist() == [values[a][i] for a, i in pairs]
        assert result.type == parts[0].type
        validate(result, full=True)


def test_pairs_may_be_numbers_of_another_byte_order() -> None:
    parts = [ck.array([1, 2, 3]), ck.array([4, 5, 6])]
    assert interleave(parts, np.array([[1, 0], [0, 1]], ">i8")).to_pylist() == [4, 2]
    with pytest.raises(IndexError, match="pair 0 has position 256"):
        interleave(parts, np.array([[0, 256]], ">u2"))


@given(st.data())
def test_interleave_anything(data: st.DataObject) -> None:
    array = ck.array(data.draw(arrays(length=8)))
    parts = [array, array.slice(3), take(array, ints([7, 0, 0, 5]))]
    pair = st.sampled_from([(a, i) for a, part in enumerate(parts) for i in range(len(part))])
    pairs = data.draw(st.lists(pair, max_size=150))
    values = [part.to_pylist() for part in parts]
    result = interleave(parts, pairs)
    assert result.to_pylist() == [values[a][i] for a, i in pairs]
    validate(result, full=True)


def test_pairs_of_every_kind() -> None:
    parts, expected = [ints([1, 2, 3]), ints([None, 5])], [5, 1, None]
    pairs: Any
    for pairs in (
        [(1, 1), (0, 0), (1, 0)],
        np.array([[1, 1], [0, 0], [1, 0]], np.uint8),
        ck.array([{"array": a, "row": i} for a, i in ((9, 9), (1, 1), (0, 0), (1, 0))]).slice(1),
    ):
        assert interleave(parts, pairs).to_pylist() == expected


def test_more_arrays_than_type_ids_tell_apart() -> None:
    parts = [ints([n, -n]) for n in range(200)]
    pairs = [(n, n % 2) for n in range(199, -1, -1)]
    assert interleave(parts, pairs).to_pylist() == [-n if n % 2 else n for n in range(199, -1, -1)]


@pytest.mark.parametrize(
    ("pairs", "error", "text"),
    [
        ([(0, 0), (2, 0)], IndexError, "pair 1 has array 2, there are 2"),
        ([(-1, 0)], IndexError, "pair 0 has array -1, there are 2"),
        ([(1, 2)], IndexError, "pair 0 has position 2, array 1 has 2 values"),
        ([(1, -1)], IndexError, "pair 0 has position -1, array 1 has 2 values"),
        ([0, 1], TypeError, "indices: expected pairs of integers"),
        ([(0.5, 1)], TypeError, "indices: expected pairs of integers"),
        (ck.array([1, 2]), TypeError, "indices: expected structs of two integers, got int64"),
        (ck.array([{"a": 0, "i": "x"}]), TypeError, "indices: expected structs of two integers"),
        (ck.array([{"a": 0, "i": None}, {"a": 0, "i": 1}]), ValueError, "must not be null"),
    ],
)
def test_pairs_that_lead_nowhere(pairs: object, error: type, text: str) -> None:
    with pytest.raises(error, match=text):
        interleave([ints([1, 2, 3]), ints([4, 5])], pairs)  # type: ignore[arg-type]


def test_arrays_to_interleave_are_of_one_type() -> None:
    with pytest.raises(TypeError, match="arrays: number 1 is string, not int64"):
        interleave([ints([1]), ck.array(["a"])], [(0, 0)])
    with pytest.raises(ValueError, match="arrays: need at least one"):
        interleave([], [])


# On a device


@pytest.mark.parametrize("name", samples())
def test_on_a_device_nothing_moves(name: str, device: StandIn) -> None:
    left, right = to_device(sample(name)), to_device(other(name))
    pairs = [(0, 11), (1, 6), (0, 11), (1, 0), (0, 3)]
    condition = to_device(booleans(CONDITION))
    indices = to_device(ck.array([{"array": a, "row": i} for a, i in pairs]))
    copies = len(device.copies)
    both, picked = if_else(condition, left, right), interleave([left, right], indices)
    assert len(device.copies) == copies
    values = [sample(name).to_pylist(), other(name).to_pylist()]
    assert to_host(both).to_pylist() == chosen(CONDITION, *values)
    assert to_host(picked).to_pylist() == [values[a][i] for a, i in pairs]


def test_a_python_value_beside_an_array_on_a_device(device: StandIn) -> None:
    result = if_else(to_device(booleans([T, F])), to_device(ck.array(["a", "b"])), "ccc")
    assert result.device.kind == "cuda"
    assert to_host(result).to_pylist() == ["a", "ccc"]


def test_sides_are_where_the_condition_is(device: StandIn) -> None:
    with pytest.raises(ValueError, match="left: on cpu, condition is on cuda"):
        if_else(to_device(booleans([T])), ints([1]), 2)


def test_nulls_without_bytes_are_nowhere(device: StandIn) -> None:
    result = if_else(to_device(booleans([T, F])), nulls(2, s.null()), None)
    assert result.to_pylist() == [None, None]


def without_bytes() -> list[Array]:
    none = nulls(3, s.null())
    lists = Array(s.fixed_size_list(s.null(), 2), 3, [None], [nulls(6, s.null())])
    return [none, lists, Array(s.struct([s.field("a", s.null())]), 3, [None], [none])]


@pytest.mark.parametrize("which", range(3))
def test_arrays_without_bytes_are_nowhere(which: int, device: StandIn) -> None:
    array = without_bytes()[which]
    values = array.to_pylist()
    condition = to_device(booleans([T, F, N]))
    indices = to_device(ck.array([{"array": 1, "row": 2}, {"array": 0, "row": 0}]))
    with no_kernels_on_the_host():
        both = if_else(condition, array, array)
        picked = interleave([array, array], indices)
        many = interleave([array] * 200, indices)
    assert to_host(both).to_pylist() == [*values[:2], None]
    assert to_host(picked).to_pylist() == to_host(many).to_pylist() == values[:2]


def test_a_first_child_without_bytes(device: StandIn) -> None:
    parts = [nulls(3, s.null()), ints([1, 2, None])]
    fields = [s.field("n", s.null()), s.field("i", s.int64())]
    array = Array(s.struct(fields), 3, [None], parts)
    there = to_device(array)
    with no_kernels_on_the_host():
        both = if_else(to_device(booleans([F, T, T])), there, there)
        picked = interleave([there, there], [(1, 2), (0, 0)])
    assert both.children[1].device.kind == picked.children[1].device.kind == "cuda"
    assert to_host(both).to_pylist() == array.to_pylist()
    assert to_host(picked).to_pylist() == [{"n": None, "i": None}, {"n": None, "i": 1}]


def test_a_condition_without_a_type_is_where_the_sides_are(device: StandIn) -> None:
    result = if_else(nulls(2, s.null()), nulls(2, s.null()), None)
    assert result.to_pylist() == [None, None]
    sides = [without_bytes()[1], to_device(nulls(3, s.fixed_size_list(s.null(), 2)))]
    for left, right in (sides, sides[::-1]):
        assert to_host(if_else(nulls(3, s.null()), left, right)).to_pylist() == [None] * 3


def test_arrays_and_indices_are_on_one_device(device: StandIn) -> None:
    here, there = ints([1, 2]), to_device(ints([3]))
    pairs = ck.array([{"array": 0, "row": 0}])
    with pytest.raises(ValueError, match="arrays\\[1\\]: on cuda:0, arrays\\[0\\] is on cpu"):
        interleave([here, there], [(0, 0)])
    with pytest.raises(ValueError, match="indices: on cpu, arrays\\[0\\] is on cuda:0"):
        interleave([there, there], pairs)
    with pytest.raises(ValueError, match="indices: on cuda:0, arrays\\[0\\] is on cpu"):
        interleave([here, here], to_device(pairs))
    with no_kernels_on_the_host():
        picked = interleave([here.slice(0, 0), there], [(1, 0)])
    assert to_host(picked).to_pylist() == [3]


def test_sides_of_several_devices_are_refused(device: StandIn) -> None:
    lists = nulls(1, s.fixed_size_list(s.int64(), 1))
    with pytest.raises(ValueError, match="right: on cpu, condition is on cuda:0"):
        if_else(to_device(booleans([T])), to_device(lists), lists)


def test_pairs_are_structs() -> None:
    # Lists and runs have children too, but fewer values in them than slots.
    lists = ck.array([[1], [], [2], [], []]).slice(3)
    for indices in (lists, ck.run_end_encode(ints([1] * 9)).slice(5)):
        with pytest.raises(TypeError, match="indices: expected structs of two integers"):
            interleave([ints([1, 2])], indices)


def test_a_text_that_reads_as_a_place_is_quoted_as_it_is() -> None:
    condition = booleans([T, F])
    with pytest.raises(TypeError, match=r"^right: expected an integer, got str 'values\[0\]'$"):
        if_else(condition, ints([1, 2]), "values[0]")
    with pytest.raises(TypeError, match=r"^right: .*, got str 'values\[1\] values\[0\]'$"):
        if_else(condition, 1, "values[1] values[0]")
    with pytest.raises(TypeError, match=r"^right\['a'\]: "):
        if_else(condition, {"a": 1}, {"a": "x"})


def test_values_that_are_equal_are_not_taken_for_each_other() -> None:
    """Arrays of one value are kept from call to call."""
    floats, flags = ck.array([None], ck.float64()), ck.array([None], ck.bool_())
    for value in (0.0, -0.0, 0.0):
        assert str(ck.fill_null(floats, value).to_pylist()) == f"[{value}]"
    assert ck.fill_null(flags, True).to_pylist() == [True]
    with pytest.raises(TypeError):
        ck.fill_null(flags, 1)
    assert ck.fill_null(floats, 1).to_pylist() == [1.0]
    for type_ in (ck.utf8(), ck.utf8_view(), ck.large_utf8()):
        filled = ck.fill_null(ck.array([None], type_), "a")
        assert (filled.type, filled.to_pylist()) == (type_, ["a"])
