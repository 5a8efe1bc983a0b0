"""Encapsulated messages: framed metadata and an aligned body.

Columnar format 1.5: "Encapsulated message format".
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Any

from colkern.ipc.flatbuf.MetadataVersion import MetadataVersion
from colkern.ipc.flatbuffer import Record, encode
from colkern.ipc.framing import CONTINUATION
from colkern.ipc.wire import MESSAGE
from colkern.ipc.writing.sinks import Sink

_length = struct.Struct("<i").pack
_PREFIX_BYTES = 8

END_OF_STREAM = CONTINUATION + _length(0)


class Body:
    """The chunks of a message's body, each at a multiple of the alignment.

    Args:
        alignment: 8 or 64 bytes.
    """

    def __init__(self, alignment: int) -> None:
        self._alignment = alignment
        self._chunks: list[Any] = []
        self.size = 0

    def add(self, chunks: Sequence[Any]) -> tuple[int, int]:
        """Append what is one buffer together; returns its offset and its length."""
        offset, length = self.size, sum(memoryview(chunk).nbytes for chunk in chunks)
        self._chunks += chunks
        padding = -length % self._alignment
        if padding:
            self._chunks.append(bytes(padding))
        self.size += length + padding
        return offset, length

    def chunks(self) -> Iterator[Any]:
        """All chunks and the padding between them."""
        return iter(self._chunks)


def write_message(
    sink: Sink,
    kind: int,
    header: Record,
    body: Body | None = None,
    metadata: list[Record] | None = None,
    alignment: int = 8,
) -> tuple[int, int, int]:
    """Write one message so that its body starts at a multiple of the alignment.

    Args:
        sink: Where to.
        kind: A `MessageHeader` value.
        header: The header's table.
        body: The body, or None.
        metadata: Custom metadata, as `colkern.ipc.writing.schemas.pairs` gives it.
        alignment: Of the body's start, counted from where the sink started.

    Returns:
        The message's block, as a file's footer lists it: offset, size of prefix and metadata, size of
        the body.
    """
    size = 0 if body is None else body.size
    data = encode(
        MESSAGE,
        {
            "version": MetadataVersion.V5,
            "header_type": kind,
            "header": header,
            "bodyLength": size,
            "custom_metadata": metadata,
        },
    )
    start = sink.position
    padding = -(start + _PREFIX_BYTES + len(data)) % alignment
    prefix = CONTINUATION + _length(len(data) + padding)
    sink.write([prefix, data, bytes(padding), *(body.chunks() if body is not None else ())])
    return start, _PREFIX_BYTES + len(data) + padding, size
