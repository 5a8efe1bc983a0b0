"""The writers of the stream and the file format.

Columnar format 1.5: "IPC streaming format", "IPC file format".
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal, Self

import numpy as np

from colkern.arrays import RecordBatch, RecordBatchStream
from colkern.ipc.compression import Codec, codec_named
from colkern.ipc.fields import WireSchema
from colkern.ipc.flatbuf.MessageHeader import MessageHeader
from colkern.ipc.flatbuf.MetadataVersion import MetadataVersion
from colkern.ipc.flatbuffer import Record, encode
from colkern.ipc.framing import FRONT_BYTES, MAGIC
from colkern.ipc.wire import BLOCK, FOOTER
from colkern.ipc.writing.batches import batch_to_wire
from colkern.ipc.writing.dictionaries import DictionaryBatch, WrittenDictionaries
from colkern.ipc.writing.messages import END_OF_STREAM, Body, write_message
from colkern.ipc.writing.schemas import pairs, schema_to_wire, wire_schema_of
from colkern.ipc.writing.sinks import Sink, sink_of
from colkern.schema import Schema, same_type

Alignment = Literal[8, 64]
Compression = Literal["lz4", "zstd"]
Block = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """How a writer writes; the keyword arguments of `new_stream` and `new_file`.

    Args:
        compression: "lz4" (LZ4 frames), "zstd", or None for plain buffers. A buffer that would not
            become smaller stays plain.
        compression_level: How hard; None for the codec's fast default (LZ4: 0, Zstandard: 1).
        alignment: Each buffer starts at a multiple of so many bytes: 64, as the format recommends,
            or 8, the least it allows.
        dictionary_deltas: Whether a dictionary that has grown is written as what came to it. None:
            in files, where nothing else is allowed; not in streams, as not every reader takes them.
        dictionary_ids: Path of a field (names with dots between) → id of its dictionary. Fields with
            one id share one dictionary, which is written once.
    """

    compression: Compression | None = None
    compression_level: int | None = None
    alignment: Alignment = 64
    dictionary_deltas: bool | None = None
    dictionary_ids: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.alignment not in (8, 64):
            raise ValueError(f"alignment: expected 8 or 64, got {self.alignment}")
        level = self.compression_level
        if level is not None and not isinstance(level, int):
            raise TypeError(f"compression_level: expected an int, got {type(level).__name__}")
        self.codec()

    def codec(self) -> Codec | None:
        """The codec; raises `ValueError` if there is no such codec or level."""
        return codec_named(self.compression, self.compression_level)


class _Writer:
    """What both formats share: the schema's message, batches, and the dictionaries before them."""

    _may_replace: bool

    def __init__(self, sink: Any, schema: Schema, options: WriteOptions, deltas: bool) -> None:
        self.schema = schema
        self._options = options
        self._codec = options.codec()
        self._wire: WireSchema = wire_schema_of(schema, options.dictionary_ids)
        header = schema_to_wire(self._wire)
        if options.dictionary_deltas is not None:
            deltas = options.dictionary_deltas
        self._dictionaries = WrittenDictionaries(deltas=deltas, may_replace=self._may_replace)
        self._sink: Sink | None = sink_of(sink)
        try:
            self._begin(header)
        except BaseException:
            self.abandon()
            raise

    def _begin(self, header: Record) -> None:
        self._message(MessageHeader.Schema, header)

    def __repr__(self) -> str:
        return f"<colkern.ipc.{type(self).__name__}: {len(self.schema)} columns>\n{self.schema}"

    def _require_open(self) -> Sink:
        if self._sink is None:
            raise ValueError("the writer is closed")
        return self._sink

    def _message(
        self,
        kind: int,
        header: Record,
        body: Body | None = None,
        metadata: list[Record] | None = None,
    ) -> Block:
        sink = self._require_open()
        return write_message(sink, kind, header, body, metadata, self._options.alignment)

    def write(self, data: Any) -> None:
        """Write record batches; their columns are written as they are, not copied where that can be.

        Columns may be in device memory, all or some of them, and of several devices. They are trimmed
        there; what belongs to them is copied once, through page-locked memory and straight on to the
        sink, or to threads that compress it. The sink gets memory that has other bytes once its `write`
        or `sendall` has returned. What is written is what the same columns in host memory would give.

        A batch that is refused leaves the writer as it was. Where the sink itself fails, the writer is
        abandoned: see `abandon`.

        Args:
            data: A `RecordBatch`, an iterable of them (a reader is one), or any object with Arrow's
                PyCapsule interface: a batch or table of pyarrow, polars, DuckDB …

        Raises:
            OSError: If the sink fails.
            ValueError: If a batch has another schema (names, types, nullability), the writer is closed,
                one column has bytes in several memories, or a dictionary would have to be replaced in
                a file.
            InvalidArrowError: If an array points outside its own memory.
            LimitExceededError: If a device is out of memory.
            TypeError: If `data` is nothing of the kind, or its metadata is not of bytes.
        """
        for batch in _batches_of(data):
            self._write_batch(batch)

    def _write_batch(self, batch: RecordBatch) -> None:
        self._require_open()
        _check_schema(batch.schema, self.schema)
        columns, fields = batch.columns, self._wire.fields
        # All that can be refused is found before the first byte is written.
        due = self._dictionaries.due(columns, fields)
        prepared = [self._dictionary_message(dictionary) for dictionary in due]
        body = Body(self._options.alignment)
        header = batch_to_wire(columns, fields, batch.num_rows, self._codec, body)
        metadata = pairs(batch.metadata, "data.metadata")
        try:
            for dictionary, (its_header, its_body) in zip(due, prepared, strict=True):
                self._write_dictionary(its_header, its_body)
                self._dictionaries.wrote(dictionary)
            self._write_rows(header, body, metadata)
        except BaseException:
            # Half a message may stand in the sink: nothing that comes behind it could be read.
            self.abandon()
            raise

    def _dictionary_message(self, batch: DictionaryBatch) -> tuple[Record, Body]:
        body = Body(self._options.alignment)
        fields = [batch.values_field()]
        data = batch_to_wire([batch.values], fields, batch.values.length, self._codec, body)
        return {"id": batch.id, "data": data, "isDelta": batch.is_delta}, body

    def _write_dictionary(self, header: Record, body: Body) -> Block:
        return self._message(MessageHeader.DictionaryBatch, header, body)

    def _write_rows(self, header: Record, body: Body, metadata: list[Record] | None) -> Block:
        return self._message(MessageHeader.RecordBatch, header, body, metadata)

    def _end(self) -> None:
        """Write what stands behind the last message."""
        assert self._sink is not None
        self._sink.write([END_OF_STREAM])

    def close(self) -> None:
        """Write the end. A file at a path gets its name now. Further calls do nothing.

        The file is there whole or not at all, also when the process fails in between. Nothing is
        flushed to the disk, so that does not hold for a power cut.
        """
        if self._sink is None:
            return
        try:
            self._end()
            self._sink.commit()
        except BaseException:
            self.abandon()
            raise
        self._sink = None

    def abandon(self) -> None:
        """Stop without an end: what was written cannot be mistaken for a whole.

        A file at a path does not appear; a stream lacks its end, a file its footer.
        """
        sink, self._sink = self._sink, None
        if sink is not None:
            sink.abandon()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.abandon()


class StreamWriter(_Writer):
    """Writes a stream; a context manager. See `new_stream`."""

    _may_replace = True

    def __init__(self, sink: Any, schema: Schema, options: WriteOptions) -> None:
        super().__init__(sink, schema, options, deltas=False)


class FileWriter(_Writer):
    """Writes a file; a context manager. See `new_file`."""

    _may_replace = False

    def __init__(
        self,
        sink: Any,
        schema: Schema,
        options: WriteOptions,
        metadata: Mapping[bytes, bytes] | None = None,
    ) -> None:
        self._metadata = pairs(metadata, "metadata")
        self._batch_blocks: list[Block] = []
        self._dictionary_blocks: list[Block] = []
        super().__init__(sink, schema, options, deltas=True)

    def _begin(self, header: Record) -> None:
        assert self._sink is not None
        self._sink.write([MAGIC.ljust(FRONT_BYTES, b"\0")])
        super()._begin(header)

    def _write_dictionary(self, header: Record, body: Body) -> Block:
        block = super()._write_dictionary(header, body)
        self._dictionary_blocks.append(block)
        return block

    def _write_rows(self, header: Record, body: Body, metadata: list[Record] | None) -> Block:
        block = super()._write_rows(header, body, metadata)
        self._batch_blocks.append(block)
        return block

    def _end(self) -> None:
        super()._end()
        footer = encode(
            FOOTER,
            {
                "version": MetadataVersion.V5,
                "schema": schema_to_wire(self._wire),
                "dictionaries": np.array(self._dictionary_blocks, BLOCK),
                "recordBatches": np.array(self._batch_blocks, BLOCK),
                "custom_metadata": self._metadata,
            },
        )
        assert self._sink is not None
        self._sink.write([footer, struct.pack("<i", len(footer)), MAGIC])


def _check_schema(found: Schema, expected: Schema) -> None:
    if found is expected:
        return
    if len(found) != len(expected):
        raise ValueError(f"data: a batch of {len(found)} columns, the schema has {len(expected)}")
    for position, (ours, theirs) in enumerate(zip(expected, found, strict=True)):
        if ours is theirs:
            continue
        same = ours.name == theirs.name and ours.nullable == theirs.nullable
        if not same or not same_type(ours.type, theirs.type):
            raise ValueError(f"data: column {position} is {theirs}, the schema has {ours}")


def _gives(data: Any, what: str) -> bool:
    """Whether it has a method of the Arrow PyCapsule interface for that, on the host or on a device."""
    return hasattr(data, f"__arrow_c_{what}__") or hasattr(data, f"__arrow_c_device_{what}__")


def _batches_of(data: Any) -> Iterator[RecordBatch]:
    if isinstance(data, RecordBatch):
        yield data
    # A string's characters are strings again.
    elif isinstance(data, RecordBatchStream | Sequence) and not isinstance(data, str | bytes):
        for item in data:
            yield from _batches_of(item)
    # One batch first: as a stream a batch without rows may be none.
    elif _gives(data, "array"):
        from colkern.interchange import import_batch

        yield import_batch(data)
    elif _gives(data, "stream"):
        from colkern.interchange import import_stream

        yield from import_stream(data)
    elif isinstance(data, Iterable) and not isinstance(data, str | bytes):
        for item in data:
            yield from _batches_of(item)
    else:
        raise TypeError(
            f"data: expected record batches or an object with Arrow's PyCapsule interface, "
            f"got {type(data).__name__}"
        )


def new_stream(sink: Any, schema: Schema, **options: Any) -> StreamWriter:
    """A writer of an Arrow IPC stream.

    Args:
        sink: A path, a binary file object (not closed), or a socket. A file at a path gets its name
            when the writer is closed, and takes the place of one that is there.
        schema: The schema of every batch; its metadata and that of its fields is written.
        options: See `WriteOptions`.

    Raises:
        OSError: If the sink cannot be opened or written to.
        UnsupportedError: If IPC has no form for a type.
        ValueError: If an option is not right.
        TypeError: If `sink` is none of these, there is no such option, an option is of another type,
            or metadata is not of bytes.
    """
    return StreamWriter(sink, schema, WriteOptions(**options))


def new_file(
    sink: Any, schema: Schema, *, metadata: Mapping[bytes, bytes] | None = None, **options: Any
) -> FileWriter:
    """A writer of an Arrow IPC file; see `new_stream`.

    Args:
        sink: A path, a binary file object (not closed), or a socket.
        schema: The schema of every batch.
        metadata: Custom metadata of the footer.
        options: See `WriteOptions`.
    """
    return FileWriter(sink, schema, WriteOptions(**options), metadata)


def write_stream(sink: Any, data: Any, **options: Any) -> None:
    """Write record batches as a whole stream, from host or device memory.

    See `new_stream` and the writer's `write`.

    Args:
        sink: A path, a binary file object, or a socket.
        data: A batch, an iterable of batches (at least one), a reader, or an object with Arrow's
            PyCapsule interface.
        options: See `WriteOptions`.
    """
    schema, batches = _with_schema(data)
    with new_stream(sink, schema, **options) as writer:
        writer.write(batches)


def write_file(
    sink: Any, data: Any, *, metadata: Mapping[bytes, bytes] | None = None, **options: Any
) -> None:
    """Write record batches as a whole file, from host or device memory.

    See `write_stream` and `new_file`.
    """
    schema, batches = _with_schema(data)
    with new_file(sink, schema, metadata=metadata, **options) as writer:
        writer.write(batches)


def _with_schema(data: Any) -> tuple[Schema, Iterator[RecordBatch]]:
    """The schema of some batches, and the batches."""
    if isinstance(getattr(data, "schema", None), Schema):
        return data.schema, _batches_of(data)
    if _gives(data, "stream") and not _gives(data, "array"):
        from colkern.interchange import import_stream

        stream = import_stream(data)
        return stream.schema, iter(stream)
    batches = _batches_of(data)
    first = next(batches, None)
    if first is None:
        raise ValueError("data: no batch, so no schema; use new_stream or new_file with one")
    return first.schema, _chained(first, batches)


def _chained(first: RecordBatch, rest: Iterator[RecordBatch]) -> Iterator[RecordBatch]:
    yield first
    yield from rest
