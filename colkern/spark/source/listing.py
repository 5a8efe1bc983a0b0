"""From the paths that a query names to the files that it reads."""

from __future__ import annotations

import errno
import glob
import os
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase

from colkern.spark.source.options import ReadOptions

_HIDDEN = (".", "_")


def list_files(options: ReadOptions, *, globs_may_be_empty: bool = False) -> list[str]:
    """The files under the paths of a query, in the order of the paths, by name within a directory.

    In directories, and where a pattern stands for names, those that start with a dot or an underscore
    are passed over: that is where unfinished files are.

    Args:
        options: What is read.
        globs_may_be_empty: Whether patterns may match nothing, so far.

    Raises:
        FileNotFoundError: If there is nothing at a path.
        ValueError: If a symbolic link leads back to itself, or to a directory that it is in.
    """
    files: dict[str, None] = {}
    for path in options.paths:
        found = _expanded(path)
        if not found and not (globs_may_be_empty and glob.has_magic(path)):
            raise FileNotFoundError(f"{path}: no such file or directory")
        for each in found:
            files.update(dict.fromkeys(_files_at(each, options)))
    return list(files)


def visible_files(folder: str) -> list[str]:
    """The names of the files of a directory that a reader sees, sorted."""
    return [
        entry.name for entry in visible_entries(folder) if _leads_to(entry, os.DirEntry.is_file)
    ]


def visible_entries(folder: str) -> list[os.DirEntry[str]]:
    """What of a directory a reader sees: files and directories, sorted by name."""
    with os.scandir(folder) as entries:
        found = [entry for entry in entries if not entry.name.startswith(_HIDDEN)]
    return sorted(found, key=lambda entry: entry.name)


def _expanded(path: str) -> list[str]:
    if os.path.exists(path):
        return [path]
    if not glob.has_magic(path):
        return []
    asked = [part for part in path.split(os.sep) if part.startswith(_HIDDEN)]
    return [
        found
        for found in sorted(glob.glob(path, recursive=True))
        if all(_is_visible(part, asked) for part in found.split(os.sep))
    ]


def _is_visible(name: str, asked: list[str]) -> bool:
    """Whether a name is no hidden one, or one that a pattern asks for."""
    return not name.startswith(_HIDDEN) or any(fnmatchcase(name, pattern) for pattern in asked)


def _leads_to(entry: os.DirEntry[str], is_kind: Callable[[os.DirEntry[str]], bool]) -> bool:
    """Whether an entry of a directory is of a kind, behind symbolic links too.

    Raises:
        ValueError: If it is a symbolic link that leads to itself.
    """
    try:
        return is_kind(entry)
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        raise ValueError(f"{entry.path}: a symbolic link that leads to itself; remove it") from None


def _files_at(path: str, options: ReadOptions, above: tuple[str, ...] = ()) -> Iterator[str]:
    if not os.path.isdir(path):
        yield path
        return
    real = os.path.realpath(path)
    if real in above:
        raise ValueError(
            f"{path}: a symbolic link back to {real}, which holds it: its files would be read again and "
            f"again; remove the link, or read without recursiveFileLookup"
        )
    for name in visible_files(path):
        if options.name_glob is None or fnmatchcase(name, options.name_glob):
            yield os.path.join(path, name)
    if options.recursive:
        for folder in visible_entries(path):
            if _leads_to(folder, os.DirEntry.is_dir):
                yield from _files_at(folder.path, options, (*above, real))
