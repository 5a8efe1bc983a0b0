"""Record batches into messages: nodes, buffers and counts, parents before children.

Columnar format 1.5: "RecordBatch message", "Variadic buffers", "Compression".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from colkern.arrays import Array
from colkern.cpu.threads import map_items
from colkern.ipc.compression import Codec
from colkern.ipc.fields import WireField
from colkern.ipc.flatbuf.BodyCompressionMethod import BodyCompressionMethod
from colkern.ipc.flatbuffer import Record
from colkern.ipc.wire import BUFFER, FIELD_NODE
from colkern.ipc.writing.messages import Body
from colkern.memory import EMPTY, Buffer
from colkern.operations import trim
from colkern.slots import require_host


class _Parts:
    """What a message lists of some columns."""

    def __init__(self) -> None:
        self.nodes: list[tuple[int, int]] = []
        self.buffers: list[Buffer] = []
        self.counts: list[int] = []

    def add(self, array: Array, field: WireField) -> None:
        """Add a trimmed array and its children; a dictionary has messages of its own."""
        self.nodes.append((array.length, array.null_count))
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
) -> Record:
    """The `RecordBatch` table of some columns, whose bytes are added to `body`.

    Slices are trimmed: see `colkern.operations.trim`. What needs no trimming and no compression is
    not copied.

    Args:
        columns: Arrays of `length` slots, in host memory.
        fields: Their fields.
        length: The number of rows.
        codec: How to compress the buffers; None to leave them plain.
        body: Where their bytes go.

    Raises:
        ValueError: If a column is not in host memory.
        InvalidArrowError: If an array points outside its own memory.
    """
    parts = _Parts()
    for column, field in zip(columns, fields, strict=True):
        require_host(column, f"column {field.field.name!r}")
        parts.add(trim(column), field)
    places = [body.add(chunks) for chunks in _chunks(parts.buffers, codec)]
    return {
        "length": length,
        "nodes": np.array(parts.nodes, FIELD_NODE),
        "buffers": np.array(places, BUFFER),
        "compression": _compression(codec),
        "variadicBufferCounts": np.array(parts.counts, np.int64) if parts.counts else None,
    }


def _compression(codec: Codec | None) -> Record | None:
    if codec is None:
        return None
    return {"codec": codec.number, "method": BodyCompressionMethod.BUFFER}


def _chunks(buffers: Sequence[Buffer], codec: Codec | None) -> list[list[Any]]:
    """For each buffer the bytes that stand for it."""
    if codec is None:
        return [[buffer.array.data] if buffer.size else [] for buffer in buffers]
    return map_items(codec.compress, buffers, sum(buffer.size for buffer in buffers))
