"""The files of commands: by name, or `-` for standard input and output."""

from __future__ import annotations

import argparse
import contextlib
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from colkern.commands.failures import CommandError, UsageError
from colkern.errors import ColkernError, placed

if TYPE_CHECKING:
    from colkern.ipc import FileReader, StreamReader

STANDARD = "-"
"""The name of standard input or output."""

FORMATS = {
    ".arrow": "file",
    ".feather": "file",
    ".ipc": "file",
    ".arrows": "stream",
    ".stream": "stream",
    ".parquet": "parquet",
}
"""For each suffix of a file name, the format."""

ARROW_SUFFIXES = tuple(suffix for suffix, format_ in FORMATS.items() if format_ != "parquet")
"""The suffixes of Arrow files and streams that are read from folders."""


def source_of(name: str) -> Path | BinaryIO:
    """Returns the path, or standard input."""
    if name != STANDARD:
        return _local(name)
    # None where the process was started without one.
    if sys.stdin is None:
        raise UsageError("standard input is closed")
    return sys.stdin.buffer


def target_of(name: str) -> Path | BinaryIO:
    """Returns the path, or standard output."""
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


class Target(NamedTuple):
    """A file to write."""

    name: str
    format: str  #: "file", "stream" or "parquet".
    sink: Path | BinaryIO  #: The path, or standard output.


def add_format(parser: argparse.ArgumentParser) -> None:
    """Add the option `--to`, the format of a target."""
    formats = ", ".join(f"{suffix} {format_}" for suffix, format_ in FORMATS.items())
    parser.add_argument(
        "--to",
        choices=("file", "stream", "parquet"),
        help=f"the format to write; by default, by the target's suffix: {formats}",
    )


def chosen_target(name: str, format_: str | None) -> Target:
    """Returns the target of a name and of the option `--to`; without it, the suffix tells the format."""
    suffix = os.path.splitext(name)[1].lower()
    chosen = format_ or ("stream" if name == STANDARD else FORMATS.get(suffix))
    if chosen is None:
        raise UsageError(
            f"{name}: the suffix is none of {', '.join(FORMATS)}; choose the format with --to"
        )
    return Target(name, chosen, target_of(name))


@contextlib.contextmanager
def writing(target: str, source: str) -> Iterator[None]:
    """Raise operating system errors with the target's name; errors about the source keep its name."""
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
    """Yields a reader of an Arrow file or stream; errors raised within name the file."""
    from colkern import ipc

    with placed(name), ipc.open(source_of(name)) as reader:
        yield reader


def size_of(name: str) -> int | None:
    """Returns the size of a regular file in bytes; None for pipes, devices and standard input."""
    if name == STANDARD:
        return None
    status = os.stat(_local(name))
    return status.st_size if stat.S_ISREG(status.st_mode) else None


def with_files_of_folders(names: Iterable[str]) -> list[str]:
    """Returns the names, with each folder replaced by the Arrow files in it and in its subfolders."""
    # A folder without such files is kept: `require_files` raises the error for it.
    files: list[str] = []
    for name in names:
        inside = sorted(_arrow_files_in(name)) if _is_folder(name) else []
        files += inside or [name]
    if all(map(_is_folder, files)):
        raise UsageError(_no_files_in(files[0]))
    return files


def require_files(name: str) -> None:
    """Raise `CommandError` for a folder without Arrow files."""
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
