"""Metadata in the C Data interface: counted and length-prefixed pairs, integers in native order.

C Data interface: "ArrowSchema.metadata".
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Mapping

from colkern.errors import InvalidArrowError
from colkern.key_values import metadata_of, pairs_of

_INT = struct.Struct("=i")


def encode_key_values(metadata: Mapping[bytes, bytes]) -> bytes:
    """The pairs as one run of bytes."""
    pairs = pairs_of(metadata)
    parts = [_INT.pack(len(pairs))]
    for pair in pairs:
        for text in pair:
            parts += (_INT.pack(len(text)), text)
    return b"".join(parts)


class _Cursor:
    def __init__(self, address: int) -> None:
        self.address = address

    def take(self, size: int) -> bytes:
        taken = ctypes.string_at(self.address, size)
        self.address += size
        return taken

    def count(self) -> int:
        (value,) = _INT.unpack(self.take(_INT.size))
        if value < 0:
            raise InvalidArrowError(f"metadata has a count or length of {value}")
        return int(value)


def decode_key_values(address: int) -> Mapping[bytes, bytes] | None:
    """The pairs at `address`; None if there are none."""
    cursor = _Cursor(address)
    return metadata_of(
        [(cursor.take(cursor.count()), cursor.take(cursor.count())) for _ in range(cursor.count())]
    )
