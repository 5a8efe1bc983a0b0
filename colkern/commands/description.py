"""The document of `colkern info` about a file or stream: values for JSON and for tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from colkern.arrays import UNKNOWN
from colkern.commands.output import text_of
from colkern.layouts import layout

if TYPE_CHECKING:
    from colkern.ipc import BatchSummary, FileReader, StreamReader

Document: TypeAlias = dict[str, Any]
"""Plain values by name."""

KEYS = """\
keys of the JSON document:
  file                the name as given
  format              "file" or "stream"
  size                in bytes; from standard input or a pipe: for a stream, the bytes read; for a
                      file, null
  rows                in all record batches
  body_bytes          size of all bodies, padding and dictionaries included
  uncompressed_bytes  size of all buffers without compression and padding
  columns             a list: name, type, nullable, null_count (as stated in the batches; null if it
                      is not stated: unions, runs), dictionary (an id, or null), metadata
  metadata            the schema's custom metadata
  footer_metadata     the footer's custom metadata; null for a stream
  record_batches      a list: rows, body_bytes, uncompressed_bytes, compression ("lz4", "zstd" or
                      null), metadata
  dictionaries        a list: id, fields (paths), values (after all deltas), batches, deltas,
                      replacements, body_bytes, uncompressed_bytes
Custom metadata is an object, in which bytes that are not UTF-8 are written as \\xNN.
"""
"""The keys of `describe`'s documents, for the help."""


def describe(name: str, reader: StreamReader | FileReader, size: int | None) -> Document:
    """Describe a file or stream by its metadata; a stream is read to its end, no column is decoded.

    Args:
        name: The name in the document.
        reader: The reader of the file or stream.
        size: Its size in bytes, or None if that is known only after reading.

    Returns:
        The document that `KEYS` describes.

    Raises:
        InvalidArrowError: If a message is malformed.
    """
    from colkern.ipc import FileReader, StreamReader

    batches = _Batches(reader.dictionary_ids)
    for summary in reader.summaries():
        batches.add(summary)
    if size is None and isinstance(reader, StreamReader):
        size = reader.position
    parts = [*batches.record_batches, *batches.dictionaries.values()]
    return {
        "file": name,
        "format": "file" if isinstance(reader, FileReader) else "stream",
        "size": size,
        "rows": sum(batch["rows"] for batch in batches.record_batches),
        "body_bytes": sum(part["body_bytes"] for part in parts),
        "uncompressed_bytes": sum(part["uncompressed_bytes"] for part in parts),
        "columns": _columns(reader, batches.null_counts(len(reader.schema))),
        "metadata": _texts(reader.schema.metadata),
        "footer_metadata": _texts(reader.metadata) if isinstance(reader, FileReader) else None,
        "record_batches": batches.record_batches,
        "dictionaries": list(batches.dictionaries.values()),
    }


def _texts(metadata: Mapping[bytes, bytes] | None) -> dict[str, str]:
    return {text_of(key): text_of(value) for key, value in (metadata or {}).items()}


def _columns(reader: StreamReader | FileReader, null_counts: list[int | None]) -> list[Document]:
    ids = reader.dictionary_ids
    return [
        {
            "name": field.name,
            "type": str(field.type),
            "nullable": field.nullable,
            "null_count": null_count,
            "dictionary": ids.get(field.name) if layout(field.type).has_dictionary else None,
            "metadata": _texts(field.metadata),
        }
        for field, null_count in zip(reader.schema, null_counts, strict=True)
    ]


Counts = NDArray[np.int64]


class _Batches:
    """Sums over the summaries of the batches."""

    def __init__(self, dictionary_ids: dict[str, int]) -> None:
        self._paths: dict[int, list[str]] = {}
        for path, id_ in dictionary_ids.items():
            self._paths.setdefault(id_, []).append(path)
        self._nulls: Counts | None = None
        self.record_batches: list[Document] = []
        self.dictionaries: dict[int, Document] = {}

    def add(self, batch: BatchSummary) -> None:
        sizes = {"body_bytes": batch.body_bytes, "uncompressed_bytes": batch.uncompressed_bytes}
        if batch.dictionary is not None:
            self._add_dictionary(batch, batch.dictionary, sizes)
            return
        counts = batch.null_counts
        if self._nulls is not None:
            unknown = (self._nulls == UNKNOWN) | (counts == UNKNOWN)
            counts = np.where(unknown, UNKNOWN, self._nulls + counts)
        self._nulls = counts
        self.record_batches.append(
            {
                "rows": batch.length,
                **sizes,
                "compression": batch.compression,
                "metadata": _texts(batch.metadata),
            }
        )

    def _add_dictionary(self, batch: BatchSummary, id_: int, sizes: dict[str, int]) -> None:
        known = self.dictionaries.get(id_)
        if known is None:
            self.dictionaries[id_] = {
                "id": id_,
                "fields": self._paths.get(id_, []),
                "values": batch.length,
                "batches": 1,
                "deltas": 0,
                "replacements": 0,
                **sizes,
            }
            return
        known["values"] = known["values"] * batch.is_delta + batch.length
        known["batches"] += 1
        known["deltas" if batch.is_delta else "replacements"] += 1
        for key, size in sizes.items():
            known[key] += size

    def null_counts(self, columns: int) -> list[int | None]:
        """For each column, the null count that all batches state together, or None."""
        if self._nulls is None:
            return [0] * columns
        return [None if count == UNKNOWN else count for count in self._nulls.tolist()]
