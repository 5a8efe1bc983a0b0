"""The directory of compiled kernels: whether it can be used, and what is in it."""

from __future__ import annotations

import os
from collections import namedtuple
from collections.abc import Callable
from pathlib import Path

import pytest

from colkern.commands import doctor
from colkern.commands.checks.finding import Finding, Mark
from colkern.commands.checks.kernel_cache import findings

Named = Callable[..., dict[str, Finding]]


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with all directories that a cache can be in."""
    monkeypatch.setenv("COLKERN_CACHE_DIR", str(tmp_path / "chosen"))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    return tmp_path


def test_an_empty_cache(places: Path, named: Named) -> None:
    actual = named(findings())
    assert actual["directory"].mark is Mark.OK
    assert str(places / "chosen" / "kernels") in actual["directory"].found
    assert "drwx------" in actual["directory"].found
    assert actual["kernels"].mark is Mark.MISSING
    assert "colkern warm" in actual["kernels"].remedy
    assert actual["free space"].mark is Mark.OK


def test_what_is_compiled(places: Path, named: Named) -> None:
    kernels = places / "chosen" / "kernels"
    kernels.mkdir(parents=True, mode=0o700)
    (places / "chosen").chmod(0o700)
    for name in ("a-1.kernel", "b-2.kernel", "b-2.part"):
        (kernels / name).write_bytes(bytes(1024))
    actual = named(findings())
    assert actual["kernels"].mark is Mark.OK
    assert actual["kernels"].found.startswith("2 compiled functions, 2.0 KiB; ")


def test_a_directory_that_others_may_write_to(places: Path, named: Named) -> None:
    (places / "chosen").mkdir()
    (places / "chosen").chmod(0o777)
    directory = named(findings())["directory"]
    assert directory.mark is Mark.PROBLEM
    assert directory.found == (
        f"{places}/xdg/colkern/kernels, as others cannot be used: "
        f"{places}/chosen: writable by others, or another user's"
    )


def test_no_directory_that_can_be_written_to(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from colkern.cli import main

    # By what the system says, as root may write to read-only directories.
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    monkeypatch.setattr(doctor, "_sections", lambda: {"Cache of kernels": findings})
    assert main(["doctor"]) == 1
    out = capsys.readouterr().out
    assert "  problem  directory  no private directory for cached files" in out
    assert "to do: set COLKERN_CACHE_DIR" in out


def test_a_full_disk(monkeypatch: pytest.MonkeyPatch, named: Named) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr("shutil.disk_usage", lambda path: usage(1 << 40, 1 << 40, 4096))
    space = named(findings())["free space"]
    assert (space.mark, space.found) == (Mark.PROBLEM, "4.0 KiB only")
