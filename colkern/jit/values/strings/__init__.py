"""Byte strings inside jitted code, with the operations of `ByteString`."""

# Imported for what they teach Numba.
from colkern.jit.values.strings import comparisons, hashing, methods, utf8  # noqa: F401
from colkern.jit.values.strings.utf8 import cuts_a_character, require_utf8, utf8_length, write_utf8
from colkern.jit.values.strings.views import (
    ByteStringType,
    address_of,
    as_view,
    binary,
    binary_at,
    static_ascii,
    static_bytes,
    text,
    text_at,
)

__all__ = [
    "ByteStringType",
    "address_of",
    "as_view",
    "binary",
    "binary_at",
    "cuts_a_character",
    "require_utf8",
    "static_ascii",
    "static_bytes",
    "text",
    "text_at",
    "utf8_length",
    "write_utf8",
]
