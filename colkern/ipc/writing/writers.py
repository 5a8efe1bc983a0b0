"""The writers of the stream and the file format.

Columnar format 1.5: "IPC streaming format", "IPC file format".
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from itertools import chain
from typing import Any, Self

import numpy as np

from colkern.arrays import RecordBatch, Table
from colkern.closing import OnFailure
from colkern.forks import cached_property
from colkern.ipc.enums import FRONT_BYTES, MAGIC, MessageHeader, MetadataVersion
from colkern.ipc.flatbuffer.encoding import encode
from colkern.ipc.limits import refused_by_readers
from colkern.ipc.wire import BLOCK, FOOTER
from colkern.ipc.writing.batch_messages import BatchMessages
from colkern.ipc.writing.data import WriteOptions, batches_of, carried_options, with_schema
from colkern.ipc.writing.messages import END_OF_STREAM, Message, write_message
from colkern.ipc.writing.schemas import pairs
from colkern.ipc.writing.sinks import Sink, sink_of
from colkern.schema import Schema
from colkern.steps import steps

Block = tuple[int, int, int]


class _Writer:
    """The base of both writers: it writes the schema's message, batches, and their dictionaries."""

    _may_replace: bool

    def __init__(self, sink: object, schema: Schema, options: WriteOptions, deltas: bool) -> None:
        self.schema = schema
        self._options = options
        self._messages = BatchMessages(
            schema, options, deltas=deltas, may_replace=self._may_replace
        )
        self._sink: Sink | None = sink_of(sink)
        with OnFailure(self.abandon):
            self._begin()

    def _begin(self) -> None:
        self._write_message(self._messages.of_schema())

    def __repr__(self) -> str:
        return f"<colkern.ipc.{type(self).__name__}: {len(self.schema)} columns>\n{self.schema}"

    def _require_open(self) -> Sink:
        if self._sink is None:
            raise ValueError("the writer is closed")
        return self._sink

    def _write_message(self, message: Message) -> Block:
        return write_message(self._require_open(), message, self._options.alignment)

    def write(self, data: object) -> None:
        """Write record batches; their columns are not copied if that can be avoided.

        Columns may be in the memory of devices, also of several. They are trimmed there, and copied
        once, through page-locked memory to the sink, or to threads that compress them. The memory that
        the sink gets is reused once its `write` or `sendall` has returned. The bytes written are the
        same as for columns in host memory.

        A batch that is refused leaves the writer unchanged. If the sink fails, the writer is abandoned:
        see `abandon`.

        Args:
            data: A `RecordBatch`, an iterable of them (a reader is one), a dict of columns as
                `colkern.record_batch` takes it, or any object with Arrow's PyCapsule interface: a batch
                or table of pyarrow, polars, DuckDB …

        Raises:
            OSError: If the sink fails.
            ValueError: If a batch has another schema (names, types, nullability), the writer is closed,
                one column has bytes in several memories, or a dictionary would have to be replaced in
                a file.
            InvalidArrowError: If an array points outside its own memory.
            LimitExceededError: If a device is out of memory, or readers would refuse a batch: see
                `WriteOptions.reader_limits`.
            TypeError: If `data` is none of these, or its metadata is not of bytes.
        """
        for batch in steps(batches_of(data), "writing batches"):
            self._write_batch(batch)

    def _write_batch(self, batch: RecordBatch) -> None:
        self._require_open()
        messages = self._messages.of_batch(batch)
        # The sink may have half a message: nothing after it could be read.
        with OnFailure(self.abandon):
            for message in messages:
                self._write_message(message)

    def _end(self) -> None:
        """Write the end, after the last message."""
        assert self._sink is not None
        self._sink.write([END_OF_STREAM])

    def close(self) -> None:
        """Write the end, and give a file at a path its name. Further calls do nothing.

        The file is there completely or not at all, also if the process fails. Nothing is flushed to the
        disk, so this does not hold for a power cut.
        """
        if self._sink is None:
            return
        with OnFailure(self.abandon):
            self._end()
            self._sink.commit()
        self._sink = None

    def abandon(self) -> None:
        """Stop without writing the end, so that the data cannot be mistaken for complete.

        A file at a path does not appear; a stream lacks its end, a file its footer.
        """
        sink, self._sink = self._sink, None
        if sink is not None:
            sink.abandon()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        if kind is None:
            self.close()
        else:
            self.abandon()


class StreamWriter(_Writer):
    """Writes a stream; a context manager. See `new_stream`."""

    _may_replace = True

    def __init__(self, sink: object, schema: Schema, options: WriteOptions) -> None:
        super().__init__(sink, schema, options, deltas=False)


class FileWriter(_Writer):
    """Writes a file; a context manager. See `new_file`."""

    _may_replace = False

    def __init__(
        self,
        sink: object,
        schema: Schema,
        options: WriteOptions,
        metadata: Mapping[bytes, bytes] | None = None,
    ) -> None:
        self._metadata = pairs(metadata, "metadata")
        self._batches: list[Block] = []
        self._dictionaries: dict[int, list[Block]] = {}
        super().__init__(sink, schema, options, deltas=True)

    def _begin(self) -> None:
        assert self._sink is not None
        self._sink.write([MAGIC.ljust(FRONT_BYTES, b"\0")])
        super()._begin()

    def _write_batch(self, batch: RecordBatch) -> None:
        # The footer lists every batch; its limit is checked now, not on closing.
        listed = len(self._batches) + 1 + sum(map(len, self._dictionaries.values()))
        size = self._empty_footer_bytes + (listed + self._messages.dictionaries) * BLOCK.itemsize
        with refused_by_readers():
            self._options.reader_limits.require_metadata(size, "footer")
        super()._write_batch(batch)

    def _write_message(self, message: Message) -> Block:
        block = super()._write_message(message)
        if message.kind == MessageHeader.RecordBatch:
            self._batches.append(block)
        elif message.kind == MessageHeader.DictionaryBatch:
            header = message.header
            assert isinstance(header, dict)
            id_ = header["id"]
            if not header["isDelta"]:
                # Its earlier batches are only for readers that read message by message.
                self._dictionaries.pop(id_, None)
            self._dictionaries.setdefault(id_, []).append(block)
        return block

    def _dictionary_blocks(self) -> list[Block]:
        """The last full batch of each dictionary, and the deltas after it."""
        return sorted(chain.from_iterable(self._dictionaries.values()))

    def _footer(self, dictionaries: list[Block], batches: list[Block]) -> bytes:
        return encode(
            FOOTER,
            {
                "version": MetadataVersion.V5,
                "schema": self._messages.of_schema().header,
                "dictionaries": np.array(dictionaries, BLOCK),
                "recordBatches": np.array(batches, BLOCK),
                "custom_metadata": self._metadata,
            },
        )

    @cached_property
    def _empty_footer_bytes(self) -> int:
        return len(self._footer([], []))

    def _end(self) -> None:
        super()._end()
        footer = self._footer(self._dictionary_blocks(), self._batches)
        assert self._sink is not None
        self._sink.write([footer, struct.pack("<i", len(footer)), MAGIC])


def new_stream(sink: object, schema: Schema, **options: Any) -> StreamWriter:
    """A writer of an Arrow IPC stream.

    Args:
        sink: A path, a binary file object (not closed), or a socket. A file at a path gets its name
            when the writer is closed, and replaces an existing one.
        schema: The schema of every batch; its metadata, and that of its fields, is written.
        options: See `WriteOptions`.

    Raises:
        OSError: If the sink cannot be opened or written to.
        UnsupportedError: If IPC has no form for a type.
        LimitExceededError: If readers would refuse the schema: see `WriteOptions.reader_limits`.
        ValueError: If an option has a wrong value.
        TypeError: If `sink` is none of these, there is no such option, an option is of another type,
            or metadata is not of bytes.
    """
    return StreamWriter(sink, schema, WriteOptions(**options))


def new_file(
    sink: object, schema: Schema, *, metadata: Mapping[bytes, bytes] | None = None, **options: Any
) -> FileWriter:
    """A writer of an Arrow IPC file; see `new_stream`. `metadata` is custom metadata of the footer."""
    return FileWriter(sink, schema, WriteOptions(**options), metadata)


def write_stream(sink: object, data: object, **options: object) -> None:
    """Write record batches as a whole stream, from host or device memory.

    Arguments and errors are those of `new_stream` and of the writer's `write`. An iterable has one batch
    at least. Dictionary ids, and custom metadata of messages of the schema and of dictionaries, are
    copied from a reader.
    """
    schema, batches = with_schema(data)
    options = {**carried_options(data), **options}
    with new_stream(sink, schema, **options) as writer:
        writer.write(batches)


def write_file(
    sink: object, data: object, *, metadata: Mapping[bytes, bytes] | None = None, **options: object
) -> None:
    """Write record batches as a whole file, from host or device memory.

    The dictionaries of a table's column become one, since a file has one. See `write_stream` and
    `new_file`.
    """
    if isinstance(data, Table):
        # Imported late: most data has no dictionaries, or only one of each.
        from colkern.operations.dictionaries import with_one_dictionary

        data = with_one_dictionary(data)
    schema, batches = with_schema(data)
    options = {**carried_options(data), **options}
    with new_file(sink, schema, metadata=metadata, **options) as writer:
        writer.write(batches)
