"""Streams cut into the messages of the protocol by hand: pyarrow writes them, bytes are sliced here."""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


class SplitMessage(NamedTuple):
    """FlatBuffers bytes and the body; None where the message has none (a schema)."""

    metadata: bytes
    body: bytes | None

    def untagged(self, sequence: int) -> bytes:
        return struct.pack("<BI", 1, sequence) + self.metadata

    def array(self) -> NDArray[np.uint8]:
        assert self.body is not None
        return np.frombuffer(self.body, np.uint8)


def end_message(sequence: int) -> bytes:
    return struct.pack("<BI", 0, sequence)


def split(data: bytes) -> list[SplitMessage]:
    """The messages of an IPC stream, by its framing: continuation, length, metadata, body."""
    messages: list[SplitMessage] = []
    position = 0
    while True:
        continuation, size = struct.unpack_from("<Ii", data, position)
        assert continuation == 0xFFFFFFFF
        if size == 0:
            return messages
        message = pa.ipc.read_message(pa.py_buffer(data[position:]))
        metadata = data[position + 8 : position + 8 + size]
        length = 0 if message.body is None else message.body.size
        start = position + 8 + size
        body = None if message.type == "schema" else data[start : start + length]
        messages.append(SplitMessage(metadata, body))
        position = start + length


def example_stream(batches: int = 3) -> bytes:
    """A schema, a dictionary with deltas, and some batches."""
    sink = pa.BufferOutputStream()
    values = ["a", "b", "c", "d", "e"]
    dictionary = pa.dictionary(pa.int8(), pa.utf8())
    schema = pa.schema([("n", pa.int64()), ("s", pa.utf8()), ("d", dictionary)])
    options = pa.ipc.IpcWriteOptions(emit_dictionary_deltas=True)
    with pa.ipc.new_stream(sink, schema, options=options) as writer:
        for k in range(batches):
            indices = pa.array([0, k % 2, None], pa.int8())
            column = pa.DictionaryArray.from_arrays(indices, pa.array(values[: 2 + k % 4]))
            numbers = pa.array([k, None, 3], pa.int64())
            texts = pa.array(["x" * k, "", None])
            writer.write_batch(pa.record_batch([numbers, texts, column], schema=schema))
    result: bytes = sink.getvalue().to_pybytes()
    return result
