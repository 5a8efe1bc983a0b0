"""Sinks for bytes: paths, file objects, sockets.

A file at a path appears under its name only when it is complete; until then its bytes are in a file
beside it. This holds if the process fails, but not for a power cut, since nothing waits for the disk.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import secrets
import stat
import weakref
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from colkern.ipc.paths import is_url, require_local
from colkern.ipc.reading.remote import filesystem_of
from colkern.ipc.writing.fetching import Chunk

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_JOINED_BYTES = 1 << 16
"""Chunks up to this size together are handed on as one: a system call costs more than a copy."""

_STEM_CHARACTERS = 24
"""The characters of a file's name in that of its partial file: up to 96 of the 255 bytes of a name."""

_DEVICE_ROOTS = ("/dev", "/proc")
_FILE_ROOTS = ("/dev/shm",)
_MOST_LINKS = 40
"""The number of links that a system follows."""


class Sink:
    """A sink for chunks of bytes that counts them; `write` takes one whole chunk."""

    def __init__(self, write: Callable[[Chunk | bytearray], object]) -> None:
        self._write = write
        self.position = 0

    def write(self, chunks: Iterable[Chunk]) -> None:
        """Write bytes-like chunks; each may change once the next one is asked for."""
        joined = bytearray()
        for chunk in chunks:
            # A `memoryview` is no array, so it is appended, not added.
            view = memoryview(chunk)
            size = view.nbytes
            self.position += size
            if joined and size + len(joined) > _JOINED_BYTES:
                self._write(joined)
                # The sink may still read the chunk before.
                joined = bytearray()
            if size > _JOINED_BYTES:
                self._write(view)
            else:
                joined += view
        if joined:
            self._write(joined)

    def commit(self) -> None:
        """Everything is written: close the file that was opened here."""

    def abandon(self) -> None:
        """Stop before the end: close and remove the file that was created here."""


class _FileSink(Sink):
    """A file that gets its name when it is complete."""

    def __init__(self, path: Path) -> None:
        # A link keeps pointing to its file, and the file keeps its permissions.
        self._path = Path(os.path.realpath(path))
        name = f".{self._path.name[:_STEM_CHARACTERS]}.{secrets.token_hex(8)}.part"
        self._partial = self._path.with_name(name)
        try:
            descriptor = os.open(self._partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        except OSError as error:
            error.filename = os.fspath(path)
            raise
        self._file = os.fdopen(descriptor, "wb", buffering=0)
        # A sink that is dropped, or still open when the process ends, is abandoned.
        self._discard = weakref.finalize(self, _discard, self._file, self._partial, os.getpid())
        with contextlib.suppress(FileNotFoundError):
            os.fchmod(descriptor, stat.S_IMODE(self._path.stat().st_mode))
        super().__init__(_whole(self._file.write))

    def commit(self) -> None:
        """Give the file its name."""
        # Other processes see either all of the file or nothing, also if this process fails. Nothing
        # is flushed to the disk: after a power cut the file may be incomplete.
        self._file.close()
        os.replace(self._partial, self._path)
        self._discard.detach()

    def abandon(self) -> None:
        self._discard()


def _discard(file: io.FileIO, partial: Path, owner: int) -> None:
    """Close and remove a partial file; a forked process only closes its copy of the descriptor."""
    try:
        file.close()
    finally:
        if os.getpid() == owner:
            partial.unlink(missing_ok=True)


class _DirectSink(Sink):
    """A path that no file can be renamed to, such as a pipe, a terminal or an open descriptor."""

    def __init__(self, path: Path) -> None:
        # The bytes in a descriptor's file are kept, and new ones are appended.
        append = os.O_APPEND if path.is_file() else 0
        self._file = os.fdopen(os.open(path, os.O_WRONLY | append), "wb", buffering=0)
        super().__init__(_whole(self._file.write))

    def commit(self) -> None:
        self._file.close()

    def abandon(self) -> None:
        self._file.close()


def _whole(
    write: Callable[[memoryview], object], *, is_raw: bool = True
) -> Callable[[Chunk | bytearray], None]:
    """A `write` that continues if a raw file took only a part of the bytes."""
    # A raw file returns None if it took nothing; other objects that return None took everything.

    def all_of(chunk: Chunk | bytearray) -> None:
        view = memoryview(chunk).cast("B")
        while view.nbytes:
            written = write(view)
            if written is None:
                if is_raw:
                    raise BlockingIOError(
                        errno.EAGAIN, "sink: does not block, and takes nothing now"
                    )
                return
            if not isinstance(written, int):
                raise TypeError(
                    f"sink: its write returned {type(written).__name__}, not how many bytes it took"
                )
            if written <= 0:
                raise OSError(f"sink: took none of {view.nbytes} bytes")
            view = view[written:]

    return all_of


def _is_rename_target(path: Path) -> bool:
    """Whether a file can be renamed to the path: there is a regular file, or none yet."""
    return not _is_device(path) and (path.is_file() or not path.exists())


def _is_device(path: Path) -> bool:
    """Whether a path, or a link on its way, is in a folder of devices or open descriptors."""
    # Entries there may look like regular files, as /dev/stdout does after a shell's `>>`.
    for _ in range(_MOST_LINKS):
        place = Path(os.path.realpath(path.parent), path.name)
        if any(place.is_relative_to(root) for root in _FILE_ROOTS):
            return False
        if any(place.is_relative_to(root) for root in _DEVICE_ROOTS):
            return True
        if not place.is_symlink():
            return False
        path = place.parent / place.readlink()
    return False


class SinkFile(io.RawIOBase):
    """The sink for a target as a binary file object, for others who write.

    As a context manager, it completes what was written, or abandons it if an exception ends the block.
    """

    def __init__(self, target: object) -> None:
        self._sink = sink_of(target)
        self._abandoned = False

    def writable(self) -> bool:
        """Always: for libraries that ask."""
        return True

    def write(self, data: ReadableBuffer) -> int:
        """Write all of the data, as bytes."""
        view = memoryview(data)
        if not self._abandoned:
            self._sink.write([view])
        return view.nbytes

    def tell(self) -> int:
        """The number of bytes written."""
        return self._sink.position

    def abandon(self) -> None:
        """As `Sink.abandon`; bytes that come later, such as a footer, are dropped."""
        self._abandoned = True
        self._sink.abandon()

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        if kind is None:
            self._sink.commit()
        else:
            self.abandon()


@contextlib.contextmanager
def created(target: str | os.PathLike[str]) -> Iterator[Any]:
    """A file at a path or URL to write to, which appears when the block ends without an exception."""
    if not is_url(target):
        with SinkFile(target) as sink:
            yield sink
        return
    # An instance of its own: all files that are opened in a transaction of an instance belong to it.
    filesystem, path = filesystem_of(target, skip_instance_cache=True)
    with filesystem.transaction, filesystem.open(path, "wb") as file:
        yield file


def sink_of(target: object) -> Sink:
    """The sink for a path, a binary file object (`write`) or a socket (`sendall`)."""
    if isinstance(target, str | os.PathLike):
        require_local(target, "sink")
        path = Path(os.fsdecode(target))
        return _FileSink(path) if _is_rename_target(path) else _DirectSink(path)
    if isinstance(target, io.TextIOBase):
        raise TypeError("sink: a file object in text mode; open it in binary mode")
    if hasattr(target, "write"):
        return Sink(_whole(target.write, is_raw=isinstance(target, io.RawIOBase)))
    if hasattr(target, "sendall"):
        return Sink(target.sendall)
    raise TypeError(
        f"sink: expected a path, a binary file object or a socket, got {type(target).__name__}"
    )
