"""Arrow IPC files and streams: their parts are record batches."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from colkern import ipc
from colkern import schema as s
from colkern.arrays import RecordBatch
from colkern.ipc import BatchSummary, FileReader, StreamReader
from colkern.memory import HOST, Device
from colkern.spark.source.contents import Contents, Part, Piece, Rows, naming
from colkern.spark.source.statistics import Bounds, Known, bounds_of


class ArrowFiles:
    """See `Files`. Raises InvalidArrowError, UnsupportedError, LimitExceededError."""

    def schema(self, path: str) -> s.Schema:
        """Returns the schema of a file or stream."""
        with opened(path) as reader:
            return reader.schema

    def contents(self, path: str) -> Contents:
        """Returns the schema and the record batches; no column is decoded."""
        with opened(path) as reader:
            parts = None
            if isinstance(reader, FileReader):
                batches = [summary for summary in reader.summaries() if summary.dictionary is None]
                parts = [_part(n, batch, reader.schema) for n, batch in enumerate(batches)]
            return Contents(path, reader.schema, parts)

    def rows(
        self, piece: Piece, wanted: s.Schema, device_of: Callable[[s.Schema], Device]
    ) -> Iterator[Rows]:
        """Yields the record batches. Columns are decoded when they are first read; on a device, all at
        once."""
        with opened(piece.path) as reader:
            device = device_of(reader.schema)
            if device == HOST:
                yield from _rows(reader, piece, device)
                return
            names = [name for name in wanted.names if name in reader.schema.names]
        with opened(piece.path, columns=names, device=device) as reader:
            yield from _rows(reader, piece, device)


@contextmanager
def opened(path: str, **options: Any) -> Iterator[FileReader | StreamReader]:
    """Yields a reader of a file, with options of `colkern.ipc.open`; errors raised within name the file."""
    with naming(path), ipc.open(path, **options) as reader:
        yield reader


def _rows(reader: FileReader | StreamReader, piece: Piece, device: Device) -> Iterator[Rows]:
    batches: Iterable[tuple[int, RecordBatch]] = enumerate(reader)
    if piece.parts is not None and isinstance(reader, FileReader):
        batches = ((where, reader.get_batch(where)) for where in piece.parts)
    for number, batch in batches:
        yield Rows(piece.path, batch, f"row {{}} of record batch {number}".format, device)


def _part(position: int, batch: BatchSummary, schema: s.Schema) -> Part:
    @functools.cache
    def bounds() -> Mapping[str, Bounds]:
        return bounds_of(batch.metadata, schema)

    def known(name: str, type_: s.DataType) -> Known:
        theirs = schema.field(name).type
        nulls = int(batch.null_counts[schema.index(name)])
        # Values of a dictionary may be null besides the nulls that are counted.
        encoded = isinstance(theirs.storage, s.Dictionary | s.RunEndEncoded | s.Union)
        counted = nulls >= 0 and not encoded
        # Bounds are for the values as the file stores them.
        own = bounds().get(name, Bounds()) if s.same_type(theirs, type_) else Bounds()
        return Known(type_, batch.length, nulls if counted else None, own)

    return Part(position, batch.length, batch.body_bytes, known)
