"""Where writers write to, and that a part is not mistaken for a whole."""

from __future__ import annotations

import errno
import gc
import io
import os
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from arrow_oracle import batch_from_pyarrow

import colkern.ipc
from colkern import InvalidArrowError
from colkern.ipc.writing.sinks import Sink
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
    results: list[Any] = []

    def read() -> None:
        results.extend(colkern.ipc.open(theirs))

    reader = threading.Thread(target=read)
    reader.start()
    colkern.ipc.write_stream(ours, BATCH)
    ours.close()
    reader.join()
    assert results == [BATCH]


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
    with pytest.raises(FileNotFoundError) as missing:
        colkern.ipc.new_stream("/nowhere/at/all.arrow", BATCH.schema)
    assert missing.value.filename == "/nowhere/at/all.arrow"


def test_positions_count_from_where_the_writer_started() -> None:
    sink = io.BytesIO()
    sink.write(b"abc")
    colkern.ipc.write_file(sink, BATCH)
    (batch,) = colkern.ipc.open(Buffer.from_object(sink.getvalue())[3:])
    assert batch == BATCH


class Silent(io.RawIOBase):
    """A raw file in non-blocking mode whose other end does not read: `answer` is what it takes."""

    def __init__(self, answer: int | None) -> None:
        self.answer = answer

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int | None:
        return self.answer


def test_a_raw_file_that_takes_nothing_is_an_error() -> None:
    with pytest.raises(BlockingIOError):
        colkern.ipc.write_stream(Silent(None), BATCH)
    with pytest.raises(OSError, match="took none of"):
        colkern.ipc.write_stream(Silent(0), BATCH)


def test_a_pipe_that_does_not_block_loses_nothing_in_silence() -> None:
    ours, theirs = os.pipe()
    os.set_blocking(theirs, False)
    with (
        os.fdopen(ours, "rb"),
        os.fdopen(theirs, "wb", buffering=0) as pipe,
        pytest.raises(BlockingIOError),
    ):
        colkern.ipc.write_stream(pipe, BATCH)


class Returnless:
    """A file object whose `write` takes all and returns nothing."""

    def __init__(self) -> None:
        self.data = bytearray()

    def write(self, data: Any) -> None:
        self.data += data


def test_a_file_object_that_returns_no_count_has_taken_all() -> None:
    sink = Returnless()
    colkern.ipc.write_stream(sink, BATCH)
    (batch,) = colkern.ipc.open(bytes(sink.data))
    assert batch == BATCH


@pytest.mark.parametrize("new", WRITERS)
def test_a_writer_that_is_dropped_leaves_nothing_behind(tmp_path: Path, new: Any) -> None:
    path = tmp_path / "a.arrow"
    for _ in range(3):
        writer = new(path, BATCH.schema)
        writer.write(BATCH)
        del writer
        gc.collect()
        assert os.listdir(tmp_path) == []
    writers = [new(path, BATCH.schema) for _ in range(2)]
    for writer in writers:
        writer.write(BATCH)
        writer.close()
    check(path)
    assert os.listdir(tmp_path) == ["a.arrow"]


def test_a_writer_dropped_in_a_forked_process_leaves_the_file_to_its_owner(tmp_path: Path) -> None:
    script = (
        "import os, sys, colkern, colkern.ipc\n"
        "path = sys.argv[1]\n"
        "batch = colkern.RecordBatch(colkern.Schema({}), [], length=7)\n"
        "writer = colkern.ipc.new_file(path, batch.schema)\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    sys.exit()\n"
        "os.waitpid(child, 0)\n"
        "writer.write(batch)\n"
        "writer.close()\n"
    )
    path = tmp_path / "a.arrow"
    subprocess.run([sys.executable, "-c", script, str(path)], check=True)
    (batch,) = colkern.ipc.open(path)
    assert batch.num_rows == 7
    assert os.listdir(tmp_path) == ["a.arrow"]


def test_a_file_that_cannot_get_its_permissions_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.arrow"
    path.write_text("before")

    def refuse(*_: Any) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "fchmod", refuse)
    with pytest.raises(PermissionError):
        colkern.ipc.new_file(path, BATCH.schema)
    gc.collect()
    assert os.listdir(tmp_path) == ["a.arrow"]
    assert path.read_text() == "before"


@pytest.mark.parametrize("name", ["x" * 249 + ".arrow", "柱" * 83 + ".arrow"])
def test_the_longest_names_that_a_file_can_have(tmp_path: Path, name: str) -> None:
    assert len(name.encode()) == 255
    colkern.ipc.write_file(tmp_path / name, BATCH)
    check(tmp_path / name)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs descriptors with paths")
def test_a_path_of_an_open_descriptor_is_written_through_it(tmp_path: Path) -> None:
    # As `>>` of a shell opens its output.
    path, link = tmp_path / "log", tmp_path / "link"
    path.write_bytes(b"before")
    with path.open("ab") as file:
        place = f"/dev/fd/{file.fileno()}"
        link.symlink_to(place)
        for target in (place, f"/proc/self/fd/{file.fileno()}", link):
            before = path.read_bytes()
            inode = path.stat().st_ino
            colkern.ipc.write_stream(target, BATCH)
            after = path.read_bytes()
            assert after.startswith(before)
            assert path.stat().st_ino == inode
            (batch,) = colkern.ipc.open_stream(after[len(before) :])
            assert batch == BATCH


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="needs files in shared memory")
def test_files_in_shared_memory_appear_when_they_are_whole() -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        path = Path(folder, "a.arrow")
        with colkern.ipc.new_file(path, BATCH.schema) as writer:
            writer.write(BATCH)
            assert not path.exists()
        check(path)


class Full(io.BytesIO):
    """Takes so many more chunks, then half of one and no more; then it has room again."""

    def __init__(self) -> None:
        super().__init__()
        self.left: int | None = None

    def write(self, data: Any) -> int:
        if self.left == 0:
            self.left = None
            super().write(bytes(data)[:50])
            raise OSError(errno.ENOSPC, "no space left")
        if self.left is not None:
            self.left -= 1
        return super().write(data)


@pytest.mark.parametrize("new", WRITERS)
@pytest.mark.parametrize("chunks", [0, 1, 2])
def test_a_writer_whose_sink_failed_is_not_used_again(new: Any, chunks: int) -> None:
    words = pa.array(["a", "b"]).dictionary_encode()
    numbers = pa.array([1, 2]).dictionary_encode()
    batch = batch_from_pyarrow(pa.record_batch({"a": words, "b": numbers}))
    sink = Full()
    writer = new(sink, batch.schema)
    # Two dictionaries and a batch.
    sink.left = chunks
    with pytest.raises(OSError, match="no space left"):
        writer.write(batch)
    size = len(sink.getvalue())
    with pytest.raises(ValueError, match="the writer is closed"):
        writer.write(batch)
    writer.close()
    assert len(sink.getvalue()) == size


def test_a_path_whose_write_failed_does_not_appear(tmp_path: Path) -> None:
    path = tmp_path / "a.arrow"
    writer = colkern.ipc.new_file(path, BATCH.schema)
    assert writer._sink is not None
    writer._sink._write = _refuse
    with writer:
        with pytest.raises(OSError, match="no space left"):
            writer.write(BATCH)
        assert os.listdir(tmp_path) == []
    assert os.listdir(tmp_path) == []


def _refuse(_: Any) -> None:
    raise OSError(errno.ENOSPC, "no space left")


def test_chunks_stay_as_they_are_only_until_the_next_one_is_asked_for() -> None:
    sizes = [1, 2, 100_000, 3, 65_000, 4_000]
    memory = bytearray(100_000)
    taken: list[bytes] = []

    def chunks() -> Iterator[memoryview]:
        for number, size in enumerate(sizes):
            memory[:size] = bytes([number]) * size
            yield memoryview(memory)[:size]

    Sink(lambda data: taken.append(bytes(data))).write(chunks())
    expected = [bytes([number]) * size for number, size in enumerate(sizes)]
    assert b"".join(taken) == b"".join(expected)
    # Small ones are handed on together.
    assert [len(data) for data in taken] == [3, 100_000, 65_003, 4_000]


def test_a_sink_that_returns_text() -> None:
    class Answers:
        def write(self, chunk: Any) -> str:
            return "written"

    with pytest.raises(
        TypeError, match=r"^sink: its write returned str, not how many bytes it took"
    ):
        colkern.ipc.write_stream(Answers(), BATCH)


def test_a_sink_in_text_mode(tmp_path: Path) -> None:
    with (tmp_path / "a.arrow").open("w") as sink:
        for text in (sink, io.StringIO()):
            with pytest.raises(TypeError, match=r"^sink: a file object in text mode"):
                colkern.ipc.write_file(text, BATCH)


def test_a_dict_of_columns_is_a_batch() -> None:
    data = {"a": [1, None], "b": colkern.array(["x", "y"])}
    for write in (colkern.ipc.write_file, colkern.ipc.write_stream):
        sink = io.BytesIO()
        write(sink, data)
        (batch,) = colkern.ipc.open(sink.getvalue())
        assert batch.to_pydict() == {"a": [1, None], "b": ["x", "y"]}
    with pytest.raises(TypeError, match="data: expected record batches, a dict of columns"):
        colkern.ipc.write_file(io.BytesIO(), "text")
