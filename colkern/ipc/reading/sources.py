"""Where bytes come from: memory, seekable files, and byte streams such as sockets and pipes.

Two shapes are enough for all readers: a `RandomAccess` hands out any range, a `Sequential` the next
bytes. Memory (a mapped file, a bytes-like object) is never copied.
"""

from __future__ import annotations

import io
import mmap
import os
import stat
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from colkern.errors import InvalidArrowError
from colkern.memory import EMPTY, Buffer, allocate

# What is allocated for a length that only the sender vouches for; more as bytes really arrive.
_FIRST_ALLOCATION = 1 << 26


class RandomAccess(Protocol):
    """Bytes of known size that can be read in any order."""

    size: int

    def read(self, offset: int, length: int) -> Buffer:
        """`length` bytes from `offset` on; the caller has checked that they are there."""
        ...


class Sequential(Protocol):
    """Bytes that come one after the other; `position` counts those taken."""

    position: int

    def take(self, length: int) -> Buffer:
        """The next `length` bytes, or fewer where the source ends before."""
        ...


class Memory:
    """Random access to memory; ranges are slices of it."""

    def __init__(self, buffer: Buffer) -> None:
        self._bytes = buffer.array
        self.size = buffer.size

    def read(self, offset: int, length: int) -> Buffer:
        """A slice; not copied."""
        return Buffer.of_read_only(self._bytes[offset : offset + length])


class SeekableFile:
    """Random access to a seekable binary file object, from where it stands on; ranges are copies."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._start = file.tell()
        self.size = max(file.seek(0, io.SEEK_END) - self._start, 0)
        self._receive = _receiver(file)
        # Columns may be loaded from several threads, and a file object has one position.
        self._lock = threading.Lock()

    def read(self, offset: int, length: int) -> Buffer:
        """The bytes of a range, in new memory."""
        with self._lock:
            self._file.seek(self._start + offset)
            data = _fill(self._receive, length)
        if data.size < length:
            raise InvalidArrowError(
                f"the file ended {length - data.size} bytes early: it shrank while it was read",
                place=f"byte {offset}",
            )
        return Buffer(data)


class MemoryStream:
    """The bytes of a random-access source, one after the other."""

    def __init__(self, source: RandomAccess) -> None:
        self._source = source
        self.position = 0

    def take(self, length: int) -> Buffer:
        """The next bytes; not copied where the source is memory."""
        length = min(length, self._source.size - self.position)
        taken = self._source.read(self.position, length)
        self.position += length
        return taken


class ByteStream:
    """The bytes of a file object, pipe or socket, one after the other; each take is a copy."""

    def __init__(self, file: Any) -> None:
        self._receive = _receiver(file)
        self._ahead: NDArray[np.uint8] = EMPTY.array
        self.position = 0

    def peek(self, length: int) -> bytes:
        """The next bytes without taking them, or fewer where the source ends before."""
        if self._ahead.size < length:
            more = _fill(self._receive, length - self._ahead.size)
            self._ahead = np.concatenate([self._ahead, more])
        return bytes(self._ahead[:length])

    def take(self, length: int) -> Buffer:
        """The next bytes, in new memory."""
        taken = self._ahead[:length]
        self._ahead = self._ahead[length:]
        if taken.size < length:
            taken = _fill(self._receive, length, taken)
        self.position += taken.size
        return Buffer(taken)

    def take_all(self) -> Buffer:
        """All bytes that are left, in new memory."""
        parts = []
        while (part := self.take(_FIRST_ALLOCATION)).size:
            parts.append(part.array)
        return Buffer(parts[0] if len(parts) == 1 else np.concatenate([EMPTY.array, *parts]))


@dataclass(frozen=True, slots=True)
class Body:
    """The body of a message: a range of a source."""

    source: RandomAccess
    start: int
    size: int

    def read(self, offset: int, length: int) -> Buffer:
        """`length` bytes from `offset` on, counted in the body.

        Raises:
            InvalidArrowError: If they are not all in the body.
        """
        if offset < 0 or length < 0 or offset > self.size - length:
            raise InvalidArrowError(
                f"buffer of {length} bytes at {offset} in a body of {self.size} bytes"
            )
        return self.source.read(self.start + offset, length)

    @property
    def is_in_memory(self) -> bool:
        """Whether reading copies nothing."""
        return isinstance(self.source, Memory)

    def in_memory(self) -> NDArray[np.uint8] | None:
        """All bytes, not copied; None where they would have to be read."""
        if not isinstance(self.source, Memory):
            return None
        return self.source.read(self.start, self.size).array  # type: ignore[no-any-return]


Receive = Callable[[memoryview], int]
"""Puts the next bytes into a view and says how many: 0 at the end."""


def _receiver(file: Any) -> Receive:
    for name in ("readinto", "recv_into"):
        into = getattr(file, name, None)
        if into is not None:
            return lambda view: _count(into(view))
    for name in ("read", "recv"):
        get = getattr(file, name, None)
        if get is not None:
            return lambda view: _copy(get(view.nbytes), view)
    raise TypeError(
        "source: expected a path, a bytes-like object, or an object with readinto, read, "
        f"recv_into or recv, got {type(file).__name__}"
    )


def _count(received: int | None) -> int:
    if received is None:
        raise BlockingIOError("source: it is in non-blocking mode and has no bytes ready")
    return received


def _copy(data: Any, view: memoryview) -> int:
    if data is None:
        raise BlockingIOError("source: it is in non-blocking mode and has no bytes ready")
    if isinstance(data, str):
        raise TypeError("source: a file object in text mode; open it in binary mode")
    if len(data) > view.nbytes:
        raise ValueError(f"source: asked for {view.nbytes} bytes, it gave {len(data)}")
    view[: len(data)] = data
    return len(data)


def _fill(
    receive: Receive, length: int, begun: NDArray[np.uint8] = EMPTY.array
) -> NDArray[np.uint8]:
    """`length` bytes, those in `begun` first, or fewer where the source ends before."""
    data = allocate(min(length, max(_FIRST_ALLOCATION, begun.size)), np.uint8)
    filled = begun.size
    data[:filled] = begun
    while filled < length:
        if filled == data.size:
            larger = allocate(min(length, 2 * filled), np.uint8)
            larger[:filled] = data
            data = larger
        received = receive(data[filled:].data)
        if received == 0:
            break
        filled += received
    return data[:filled]


def open_path(path: str | os.PathLike[str]) -> Buffer | io.FileIO:
    """The bytes of a regular file, mapped into memory; of a pipe or device, the open file.

    Raises:
        OSError: If the file cannot be opened.
    """
    # Opened once: a second reader of a pipe would find its writer gone.
    file = io.FileIO(path)
    status = os.fstat(file.fileno())
    if not stat.S_ISREG(status.st_mode):
        return file
    with file:
        if status.st_size == 0:
            return EMPTY
        return Buffer.from_object(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def as_memory(source: Any) -> Buffer | io.FileIO | None:
    """The bytes of a path, a `Buffer` or a bytes-like object, where they need not be read first.

    Of a path to a pipe or device it is the open file, which the caller closes; of anything else None.

    Raises:
        OSError: If the file cannot be opened.
    """
    if isinstance(source, str | os.PathLike):
        return open_path(source)
    if isinstance(source, Buffer):
        return source
    return Buffer.from_object(source) if _is_bytes_like(source) else None


def _is_bytes_like(source: Any) -> bool:
    try:
        memoryview(source)
    except TypeError:
        return False
    return True


def open_sequential(source: Any) -> tuple[Sequential, Callable[[], None]]:
    """A source's bytes one after the other, and what closes the file if it was opened here.

    Raises:
        OSError: If a path cannot be opened.
        TypeError: If it is no source.
    """
    memory = as_memory(source)
    if isinstance(memory, Buffer):
        return MemoryStream(Memory(memory)), lambda: None
    if memory is not None:
        return ByteStream(memory), memory.close
    return ByteStream(source), lambda: None
