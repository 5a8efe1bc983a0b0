"""Bodies of every shape, sound or damaged, in device memory: as they are read in host memory."""

from __future__ import annotations

import io
import struct
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from flatbuf import Type
from ipc.handmade import EOS, Batch, WireField, int_type, plain_type, schema_message
from ipc.on_device import INT8, assert_as_on_the_host
from ipc.test_compression import DATA, FRAMES, stated
from ipc.test_dictionaries import WORDS, indices, words
from ipc.written import written

import colkern as ck
from colkern import LimitExceededError
from colkern.cuda import count_transfers, stand_in
from colkern.ipc.limits import Limits


def compressed(codec: int, *buffers: bytes, length: int = len(DATA)) -> bytes:
    """A stream of a batch of int8 columns with those data buffers."""
    nodes = [(length, 0)] * len(buffers)
    batch = Batch(length, nodes, [b for data in buffers for b in (b"", data)], codec=codec)
    return schema_message([INT8] * len(buffers)) + batch.message() + EOS


LARGE = bytes(range(256)) * 50
assert len(LARGE) > 3 * stand_in.StandIn.slot_bytes


@pytest.mark.parametrize("kind", FRAMES)
def test_frames_are_read_or_refused_as_on_the_host(kind: str) -> None:
    codec, frame = FRAMES[kind]
    good = stated(len(DATA), frame)
    assert assert_as_on_the_host(compressed(codec, good))[1] == "read"
    bad = [b"", frame[:-20], b"\0" + frame[1:], b"garbage " * 20, frame + frame, frame + b"\0" * 9]
    sizes = [-2, -(2**63), 1, len(DATA) - 1, len(DATA) + 1, 2**40, 2**63 - 1]
    for buffer in (
        *(stated(len(DATA), damaged) for damaged in bad),
        *(stated(size, frame) for size in sizes),
        b"1234567",
    ):
        (columns,), end = assert_as_on_the_host(compressed(codec, good, buffer, good))
        # The others are not taken along.
        assert end == "read"
        assert columns[0] == columns[2] == np.frombuffer(DATA, np.int8).tolist()
        assert columns[1] == columns[0] or "message 1 at byte" in columns[1]


@pytest.mark.parametrize("codec", ["lz4", "zstd"])
def test_buffers_larger_than_a_slot(codec: Any) -> None:
    column = ck.array(np.frombuffer(LARGE, np.int8))
    data = written(ck.record_batch({"c": column, "d": column}), compression=codec)
    (values,), _ = assert_as_on_the_host(data)
    assert values == [column.to_pylist()] * 2


@pytest.mark.parametrize("codec", [0, 1])
def test_stored_and_empty_buffers_among_compressed_ones(codec: int) -> None:
    frame = FRAMES["zstd" if codec else "lz4"][1]
    data = compressed(codec, stated(-1, DATA), stated(len(DATA), frame), stated(-1, DATA))
    (values,), _ = assert_as_on_the_host(data)
    assert values == [np.frombuffer(DATA, np.int8).tolist()] * 3
    for empty in (b"", stated(0, b""), stated(-1, b"")):
        assert assert_as_on_the_host(compressed(codec, empty, length=0)) == ([[[]]], "read")


def test_what_frames_grow_to_has_a_limit() -> None:
    frame = FRAMES["zstd"][1]
    data = compressed(1, *[stated(len(DATA), frame)] * 3)
    for most in (0, 999, 1000, 2500, 3000):
        (columns,), _ = assert_as_on_the_host(data, limits=Limits(decompressed_bytes=most))
        refused = [column for column in columns if isinstance(column, str)]
        assert len(refused) == 3 - most // 1000


def test_buffers_that_overlap_and_are_shared() -> None:
    places = [(0, 0), (0, 64), (0, 0), (0, 64), (0, 0), (8, 64), (0, 0), (1, 64)]
    batch = Batch(64, [(64, 0)] * 4, [bytes(range(72))], places=places)
    data = schema_message([INT8] * 4) + batch.message() + EOS
    (values,), _ = assert_as_on_the_host(data)
    assert values[0] == values[1] == list(range(64))
    assert values[2] == list(range(8, 72))
    assert values[3] == list(range(1, 65))
    with stand_in.installed(), count_transfers() as counted:
        list(ck.ipc.open(data, device="cuda"))
    # What is shared is copied once.
    assert counted.bytes_to_device == 3 * 64


def test_buffers_outside_the_body() -> None:
    for place in [(0, 65), (-8, 8), (60, 8), (2**62, 8), (0, -1), (8, 2**63 - 1)]:
        batch = Batch(8, [(8, 0)] * 2, [bytes(64)], places=[(0, 0), place, (0, 0), (0, 8)])
        (columns,), _ = assert_as_on_the_host(schema_message([INT8] * 2) + batch.message() + EOS)
        assert "in a body of 64 bytes" in columns[0]
        assert columns[1] == [0] * 8


def test_buffers_that_overlap_are_not_copied_without_end(device: stand_in.StandIn) -> None:
    places = [(0, 0), (0, 1 << 20)] * 300
    batch = Batch(1 << 20, [(1 << 20, 0)] * 300, [bytes(1 << 20)], places=places)
    data = schema_message([INT8] * 300) + batch.message()
    with pytest.raises(LimitExceededError, match="buffers that overlap"):
        list(ck.ipc.open(data, device="cuda"))
    assert device.allocations == 0


def test_big_endian_buffers_that_are_shared() -> None:
    fields = [
        WireField("a", Type.Int, int_type(32, True)),
        WireField("b", Type.Int, int_type(16, True)),
        WireField("c", Type.Int, int_type(8, True)),
    ]
    body = struct.pack(">5i", 1, 2, 3, 4, 5)
    batch = Batch(5, [(5, 0)] * 3, [body], places=[(0, 0), (0, 20)] * 3)
    (values,), _ = assert_as_on_the_host(schema_message(fields, big_endian=True) + batch.message())
    assert values == [[1, 2, 3, 4, 5], [0, 1, 0, 2, 0], [0, 0, 0, 1, 0]]


VIEW = WireField("v", Type.Utf8View, plain_type("Utf8View"))


def test_views_into_many_buffers() -> None:
    texts = [f"the text that stands in buffer {k}".encode() for k in range(40)]
    views = b"".join(
        struct.pack("<i4sii", len(text), text[:4], k, 0) for k, text in enumerate(texts)
    )
    column = [b"", views, *texts]
    batch = Batch(40, [(40, 0)] * 2, column + column, variadic_counts=[40, 40])
    (values,), _ = assert_as_on_the_host(schema_message([VIEW] * 2) + batch.message() + EOS)
    assert values == [[text.decode() for text in texts]] * 2


def test_dictionaries_grow_and_are_replaced() -> None:
    data = (
        schema_message([WORDS])
        + words("A", "B", "C").dictionary_message(7)
        + indices(0, 1, 2, 1).message()
        + words("D", "E").dictionary_message(7, delta=True)
        + indices(3, 2, 4, 0).message()
        + words("A", "C", "D", "E").dictionary_message(7)
        + indices(2, 1, 3, 0).message()
        + EOS
    )
    expected = [[list("ABCB")], [list("DCEA")], [list("DCEA")]]
    assert assert_as_on_the_host(data) == (expected, "read")
    # A batch keeps the dictionary that it was read under, however late its column is asked for.
    with stand_in.installed():
        batches = ck.ipc.open(data, device="cuda").read_all()
        actual = [[ck.to_host(batch.column(0)).to_pylist()] for batch in reversed(batches)]
    assert actual == expected[::-1]


def test_columns_share_a_dictionary(device: stand_in.StandIn) -> None:
    fields = [WireField(name, Type.Utf8, plain_type("Utf8"), dictionary=7) for name in "ab"]
    both = Batch(2, [(2, 0)] * 2, [b"", struct.pack("<2i", 0, 1)] * 2)
    data = schema_message(fields) + words("x", "y").dictionary_message(7) + both.message() + EOS
    with count_transfers() as counted:
        (batch,) = ck.ipc.open(data, device="cuda")
        a, b = batch.columns
    assert a.dictionary is b.dictionary
    # Two columns of indices, and once the offsets and the bytes.
    assert counted.bytes_to_device == 4 * 64
    assert ck.to_host(batch).to_pylist() == [{"a": "x", "b": "x"}, {"a": "y", "b": "y"}]


def test_dictionaries_within_dictionaries() -> None:
    inner = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0], pa.int8()), pa.array(["x", "y"]))
    lists = pa.ListArray.from_arrays(pa.array([0, 2, 3], pa.int32()), inner)
    outer = pa.DictionaryArray.from_arrays(pa.array([1, 0, None], pa.int8()), lists)
    sink = pa.BufferOutputStream()
    table = pa.record_batch({"d": outer, "l": pa.array([["p"], [], None]).cast(lists.type)})
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_batch(table)
    (values,), _ = assert_as_on_the_host(sink.getvalue().to_pybytes())
    assert values[0] == [["x"], ["x", "y"], None]


def test_a_dictionary_that_never_came() -> None:
    data = schema_message([WORDS]) + indices(0, 1).message() + EOS
    (columns,), _ = assert_as_on_the_host(data)
    assert "no dictionary 7 has come before this batch" in columns[0]
    data = schema_message([WORDS]) + indices(None, None).message() + EOS
    assert assert_as_on_the_host(data) == ([[[None, None]]], "read")


def test_no_rows_no_columns_no_batches() -> None:
    schema = ck.Schema([("s", ck.utf8()), ("l", ck.list_(ck.int8()))])
    none = ck.RecordBatch(schema, [ck.array([], ck.utf8()), ck.array([], ck.list_(ck.int8()))])
    sink = io.BytesIO()
    with ck.ipc.new_stream(sink, schema):
        pass
    assert assert_as_on_the_host(sink.getvalue()) == ([], "read")
    assert assert_as_on_the_host(written(none)) == ([[[], []]], "read")
    empty = ck.RecordBatch(ck.Schema([]), [], 5)
    with stand_in.installed():
        for fmt in ("stream", "file"):
            (read,) = ck.ipc.open(written(empty, fmt), device="cuda")
            assert (read.num_rows, read.num_columns) == (5, 0)
