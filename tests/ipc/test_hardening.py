"""Faults that broke Arrow readers before, one test each, named after the report.

The inputs are made by hand from what the reports say; none of them is theirs.
"""

from __future__ import annotations

import io
import os
import pickle
import socket
import struct
import threading
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from flatbuf import MessageHeader, MetadataVersion, Type
from fuzz.recording import CONTINUATION, MAGIC, Part, as_file, as_stream, records, take_apart
from ipc.handmade import EOS, Batch, WireField, framed, int_type, plain_type, schema_message

import colkern
import colkern.ipc
from colkern import ColkernError, InvalidArrowError, LimitExceededError, UnsupportedError
from colkern.ipc.flatbuffer.encoding import encode
from colkern.ipc.wire import BLOCK, FOOTER, MESSAGE
from colkern.schema import Extension

INT32 = WireField("i", Type.Int, int_type(32, True))
VIEWS = WireField("v", Type.Utf8View, plain_type("Utf8View"))


def ints(count: int) -> bytes:
    return struct.pack(f"<{count}i", *range(count))


def list_all(source: Any) -> list[dict[str, list[Any]]]:
    return [batch.to_pydict() for batch in colkern.ipc.open(source)]


def refused(source: Any, match: str, error: type[ColkernError] = InvalidArrowError) -> None:
    """Opening the source, or reading all of it, ends with that error."""
    with pytest.raises(error, match=match):
        list_all(source)


def peak_bytes(action: Callable[[], Any]) -> int:
    """The most memory that Python and NumPy held at once for it, the second time: the first one imports."""
    action()
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def with_footer(file: bytes, change: Callable[[dict[str, Any]], None]) -> bytes:
    """A file whose footer says something else."""
    (size,) = struct.unpack_from("<i", file, len(file) - 10)
    start = len(file) - 10 - size
    footer = records(FOOTER, file[start : start + size])
    change(footer)
    changed = encode(FOOTER, footer)
    return file[:start] + changed + struct.pack("<i", len(changed)) + MAGIC


def one_batch_file() -> bytes:
    """A file with the batch {"i": [0, 1, 2, 3]}."""
    stream = schema_message([INT32]) + Batch(4, [(4, 0)], [b"", ints(4)]).message() + EOS
    parts = take_apart(stream)
    return as_file(parts, parts[0])


def rich_batch() -> pa.RecordBatch:
    """Columns with variadic buffers and dictionaries among plain ones."""
    texts = ["short", None, "longer than twelve bytes"]
    return pa.record_batch(
        {
            "a": pa.array([1, 2, 3]),
            "v": pa.array(texts, pa.string_view()),
            "d": pa.array(["p", "q", "p"]).dictionary_encode(),
            "w": pa.array([["x"], None, texts], pa.list_(pa.string_view())),
            "z": pa.array([True, None, False]),
        }
    )


def written(make: Any, batch: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    with make(sink, batch.schema) as writer:
        writer.write_batch(batch)
    result: bytes = sink.getvalue().to_pybytes()
    return result


# Arrow C++, 2026


@pytest.mark.parametrize("counts", [[1 << 40], [(1 << 63) - 1], [-1], [1 << 20] * 2])
def test_gh_48900_a_variadic_count_allocates_nothing(counts: list[int]) -> None:
    fields = [replace(VIEWS, name=str(k)) for k in range(len(counts))]
    buffers = [b"", bytes(16)] * len(counts)
    batch = Batch(1, [(1, 0)] * len(counts), buffers, variadic_counts=counts)
    data = schema_message(fields) + batch.message()
    assert peak_bytes(lambda: refused(data, "variadic")) < 1 << 18


@pytest.mark.parametrize("wrong", [-8, 8, 1 << 32, -(1 << 62), (1 << 62)])
def test_gh_48844_footer_and_message_agree_on_the_body(wrong: int) -> None:
    def change(footer: dict[str, Any]) -> None:
        footer["recordBatches"] = footer["recordBatches"].copy()
        footer["recordBatches"]["body_length"] += wrong

    refused(with_footer(one_batch_file(), change), r"footer one of|where the messages end")


@pytest.mark.parametrize("wrong", [-8, -200, 8, 64, 1 << 20, -(1 << 31)])
def test_gh_50240_the_footers_metadata_is_as_long_as_the_message(wrong: int) -> None:
    def change(footer: dict[str, Any]) -> None:
        blocks = footer["recordBatches"].copy()
        blocks["metadata_length"] = max(int(blocks["metadata_length"][0]) + wrong, -(1 << 31))
        footer["recordBatches"] = blocks

    refused(with_footer(one_batch_file(), change), r"the footer|where the messages end")


def test_gh_49059_what_is_absent_in_metadata_is_an_error_or_its_default() -> None:
    # A union's tag without its value was followed as a null pointer, an unknown tag aborted.
    parts = take_apart(written(pa.ipc.new_stream, rich_batch()))

    def damaged(number: int, *path: str | int) -> bytes:
        message = records(MESSAGE, parts[number].metadata)
        record: Any = message
        for step in path[:-1]:
            record = record[step]
        record[path[-1]] = None
        changed = list(parts)
        changed[number] = parts[number].with_metadata(encode(MESSAGE, message))
        return as_stream(changed)

    for number, path in (
        (0, ("header",)),
        (0, ("header", "fields", 0, "type")),
        (0, ("header", "fields", 2, "type")),
        (0, ("header", "fields", 3, "children")),
        (0, ("header", "fields", 3, "children", 0, "type")),
        (1, ("header", "data")),
        (1, ("header", "data", "nodes")),
        (2, ("header", "nodes")),
        (2, ("header", "buffers")),
        (2, ("header", "variadicBufferCounts")),
    ):
        with pytest.raises(InvalidArrowError):
            list_all(damaged(number, *path))
    # Names, and the index type (int32), may be left out.
    assert list_all(damaged(0, "header", "fields", 0, "name"))[0][""] == [1, 2, 3]
    assert list_all(damaged(0, "header", "fields", 2, "dictionary", "indexType"))
    # Without the fields, there is a dictionary of none of them.
    with pytest.raises(InvalidArrowError, match="which no field of the schema has"):
        list_all(damaged(0, "header", "fields"))


@pytest.mark.parametrize("tag", [0, 6, 255])
def test_gh_49059_a_header_of_no_known_kind_is_refused(tag: int) -> None:
    part = take_apart(schema_message([INT32]))[0]
    message = records(MESSAGE, part.metadata)
    message |= {"header_type": tag, "header": None}
    refused(part.with_metadata(encode(MESSAGE, message)).data, f"header of type {tag}")


UNION = WireField("u", Type.Union, plain_type("Union"), [INT32])


def old_union(bitmap: bytes, nulls: int) -> bytes:
    """Two slots of a sparse union as metadata V4 has it: with a validity bitmap of its own."""
    version = MetadataVersion.V4
    buffers = [bitmap, b"\0\0", b"", ints(2)]
    batch = Batch(2, [(2, nulls), (2, 0)], buffers, version=version)
    return schema_message([UNION], version=version) + batch.message() + EOS


def both_formats(stream: bytes) -> list[bytes]:
    parts = take_apart(stream)
    return [stream, as_file(parts, parts[0])]


@pytest.mark.parametrize("bitmap", [b"", b"\x03", b"\x01"])
def test_gh_49229_an_old_union_without_nulls_is_read(bitmap: bytes) -> None:
    # As Arrow C++: a bitmap is not looked at where the node says that there are no nulls.
    for data in both_formats(old_union(bitmap, 0)):
        assert list_all(data) == [{"u": [0, 1]}]
    assert pa.ipc.open_stream(old_union(bitmap, 0)).read_all().to_pydict() == {"u": [0, 1]}


@pytest.mark.parametrize(
    ("bitmap", "error"), [(b"\x01", UnsupportedError), (b"", InvalidArrowError)]
)
def test_gh_49229_an_old_union_with_nulls_of_its_own_is_refused(
    bitmap: bytes, error: type[ColkernError]
) -> None:
    for data in both_formats(old_union(bitmap, 1)):
        refused(data, "validity bitmap", error)
    with pytest.raises(pa.ArrowInvalid, match="top-level validity bitmap"):
        pa.ipc.open_stream(old_union(bitmap, 1)).read_all()


def test_gh_48924_columns_are_read_alone_in_any_order_by_any_thread() -> None:
    # Reading ahead used places of buffers that belong to other columns. CVE-2026-25087.
    batch = rich_batch()
    file = written(pa.ipc.new_file, batch)
    expected = batch.to_pydict()
    for source in (file, io.BytesIO(file)):
        for name in reversed(batch.schema.names):
            with colkern.ipc.open_file(source) as reader:
                assert reader[0].column(name).to_pylist() == expected[name]
            if isinstance(source, io.BytesIO):
                source.seek(0)
    (read,) = colkern.ipc.open(io.BytesIO(file))
    results: dict[str, Any] = {}
    threads = [
        threading.Thread(target=lambda n=name: results.update({n: read.column(n).to_pylist()}))
        for name in batch.schema.names * 3
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == expected


class OneByOne(io.RawIOBase):
    """A file that gives one byte at a time, and says so."""

    def __init__(self, data: bytes, *, seekable: bool) -> None:
        self._data = io.BytesIO(data)
        self._seekable = seekable

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._seekable

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._data.seek(offset, whence)

    def tell(self) -> int:
        return self._data.tell()

    def readinto(self, buffer: Any) -> int:
        return self._data.readinto(memoryview(buffer)[:1])


@pytest.mark.parametrize("seekable", [True, False])
@pytest.mark.parametrize("make", [pa.ipc.new_file, pa.ipc.new_stream])
def test_gh_49896_short_reads_are_read_on(make: Any, seekable: bool) -> None:
    batch = rich_batch()
    source = OneByOne(written(make, batch), seekable=seekable)
    assert list_all(source) == [batch.to_pydict()]


def socket_pair() -> tuple[Any, Any, Callable[[bytes], Any]]:
    ours, theirs = socket.socketpair()
    return ours, theirs, theirs.sendall


def pipe() -> tuple[Any, Any, Callable[[bytes], Any]]:
    receive, send = os.pipe()
    sink = os.fdopen(send, "wb", buffering=0)
    return os.fdopen(receive, "rb", buffering=0), sink, sink.write


@pytest.mark.parametrize("connect", [socket_pair, pipe])
@pytest.mark.parametrize("make", [pa.ipc.new_file, pa.ipc.new_stream])
def test_gh_49896_sockets_and_pipes_give_what_they_have(make: Any, connect: Any) -> None:
    batch = rich_batch()
    data = written(make, batch)
    source, sink, send = connect()

    def send_all() -> None:
        with sink:
            for start in range(0, len(data), 100):
                send(data[start : start + 100])

    sender = threading.Thread(target=send_all)
    sender.start()
    with source:
        assert list_all(source) == [batch.to_pydict()]
    sender.join()


def test_gh_49896_a_file_that_shrinks_is_an_error() -> None:
    class Shrinking(io.BytesIO):
        def readinto(self, buffer: Any) -> int:
            return 0 if self.tell() > 400 else super().readinto(buffer)

    data = written(pa.ipc.new_file, rich_batch())
    footer_first = io.BytesIO(data)
    reader = colkern.ipc.open_file(footer_first)
    footer_first.truncate(400)
    with pytest.raises(InvalidArrowError, match="shrank while it was read"):
        reader[0].to_pydict()
    refused(Shrinking(data), "shrank while it was read")


# Older ones


def test_cve_2023_47248_an_extension_type_is_a_name_and_bytes() -> None:
    class Trap:
        def __reduce__(self) -> Any:
            return pytest.fail, ("the metadata of an extension type was unpickled",)

    for name in ("arrow.py_extension_type", "arrow.json", "made.up"):
        metadata = {
            "ARROW:extension:name": name,
            "ARROW:extension:metadata": pickle.dumps(Trap()),
        }
        field = pa.field("x", pa.string(), metadata=metadata)
        batch = pa.record_batch([pa.array(["a"])], schema=pa.schema([field]))
        (read,) = colkern.ipc.open(written(pa.ipc.new_stream, batch))
        assert isinstance(read.schema.fields[0].type, Extension)
        assert read.to_pydict() == {"x": ["a"]}
        assert repr(read)
        colkern.ipc.write_stream(io.BytesIO(), read)


@pytest.mark.parametrize("codec", ["lz4", "zstd"])
@pytest.mark.parametrize("claimed", [1 << 62, 1 << 40, 1 << 31, -2, -(1 << 63)])
def test_a_claimed_size_is_checked_before_anything_is_allocated(codec: str, claimed: int) -> None:
    frame = pa.compress(bytes(4096), codec, asbytes=True)
    batch = Batch(
        1024,
        [(1024, 0)],
        [b"", struct.pack("<q", claimed) + frame],
        codec={"lz4": 0, "zstd": 1}[codec],
    )
    data = schema_message([INT32]) + batch.message()
    expected = f"states {claimed} bytes|over|more than the limit"
    error = (InvalidArrowError, LimitExceededError)

    def read() -> None:
        with pytest.raises(error, match=expected):
            list_all(data)

    assert peak_bytes(read) < 1 << 20


def test_claims_of_a_length_allocate_nothing() -> None:
    too_much = (1 << 31) - 8
    metadata = CONTINUATION + struct.pack("<i", too_much) + bytes(64)
    limits = colkern.ipc.Limits(metadata_bytes=1 << 40)

    def read(source: Any) -> None:
        with pytest.raises(InvalidArrowError, match="the source ends after 64 of"):
            colkern.ipc.open(source, limits=limits)

    assert peak_bytes(lambda: read(metadata)) < 1 << 20
    # A byte stream is given 64 MiB at a time, as bytes come.
    assert peak_bytes(lambda: read(io.BytesIO(metadata))) < 1 << 28
    body = (
        schema_message([INT32]) + Batch(4, [(4, 0)], [b"", ints(4)], body_length=1 << 62).message()
    )
    assert peak_bytes(lambda: refused(body, "body bytes")) < 1 << 20


def test_a_footer_larger_than_the_file_allocates_nothing() -> None:
    file = one_batch_file()
    for size in (len(file), (1 << 31) - 1, 0, -1, -(1 << 31)):
        damaged = file[:-10] + struct.pack("<i", size) + MAGIC
        assert peak_bytes(lambda data=damaged: refused(data, "footer of")) < 1 << 18  # type: ignore[misc]


def test_vectors_longer_than_the_metadata_allocate_nothing() -> None:
    message = records(MESSAGE, take_apart(one_batch_stream())[1].metadata)
    metadata = encode(MESSAGE, message)
    (count,) = struct.unpack("<I", struct.pack("<I", len(message["header"]["buffers"])))
    for at in range(0, len(metadata) - 4, 4):
        if struct.unpack_from("<I", metadata, at)[0] == count:
            damaged = bytearray(metadata)
            struct.pack_into("<I", damaged, at, (1 << 31) - 1)
            data = schema_message([INT32]) + framed(bytes(damaged)) + bytes(64)

            def read(data: bytes = data) -> None:
                with pytest.raises(ColkernError):
                    list_all(data)

            assert peak_bytes(read) < 1 << 18


def one_batch_stream() -> bytes:
    return schema_message([INT32]) + Batch(4, [(4, 0)], [b"", ints(4)]).message() + EOS


# What leaves the process


SECRET = b"SECRETSECRETSECRET"


def test_what_slots_do_not_show_is_not_written() -> None:
    # Under nulls, behind slices, between values and in padding: nothing of the memory goes out.
    words = [SECRET.decode(), "a", None, SECRET.decode()]
    batch = colkern.RecordBatch.from_arrays(
        [
            hidden_under_a_null(),
            colkern.array(words).slice(1, 2),
            colkern.array([[w] for w in words]).slice(1, 2),
        ],
        ["views", "words", "lists"],
    )
    either: tuple[dict[str, Any], ...] = ({}, {"alignment": 8})
    for options in either:
        sink = io.BytesIO()
        colkern.ipc.write_file(sink, batch, **options)
        assert SECRET[:6] not in sink.getvalue()
        assert list_all(sink.getvalue())[0]["words"] == ["a", None]


def hidden_under_a_null() -> colkern.Array:
    """Two null slots whose views still hold text."""
    view = struct.pack("<i", 6) + SECRET[:12]
    buffers = [colkern.Buffer.from_object(b) for b in (b"\0", view * 2, SECRET)]
    return colkern.Array(colkern.utf8_view(), 2, buffers, null_count=2)


def test_the_gaps_of_structs_are_zeros() -> None:
    # A block has four bytes between its members: they held whatever had been in memory there.
    batch = colkern.RecordBatch.from_arrays([colkern.array([1, 2])], ["a"])
    for _ in range(20):
        dirt = [np.full(3 * BLOCK.itemsize, 0xA5, np.uint8) for _ in range(50)]
        del dirt
        sink = io.BytesIO()
        colkern.ipc.write_file(sink, [batch] * 3)
        assert b"\xa5" * 4 not in sink.getvalue()


def test_what_is_allocated_is_zeroed_before_it_is_filled(monkeypatch: pytest.MonkeyPatch) -> None:
    # The same values through memory that is dirty and memory that is clean are the same bytes.
    empty = np.empty

    def dirty(shape: Any, dtype: Any = float, *args: Any, **kwargs: Any) -> Any:
        result = empty(shape, dtype, *args, **kwargs)
        if result.dtype.kind in "iufbV" and result.flags.c_contiguous:
            result.reshape(-1).view(np.uint8)[:] = 0xA5
        return result

    def bytes_of() -> bytes:
        (batch,) = colkern.ipc.open(written(pa.ipc.new_stream, rich_batch()))
        columns = [colkern.operations.concat([c, c.slice(1)]) for c in batch.columns]
        taken = [colkern.operations.take(c, colkern.array([0, None, 1])) for c in columns]
        sink = io.BytesIO()
        names = list(batch.schema.names)
        colkern.ipc.write_stream(sink, colkern.RecordBatch.from_arrays(taken, names))
        return sink.getvalue()

    clean = bytes_of()
    monkeypatch.setattr(np, "empty", dirty)
    assert bytes_of() == clean


def test_metadata_versions_that_are_not_read_are_named() -> None:
    for version in (MetadataVersion.V1, MetadataVersion.V2, MetadataVersion.V3, 5, 6, 1000):
        data = schema_message([INT32], version=version)
        refused(data, f"metadata version V{version + 1}", UnsupportedError)
        parts = [*take_apart(schema_message([INT32])), *take_apart(one_batch_stream())[1:]]
        message = records(MESSAGE, parts[1].metadata) | {"version": version}
        later: list[Part] = [parts[0], parts[1].with_metadata(encode(MESSAGE, message))]
        refused(as_stream(later), f"metadata version V{version + 1}", UnsupportedError)


def test_a_message_of_another_kind_is_named() -> None:
    parts = take_apart(one_batch_stream())
    file = as_file(parts, parts[0])

    def change(footer: dict[str, Any]) -> None:
        footer["dictionaries"] = footer["recordBatches"]

    # The schema has no dictionary, so no column asks for the block that is none.
    assert list_all(with_footer(file, change)) == [{"i": [0, 1, 2, 3]}]

    def to_schema(footer: dict[str, Any]) -> None:
        footer["recordBatches"] = footer["recordBatches"].copy()
        first = parts[0]
        size = len(first.prefix) + len(first.metadata)
        footer["recordBatches"][0] = (8, size, 0)

    assert MessageHeader.Schema == 1
    refused(with_footer(file, to_schema), "found a schema, expected a record batch")
