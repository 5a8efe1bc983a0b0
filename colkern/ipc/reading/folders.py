"""Folders of files: what the names of their folders say (`year=2024`) is a column, the same for a file."""

from __future__ import annotations

import errno
import os
import re
from typing import NamedTuple
from urllib.parse import unquote

from colkern.arrays import Array
from colkern.builders import array
from colkern.ipc.paths import is_url
from colkern.ipc.reading.remote import filesystem_of

_NULL = "__HIVE_DEFAULT_PARTITION__"
_INTEGER = re.compile(r"[+-]?\d{1,18}")


class Folder(NamedTuple):
    """The files of a folder, in the order of their names, and what their paths say."""

    files: list[str]
    keys: dict[str, Array]
    """Name → a value for each file."""


def folder_of(source: object) -> Folder | None:
    """The files below a folder, at a path or a URL; None if the source is no folder."""
    # What begins with `.` or `_` is left out. A key is int32 if each of its values is an integer (int64 if
    # need be), else text, as pyarrow's.
    if not isinstance(source, str | os.PathLike):
        return None
    if is_url(source):
        filesystem, root = filesystem_of(source)
        paths = filesystem.find(root) if filesystem.isdir(root) else None
    else:
        filesystem, root = None, os.fsdecode(source)
        paths = _below(root) if os.path.isdir(root) else None
    if paths is None:
        return None
    parts = {path: path[len(root) :].strip("/").split("/") for path in sorted(paths)}
    files = [path for path in parts if not any(part[:1] in (".", "_") for part in parts[path])]
    if not files:
        raise FileNotFoundError(errno.ENOENT, "no file in the folder", os.fsdecode(source))
    keys = _keys({path: parts[path][:-1] for path in files})
    return Folder(
        files if filesystem is None else list(map(filesystem.unstrip_protocol, files)), keys
    )


def _below(root: str) -> list[str]:
    return [os.path.join(folder, name) for folder, _, names in os.walk(root) for name in names]


def _keys(folders: dict[str, list[str]]) -> dict[str, Array]:
    """The values of the keys, from the names of the folders of each file."""
    paths: dict[tuple[str, ...], str] = {}
    rows = []
    for path, names in folders.items():
        pairs = dict(name.split("=", 1) for name in names if "=" in name)
        paths[tuple(pairs)] = path
        rows.append(pairs)
    if len(paths) > 1:
        said = "; ".join(f"{path}: {', '.join(keys) or 'none'}" for keys, path in paths.items())
        raise ValueError(f"source: files have different keys in their paths: {said}")
    return {key: _column([row[key] for row in rows]) for key in rows[0]}


def _column(texts: list[str]) -> Array:
    values = [None if text == _NULL else unquote(text) for text in texts]
    given = [value for value in values if value is not None]
    if not all(map(_INTEGER.fullmatch, given)) or not given:
        return array(values, "utf8")
    numbers = [None if value is None else int(value) for value in values]
    small = all(-(1 << 31) <= int(value) < 1 << 31 for value in given)
    return array(numbers, "int32" if small else "int64")
