"""Segments: memory of this process that others can map, each with a descriptor to pass to them.

A segment is anonymous: it has no name in a file system, so it goes with the last process that has it,
however that ends. A process that gets its descriptor can neither truncate it nor write to it.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import threading
import weakref
from bisect import bisect_right

import numpy as np
from numpy.typing import DTypeLike, NDArray

from colkern.arrays import RecordBatch
from colkern.errors import InvalidArrowError, LimitExceededError
from colkern.memory import ALIGNMENT, EMPTY, HOST, Buffer, array_at
from colkern.operations.moving import buffers_of, over_copies
from colkern.targets import Items

# Not in Python's fcntl. It forbids new writable mappings, but keeps existing ones (Linux 5.1).
_SEAL_FUTURE_WRITE = 0x10
_SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | _SEAL_FUTURE_WRITE | fcntl.F_SEAL_SEAL


class Segment:
    """A descriptor, which the segment closes, and its bytes, mapped here."""

    def __init__(self, descriptor: int, mapped: NDArray[np.uint8], *, is_file: bool) -> None:
        self.descriptor = descriptor
        self.is_file = is_file
        self.address = int(mapped.ctypes.data)
        self.size = mapped.size
        self._mapped = mapped
        weakref.finalize(self, os.close, descriptor)

    @classmethod
    def anonymous(cls, size: int) -> Segment:
        """New zeroed memory that only this process can write to."""
        size = -(-max(size, 1) // mmap.PAGESIZE) * mmap.PAGESIZE
        descriptor = os.memfd_create("colkern", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        try:
            os.ftruncate(descriptor, size)
            mapped = mmap.mmap(descriptor, size)
            fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, _SEALS)
        except OSError as error:
            os.close(descriptor)
            raise LimitExceededError(f"no shared memory of {size} bytes: {error}") from None
        return cls(descriptor, np.frombuffer(mapped, np.uint8), is_file=False)

    @classmethod
    def of_file(cls, path: str | os.PathLike[str]) -> Segment | None:
        """A file, mapped for reading; None if it is empty, or no regular file."""
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            mapped = mmap.mmap(descriptor, 0, prot=mmap.PROT_READ)
        except (OSError, ValueError):
            os.close(descriptor)
            return None
        return cls(descriptor, np.frombuffer(mapped, np.uint8), is_file=True)

    def bytes(self, *, read_only: bool = True) -> NDArray[np.uint8]:
        """All bytes, uint8[size]; the array and its slices keep the segment alive."""
        return array_at(self.address, self.size, self, read_only=read_only)


class Segments:
    """The segments of this process by their addresses; this object does not keep them alive."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._addresses: list[int] = []
        self._segments: dict[int, weakref.ref[Segment]] = {}

    def add(self, segment: Segment) -> Segment:
        """Register a segment, and return it."""
        with self._lock:
            for address in [a for a, segment in self._segments.items() if segment() is None]:
                del self._segments[address]
            self._segments[segment.address] = weakref.ref(segment)
            self._addresses = sorted(self._segments)
        return segment

    def holding(self, address: int, size: int) -> Segment | None:
        """The segment that contains all of a range; None if there is none."""
        with self._lock:
            number = bisect_right(self._addresses, address) - 1
            if number < 0:
                return None
            segment = self._segments[self._addresses[number]]()
        if segment is None or address + size > segment.address + segment.size:
            return None
        return segment


SEGMENTS = Segments()
"""The segments whose buffers can be announced without a copy."""


def mapped_by_client(descriptor: int, size: int, *, sealed_only: bool) -> mmap.mmap:
    """A received segment, mapped for reading; `sealed_only` refuses files, which can be truncated."""
    try:
        if os.fstat(descriptor).st_size < size:
            raise InvalidArrowError(
                f"a segment of {os.fstat(descriptor).st_size} bytes is announced with {size}"
            )
        if sealed_only and not _is_sealed(descriptor):
            raise InvalidArrowError(
                "a segment that its owner can cut short, and sealed_only is asked for"
            )
        return mmap.mmap(descriptor, size, prot=mmap.PROT_READ)
    except (OSError, ValueError) as error:
        if isinstance(error, InvalidArrowError):
            raise
        raise InvalidArrowError(f"a segment that cannot be mapped: {error}") from None
    finally:
        os.close(descriptor)


def _is_sealed(descriptor: int) -> bool:
    try:
        return bool(fcntl.fcntl(descriptor, fcntl.F_GET_SEALS) & fcntl.F_SEAL_SHRINK)
    except OSError:
        return False


class SharedMemory:
    """One block of anonymous shared memory; room in it is taken from its start on, and not given back.

    Batches in it are announced to clients of shared memory without a copy. Every such client can read
    all of the block. The block is freed when there is no array over it any more.

    Args:
        size: The size in bytes, rounded up to whole pages.

    Raises:
        LimitExceededError: If there is not that much memory.
    """

    def __init__(self, size: int) -> None:
        if size < 1:
            raise ValueError(f"size: expected at least 1, got {size}")
        self._segment = SEGMENTS.add(Segment.anonymous(size))
        self._taken = 0

    @property
    def size(self) -> int:
        """The size in bytes."""
        return self._segment.size

    @property
    def free(self) -> int:
        """The number of bytes left."""
        return self.size - self._taken

    def allocate(self, count: int, dtype: DTypeLike) -> Items:
        """`count` zeroed, writable items of `dtype`, aligned to 64 bytes.

        Raises:
            LimitExceededError: If there is no room for them.
        """
        dtype = np.dtype(dtype)
        size = count * dtype.itemsize
        if size > self.free:
            raise LimitExceededError(
                f"{size} bytes where shared memory of {self.size} has {self.free} left; make it larger"
            )
        start = self._taken
        self._taken = min(start + -(-size // ALIGNMENT) * ALIGNMENT, self.size)
        return self._segment.bytes(read_only=False)[start : start + size].view(dtype)

    def place(self, batch: RecordBatch) -> RecordBatch:
        """A copy of the batch with its bytes here. For a slice, whole buffers are copied: trim it first.

        Raises:
            LimitExceededError: If there is no room for it.
            ValueError: If bytes of it are on a device.
        """
        return over_copies(batch, {id(each): self._copied(each) for each in buffers_of(batch)})

    def _copied(self, buffer: Buffer) -> Buffer:
        if buffer.device != HOST:
            raise ValueError(f"batch: bytes of it are on {buffer.device}; copy them to_host first")
        if not buffer.size:
            return EMPTY
        room = self.allocate(buffer.size, np.uint8)
        room[:] = buffer.array
        return Buffer(room)
