"""The untagged messages of a metadata stream: a type, a sequence number, FlatBuffers bytes.

Dissociated IPC protocol: "Metadata Stream Sequence".
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from colkern.errors import InvalidArrowError, UnsupportedError

_PREFIX = struct.Struct("<BI")
_END_OF_STREAM = 0
_METADATA = 1


class MetadataMessage(NamedTuple):
    """One message of the metadata stream."""

    sequence: int
    metadata: bytes | None  #: The IPC message's FlatBuffers bytes; None at the end of the stream.


def metadata_prefix(sequence: int) -> bytes:
    """The bytes in front of the FlatBuffers bytes."""
    return _PREFIX.pack(_METADATA, sequence)


def end_of_stream(sequence: int) -> bytes:
    """The last message: five bytes."""
    return _PREFIX.pack(_END_OF_STREAM, sequence)


def parse_metadata_message(data: bytes) -> MetadataMessage:
    """A message as it came."""
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
