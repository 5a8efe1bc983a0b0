"""Encapsulated messages: framed metadata and an aligned body.

Columnar format 1.5: "Encapsulated message format".
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import cast

from colkern.ipc.enums import CONTINUATION, MetadataVersion
from colkern.ipc.flatbuffer.encoding import Encoded, encode
from colkern.ipc.flatbuffer.tables import Record
from colkern.ipc.wire import MESSAGE
from colkern.ipc.writing.fetching import Chunk, fetched_chunks, is_on_device
from colkern.ipc.writing.sinks import Sink
from colkern.memory import Buffer

_length = struct.Struct("<i").pack
_PREFIX_BYTES = 8

END_OF_STREAM = CONTINUATION + _length(0)


class Body:
    """The chunks of a message's body, each at a multiple of the alignment (8 or 64 bytes)."""

    def __init__(self, alignment: int) -> None:
        self._alignment = alignment
        # Buffers in this list are in device memory.
        self._chunks: list[Chunk | Buffer] = []
        self._is_fetched = False
        self.size = 0
        self.decompressed_bytes = 0
        """The size of its compressed buffers when they are decompressed."""

    def add(self, chunks: Sequence[Chunk]) -> tuple[int, int]:
        """Append chunks that form one buffer; returns its offset and its length."""
        return self._add(chunks, sum(memoryview(chunk).nbytes for chunk in chunks))

    def add_buffer(self, buffer: Buffer) -> tuple[int, int]:
        """Append a buffer, whose bytes stay on their device until they are written; see `add`."""
        size = buffer.size
        if not size:
            return self.size, 0
        if is_on_device(buffer):
            self._is_fetched = True
            return self._add((buffer,), size)
        return self._add((buffer.array.data,), size)

    def _add(self, chunks: Sequence[Chunk | Buffer], length: int) -> tuple[int, int]:
        offset = self.size
        self._chunks += chunks
        padding = -length % self._alignment
        if padding:
            self._chunks.append(bytes(padding))
        self.size += length + padding
        return offset, length

    @contextmanager
    def chunks(self) -> Iterator[Iterable[Chunk]]:
        """All chunks with padding between them; each is valid until the next is asked for."""
        if not self._is_fetched:
            yield cast("list[Chunk]", self._chunks)
            return
        with closing(fetched_chunks(self._chunks)) as chunks:
            yield chunks


@dataclass(slots=True)
class Message:
    """One message to be written."""

    kind: int  #: A `MessageHeader` value.
    header: Record | Encoded
    body: Body | None = None  #: The body; None for kinds that have none.
    #: Custom metadata, as `colkern.ipc.writing.schemas.pairs` gives it.
    metadata: list[Record] | None = None
    _encoded: bytes | None = field(default=None, init=False)

    def encode(self) -> bytes:
        """The metadata: a `Message` table, encoded once, when the body is complete."""
        if self._encoded is None:
            self._encoded = encode(
                MESSAGE,
                {
                    "version": MetadataVersion.V5,
                    "header_type": self.kind,
                    "header": self.header,
                    "bodyLength": 0 if self.body is None else self.body.size,
                    "custom_metadata": self.metadata,
                },
            )
        return self._encoded


def write_message(sink: Sink, message: Message, alignment: int = 8) -> tuple[int, int, int]:
    """Write a message with an aligned body; returns its offset, the size before the body, the body's."""
    body = message.body or Body(alignment)
    data = message.encode()
    start = sink.position
    padding = -(start + _PREFIX_BYTES + len(data)) % alignment
    prefix = CONTINUATION + _length(len(data) + padding)
    with body.chunks() as chunks:
        sink.write(itertools.chain([prefix, data, bytes(padding)], chunks))
    return start, _PREFIX_BYTES + len(data) + padding, body.size
