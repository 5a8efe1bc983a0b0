"""Lists the files under the paths that a query names."""

from __future__ import annotations

import errno
import glob
import os
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase

from colkern.spark.source.options import ReadOptions

_HIDDEN = (".", "_")


def list_files(options: ReadOptions, *, globs_may_be_empty: bool = False) -> list[str]:
    """Returns the files under the paths of a query, in order of the paths, then by name."""
    # Files whose names start with a dot or an underscore are ignored in directories and by patterns: such
    # files are unfinished. If `globs_may_be_empty`, a pattern may match no file yet.
    files: dict[str, None] = {}
    for path in options.paths:
        expanded = _expanded(path)
        if not expanded and not (globs_may_be_empty and glob.has_magic(path)):
            raise FileNotFoundError(f"{path}: no such file or directory")
        for each in expanded:
            files.update(dict.fromkeys(_files_at(each, options)))
    return list(files)


def visible_files(folder: str) -> list[str]:
    """Returns the names of the files of a directory that a reader sees, sorted."""
    return [
        entry.name for entry in visible_entries(folder) if _leads_to(entry, os.DirEntry.is_file)
    ]


def visible_entries(folder: str) -> list[os.DirEntry[str]]:
    """Returns the files and directories of a directory that a reader sees, sorted by name."""
    with os.scandir(folder) as entries:
        visible = [entry for entry in entries if not entry.name.startswith(_HIDDEN)]
    return sorted(visible, key=lambda entry: entry.name)


def _expanded(path: str) -> list[str]:
    if os.path.exists(path):
        return [path]
    if not glob.has_magic(path):
        return []
    # A hidden name counts only if it matches a part of the pattern that names hidden files.
    asked = [part for part in path.split(os.sep) if part.startswith(_HIDDEN)]

    def is_visible(name: str) -> bool:
        return not name.startswith(_HIDDEN) or any(fnmatchcase(name, each) for each in asked)

    matches = sorted(glob.glob(path, recursive=True))
    return [match for match in matches if all(map(is_visible, match.split(os.sep)))]


def _leads_to(entry: os.DirEntry[str], is_kind: Callable[[os.DirEntry[str]], bool]) -> bool:
    """Whether an entry of a directory, or the target of its symbolic link, is of a kind."""
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
