"""The bytes of the protocol: sequence numbers and tags, metadata messages, locations of buffers, hellos.

Dissociated IPC protocol: "Definitions", "Sequence Number", "Metadata Stream Sequence",
"Data Stream Sequence".
"""

from __future__ import annotations

import hmac
import struct
from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colkern.errors import InvalidArrowError, UnsupportedError

SEQUENCE_MASK = 0xFFFF_FFFF
"""The bits of a sequence number, also in the tag of a body."""

_HALF = 1 << 31


def after(sequence: int, steps: int = 1) -> int:
    """The sequence number that is `steps` after another one."""
    return (sequence + steps) & SEQUENCE_MASK


def distance(start: int, sequence: int) -> int:
    """The number of steps from `start` to `sequence`; negative if `sequence` comes first."""
    # Numbers wrap around, so the shorter of the two ways counts.
    steps = (sequence - start) & SEQUENCE_MASK
    return steps - (1 << 32) if steps >= _HALF else steps


_TYPE_SHIFT = 56
_LOCATIONS_SHIFTED_BY_55 = 1 << 55


class BodyType(IntEnum):
    """The type of a body in a tagged message."""

    PACKED = 0
    """The bytes of the body, as in IPC streams."""
    LOCATIONS = 1
    """The places of its buffers in shared or remote memory."""


def body_tag(sequence: int, body_type: BodyType) -> int:
    """The tag of a body: bits 0 to 31 have the sequence number, bits 56 to 63 the type."""
    return body_type << _TYPE_SHIFT | sequence


def parse_body_tag(tag: int) -> tuple[int, BodyType]:
    """The sequence number and the type of a body; reserved bits (32 to 55) are ignored."""
    # A type shifted by 55 bits, as in the specification's diagrams, is refused: else locations
    # would be read as a packed body.
    sequence = tag & SEQUENCE_MASK
    if tag & ~SEQUENCE_MASK == _LOCATIONS_SHIFTED_BY_55:
        raise InvalidArrowError(
            f"tag {tag:#018x} has a type that is shifted by 55 bits; it belongs in bits 56 to 63",
            place=f"body of message {sequence}",
        )
    number = tag >> _TYPE_SHIFT
    try:
        return sequence, BodyType(number)
    except ValueError:
        raise UnsupportedError(
            f"body of message {sequence}: type {number}; colkern knows 0 (packed) and 1 (locations)"
        ) from None


_PREFIX = struct.Struct("<BI")
_END_OF_STREAM = 0
_METADATA = 1


class MetadataMessage(NamedTuple):
    """One message of the metadata stream."""

    sequence: int
    metadata: bytes | None  #: The IPC message's FlatBuffers bytes; None at the end of the stream.


def metadata_prefix(sequence: int) -> bytes:
    """The bytes that precede the FlatBuffers bytes."""
    return _PREFIX.pack(_METADATA, sequence)


def end_of_stream(sequence: int) -> bytes:
    """The last message: five bytes."""
    return _PREFIX.pack(_END_OF_STREAM, sequence)


def parse_metadata_message(data: bytes) -> MetadataMessage:
    """A parsed message of the metadata stream."""
    if len(data) < _PREFIX.size:
        raise InvalidArrowError(
            f"metadata message of {len(data)} bytes; type and sequence number take {_PREFIX.size}"
        )
    kind, sequence = _PREFIX.unpack_from(data)
    place = f"message {sequence}"
    if kind == _END_OF_STREAM:
        if len(data) != _PREFIX.size:
            raise InvalidArrowError(
                f"end of stream of {len(data)} bytes; it has exactly {_PREFIX.size}", place=place
            )
        return MetadataMessage(sequence, None)
    if kind != _METADATA:
        raise UnsupportedError(f"{place}: type {kind}; colkern knows 0 (end of stream) and 1")
    if len(data) == _PREFIX.size:
        raise InvalidArrowError("a metadata message without metadata", place=place)
    return MetadataMessage(sequence, data[_PREFIX.size :])


_UINT64 = np.dtype("<u8")
LOCATION_BYTES = 2 * _UINT64.itemsize
"""The bytes of a location, and of the total and count in front of all locations."""

_MOST = (1 << 63) - 1


class Location(NamedTuple):
    """The place of a buffer in memory that both sides know; (0, 0) for one without bytes."""

    address: int
    length: int


class BodyLocations(NamedTuple):
    """The places of a body's buffers, in the order of the buffers in the message's metadata."""

    total: int  #: How many bytes they have together.
    buffers: tuple[Location, ...]

    @classmethod
    def of(cls, buffers: Sequence[Location]) -> BodyLocations:
        """Locations, with the sum of their lengths."""
        return cls(sum(buffer.length for buffer in buffers), tuple(buffers))

    def encode(self) -> bytes:
        """The body of a tagged message: (total, count), then (address, length) each, uint64."""
        pairs = np.array([(self.total, len(self.buffers)), *self.buffers], _UINT64)
        return pairs.tobytes()

    def addresses(self) -> list[int]:
        """The addresses to free: those of all buffers with bytes, repeated if buffers share them."""
        return [buffer.address for buffer in self.buffers if buffer.length]


def parse_locations(data: bytes | NDArray[np.uint8]) -> BodyLocations:
    """The locations in the body of a tagged message."""
    size = len(data)
    if size < LOCATION_BYTES or size % LOCATION_BYTES:
        raise InvalidArrowError(
            f"locations of {size} bytes; they are pairs of {LOCATION_BYTES} bytes, at least one"
        )
    pairs = np.frombuffer(data, _UINT64).reshape(-1, 2)
    (total, count), *listed = pairs.tolist()
    if count != len(listed):
        raise InvalidArrowError(f"{len(listed)} locations where {count} are announced")
    buffers = tuple(map(Location._make, listed))
    for number, (address, length) in enumerate(buffers):
        if length > _MOST or address > (1 << 64) - 1 - length:
            raise InvalidArrowError(
                f"location {number}: {length} bytes at {address:#x} are past the end of all addresses"
            )
    stated = sum(buffer.length for buffer in buffers)
    if total > _MOST or stated > total:
        raise InvalidArrowError(f"locations of {stated} bytes where the total is {total}")
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


_MAGIC = b"colkern1"
CLIENT_BYTES = 16


class Hello(NamedTuple):
    """The first frame of a client, which identifies it."""

    client: bytes  #: 16 random bytes; the same on its connections for metadata and for bodies.
    token: bytes

    def encode(self) -> bytes:
        """The bytes of the frame."""
        return _MAGIC + self.client + self.token

    def is_admitted(self, token: bytes) -> bool:
        """Whether the client has the server's token, compared in constant time."""
        return hmac.compare_digest(self.token, token)


UNKNOWN = Hello(b"", b"")
"""A client that has not said hello."""


def parse_hello(frame: bytes | NDArray[np.uint8]) -> Hello:
    """The hello in a frame; raises `InvalidArrowError` if it is none."""
    data = bytes(frame)
    start = len(_MAGIC) + CLIENT_BYTES
    if len(data) < start or not data.startswith(_MAGIC):
        raise InvalidArrowError("a client that does not say hello as colkern's do")
    return Hello(data[len(_MAGIC) : start], data[start:])
