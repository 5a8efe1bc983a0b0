"""From the paths that a query names to the files that it reads."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from urllib.parse import unquote, urlsplit

from colkern.errors import UnsupportedError
from colkern.spark.source.options import ReadOptions

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/")
_HIDDEN = (".", "_")


def list_files(options: ReadOptions) -> list[str]:
    """The files under the paths of a query, in the order of the paths, by name within a directory.

    In directories, names that start with a dot or an underscore are passed over: that is where
    unfinished files are.

    Raises:
        FileNotFoundError: If there is nothing at a path.
        UnsupportedError: If a path is on no file system of the machine's.
    """
    files: dict[str, None] = {}
    for path in options.paths:
        for found in _expanded(local_path(path)):
            files.update(dict.fromkeys(_files_at(found, options)))
    return list(files)


def local_path(path: str) -> str:
    """The path that a path or a `file:` address leads to.

    Raises:
        UnsupportedError: If it is an address of another kind.
    """
    if not _SCHEME.match(path):
        return path
    parts = urlsplit(path)
    if parts.scheme.lower() != "file" or parts.netloc not in ("", "localhost"):
        raise UnsupportedError(
            f"{path}: the data source reads and writes file systems that are mounted on the driver "
            f"and on the executors; mount this one, and give the path"
        )
    return unquote(path[len(parts.scheme) + 1 :].removeprefix(f"//{parts.netloc}"))


def visible_files(folder: str) -> list[str]:
    """The names of the files of a directory that a reader sees, sorted."""
    with os.scandir(folder) as entries:
        return sorted(e.name for e in entries if not e.name.startswith(_HIDDEN) and e.is_file())


def _expanded(path: str) -> Iterable[str]:
    if os.path.exists(path):
        return [path]
    found = sorted(glob.glob(path, recursive=True)) if glob.has_magic(path) else []
    if not found:
        raise FileNotFoundError(f"{path}: no such file or directory")
    return found


def _files_at(path: str, options: ReadOptions) -> Iterator[str]:
    if not os.path.isdir(path):
        yield path
        return
    for name in visible_files(path):
        if options.name_glob is None or fnmatchcase(name, options.name_glob):
            yield os.path.join(path, name)
    if options.recursive:
        for folder in _visible_folders(path):
            yield from _files_at(os.path.join(path, folder), options)


def _visible_folders(folder: str) -> list[str]:
    with os.scandir(folder) as entries:
        return sorted(e.name for e in entries if not e.name.startswith(_HIDDEN) and e.is_dir())
