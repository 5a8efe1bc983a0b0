"""Arrow's integration JSON files: reads and writes a schema, dictionaries and batches.

Integration testing: "JSON test data format".
"""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, overload

from colkern.arrays import RecordBatch
from colkern.errors import InvalidArrowError, LimitExceededError, placed
from colkern.integration.arrays_from_json import JsonDictionaries, named_array_from_json
from colkern.integration.arrays_to_json import WrittenDictionaries, column_to_json
from colkern.integration.json_schemas import schema_from_json, schema_to_json
from colkern.integration.json_values import Entry, Json
from colkern.ipc.writing.schemas import wire_schema_of
from colkern.schema import Schema

MAX_BYTES = 2**31
"""The size limit of a JSON file, decompressed."""

_GZIP = b"\x1f\x8b"


class JsonDocument(Sequence[RecordBatch]):
    """The batches of an integration JSON file; a batch is decoded when it is read."""

    def __init__(self, document: object) -> None:
        whole = Entry(document, "document")
        with placed("schema"):
            self._wire = schema_from_json(whole.entry("schema"))
        self._dictionaries = JsonDictionaries(_dictionary_columns(whole))
        self._batches = whole.entries("batches")

    @property
    def schema(self) -> Schema:
        """The schema of every batch."""
        return self._wire.schema

    def __len__(self) -> int:
        return len(self._batches)

    @overload
    def __getitem__(self, position: int) -> RecordBatch: ...
    @overload
    def __getitem__(self, position: slice) -> list[RecordBatch]: ...
    def __getitem__(self, position: int | slice) -> RecordBatch | list[RecordBatch]:
        """A batch by its position, or a list of batches by a slice."""
        if isinstance(position, slice):
            return [self[place] for place in range(*position.indices(len(self)))]
        if not -len(self) <= position < len(self):
            raise IndexError(f"batch {position} of {len(self)}")
        position %= len(self)
        with placed(f"batch {position}"):
            return self._batch(self._batches[position])

    def _batch(self, batch: Entry) -> RecordBatch:
        columns, fields = batch.entries("columns"), self._wire.fields
        if len(columns) != len(fields):
            raise InvalidArrowError(f"{len(columns)} columns for {len(fields)} fields")
        count = batch.integer("count")
        if count < 0:
            raise InvalidArrowError(f"a batch of {count} rows")
        arrays = [
            named_array_from_json(field, column, self._dictionaries)
            for field, column in zip(fields, columns, strict=True)
        ]
        return RecordBatch(self.schema, arrays, count)

    def __iter__(self) -> Iterator[RecordBatch]:
        return (self[position] for position in range(len(self)))


def _dictionary_columns(document: Entry) -> dict[int, Entry]:
    columns = {}
    for dictionary in document.entries("dictionaries", []):
        id_ = dictionary.integer("id")
        (*others, column) = dictionary.entry("data").entries("columns") or (None,)
        if others or column is None:
            raise InvalidArrowError("the data of a dictionary is one column", place=f"id {id_}")
        columns[id_] = column
    return columns


def read_json(source: str | os.PathLike[str] | BinaryIO) -> JsonDocument:
    """Read an integration JSON file.

    Args:
        source: A path or a binary file object; the file may be compressed with gzip.

    Raises:
        InvalidArrowError: If it is no JSON, or its schema is malformed.
        LimitExceededError: If it is larger than `MAX_BYTES` or nests too deep.
        OSError: If it cannot be read.
    """
    if isinstance(source, str | os.PathLike):
        with Path(source).open("rb") as file:
            raw = _read_all(file)
    else:
        raw = _read_all(source)
    try:
        return JsonDocument(json.loads(raw))
    except RecursionError:
        raise LimitExceededError("the JSON nests deeper than Python's json reads") from None
    except InvalidArrowError:
        raise
    except ValueError as error:
        raise InvalidArrowError(f"not a JSON file: {error}") from None


def _read_all(file: BinaryIO) -> bytes:
    raw = _limited(file)
    if not raw.startswith(_GZIP):
        return raw
    import io

    try:
        with gzip.open(io.BytesIO(raw)) as decompressed:
            return _limited(decompressed)  # type: ignore[arg-type]
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InvalidArrowError(f"malformed gzip data: {error}") from None


def _limited(file: BinaryIO) -> bytes:
    raw = file.read(MAX_BYTES + 1)
    if len(raw) > MAX_BYTES:
        raise LimitExceededError(
            f"more than {MAX_BYTES} bytes; colkern.integration.documents.MAX_BYTES sets the limit"
        )
    return raw


def document_of(schema: Schema, batches: Iterable[RecordBatch]) -> dict[str, Json]:
    """Returns the integration JSON of batches in host memory; UnsupportedError if JSON lacks a form."""
    wire = wire_schema_of(schema, {})
    dictionaries = WrittenDictionaries()
    entries: list[Json] = []
    for position, batch in enumerate(batches):
        with placed(f"batch {position}"):
            columns = [
                column_to_json(field, column, dictionaries)
                for field, column in zip(wire.fields, batch.columns, strict=True)
            ]
        entries.append({"count": batch.num_rows, "columns": columns})
    document: dict[str, Json] = {"schema": schema_to_json(wire), "batches": entries}
    if written := dictionaries.to_json():
        document["dictionaries"] = written
    return document


def write_json(
    sink: str | os.PathLike[str] | BinaryIO, schema: Schema, batches: Iterable[RecordBatch]
) -> None:
    """Write an integration JSON file of batches in host memory, compressed if the path ends with `.gz`."""
    text = json.dumps(document_of(schema, batches), ensure_ascii=False, allow_nan=False) + "\n"
    raw = text.encode()
    if not isinstance(sink, str | os.PathLike):
        sink.write(raw)
        return
    path = Path(sink)
    path.write_bytes(gzip.compress(raw, mtime=0) if path.suffix == ".gz" else raw)
