"""The files that commands are given: by name, `-` for standard input and output."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from colkern.commands.failures import CommandError, UsageError
from colkern.errors import ColkernError
from colkern.integration.places import placed

if TYPE_CHECKING:
    from colkern.ipc import FileReader, StreamReader

STANDARD = "-"
"""Stands for standard input or output."""

FORMATS = {
    ".arrow": "file",
    ".feather": "file",
    ".ipc": "file",
    ".arrows": "stream",
    ".stream": "stream",
    ".parquet": "parquet",
}
"""What a file holds whose name ends so."""

ARROW_SUFFIXES = tuple(suffix for suffix, format_ in FORMATS.items() if format_ != "parquet")
"""How the names of Arrow files and streams in a folder end."""


def source_of(name: str) -> Any:
    """What `colkern.ipc.open` takes for a name."""
    if name != STANDARD:
        return _local(name)
    # None where the process was started without one.
    if sys.stdin is None:
        raise UsageError("standard input is closed")
    return sys.stdin.buffer


def target_of(name: str) -> Any:
    """What the writers of `colkern.ipc` take for a name."""
    if name != STANDARD:
        return _local(name)
    if sys.stdout is None:
        raise UsageError("standard output is closed")
    if sys.stdout.isatty():
        raise UsageError("standard output is a terminal, which bytes would garble")
    return sys.stdout.buffer


def _local(name: str) -> Path:
    from colkern.ipc.paths import is_url

    if not name:
        raise UsageError("the name of a file is empty")

    if is_url(name):
        raise UsageError(
            f"{name}: a URL, where a local file is expected; - is standard input or output"
        )
    return Path(name)


def format_of(target: str) -> str:
    """What to write to a name, told by its suffix: "file", "stream" or "parquet".

    Raises:
        UsageError: If the suffix is none of `FORMATS`.
    """
    if target == STANDARD:
        return "stream"
    suffix = os.path.splitext(target)[1].lower()
    if suffix not in FORMATS:
        raise UsageError(
            f"{target}: the suffix is none of {', '.join(FORMATS)}; say what to write by --to"
        )
    return FORMATS[suffix]


@contextlib.contextmanager
def writing(target: str, source: str) -> Iterator[None]:
    """What the system refuses is said under the target's name, as the user gave it.

    Args:
        target: The name of what is written; the reader of standard output may leave.
        source: The name of what is read: an error with that name keeps it.
    """
    try:
        yield
    except ColkernError:
        raise
    except OSError as error:
        is_left = isinstance(error, BrokenPipeError) and target == STANDARD
        if is_left or (error.filename is not None and os.fsdecode(error.filename) == source):
            raise
        raise CommandError(f"{target}: {error.strerror or error}") from error


@contextlib.contextmanager
def opened(name: str) -> Iterator[StreamReader | FileReader]:
    """A reader of an Arrow file or stream; errors within say which file they are about."""
    from colkern import ipc

    with placed(name), ipc.open(source_of(name)) as reader:
        yield reader


def size_of(name: str) -> int | None:
    """The bytes of a regular file; None for pipes, devices and standard input."""
    if name == STANDARD:
        return None
    status = os.stat(_local(name))
    return status.st_size if stat.S_ISREG(status.st_mode) else None


def with_files_of_folders(names: Iterable[str]) -> list[str]:
    """The names, in place of each folder the Arrow files in it and in the folders below.

    A folder without any stands for itself: `require_files` says what is wrong with it.

    Raises:
        UsageError: If there are no files at all.
        OSError: If a folder cannot be listed.
    """
    found: list[str] = []
    for name in names:
        if not _is_folder(name):
            found.append(name)
            continue
        found += sorted(_arrow_files_in(name)) or [name]
    if all(map(_is_folder, found)):
        raise UsageError(_no_files_in(found[0]))
    return found


def require_files(name: str) -> None:
    """Raise `CommandError` for a folder, which `with_files_of_folders` leaves only without files."""
    if _is_folder(name):
        raise CommandError(_no_files_in(name))


def _is_folder(name: str) -> bool:
    return name != STANDARD and os.path.isdir(name)


def _no_files_in(folder: str) -> str:
    return f"{folder}: no {', '.join(ARROW_SUFFIXES)} files in this folder"


def _arrow_files_in(folder: str) -> Iterator[str]:
    for parent, _, names in os.walk(folder, onerror=_raise):
        yield from (os.path.join(parent, n) for n in names if n.lower().endswith(ARROW_SUFFIXES))


def _raise(error: OSError) -> None:
    raise error
