"""Limits: what a reader refuses to spend on a few bytes, and what it never refuses."""

from __future__ import annotations

import io
import struct

import pyarrow as pa
import pytest
from fuzz.recording import as_file, take_apart
from ipc.handmade import Batch, WireField, int_type, plain_type, schema_message

import colkern.ipc
from colkern import LimitExceededError
from colkern.ipc import Limits
from colkern.ipc.flatbuf import FixedSizeBinary, Null, Struct_, Utf8View
from colkern.ipc.flatbuf.Type import Type

INT8 = WireField("i", Type.Int, int_type(8, True))
NULL = WireField("n", Type.Null, plain_type(Null))
VIEWS = WireField("v", Type.Utf8View, plain_type(Utf8View))

ZSTD = 1
_BLOCK_BYTES = 128 << 10


def zstd_of_zeros(blocks: int) -> bytes:
    """A Zstandard frame of `blocks` times 128 KiB zeros, four bytes each: RFC 8878, RLE blocks."""
    header = b"\x28\xb5\x2f\xfd\xe0" + struct.pack("<Q", blocks * _BLOCK_BYTES)
    rle, last = 1 << 1, 1
    headers = [_BLOCK_BYTES << 3 | rle] * (blocks - 1) + [_BLOCK_BYTES << 3 | rle | last]
    return header + b"".join(struct.pack("<I", h)[:3] + b"\0" for h in headers)


def bomb(mebibytes: int) -> bytes:
    """A stream of one batch: an int8 column of zeros, compressed as far as the codec allows."""
    size = mebibytes << 20
    buffer = struct.pack("<q", size) + zstd_of_zeros(size // _BLOCK_BYTES)
    batch = Batch(size, [(size, 0)], [b"", buffer], codec=ZSTD)
    return schema_message([INT8]) + batch.message()


def read_first(data: bytes, **limits: int) -> colkern.Array:
    return next(iter(colkern.ipc.open(data, limits=Limits(**limits)))).column(0)


def test_a_decompression_bomb_is_refused_by_its_ratio() -> None:
    assert len(bomb(1024)) < 1 << 16
    with pytest.raises(
        LimitExceededError, match=r"raise Limits\.decompressed_bytes and Limits\.decompr"
    ):
        read_first(bomb(1024))


def test_small_batches_may_be_compressed_as_far_as_they_can() -> None:
    column = read_first(bomb(64))
    assert len(column) == 64 << 20
    assert column[-1] == 0


def test_the_ratio_is_the_callers_to_choose() -> None:
    data = bomb(129)
    with pytest.raises(LimitExceededError):
        read_first(data)
    assert len(read_first(data, decompression_ratio=1 << 15)) == 129 << 20
    with pytest.raises(LimitExceededError):
        read_first(data, decompression_ratio=1 << 15, decompressed_bytes=1 << 20)


def test_the_number_of_fields_has_a_limit() -> None:
    columns = schema_message([INT8] * 100)
    assert len(colkern.ipc.open(columns, limits=Limits(fields=100)).schema) == 100
    with pytest.raises(LimitExceededError, match=r"100 fields .* raise Limits\.fields"):
        colkern.ipc.open(columns, limits=Limits(fields=99))


def test_fields_of_nested_types_count() -> None:
    nested = WireField("s", Type.Struct_, plain_type(Struct_), [INT8] * 9)
    data = schema_message([nested])
    assert colkern.ipc.open(data, limits=Limits(fields=10))
    with pytest.raises(LimitExceededError, match="10 fields"):
        colkern.ipc.open(data, limits=Limits(fields=9))


def test_the_fields_of_a_file_count_too() -> None:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, pa.schema([(str(k), pa.int8()) for k in range(10)])):
        pass
    with pytest.raises(LimitExceededError, match="10 fields"):
        colkern.ipc.open_file(sink.getvalue(), limits=Limits(fields=9))


def test_the_number_of_variadic_buffers_has_a_limit() -> None:
    # Every one of them may be the same few bytes, or none.
    places = [(0, 0), (0, 16)] + [(0, 0)] * 20
    batch = Batch(1, [(1, 0)], [b"", bytes(16)], variadic_counts=[20], places=places)
    data = schema_message([VIEWS]) + batch.message()
    assert len(read_first(data, variadic_buffers=20).data_buffers) == 20
    with pytest.raises(LimitExceededError, match=r"20 variadic .* raise Limits\.variadic_buffers"):
        read_first(data, variadic_buffers=19)


def test_slots_without_a_buffer_are_as_many_as_the_body_may_hold() -> None:
    # 80 bits of body: a column of booleans could have 80 slots, so a column of nulls may, too.
    def data(slots: int) -> bytes:
        # A buffer that the schema does not ask for would be one too many: the body has no buffers.
        batch = Batch(slots, [(slots, slots)], [], body_length=10)
        return schema_message([NULL]) + batch.message() + bytes(10)

    assert len(read_first(data(80), unbacked_length=8)) == 80
    with pytest.raises(LimitExceededError, match=r"raise Limits\.unbacked_length"):
        read_first(data(81), unbacked_length=8)


def test_a_reader_may_ask_for_less_than_anything() -> None:
    with pytest.raises(ValueError, match="fields: must not be negative"):
        Limits(fields=-1)


NO_BYTES = WireField("f", Type.FixedSizeBinary, plain_type(FixedSizeBinary, ByteWidth=0))


@pytest.mark.parametrize("many", [False, True])
def test_slots_of_no_bytes_have_a_limit_however_they_are_asked_for(many: bool) -> None:
    batch = Batch(1 << 40, [(1 << 40, 0)] * 2, [b""] * 4)
    (read,) = colkern.ipc.open(schema_message([NO_BYTES] * 2) + batch.message())
    with pytest.raises(LimitExceededError, match=r"raise Limits\.unbacked_length"):
        _ = read.columns if many else read.column(0)


def overlapping(columns: int, *, big_endian: bool = False) -> bytes:
    """A stream of one batch of 1 MiB, which is the data of all of its columns."""
    size = 1 << 20
    places = [(0, 0), (0, size)] * columns
    batch = Batch(size, [(size, 0)] * columns, [bytes(size)], places=places)
    return schema_message([INT8] * columns, big_endian=big_endian) + batch.message()


def test_buffers_may_overlap_where_nothing_is_copied() -> None:
    (read,) = colkern.ipc.open(overlapping(1000))
    assert [len(column) for column in read.columns] == [1 << 20] * 1000


def test_buffers_that_overlap_are_not_copied_without_end() -> None:
    swapped = overlapping(1000, big_endian=True)
    parts = take_apart(overlapping(1000))
    file = io.BytesIO(as_file(parts, parts[0]))
    for source in (swapped, file):
        with pytest.raises(LimitExceededError, match="buffers that overlap: 1048576000 bytes of a"):
            list(colkern.ipc.open(source))
    # A few that overlap are nothing to fear.
    parts = take_apart(overlapping(100))
    (read,) = colkern.ipc.open(io.BytesIO(as_file(parts, parts[0])))
    assert len(read.column(99)) == 1 << 20


WORDS = WireField("d", Type.Int, int_type(8, True), dictionary=0)


@pytest.mark.parametrize("used_between", [False, True])
def test_the_deltas_of_a_dictionary_are_decompressed_under_one_limit(used_between: bool) -> None:
    buffer = struct.pack("<q", 1000) + pa.Codec("lz4").compress(bytes(1000), asbytes=True)
    values = Batch(1000, [(1000, 0)], [b"", buffer], codec=0)
    use = Batch(1, [(1, 0)], [b"", bytes(4)]).message()
    between = use if used_between else b""
    data = schema_message([WORDS]) + values.dictionary_message(0) + between
    data += (values.dictionary_message(0, delta=True) + between) * 2 + use

    def read(limit: int) -> int:
        limits = Limits(decompressed_bytes=limit)
        batches = list(colkern.ipc.open(data, limits=limits))
        return len([batch.column("d") for batch in batches][-1].dictionary)

    assert read(3000) == 3000
    with pytest.raises(LimitExceededError, match="2999 bytes"):
        read(2999)
    # A dictionary that takes the place of another has a limit of its own.
    data += values.dictionary_message(0) + use
    assert read(3000) == 1000
