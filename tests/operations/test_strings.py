"""Operations on strings: as pyarrow's, or Python's own where it has none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from arrow_oracle import from_pyarrow
from hypothesis import given
from hypothesis import strategies as st
from operations.samples import TEXTS, ints

import colkern.schema as s
from colkern import ends_with, starts_with
from colkern.arrays import Array
from colkern.errors import InvalidArrowError
from colkern.memory import Buffer
from colkern.operations import (
    binary_length,
    equal,
    is_ascii,
    string_is_ascii,
    take,
    utf8_length,
    validate,
)

VALUES = [
    *TEXTS,
    "漢字かな混じり文",
    "thirteen byte, and more",
    "é" * 12,
    None,
    "\U0001f600",
    "a\0",
]
STRINGS = [pa.utf8(), pa.large_utf8(), pa.string_view()]
BINARY = [*STRINGS, pa.binary(), pa.large_binary(), pa.binary_view()]
CUTS = [(0, 18), (3, 9), (17, 1), (5, 0)]


def made(type_: pa.DataType, values: Sequence[str | None] = VALUES) -> Array:
    text = [v if v is None or type_ in STRINGS else v.encode() for v in values]
    return from_pyarrow(pa.array(text, type_))


def each(values: Sequence[str | None], work: Any) -> list[Any]:
    return [None if v is None else work(v) for v in values]


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("type_", STRINGS, ids=str)
def test_of_strings(type_: pa.DataType, cut: tuple[int, int]) -> None:
    array = made(type_).slice(*cut)
    values = array.to_pylist()
    assert string_is_ascii(array).to_pylist() == each(values, str.isascii)
    assert utf8_length(array).to_pylist() == each(values, len)
    assert is_ascii(array) is all(v is None or v.isascii() for v in values)
    for item in (string_is_ascii(array), utf8_length(array)):
        validate(item, full=True)


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("type_", BINARY, ids=str)
@pytest.mark.parametrize("pattern", ["", "t", "thirteen", "thirteen byte", "byte", "é", "x" * 41])
def test_matches(type_: pa.DataType, cut: tuple[int, int], pattern: str) -> None:
    array = made(type_).slice(*cut)
    texts = VALUES[cut[0] : cut[0] + cut[1]]
    for given_ in (pattern, pattern.encode()):
        starts, ends = starts_with(array, given_), ends_with(array, given_)
        assert starts.to_pylist() == each(texts, lambda v: v.startswith(pattern))
        assert ends.to_pylist() == each(texts, lambda v: v.endswith(pattern))
        validate(starts, full=True)
        validate(ends, full=True)


@pytest.mark.parametrize("type_", BINARY, ids=str)
def test_binary_length(type_: pa.DataType) -> None:
    actual = binary_length(made(type_))
    assert actual.to_pylist() == each(VALUES, lambda v: len(v.encode()))
    large = type_ in (pa.large_utf8(), pa.large_binary())
    assert actual.type == (s.int64() if large else s.int32())
    validate(actual, full=True)


@pytest.mark.parametrize("type_", [pa.utf8(), pa.large_utf8()], ids=str)
def test_types_are_those_of_pyarrow(type_: pa.DataType) -> None:
    theirs = pa.array(VALUES, type_)
    ours = from_pyarrow(theirs)
    assert utf8_length(ours).equals(from_pyarrow(pc.utf8_length(theirs)))
    assert binary_length(ours).equals(from_pyarrow(pc.binary_length(theirs)))
    assert string_is_ascii(ours).equals(from_pyarrow(pc.string_is_ascii(theirs)))


@pytest.mark.parametrize("type_", STRINGS, ids=str)
def test_ascii_alone(type_: pa.DataType) -> None:
    values: list[Any]
    for values in (["only", "ASCII " * 9, None, ""], ["a"], [None], ["", ""], []):
        array = made(type_, values)
        assert is_ascii(array)
        assert string_is_ascii(array).to_pylist() == each(values, lambda v: True)
        assert utf8_length(array).to_pylist() == each(values, len)


def test_what_is_under_a_null_is_not_looked_at() -> None:
    data = Buffer.from_object("abcé".encode())
    offsets = Buffer.from_object(b"".join(n.to_bytes(4, "little") for n in (0, 3, 5)))
    array = Array(s.utf8(), 2, [Buffer.from_object(b"\x01"), offsets, data])
    assert is_ascii(array)
    assert string_is_ascii(array).to_pylist() == [True, None]


@pytest.mark.parametrize("type_", STRINGS, ids=str)
def test_encoded_strings(type_: pa.DataType) -> None:
    words = pa.array(["x", None, "漢字", "a long one, and ASCII"], type_)
    picks = [2, None, 3, 1, 0, 2, 2]
    encoded = from_pyarrow(pa.DictionaryArray.from_arrays(pa.array(picks, pa.int8()), words))
    runs = from_pyarrow(
        pa.RunEndEncodedArray.from_arrays(pa.array([2, 3, 7, 12], pa.int32()), words)
    )
    for array in (encoded, encoded.slice(2), encoded.slice(1, 0), runs, runs.slice(2, 6)):
        values = array.to_pylist()
        assert string_is_ascii(array).to_pylist() == each(values, str.isascii)
        assert utf8_length(array).to_pylist() == each(values, len)
        assert starts_with(array, "a lo").to_pylist() == each(values, lambda v: v[:4] == "a lo")
        assert equal(array, "漢字").to_pylist() == each(values, lambda v: v == "漢字")
        assert is_ascii(array) is all(v is None or v.isascii() for v in values)


def test_other_types() -> None:
    for work in (string_is_ascii, utf8_length, is_ascii):
        with pytest.raises(TypeError, match="array: expected strings, got binary"):
            work(made(pa.binary()))
    with pytest.raises(TypeError, match="array: expected strings or binary values, got int64"):
        binary_length(ints([1]))
    with pytest.raises(TypeError, match="pattern: expected str or bytes, got int"):
        starts_with(made(pa.utf8()), 5)  # type: ignore[arg-type]


def test_offsets_are_looked_at_before_they_are_followed() -> None:
    offsets = Buffer.from_object(b"".join(n.to_bytes(4, "little") for n in (0, 2**30)))
    array = Array(s.utf8(), 1, [None, offsets, Buffer.from_object(b"abc")])
    for work in (string_is_ascii, utf8_length, binary_length, lambda a: ends_with(a, "c")):
        with pytest.raises(InvalidArrowError):
            work(array)


texts = st.lists(st.none() | st.text("aé漢\U0001f600", max_size=30), max_size=80)


@given(texts, st.sampled_from(STRINGS), st.text("aé漢", max_size=6), st.integers(0, 9))
def test_any_strings(
    values: list[str | None], type_: pa.DataType, pattern: str, offset: int
) -> None:
    array = made(type_, values).slice(min(offset, len(values)))
    values = values[offset:]
    assert utf8_length(array).to_pylist() == each(values, len)
    assert string_is_ascii(array).to_pylist() == each(values, str.isascii)
    assert starts_with(array, pattern).to_pylist() == each(values, lambda v: v.startswith(pattern))
    assert ends_with(array, pattern).to_pylist() == each(values, lambda v: v.endswith(pattern))
    assert equal(array, pattern).to_pylist() == each(values, lambda v: v == pattern)
    if values:
        picks = [len(values) // 2] * len(values)
        other = take(array, ints(picks))
        chosen = values[picks[0]]
        expected = each(values, lambda v: None if chosen is None else v == chosen)
        assert equal(array, other).to_pylist() == expected
