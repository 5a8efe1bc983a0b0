"""Readers: what they take as a source, how they are asked, and that they are lazy."""

from __future__ import annotations

import gzip
import io
import os
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from ipc.written import Counting, by_pyarrow
from present import present

import colkern.ipc
from colkern import InvalidArrowError
from colkern.ipc import Tensor
from colkern.memory import Buffer

BATCHES = [pa.record_batch({"a": [1, 2, None], "b": ["x", None, "z"]}) for _ in range(3)]
VALUES = [batch.to_pydict() for batch in BATCHES]


def data_of(fmt: str, batches: list[pa.RecordBatch] = BATCHES, **options: Any) -> bytes:
    return by_pyarrow(batches, fmt, **options)


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

    def send() -> None:
        with there:
            there.sendall(data_of(fmt))

    sender = threading.Thread(target=send)
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
    column = colkern.ipc.open_file(data).get_batch(0)["a"]
    assert start <= present(column.buffers[1]).address < start + len(data)
    path = tmp_path / "data"
    path.write_bytes(data)
    mapped = colkern.ipc.open_file(path).get_batch(0)["a"]
    assert present(mapped.buffers[1]).array.base is not None
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
    position: Any
    for position in (1.5, True, "1", None):
        with pytest.raises(TypeError, match="position: expected an integer, got"):
            reader.get_batch(position)
        with pytest.raises(TypeError, match="position: expected an integer, got"):
            reader[position]
    position = np.uint8(1)
    assert reader[position].equals(reader.get_batch(1))
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
        assert isinstance(reader, colkern.ipc.FileReader) == (fmt == "file")
        if isinstance(reader, colkern.ipc.FileReader):
            assert reader.metadata == {b"footer": b"note"}


def test_a_damaged_column_does_not_hide_the_others() -> None:
    data = bytearray(data_of("stream", [BATCHES[0]], compression="zstd"))
    body = data.rindex(b"\x28\xb5\x2f\xfd")
    data[body : body + 4] = b"\0\0\0\0"
    (batch,) = colkern.ipc.open(bytes(data))
    assert batch["a"].to_pylist() == VALUES[0]["a"]
    with pytest.raises(InvalidArrowError, match="Zstandard") as caught:
        batch.column("b")
    assert "column 'b'" in caught.value.place


def test_a_file_object_is_read_for_the_columns_that_are_asked_for() -> None:
    wide = pa.record_batch({f"c{k}": np.zeros(10_000) for k in range(100)})
    source = Counting(data_of("file", [wide]))
    reader = colkern.ipc.open_file(source)
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
        reader = colkern.ipc.open_file(source)
        batches = [reader.get_batch(k) for k in range(3)]
        with ThreadPoolExecutor(8) as pool:
            columns = [pool.submit(b.column, c) for b in batches for c in range(20)]
        expected = words.to_pylist()
        assert all(column.result().to_pylist() == expected for column in columns)


@pytest.mark.parametrize("fmt", ["stream", "file"])
def test_a_reader_that_is_closed_says_so(fmt: str) -> None:
    data = data_of(fmt, DICTIONARY_BATCHES)
    with colkern.ipc.open(data) as reader:
        kept = next(iter(reader))
    with pytest.raises(ValueError, match="the reader is closed"):
        list(reader)
    with pytest.raises(ValueError, match="the reader is closed"):
        list(reader.summaries())
    with pytest.raises(ValueError, match="the reader is closed"):
        pa.table(reader)
    if isinstance(reader, colkern.ipc.FileReader):
        for ask in (lambda: reader.get_batch(0), lambda: reader[0], lambda: reader[:1]):
            with pytest.raises(ValueError, match="the reader is closed"):
                ask()
        assert len(reader) == 2
    # What was read stays good, columns and dictionaries that nobody has asked for yet too.
    assert kept.to_pydict() == DICTIONARY_BATCHES[0].to_pydict()
    assert reader.schema.names == ["w"]
    reader.close()


def test_a_stream_that_was_read_to_its_end_has_ended() -> None:
    with colkern.ipc.open(data_of("stream")) as reader:
        assert len(list(reader)) == 3
    assert list(reader) == []


DICTIONARY_BATCHES = [
    pa.record_batch({"w": pa.array(["u", "v", "u"]).dictionary_encode()}),
    pa.record_batch({"w": pa.array(["u", "v", "v"]).dictionary_encode()}),
]

TRUNCATED = """
import sys
import colkern.ipc

path, fmt, taken = sys.argv[1:]
reader = colkern.ipc.open(path, memory_map=False)
batches = iter(reader)
kept = [next(batches).columns[0].to_pylist() for _ in range(int(taken))]
with open(path, "r+b") as file:
    file.truncate(1_000)
try:
    kept += [batch.columns[0].to_pylist() for batch in batches]
except colkern.InvalidArrowError as error:
    print(error)
assert all(values == list(range(100_000)) for values in kept), kept
print(len(kept))
"""


@pytest.mark.parametrize("taken", [0, 1])
@pytest.mark.parametrize("fmt", ["stream", "file"])
def test_a_file_that_is_cut_short_while_it_is_read(fmt: str, taken: int, tmp_path: Path) -> None:
    """Without a mapping: what was read is good, what is missing an error; a mapping ends the process."""
    path = tmp_path / "data"
    path.write_bytes(data_of(fmt, [pa.record_batch({"n": pa.array(range(100_000))})] * 3))
    done = subprocess.run(
        [sys.executable, "-c", TRUNCATED, str(path), fmt, str(taken)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    message, count = done.stdout.splitlines()
    assert "it shrank while it was read" in message
    assert int(count) == taken


@pytest.mark.parametrize(
    "opened", [colkern.ipc.open, colkern.ipc.open_file, colkern.ipc.open_stream]
)
def test_without_a_mapping_the_same_is_read(opened: Any, tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_bytes(data_of("stream" if opened is colkern.ipc.open_stream else "file"))
    mappings = Path("/proc/self/maps")
    for memory_map in (True, False):
        with opened(path, memory_map=memory_map) as reader:
            assert [batch.to_pydict() for batch in reader] == VALUES
            assert (str(path) in mappings.read_text()) == memory_map


def test_tensors_without_a_mapping(tmp_path: Path) -> None:
    path = tmp_path / "data"
    numbers = np.arange(6.0).reshape(2, 3)
    colkern.ipc.write_tensor(numbers, path)
    for memory_map in (True, False):
        tensor = colkern.ipc.read_tensor(path, memory_map=memory_map)
        (again,) = colkern.ipc.read_tensors(path, memory_map=memory_map)
        assert isinstance(tensor, Tensor)
        assert isinstance(again, Tensor)
        assert np.array_equal(tensor, numbers)
        assert np.array_equal(again, numbers)
        assert (str(path) in Path("/proc/self/maps").read_text()) == memory_map
        del tensor, again


def test_a_file_object_is_read_where_it_stood_though_it_is_moved_or_closed(tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_bytes(b"header" + data_of("file"))
    with path.open("rb") as file:
        file.seek(6)
        reader = colkern.ipc.open_file(file)
        file.seek(3)
        assert reader.get_batch(2).to_pydict() == VALUES[2]
    assert [batch.to_pydict() for batch in reader] == VALUES


def test_a_file_object_that_reads_something_else_is_asked(tmp_path: Path) -> None:
    """The descriptor of a file object may be that of other bytes: those of a compressed file."""
    path = tmp_path / "data.gz"
    path.write_bytes(gzip.compress(data_of("file")))
    with gzip.open(path) as file:
        assert [batch.to_pydict() for batch in colkern.ipc.open(file)] == VALUES
    with tempfile.TemporaryFile() as file:
        file.write(data_of("file"))
        file.seek(0)
        assert [batch.to_pydict() for batch in colkern.ipc.open(file)] == VALUES


@pytest.mark.parametrize(
    ("method", "given", "message"),
    [
        ("readinto", "text", "returned str, not how many bytes"),
        ("readinto", -1, "asked for 8 bytes, it gave -1"),
        ("readinto", 9, "asked for 8 bytes, it gave 9"),
        ("recv_into", b"", "returned bytes, not how many bytes"),
        ("read", "text", "text mode"),
        ("read", 3, "returned int, not bytes"),
        ("read", [1], "returned list, not bytes"),
        ("recv", bytes(9), "asked for 8 bytes, it gave 9"),
    ],
)
def test_a_source_that_gives_something_else_than_bytes(
    method: str, given: Any, message: str
) -> None:
    source = type("Source", (), {method: lambda self, wanted: given})()
    with pytest.raises((TypeError, ValueError), match=f"^source: .*({message})"):
        colkern.ipc.open(source)
