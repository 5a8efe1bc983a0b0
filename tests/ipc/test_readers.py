"""Readers: what they take as a source, how they are asked, and that they are lazy."""

from __future__ import annotations

import io
import os
import socket
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import colkern.ipc
from colkern import InvalidArrowError
from colkern.memory import Buffer

BATCHES = [pa.record_batch({"a": [1, 2, None], "b": ["x", None, "z"]}) for _ in range(3)]
VALUES = [batch.to_pydict() for batch in BATCHES]


def data_of(fmt: str, batches: list[pa.RecordBatch] = BATCHES, **options: Any) -> bytes:
    sink = pa.BufferOutputStream()
    make = pa.ipc.new_file if fmt == "file" else pa.ipc.new_stream
    with make(sink, batches[0].schema, **options) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return sink.getvalue().to_pybytes()


class Dribble(io.RawIOBase):
    """A file object that gives a few bytes at a time, and cannot seek."""

    def __init__(self, data: bytes) -> None:
        self._data = io.BytesIO(data)

    def readable(self) -> bool:
        return True

    def readinto(self, view: Any) -> int:
        return self._data.readinto(memoryview(view)[:7])


class ReadOnly:
    """The least a file object can have."""

    def __init__(self, data: bytes) -> None:
        self.read = io.BytesIO(data).read


SOURCES: dict[str, Callable[[bytes, Path], Any]] = {
    "bytes": lambda data, path: data,
    "bytearray": lambda data, path: bytearray(data),
    "memoryview": lambda data, path: memoryview(data),
    "numpy": lambda data, path: np.frombuffer(data, np.uint8),
    "Buffer": lambda data, path: Buffer.from_object(data),
    "pyarrow": lambda data, path: pa.py_buffer(data),
    "BytesIO": lambda data, path: io.BytesIO(data),
    "Dribble": lambda data, path: Dribble(data),
    "ReadOnly": lambda data, path: ReadOnly(data),
    "path": lambda data, path: path,
    "str": lambda data, path: str(path),
    "file": lambda data, path: path.open("rb"),
    "raw file": lambda data, path: path.open("rb", buffering=0),
}


@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize("fmt", ["stream", "file"])
def test_every_source(kind: str, fmt: str, tmp_path: Path) -> None:
    data = data_of(fmt)
    path = tmp_path / "data"
    path.write_bytes(data)
    with colkern.ipc.open(SOURCES[kind](data, path)) as reader:
        assert [batch.to_pydict() for batch in reader] == VALUES
    opened = colkern.ipc.open_file if fmt == "file" else colkern.ipc.open_stream
    assert opened(SOURCES[kind](data, path)).schema == reader.schema
    assert colkern.ipc.read_schema(SOURCES[kind](data, path)) == reader.schema


@pytest.mark.parametrize("fmt", ["stream", "file"])
def test_a_socket(fmt: str) -> None:
    here, there = socket.socketpair()
    sender = threading.Thread(target=lambda: (there.sendall(data_of(fmt)), there.close()))
    sender.start()
    with here:
        assert [batch.to_pydict() for batch in colkern.ipc.open(here)] == VALUES
    sender.join()


def test_a_named_pipe(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    sender = threading.Thread(target=lambda: path.write_bytes(data_of("stream")))
    sender.start()
    with colkern.ipc.open(path) as reader:
        assert [batch.to_pydict() for batch in reader] == VALUES
    sender.join()


def test_a_stream_in_a_stream_is_read_from_where_it_stands() -> None:
    source = io.BytesIO(b"header" + data_of("stream") + b"trailer")
    source.seek(6)
    assert len(colkern.ipc.open(source).read_all()) == 3
    # Only what belongs to the stream is taken, so another may follow.
    assert source.read() == b"trailer"


def test_a_file_in_a_file_is_read_from_where_it_stands() -> None:
    source = io.BytesIO(b"header" + data_of("file"))
    source.seek(6)
    assert len(colkern.ipc.open(source).read_all()) == 3


def test_sources_of_the_wrong_kind() -> None:
    with pytest.raises(TypeError, match="source: expected a path"):
        colkern.ipc.open(42)
    with pytest.raises(TypeError, match="text mode"):
        colkern.ipc.open(io.StringIO("text"))
    with pytest.raises(FileNotFoundError):
        colkern.ipc.open("no/such/file")
    with pytest.raises(InvalidArrowError, match="not an Arrow file"):
        colkern.ipc.open_file(data_of("stream"))


def test_paths_and_memory_are_not_copied(tmp_path: Path) -> None:
    data = data_of("file")
    start = np.frombuffer(data, np.uint8).ctypes.data
    column = colkern.ipc.open(data).get_batch(0)["a"]
    assert start <= column.buffers[1].address < start + len(data)
    path = tmp_path / "data"
    path.write_bytes(data)
    mapped = colkern.ipc.open(path).get_batch(0)["a"]
    assert mapped.buffers[1].array.base is not None
    path.unlink()
    assert mapped.to_pylist() == [1, 2, None]


def test_batches_in_any_order() -> None:
    numbered = [pa.record_batch({"a": [k]}) for k in range(5)]
    reader = colkern.ipc.open_file(data_of("file", numbered))
    assert (len(reader), reader.num_record_batches) == (5, 5)
    assert [reader.get_batch(k)["a"].to_pylist() for k in (4, 0, -2)] == [[4], [0], [3]]
    assert [batch["a"].to_pylist() for batch in reader[1:3]] == [[1], [2]]
    # Unlike a stream, a file is read as often as one likes.
    assert reader.read_all() == reader.read_all() == list(reader)
    for position in (1.5, True, "1", None):
        with pytest.raises(TypeError, match="position: expected an integer, got"):
            reader.get_batch(position)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="position: expected an integer, got"):
            reader[position]
    assert reader[np.uint8(1)].equals(reader.get_batch(1))
    with pytest.raises(IndexError, match="batch 5 of 5"):
        reader.get_batch(5)


def test_a_stream_is_read_once() -> None:
    reader = colkern.ipc.open_stream(data_of("stream"))
    assert len(reader.read_all()) == 3
    assert reader.read_all() == []


def test_custom_metadata_at_every_level() -> None:
    fields = [pa.field("a", pa.int64(), metadata={"unit": "m", b"raw": b"\xff\0"})]
    schema = pa.schema(fields, {"made": "by hand"})
    batch = pa.record_batch([[1]], schema)
    for fmt in ("stream", "file"):
        sink = pa.BufferOutputStream()
        make = pa.ipc.new_file if fmt == "file" else pa.ipc.new_stream
        options = {"metadata": {"footer": "note"}} if fmt == "file" else {}
        with make(sink, schema, **options) as writer:
            writer.write_batch(batch, custom_metadata={"batch": "1"})
            writer.write_batch(batch)
        reader = colkern.ipc.open(sink.getvalue())
        assert reader.schema.metadata == {b"made": b"by hand"}
        assert reader.schema.field("a").metadata == {b"unit": b"m", b"raw": b"\xff\0"}
        assert [b.metadata for b in reader] == [{b"batch": b"1"}, None]
        if fmt == "file":
            assert reader.metadata == {b"footer": b"note"}


def test_a_damaged_column_does_not_hide_the_others() -> None:
    data = bytearray(
        data_of("stream", [BATCHES[0]], options=pa.ipc.IpcWriteOptions(compression="zstd"))
    )
    body = data.rindex(b"\x28\xb5\x2f\xfd")
    data[body : body + 4] = b"\0\0\0\0"
    (batch,) = colkern.ipc.open(bytes(data))
    assert batch["a"].to_pylist() == VALUES[0]["a"]
    with pytest.raises(InvalidArrowError, match="Zstandard") as caught:
        batch.column("b")
    assert "column 'b'" in caught.value.place


class Counting(io.BytesIO):
    """Counts the bytes that are read."""

    count = 0

    def readinto(self, view: Any) -> int:
        self.count += memoryview(view).nbytes
        return super().readinto(view)


def test_a_file_object_is_read_for_the_columns_that_are_asked_for() -> None:
    wide = pa.record_batch({f"c{k}": np.zeros(10_000) for k in range(100)})
    source = Counting(data_of("file", [wide]))
    reader = colkern.ipc.open(source)
    reader.get_batch(0)["c5"].to_pylist()
    assert source.count < 200_000 < len(source.getvalue()) / 10


@pytest.mark.parametrize("fmt", ["stream", "file"])
def test_readers_are_arrow_streams(fmt: str) -> None:
    assert (
        pa.table(colkern.ipc.open(data_of(fmt))).to_pydict()
        == pa.Table.from_batches(BATCHES).to_pydict()
    )


def test_columns_are_loaded_from_many_threads() -> None:
    words = pa.array([str(k % 50) for k in range(1000)]).dictionary_encode()
    batch = pa.record_batch({f"c{k}": words for k in range(20)})
    for source in (data_of("file", [batch] * 3), io.BytesIO(data_of("file", [batch] * 3))):
        reader = colkern.ipc.open(source)
        batches = [reader.get_batch(k) for k in range(3)]
        with ThreadPoolExecutor(8) as pool:
            columns = [pool.submit(b.column, c) for b in batches for c in range(20)]
        expected = words.to_pylist()
        assert all(column.result().to_pylist() == expected for column in columns)
