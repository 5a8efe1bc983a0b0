"""Where bytes are written to: paths, file objects, sockets.

A file at a path appears under its name when it is whole, and not before: until then its bytes stand
in a file beside it.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

_JOINED_BYTES = 1 << 16
"""Chunks up to this size together are handed on as one: a system call costs more than a copy."""


class Sink:
    """Takes chunks of bytes one after the other, and knows how many there were.

    Args:
        write: Takes a bytes-like object whole.
    """

    def __init__(self, write: Callable[[Any], Any]) -> None:
        self._write = write
        self.position = 0

    def write(self, chunks: Iterable[Any]) -> None:
        """Write chunks (bytes-like objects), one after the other."""
        small: list[Any] = []
        small_bytes = 0
        for chunk in chunks:
            size = memoryview(chunk).nbytes
            self.position += size
            if size + small_bytes > _JOINED_BYTES:
                self._flush(small)
                small, small_bytes = [], 0
            if size > _JOINED_BYTES:
                self._write(chunk)
            elif size:
                small.append(chunk)
                small_bytes += size
        self._flush(small)

    def _flush(self, chunks: list[Any]) -> None:
        if chunks:
            self._write(chunks[0] if len(chunks) == 1 else b"".join(chunks))

    def commit(self) -> None:
        """All is written; what was opened here is closed."""

    def abandon(self) -> None:
        """It will not be whole; what was opened here is closed, and what was made here removed."""


class _FileSink(Sink):
    """A file that gets its name when it is whole.

    Args:
        path: The name.
    """

    def __init__(self, path: Path) -> None:
        # A link keeps leading to its file, and the file keeps its permissions.
        self._path = Path(os.path.realpath(path))
        self._partial = self._path.with_name(f".{self._path.name}.{os.getpid()}-{id(self):x}.part")
        descriptor = os.open(self._partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        with contextlib.suppress(FileNotFoundError):
            os.fchmod(descriptor, stat.S_IMODE(self._path.stat().st_mode))
        self._file = os.fdopen(descriptor, "wb", buffering=0)
        super().__init__(_whole(self._file.write))

    def commit(self) -> None:
        self._file.close()
        os.replace(self._partial, self._path)

    def abandon(self) -> None:
        self._file.close()
        self._partial.unlink(missing_ok=True)


class _DirectSink(Sink):
    """A path that is no regular file, such as a pipe or a terminal: nothing can be renamed to it."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb", buffering=0)
        super().__init__(_whole(self._file.write))

    def commit(self) -> None:
        self._file.close()

    def abandon(self) -> None:
        self._file.close()


def _whole(write: Callable[[Any], int | None]) -> Callable[[Any], None]:
    """A `write` that goes on where a raw file took only a part."""

    def all_of(chunk: Any) -> None:
        view = memoryview(chunk).cast("B")
        written = write(view)
        # Not every file object returns a count; those that do not take all.
        while written is not None and written < view.nbytes:
            view = view[written:]
            written = write(view)

    return all_of


def sink_of(target: Any) -> Sink:
    """The sink for a path, a binary file object (`write`) or a socket (`sendall`).

    Raises:
        OSError: If a path cannot be opened.
        TypeError: If it is none of these.
    """
    if isinstance(target, str | os.PathLike):
        path = Path(os.fsdecode(target))
        return _FileSink(path) if path.is_file() or not path.exists() else _DirectSink(path)
    if hasattr(target, "write"):
        return Sink(_whole(target.write))
    if hasattr(target, "sendall"):
        return Sink(target.sendall)
    raise TypeError(
        f"sink: expected a path, a binary file object or a socket, got {type(target).__name__}"
    )
