"""Bodies on their way to a device: sources, staging, reading ahead, LZ4, too little memory."""

from __future__ import annotations

import io
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from golden import is_installed

import colkern as ck
from colkern.cuda import count_transfers, memory, stand_in

ROWS = 3_000_000
"""24 MB of numbers: several page-locked slots of a GPU's."""


def batches(rows: int) -> list[ck.RecordBatch]:
    """Three batches of which each number says where it is."""
    return [
        ck.record_batch(
            {"n": np.arange(k * rows, (k + 1) * rows), "word": ["a", None, "ü"] * (rows // 3)}
        )
        for k in range(3)
    ]


def written(rows: int, **options: Any) -> bytes:
    sink = io.BytesIO()
    ck.ipc.write_file(sink, batches(rows), **options)
    return sink.getvalue()


def as_path(data: bytes, folder: Path) -> Any:
    path = folder / "numbers.arrow"
    path.write_bytes(data)
    return path


def as_pipe(data: bytes, folder: Path) -> Any:
    """A pipe that a thread writes to: the bytes of a stream, in order."""
    stream = io.BytesIO()
    ck.ipc.write_stream(stream, list(ck.ipc.open(data)))
    reading, writing = os.pipe()

    def fill() -> None:
        with os.fdopen(writing, "wb") as sink:
            sink.write(stream.getvalue())

    threading.Thread(target=fill, daemon=True).start()
    return os.fdopen(reading, "rb")


SOURCES: dict[str, Callable[[bytes, Path], Any]] = {
    "path": as_path,
    "bytes": lambda data, folder: data,
    "file": lambda data, folder: io.BytesIO(data),
    "pipe": as_pipe,
}


@pytest.mark.smoke
@pytest.mark.parametrize("source", SOURCES)
def test_numbers_arrive_from_every_source(source: str, place: str, tmp_path: Path) -> None:
    # The stand-in's slots are small.
    rows = ROWS if place == "gpu" else 3_000
    expected = batches(rows)
    opened = SOURCES[source](written(rows), tmp_path)
    with count_transfers() as counted, ck.ipc.open(opened, device="cuda") as reader:
        # The next batch is read while this one is looked at.
        for batch, other in zip(reader, expected, strict=True):
            assert batch["n"].device == ck.Device("cuda")
            assert ck.to_host(batch) == other
    assert counted.bytes_to_device >= 3 * 8 * rows


def test_columns_that_are_not_wanted_do_not_cross_the_bus(place: str, tmp_path: Path) -> None:
    path = as_path(written(3_000), tmp_path)
    with count_transfers() as counted:
        read = ck.ipc.open(path, device="cuda", columns=["n"]).read_all()
    assert counted.bytes_to_device < 3 * (8 * 3_000 + 64)
    assert [ck.to_host(b["n"]).to_pylist()[-1] for b in read] == [2_999, 5_999, 8_999]


@pytest.mark.smoke
@pytest.mark.skipif(not is_installed("lz4"), reason="the package lz4 is not installed")
def test_lz4_crosses_the_bus_compressed(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Of a host as slow as this, no device is slower.
    monkeypatch.setattr(memory.library(), "core_decompresses", 1e-9)
    rows = ROWS if place == "gpu" else 3_000
    data = written(rows, compression="lz4")
    with count_transfers() as counted:
        read = ck.ipc.open(data, device="cuda").read_all()
    assert counted.bytes_to_device < 1.1 * len(data)
    assert [ck.to_host(batch) for batch in read] == batches(rows)


@pytest.mark.parametrize("codec", ["lz4", "zstd"])
def test_what_the_host_is_quicker_at_is_decompressed_there(
    codec: str, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip({"lz4": "lz4", "zstd": "zstandard"}[codec])
    monkeypatch.setattr(memory.library(), "core_decompresses", 1e12)
    rows = ROWS if place == "gpu" else 3_000
    path = as_path(written(rows, compression=codec), tmp_path)
    with count_transfers() as counted:
        read = ck.ipc.open(path, device="cuda").read_all()
    assert counted.bytes_to_device >= 3 * 8 * rows
    assert [ck.to_host(batch) for batch in read] == batches(rows)


@contextmanager
def memory_of(size: int) -> Iterator[None]:
    """A device whose memory has so many bytes: CuPy's pool within a limit."""
    if stand_in.installed_library() is not None:
        with stand_in.installed(memory_bytes=size):
            yield
        return
    import cupy

    pool = cupy.get_default_memory_pool()
    pool.free_all_blocks()
    before = pool.get_limit()
    pool.set_limit(size=pool.total_bytes() + size)
    try:
        yield
    finally:
        pool.set_limit(size=before)


@pytest.mark.smoke
def test_a_device_without_memory_is_told_and_goes_on(place: str) -> None:
    rows = ROWS if place == "gpu" else 3_000
    data = written(rows)
    small = ck.array([1, None, 3])
    # For a batch and a half.
    with memory_of(rows * 20):
        first = next(iter(ck.ipc.open(data, device="cuda")))
        with pytest.raises(ck.LimitExceededError, match="device memory"):
            ck.ipc.open(data, device="cuda").read_all()
        with pytest.raises(ck.LimitExceededError, match="device memory"):
            ck.concat([first["n"]] * 100)
        assert ck.to_host(ck.to_device(small)).equals(small)
        assert ck.to_host(first) == batches(rows)[0]
