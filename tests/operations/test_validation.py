"""`validate` and `require_valid`: each rule of the format, broken by the smallest data that can."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest
from arrow_oracle import batch_from_pyarrow, from_pyarrow
from operations.samples import buffer, ints, sample, samples

import colkern.schema as s
from colkern.arrays import Array, RecordBatch
from colkern.errors import InvalidArrowError
from colkern.extensions.making import timestamp_with_offset, variable_shape_tensor
from colkern.memory import Buffer
from colkern.operations import nulls, require_valid, take, validate

NO_SLOT_VALID = buffer([0], "u1")
SECOND_VALID = buffer([0b10], "u1")


@pytest.mark.parametrize("name", samples())
@pytest.mark.parametrize("full", [False, True])
def test_good_data_passes(name: str, full: bool) -> None:
    for part in (
        sample(name),
        sample(name).slice(3, 6),
        sample(name).slice(12),
        nulls(3, sample(name).type),
    ):
        validate(part, full=full)


def test_batch() -> None:
    batch = batch_from_pyarrow(pa.record_batch(samples()))
    validate(batch, full=True)
    bad = RecordBatch(s.Schema((s.field("a", s.utf8()),)), [utf8([0, 4], b"abc")])
    with pytest.raises(InvalidArrowError, match=r"^a: "):
        bad.validate(full=True)


# What each layout can get wrong. A bad array, and what is said of it.


def utf8(offsets: list[int], data: bytes, validity: Buffer | None = None) -> Array:
    return Array(
        s.utf8(), len(offsets) - 1, [validity, buffer(offsets, "<i4"), Buffer.from_object(data)]
    )


def lists(offsets: list[int]) -> Array:
    return Array(
        s.list_(s.int64()), len(offsets) - 1, [None, buffer(offsets, "<i4")], [ints([1, 2])]
    )


def list_view(offset: int, size: int, validity: Buffer | None = None) -> Array:
    buffers = [validity, buffer([offset], "<i8"), buffer([size], "<i8")]
    return Array(s.large_list_view(s.int64()), 1, buffers, [ints([1, 2])])


def views(words: list[list[int]], *data: bytes, validity: Buffer | None = None) -> Array:
    flat = buffer([w for view in words for w in view], "<i4")
    return Array(
        s.utf8_view(), len(words), [validity, flat, *(Buffer.from_object(d) for d in data)]
    )


def encoded(index: int, validity: Buffer | None = None) -> Array:
    data = buffer([index], "<i8")
    dictionary = from_pyarrow(pa.array(["a", "b"]))
    return Array(s.dictionary(s.int64(), s.utf8()), 1, [validity, data], [], dictionary)


def dense(type_id: int, offset: int) -> Array:
    type_ = s.dense_union([s.field("n", s.int64()), s.field("m", s.int64())], [5, 3])
    buffers = [buffer([type_id], "i1"), buffer([offset], "<i4")]
    return Array(type_, 1, buffers, [ints([1, 2]), ints([])])


def sparse(type_id: int) -> Array:
    type_ = s.sparse_union([s.field("n", s.int64())], [5])
    return Array(type_, 1, [buffer([type_id], "i1")], [ints([1, 2])])


def runs(ends: list[int | None], length: int, offset: int = 0, values: int = 3) -> Array:
    type_ = s.run_end_encoded(s.int32(), s.int64())
    return Array(type_, length, [], [ints(ends, s.int32()), ints([7] * values)], offset=offset)


def fixed_lists(length: int) -> Array:
    return Array(s.fixed_size_list(s.int64(), 2), length, [None], [ints([1, 2, 3])])


def struct(length: int) -> Array:
    fields = [s.field("x", s.int64())]
    return Array(s.struct(fields), length, [None], [ints([1, 2])])


def decimal(value: int) -> Array:
    return Array(s.decimal64(2), 1, [None, buffer([value], "<i8")])


def day(milliseconds: int) -> Array:
    return Array(s.date64(), 1, [None, buffer([milliseconds], "<i8")])


def time(seconds: int) -> Array:
    return Array(s.time32("s"), 1, [None, buffer([seconds], "<i4")])


def falling_union() -> Array:
    type_ = s.dense_union([s.field("n", s.int64()), s.field("m", s.int64())], [5, 3])
    buffers = [buffer([5, 3, 5], "i1"), buffer([1, 1, 0], "<i4")]
    return Array(type_, 3, buffers, [ints([1, 2]), ints([3, 4])])


def maps(keys: list[str | None], entries_valid: Buffer | None = None) -> Array:
    keys_ = from_pyarrow(pa.array(keys, pa.utf8()))
    type_ = s.map_(s.utf8(), s.int64())
    entry = type_.fields[0].type
    entries = Array(entry, len(keys), [entries_valid], [keys_, ints([1] * len(keys))])
    return Array(type_, 1, [None, buffer([0, len(keys)], "<i4")], [entries])


LONG = [13, 0x64636261, 0, 0]  # 13 bytes that begin with "abcd", at 0 of data buffer 0


def tensor(shape: list[int], elements: int) -> Array:
    """One tensor with a shape of its own."""
    type_ = variable_shape_tensor(s.int64(), len(shape))
    data_type, shape_type = (field.type for field in type_.fields)
    sizes = Array(s.int32(), len(shape), [None, buffer(shape, "<i4")])
    data = Array(data_type, 1, [None, buffer([0, elements], "<i4")], [ints(range(elements))])
    return Array(type_, 1, [None], [data, Array(shape_type, 1, [None], [sizes])])


def offset_timestamp(minutes: int) -> Array:
    """The epoch, that many minutes from UTC."""
    type_ = timestamp_with_offset("s")
    stamp = Array(type_.fields[0].type, 1, [None, buffer([0], "<i8")])
    return Array(type_, 1, [None], [stamp, Array(s.int16(), 1, [None, buffer([minutes], "<i2")])])


BAD: dict[str, tuple[Array, str]] = {
    "tensor of fewer elements than its shape": (
        tensor([2, 2], 3),
        "slot 0: 3 elements, shape [2, 2]",
    ),
    "tensor of a negative size": (tensor([-1, -1], 1), "slot 0: 1 elements, shape [-1, -1]"),
    "offset from UTC past 13 hours": (offset_timestamp(781), "slot 0: 781 minutes from UTC"),
    "first offset negative": (utf8([-1, 2], b"abc"), "slot 0: the first offset is -1"),
    "offsets descend": (utf8([0, 2, 1], b"abc"), "slot 1: begins at 2 and ends at 1"),
    "last offset past the data": (utf8([0, 4], b"abc"), "the last offset is 4, past the end at 3"),
    "middle offset past the data": (utf8([0, 9, 3], b"abc"), "slot 1: begins at 9 and ends at 3"),
    "offsets descend under a null": (
        utf8([0, 2, 1], b"abc", NO_SLOT_VALID),
        "slot 1: begins at 2 and ends at 1",
    ),
    "lone offset negative": (utf8([-1], b"abc"), "slot 0: the first offset is -1"),
    "lone offset past the data": (utf8([4], b"abc"), "the last offset is 4, past the end at 3"),
    "lone list offset past the child": (lists([3]), "the last offset is 3, past the end at 2"),
    "list offset past the child": (lists([0, 3]), "the last offset is 3, past the end at 2"),
    "list offsets descend": (lists([2, 0]), "slot 0: begins at 2 and ends at 0"),
    "list-view past the child": (list_view(1, 2), "slot 0: offset 1 and size 2 in 2 values"),
    "list-view before the child": (list_view(-1, 1), "slot 0: offset -1 and size 1"),
    "list-view with a negative size": (list_view(1, -1), "slot 0: offset 1 and size -1"),
    "list-view past the child under a null": (
        list_view(1, 2, NO_SLOT_VALID),
        "slot 0: offset 1 and size 2 in 2 values",
    ),
    "list-view whose end overflows": (
        list_view(2**63 - 1, 2**63 - 1),
        "slot 0: offset 9223372036854775807",
    ),
    "view of negative length": (views([[-1, 0, 0, 0]]), "slot 0: -1 bytes"),
    "view past its buffer": (
        views([LONG], b"abcdefghijkl"),
        "slot 0: 13 bytes at 0 of data buffer 0; there are 1",
    ),
    "view before its buffer": (views([[13, 0, 0, -1]], b"x" * 20), "slot 0: 13 bytes at -1"),
    "view into no buffer": (views([LONG]), "slot 0: 13 bytes at 0 of data buffer 0; there are 0"),
    "view into a negative buffer": (views([[13, 0, -1, 0]], b"x" * 20), "of data buffer -1"),
    "view with another prefix": (views([LONG], b"abcXefghijklm"), "slot 0: the view's prefix"),
    "view with bytes after its value": (views([[1, 0x4161, 0, 0]]), "slot 0: the view's padding"),
    "index past the dictionary": (encoded(2), "slot 0: index 2 into a dictionary of 2 values"),
    "negative index": (encoded(-1), "slot 0: index -1 into a dictionary"),
    "type id without a child": (sparse(4), "slot 0: type id 4 leads to no value"),
    "negative type id": (sparse(-1), "slot 0: type id -1 leads to no value"),
    "offset past a child": (dense(5, 2), "slot 0: type id 5, offset 2 leads to no value"),
    "offset into an empty child": (dense(3, 0), "slot 0: type id 3, offset 0 leads to no value"),
    "negative offset": (dense(5, -1), "slot 0: type id 5, offset -1 leads to no value"),
    "empty run": (runs([1, 1, 2], 2), "run 1: ends at 1, the one before at 1"),
    "run ends descend": (runs([2, 1, 3], 3), "run 1: ends at 1, the one before at 2"),
    "first run empty": (runs([0, 2, 3], 3), "run 0: ends at 0, the one before at 0"),
    "runs too short": (runs([1, 2, 3], 4), "run ends cover 3 of 4 slots"),
    "runs too short for a slice": (runs([1, 2, 3], 2, offset=2), "run ends cover 3 of 4 slots"),
    "empty run in an empty array": (runs([1, 1], 0), "run 1: ends at 1, the one before at 1"),
    "no runs": (runs([], 1), "run ends cover 0 of 1 slots"),
    "null run end": (runs([1, None, 3], 3), "run ends contain nulls"),
    "more runs than values": (runs([1, 2, 3], 3, values=2), "2 values for 3 runs"),
    "null among keys": (maps(["a", None]), "1 map keys are null"),
    "null entries": (maps(["a", "b"], SECOND_VALID), "1 map entries are null"),
    "not UTF-8": (utf8([0, 1, 2], b"a\xff"), "slot 1: not UTF-8: byte 0xff at 0"),
    "half a character": (
        utf8([0, 1, 2], "ü".encode()),
        "slot 0: not UTF-8: the last of its 1 bytes is within a character",
    ),
    "a view that is not UTF-8": (views([[1, 0xFF, 0, 0]]), "slot 0: not UTF-8: byte 0xff at 0"),
    "decimal past its precision": (decimal(-100), "slot 0: -100 has more than 2 digits"),
    "part of a day": (day(1), "slot 0: 1 ms are no whole days"),
    "time past midnight": (time(86_400), "slot 0: 86400 s are no time of day"),
    "offsets into a child fall": (
        falling_union(),
        "slot 2: offset 0 into child 'n' after offset 1",
    ),
    "wrong null count": (
        Array(s.int8(), 2, [SECOND_VALID, buffer([1, 2], "i1")], null_count=2),
        "null count 2, the bitmap has 1",
    ),
}

SHAPES: dict[str, tuple[Array, str]] = {
    "lists longer than their child": (
        fixed_lists(2),
        "child 'item' has 3 values, its parent needs 4",
    ),
    "struct longer than its child": (struct(3), "child 'x' has 2 values, its parent needs 3"),
}


@pytest.mark.parametrize("what", BAD)
def test_broken_rule_is_found_by_a_full_look(what: str) -> None:
    array, message = BAD[what]
    validate(array)
    with pytest.raises(InvalidArrowError) as caught:
        validate(array, full=True)
    assert message in str(caught.value)


@pytest.mark.parametrize("what", SHAPES)
@pytest.mark.parametrize("full", [False, True])
def test_broken_shape_is_found_at_once(what: str, full: bool) -> None:
    array, message = SHAPES[what]
    with pytest.raises(InvalidArrowError) as caught:
        validate(array, full=full)
    assert message in str(caught.value)


def nested(array: Array) -> Iterator[tuple[Array, str]]:
    """The array inside others, each with its path."""
    field = s.field("a", array.type)
    one = len(array)
    yield Array(s.struct([field]), one, [None], [array]), "a: "
    offsets = buffer([0, one], "<i4")
    yield Array(s.list_(field), 1, [None, offsets], [array]), "a: "
    inner = Array(s.struct([field]), one, [None], [array])
    yield Array(s.list_(s.field("b", inner.type)), 1, [None, offsets], [inner]), "b.a: "
    yield Array(s.extension("x", s.struct([field])), one, [None], [array]), "a: "
    index = s.dictionary(s.int8(), array.type)
    yield Array(index, min(one, 1), [None, buffer([0], "i1")], [], array), "dictionary: "


@pytest.mark.parametrize("what", BAD)
def test_place_is_the_path(what: str) -> None:
    array, message = BAD[what]
    for outer, path in nested(array):
        with pytest.raises(InvalidArrowError) as caught:
            validate(outer, full=True)
        assert str(caught.value).startswith(path)
        assert message in str(caught.value)


# Nulls may hide what layouts allow them to hide.


@pytest.mark.parametrize(
    "array",
    [
        views([[13, 0, 9, 9]], validity=NO_SLOT_VALID),
        views([[1, 0x4141, 0, 0]], validity=NO_SLOT_VALID),
        encoded(99, NO_SLOT_VALID),
        utf8([0, 1], b"\xff", NO_SLOT_VALID),
    ],
    ids=["view", "inline view", "dictionary", "utf8"],
)
def test_what_stands_under_a_null_may_be_anything(array: Array) -> None:
    validate(array, full=True)
    assert array.to_pylist() == [None]


def test_a_slice_answers_for_itself_alone() -> None:
    array = utf8([9, 1, 3], b"abc")
    validate(array.slice(1), full=True)
    with pytest.raises(InvalidArrowError):
        validate(array, full=True)


def test_offsets_may_start_anywhere_and_leave_data_unused() -> None:
    validate(utf8([1, 2], b"\xffa\xff"), full=True)


def test_empty_arrays_may_go_without_buffers() -> None:
    validate(Array(s.utf8(), 0, [None, None, None]), full=True)
    for type_ in (s.utf8_view(), s.decimal128(3), s.date64(), s.time32("s")):
        validate(Array(type_, 0, [None, None]), full=True)
    validate(Array(s.list_(s.int64()), 0, [None, None], [ints([])]), full=True)
    validate(
        Array(s.dictionary(s.int8(), s.utf8()), 0, [None, None], [], nulls(0, s.utf8())), full=True
    )


def test_children_of_an_empty_map_are_checked_too() -> None:
    full = maps(["a", None])
    empty = Array(full.type, 0, [None, buffer([0], "<i4")], full.children)
    with pytest.raises(InvalidArrowError, match="1 map keys are null"):
        validate(empty, full=True)


def test_offsets_of_a_dense_union_increase_child_by_child() -> None:
    """Not strictly: slots may share a value, as slots of different children need no order."""

    def union(type_ids: list[int], places: list[int]) -> Array:
        type_ = s.dense_union([s.field("n", s.int64()), s.field("m", s.int64())], [5, 3])
        buffers = [buffer(type_ids, "i1"), buffer(places, "<i4")]
        return Array(type_, len(type_ids), buffers, [ints([1, 2]), ints([3, 4])])

    validate(union([5, 3, 5, 5], [0, 1, 0, 1]), full=True)
    validate(union([5, 3], [1, 0]), full=True)
    falling = union([3, 5, 3, 5], [0, 1, 1, 0])
    with pytest.raises(InvalidArrowError, match="slot 3: offset 0 into child 'n' after offset 1"):
        validate(falling, full=True)
    validate(falling.slice(2), full=True)
    assert falling.to_pylist() == [3, 2, 4, 1]


def test_last_type_id_and_longest_offset() -> None:
    type_ = s.dense_union([s.field("n", s.int64())], [127])
    array = Array(type_, 1, [buffer([127], "i1"), buffer([1], "<i4")], [ints([1, 2])])
    validate(array, full=True)


def test_nulls_without_a_bitmap() -> None:
    with pytest.raises(InvalidArrowError, match="int8: 1 nulls without a bitmap"):
        Array(s.int8(), 1, [None, buffer([1], "i1")], null_count=1)


# `require_valid`


def test_require_valid_looks_once(monkeypatch: pytest.MonkeyPatch) -> None:
    array = sample("list of views")
    require_valid(array)
    calls: list[object] = []
    monkeypatch.setattr(
        "colkern.operations.position_checks.check_child_lengths",
        lambda *args: calls.append(args),
    )
    require_valid(array)
    require_valid(array.slice(2, 5))
    require_valid(array.children[0])
    assert calls == []


def test_a_good_slice_does_not_vouch_for_the_whole() -> None:
    array = utf8([9, 1, 3], b"abc")
    require_valid(array.slice(1))
    with pytest.raises(InvalidArrowError):
        require_valid(array)


def test_what_failed_fails_again() -> None:
    array = utf8([0, 4], b"abc")
    for _ in range(2):
        with pytest.raises(InvalidArrowError):
            require_valid(array)


def test_no_result_is_looked_at_again() -> None:
    # An operation makes arrays that hold together.
    for name in samples():
        taken = take(sample(name), ints([3, 1]))
        assert taken._checked


def test_misaligned_buffers() -> None:
    raw = np.zeros(1 + 3 * 4, np.uint8)
    raw[1:] = np.array([0, 1, 3], "<i4").view(np.uint8)
    array = Array(s.utf8(), 2, [None, Buffer(raw)[1:], Buffer.from_object(b"abc")])
    validate(array, full=True)
    assert array.to_pylist() == ["a", "bc"]
    words = np.zeros(1 + 32, np.uint8)
    words[1:] = np.array([*LONG, 1, 0x41, 0, 0], "<i4").view(np.uint8)
    view = Array(s.utf8_view(), 2, [None, Buffer(words)[1:], Buffer.from_object(b"abcdefghijklm")])
    validate(view, full=True)
    assert take(view, ints([1, 0])).to_pylist() == ["A", "abcdefghijklm"]
