"""Addresses of a connection: offsets in a space in which each piece of shared memory has a base.

`SEGMENT` frames announce a piece to a client: base, size, and the handle of a segment or of device
memory.
"""

from __future__ import annotations

import mmap
import struct
from bisect import bisect_right, insort
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from colkern.dissociated.messages import Location
from colkern.errors import InvalidArrowError, LimitExceededError

Memory = TypeVar("Memory")

_MOST_PIECES = 1 << 14


class Places:
    """Assigns places in a server's space to pieces of memory; no place is used twice."""

    def __init__(self) -> None:
        # No buffer with bytes is at 0, which stands for buffers without bytes.
        self._next = mmap.PAGESIZE

    def take(self, size: int) -> int:
        """The base for a piece of `size` bytes."""
        base = self._next
        self._next += size + mmap.PAGESIZE
        return base


class _Piece(NamedTuple, Generic[Memory]):
    size: int
    memory: Memory


class Space(Generic[Memory]):
    """The pieces of memory that a server has announced, as its client knows them."""

    def __init__(self) -> None:
        self._bases: list[int] = []
        self._pieces: dict[int, _Piece[Memory]] = {}

    def check_free(self, base: int, size: int) -> None:
        """Raise unless a new piece fits at a place."""
        if len(self._bases) >= _MOST_PIECES:
            raise LimitExceededError(f"more than {_MOST_PIECES} segments of one server")
        number = bisect_right(self._bases, base)
        before, behind = self._bases[max(number - 1, 0) : number], self._bases[number : number + 1]
        overlaps = any(each + self._pieces[each].size > base for each in before)
        if overlaps or any(base + size > each for each in behind):
            raise InvalidArrowError(f"segment of {size} bytes at {base:#x} overlaps another one")

    def add(self, base: int, size: int, memory: Memory) -> None:
        """Add memory at a place that is free."""
        self._pieces[base] = _Piece(size, memory)
        insort(self._bases, base)

    def forget(self, base: int) -> None:
        """Forget a piece that the server has retired; raises `InvalidArrowError` if there is none."""
        if self._pieces.pop(base, None) is None:
            raise InvalidArrowError(f"no segment at {base:#x} has been announced")
        self._bases.remove(base)

    def find(self, location: Location) -> tuple[Memory, int]:
        """The memory that contains a location, and the offset in it; raises `InvalidArrowError`."""
        address, length = location
        number = bisect_right(self._bases, address) - 1
        if number >= 0:
            base = self._bases[number]
            piece = self._pieces[base]
            if address + length <= base + piece.size:
                return piece.memory, address - base
        raise InvalidArrowError(
            f"{length} bytes at offset {address:#x} are in no segment that has been announced"
        )


_PLACE = struct.Struct("<QQ")
_UUID_BYTES = 16
_HANDLE_BYTES = 64


class SegmentPlace(NamedTuple):
    """The place of a segment."""

    base: int  #: The offset of its first byte.
    size: int  #: Its size in bytes; 0 once it is not used any more.
    handle: bytes  #: The `remote_handle` of the service that it belongs to.

    def encode(self) -> bytes:
        """The bytes of the frame."""
        return _PLACE.pack(self.base, self.size) + self.handle


def parse_segment_place(frame: bytes | NDArray[np.uint8]) -> SegmentPlace:
    """The place in a frame; raises `InvalidArrowError` if it is cut short, or past all offsets."""
    data = bytes(frame)
    if len(data) < _PLACE.size:
        raise InvalidArrowError(
            f"segment frame of {len(data)} bytes; it has at least {_PLACE.size}"
        )
    base, size = _PLACE.unpack_from(data)
    if base + size > (1 << 63) - 1:
        raise InvalidArrowError(f"segment of {size} bytes at offset {base}")
    return SegmentPlace(base, size, data[_PLACE.size :])


class AllocationPlace(NamedTuple):
    """The place of an allocation."""

    base: int
    size: int
    uuid: bytes  #: The device that it is on, 16 bytes.
    handle: bytes  #: Its CUDA IPC handle, 64 bytes.

    def encode(self, service: bytes) -> bytes:
        """The bytes of the frame; `service` is the `remote_handle` of the service."""
        return SegmentPlace(self.base, self.size, service + self.uuid + self.handle).encode()


def retired(base: int, service: bytes) -> bytes:
    """The frame that tells that an allocation is not used any more."""
    return SegmentPlace(base, 0, service).encode()


def parse_allocation_place(data: bytes | NDArray[np.uint8], service: bytes) -> AllocationPlace:
    """The place in a frame."""
    base, size, rest = parse_segment_place(data)
    if not rest.startswith(service):
        raise InvalidArrowError("an allocation that is not of the URI's remote_handle")
    rest = rest.removeprefix(service)
    expected = _UUID_BYTES + _HANDLE_BYTES if size else 0
    if len(rest) != expected:
        raise InvalidArrowError(
            f"allocation frame with {len(rest)} bytes of device and handle; expected {expected}"
        )
    return AllocationPlace(base, size, rest[:_UUID_BYTES], rest[_UUID_BYTES:])
