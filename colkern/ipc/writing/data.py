"""Data for writers: batches, iterables of them, and objects of other libraries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, cast

from colkern.arrays import RecordBatch, RecordBatchStream, Table
from colkern.errors import ColkernError
from colkern.schema import Schema, same_type


def check_schema(schema: Schema, expected: Schema) -> None:
    """Raise `ValueError` unless names, types and nullability of a batch are those expected."""
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
    """Whether it has a method of the Arrow PyCapsule interface for that, on the host or on a device."""
    return hasattr(data, f"__arrow_c_{what}__") or hasattr(data, f"__arrow_c_device_{what}__")


def batches_of(data: object) -> Iterator[RecordBatch]:
    """The batches of data: batches, a mapping as `record_batch` takes it, or Arrow's capsules."""
    if isinstance(data, RecordBatch):
        yield data
    elif isinstance(data, Table):
        yield from data.batches
    elif isinstance(getattr(data, "schema", None), Schema):
        # A stream or a reader of colkern: its batches, with their metadata.
        yield from cast("RecordBatchStream", data)
    # A string's characters are strings again.
    elif isinstance(data, Sequence) and not isinstance(data, str | bytes):
        for item in data:
            yield from batches_of(item)
    elif isinstance(data, Mapping):
        from colkern.builders import record_batch

        yield record_batch(data)
    # One batch first: as a stream a batch without rows may be none.
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
    """The schema of some batches, and the batches. `ValueError` if nothing has the schema."""
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
    return first.schema, _chained(first, batches)


def carried_options(data: object) -> dict[str, Any]:
    """The ids and metadata of a reader's messages, as options of a writer; none for other data."""
    # The metadata of messages that cannot be read is left out: a file's batches can be good without.
    if not hasattr(data, "dictionary_ids"):
        return {}
    carried = {"dictionary_ids": data.dictionary_ids}
    for name in ("message_metadata", "dictionary_metadata"):
        with suppress(ColkernError):
            carried[name] = getattr(data, name)
    return carried


def _chained(first: RecordBatch, rest: Iterator[RecordBatch]) -> Iterator[RecordBatch]:
    yield first
    yield from rest
