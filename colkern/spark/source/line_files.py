"""Files of lines: text, and CSV, which pyarrow parses. Their parts are byte ranges.

A line belongs to the range that has its first byte. It ends with a line feed, a carriage return, or both.
Compressed files are read whole.
"""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO

import numpy as np
import pyarrow as pa
from pyarrow import csv

from colkern import schema as s
from colkern.arrays import RecordBatch
from colkern.interchange import import_array, import_batch, import_schema
from colkern.memory import Device
from colkern.spark.source.contents import Contents, Part, Piece, Rows, naming
from colkern.spark.source.options import ReadOptions

COMPRESSED = (".gz", ".bz2", ".zst", ".lz4")
"""The suffixes of the names of compressed files."""

LINES = s.Schema([s.field("value", s.utf8())])
"""The schema of text files."""

_BLOCK = 4 << 20
_FIRST_BYTES = 1 << 20
_LINE_END = re.compile(rb"\r\n?|\n")
_QUOTE = b'"'


class TextFiles:
    """Lines of text, in one column; see `Files`. Rows are put on the host."""

    def __init__(self, options: ReadOptions) -> None:
        self._options = options

    def schema(self, path: str) -> s.Schema:
        """Returns the schema of the one column of lines."""
        return LINES

    def contents(self, path: str) -> Contents:
        """Returns the byte ranges; reads nothing."""
        return Contents(path, self.schema(path), self._ranges(path))

    def _ranges(self, path: str) -> list[Part]:
        size, step = os.path.getsize(path), self._options.partition_bytes
        if not self._is_cut(path):
            step = max(size, 1)
        return [Part(start, None, min(step, size - start)) for start in range(0, size, step)]

    def _is_cut(self, path: str) -> bool:
        return not path.endswith(COMPRESSED)

    def rows(
        self, piece: Piece, wanted: s.Schema, device_of: Callable[[s.Schema], Device]
    ) -> Iterator[Rows]:
        """Yields the lines, some megabytes at a time."""
        device_of(LINES)
        for start, size, stream in self._streams(piece):
            first = 0
            for lines in _lines(stream, size):
                batch = RecordBatch(LINES, [import_array(lines)], len(lines))
                yield Rows(piece.path, batch, _line(piece.path, start, first))
                first += len(lines)

    def _streams(self, piece: Piece) -> Iterator[tuple[int, int | None, io.FileIO]]:
        """Yields the first byte and size of each range of a piece, and a stream at its start; or a whole
        file."""
        for where in piece.parts or ():
            with naming(piece.path):
                if not self._is_cut(piece.path):
                    with pa.input_stream(piece.path, compression="detect") as stream:
                        yield 0, None, stream
                    continue
                with open(piece.path, "rb", buffering=0) as file:
                    start = line_start(file, where)
                    stop = line_start(file, where + self._options.partition_bytes)
                    file.seek(start)
                    if start < stop:
                        yield start, stop - start, file


class CsvFiles(TextFiles):
    """Rows of values, parsed by pyarrow, on the host; fails if a range begins within quotes."""

    def schema(self, path: str) -> s.Schema:
        """Returns the names of the columns, and their types as the values of the first lines suggest."""
        with (
            naming(path),
            pa.input_stream(path, compression="detect") as stream,
            self._parsed(stream, self._options.column_names) as reader,
        ):
            fields = import_schema(reader.schema).fields
        # A column without values has no type.
        return s.Schema([f if f.type != s.null() else s.field(f.name, s.utf8()) for f in fields])

    def contents(self, path: str) -> Contents:
        """Returns the byte ranges; reads nothing."""
        return Contents(path, None, self._ranges(path))

    def _is_cut(self, path: str) -> bool:
        return super()._is_cut(path) and not self._options.multi_line

    def rows(
        self, piece: Piece, wanted: s.Schema, device_of: Callable[[s.Schema], Device]
    ) -> Iterator[Rows]:
        """Yields the values, some megabytes at a time; converts only the wanted columns."""
        schema = self.schema(piece.path)
        device_of(schema)
        names = schema.names
        types = {field.name: field.type for field in pa.schema(wanted) if field.name in names}
        for start, size, whole in self._streams(piece):
            stream: IO[bytes] = whole
            if size is not None:
                content = whole.read(size)
                if not content.strip(b"\r\n"):
                    # pyarrow refuses it.
                    continue
                _require_whole_values(content, piece.path, start)
                stream = io.BytesIO(content)
            # The first line of the file names the columns, unless an option does.
            header = schema.names if start else self._options.column_names
            first = 0
            place = f"{piece.path}, from byte {start} on"
            with naming(place), self._parsed(stream, header, types) as reader:
                for batch in reader:
                    yield Rows(piece.path, import_batch(batch), _row(start, first))
                    first += batch.num_rows

    def _parsed(
        self,
        stream: IO[bytes],
        names: Sequence[str] | None,
        types: Mapping[str, pa.DataType] | None = None,
    ) -> csv.CSVStreamingReader:
        """Returns a reader of the columns in `types`; None reads all columns, and infers their types."""
        return csv.open_csv(
            stream,
            csv.ReadOptions(
                use_threads=False,
                block_size=_FIRST_BYTES if types is None else _BLOCK,
                column_names=names,
            ),
            csv.ParseOptions(delimiter=self._options.delimiter, newlines_in_values=True),
            csv.ConvertOptions(column_types=types, include_columns=types and list(types)),
        )


def line_start(file: IO[bytes], position: int) -> int:
    """Returns the first byte, from a position on, that begins a line; the file's size if there is none."""
    if position == 0:
        return 0
    start = position - 1
    file.seek(start)
    seen = bytearray()
    searched = 0
    while more := file.read(_FIRST_BYTES):
        seen += more
        end = _LINE_END.search(seen, searched)
        # A line feed may follow a carriage return.
        if end and end.end() < len(seen):
            return start + end.end()
        searched = len(seen) - 1
    return start + len(seen)


def _lines(stream: io.FileIO, size: int | None) -> Iterator[pa.StringArray]:
    """Yields the lines of a stream, or of its next `size` bytes, some megabytes at a time."""
    # One buffer is enough, as pyarrow's strings are copies.
    buffer = bytearray(_BLOCK)
    filled = 0
    left = sys.maxsize if size is None else size
    while True:
        with memoryview(buffer) as view, view[filled : filled + left] as room:
            count = stream.readinto(room)
        left -= count
        filled += count
        # A line feed may follow a carriage return.
        end = buffer.rfind(b"\n", 0, filled) + 1 or buffer.rfind(b"\r", 0, max(filled - 1, 0)) + 1
        if not count:
            end = filled
        if end:
            yield _split(buffer, end)
            buffer[: filled - end] = buffer[end:filled]
            filled -= end
        if not count:
            return
        if filled == len(buffer):
            buffer = buffer + bytes(filled)


def _split(buffer: bytearray, end: int) -> pa.StringArray:
    """Returns the lines of a text without their ends; like Spark's strings, they may not be valid UTF-8."""
    text: memoryview | bytes = memoryview(buffer)[:end]
    if buffer.find(b"\r", 0, end) >= 0:
        text = bytes(text).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    ends = np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n"))
    if text[-1] != ord("\n"):
        ends = np.append(ends, len(text))
    # Lines and their ends become alternating strings; then the ends are dropped.
    offsets = np.empty(2 * len(ends) + 1, np.int32)
    offsets[0], offsets[1::2], offsets[2::2] = 0, ends, ends + 1
    offsets[-1] = len(text)
    parts = pa.StringArray.from_buffers(2 * len(ends), pa.py_buffer(offsets), pa.py_buffer(text))
    return parts.take(pa.array(np.arange(0, len(parts), 2)))


def _line(path: str, start: int, first: int) -> Callable[[int], str]:
    """Returns a function that names a row's line in the file; it counts the lines before byte `start`."""

    def place(row: int) -> str:
        with open(path, "rb", buffering=0) as file:
            before = sum(map(len, _lines(file, start)))
        return f"line {before + first + row + 1}"

    return place


def _row(start: int, first: int) -> Callable[[int], str]:
    return lambda row: f"row {first + row}" + (f" from byte {start} on" if start else "")


def _require_whole_values(content: bytes, path: str, start: int) -> None:
    if content.count(_QUOTE) % 2:
        raise ValueError(
            f"{path}: in the lines from byte {start} on, a quote is left open: a value may have several "
            f"lines, where the file cannot be cut; set the option multiLine to read it as a whole"
        )
