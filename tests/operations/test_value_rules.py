"""`validate(full=True)` on values: UTF-8, decimals, dates and times, each broken by the smallest data."""

from __future__ import annotations

import itertools
import re
from typing import Any, get_args

import numpy as np
import pyarrow as pa
import pytest
from arrow_oracle import from_pyarrow
from hypothesis import given
from hypothesis import strategies as st
from kernels.text_cases import BAD, GOOD
from operations.samples import buffer

import colkern.schema as s
from colkern.arrays import Array, RecordBatch
from colkern.cpu.threads import set_num_threads
from colkern.errors import InvalidArrowError
from colkern.memory import Buffer
from colkern.operations import TypeRule, validate

DAY = 24 * 60 * 60
SECOND_NULL = buffer([0b101], "u1")


def found(array: Array) -> str:
    """The error of `validate`; empty if there is none."""
    try:
        validate(array, full=True)
    except InvalidArrowError as error:
        return str(error)
    return ""


# UTF-8


def texts(values: list[bytes], validity: Buffer | None = None, type_: Any = None) -> Array:
    offsets = list(itertools.accumulate(map(len, values), initial=0))
    wide = "<i8" if type_ == s.large_utf8() else "<i4"
    buffers = [validity, buffer(offsets, wide), Buffer.from_object(b"".join(values))]
    return Array(type_ or s.utf8(), len(values), buffers)


def views(values: list[bytes], validity: Buffer | None = None) -> Array:
    """As pyarrow lays binary views out, said to be strings."""
    result = from_pyarrow(pa.array(values, pa.binary_view()))
    return Array(s.utf8_view(), len(values), [validity, *result.buffers[1:]])


MAKERS = {
    "utf8": texts,
    "large_utf8": lambda values, valid=None: texts(values, valid, s.large_utf8()),
    "utf8_view": views,
    "long utf8_view": lambda values, valid=None: views(
        [b"longer than " + v for v in values], valid
    ),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize("piece", [*GOOD, *BAD], ids=repr)
def test_every_rule_of_utf8(make: Any, piece: bytes) -> None:
    is_good = piece in GOOD
    for values in ([piece], [b"x", piece, b"y"], ["é".encode(), piece, "√".encode()]):
        message = found(make(values))
        assert (
            message == ""
            if is_good
            else message.startswith(f"slot {len(values) // 2}: not UTF-8: ")
        )
    assert found(make([b"a", piece, b"b"], SECOND_NULL)) == ""
    assert found(make([piece, b"b"]).slice(1)) == ""


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (b"ab\xffc", "byte 0xff at 2"),
        (b"\x80", "byte 0x80 at 0"),
        (b"\xe2\x88a", "byte 0x61 at 2"),
        (b"x\xe2\x88", "the last of its 3 bytes is within a character"),
    ],
)
def test_the_byte_is_named(value: bytes, message: str) -> None:
    for make in (texts, views):
        assert found(make([b"", value])) == f"slot 1: not UTF-8: {message}"
        assert found(make([b"", b"longer than 12" + value])).startswith("slot 1: not UTF-8: ")


def test_a_character_belongs_to_one_value() -> None:
    data = "aé√".encode()
    for cut in range(1, len(data)):
        message = found(texts([data[:cut], data[cut:]]))
        assert (message == "") == (cut in (1, 3))
        assert message == "" or message.startswith("slot 0: not UTF-8: the last of its ")


def test_bytes_that_no_value_has_may_be_anything() -> None:
    data = Buffer.from_object(b"\xffaa\x80")
    validate(Array(s.utf8(), 2, [None, buffer([1, 2, 3], "<i4"), data]), full=True)
    # An empty value at the end begins with a byte that is not its own.
    validate(Array(s.utf8(), 2, [None, buffer([1, 3, 3], "<i4"), data]), full=True)


def test_views_answer_for_the_bytes_that_they_show() -> None:
    good = "é is no ASCII, but it is longer".encode()
    junk = Buffer.from_object(b"\xff" + good + b"\xff" * 9)

    def view(begin: int, length: int) -> Array:
        head = int.from_bytes((b"\xff" + good)[begin : begin + 4], "little", signed=True)
        words = buffer([length, head, 0, begin], "<i4")
        return Array(s.utf8_view(), 1, [None, words, junk])

    assert found(view(1, len(good))) == ""
    assert found(view(0, len(good))) == "slot 0: not UTF-8: byte 0xff at 0"
    assert found(view(2, len(good) - 1)) == "slot 0: not UTF-8: byte 0xa9 at 0"
    assert found(view(1, len(good) + 1)) == f"slot 0: not UTF-8: byte 0xff at {len(good)}"


def test_views_that_share_bytes_cost_those_bytes_once() -> None:
    """A thousand views of one megabyte: a gigabyte if each were looked at by itself."""
    data = Buffer.from_object("é".encode() * 500_000)
    words = np.tile(np.array([1_000_000, 0xA9C3A9C3 - 2**32, 0, 0], "<i4"), 1000)
    array = Array(s.utf8_view(), 1000, [None, Buffer(words.view(np.uint8)), data])
    validate(array, full=True)
    words[4 * 999 + 3], words[4 * 999] = 1, 999_998
    words[4 * 999 + 1] = np.array([0xC3A9C3A9], "<u4").view("<i4")[0]
    array = Array(s.utf8_view(), 1000, [None, Buffer(words.view(np.uint8)), data])
    assert found(array) == "slot 999: not UTF-8: byte 0xa9 at 0"


def test_strings_of_several_threads() -> None:
    """Characters, and mistakes, where one thread's bytes end and the next one's begin."""
    set_num_threads(3)
    try:
        data = bytearray("é".encode() * (1 << 23))
        size = len(data)
        for place in (0, size // 3, size // 3 + 1, 2 * size // 3, size - 1):
            offsets = buffer([0, size], "<i4")
            wrong = data.copy()
            wrong[place] = ord("x")
            for bytes_, good in ((data, True), (wrong, False)):
                array = Array(s.utf8(), 1, [None, offsets, Buffer.from_object(bytes(bytes_))])
                assert (found(array) == "") == good
    finally:
        set_num_threads(0)


pieces = (
    st.sampled_from([*GOOD, *BAD]) | st.binary(max_size=6) | st.text(max_size=6).map(str.encode)
)
values = st.lists(st.lists(pieces, max_size=4).map(b"".join), max_size=12)


@given(values, st.integers(0, 4095), st.integers(0, 12), st.integers(0, 12))
def test_as_python_decodes(values: list[bytes], mask: int, begin: int, length: int) -> None:
    def is_good(value: bytes) -> bool:
        try:
            value.decode()
        except UnicodeDecodeError:
            return False
        return True

    begin = min(begin, len(values))
    bits = Buffer.from_object(mask.to_bytes(2, "little"))
    for validity in (None, bits):
        shown = range(begin, min(begin + length, len(values)))
        wrong = [
            i - begin
            for i in shown
            if (validity is None or mask >> i & 1) and not is_good(values[i])
        ]
        for make in (texts, views):
            message = found(make(values, validity).slice(begin, length))
            assert message.startswith(f"slot {wrong[0]}: not UTF-8") if wrong else message == ""


# Decimals


@pytest.mark.parametrize(
    ("bits", "precision"),
    [(32, 1), (32, 9), (64, 10), (64, 18), (128, 1), (128, 38), (256, 39), (256, 76)],
)
def test_decimals_keep_within_their_precision(bits: int, precision: int) -> None:
    limit = 10**precision

    def decimals(values: list[int], validity: Buffer | None = None) -> Array:
        raw = b"".join(value.to_bytes(bits // 8, "little", signed=True) for value in values)
        type_ = s.decimal(bits, precision, 0)
        return Array(type_, len(values), [validity, Buffer.from_object(raw)])

    validate(decimals([0, limit - 1, 1 - limit, -1]), full=True)
    for bad in (limit, -limit, 2 ** (bits - 1) - 1, -(2 ** (bits - 1))):
        message = f"slot 1: {bad} has more than {precision} digits"
        assert found(decimals([0, bad, bad])) == message
        assert found(decimals([bad, 0, bad]).slice(1)) == message
        assert found(decimals([0, bad, 0], SECOND_NULL)) == ""


# Dates and times


def numbers(type_: s.DataType, values: list[int], validity: Buffer | None = None) -> Array:
    width = "<i4" if type_ in (s.date32(), s.time32("s"), s.time32("ms")) else "<i8"
    return Array(type_, len(values), [validity, buffer(values, width)])


def test_date64_is_a_number_of_whole_days() -> None:
    day = DAY * 1000
    validate(numbers(s.date64(), [0, day, -day, 2**63 // day * day - day]), full=True)
    for bad in (1, -1, day - 1, day + 1, -day + 1, 2**63 - 1, -(2**63)):
        assert found(numbers(s.date64(), [0, bad])) == f"slot 1: {bad} ms are no whole days"
        assert found(numbers(s.date64(), [bad, 0]).slice(1)) == ""
        assert found(numbers(s.date64(), [0, bad, 0], SECOND_NULL)) == ""


def test_date32_is_any_number_of_days() -> None:
    validate(numbers(s.date32(), [-(2**31), 2**31 - 1]), full=True)


@pytest.mark.parametrize(
    ("type_", "unit"),
    [(s.time32("s"), 1), (s.time32("ms"), 10**3), (s.time64("us"), 10**6), (s.time64("ns"), 10**9)],
    ids=str,
)
def test_times_are_within_a_day(type_: s.Time, unit: int) -> None:
    last = DAY * unit - 1
    validate(numbers(type_, [0, last]), full=True)
    for bad in (-1, last + 1):
        message = f"slot 1: {bad} {type_.unit} are no time of day"
        assert found(numbers(type_, [last, bad])) == message
        assert found(numbers(type_, [bad, 0]).slice(1)) == ""
        assert found(numbers(type_, [0, bad, 0], SECOND_NULL)) == ""


# What is left out


BROKEN: dict[TypeRule, Array] = {
    "dates": numbers(s.date64(), [1]),
    "decimals": Array(s.decimal32(1), 1, [None, buffer([10], "<i4")]),
    "times": numbers(s.time32("s"), [-1]),
    "utf8": texts([b"\xff"]),
}


def test_each_rule_can_be_skipped() -> None:
    assert set(BROKEN) == set(get_args(TypeRule))
    names = list(BROKEN)
    batch = RecordBatch.from_arrays([BROKEN[name] for name in names], names)
    batch.validate(full=True, skip=names)
    for name, array in BROKEN.items():
        array.validate(full=True, skip={name})
        array.validate(skip=[name])
        others = [other for other in names if other != name]
        with pytest.raises(InvalidArrowError, match="slot 0: "):
            array.validate(full=True, skip=others)
        with pytest.raises(InvalidArrowError, match=f"{name}: slot 0: "):
            batch.validate(full=True, skip=others)


def test_other_rules_cannot_be_skipped() -> None:
    array = BROKEN["dates"]
    for full in (False, True):
        with pytest.raises(ValueError, match="skip: no rule is called 'offsets'; there are dates,"):
            array.validate(full=full, skip=["dates", "offsets"])  # type: ignore[list-item]
        with pytest.raises(TypeError, match=re.escape("skip: expected a collection of rules")):
            array.validate(full=full, skip="dates")  # type: ignore[arg-type]
