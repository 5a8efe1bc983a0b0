"""The conversions and the comparison that Arrow's integration runner requests from an implementation.

Integration testing: "Strategy".
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import BinaryIO

from colkern import ipc
from colkern.arrays import RecordBatch
from colkern.errors import ColkernError, DifferenceError, UnsupportedError, placed
from colkern.integration.comparison import require_equal_batches, require_equal_schemas
from colkern.integration.documents import read_json, write_json
from colkern.operations import TypeRule

QUIRKS: dict[str, TypeRule] = {
    "no_decimal_validate": "decimals",
    "no_date64_validate": "dates",
    "no_times_validate": "times",
}
"""For each known mistake of old writers, the check of `validate` that is skipped for it."""

Source = str | os.PathLike[str] | BinaryIO
"""A path, or a binary file object."""


def json_to_file(json: Source, arrow: Source) -> None:
    """Write the batches of an integration JSON file as an Arrow file."""
    with _placed(json):
        document = read_json(json)
        ipc.write_file(arrow, document)


def arrow_to_json(arrow: Source, json: Source) -> None:
    """Write an Arrow file or stream as integration JSON, compressed if the path ends with `.gz`."""
    with _placed(arrow), ipc.open(arrow) as reader:
        write_json(json, reader.schema, reader)


def stream_to_file(stream: Source, file: Source) -> None:
    """Write the batches of an Arrow stream as an Arrow file, which cannot replace dictionaries."""
    with _placed(stream), ipc.open_stream(stream) as reader:
        try:
            ipc.write_file(file, reader)
        except ColkernError:
            raise
        except ValueError as error:
            # A stream may replace a dictionary, a file cannot.
            raise UnsupportedError(str(error)) from None


def file_to_stream(file: Source, stream: Source) -> None:
    """Write the batches of an Arrow file as an Arrow stream; raises like `stream_to_file`."""
    with _placed(file), ipc.open_file(file) as reader:
        ipc.write_stream(stream, reader)


def validate(json: Source, arrow: Source, quirks: Iterable[str] = ()) -> None:
    """Check that an Arrow file or stream is valid, and has the same contents as an integration JSON file.

    Args:
        quirks: Keys of `QUIRKS`.

    Raises:
        DifferenceError: If they differ; names the place and both values.
        InvalidArrowError: If one of them is malformed.
        OSError: If one cannot be read.
    """
    skip = tuple(QUIRKS[quirk] for quirk in quirks)
    with _placed(json):
        document = read_json(json)
    with _placed(arrow), ipc.open(arrow) as reader:
        require_equal_schemas(document.schema, reader.schema, "the JSON", "the Arrow data")
        count = 0
        for count, batch in enumerate(reader, 1):
            place = f"batch {count - 1}"
            with placed(place):
                batch.validate(full=True, skip=skip)
            if count <= len(document):
                _compare(document[count - 1], batch, place)
    if count != len(document):
        raise DifferenceError(f"{len(document)} batches in the JSON, {count} in the Arrow data")


def _compare(expected: RecordBatch, batch: RecordBatch, place: str) -> None:
    try:
        with placed(place):
            require_equal_batches(expected, batch, "the JSON", "the Arrow data")
    except DifferenceError as error:
        raise DifferenceError(f"{place}, {error}") from None


def _placed(source: Source) -> AbstractContextManager[None]:
    if isinstance(source, str | os.PathLike):
        return placed(os.fspath(source))
    return placed(str(getattr(source, "name", "input")))
