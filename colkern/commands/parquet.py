"""Parquet, read and written by pyarrow; batches pass through the PyCapsule interface uncopied."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, BinaryIO

from colkern.arrays import RecordBatch, RecordBatchStream
from colkern.commands.failures import CommandError, UsageError
from colkern.errors import StreamError
from colkern.ipc.writing.sinks import Sink, sink_of
from colkern.names import why_missing
from colkern.schema import Schema

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

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
    """The batches of a Parquet file; standard input is read into memory whole. See `opened_table`."""
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
    """Write batches as a Parquet file, one row group a batch (or more, of a large one).

    Args:
        target: A path, which gets its file when that is whole, or a binary file object.
        schema: The schema.
        batches: The batches.
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
    sink = sink_of(target)
    file = _SinkFile(sink)
    writer = None
    try:
        writer = pq.ParquetWriter(file, pa.schema(schema), **options)
        for batch in batches:
            writer.write_batch(pa.record_batch(batch))
        writer.close()
        sink.commit()
    except BaseException as error:
        # pyarrow writes the footer when it closes a writer: that must not complete the file.
        file.discard = True
        if writer is not None:
            writer.close()
        sink.abandon()
        if isinstance(error, pa.ArrowException):
            raise ValueError(str(error)) from error
        raise


class _SinkFile(io.RawIOBase):
    """A sink as a binary file object."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self.discard = False
        """Whether further bytes are dropped."""

    def writable(self) -> bool:
        return True

    def write(self, data: ReadableBuffer) -> int:
        view = memoryview(data)
        if not self.discard:
            self._sink.write([view])
        return view.nbytes

    def tell(self) -> int:
        return self._sink.position


def _pyarrow() -> tuple[ModuleType, ModuleType]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise UsageError(f"Parquet: {why_missing(error, 'pyarrow')}") from error
    return pyarrow, pyarrow.parquet
