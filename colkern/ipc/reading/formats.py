"""Sources that are not what they were opened as, told by their first bytes.

Files of other formats, text, Arrow files that are opened as streams, and streams that are opened as files.
"""

from __future__ import annotations

from colkern.errors import ColkernError, InvalidArrowError, UnsupportedError
from colkern.ipc.enums import CONTINUATION, MAGIC

FIRST_BYTES = 8
"""The number of bytes examined. Every stream has more, so none is waited for in vain."""

_DECOMPRESS = "decompress it first, or pass a file object that does, such as that of {}.open(path)"
_BY_PYARROW = "read it with pyarrow.{}, and write the table with colkern.ipc.write_file"

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
    (b"{[", "JSON", _BY_PYARROW.format("json.read_json")),
    (b"<", "XML or HTML", "convert it to an Arrow file first"),
)
_OTHER_TEXT = ("CSV or other text", _BY_PYARROW.format("csv.read_csv"))


def foreign_format(start: bytes) -> ColkernError | None:
    """The error for a source of another format; None if it may be an Arrow file or stream."""
    for magic, (name, advice) in _OTHER_FORMATS.items():
        if start.startswith(magic):
            return UnsupportedError(f"{name}, not an Arrow IPC file or stream: {advice}")
    # The start of an Arrow file may be all there is of one.
    if start.startswith(MAGIC) or MAGIC.startswith(start) or not _is_text(start):
        return None
    name, advice = _text_format(start)
    return InvalidArrowError(
        f"neither an Arrow file nor a stream: it starts with {start!r}, like {name}; {advice}"
    )


def not_a_stream(start: bytes) -> ColkernError:
    """The error for a source whose first bytes begin no message."""
    if start.startswith(MAGIC):
        return InvalidArrowError(
            "an Arrow file, not a stream: open it with colkern.ipc.open_file, or open, which takes both"
        )
    return foreign_format(start) or InvalidArrowError(
        f"neither an Arrow file nor a stream: it starts with {start!r}"
    )


def not_a_file(start: bytes) -> ColkernError:
    """The error for a source that does not begin as a file does."""
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
    """Whether bytes are the start of a text."""
    # The size in front of a stream's first message is no text: metadata would have 150 MB or more.
    try:
        text = start.decode()
    except UnicodeDecodeError as error:
        # A character may be cut at the end.
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
