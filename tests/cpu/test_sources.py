"""The hash of a package's files is remembered, and no edit is missed by that."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from colkern.cpu import cache, sources
from colkern.cpu.cache import compiler_key
from colkern.cpu.sources import module_key, package_of, source_key
from colkern.jit import environment
from colkern.jit.environment import library_key


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of two files, and a cache of its own; its files may be remembered at once."""
    folder = tmp_path / "edited_package"
    (folder / "inner").mkdir(parents=True)
    (folder / "__init__.py").write_text("A = 1\n")
    (folder / "inner" / "__init__.py").write_text("B = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, folder.name, raising=False)
    monkeypatch.setenv("COLKERN_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(sources, "_TICK_NS", 0)
    return folder


def key_of(package: Path) -> str:
    """The key as another process finds it."""
    source_key.cache_clear()
    return source_key(package.name)


def test_files_that_nobody_touches_are_read_once(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = key_of(package)
    monkeypatch.setattr(sources, "_hash_of", None)
    assert key_of(package) == key


@pytest.mark.parametrize("name", ["__init__.py", "inner/__init__.py"])
def test_an_edit_of_the_same_size_and_time_is_noticed(package: Path, name: str) -> None:
    key, before = key_of(package), (package / name).stat()
    time.sleep(0.1)  # longer than file systems give two changes the same time
    (package / name).write_text("C = 2\n")
    os.utime(package / name, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert key_of(package) != key


def test_the_file_of_a_module_alone_counts(package: Path) -> None:
    (package / "alone.py").write_text("C = 1\n")
    key = module_key("edited_package.alone")
    module_key.cache_clear()
    (package / "__init__.py").write_text("A = 2\n")
    assert module_key("edited_package.alone") == key
    module_key.cache_clear()
    (package / "alone.py").write_text("C = 2\n")
    assert module_key("edited_package.alone") != key


@pytest.mark.parametrize("name", ["colkern.layouts", "colkern.schema", "colkern.arrays.values"])
def test_what_columns_are_described_by_counts(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    key = library_key()
    keys = {name: "of other content"}
    monkeypatch.setattr(
        environment, "module_key", lambda module: keys.get(module, module_key(module))
    )
    assert library_key() != key


def test_machine_code_depends_on_all_files_that_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    key = compiler_key()
    keys = {"colkern.cpu": "of other content"}
    monkeypatch.setattr(cache, "source_key", lambda package: keys.get(package, source_key(package)))
    assert compiler_key() != key


def test_a_new_file_is_noticed_and_other_files_are_not(package: Path) -> None:
    key = key_of(package)
    (package / "notes.txt").write_text("")
    assert key_of(package) == key
    (package / "new.py").write_text("")
    assert key_of(package) != key


def test_files_of_this_moment_are_not_remembered(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Another write could get the same time.
    monkeypatch.setattr(sources, "_TICK_NS", 3_600_000_000_000)
    key_of(package)
    assert not (package.parent / "cache").exists()


def test_a_package_without_a_place_to_remember_it(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = key_of(package)

    def none(name: str) -> Path:
        raise PermissionError("no private directory for cached files")

    monkeypatch.setattr(sources, "cache_dir", none)
    assert key_of(package) == key


def test_modules_within_a_package_that_is_hashed_as_whole() -> None:
    import colkern.jit

    assert package_of("colkern.jit.views.columns") == colkern.jit.__name__
    assert package_of("colkern.jitter") is None
    assert package_of("colkern.cpu.content") is None
