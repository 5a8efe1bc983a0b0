"""Record batches into messages: nodes, buffers and counts, parents before children.

Columnar format 1.5: "RecordBatch message", "Variadic buffers", "Compression".
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import closing

import numpy as np

from colkern.arrays import Array
from colkern.cpu.threads import map_items
from colkern.ipc.compression import Codec
from colkern.ipc.enums import BodyCompressionMethod
from colkern.ipc.fields import WireField
from colkern.ipc.flatbuffer.tables import Record
from colkern.ipc.limits import Limits, refused_by_readers
from colkern.ipc.wire import BUFFER, FIELD_NODE
from colkern.ipc.writing.fetching import Chunk, fetched_buffers, is_on_device
from colkern.ipc.writing.messages import Body
from colkern.ipc.writing.residence import trimmed
from colkern.memory import EMPTY, Buffer


class _Parts:
    """The nodes, buffers and counts that a message lists of its columns."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.unbacked_length = 0
        self.nodes: list[tuple[int, int]] = []
        self.buffers: list[Buffer] = []
        self.counts: list[int] = []

    def add(self, array: Array, field: WireField) -> None:
        """Add a trimmed array and its children; a dictionary has messages of its own."""
        self.nodes.append((array.length, array.null_count))
        if array.length > self._limits.unbacked_length and not _is_backed(array):
            self.unbacked_length = max(self.unbacked_length, array.length)
        self.buffers += [EMPTY if buffer is None else buffer for buffer in array.buffers]
        if array.layout.variadic:
            self.counts.append(len(array.data_buffers))
        if field.dictionary is None:
            for child, below in zip(array.children, field.children, strict=True):
                self.add(child, below)


def batch_to_wire(
    columns: Sequence[Array],
    fields: Sequence[WireField],
    length: int,
    codec: Codec | None,
    body: Body,
    limits: Limits,
) -> Record:
    """The `RecordBatch` table of some columns, whose bytes are added to `body`."""
    # Slices are trimmed where they live: see `colkern.operations.trim`. What needs no trimming and no
    # compression is not copied; in device memory it stays there until the body is written.
    parts = _Parts(limits)
    for column, field in zip(columns, fields, strict=True):
        parts.add(trimmed(column, f"column {field.field.name!r}"), field)
    if codec is None:
        places = [body.add_buffer(buffer) for buffer in parts.buffers]
    else:
        compressed = _compressed(parts.buffers, codec)
        places = [body.add(chunks) for chunks in compressed]
        for chunks, (_, stored) in zip(compressed, places, strict=True):
            if chunks and not codec.is_plain(chunks[0], stored):
                body.decompressed_bytes += codec.uncompressed_size(chunks[0], stored)
    with refused_by_readers():
        limits.require_variadic_buffers(sum(parts.counts))
        limits.require_unbacked(parts.unbacked_length if columns else length, body.size)
    return {
        "length": length,
        "nodes": np.array(parts.nodes, FIELD_NODE),
        "buffers": np.array(places, BUFFER),
        "compression": _compression(codec),
        "variadicBufferCounts": np.array(parts.counts, np.int64) if parts.counts else None,
    }


def _is_backed(array: Array) -> bool:
    """Whether there are more bytes where there are more slots."""
    return array.layout.is_backed or (array.layout.has_validity and array.null_count > 0)


def _compression(codec: Codec | None) -> Record | None:
    if codec is None:
        return None
    return {"codec": codec.number, "method": BodyCompressionMethod.BUFFER}


def _compressed(buffers: Sequence[Buffer], codec: Codec) -> list[list[Chunk]]:
    """For each buffer the bytes that stand for it."""
    total = sum(buffer.size for buffer in buffers)
    if not any(map(is_on_device, buffers)):
        return map_items(codec.compress, buffers, total)
    return _compressed_from_devices(buffers, codec, total)


def _compressed_from_devices(
    buffers: Sequence[Buffer], codec: Codec, total: int
) -> list[list[Chunk]]:
    """As `_compressed`: one buffer is fetched while others are compressed."""
    from colkern.cuda import memory

    for device in {buffer.device for buffer in buffers}:
        # Threads that fetch do not know of this one's current stream.
        memory.finish(device)
    lock = threading.Lock()
    with closing(fetched_buffers(buffers)) as arriving:

        def compress_next(_: Buffer) -> tuple[int, list[Chunk]] | None:
            with lock:
                fetched = next(arriving, None)
            # None after another thread has failed to fetch one, and raises its error.
            return fetched and (fetched[0], codec.compress(fetched[1]))

        done = dict(filter(None, map_items(compress_next, buffers, total)))
    return [done[position] for position in range(len(buffers))]
