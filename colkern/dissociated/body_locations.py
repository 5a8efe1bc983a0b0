"""Bodies that say where their buffers are, and the lists of addresses that are no longer needed.

Dissociated IPC protocol: "Data Stream Sequence".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colkern.errors import InvalidArrowError

_UINT64 = np.dtype("<u8")
LOCATION_BYTES = 2 * _UINT64.itemsize
"""The size of one; as many bytes stand in front of all, for the total and the count."""

_MOST = (1 << 63) - 1


class Location(NamedTuple):
    """Where a buffer is, in memory that both sides know; one without bytes is nowhere: 0, 0."""

    address: int
    length: int


class BodyLocations(NamedTuple):
    """Where the buffers of a body are, in the order of the buffers in the message's metadata."""

    total: int  #: How many bytes they have together.
    buffers: tuple[Location, ...]

    @classmethod
    def of(cls, buffers: Sequence[Location]) -> BodyLocations:
        """The locations with their total."""
        return cls(sum(buffer.length for buffer in buffers), tuple(buffers))

    def encode(self) -> bytes:
        """The body of a tagged message: (total, count), then (address, length) each, uint64."""
        pairs = np.array([(self.total, len(self.buffers)), *self.buffers], _UINT64)
        return pairs.tobytes()

    def addresses(self) -> list[int]:
        """The addresses to free: that of every buffer with bytes, as often as it stands there."""
        return [buffer.address for buffer in self.buffers if buffer.length]


def parse_locations(data: bytes | NDArray[np.uint8], place: str) -> BodyLocations:
    """The locations in the body of a tagged message."""
    size = len(data)
    if size < LOCATION_BYTES or size % LOCATION_BYTES:
        raise InvalidArrowError(
            f"locations of {size} bytes; they are pairs of {LOCATION_BYTES} bytes, at least one",
            place=place,
        )
    pairs = np.frombuffer(data, _UINT64).reshape(-1, 2)
    (total, count), *listed = pairs.tolist()
    if count != len(listed):
        raise InvalidArrowError(f"{len(listed)} locations where {count} are announced", place=place)
    buffers = tuple(map(Location._make, listed))
    for number, (address, length) in enumerate(buffers):
        if length > _MOST or address > (1 << 64) - 1 - length:
            raise InvalidArrowError(
                f"location {number}: {length} bytes at {address:#x} are past the end of all addresses",
                place=place,
            )
    stated = sum(buffer.length for buffer in buffers)
    if total > _MOST or stated > total:
        raise InvalidArrowError(
            f"locations of {stated} bytes where the total is {total}", place=place
        )
    return BodyLocations(total, buffers)


def encode_addresses(addresses: Sequence[int]) -> bytes:
    """The body of a `free_data` message."""
    return np.array(addresses, _UINT64).tobytes()


def parse_addresses(data: bytes | NDArray[np.uint8]) -> list[int]:
    """The addresses in a `free_data` message."""
    size = len(data)
    if not size or size % _UINT64.itemsize:
        raise InvalidArrowError(
            f"free_data message of {size} bytes; it has one or more addresses of 8 bytes"
        )
    addresses: list[int] = np.frombuffer(data, _UINT64).tolist()
    return addresses
