"""Data and options in the forms that callers give to writers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Literal, cast

from colkern.arrays import RecordBatch, RecordBatchStream, Table
from colkern.errors import ColkernError
from colkern.ipc.compression import Codec, codec_named
from colkern.ipc.limits import DEFAULT_LIMITS, Limits
from colkern.schema import Schema, same_type

Alignment = Literal[8, 64]
Compression = Literal["lz4", "zstd"]


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """The options of a writer; the keyword arguments of `new_stream` and `new_file`.

    Args:
        compression: "lz4" (LZ4 frames), "zstd", or None for plain buffers. A buffer that would not
            become smaller is not compressed.
        compression_level: The codec's level; None for its fast default (LZ4: 0, Zstandard: 1).
        alignment: The start of each buffer is a multiple of this number of bytes: 64, as the format
            recommends, or 8, the least that it allows.
        dictionary_deltas: Whether to write only the new values of a dictionary that has grown. None:
            yes in files, which allow nothing else; not in streams, since not every reader supports
            deltas; and not if the values have a dictionary of their own, which Arrow C++ refuses.
            Otherwise the whole dictionary is written again.
        dictionary_ids: Path of a field (names with dots between) → id of its dictionary. Fields with
            one id share one dictionary, which is written once.
        message_metadata: Custom metadata of the schema's message; the schema's own metadata is
            `Schema.metadata`.
        dictionary_metadata: Dictionary id → custom metadata of its batches; looked up for each of them.
        reader_limits: The limits of readers. Data that would exceed one of them is refused with a
            `LimitExceededError` that names it, since readers would refuse it later.
    """

    compression: Compression | None = None
    compression_level: int | None = None
    alignment: Alignment = 64
    dictionary_deltas: bool | None = None
    dictionary_ids: Mapping[str, int] = field(default_factory=dict)
    message_metadata: Mapping[bytes, bytes] | None = None
    dictionary_metadata: Mapping[int, Mapping[bytes, bytes]] = field(default_factory=dict)
    reader_limits: Limits = DEFAULT_LIMITS

    def __post_init__(self) -> None:
        if self.alignment not in (8, 64):
            raise ValueError(f"alignment: expected 8 or 64, got {self.alignment}")
        level = self.compression_level
        if level is not None and not isinstance(level, int):
            raise TypeError(f"compression_level: expected an int, got {type(level).__name__}")
        if not isinstance(self.reader_limits, Limits):
            kind = type(self.reader_limits).__name__
            raise TypeError(f"reader_limits: expected Limits, got {kind}")
        self.codec()

    def codec(self) -> Codec | None:
        """The codec; raises `ValueError` if the codec or its level does not exist."""
        return codec_named(self.compression, self.compression_level)


def check_schema(schema: Schema, expected: Schema) -> None:
    """Raise `ValueError` unless names, types and nullability of a batch are the expected ones."""
    if schema is expected:
        return
    if len(schema) != len(expected):
        raise ValueError(f"data: a batch of {len(schema)} columns, the schema has {len(expected)}")
    for position, (ours, theirs) in enumerate(zip(expected, schema, strict=True)):
        if ours is theirs:
            continue
        same = ours.name == theirs.name and ours.nullable == theirs.nullable
        if not same or not same_type(ours.type, theirs.type):
            raise ValueError(f"data: column {position} is {theirs}, the schema has {ours}")


def _gives(data: object, what: str) -> bool:
    """Whether an object has a method of the Arrow PyCapsule interface for `what`, host or device."""
    return hasattr(data, f"__arrow_c_{what}__") or hasattr(data, f"__arrow_c_device_{what}__")


def batches_of(data: object) -> Iterator[RecordBatch]:
    """The batches in data: batches, a mapping as for `record_batch`, or objects with Arrow's capsules."""
    if isinstance(data, RecordBatch):
        yield data
    elif isinstance(data, Table):
        yield from data.batches
    elif isinstance(getattr(data, "schema", None), Schema):
        # A colkern stream or reader gives its batches, with their metadata.
        yield from cast("RecordBatchStream", data)
    # A string is a sequence of strings again.
    elif isinstance(data, Sequence) and not isinstance(data, str | bytes):
        for item in data:
            yield from batches_of(item)
    elif isinstance(data, Mapping):
        from colkern.builders import record_batch

        yield record_batch(data)
    # A single batch is tried first: as a stream, a batch without rows may give no batch.
    elif _gives(data, "array"):
        from colkern.interchange import import_batch

        yield import_batch(data)
    elif _gives(data, "stream"):
        from colkern.interchange import import_stream

        yield from import_stream(data)
    elif isinstance(data, Iterable) and not isinstance(data, str | bytes):
        for item in data:
            yield from batches_of(item)
    else:
        raise TypeError(
            f"data: expected record batches, a dict of columns or an object with Arrow's PyCapsule "
            f"interface, got {type(data).__name__}"
        )


def with_schema(data: object) -> tuple[Schema, Iterator[RecordBatch]]:
    """The schema of batches, and the batches; raises `ValueError` if there is no schema."""
    if isinstance(getattr(data, "schema", None), Schema):
        return cast("RecordBatchStream", data).schema, batches_of(data)
    if _gives(data, "stream") and not _gives(data, "array"):
        from colkern.interchange import import_stream

        stream = import_stream(data)
        return stream.schema, iter(stream)
    batches = batches_of(data)
    first = next(batches, None)
    if first is None:
        raise ValueError("data: no batch, so no schema; use new_stream or new_file with one")
    return first.schema, chain([first], batches)


def carried_options(data: object) -> dict[str, Any]:
    """The ids and metadata of a reader's messages, as options of a writer; empty for other data."""
    # Metadata of messages that cannot be read is left out: a file's batches can be fine without it.
    if not hasattr(data, "dictionary_ids"):
        return {}
    carried = {"dictionary_ids": data.dictionary_ids}
    for name in ("message_metadata", "dictionary_metadata"):
        with suppress(ColkernError):
            carried[name] = getattr(data, name)
    return carried
