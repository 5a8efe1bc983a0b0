"""Streams and files that colkern or pyarrow has written, for tests that read them."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa

import colkern.ipc
from colkern import Array, RecordBatch, Schema

FORMATS = ("stream", "file")
CODECS = (None, "lz4", "zstd")


def written(batches: Any, fmt: str = "stream", **options: Any) -> bytes:
    sink = io.BytesIO()
    write = colkern.ipc.write_file if fmt == "file" else colkern.ipc.write_stream
    write(sink, batches, **options)
    return sink.getvalue()


def by_pyarrow(batches: list[pa.RecordBatch], fmt: str = "stream", **options: Any) -> bytes:
    """Written by pyarrow, with the options of its `IpcWriteOptions`."""
    sink = io.BytesIO()
    make = pa.ipc.new_file if fmt == "file" else pa.ipc.new_stream
    with make(sink, batches[0].schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return sink.getvalue()


def one_column(array: Array) -> RecordBatch:
    return RecordBatch(Schema([("x", array.type)]), [array])


class Counting(io.BytesIO):
    """Counts the bytes that are read."""

    count = 0

    def readinto(self, view: Any) -> int:
        self.count += memoryview(view).nbytes
        return super().readinto(view)
