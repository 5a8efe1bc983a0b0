"""Files at URLs: which of their bytes are fetched, and how errors say what is missing."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import colkern as ck
from colkern.cuda.stand_in import StandIn

fsspec = pytest.importorskip("fsspec")
MemoryFileSystem = pytest.importorskip("fsspec.implementations.memory").MemoryFileSystem

ROWS = 50_000
BATCHES = [
    ck.record_batch({name: np.arange(ROWS) + seed for name in ("a", "b", "c")}) for seed in (0, 1)
]


@pytest.fixture(params=["file", "stream"])
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    sink = io.BytesIO()
    write = ck.ipc.write_file if request.param == "file" else ck.ipc.write_stream
    write(sink, BATCHES)
    filesystem = fsspec.filesystem("memory")
    filesystem.pipe("/remote.arrow", sink.getvalue())
    yield "memory://remote.arrow"
    filesystem.rm("/remote.arrow")


@pytest.fixture
def fetched(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of the ranges that are fetched."""
    sizes: list[int] = []
    fetch = MemoryFileSystem.cat_file

    def counted(self: Any, path: str, start: int, end: int) -> bytes:
        sizes.append(end - start)
        result: bytes = fetch(self, path, start, end)
        return result

    monkeypatch.setattr(MemoryFileSystem, "cat_file", counted)
    return sizes


def test_only_the_metadata_and_the_wanted_columns_are_fetched(url: str, fetched: list[int]) -> None:
    table = ck.ipc.read_table(url, columns=["b"])
    column = 8 * ROWS * len(BATCHES)
    assert column <= sum(fetched) < column + (1 << 16) + 4096
    assert table["b"].to_pylist() == [*range(ROWS), *range(1, ROWS + 1)]


def test_a_column_of_a_reader_is_fetched_when_it_is_asked_for(url: str, fetched: list[int]) -> None:
    batch = next(iter(ck.ipc.open(url)))
    before = sum(fetched)
    assert before < (1 << 16) + 4096
    batch.column("a").to_numpy()
    assert sum(fetched) == before + 8 * ROWS


def test_a_device_gets_the_wanted_columns(url: str, fetched: list[int], device: StandIn) -> None:
    table = ck.ipc.read_table(url, columns=["c"], device="cuda")
    assert {batch.column("c").device.kind for batch in table.batches} == {"cuda"}
    assert sum(fetched) < 8 * ROWS * len(BATCHES) + (1 << 16) + 4096
    assert ck.to_host(table)["c"].to_pylist() == [*range(ROWS), *range(1, ROWS + 1)]


def test_a_file_of_unknown_size_is_fetched_whole(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MemoryFileSystem, "size", lambda self, path: None)
    assert ck.ipc.read_table(url).equals(ck.table(BATCHES))


def test_a_file_that_has_shrunk_is_told(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    size = MemoryFileSystem.size
    monkeypatch.setattr(MemoryFileSystem, "size", lambda self, path: size(self, path) + 8)
    with pytest.raises(ck.InvalidArrowError, match="the file ended 8 bytes early"):
        ck.ipc.open(url)


def test_a_missing_file_is_an_error_of_the_system() -> None:
    with pytest.raises(FileNotFoundError):
        ck.ipc.open("memory://nothing.arrow")


def test_without_fsspec_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "fsspec.core", None)
    with pytest.raises(ck.UnsupportedError, match=r"'s3://b/k' is a URL: .*pip install fsspec"):
        ck.ipc.open("s3://b/k")
