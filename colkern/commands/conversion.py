"""Reads tables in one format and writes them in another, batch by batch.

Parquet is read and written by pyarrow; batches pass through the PyCapsule interface uncopied.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO

from colkern import ipc
from colkern.arrays import RecordBatch, RecordBatchStream
from colkern.arrays.chunked import regrouped
from colkern.closing import OnFailure
from colkern.commands.failures import CommandError, UsageError, system_errors_of
from colkern.commands.files import Target, opened, source_of, writing
from colkern.errors import ColkernError, StreamError
from colkern.ipc.writing.data import carried_options
from colkern.ipc.writing.sinks import SinkFile
from colkern.names import why_missing
from colkern.operations import concat
from colkern.schema import Schema

_MAGIC = b"PAR1"


def is_parquet(source: Path | BinaryIO) -> bool:
    """Whether a path, or the file object of standard input, holds Parquet; consumes nothing."""
    if isinstance(source, Path):
        if not source.is_file():
            return False
        with source.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    peek = getattr(source, "peek", None)
    return peek is not None and peek(len(_MAGIC))[: len(_MAGIC)] == _MAGIC


@contextlib.contextmanager
def opened_parquet(
    name: str, source: Path | BinaryIO, *, unify_dictionaries: bool
) -> Iterator[RecordBatchStream]:
    """Yields the batches of a Parquet file; standard input is read into memory. See `opened_table`."""
    pa, pq = _pyarrow()
    with contextlib.ExitStack() as closing:
        try:
            place = source if isinstance(source, Path) else pa.BufferReader(source.read())
            file = closing.enter_context(pq.ParquetFile(place))
            stream = _stream(pa, file, unify_dictionaries)
        except (pa.ArrowException, OSError) as error:
            raise CommandError(f"{name}: {error}") from error
        try:
            yield stream
        except StreamError as error:
            raise CommandError(f"{name}: {error.strerror}") from error


def _stream(pa: ModuleType, file: Any, unify_dictionaries: bool) -> RecordBatchStream:
    from colkern.interchange import import_stream

    if unify_dictionaries and _has_dictionaries(pa, file.schema_arrow):
        return import_stream(file.read().unify_dictionaries())
    return import_stream(pa.RecordBatchReader.from_batches(file.schema_arrow, file.iter_batches()))


def _has_dictionaries(pa: ModuleType, schema: Iterable[Any]) -> bool:
    return any(
        pa.types.is_dictionary(field.type)
        or _has_dictionaries(pa, [field.type.field(i) for i in range(field.type.num_fields)])
        for field in schema
    )


def write_parquet(
    target: Path | BinaryIO,
    schema: Schema,
    batches: Iterable[RecordBatch],
    codec: str | None,
    level: int | None,
) -> None:
    """Write batches as a Parquet file, with a row group for each batch (or several, for a large one).

    Args:
        target: A path, at which the file appears when it is complete, or a binary file object.
        codec: "none", "lz4", "zstd"; None for pyarrow's default.
        level: The codec's level, or None.

    Raises:
        UsageError: If pyarrow is missing, or the codec has no levels in Parquet.
        ValueError: If pyarrow cannot write the schema or a value.
    """
    pa, pq = _pyarrow()
    if codec == "lz4" and level is not None:
        raise UsageError("--compression: lz4 has no levels in Parquet")
    options = {} if codec is None else {"compression": codec, "compression_level": level}
    with SinkFile(target) as file:
        try:
            writer = pq.ParquetWriter(file, pa.schema(schema), **options)
            # pyarrow writes the footer when it closes a writer; here that must not complete the file.
            with OnFailure(file.abandon):
                for batch in batches:
                    writer.write_batch(pa.record_batch(batch))
            writer.close()
        except pa.ArrowException as error:
            raise ValueError(str(error)) from error


def _pyarrow() -> tuple[ModuleType, ModuleType]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise UsageError(f"Parquet: {why_missing(error, 'pyarrow')}") from error
    return pyarrow, pyarrow.parquet


@dataclass(slots=True)
class Table:
    """A table to write.

    Args:
        footer_metadata: Custom metadata of an Arrow file.
        options: Options of the writer that keep shared dictionaries and the metadata of messages.
    """

    schema: Schema
    batches: Iterator[RecordBatch]
    footer_metadata: Mapping[bytes, bytes] | None = None
    options: dict[str, object] = field(default_factory=dict)


@contextlib.contextmanager
def opened_table(name: str, *, unify_dictionaries: bool) -> Iterator[Table]:
    """Yields the table in an Arrow file, an Arrow stream or a Parquet file; - is standard input."""
    # With `unify_dictionaries`, all batches of Parquet get the same dictionaries, so the file is read
    # whole.
    source = source_of(name)
    if is_parquet(source):
        with opened_parquet(name, source, unify_dictionaries=unify_dictionaries) as stream:
            yield Table(stream.schema, stream)
    else:
        with opened(name) as reader:
            metadata = reader.metadata if isinstance(reader, ipc.FileReader) else None
            yield Table(reader.schema, iter(reader), metadata, carried_options(reader))


class Counts(Iterator[RecordBatch]):
    """Passes batches through, and counts batches and rows."""

    def __init__(self, batches: Iterator[RecordBatch], source: str) -> None:
        self._counted = batches
        self._source = source
        self.batches = 0
        self.rows = 0

    def __next__(self) -> RecordBatch:
        with system_errors_of(self._source):
            batch = next(self._counted)
        self.batches += 1
        self.rows += batch.num_rows
        return batch


def rechunked(batches: Iterable[RecordBatch], rows: int) -> Iterator[RecordBatch]:
    """As `regrouped`; a joined batch keeps the custom metadata that all its parts share."""
    return regrouped(batches, rows, _joined)


def _joined(parts: list[RecordBatch]) -> RecordBatch:
    first, *others = parts
    joined = concat(parts)
    same = all(other.metadata == first.metadata for other in others)
    metadata = first.metadata if same else None
    return RecordBatch(first.schema, joined.columns, joined.length, metadata)


def write_table(
    target: Target, table: Table, source: str, codec: str | None = None, level: int | None = None
) -> Counts:
    """Write a table; the file appears when it is complete."""
    table.batches = counts = Counts(table.batches, source)
    try:
        with writing(target.name, source):
            if target.format == "parquet":
                write_parquet(target.sink, table.schema, table.batches, codec, level)
            else:
                with _writer(target, table, codec, level) as writer:
                    writer.write(table.batches)
    except ColkernError:
        raise
    except ValueError as error:
        raise CommandError(f"{target.name}: {error}") from error
    return counts


def _writer(
    target: Target, table: Table, codec: str | None, level: int | None
) -> ipc.FileWriter | ipc.StreamWriter:
    options = {
        "compression": None if codec == "none" else codec,
        "compression_level": level,
        **table.options,
    }
    if target.format == "stream":
        return ipc.new_stream(target.sink, table.schema, **options)
    return ipc.new_file(target.sink, table.schema, metadata=table.footer_metadata, **options)
