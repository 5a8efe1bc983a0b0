"""Offsets to views and back."""

from __future__ import annotations

from functools import cache

import pyarrow as pa
import pytest
from arrow_oracle import from_pyarrow
from hypothesis import given
from hypothesis import strategies as st
from operations.samples import buffer, ints
from present import present

import colkern.schema as s
from colkern.arrays import Array
from colkern.cpu import compiler
from colkern.cpu import target as cpu_target
from colkern.errors import InvalidArrowError, LimitExceededError
from colkern.kernels import views
from colkern.memory import Buffer
from colkern.operations import (
    compact_views,
    concat,
    offsets_to_views,
    take,
    validate,
    views_to_offsets,
)

VALUES = [b"", b"a", b"x" * 11, b"x" * 12, b"y" * 13, None, b"abcd" * 8, b"\0" * 12, None, b"\xff"]

OFFSET_TYPES = [pa.utf8(), pa.large_utf8(), pa.binary(), pa.large_binary()]
VIEW_TYPES = [(pa.string_view(), pa.utf8()), (pa.binary_view(), pa.binary())]


def words(values: list[bytes | None], type_: pa.DataType) -> pa.Array:
    if type_ in (pa.utf8(), pa.large_utf8(), pa.string_view()):
        return pa.array([None if v is None else v.decode("latin-1") for v in values], type_)
    return pa.array(values, type_)


@pytest.mark.parametrize("type_", OFFSET_TYPES, ids=str)
@pytest.mark.parametrize(("offset", "length"), [(0, 10), (1, 8), (3, 4), (9, 1), (4, 0)])
def test_offsets_to_views(type_: pa.DataType, offset: int, length: int) -> None:
    array = from_pyarrow(words(VALUES, type_)).slice(offset, length)
    actual = offsets_to_views(array)
    assert actual.to_pylist() == array.to_pylist()
    assert actual.null_count == array.null_count
    # Prefixes and padding too.
    validate(actual, full=True)
    text = type_ in (pa.utf8(), pa.large_utf8())
    assert actual.type == (s.utf8_view() if text else s.binary_view())


def test_bytes_are_shared() -> None:
    array = from_pyarrow(words(VALUES, pa.binary()))
    (data,) = offsets_to_views(array).data_buffers
    assert data is not None
    assert data.address == present(array.buffers[2]).address


@pytest.mark.parametrize(("type_", "plain"), VIEW_TYPES, ids=str)
@pytest.mark.parametrize(("offset", "length"), [(0, 20), (1, 8), (3, 14), (19, 1), (4, 0)])
@pytest.mark.parametrize("large", [False, True])
def test_views_to_offsets(
    type_: pa.DataType, plain: pa.DataType, offset: int, length: int, large: bool
) -> None:
    # Several data buffers.
    both = pa.concat_arrays([words(VALUES, type_), words(VALUES, type_)])
    array = from_pyarrow(both).slice(offset, length)
    actual = views_to_offsets(array, large=large)
    assert actual.to_pylist() == array.to_pylist()
    assert actual.null_count == array.null_count
    validate(actual, full=True)
    assert actual.buffers[2] is not None
    shown = [v for v in (VALUES + VALUES)[offset : offset + length] if v is not None]
    if type_ == pa.binary_view():
        assert actual.buffers[2].tobytes() == b"".join(shown)


@given(st.lists(st.none() | st.binary(max_size=30), max_size=40), st.data())
def test_there_and_back(values: list[bytes | None], data: st.DataObject) -> None:
    array = from_pyarrow(pa.array(values, pa.binary()))
    offset = data.draw(st.integers(0, len(values)))
    actual = offsets_to_views(array).slice(offset)
    assert actual.to_pylist() == values[offset:]
    assert views_to_offsets(concat([actual, actual])).to_pylist() == values[offset:] * 2
    validate(actual, full=True)


def test_garbage_under_nulls_is_left_behind() -> None:
    garbage = buffer([2**31 - 1, 7, 99, -1, -5, 0, 0, 0, 2, 0x4241, 0, 0], "<i4")
    array = Array(s.binary_view(), 3, [buffer([0b100], "u1"), garbage])
    actual = views_to_offsets(array)
    assert actual.to_pylist() == [None, None, b"AB"]
    assert present(actual.buffers[1]).array.view("<i4").tolist() == [0, 0, 0, 2]


def test_bytes_under_nulls_are_left_behind() -> None:
    data = Buffer.from_object(b"x" * 20)
    array = Array(s.binary(), 2, [buffer([0b10], "u1"), buffer([0, 14, 20], "<i4"), data])
    actual = offsets_to_views(array)
    assert present(actual.buffers[1]).array[:16].tolist() == [0] * 16
    assert actual.to_pylist() == [None, b"x" * 6]


def test_absent_data_buffers() -> None:
    array = Array(s.binary_view(), 1, [None, buffer([1, 0x41, 0, 0], "<i4"), None])
    assert views_to_offsets(array).to_pylist() == [b"A"]
    empty = Array(s.utf8(), 0, [None, None, None])
    assert offsets_to_views(empty).to_pylist() == []
    nothing = Array(s.utf8(), 2, [None, buffer([0, 0, 0], "<i4"), None])
    assert offsets_to_views(nothing).to_pylist() == ["", ""]


def test_windows_over_long_data(monkeypatch: pytest.MonkeyPatch) -> None:
    # Every data buffer starts a window's length after the one before: as if 1 GiB were 16 bytes.
    values = [b"first value of 21 byt", b"second value, longer than a window", b"third value.."]
    array = from_pyarrow(pa.array(values, pa.binary()))
    monkeypatch.setattr(views, "WINDOW_BITS", 4)
    monkeypatch.setattr(compiler, "compile_kernel", cache(compiler.compile_kernel.__wrapped__))
    monkeypatch.setattr(compiler, "compiled", cache(compiler.compiled.__wrapped__))
    monkeypatch.setattr(cpu_target, "_loops", {})
    views_of_windows = offsets_to_views(array)
    assert len(views_of_windows.data_buffers) == 5
    assert views_of_windows.to_pylist() == values
    validate(views_of_windows, full=True)


def test_values_that_do_not_fit_32_bits() -> None:
    long = Buffer.from_object(bytes(1 << 20))
    view = buffer([1 << 20, 0, 0, 0] * 2048, "<i4")
    array = Array(s.binary_view(), 2048, [None, view, long])
    with pytest.raises(LimitExceededError, match="use the large form"):
        views_to_offsets(array)


def test_wrong_types() -> None:
    with pytest.raises(TypeError, match="expected utf8_view or binary_view, got int64"):
        views_to_offsets(ints([1]))
    with pytest.raises(TypeError, match="expected a variable-size binary type, got int64"):
        offsets_to_views(ints([1]))


def test_bad_views_are_refused() -> None:
    array = Array(s.binary_view(), 1, [None, buffer([13, 0, 0, 0], "<i4")])
    with pytest.raises(InvalidArrowError, match="slot 0"):
        views_to_offsets(array)
    bad = Array(s.binary(), 1, [None, buffer([0, 2], "<i4"), Buffer.from_object(b"x")])
    with pytest.raises(InvalidArrowError, match="the last offset is 2"):
        offsets_to_views(bad)


@pytest.mark.parametrize("type_", [pa.string_view(), pa.binary_view()], ids=str)
def test_compact_views(type_: pa.DataType) -> None:
    array = from_pyarrow(words(VALUES * 3, type_))
    for part in (array.slice(4, 9), take(array, ints([6, None, 6, 3, 4])), array.slice(0, 4)):
        actual = compact_views(part)
        assert actual.to_pylist() == part.to_pylist()
        assert actual.type == part.type
        shown = [v for v in VALUES * 3 if v is not None and len(v) > 12]
        assert sum(present(b).size for b in actual.data_buffers) <= sum(map(len, shown))
        validate(actual, full=True)


def test_compact_views_shows_only_what_valid_slots_show() -> None:
    array = from_pyarrow(words([b"a" * 20, b"b" * 30, None, b"c" * 40], pa.binary_view()))
    (data,) = compact_views(array.slice(1, 2)).data_buffers
    assert data is not None
    assert data.tobytes() == b"b" * 30
    hidden = Array(array.type, 4, [buffer([5], "u1"), *array.buffers[1:]])
    (data,) = compact_views(hidden).data_buffers
    assert data is not None
    assert data.tobytes() == b"a" * 20


def test_compact_views_keeps_what_is_shared() -> None:
    array = from_pyarrow(words([b"a" * 20, b"b" * 30], pa.binary_view()))
    assert compact_views(array) is array
    many = take(array, ints([0, 1, 0, 1]))
    assert compact_views(many) is many
    empty = array.slice(0, 0)
    assert compact_views(empty).data_buffers == ()
    with pytest.raises(TypeError, match="expected utf8_view or binary_view, got int64"):
        compact_views(ints([1]))
