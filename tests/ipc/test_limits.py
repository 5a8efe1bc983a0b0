"""Limits: what a reader refuses to spend on a few bytes, and what it never refuses."""

from __future__ import annotations

import io
import re
import struct
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from flatbuf import Type
from fuzz.recording import as_file, take_apart
from hypothesis import given, settings
from hypothesis import strategies as st
from ipc.handmade import Batch, WireField, int_type, plain_type, schema_message
from ipc.written import one_column, written
from present import present

import colkern
import colkern.ipc
import colkern.schema as s
from colkern import Array, LimitExceededError, RecordBatch, Schema
from colkern.ipc import Limits
from colkern.memory import EMPTY, Buffer

INT8 = WireField("i", Type.Int, int_type(8, True))
NULL = WireField("n", Type.Null, plain_type("Null"))
VIEWS = WireField("v", Type.Utf8View, plain_type("Utf8View"))

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
    # 5 GiB of 160 KiB: nothing is allocated for what is refused.
    assert len(bomb(5 << 10)) < 1 << 18
    with pytest.raises(
        LimitExceededError, match=r"raise Limits\.decompressed_bytes and Limits\.decompr"
    ):
        read_first(bomb(5 << 10))


def test_batches_up_to_4_gib_may_be_compressed_as_far_as_they_can() -> None:
    column = read_first(bomb(160))
    assert len(column) == 160 << 20
    assert column[-1] == 0


def test_larger_batches_may_grow_by_the_ratio() -> None:
    limits = Limits(decompression_ratio=100)
    assert limits.decompressed(1 << 10) == 4 << 30
    assert limits.decompressed(1 << 30) == 100 << 30
    assert Limits(decompressed_bytes=1 << 20).decompressed(1 << 30) == 1 << 20


def test_what_a_batch_may_grow_to_is_the_callers_to_choose() -> None:
    with pytest.raises(LimitExceededError, match="1048576 bytes"):
        read_first(bomb(2), decompressed_bytes=1 << 20)
    assert len(read_first(bomb(1), decompressed_bytes=1 << 20)) == 1 << 20


def test_the_number_of_fields_has_a_limit() -> None:
    columns = schema_message([INT8] * 100)
    assert len(colkern.ipc.open(columns, limits=Limits(fields=100)).schema) == 100
    with pytest.raises(LimitExceededError, match=r"100 fields .* raise Limits\.fields"):
        colkern.ipc.open(columns, limits=Limits(fields=99))


def test_fields_of_nested_types_count() -> None:
    nested = WireField("s", Type.Struct_, plain_type("Struct_"), [INT8] * 9)
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


NO_BYTES = WireField("f", Type.FixedSizeBinary, plain_type("FixedSizeBinary", byteWidth=0))


@pytest.mark.parametrize("many", [False, True])
def test_slots_of_no_bytes_have_a_limit_however_they_are_asked_for(many: bool) -> None:
    batch = Batch(1 << 40, [(1 << 40, 0)] * 2, [b""] * 4)
    data = schema_message([NO_BYTES] * 2) + batch.message()
    (read,) = colkern.ipc.open(data, limits=Limits(unbacked_length=1 << 39))
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
        return len(present([batch.column("d") for batch in batches][-1].dictionary))

    assert read(3000) == 3000
    with pytest.raises(LimitExceededError, match="2999 bytes"):
        read(2999)
    # A dictionary that takes the place of another has a limit of its own.
    data += values.dictionary_message(0) + use
    assert read(3000) == 1000


# Writing: what default readers refuse is refused when it is written.


def without_buffers(length: int) -> dict[str, Array]:
    """Arrays of that many slots with (next to) no bytes."""
    ends = Array(s.int64(), 1, [None, Buffer.of_items(np.array([length], np.int64))])
    number = Array(s.int8(), 1, [None, Buffer.of_items(np.array([7], np.int8))])
    null = Array(s.null(), length, [])
    return {
        "null": null,
        "runs": Array(s.run_end_encoded(s.int64(), s.int8()), length, [], [ends, number]),
        "no fields": Array(s.struct([]), length, [None]),
        "fields of nulls": Array(s.struct([("n", s.null())]), length, [None], [null]),
        "no bytes": Array(s.fixed_size_binary(0), length, [None, EMPTY]),
        "pairs of nulls": Array(s.fixed_size_list(s.null(), 2), length // 2, [None], [null]),
    }


@pytest.mark.parametrize("kind", without_buffers(0))
def test_slots_that_nothing_is_allocated_for_have_no_limit_that_matters(kind: str) -> None:
    # More slots than this machine has bytes: nothing may be done for each of them.
    column = without_buffers(1 << 56)[kind]
    (read,) = colkern.ipc.open(written(one_column(column)))
    read.validate(full=True)
    assert len(read.column(0)) == len(column)
    assert read.slice(1 << 50, 2).to_pydict() == one_column(column.slice(0, 2)).to_pydict()
    assert len(repr(read.column(0))) < 1000
    # Another implementation takes it for what it is.
    (theirs,) = pa.ipc.open_stream(written(one_column(column)))
    assert theirs.num_rows == len(column)


def test_a_batch_without_columns_may_have_any_number_of_rows() -> None:
    batch = RecordBatch(Schema([]), [], length=100_000_000)
    (read,) = colkern.ipc.open(written(batch))
    assert read.num_rows == 100_000_000


NARROW = Limits(
    metadata_bytes=2000,
    nesting_depth=4,
    fields=12,
    variadic_buffers=2,
    decompressed_bytes=20_000,
    unbacked_length=1000,
)

TYPES = st.recursive(
    st.sampled_from([s.int8(), s.null(), s.utf8_view(), s.struct([]), s.fixed_size_binary(0)]),
    lambda inner: (
        st.builds(s.list_, inner)
        | st.builds(s.dictionary, st.just(s.int8()), st.just(s.utf8()))
        | st.lists(inner, max_size=3).map(
            lambda ts: s.struct([(f"f{k}", t) for k, t in enumerate(ts)])
        )
    ),
    max_leaves=6,
)


@st.composite
def batches(draw: st.DrawFn) -> RecordBatch:
    """Batches of many kinds, around the limits `NARROW`."""
    rows = draw(st.sampled_from([1, 30, 1000, 1001, 30_000]))
    if draw(st.booleans()):
        columns = list(without_buffers(rows).values())[:5]
        chosen = draw(st.lists(st.sampled_from(columns), max_size=3))
        schema = Schema([(f"c{k}", column.type) for k, column in enumerate(chosen)])
        return RecordBatch(schema, chosen, length=rows)
    types = draw(st.lists(TYPES, max_size=5))
    name = "n" * draw(st.sampled_from([1, 300]))
    schema = Schema([(f"{name}{k}", type_) for k, type_ in enumerate(types)])
    columns = [colkern.nulls(min(rows, 50), type_) for type_ in types]
    return RecordBatch(schema, columns, length=min(rows, 50))


@settings(max_examples=150)
@given(batches(), st.sampled_from([None, "lz4", "zstd"]), st.sampled_from(["stream", "file"]))
def test_what_is_written_is_read_under_the_same_limits(
    batch: RecordBatch, compression: str | None, fmt: str
) -> None:
    write = {"stream": colkern.ipc.write_stream, "file": colkern.ipc.write_file}[fmt]
    sink = io.BytesIO()
    options: dict[str, Any] = {"compression": compression, "reader_limits": NARROW}
    try:
        write(sink, [batch, batch], **options)
    except LimitExceededError as error:
        assert "readers would refuse it" in str(error)  # noqa: PT017
        # Whoever raises the limit that is named gets further.
        (name,) = re.findall(r"Limits\.(\w+) (?:to|and)", str(error))[:1]
        assert hasattr(NARROW, name)
    else:
        for read in colkern.ipc.open(sink.getvalue(), limits=NARROW):
            assert [len(column) for column in read.columns] == [batch.num_rows] * len(batch.columns)


@pytest.mark.parametrize(
    ("limits", "batch", "compression"),
    [
        (
            {"fields": 2},
            one_column(colkern.nulls(1, s.struct([("a", s.int8()), ("b", s.int8())]))),
            None,
        ),
        ({"nesting_depth": 1}, one_column(colkern.nulls(1, s.list_(s.int8()))), None),
        ({"metadata_bytes": 100}, one_column(colkern.nulls(1, s.int8())), None),
        ({"unbacked_length": 9}, one_column(colkern.nulls(10, s.null())), None),
        ({"unbacked_length": 9}, RecordBatch(Schema([]), [], length=10), None),
        ({"decompressed_bytes": 9999}, one_column(colkern.array([0] * 10_000, s.int8())), "zstd"),
        ({"decompressed_bytes": 9999}, one_column(colkern.array([0] * 10_000, s.int8())), "lz4"),
    ],
)
def test_the_writer_names_the_limit_that_readers_would(
    limits: dict[str, int], batch: RecordBatch, compression: str | None
) -> None:
    (name,) = limits
    with pytest.raises(LimitExceededError, match=rf"readers would refuse it.*Limits\.{name}"):
        written(batch, compression=compression, reader_limits=Limits(**limits))
    data = written(batch, compression=compression)
    with pytest.raises(LimitExceededError, match=rf"Limits\.{name}"):
        _ = next(iter(colkern.ipc.open(data, limits=Limits(**limits)))).columns


def test_the_footer_of_a_file_is_counted_before_its_last_batch() -> None:
    batch = one_column(colkern.array([1], s.int8()))
    limits = Limits(metadata_bytes=1000)
    sink = io.BytesIO()
    with colkern.ipc.new_file(sink, batch.schema, reader_limits=limits) as writer:
        with pytest.raises(LimitExceededError, match=r"footer of .* raise Limits\.metadata_bytes"):
            writer.write([batch] * 100)
        before = sink.tell()
    assert sink.tell() > before
    # What was written before is a file that can be read.
    assert 10 < len(colkern.ipc.open_file(sink.getvalue(), limits=limits)) < 100


def test_a_dictionary_and_its_deltas_are_counted_together() -> None:
    def of(size: int) -> RecordBatch:
        values = colkern.array([0] * size, s.int8())
        type_ = s.dictionary(s.int8(), s.int8())
        index = Buffer.from_object(bytes([0]))
        return one_column(Array(type_, 1, [None, index], dictionary=values))

    limits = Limits(decompressed_bytes=3000)
    with pytest.raises(LimitExceededError, match=r"Limits\.decompressed_bytes"):
        colkern.ipc.write_file(
            io.BytesIO(), [of(2000), of(4000)], compression="zstd", reader_limits=limits
        )


def test_only_limits_are_limits() -> None:
    with pytest.raises(TypeError, match="reader_limits: expected Limits, got int"):
        written(one_column(colkern.nulls(1, s.int8())), reader_limits=5)
