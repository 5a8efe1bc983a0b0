"""Tables, read in one format and written in another, batch by batch."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from colkern import ipc
from colkern.arrays import RecordBatch
from colkern.commands.failures import CommandError, system_errors_of
from colkern.commands.files import Target, opened, source_of, writing
from colkern.commands.parquet import is_parquet, opened_parquet, write_parquet
from colkern.errors import ColkernError
from colkern.ipc.writing.data import carried_options
from colkern.operations import concat
from colkern.schema import Schema


@dataclass(slots=True)
class Table:
    """A table to write.

    Args:
        schema: The schema.
        batches: The batches.
        footer_metadata: Custom metadata of an Arrow file.
        options: Options of the writer that keep shared dictionaries and the metadata of messages.
    """

    schema: Schema
    batches: Iterator[RecordBatch]
    footer_metadata: Mapping[bytes, bytes] | None = None
    options: dict[str, object] = field(default_factory=dict)


@contextlib.contextmanager
def opened_table(name: str, *, unify_dictionaries: bool) -> Iterator[Table]:
    """The table in an Arrow file, an Arrow stream or a Parquet file; - is standard input."""
    # With `unify_dictionaries`, all batches of Parquet get the same dictionaries: it is read as a whole.
    source = source_of(name)
    if is_parquet(source):
        with opened_parquet(name, source, unify_dictionaries=unify_dictionaries) as stream:
            yield Table(stream.schema, stream)
    else:
        with opened(name) as reader:
            metadata = reader.metadata if isinstance(reader, ipc.FileReader) else None
            yield Table(reader.schema, iter(reader), metadata, carried_options(reader))


class Counts(Iterator[RecordBatch]):
    """Passes batches on, and counts them and their rows."""

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
    """The same rows in batches of `rows` each; the last one has the rest."""
    # Cut batches are not copied, joined ones are. A joined batch keeps the custom metadata that all its
    # parts share.
    parts: list[RecordBatch] = []
    held = 0
    for batch in batches:
        start = 0
        while start < batch.num_rows:
            part = batch.slice(start, rows - held)
            parts.append(part)
            start += part.num_rows
            held += part.num_rows
            if held == rows:
                yield _joined(parts)
                parts, held = [], 0
    if parts:
        yield _joined(parts)


def _joined(parts: list[RecordBatch]) -> RecordBatch:
    first, *others = parts
    if not others:
        return first
    joined = concat(parts)
    same = all(other.metadata == first.metadata for other in others)
    metadata = first.metadata if same else None
    return RecordBatch(first.schema, joined.columns, joined.length, metadata)


def write_table(
    target: Target,
    table: Table,
    source: str,
    codec: str | None = None,
    level: int | None = None,
) -> Counts:
    """Write a table; a file appears when it is whole."""
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
