"""Tables on their way from one format to another, batch by batch."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from colkern import ipc
from colkern.arrays import RecordBatch
from colkern.commands.failures import CommandError
from colkern.commands.files import opened, source_of
from colkern.commands.parquet import is_parquet, opened_parquet, write_parquet
from colkern.errors import ColkernError
from colkern.ipc.writing.data import carried_options
from colkern.operations import concat
from colkern.schema import Schema


@dataclass(slots=True)
class Table:
    """What is converted.

    Args:
        schema: The schema.
        batches: The batches.
        footer_metadata: Custom metadata of an Arrow file.
        options: What the writer is to keep of the source: fields that share a dictionary go on doing
            so, and messages keep their metadata.
    """

    schema: Schema
    batches: Iterator[RecordBatch]
    footer_metadata: Mapping[bytes, bytes] | None = None
    options: dict[str, Any] = field(default_factory=dict)


@contextlib.contextmanager
def opened_table(name: str, *, unify_dictionaries: bool) -> Iterator[Table]:
    """The table in an Arrow file, an Arrow stream or a Parquet file.

    Args:
        name: Its name; - for standard input.
        unify_dictionaries: Give all batches of a Parquet file the same dictionaries; it is then read
            whole where it has any.

    Raises:
        UsageError: If the source is Parquet and pyarrow is missing.
        CommandError: If it is Parquet that pyarrow cannot read.
    """
    source = source_of(name)
    if is_parquet(source):
        with opened_parquet(name, source, unify_dictionaries=unify_dictionaries) as stream:
            yield Table(stream.schema, stream)
    else:
        with opened(name) as reader:
            metadata = reader.metadata if isinstance(reader, ipc.FileReader) else None
            yield Table(reader.schema, iter(reader), metadata, carried_options(reader))


class Counts(Iterator[RecordBatch]):
    """Hands on batches, and counts them and their rows.

    Args:
        batches: The batches.
        source: The name of what they are read from, for errors of the system.
    """

    def __init__(self, batches: Iterator[RecordBatch], source: str) -> None:
        self._counted = batches
        self._source = source
        self.batches = 0
        self.rows = 0

    def __next__(self) -> RecordBatch:
        try:
            batch = next(self._counted)
        except ColkernError:
            raise
        except OSError as error:
            raise CommandError(f"{self._source}: {error.strerror or error}") from error
        self.batches += 1
        self.rows += batch.num_rows
        return batch


def rechunked(batches: Iterable[RecordBatch], rows: int) -> Iterator[RecordBatch]:
    """The same rows in batches of `rows` each, the last one with what is left.

    A batch that is cut is not copied; one that is joined is. It keeps custom metadata that all its
    parts have.
    """
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
    columns = [concat([part.column(i) for part in parts]) for i in range(first.num_columns)]
    same = all(other.metadata == first.metadata for other in others)
    return RecordBatch(
        first.schema,
        columns,
        sum(part.num_rows for part in parts),
        first.metadata if same else None,
    )


Write = Callable[[Any, Table, str | None, int | None], None]
"""Writes a table: target, table, codec ("none" is one; None: not chosen), its level."""


def _write_file(target: Any, table: Table, codec: str | None, level: int | None) -> None:
    options = _write_options(table, codec, level)
    with ipc.new_file(target, table.schema, metadata=table.footer_metadata, **options) as writer:
        writer.write(table.batches)


def _write_stream(target: Any, table: Table, codec: str | None, level: int | None) -> None:
    with ipc.new_stream(target, table.schema, **_write_options(table, codec, level)) as writer:
        writer.write(table.batches)


def _write_options(table: Table, codec: str | None, level: int | None) -> dict[str, Any]:
    return {
        "compression": None if codec == "none" else codec,
        "compression_level": level,
        **table.options,
    }


def _write_parquet(target: Any, table: Table, codec: str | None, level: int | None) -> None:
    write_parquet(target, table.schema, table.batches, codec, level)


WRITERS: dict[str, Write] = {
    "file": _write_file,
    "stream": _write_stream,
    "parquet": _write_parquet,
}
"""By the name of the format, as `--to` has it."""
