"""Structs: fields as arrays, arrays as fields, and nulls that come from above."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from arrow_oracle import from_pyarrow
from hypothesis import given
from hypothesis import strategies as st
from operations.samples import buffer, ints, sample, samples

import colkern.schema as s
from colkern.arrays import Array
from colkern.errors import InvalidArrowError
from colkern.operations import make_struct, struct_field, struct_flatten, take, validate

VALID = [i % 3 != 1 for i in range(12)]
UNIONS = ("dense union", "sparse union")


def struct_of(child: Array, valid: list[bool] | None = None) -> Array:
    """A struct array with one field, null where `valid` says."""
    validity = None
    if valid is not None:
        bits = [sum(ok << k for k, ok in enumerate(valid[b : b + 8])) for b in (0, 8)]
        validity = buffer(bits, "u1")
    kind = s.struct([("f", child.type)])
    return Array(kind, child.length, [validity], [child])


@pytest.mark.parametrize("name", samples())
def test_flatten_hands_nulls_to_the_fields(name: str) -> None:
    child = sample(name)
    values = [v if ok else None for v, ok in zip(child.to_pylist(), VALID, strict=True)]
    whole = struct_of(child, VALID)
    for offset, length in ((0, 12), (1, 9), (3, 5), (8, 4), (5, 0)):
        (actual,) = struct_flatten(whole.slice(offset, length))
        assert actual.to_pylist() == values[offset : offset + length]
        assert actual.type == child.type
        validate(actual, full=True)
        again = take(actual, ints(list(range(length))))
        assert again.to_pylist() == actual.to_pylist()


@pytest.mark.parametrize("name", samples())
def test_a_child_with_an_offset_of_its_own(name: str) -> None:
    child = sample(name)
    values = child.to_pylist()[3:]
    valid = VALID[:9]
    cut = child.slice(3)
    bits = [sum(ok << k for k, ok in enumerate(valid[b : b + 8])) for b in (0, 8)]
    whole = Array(s.struct([("f", cut.type)]), 9, [buffer(bits, "u1")], [cut])
    actual = struct_field(whole.slice(2), "f")
    assert (
        actual.to_pylist() == [v if ok else None for v, ok in zip(values, valid, strict=True)][2:]
    )
    validate(actual, full=True)


@pytest.mark.parametrize("name", samples())
def test_without_nulls_nothing_is_copied(name: str) -> None:
    child = sample(name)
    (actual,) = struct_flatten(struct_of(child).slice(2, 7))
    assert actual.to_pylist() == child.to_pylist()[2:9]
    assert actual.buffers == child.buffers
    assert actual.children == child.children


def test_values_are_shared_below_nulls() -> None:
    child = sample("int64, no nulls")
    actual = struct_field(struct_of(child, VALID), "f")
    assert actual.buffers[1].address == child.buffers[1].address  # type: ignore[union-attr]
    part = struct_field(struct_of(child, VALID).slice(3), "f")
    assert part.buffers[1].address == child.buffers[1].address + 24  # type: ignore[union-attr]


def test_agrees_with_pyarrow() -> None:
    children = [
        samples()[name] for name in ("int8", "utf8", "bool", "list", "dictionary", "struct")
    ]
    names = list("abcdef")
    mask = pa.array([not ok for ok in VALID])
    theirs = pa.StructArray.from_arrays(children, names=names, mask=mask)
    for part in (theirs, theirs.slice(3, 7)):
        ours = from_pyarrow(part)
        for item, expected in zip(struct_flatten(ours), part.flatten(), strict=True):
            assert item.equals(from_pyarrow(expected))
        for i, name in enumerate(names):
            expected = from_pyarrow(pc.struct_field(part, [i]))
            assert struct_field(ours, name).equals(expected)
            assert struct_field(ours, i).equals(expected)
            assert struct_field(ours, i - 6).equals(expected)


def test_slots_of_a_dense_union_that_share_a_value() -> None:
    children = [ints([7, 8]), sample("utf8").slice(0, 2)]
    kind = s.dense_union([("n", s.int64()), ("t", s.utf8())], [5, 3])
    ids, places = buffer([5, 3, 5, 5], "i1"), buffer([1, 0, 1, 1], "<i4")
    union = Array(kind, 4, [ids, places], children)
    whole = Array(s.struct([("u", kind)]), 4, [buffer([0b1011], "u1")], [union])
    assert struct_field(whole, "u").to_pylist() == [8, "a", None, 8]


def test_paths() -> None:
    inner = {"x": 1, "y": {"z": "deep"}}
    theirs = pa.array([{"a": inner}, None, {"a": None}, {"a": {"x": 2, "y": None}}])
    array = from_pyarrow(theirs)
    assert struct_field(array, ["a", "y", "z"]).to_pylist() == ["deep", None, None, None]
    assert struct_field(array, [0, "x"]).to_pylist() == [1, None, None, 2]
    assert struct_field(array, []) is array
    with pytest.raises(TypeError, match="expected a struct array, got int64"):
        struct_field(array, ["a", "x", "x"])


def test_fields_that_are_not_there() -> None:
    array = sample("struct")
    with pytest.raises(KeyError, match="no field named 'z'"):
        struct_field(array, "z")
    with pytest.raises(IndexError, match="field 2 is out of range for a schema with 2 fields"):
        struct_field(array, 2)
    twins = make_struct([ints([1]), ints([2])], ["a", "a"])
    with pytest.raises(KeyError, match="2 fields named 'a'"):
        struct_field(twins, "a")
    with pytest.raises(TypeError, match="expected a struct array, got int64"):
        struct_flatten(ints([1]))
    short = Array(s.struct([("f", s.int64())]), 2, [None], [ints([1])])
    with pytest.raises(InvalidArrowError):
        struct_flatten(short)


def test_make_struct() -> None:
    arrays = [sample(name) for name in samples()]
    actual = make_struct(arrays, list(samples()))
    assert struct_flatten(actual) == arrays
    assert actual.null_count == 0
    validate(actual, full=True)
    theirs = pc.make_struct(*[samples()["int8"], samples()["utf8"]], field_names=["a", "b"])
    assert make_struct([sample("int8"), sample("utf8")], ["a", "b"]).equals(from_pyarrow(theirs))
    part = make_struct([sample("utf8").slice(2, 3), sample("list").slice(4, 3)], ["a", "b"])
    assert part.to_pylist() == [
        {"a": "", "b": [None, 4]},
        {"a": "twelve bytes", "b": [5] * 9},
        {"a": "thirteen byte", "b": None},
    ]
    theirs = pc.make_struct(
        pa.array([1]), pa.array(["x"]), field_names=["a", "b"], field_nullability=[False, True]
    )
    actual = make_struct(
        [ints([1]), from_pyarrow(pa.array(["x"]))], ["a", "b"], field_nullability=[False, True]
    )
    assert actual.type == from_pyarrow(theirs).type
    assert actual.to_pylist() == theirs.to_pylist()
    with pytest.raises(ValueError, match="a: 1 nulls in a field that may not be null"):
        make_struct([ints([1, None])], ["a"], field_nullability=[False])
    with pytest.raises(ValueError, match="field_nullability: 2 for 1 fields"):
        make_struct([ints([1])], ["a"], field_nullability=[True, True])
    assert make_struct([], []).length == 0


def test_arrays_that_make_no_struct() -> None:
    with pytest.raises(ValueError, match="names: 1 names for 2 arrays"):
        make_struct([ints([1]), ints([2])], ["a"])
    with pytest.raises(ValueError, match="b: 2 values, a has 1"):
        make_struct([ints([1]), ints([2, 3])], ["a", "b"])


@given(st.lists(st.tuples(st.booleans(), st.none() | st.integers(0, 9)), max_size=90), st.data())
def test_any_nulls(slots: list[tuple[bool, int | None]], data: st.DataObject) -> None:
    mask = pa.array([not ok for ok, _ in slots], pa.bool_())
    child = pa.array([v for _, v in slots], pa.int64())
    theirs = pa.StructArray.from_arrays([child], names=["f"], mask=mask)
    begin = data.draw(st.integers(0, len(slots)))
    actual = struct_field(from_pyarrow(theirs).slice(begin), "f")
    assert actual.to_pylist() == [v if ok else None for ok, v in slots[begin:]]
