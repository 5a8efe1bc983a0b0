"""GPUDirect Storage, by a kvikio of the tests' own: which ranges of a file go where in device memory."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import colkern as ck
from colkern.cuda import direct_storage, stand_in


class Kvikio:
    """A stand-in for kvikio, over host memory; reads are carried out when they are waited for."""

    def __init__(self, compatible: bool) -> None:
        self.compatible = compatible
        self.reads: list[tuple[int, int]] = []
        self.short = 0
        # Which of the reads fail, by their numbers, when they begin or when they end.
        self.refused: set[int] = set()
        self.failing: set[int] = set()
        self.begun = 0

    def module(self) -> ModuleType:
        module, defaults = ModuleType("kvikio"), ModuleType("kvikio.defaults")
        defaults.is_compat_mode_preferred = lambda: self.compatible  # type: ignore[attr-defined]
        module.defaults = defaults  # type: ignore[attr-defined]
        module.CuFile = lambda path, flags: CuFile(self, path)  # type: ignore[attr-defined]
        return module


class CuFile:
    def __init__(self, kvikio: Kvikio, path: str) -> None:
        self.kvikio = kvikio
        self.bytes = np.fromfile(path, np.uint8)

    def pread(self, target: Any, size: int, offset: int) -> Any:
        self.kvikio.begun += 1
        if self.kvikio.begun in self.kvikio.refused:
            raise RuntimeError("cuFile error: 5001")
        return Read(self, target, size, offset)


class Read:
    def __init__(self, file: CuFile, target: Any, size: int, offset: int) -> None:
        self.file, self.target, self.size, self.offset = file, target, size, offset
        self.number = file.kvikio.begun

    def get(self) -> int:
        self.file.kvikio.reads.append((self.offset, self.size))
        if self.number in self.file.kvikio.failing:
            raise RuntimeError("cuFile error: 5030")
        result = self.file.bytes[self.offset : self.offset + self.size]
        self.target[: result.size] = result
        return int(result.size) - self.file.kvikio.short


@pytest.fixture
def kvikio(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Kvikio]:
    result = Kvikio(getattr(request, "param", False))
    module = result.module()
    monkeypatch.setitem(sys.modules, "kvikio", module)
    monkeypatch.setitem(sys.modules, "kvikio.defaults", module.defaults)
    monkeypatch.delenv("COLKERN_DIRECT_STORAGE", raising=False)
    direct_storage.is_available.cache_clear()
    with stand_in.installed():
        yield result
    direct_storage.is_available.cache_clear()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    result = tmp_path / "numbers.arrow"
    batch = ck.record_batch({"x": ck.array([1, 2, None]), "y": ck.array(["a", "b", "c"])})
    ck.ipc.write_file(result, [batch], alignment=64)
    return result


def test_bodies_go_past_the_hosts_memory(kvikio: Kvikio, path: Path) -> None:
    (batch,) = ck.ipc.open(path, device="cuda")
    assert ck.to_host(batch).to_pydict() == {"x": [1, 2, None], "y": ["a", "b", "c"]}
    # Neighbours are one read.
    assert len(kvikio.reads) == 1


def test_only_what_is_wanted_is_read(kvikio: Kvikio, path: Path) -> None:
    (batch,) = ck.ipc.open(path, device="cuda", columns=["y"])
    assert ck.to_host(batch).to_pydict() == {"y": ["a", "b", "c"]}
    assert sum(size for _, size in kvikio.reads) == 64 + 3


def test_the_file_that_was_opened_is_read(kvikio: Kvikio, path: Path) -> None:
    reader = ck.ipc.open_file(path, device="cuda")
    path.unlink()
    assert ck.to_host(reader[0])["x"].to_pylist() == [1, 2, None]


def test_a_file_that_shrank(kvikio: Kvikio, path: Path) -> None:
    kvikio.short = 1
    with pytest.raises(ck.InvalidArrowError, match="the file ended 1 bytes early: it shrank"):
        ck.ipc.open_file(path, device="cuda")[0]


@pytest.mark.parametrize(
    ("refused", "failing", "ended"), [({3}, set(), 2), (set(), {1}, 3), (set(), {1, 2, 3}, 3)]
)
def test_a_read_that_fails_waits_for_the_others(
    refused: set[int], failing: set[int], ended: int, kvikio: Kvikio, tmp_path: Path
) -> None:
    path = tmp_path / "apart.arrow"
    batch = ck.record_batch({name: ck.array([1, 2, 3]) for name in "abcde"})
    ck.ipc.write_file(path, [batch], alignment=64)
    reader = ck.ipc.open_file(path, device="cuda", columns=["a", "c", "e"])
    kvikio.refused, kvikio.failing = refused, failing
    with pytest.raises(OSError, match=r"GPUDirect Storage: cuFile error.*COLKERN_DIRECT_STORAGE=0"):
        reader[0]
    # Their memory is free now.
    assert len(kvikio.reads) == ended
    assert ck.to_host(reader[0]).to_pydict() == {name: [1, 2, 3] for name in "ace"}


@pytest.mark.parametrize("kvikio", [True], indirect=True)
def test_its_compatibility_mode_is_not_used(kvikio: Kvikio, path: Path) -> None:
    assert ck.to_host(ck.ipc.open_file(path, device="cuda")[0])["x"].to_pylist() == [1, 2, None]
    assert kvikio.reads == []


def test_it_can_be_turned_off(kvikio: Kvikio, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLKERN_DIRECT_STORAGE", "0")
    direct_storage.is_available.cache_clear()
    assert ck.to_host(ck.ipc.open_file(path, device="cuda")[0])["x"].to_pylist() == [1, 2, None]
    assert kvikio.reads == []
