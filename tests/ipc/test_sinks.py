"""Where writers write to, and that a part is not mistaken for a whole."""

from __future__ import annotations

import io
import os
import socket
import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from arrow_oracle import batch_from_pyarrow

import colkern.ipc
from colkern import InvalidArrowError
from colkern.memory import Buffer

BATCH = batch_from_pyarrow(pa.record_batch({"x": list(range(100_000)), "y": ["a"] * 100_000}))
WRITERS = [colkern.ipc.new_stream, colkern.ipc.new_file]


def check(path: Path) -> None:
    (batch,) = colkern.ipc.open(path)
    assert batch == BATCH


@pytest.mark.parametrize("new", WRITERS)
def test_a_path_appears_when_the_writer_is_closed(tmp_path: Path, new: Any) -> None:
    path = tmp_path / "a.arrow"
    with new(path, BATCH.schema) as writer:
        writer.write(BATCH)
        assert not path.exists()
    check(path)
    assert os.listdir(tmp_path) == ["a.arrow"]


@pytest.mark.parametrize("new", WRITERS)
def test_a_file_that_failed_leaves_what_was_there(tmp_path: Path, new: Any) -> None:
    path = tmp_path / "a.arrow"
    path.write_text("before")
    writer = new(str(path), BATCH.schema)
    with pytest.raises(TypeError, match="data: expected"), writer:
        writer.write([BATCH, 5])
    assert path.read_text() == "before"
    assert os.listdir(tmp_path) == ["a.arrow"]
    with pytest.raises(ValueError, match="the writer is closed"):
        writer.write(BATCH)


def test_a_file_keeps_its_permissions_and_a_link_its_file(tmp_path: Path) -> None:
    path, link = tmp_path / "a.arrow", tmp_path / "link"
    path.write_text("before")
    path.chmod(0o640)
    link.symlink_to(path)
    colkern.ipc.write_file(link, BATCH)
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    check(path)


def test_a_file_object_without_a_footer_is_no_file() -> None:
    sink = io.BytesIO()
    writer = colkern.ipc.new_file(sink, BATCH.schema)
    with pytest.raises(TypeError, match="data: expected"), writer:
        writer.write([BATCH, 5])
    with pytest.raises(InvalidArrowError, match="was not finished"):
        colkern.ipc.open_file(sink.getvalue())
    assert not sink.closed


@pytest.mark.parametrize("new", WRITERS)
def test_closing_twice_and_using_what_is_closed(new: Any) -> None:
    sink = io.BytesIO()
    writer = new(sink, BATCH.schema)
    writer.write(BATCH)
    writer.close()
    size = len(sink.getvalue())
    writer.close()
    writer.abandon()
    assert len(sink.getvalue()) == size
    with pytest.raises(ValueError, match="the writer is closed"):
        writer.write(BATCH)


class Bites(io.RawIOBase):
    """A raw file that takes a few bytes at a time."""

    def __init__(self) -> None:
        self.data = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.data += memoryview(data)[:1000]
        return min(memoryview(data).nbytes, 1000)


def test_a_raw_file_that_takes_a_part_is_given_the_rest() -> None:
    sink = Bites()
    colkern.ipc.write_stream(sink, BATCH)
    (batch,) = colkern.ipc.open(bytes(sink.data))
    assert batch == BATCH


def test_sockets() -> None:
    ours, theirs = socket.socketpair()
    found: list[Any] = []

    def read() -> None:
        found.extend(colkern.ipc.open(theirs))

    reader = threading.Thread(target=read)
    reader.start()
    colkern.ipc.write_stream(ours, BATCH)
    ours.close()
    reader.join()
    assert found == [BATCH]


def test_pipes_by_their_path(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=colkern.ipc.write_stream, args=(path, BATCH))
    writer.start()
    with path.open("rb") as pipe:
        (batch,) = colkern.ipc.open(pipe)
    writer.join()
    assert batch == BATCH
    assert path.is_fifo()


def test_what_is_no_sink() -> None:
    with pytest.raises(TypeError, match="sink: expected a path"):
        colkern.ipc.new_stream(5, BATCH.schema)
    with pytest.raises(FileNotFoundError):
        colkern.ipc.new_stream("/nowhere/at/all.arrow", BATCH.schema)


def test_positions_count_from_where_the_writer_started() -> None:
    sink = io.BytesIO()
    sink.write(b"abc")
    colkern.ipc.write_file(sink, BATCH)
    (batch,) = colkern.ipc.open(Buffer.from_object(sink.getvalue())[3:])
    assert batch == BATCH
