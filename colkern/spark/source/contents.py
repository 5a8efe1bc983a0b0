"""The metadata of a file: its schema, and facts about its record batches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from colkern import ipc
from colkern.errors import ColkernError, InvalidArrowError
from colkern.ipc import BatchSummary, FileReader, StreamReader
from colkern.schema import Schema


@dataclass(frozen=True, slots=True)
class Contents:
    """The schema and record batches of a file; no batches for a stream, which has no footer."""

    path: str
    schema: Schema
    batches: list[BatchSummary] | None


def read_contents(path: str) -> Contents:
    """The schema and the record batches of an Arrow IPC file or stream; no column is decoded.

    Raises:
        InvalidArrowError, UnsupportedError, LimitExceededError: If it cannot be read; names the file.
    """
    with opened(path) as reader:
        batches = None
        if isinstance(reader, FileReader):
            batches = [summary for summary in reader.summaries() if summary.dictionary is None]
        return Contents(path, reader.schema, batches)


def read_schema(path: str) -> Schema:
    """The schema of a file; raises as `read_contents`."""
    with opened(path) as reader:
        return reader.schema


@contextmanager
def opened(path: str, **options: Any) -> Iterator[FileReader | StreamReader]:
    """A reader of a file, with options of `colkern.ipc.open`; errors on the way name the file."""
    try:
        with ipc.open(path, **options) as reader:
            yield reader
    except InvalidArrowError as error:
        raise error.at(path) from error
    except ColkernError as error:
        raise type(error)(f"{path}: {error}") from error
