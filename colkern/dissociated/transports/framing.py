"""Frames on sockets: 24 bytes before each message give its length, kind and tag.

| Bytes | |
| --- | --- |
| 0 to 7 | length of the message behind the header, uint64 |
| 8 to 15 | tag, uint64 |
| 16 | kind |
| 17 to 23 | zero |

All numbers are little-endian.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colkern.dissociated.bounds import Bounds
from colkern.dissociated.transports.connection import FrameKind
from colkern.errors import InvalidArrowError, LimitExceededError
from colkern.memory import allocate_for_overwrite

_HEADER = struct.Struct("<QQB7s")
HEADER_BYTES = _HEADER.size
_ZEROS = bytes(7)
_CONTROL_BYTES = 1 << 16
_TAGLESS = frozenset(FrameKind) - {FrameKind.TAGGED}
KINDS = {int(kind): kind for kind in FrameKind}


class FrameLimits(NamedTuple):
    """The limits of the messages that one side receives."""

    tagged: int  #: Tagged messages: bodies, or requests and addresses.
    message: int  #: Untagged messages.


REQUEST_LIMITS = FrameLimits(tagged=1 << 24, message=0)
"""The limits of a server, for clients that it may not know yet."""


def limits_of(bounds: Bounds) -> FrameLimits:
    """The limits of a client."""
    return FrameLimits(bounds.frame_bytes, bounds.metadata_bytes)


class FrameHeader(NamedTuple):
    """The header in front of a message."""

    kind: FrameKind
    tag: int
    length: int


def encode_header(kind: FrameKind, tag: int, length: int) -> bytes:
    """The bytes of a header."""
    return _HEADER.pack(length, tag, kind, _ZEROS)


def parse_header(data: bytes, limits: FrameLimits) -> FrameHeader:
    """The header in 24 bytes."""
    length, tag, number, zeros = _HEADER.unpack(data)
    kind = KINDS.get(number)
    if kind is None or zeros != _ZEROS:
        raise InvalidArrowError(f"no frame of the protocol starts with {bytes(data).hex()}")
    if tag and kind in _TAGLESS:
        raise InvalidArrowError(f"{kind.name.lower()} frame with tag {tag:#x}")
    check_length(kind, length, limits)
    return FrameHeader(kind, tag, length)


def check_length(kind: FrameKind, length: int, limits: FrameLimits) -> None:
    """Raise `LimitExceededError` if a message is larger than its kind allows."""
    limit = {FrameKind.TAGGED: limits.tagged, FrameKind.MESSAGE: limits.message}.get(
        kind, _CONTROL_BYTES
    )
    if length > limit:
        raise LimitExceededError(
            f"{kind.name.lower()} frame of {length} bytes is over the limit of {limit}; a client raises "
            "Bounds.frame_bytes or Bounds.metadata_bytes to receive it"
        )


def allocated(length: int) -> NDArray[np.uint8]:
    """Memory for a frame; raises `LimitExceededError` if there is not that much."""
    try:
        return allocate_for_overwrite(length, np.uint8)
    except MemoryError:
        raise LimitExceededError(f"no memory for a frame of {length} bytes") from None
