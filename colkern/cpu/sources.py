"""Hashes of the files of packages, cached until a file changes.

A package whose functions call each other in many ways calls `hash_as_whole`: hashing its files is
faster than walking over its functions.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections.abc import Iterator
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from colkern.cache import cache_dir, read_whole, write_whole

_TICK_NS = 2_000_000_000
"""File systems may give two writes within this time the same time."""


_WHOLE: list[str] = []


def hash_as_whole(package: str) -> None:
    """Register a package, whose functions are then hashed by all files of the package."""
    _WHOLE.append(package)


def package_of(module: str) -> str | None:
    """The package registered by `hash_as_whole` that has the module; None if there is none."""
    return next((package for package in _WHOLE if module.startswith(f"{package}.")), None)


@cache
def source_key(package: str) -> str:
    """A hash of all files of a package, and so of every function in them."""
    # The hash is kept on disk by the sizes and times of the files, including the time of the last
    # change of a file's status, which no program can set.
    folder = resources.files(package)
    if not isinstance(folder, Path):
        return _hash_of(folder)
    files = list(_statuses(str(folder)))
    if not files or time.time_ns() - max(changed for *_, changed in files) < _TICK_NS:
        return _hash_of(folder)
    listing = hashlib.sha256(repr(sorted(files)).encode()).hexdigest()[:32]
    with contextlib.suppress(OSError):
        kept = read_whole(cache_dir("kernels") / f"{listing}.sources")
        if kept is not None:
            return kept.decode()
    key = _hash_of(folder)
    with contextlib.suppress(OSError):
        write_whole(cache_dir("kernels") / f"{listing}.sources", key.encode())
    return key


@cache
def module_key(module: str) -> str:
    """A hash of the one file of a module that is no package."""
    package, _, name = module.rpartition(".")
    source = resources.files(package) / f"{name}.py"
    return hashlib.sha256(source.read_bytes()).hexdigest()


def _statuses(folder: str) -> Iterator[tuple[str, int, int, int, int]]:
    """Path, inode number, size and times of each Python file in a folder and its subfolders."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                yield from _statuses(entry.path)
            elif entry.name.endswith(".py"):
                status = entry.stat()
                times = status.st_mtime_ns, status.st_ctime_ns
                yield entry.path, status.st_ino, status.st_size, *times


def _hash_of(folder: Traversable) -> str:
    digest = hashlib.sha256()
    for source in _sources(folder):
        digest.update(source.name.encode())
        digest.update(source.read_bytes())
    return digest.hexdigest()


def _sources(folder: Traversable) -> Iterator[Traversable]:
    """The Python files in a folder and its subfolders, always in the same order."""
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _sources(entry)
        elif entry.name.endswith(".py"):
            yield entry
