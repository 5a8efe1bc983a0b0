"""`SEGMENT` frames: base in the connection's space, size and handle of a segment, or of device memory."""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colkern.errors import InvalidArrowError

_PLACE = struct.Struct("<QQ")
_UUID_BYTES = 16
_HANDLE_BYTES = 64


class SegmentPlace(NamedTuple):
    """Where a segment is."""

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
    """Where an allocation is."""

    base: int
    size: int
    uuid: bytes  #: The device that it is on, 16 bytes.
    handle: bytes  #: Its CUDA IPC handle, 64 bytes.

    def encode(self, service: bytes) -> bytes:
        """The bytes of the frame of a service, which is named by its `remote_handle`."""
        return SegmentPlace(self.base, self.size, service + self.uuid + self.handle).encode()


def retired(base: int, service: bytes) -> bytes:
    """The frame that says that an allocation is not used any more."""
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
