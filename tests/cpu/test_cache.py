"""Compiled kernels on disk: found by other processes, and never trusted without need."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from colkern.cache import cache_dir, compilations
from colkern.cpu import cache as cpu_cache
from colkern.cpu.compiler import jit

RUN = """
import json, sys
import numba
import numpy as np
from colkern.cache import compilations
from colkern.cpu.target import CpuTarget
from colkern.kernels.offsets import lengths_of
target = CpuTarget()
out = target.allocate(3, np.int64)
target.map(lengths_of, 3, target.table([0, 2, 2, 7], np.int32), out)
print(json.dumps({"out": out.tolist(), **compilations()}))
"""


def start(**environment: str) -> subprocess.Popen[str]:
    kept = {
        k: v
        for k, v in os.environ.items()
        if k not in ("HOME", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME")
    }
    return subprocess.Popen(
        [sys.executable, "-c", RUN],
        env={**kept, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def result(process: subprocess.Popen[str]) -> dict[str, Any]:
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    actual: dict[str, Any] = json.loads(out)
    assert actual.pop("out") == [2, 0, 5]
    return actual


def stored(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.kernel"))


def test_second_process_compiles_nothing(tmp_path: Path) -> None:
    first = result(start(COLKERN_CACHE_DIR=str(tmp_path)))
    assert first == {"compiled": 1, "loaded": 0, "saved": 1}
    second = result(start(COLKERN_CACHE_DIR=str(tmp_path)))
    assert second == {"compiled": 0, "loaded": 1, "saved": 0}
    (path,) = stored(tmp_path)
    assert path.name.startswith("lengths_of-")


def test_two_processes_at_once(tmp_path: Path) -> None:
    both = [start(COLKERN_CACHE_DIR=str(tmp_path)) for _ in range(2)]
    for item in map(result, both):
        assert item["compiled"] + item["loaded"] == 1
    assert len(stored(tmp_path)) == 1
    # No half-written file stays.
    assert not list(tmp_path.rglob(".writing-*"))
    assert result(start(COLKERN_CACHE_DIR=str(tmp_path)))["loaded"] == 1


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """This process's cache, empty."""
    monkeypatch.setenv("COLKERN_CACHE_DIR", str(tmp_path))
    return tmp_path


def add_one(x: int) -> int:
    return x + 1


def call() -> dict[str, int]:
    """The counts of a new dispatcher of one function: how many it compiled, loaded, saved."""
    before = compilations()
    assert jit(add_one)(41) == 42
    after = compilations()
    return {what: after[what] - before[what] for what in after}


LOADED = {"compiled": 0, "loaded": 1, "saved": 0}
COMPILED = {"compiled": 1, "loaded": 0, "saved": 1}


def damage_cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


def damage_empty(content: bytes) -> bytes:
    return b""


def damage_one_bit(content: bytes) -> bytes:
    # In the machine code, where no pickle would notice.
    place = len(content) - 200
    return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


def damage_text(content: bytes) -> bytes:
    return b"not a kernel"


@pytest.mark.parametrize("damage", [damage_cut, damage_empty, damage_one_bit, damage_text])
def test_damaged_file_is_compiled_anew(here: Path, damage: Any) -> None:
    assert call() == COMPILED
    assert call() == LOADED
    (path,) = stored(here)
    path.write_bytes(damage(path.read_bytes()))
    assert call() == COMPILED
    assert call() == LOADED


def test_code_for_other_types_is_compiled_anew(here: Path) -> None:
    assert call() == COMPILED
    (whole,) = stored(here)
    jit(add_one)(1.5)
    (other,) = set(stored(here)) - {whole}
    whole.write_bytes(other.read_bytes())
    assert call() == COMPILED


real = object()


def real_part(x: int) -> int:
    return x.real


def test_what_names_an_object_of_this_process_is_not_stored(here: Path) -> None:
    # It is an attribute here, but the name of a global, too, which another process has otherwise.
    assert jit(real_part)(7) == 7
    assert stored(here) == []


def test_each_signature_has_a_file(here: Path) -> None:
    jit(add_one)(1)
    jit(add_one)(1.5)
    assert len(stored(here)) == 2


def test_options_are_part_of_the_key(here: Path) -> None:
    jit(add_one)(1)
    jit(add_one, fastmath=True)(1)
    assert len(stored(here)) == 2


def test_settings_of_numba_that_change_code_are_part_of_the_key(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jit(add_one)(1)
    monkeypatch.setattr("numba.core.config.NUMBA_NUM_THREADS", 1)
    monkeypatch.setattr("numba.core.config.FULL_TRACEBACKS", 1)
    assert call() == LOADED
    monkeypatch.setattr("numba.core.config.BOUNDSCHECK", 1)
    assert call() == COMPILED
    monkeypatch.setattr("numba.core.config.LOOP_VECTORIZE", 0)
    assert call() == COMPILED


def test_code_whose_types_cannot_be_made_here_is_compiled_anew(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert call() == COMPILED

    def refuse(content: object) -> None:
        raise TypeError("made by another version")

    with monkeypatch.context() as patched:
        patched.setattr("colkern.cpu.cache.pickle.loads", refuse)
        assert call() == COMPILED
    assert call() == LOADED


def test_a_full_disk_is_no_error(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(cpu_cache, "write_whole", full)
    assert call() == {"compiled": 1, "loaded": 0, "saved": 0}


def test_no_directory_at_all_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(name: str) -> Path:
        raise PermissionError("no private directory for cached files")

    monkeypatch.setattr(cpu_cache, "cache_dir", none)
    assert call() == {"compiled": 1, "loaded": 0, "saved": 0}


# Where files are kept


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home, a cache folder and a folder for temporary files, below one folder."""
    for name in ("home", "xdg", "tmp"):
        (tmp_path / name).mkdir()
    monkeypatch.delenv("COLKERN_CACHE_DIR", raising=False)
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    return tmp_path


def test_order_of_directories(places: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cache_dir() == places / "home" / ".cache" / "colkern"
    monkeypatch.setenv("XDG_CACHE_HOME", str(places / "xdg"))
    assert cache_dir("kernels") == places / "xdg" / "colkern" / "kernels"
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(places / "numba"))
    assert cache_dir("kernels") == places / "numba" / "colkern" / "kernels"
    monkeypatch.setenv("COLKERN_CACHE_DIR", str(places / "chosen"))
    assert cache_dir() == places / "chosen"


def test_without_a_home(places: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A home that cannot be made a folder of: what an executor's /nonexistent is.
    (places / "file").touch()
    monkeypatch.setenv("HOME", str(places / "file"))
    assert cache_dir("kernels") == places / "tmp" / f"colkern-{os.getuid()}" / "kernels"


@pytest.mark.parametrize("mask", [0o000, 0o002, 0o022, 0o077])
def test_directory_is_private_whatever_the_umask(places: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        actual = cache_dir("kernels")
    finally:
        os.umask(before)
    assert actual == places / "home" / ".cache" / "colkern" / "kernels"
    assert actual.stat().st_mode & 0o777 == 0o700
    assert actual.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702])
def test_directory_that_others_may_write_to_is_passed_over(places: Path, mode: int) -> None:
    planted = places / "home" / ".cache" / "colkern"
    planted.mkdir(parents=True)
    planted.chmod(mode)
    assert cache_dir() == places / "tmp" / f"colkern-{os.getuid()}"


def test_directory_of_somebody_else_is_passed_over(
    places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache_dir()
    monkeypatch.setattr(os, "getuid", lambda: os.geteuid() + 1)
    with pytest.raises(PermissionError, match="another user's"):
        cache_dir()


def test_symbolic_link_is_passed_over(places: Path) -> None:
    (places / "theirs").mkdir()
    (places / "home" / ".cache").mkdir()
    (places / "home" / ".cache" / "colkern").symlink_to(places / "theirs")
    assert cache_dir() == places / "tmp" / f"colkern-{os.getuid()}"


def test_read_only_directory_is_passed_over(places: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # By what the system says, as root may write to read-only directories.
    refused = places / "home" / ".cache" / "colkern"
    access = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: path != refused and access(path, mode))
    assert cache_dir() == places / "tmp" / f"colkern-{os.getuid()}"


def test_no_directory_says_which_were_tried(places: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(PermissionError, match="set COLKERN_CACHE_DIR") as caught:
        cache_dir()
    assert str(places / "home") in str(caught.value)
    assert str(places / "tmp") in str(caught.value)


def test_a_directory_that_is_not_used_is_said_once_and_why(
    places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("colkern.cache._SAID", set())
    chosen = places / "chosen"
    chosen.mkdir()
    chosen.chmod(0o777)
    monkeypatch.setenv("COLKERN_CACHE_DIR", str(chosen))
    expected = r"chosen: writable by others.*; files are kept in"
    with pytest.warns(RuntimeWarning, match=expected) as caught:
        assert [cache_dir(name).name for name in ("kernels", "java", "kernels")]
    assert len(caught) == 1


def test_arrays_are_written_by_what_was_loaded(here: Path) -> None:
    def fill(out: Any) -> None:
        for i in range(len(out)):
            out[i] = i

    for expected in (COMPILED, LOADED):
        before = compilations()
        out = np.zeros(4)
        jit(fill)(out)
        assert out.tolist() == [0, 1, 2, 3]
        assert {k: v - before[k] for k, v in compilations().items()} == expected
