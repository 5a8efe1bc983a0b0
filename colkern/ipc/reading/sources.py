"""Sources of bytes: memory, seekable files, and byte streams such as sockets and pipes.

All readers use one of two interfaces: a `RandomAccess` reads any range, a `Sequential` the next bytes.
Memory (a mapped file, a bytes-like object) is never copied.
"""

from __future__ import annotations

import io
import mmap
import os
import stat
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from colkern.errors import InvalidArrowError, UnsupportedError
from colkern.forks import Lock
from colkern.ipc.paths import is_url
from colkern.memory import EMPTY, HOST, Buffer, Device, allocate, allocate_for_overwrite

if TYPE_CHECKING:
    from colkern.ipc.reading.remote import Remote

Source: TypeAlias = object
"""A path or URL, a bytes-like object, a `Buffer`, or an object with readinto, read, recv_into or recv."""

# The number of bytes to skip at a time.
_SCRATCH = 1 << 20

# The first allocation for a length that only the sender states; it grows as bytes arrive.
_FIRST_ALLOCATION = 1 << 26


class RandomAccess(Protocol):
    """Bytes of known size that can be read in any order, except from a `Passing` source."""

    size: int
    device: Device
    """Where the bytes are that `read` gives."""

    def read(self, offset: int, length: int) -> Buffer:
        """`length` bytes from `offset` on; the caller has checked that they exist."""

    def read_into(self, offset: int, view: NDArray[np.uint8]) -> None:
        """Read from `offset` on into all of `view`; otherwise as `read`."""


class Sequential(Protocol):
    """Bytes that come in sequence; `position` counts those taken."""

    position: int

    def take(self, length: int) -> Buffer:
        """The next `length` bytes, or fewer at the end of the source."""

    def take_into(self, view: NDArray[np.uint8]) -> int:
        """Read the next bytes into `view`; returns their number, which is less at the source's end."""


class Memory:
    """Random access to memory; ranges are slices of it."""

    device = HOST

    def __init__(self, buffer: Buffer) -> None:
        self._bytes = buffer.array
        self.size = buffer.size

    def read(self, offset: int, length: int) -> Buffer:
        """A slice; not copied."""
        return Buffer.of_read_only(self._bytes[offset : offset + length])

    def read_into(self, offset: int, view: NDArray[np.uint8]) -> None:
        view[:] = self._bytes[offset : offset + view.size]


class OpenFile:
    """Copied ranges of a regular file, counted from `start`, for several threads; the caller closes it."""

    device = HOST

    def __init__(self, file: io.FileIO, start: int = 0) -> None:
        self._descriptor = os.dup(file.fileno())
        weakref.finalize(self, os.close, self._descriptor)
        self.start = start
        self.size = max(os.fstat(self._descriptor).st_size - start, 0)

    @property
    def descriptor_path(self) -> str:
        """A path that stays the file's own, even if its original path changes."""
        return f"/proc/self/fd/{self._descriptor}"

    def read(self, offset: int, length: int) -> Buffer:
        """The bytes of a range, in new memory."""
        data = allocate_for_overwrite(length, np.uint8)
        self.read_into(offset, data)
        return Buffer(data)

    def read_into(self, offset: int, view: NDArray[np.uint8]) -> None:
        filled = 0
        while filled < view.size:
            at = self.start + offset + filled
            count = os.preadv(self._descriptor, [view[filled:].data], at)
            if count == 0:
                raise shrunk(view.size - filled, offset)
            filled += count


class SeekableFile:
    """Copied ranges of a seekable file object, from its position on; a forked child cannot read it."""

    device = HOST

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._start = file.tell()
        self.size = max(file.seek(0, io.SEEK_END) - self._start, 0)
        self._receive = _receiver(file)
        # Threads load columns at once, and a file object has one position for all.
        self._lock = _lock_of(file)
        self._position = _Position(file)

    def read(self, offset: int, length: int) -> Buffer:
        """The bytes of a range, in new memory."""
        self._position.require_own()
        with self._lock:
            self._file.seek(self._start + offset)
            data = _fill(self._receive, length)
        if data.size < length:
            raise shrunk(length - data.size, offset)
        return Buffer(data)

    def read_into(self, offset: int, view: NDArray[np.uint8]) -> None:
        self._position.require_own()
        with self._lock:
            self._file.seek(self._start + offset)
            filled = _fill_view(self._receive, view)
        if filled < view.size:
            raise shrunk(view.size - filled, offset)


class _Position:
    """The position of a file object; a forked child and its parent would move it for each other."""

    __slots__ = ("_kind", "_process")

    def __init__(self, file: object) -> None:
        self._kind = type(file).__name__
        # A fork copies memory, so the child has its own position.
        self._process = None if type(file) is io.BytesIO else os.getpid()

    def require_own(self) -> None:
        """Raise `UnsupportedError` in a process that was forked after this object was made."""
        if self._process not in (None, os.getpid()):
            raise UnsupportedError(
                f"source: this process was forked after the {self._kind} was opened, and "
                "shares its position with the parent; open the source again here, or by its path"
            )


_locks: weakref.WeakKeyDictionary[object, Lock] = weakref.WeakKeyDictionary()


def _lock_of(file: object) -> Lock:
    """The lock of a file object; each reader has its own lock if objects cannot be hashed."""
    try:
        return _locks.setdefault(file, Lock())
    except TypeError:
        return Lock()


def random_access(file: BinaryIO) -> OpenFile | SeekableFile:
    """The bytes of a seekable binary file object from its position on."""
    raw = getattr(file, "raw", file)
    # Exactly these classes: a derived one may read something else.
    if type(file) in _BUFFERED and type(raw) is io.FileIO and _is_regular(raw):
        # Bytes that are still in the buffer could not be read from the descriptor.
        file.flush()
        return OpenFile(raw, file.tell())
    return SeekableFile(file)


_BUFFERED = (io.FileIO, io.BufferedReader, io.BufferedRandom)


def _is_regular(file: io.FileIO) -> bool:
    return stat.S_ISREG(os.fstat(file.fileno()).st_mode)


def shrunk(missing: int, offset: int) -> InvalidArrowError:
    """The error for a file that has become shorter: bytes from `offset` on are missing."""
    return InvalidArrowError(
        f"the file ended {missing} bytes early: it shrank while it was read", place=f"byte {offset}"
    )


class MemoryStream:
    """The bytes of a random-access source, in sequence."""

    def __init__(self, source: RandomAccess) -> None:
        self._source = source
        self.position = 0

    def take(self, length: int) -> Buffer:
        """The next bytes; not copied if the source is memory."""
        length = min(length, self._source.size - self.position)
        taken = self._source.read(self.position, length)
        self.position += length
        return taken

    def take_into(self, view: NDArray[np.uint8]) -> int:
        """Copy the next bytes."""
        size = min(view.size, self._source.size - self.position)
        self._source.read_into(self.position, view[:size])
        self.position += size
        return size

    def body(self, size: int) -> Body:
        """The next bytes as a range of the source; none of them is read yet."""
        left = self._source.size - self.position
        if size > left:
            raise ended_early(left, size, "body")
        start = self.position
        self.position += size
        return Body(self._source, start, size)


class ByteStream:
    """The bytes of a file object, pipe or socket in sequence, copied; a forked child cannot read them."""

    def __init__(self, file: object) -> None:
        self._place = _Position(file)
        self._receive = _receiver(file)
        self._ahead: NDArray[np.uint8] = EMPTY.array
        self.position = 0

    def peek(self, length: int) -> bytes:
        """The next bytes without taking them, or fewer at the end of the source."""
        if self._ahead.size < length:
            self._place.require_own()
            more = _fill(self._receive, length - self._ahead.size)
            self._ahead = np.concatenate([self._ahead, more])
        return bytes(self._ahead[:length])

    def take(self, length: int) -> Buffer:
        """The next bytes, in new memory."""
        self._place.require_own()
        taken = self._ahead[:length]
        self._ahead = self._ahead[length:]
        if taken.size < length:
            taken = _fill(self._receive, length, taken)
        self.position += taken.size
        return Buffer(taken)

    def take_into(self, view: NDArray[np.uint8]) -> int:
        self._place.require_own()
        ahead = self._ahead[: view.size]
        self._ahead = self._ahead[view.size :]
        view[: ahead.size] = ahead
        filled = ahead.size + _fill_view(self._receive, view[ahead.size :])
        self.position += filled
        return filled

    def take_all(self) -> Buffer:
        """All bytes that are left, in new memory."""
        parts = []
        while (part := self.take(_FIRST_ALLOCATION)).size:
            parts.append(part.array)
        return Buffer(parts[0] if len(parts) == 1 else np.concatenate([EMPTY.array, *parts]))


class Passing:
    """Bytes of a stream that are not taken yet: each is read once, in order, or skipped."""

    device = HOST

    def __init__(self, stream: Sequential, size: int) -> None:
        self.size = size
        self._stream = stream
        self._position = 0
        self._settled: Memory | None = None

    @property
    def is_settled(self) -> bool:
        """Whether all of these bytes are in memory."""
        return self._settled is not None

    def settle(self) -> None:
        """Read all of these bytes into memory; from then on they can be read in any order."""
        if self._settled is None:
            taken = self._stream.take(self.size)
            self._position = self.size
            if taken.size < self.size:
                raise ended_early(taken.size, self.size, "body")
            self._settled = Memory(taken)

    def read(self, offset: int, length: int) -> Buffer:
        """A range; all bytes are read into memory first."""
        self.settle()
        assert self._settled is not None
        return self._settled.read(offset, length)

    def read_into(self, offset: int, view: NDArray[np.uint8]) -> None:
        """Read a range into given memory; unless all are in memory, it must follow the last range."""
        if self._settled is not None:
            self._settled.read_into(offset, view)
            return
        self._pass_by(offset)
        self._take_into(view)

    def finish(self) -> None:
        """Skip the bytes that were not read; raises as `settle`."""
        self._pass_by(self.size)

    def _pass_by(self, offset: int) -> None:
        while self._position < offset:
            scratch = np.empty(min(offset - self._position, _SCRATCH), np.uint8)
            self._take_into(scratch)

    def _take_into(self, view: NDArray[np.uint8]) -> None:
        taken = self._stream.take_into(view)
        if taken < view.size:
            raise ended_early(self._position + taken, self.size, "body")
        self._position += taken


def ended_early(count: int, size: int, part: str) -> InvalidArrowError:
    """The error for a source that ends within a part of a message."""
    return InvalidArrowError(f"the source ends after {count} of {size} {part} bytes")


class Body(NamedTuple):
    """The body of a message: a range of a source."""

    source: RandomAccess
    start: int
    size: int

    def read(self, offset: int, length: int) -> Buffer:
        """`length` bytes from `offset` on, counted from the start of the body."""
        self.require(offset, length)
        return self.source.read(self.start + offset, length)

    def read_into(self, offset: int, view: NDArray[np.uint8]) -> None:
        """Read from `offset` on into all of `view`; the caller has checked the range."""
        self.source.read_into(self.start + offset, view)

    def has(self, offset: int, length: int) -> bool:
        """Whether a range is entirely within the body."""
        return 0 <= offset <= self.size - length and length >= 0

    def require(self, offset: int, length: int) -> None:
        """Raise `InvalidArrowError` unless a range is entirely within the body."""
        if not self.has(offset, length):
            raise InvalidArrowError(
                f"buffer of {length} bytes at {offset} in a body of {self.size} bytes"
            )

    @property
    def passing(self) -> Passing | None:
        """The source, if ranges must be read in sequence; else None."""
        source = self.source
        return source if isinstance(source, Passing) and not source.is_settled else None

    @property
    def is_in_memory(self) -> bool:
        """Whether reading makes no copies."""
        return isinstance(self.source, Memory)

    def in_memory(self) -> NDArray[np.uint8] | None:
        """All bytes, not copied; None if they would have to be read."""
        if not isinstance(self.source, Memory):
            return None
        return self.source.read(self.start, self.size).array  # type: ignore[no-any-return]


Receive = Callable[[memoryview], int]
"""Puts the next bytes into a view and returns their number: 0 at the end."""


def _receiver(file: object) -> Receive:
    for name in ("readinto", "recv_into"):
        into = getattr(file, name, None)
        if into is not None:
            return lambda view: _count(into(view), view.nbytes)
    for name in ("read", "recv"):
        get = getattr(file, name, None)
        if get is not None:
            return lambda view: _copy(get(view.nbytes), view)
    raise TypeError(
        "source: expected a path, a bytes-like object, or an object with readinto, read, "
        f"recv_into or recv, got {type(file).__name__}"
    )


def _count(received: object, most: int) -> int:
    if received is None:
        raise BlockingIOError("source: it is in non-blocking mode and has no bytes ready")
    if not isinstance(received, int):
        kind = type(received).__name__
        raise TypeError(f"source: it returned {kind}, not how many bytes it put into the buffer")
    if not 0 <= received <= most:
        raise ValueError(f"source: asked for {most} bytes, it gave {received}")
    return received


def _copy(data: object, view: memoryview) -> int:
    if isinstance(data, str):
        raise TypeError("source: a file object in text mode; open it in binary mode")
    if data is None:
        return _count(data, 0)
    try:
        chunk = memoryview(data).cast("B")  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"source: it returned {type(data).__name__}, not bytes") from None
    count = _count(chunk.nbytes, view.nbytes)
    view[:count] = chunk
    return count


def _fill(
    receive: Receive, length: int, begun: NDArray[np.uint8] = EMPTY.array
) -> NDArray[np.uint8]:
    """`length` bytes, beginning with those in `begun`; fewer at the source's end."""
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


def _fill_view(receive: Receive, view: NDArray[np.uint8]) -> int:
    """Fill given memory; returns the number of bytes, which is smaller at the source's end."""
    filled = 0
    while filled < view.size:
        received = receive(view[filled:].data)
        if received == 0:
            break
        filled += received
    return filled


def opened_source(
    source: Source, *, mapped: bool = True
) -> Memory | OpenFile | Remote | io.FileIO | None:
    """The bytes of a path, URL or bytes-like object; the open file for a pipe or device; else None."""
    if isinstance(source, str | os.PathLike):
        if is_url(source):
            from colkern.ipc.reading.remote import opened_url

            return opened_url(source)
        return _opened_path(source, mapped)
    if isinstance(source, Buffer):
        if source.device != HOST:
            raise ValueError(
                f"source: its bytes live on {source.device}; metadata is read on the host"
            )
        return Memory(source)
    return Memory(Buffer.from_object(source)) if _is_bytes_like(source) else None


def _opened_path(path: str | os.PathLike[str], mapped: bool) -> Memory | OpenFile | io.FileIO:
    # Opened only once: for a second reader of a pipe, the writer would be gone.
    file = io.FileIO(path)
    if not _is_regular(file):
        return file
    with file:
        if not mapped:
            return OpenFile(file)
        if os.fstat(file.fileno()).st_size == 0:
            return Memory(EMPTY)
        return Memory(Buffer.from_object(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)))


def _is_bytes_like(source: Source) -> bool:
    try:
        memoryview(source)  # type: ignore[arg-type]
    except TypeError:
        return False
    return True


def open_sequential(
    source: Source, *, mapped: bool = True
) -> tuple[Sequential, Callable[[], None]]:
    """A source's bytes in sequence, and a function that closes the file if it was opened here."""
    opened = opened_source(source, mapped=mapped)
    if isinstance(opened, io.FileIO):
        return ByteStream(opened), opened.close
    if opened is not None:
        return MemoryStream(opened), lambda: None
    return ByteStream(source), lambda: None
