"""`SEGMENT` frames of device memory: place in the space, device and handle of an allocation."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colkern.dissociated.shared.segment_frames import SegmentPlace, parse_segment_place
from colkern.errors import InvalidArrowError

_UUID_BYTES = 16
_HANDLE_BYTES = 64


class AllocationPlace(NamedTuple):
    """Where an allocation is.

    Args:
        base: The offset of its first byte.
        size: Its size in bytes; 0 once it is not used any more.
        uuid: The device that it is on, 16 bytes.
        handle: Its CUDA IPC handle, 64 bytes.
    """

    base: int
    size: int
    uuid: bytes
    handle: bytes

    def encode(self, service: bytes) -> bytes:
        """The bytes of the frame of a service, which is named by its `remote_handle`."""
        return SegmentPlace(self.base, self.size, service + self.uuid + self.handle).encode()


def retired(base: int, service: bytes) -> bytes:
    """The frame that says that an allocation is not used any more."""
    return SegmentPlace(base, 0, service).encode()


def parse_allocation_place(data: bytes | NDArray[np.uint8], service: bytes) -> AllocationPlace:
    """The place in a frame.

    Raises:
        InvalidArrowError: If it is not that of the service, cut short, or leaves all offsets.
    """
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
