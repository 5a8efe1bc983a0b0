"""Encapsulated messages (a length, metadata, a body), in a stream or at a place in a file.

Columnar format 1.5: "Encapsulated message format". Before 0.15 the length stood alone, without the
continuation marker in front of it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol

from colkern.errors import ColkernError, InvalidArrowError, UnsupportedError
from colkern.ipc.enums import CONTINUATION, MAGIC, MessageHeader, MetadataVersion
from colkern.ipc.flatbuffer.decoding import decode
from colkern.ipc.flatbuffer.tables import Record
from colkern.ipc.limits import Limits
from colkern.ipc.reading.sources import (
    Body,
    Memory,
    MemoryStream,
    Passing,
    RandomAccess,
    Sequential,
    ended_early,
)
from colkern.ipc.wire import MESSAGE
from colkern.key_values import metadata_of
from colkern.memory import Buffer

FIRST_BYTES = 8
"""The number of bytes examined. Every stream has more bytes, so reading them never waits in vain."""

_DECOMPRESS = "decompress it first, or pass a file object that does, such as that of {}.open(path)"
_BY_PYARROW = "read it with pyarrow.{}, and write the table with colkern.ipc.write_file"

_BY_COLKERN = "colkern.{} reads it as a table, whose write_ipc writes an Arrow file"

_OTHER_FORMATS: dict[bytes, tuple[str, str]] = {
    b"PAR1": (
        "Parquet data",
        "colkern.read_parquet reads it, and `colkern convert` makes an Arrow file of it",
    ),
    b"FEA1": ("Feather version 1 data", _BY_PYARROW.format("feather.read_table")),
    b"ORC": ("ORC data", _BY_PYARROW.format("orc.read_table")),
    b"Obj\x01": ("Avro data", "convert it to an Arrow file first"),
    b"\x1f\x8b": ("gzip data", _DECOMPRESS.format("gzip")),
    b"BZh": ("bzip2 data", _DECOMPRESS.format("bz2")),
    b"\xfd7zXZ": ("xz data", _DECOMPRESS.format("lzma")),
    b"\x28\xb5\x2f\xfd": ("Zstandard data", _DECOMPRESS.format("zstandard")),
    b"\x04\x22\x4d\x18": ("LZ4 data", _DECOMPRESS.format("lz4.frame")),
    b"PK\x03\x04": ("a zip archive", "extract the Arrow file first"),
}

_TEXT_FORMATS = (
    (b"{[", "JSON", _BY_COLKERN.format("read_json")),
    (b"<", "XML or HTML", "convert it to an Arrow file first"),
)
_OTHER_TEXT = ("CSV or other text", _BY_COLKERN.format("read_csv"))


def foreign_format(start: bytes) -> ColkernError | None:
    """The error for a source in another format; None if it may be an Arrow file or stream."""
    for magic, (name, advice) in _OTHER_FORMATS.items():
        if start.startswith(magic):
            return UnsupportedError(f"{name}, not an Arrow IPC file or stream: {advice}")
    # Fewer bytes may be the start of an Arrow file that was cut short.
    if start.startswith(MAGIC) or MAGIC.startswith(start) or not _is_text(start):
        return None
    name, advice = _text_format(start)
    return InvalidArrowError(
        f"neither an Arrow file nor a stream: it starts with {start!r}, like {name}; {advice}"
    )


def not_a_stream(start: bytes) -> ColkernError:
    """The error for a source whose first bytes do not begin a message."""
    if start.startswith(MAGIC):
        return InvalidArrowError(
            "an Arrow file, not a stream: open it with colkern.ipc.open_file, or open, which takes both"
        )
    return foreign_format(start) or InvalidArrowError(
        f"neither an Arrow file nor a stream: it starts with {start!r}"
    )


def not_a_file(start: bytes) -> ColkernError:
    """The error for a source that does not begin like a file."""
    if not start:
        return InvalidArrowError("not an Arrow file: the source is empty")
    if start.startswith(CONTINUATION):
        return InvalidArrowError(
            "an Arrow stream, not an Arrow file: open it with colkern.ipc.open_stream, or open, "
            "which takes both"
        )
    return foreign_format(start) or InvalidArrowError(
        f"not an Arrow file: it does not start with {MAGIC!r}, but with {start!r}"
    )


def _is_text(start: bytes) -> bool:
    """Whether bytes look like the start of a text."""
    # The length in front of a stream's first message is no text: metadata would have 150 MB or
    # more.
    try:
        text = start.decode()
    except UnicodeDecodeError as error:
        # A character may be cut off at the end.
        if error.end < len(start) or error.reason != "unexpected end of data":
            return False
        text = start[: error.start].decode()
    return bool(text) and all(c.isprintable() or c in "\t\r\n\ufeff" for c in text)


def _text_format(start: bytes) -> tuple[str, str]:
    first = start.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    for marks, name, advice in _TEXT_FORMATS:
        if first and first in marks:
            return name, advice
    return _OTHER_TEXT


# The number of tables around a field (message, schema) and below it (encoding, index type).
_TABLES_AROUND_TYPES = 5

# The most zeros in front of a tensor, which begins at a multiple of 64.
_MOST_PADDING = 63

_int32 = struct.Struct("<i").unpack_from

HEADER_NAMES = {
    MessageHeader.Schema: "schema",
    MessageHeader.DictionaryBatch: "dictionary batch",
    MessageHeader.RecordBatch: "record batch",
    MessageHeader.Tensor: "tensor",
    MessageHeader.SparseTensor: "sparse tensor",
}


class Message(NamedTuple):
    """One message."""

    kind: int  #: A `MessageHeader` value.
    header: Record
    version: int  #: A `MetadataVersion` value.
    metadata: Mapping[bytes, bytes] | None
    body: Body
    place: str  #: Where the message is, for errors.


class Messages(Protocol):
    """The messages of a stream, in order, whatever brought them."""

    @property
    def position(self) -> int:
        """The number of bytes taken so far."""

    def next(self) -> Message | None:
        """The next message with its body, or None at the end of the stream."""

    def settle_last(self) -> None:
        """Read the body of the last message into memory, so that it can be used after the next message."""

    def finish_last(self) -> None:
        """Skip the bytes of the last message's body that were not read."""


def max_table_depth(limits: Limits) -> int:
    """The limit on nested tables in a message or a footer."""
    return limits.nesting_depth + _TABLES_AROUND_TYPES


def key_values(pairs: list[Record] | None) -> Mapping[bytes, bytes] | None:
    """Custom metadata from `KeyValue` tables; None if there are none."""
    if not pairs:
        return None
    return metadata_of([(pair["key"] or b"", pair["value"] or b"") for pair in pairs])


def check_version(version: int, oldest: int = MetadataVersion.V4) -> None:
    """Raise `UnsupportedError` unless the metadata's version is from `oldest` to V5."""
    if not oldest <= version <= MetadataVersion.V5:
        raise UnsupportedError(
            f"metadata version V{version + 1}; colkern reads V4 (Arrow 0.8) and V5 (1.0 and later)"
        )


def decode_message(data: bytes, limits: Limits) -> Record:
    """The `Message` table of a message's metadata."""
    message = decode(MESSAGE, data, max_table_depth(limits))
    check_version(message["version"])
    if message["header"] is None:
        raise InvalidArrowError(f"message with a header of type {message['header_type']}")
    if message["bodyLength"] < 0:
        raise InvalidArrowError(f"message with a body of {message['bodyLength']} bytes")
    return message


def message_of(record: Record, body: Body, place: str) -> Message:
    """The message with a `Message` table and a body; `place` is its place for errors."""
    return Message(
        record["header_type"],
        record["header"],
        record["version"],
        key_values(record["custom_metadata"]),
        body,
        place,
    )


def check_metadata_size(size: int, limits: Limits) -> None:
    """Raise if the size of a message's metadata is negative, or over the limit."""
    if size < 0:
        raise InvalidArrowError(f"metadata of {size} bytes")
    limits.require_metadata(size)


class MessageStream:
    """The messages of a stream. `late` bodies stay in the source; zeros may precede `padded` messages."""

    def __init__(
        self, source: Sequential, limits: Limits, *, late: bool = False, padded: bool = False
    ) -> None:
        self._source = source
        self._limits = limits
        self._late = late
        self._padded = padded
        self._passing: tuple[Passing, str] | None = None
        self._number = 0

    @property
    def position(self) -> int:
        """The number of bytes taken from the source so far."""
        return self._source.position

    def next(self) -> Message | None:
        """The next message with its body, or None at the end of the stream."""
        self.finish_last()
        place = f"message {self._number} at byte {self._source.position}"
        try:
            size = self._metadata_size()
            if size == 0:
                return None
            record = decode_message(self._exactly(size, "metadata").tobytes(), self._limits)
            body = self._body(record["bodyLength"])
        except InvalidArrowError as error:
            raise error.at(place) from None
        self._number += 1
        if body.passing is not None:
            self._passing = body.passing, place
        return message_of(record, body, place)

    def settle_last(self) -> None:
        """Read the body of the last message into memory, so that it can be used after the next message."""
        self._in_last(Passing.settle)

    def finish_last(self) -> None:
        """Skip the bytes of the last message's body that were not read; raises as `settle_last`."""
        self._in_last(Passing.finish)
        self._passing = None

    def _in_last(self, move: Callable[[Passing], None]) -> None:
        if self._passing is None:
            return
        passing, place = self._passing
        try:
            move(passing)
        except InvalidArrowError as error:
            raise error.at(place) from None

    def _body(self, size: int) -> Body:
        if not self._late:
            return Body(Memory(self._exactly(size, "body")), 0, size)
        if isinstance(self._source, MemoryStream):
            return self._source.body(size)
        return Body(Passing(self._source, size), 0, size)

    def _metadata_size(self) -> int:
        """The length in front of the next message; 0 at the end of the stream, marked or not."""
        prefix = self._source.take(4).tobytes()
        if self._padded:
            prefix = self._behind_padding(prefix)
        if not prefix:
            return 0
        marked = prefix == CONTINUATION
        if marked:
            prefix = self._source.take(4).tobytes()
        if len(prefix) < 4:
            raise InvalidArrowError("the source ends within a message's length")
        size: int = _int32(prefix)[0]
        if self._number == 0 and not marked:
            foreign = foreign_format(prefix)
            if foreign is None and not 0 <= size <= self._limits.metadata_bytes:
                foreign = not_a_stream(prefix)
            if foreign is not None:
                raise foreign
        check_metadata_size(size, self._limits)
        return size

    def _behind_padding(self, taken: bytes) -> bytes:
        """The four bytes that follow zeros, which no message begins with."""
        zeros = 0
        while len(begun := taken.lstrip(b"\0")) < len(taken) and zeros < _MOST_PADDING:
            zeros += len(taken) - len(begun)
            taken = begun + self._source.take(4 - len(begun)).tobytes()
        return taken

    def _exactly(self, size: int, part: str) -> Buffer:
        taken = self._source.take(size)
        if taken.size < size:
            raise ended_early(taken.size, size, part)
        return taken


def read_message_at(
    source: RandomAccess, end: int, block: tuple[int, int, int], place: str, limits: Limits
) -> Message:
    """The message at a block of a file's footer; it must end before `end`. Its body is not read."""
    offset, size, body_size = block
    place = f"{place} at byte {offset}"
    try:
        if offset < 0 or size < 8 or body_size < 0 or offset + size + body_size > end:
            raise InvalidArrowError(
                f"block of {size} + {body_size} bytes where the messages end at byte {end}"
            )
        check_metadata_size(size, limits)
        data = source.read(offset, size).array.data
        prefix = 8 if data[:4] == CONTINUATION else 4
        stated: int = _int32(data, prefix - 4)[0]
        if stated != size - prefix:
            raise InvalidArrowError(
                f"the message states {stated} bytes of metadata, the footer {size - prefix}"
            )
        record = decode_message(data[prefix:].tobytes(), limits)
        if record["bodyLength"] != body_size:
            raise InvalidArrowError(
                f"the message states a body of {record['bodyLength']} bytes, "
                f"the footer one of {body_size}"
            )
    except InvalidArrowError as error:
        raise error.at(place) from None
    return message_of(record, Body(source, offset + size, body_size), place)
