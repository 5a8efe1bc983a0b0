"""What a `SEGMENT` frame says: where in the connection's space a segment is, how large, and whose."""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

from colkern.errors import InvalidArrowError

_PLACE = struct.Struct("<QQ")


class SegmentPlace(NamedTuple):
    """Where a segment is.

    Args:
        base: The offset of its first byte.
        size: How many bytes it has; 0 once it is not used any more.
        handle: The `remote_handle` of the service that it belongs to.
    """

    base: int
    size: int
    handle: bytes

    def encode(self) -> bytes:
        """The bytes of the frame."""
        return _PLACE.pack(self.base, self.size) + self.handle


def parse_segment_place(data: Any) -> SegmentPlace:
    """What a frame says; raises `InvalidArrowError` if it is cut short, or leaves all offsets."""
    data = bytes(data)
    if len(data) < _PLACE.size:
        raise InvalidArrowError(
            f"segment frame of {len(data)} bytes; it has at least {_PLACE.size}"
        )
    base, size = _PLACE.unpack_from(data)
    if base + size > (1 << 63) - 1:
        raise InvalidArrowError(f"segment of {size} bytes at offset {base}")
    return SegmentPlace(base, size, data[_PLACE.size :])
