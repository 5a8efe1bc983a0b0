"""`trim`: what an array shows and nothing else, for what leaves the process."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import arrow_strategies
import numpy as np
import pyarrow as pa
import pytest
from arrow_oracle import from_pyarrow
from hypothesis import given
from hypothesis import strategies as st
from operations.samples import buffer, sample, samples

import colkern.schema as s
from colkern.arrays import Array
from colkern.layouts import Extent, Role
from colkern.memory import Buffer
from colkern.operations import trim, validate


def parts(array: Array) -> Iterator[Array]:
    """The array and all below it; dictionaries are not trimmed."""
    yield array
    for child in array.children:
        yield from parts(child)


def check_trimmed(trimmed: Array) -> None:
    """Nothing is longer than needed, and nothing stands where no reader looks."""
    for array in parts(trimmed):
        assert array.offset == 0
        for spec, item in zip(array.layout.buffers, array.buffers, strict=False):
            if spec.extent is not Extent.FREE and item is not None and array.length:
                assert item.size == spec.min_bytes(array.length)
            if spec.extent is Extent.BITS and item is not None and array.length % 8:
                assert item.tobytes()[-1] >> array.length % 8 == 0
        for slot in range(array.length):
            # Not `is None`: a value in a dictionary may be null too.
            if array.layout.has_validity and array.slice(slot, 1).null_count:
                assert nothing_stands_in(array, slot)
        offsets = array.layout.name in ("variable-size binary", "variable-size list")
        if offsets and array.length:
            assert array.items(Role.OFFSETS)[0] == 0
        if array.layout.name == "variable-size binary" and array.length:
            data = array.buffer(Role.BYTES)
            assert (0 if data is None else data.size) == array.items(Role.OFFSETS)[-1]


def nothing_stands_in(array: Array, slot: int) -> bool:
    for spec, item in zip(array.layout.buffers, array.buffers, strict=False):
        if spec.role in (Role.VALIDITY, Role.BYTES) or item is None:
            continue
        if spec.extent is Extent.SLOTS_AND_ONE:
            offsets = array.items(spec.role)
            if offsets[slot] != offsets[slot + 1]:
                return False
        elif spec.extent is Extent.BITS:
            if item.tobytes()[slot // 8] >> slot % 8 & 1:
                return False
        elif any(item.tobytes()[slot * spec.dtype.itemsize :][: spec.dtype.itemsize]):
            return False
    return True


@pytest.mark.parametrize("name", samples())
def test_every_layout_whole_and_sliced(name: str) -> None:
    whole = sample(name)
    for start, length in ((0, 12), (3, 7), (11, 1), (5, 0), (1, 11)):
        array = whole.slice(start, length)
        trimmed = trim(array)
        assert trimmed.to_pylist() == array.to_pylist()
        assert trimmed.type == array.type
        assert trimmed.null_count == array.null_count
        check_trimmed(trimmed)
        validate(trimmed, full=True)


@given(arrow_strategies.arrays(), st.data())
def test_any_array_sliced_anywhere(theirs: pa.Array, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(theirs)))
    length = data.draw(st.integers(0, len(theirs) - start))
    array = from_pyarrow(theirs).slice(start, length)
    trimmed = trim(array)
    assert trimmed.to_pylist() == array.to_pylist()
    check_trimmed(trimmed)
    validate(trimmed, full=True)


# What no value shows. A reader of the buffers must not find it: eight bytes, so that an int64 holds them.

SECRET = b"SECRET!!"
NUMBER = int.from_bytes(SECRET, "little")
SECOND_IS_NULL = buffer([0b101], "u1")


def numbers(*values: int) -> Array:
    return Array(s.int64(), len(values), [None, buffer(values, "i8")])


def in_structs(child: Array) -> Array:
    """Three slots below structs of which the second is null."""
    return Array(s.struct([("x", child.type)]), 3, [SECOND_IS_NULL], [child])


def view(value: bytes, number: int = 0, begin: int = 0, *, tail: bytes = b"") -> bytes:
    """A view, `tail` in place of the zeros behind an inline value or of the prefix of another."""
    if len(value) <= 12:
        return struct.pack("<i12s", len(value), value + tail)
    return struct.pack("<i4sii", len(value), tail or value[:4], number, begin)


def view_array(result: list[bytes], *data: bytes, validity: Buffer | None = None) -> Array:
    buffers = [validity, *(buffer(list(part), "u1") for part in (b"".join(result), *data))]
    return Array(s.utf8_view(), len(result), buffers)


def run_ends(ends: list[int], values: Array, *, offset: int = 0) -> Array:
    kind = s.run_end_encoded(s.int32(), values.type)
    ends_array = Array(s.int32(), len(ends), [None, buffer(ends, "i4")])
    return Array(kind, ends[-1] - offset, [], [ends_array, values], offset=offset)


def list_views(begins: list[int], sizes: list[int], child: Array, validity: Any = None) -> Array:
    buffers = [validity, buffer(begins, "i4"), buffer(sizes, "i4")]
    return Array(s.list_view(child.type), len(begins), buffers, [child])


def dense(type_ids: list[int], offsets: list[int], *children: Array) -> Array:
    fields = [(f"f{i}", child.type) for i, child in enumerate(children)]
    kind = s.dense_union(fields, type_codes=range(len(children)))
    return Array(kind, len(type_ids), [buffer(type_ids, "i1"), buffer(offsets, "i4")], children)


def sparse(type_ids: list[int], *children: Array) -> Array:
    fields = [(f"f{i}", child.type) for i, child in enumerate(children)]
    kind = s.sparse_union(fields, type_codes=range(len(children)))
    return Array(kind, len(type_ids), [buffer(type_ids, "i1")], children)


LONG = b"visible, visible"
SEEN = numbers(1, NUMBER, 3)

LEAKS = {
    "list-view, below a null": list_views([0, 1, 2], [1, 1, 1], SEEN, SECOND_IS_NULL),
    "list-view, between two": list_views([0, 2], [1, 1], SEEN),
    "list-view, between two that overlap a third": list_views(
        [0, 0, 4], [2, 2, 1], numbers(1, 2, NUMBER, NUMBER, 5)
    ),
    "list-view, below a null struct": in_structs(list_views([0, 1, 2], [1, 1, 1], SEEN)),
    "list-view of text": list_views([2, 0], [1, 1], from_pyarrow(pa.array(["a", "SECRET!!", "b"]))),
    "dense union, no offset": dense([0, 0], [0, 2], SEEN),
    "dense union, below a null struct": in_structs(dense([0, 0, 0], [0, 1, 2], SEEN)),
    "dense union, all of a child": in_structs(
        dense([0, 1, 0], [0, 0, 1], numbers(1, 3), numbers(NUMBER))
    ),
    "run-end encoded, below a null struct": in_structs(run_ends([1, 2, 3], SEEN)),
    "run-end encoded, sliced": in_structs(
        run_ends([2, 4, 5, 6], numbers(NUMBER, 1, NUMBER, 3), offset=3)
    ),
    "sparse union, not chosen": sparse([1, 0, 1], numbers(NUMBER, 5, NUMBER), SEEN),
    "sparse union, below a null struct": in_structs(sparse([0, 0, 0], SEEN)),
    "fixed-size list, below a null struct": in_structs(
        Array(s.fixed_size_list(s.int64(), 1), 3, [None], [SEEN])
    ),
    "list, below a null struct": in_structs(
        Array(s.list_(s.int64()), 3, [None, buffer([0, 1, 2, 3], "i4")], [SEEN])
    ),
    "views that share bytes, beside them": view_array([view(LONG)] * 3, LONG + SECRET),
    "views that share bytes, in another buffer": view_array(
        [view(LONG, 1, 8)] * 9, SECRET, SECRET + LONG, SECRET
    ),
    "views that share bytes, below a null": view_array(
        [view(LONG), view(SECRET * 2, 1), view(LONG), view(LONG)],
        LONG,
        SECRET * 2,
        validity=buffer([0b1101], "u1"),
    ),
    "views, behind an inline value": view_array([view(b"a", tail=SECRET)]),
    "views, behind an inline value beside a long one": view_array(
        [view(b"a", tail=SECRET), view(LONG, 0, 8)], SECRET + LONG
    ),
    "views, below a null": view_array(
        [view(b"a"), view(SECRET), view(b"b")], validity=SECOND_IS_NULL
    ),
}


def every_byte(array: Array) -> Iterator[bytes]:
    for part in parts(array):
        yield from (item.tobytes() for item in part.buffers if item is not None)


@pytest.mark.parametrize("name", LEAKS)
def test_nothing_is_kept_that_no_value_shows(name: str) -> None:
    array = LEAKS[name]
    assert any(SECRET in item for item in every_byte(array))
    trimmed = trim(array)
    assert not any(SECRET in item for item in every_byte(trimmed))
    assert trimmed.to_pylist() == array.to_pylist()
    check_trimmed(trimmed)
    validate(trimmed, full=True)


def values_below(array: Array) -> Iterator[bytes]:
    """The buffers that hold values, here and below; not those that tell where values are."""
    kept = (Role.VALIDITY, Role.OFFSETS, Role.SIZES, Role.TYPE_IDS)
    for spec, item in zip(array.layout.buffers, array.buffers, strict=False):
        if spec.role not in kept and item is not None:
            yield item.tobytes()
    yield from (item.tobytes() for item in array.data_buffers if item is not None)
    first = 1 if array.layout.name == "run-end encoded" else 0
    for child in array.children[first:]:
        yield from values_below(child)


@given(arrow_strategies.arrays())
def test_below_null_structs_alone_there_are_zeros_only(theirs: pa.Array) -> None:
    child = from_pyarrow(theirs)
    size = (child.length + 7) // 8
    kind = s.struct([("x", child.type)])
    hidden = Array(kind, child.length, [buffer([0] * size, "u1")], [child])
    trimmed = trim(hidden)
    assert not any(any(item) for item in values_below(trimmed.children[0]))
    assert trimmed.to_pylist() == [None] * child.length
    validate(trimmed, full=True)


@given(arrow_strategies.arrays())
def test_trimming_again_changes_nothing(theirs: pa.Array) -> None:
    once = trim(from_pyarrow(theirs))
    assert list(every_byte(trim(once))) == list(every_byte(once))


def test_the_prefix_of_a_long_view_is_its_value_s() -> None:
    for data in (LONG, LONG + b"more"):
        trimmed = trim(view_array([view(LONG, tail=b"SECR")], data))
        assert trimmed.buffers[1] is not None
        assert trimmed.buffers[1].tobytes() == view(LONG)


def test_a_child_is_null_where_it_is_hidden() -> None:
    bits = buffer([0b011], "u1")
    child = Array(s.int64(), 3, [bits, buffer([1, NUMBER, NUMBER], "i8")])
    (actual,) = trim(in_structs(child)).children
    assert actual.to_pylist() == [1, None, None]
    assert actual.null_count == 2
    # One without nulls goes on without a bitmap.
    (actual,) = trim(in_structs(SEEN)).children
    assert actual.to_pylist() == [1, 0, 3]
    assert actual.buffers[0] is None


def test_what_is_trimmed_already_is_shared() -> None:
    array = from_pyarrow(pa.array(["a", None, "ccc"]))
    trimmed = trim(array)
    for ours, theirs in zip(trimmed.buffers, array.buffers, strict=True):
        assert ours is not None
        assert theirs is not None
        assert ours.address == theirs.address


def test_secrets_under_nulls_do_not_survive() -> None:
    validity = buffer([0b101], "u1")
    secret = Array(s.int32(), 3, [validity, buffer([1, 42, 3], "i4")])
    assert trim(secret).items(Role.DATA).tolist() == [1, 0, 3]

    text = Array(
        s.utf8(), 3, [validity, buffer([0, 1, 7, 8], "i4"), buffer(list(b"asecretz"), "u1")]
    )
    data = trim(text).buffer(Role.BYTES)
    assert data is not None
    assert data.tobytes() == b"az"

    lists = Array(
        s.list_(s.int8()),
        3,
        [validity, buffer([0, 1, 3, 4], "i4")],
        [Array(s.int8(), 4, [None, buffer([1, 2, 3, 4], "i1")])],
    )
    assert trim(lists).children[0].to_pylist() == [1, 4]


def test_values_below_a_null_struct_or_list_do_not_survive() -> None:
    validity = buffer([0b01], "u1")
    numbers = Array(s.int8(), 2, [None, buffer([1, 42], "i1")])
    struct = Array(s.struct([("x", s.int8())]), 2, [validity], [numbers])
    assert trim(struct).children[0].to_pylist() == [1, 0]

    four = Array(s.int8(), 4, [None, buffer([1, 2, 42, 43], "i1")])
    fixed = Array(s.fixed_size_list(s.int8(), 2), 2, [validity], [four])
    assert trim(fixed).children[0].to_pylist() == [1, 2, 0, 0]


def test_views_keep_only_the_bytes_they_point_at() -> None:
    long = [f"value number {i:03}" for i in range(100)]
    whole = from_pyarrow(pa.array(long, pa.string_view()))
    trimmed = trim(whole.slice(40, 3))
    assert [b.tobytes() for b in trimmed.data_buffers if b] == ["".join(long[40:43]).encode()]
    assert trimmed.to_pylist() == long[40:43]
    validate(trimmed, full=True)


def test_views_that_share_bytes_are_not_written_out_again() -> None:
    data = b"a value of some length"
    view = np.array([len(data), int.from_bytes(data[:4], "little"), 0, 0], np.int32)
    shared = Array(
        s.utf8_view(), 3, [None, buffer(np.tile(view, 3), "i4"), buffer(list(data), "u1")]
    )
    trimmed = trim(shared)
    assert [b.size for b in trimmed.data_buffers if b] == [len(data)]
    assert trimmed.to_pylist() == [data.decode()] * 3


def test_list_views_keep_only_the_elements_in_use() -> None:
    child = Array(s.int8(), 6, [None, buffer(range(6), "i1")])
    begins, sizes = buffer([4, 2, 0], "i4"), buffer([1, 2, 0], "i4")
    array = Array(s.list_view(s.int8()), 3, [None, begins, sizes], [child])
    trimmed = trim(array)
    assert trimmed.to_pylist() == [[4], [2, 3], []]
    assert trimmed.children[0].to_pylist() == [2, 3, 4]
    assert trimmed.items(Role.OFFSETS).tolist() == [2, 0, 0]
