"""Bodies from all kinds of sources into device memory, whole or cut short, by several threads."""

from __future__ import annotations

import functools
import io
import os
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ipc.handmade import Batch, schema_message
from ipc.on_device import BATCHES, INT8, Tap, batch_of, outcome, socket_with
from ipc.written import written

import colkern as ck
from colkern import ColkernError, InvalidArrowError, RecordBatch
from colkern.cuda import stand_in


def named_pipe(data: bytes, path: Path) -> Path:
    pipe = path.with_name("pipe")
    os.mkfifo(pipe)
    threading.Thread(target=lambda: pipe.write_bytes(data), daemon=True).start()
    return pipe


SOURCES: dict[str, Callable[[bytes, Path], Any]] = {
    "bytes": lambda data, path: data,
    "Buffer": lambda data, path: ck.Buffer.from_object(data),
    "mmap": lambda data, path: np.memmap(path, np.uint8, "r"),
    "BytesIO": lambda data, path: io.BytesIO(data),
    "path": lambda data, path: path,
    "str": lambda data, path: str(path),
    "file": lambda data, path: path.open("rb"),
    "raw file": lambda data, path: path.open("rb", buffering=0),
    "few bytes at a time": lambda data, path: Tap(data, 7),
    "socket": lambda data, path: socket_with(data),
    "slow socket": lambda data, path: socket_with(data, 1000),
    "pipe": named_pipe,
}


@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize("fmt", ["stream", "file"])
@pytest.mark.parametrize("columns", [None, ["text", "plain"]])
def test_every_source(
    kind: str, fmt: str, columns: Any, tmp_path: Path, device: stand_in.StandIn
) -> None:
    batches = [batch_of(k, 1000) for k in (5, 7)]
    data = written(batches, fmt)
    path = tmp_path / "data"
    path.write_bytes(data)
    with ck.ipc.open(SOURCES[kind](data, path), columns=columns, device="cuda") as reader:
        actual = [ck.to_host(batch) for batch in reader]
    assert actual == [batch.select(columns or [0, 1, 2]) for batch in batches]


@pytest.mark.parametrize(("trusted", "allocations"), [(False, 0), (True, 1)])
def test_nothing_is_allocated_for_what_a_peer_only_claims(
    trusted: bool,
    allocations: int,
    device: stand_in.StandIn,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    size = 1 << 40
    claim = Batch(size, [(size, 0)], [b"", b""], places=[(0, 0), (0, size)], body_length=size)
    asked: list[int] = []

    def allocated(count: int) -> Any:
        asked.append(count)
        raise MemoryError("more than there is")

    monkeypatch.setattr(device, "allocated", allocated)
    reader = ck.ipc.open_stream(
        Tap(schema_message([INT8]) + claim.message()), device="cuda", trusted=trusted
    )
    with pytest.raises(ck.LimitExceededError if trusted else InvalidArrowError):
        next(reader)
    assert asked == [size] * allocations


def test_only_what_belongs_to_a_stream_is_taken(device: stand_in.StandIn) -> None:
    source = io.BytesIO(b"header" + written(BATCHES) + b"trailer")
    source.seek(6)
    assert len(ck.ipc.open(source, columns=["plain"], device="cuda").read_all()) == 3
    assert source.read() == b"trailer"


def test_peers_that_are_silent_hold_up_nobody_else(device: stand_in.StandIn) -> None:
    data = written(BATCHES)
    silent = []
    for _ in range(device.most_slots + 1):
        here, there = socket.socketpair()
        there.sendall(data[: len(data) // 6])
        reader = ck.ipc.open(here, device="cuda")
        thread = threading.Thread(target=lambda r=reader: outcome(lambda: r), daemon=True)
        thread.start()
        silent.append((there, thread))
    # Each of them has begun with its body.
    deadline = time.monotonic() + 30
    while device.allocations < len(silent) and time.monotonic() < deadline:
        time.sleep(0.001)
    results: list[Any] = []
    other = threading.Thread(
        target=lambda: results.extend(ck.ipc.open(data, device="cuda")), daemon=True
    )
    other.start()
    other.join(10)
    assert len(results) == 3
    for there, thread in silent:
        there.close()
        thread.join()


SMALL = ck.record_batch(
    {
        "n": ck.array([1, None, 3]),
        "s": ck.array(["a", "bc", None]),
        "d": ck.dictionary_encode(ck.array(["p", "q", "p"])),
    }
)


def end_of(source: Any, **options: Any) -> tuple[int, str]:
    """The number of batches, and the end of reading; no column is asked for."""
    batches = 0
    try:
        for _ in ck.ipc.open(source, **options):
            batches += 1
    except ColkernError as error:
        return batches, f"{type(error).__name__}: {error}"
    return batches, "read"


@pytest.mark.parametrize(
    ("codec", "columns"), [(None, None), (None, ["n"]), ("lz4", ["n"])], ids=str
)
def test_a_stream_cut_anywhere(codec: Any, columns: Any, device: stand_in.StandIn) -> None:
    data = written(SMALL, alignment=8, compression=codec)
    for end in range(len(data)):
        cut = data[:end]
        expected = end_of(cut, columns=columns)
        assert end_of(cut, columns=columns, device="cuda") == expected
        assert end_of(Tap(cut), columns=columns, device="cuda") == expected


def test_a_file_cut_anywhere(device: stand_in.StandIn) -> None:
    data = written(SMALL, "file", alignment=8)
    for end in range(len(data)):
        cut = data[:end]
        expected = end_of(cut)
        assert end_of(cut, device="cuda") == expected
        assert end_of(Tap(cut), device="cuda") == expected


def test_a_file_that_shrinks_while_it_is_read(tmp_path: Path, device: stand_in.StandIn) -> None:
    path = tmp_path / "data"
    path.write_bytes(written(BATCHES, "file"))
    reader = ck.ipc.open_file(path, device="cuda")
    with path.open("r+b") as file:
        file.truncate(2000)
    with pytest.raises(InvalidArrowError, match="it shrank while it was read"):
        reader[0]
    assert device.used_bytes == 0


@pytest.mark.parametrize("codec", [None, "zstd"])
@pytest.mark.parametrize("fmt", ["stream", "file"])
def test_columns_of_one_batch_from_several_threads(
    codec: Any, fmt: str, device: stand_in.StandIn
) -> None:
    wide = {f"c{k}": ck.array(np.arange(k, k + 1000)) for k in range(8)}
    word = ck.dictionary_encode(ck.array(["a", "b"] * 500))
    batch = ck.record_batch({**wide, "d": word, "e": word})
    data = written(batch, fmt, compression=codec)
    (read,) = ck.ipc.open(data, device="cuda")

    def column(k: int) -> ck.Array:
        return ck.to_host(read.column(k))

    columns = run_together([functools.partial(column, k) for k in (*range(10), 3, 8)])
    expected = [batch.column(k) for k in (*range(10), 3, 8)]
    assert all(map(ck.Array.equals, columns, expected))


def test_several_readers_in_as_many_threads(device: stand_in.StandIn) -> None:
    data = {fmt: written(BATCHES, fmt, compression="lz4") for fmt in ("stream", "file")}

    def read(fmt: str) -> list[RecordBatch]:
        return [ck.to_host(batch) for batch in ck.ipc.open(data[fmt], device="cuda")]

    actual = run_together([functools.partial(read, fmt) for fmt in ("stream", "file", "file")])
    assert actual == [BATCHES] * 3


def test_one_reader_is_iterated_in_several_threads(device: stand_in.StandIn) -> None:
    reader = ck.ipc.open(written(BATCHES, "file"), device="cuda")
    actual = run_together([lambda: [ck.to_host(batch) for batch in reader]] * 3)
    assert actual == [BATCHES] * 3


def run_together(calls: list[Callable[[], Any]]) -> list[Any]:
    """The results of the calls, each in a thread of its own, all at once."""
    started = threading.Barrier(len(calls))

    def call(function: Callable[[], Any]) -> Any:
        started.wait()
        return function()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(call, calls))
