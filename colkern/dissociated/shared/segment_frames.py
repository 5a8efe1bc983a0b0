"""`SEGMENT` frames of shared memory: base in the connection's space, size and handle of a segment."""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colkern.errors import InvalidArrowError

_PLACE = struct.Struct("<QQ")


class SegmentPlace(NamedTuple):
    """Where a segment is.

    Args:
        base: The offset of its first byte.
        size: Its size in bytes; 0 once it is not used any more.
        handle: The `remote_handle` of the service that it belongs to.
    """

    base: int
    size: int
    handle: bytes

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
