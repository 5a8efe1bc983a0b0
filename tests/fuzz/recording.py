"""A stream or a file taken apart into messages, and put together again.

Written for inputs that get damaged on purpose: what is put together need not be valid. Nothing of the
reader under test is used, apart from the description of the tables.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from flatbuf import MetadataVersion, read

from colkern import ColkernError
from colkern.ipc.flatbuffer.decoding import decode
from colkern.ipc.flatbuffer.encoding import encode
from colkern.ipc.flatbuffer.tables import Table, Tables
from colkern.ipc.wire import BLOCK, FOOTER, MESSAGE

CONTINUATION = b"\xff\xff\xff\xff"
END = CONTINUATION + bytes(4)
MAGIC = b"ARROW1"
SCHEMA, DICTIONARY, BATCH = 1, 2, 3
_DEPTH = 200


def records(table: Table, data: bytes) -> dict[str, Any]:
    """A FlatBuffer as plain dicts and lists, to change and to `encode` again.

    Raises:
        ColkernError: If it is damaged.
    """
    record: dict[str, Any] = _plain(decode(table, data, _DEPTH))
    return record


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(member) for name, member in value.items()}
    if isinstance(value, Tables | list):
        return [_plain(member) for member in value]
    return value


@dataclass(frozen=True, slots=True)
class Part:
    """A message: what stands in front of its metadata, the metadata, the body."""

    prefix: bytes
    metadata: bytes
    body: bytes

    @property
    def data(self) -> bytes:
        return self.prefix + self.metadata + self.body

    @property
    def kind(self) -> int:
        """The `MessageHeader` value; that of a batch where the metadata cannot be read."""
        try:
            return int(records(MESSAGE, self.metadata)["header_type"])
        except ColkernError:
            return BATCH

    def with_metadata(self, metadata: bytes) -> Part:
        """Other metadata, the length in front of it made right."""
        metadata += bytes(-len(metadata) % 8)
        return Part(CONTINUATION + struct.pack("<i", len(metadata)), metadata, self.body)


Parts = tuple[Part, ...]


def take_apart(stream: bytes) -> Parts:
    """The messages of a valid stream, with or without continuation markers."""
    parts = []
    position = 0
    while position < len(stream):
        prefix = 8 if stream.startswith(CONTINUATION, position) else 4
        (size,) = struct.unpack_from("<i", stream, position + prefix - 4)
        if size == 0:
            break
        start = position + prefix
        metadata = stream[start : start + size]
        body = read("Message", metadata)["bodyLength"]
        end = start + size + body
        parts.append(Part(stream[position:start], metadata, stream[start + size : end]))
        position = end
    return tuple(parts)


def as_stream(parts: Sequence[Part], end: bytes = END) -> bytes:
    """The messages as a stream."""
    return b"".join(part.data for part in parts) + end


def as_file(parts: Sequence[Part], schema: Part) -> bytes:
    """The messages as a file whose footer fits them.

    Args:
        parts: The messages.
        schema: Where the footer takes its schema from if the first message has none that decodes.
    """
    data = bytearray(MAGIC.ljust(8, b"\0"))
    blocks: dict[int, list[tuple[int, int, int]]] = {DICTIONARY: [], BATCH: []}
    for part in parts:
        block = len(data), len(part.prefix) + len(part.metadata), len(part.body)
        blocks.get(part.kind, []).append(block)
        data += part.data
    data += END
    footer = _footer(parts[0] if parts else schema, schema, blocks)
    return bytes(data) + footer + struct.pack("<i", len(footer)) + MAGIC


def _footer(first: Part, fallback: Part, blocks: dict[int, list[tuple[int, int, int]]]) -> bytes:
    slots = {
        "version": MetadataVersion.V5,
        "dictionaries": np.array(blocks[DICTIONARY], BLOCK),
        "recordBatches": np.array(blocks[BATCH], BLOCK),
    }
    for part in (first, fallback):
        try:
            message = records(MESSAGE, part.metadata)
            if message["header_type"] == SCHEMA:
                return encode(FOOTER, {**slots, "schema": message["header"]})
        except (ColkernError, KeyError, AttributeError, TypeError):
            # A type number that stands for no table, or a union without its value.
            continue
    raise ValueError("the schema to fall back on has none")


def with_body(part: Part, body: bytes) -> Part:
    """Another body, and the message says so."""
    message = records(MESSAGE, part.metadata)
    message["bodyLength"] = len(body)
    return replace(part.with_metadata(encode(MESSAGE, message)), body=body)
