"""UTF-8 validation of string arrays.

Columnar format 1.5: `Utf8`, `LargeUtf8`, `Utf8View`.
"""

from __future__ import annotations

import codecs
from typing import Any

from colkern.arrays import Array
from colkern.errors import UnsupportedError
from colkern.layouts import Role
from colkern.memory import HOST
from colkern.operations.convert import views_to_offsets

_CHUNK = 1 << 24


def first_invalid_utf8(array: Array) -> int | None:
    """The first valid slot of a string array that is not UTF-8, or None. Host memory only.

    The bytes are decoded as a whole, which is many times faster than value by value; then only the
    boundaries matter: a value that begins within a character begins with a continuation byte.

    Args:
        array: A utf8, large_utf8 or utf8_view array whose positions have been checked.
    """
    if array.device != HOST:
        raise UnsupportedError(
            f"UTF-8 validation of an array on {array.device}; copy it to the host"
        )
    if array.layout.variadic:
        return first_invalid_utf8(views_to_offsets(array, large=True))
    offsets = array.items(Role.OFFSETS)
    buffer = array.buffer(Role.BYTES)
    if buffer is None or offsets[0] == offsets[-1]:
        return None
    data = buffer.array[offsets[0] : offsets[-1]]
    if _is_utf8(data) and not _splits_a_character(buffer.array, offsets):
        return None
    return _search(array, buffer.array, offsets)


def _is_utf8(data: Any) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(data), _CHUNK):
            decoder.decode(data[start : start + _CHUNK].data)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _splits_a_character(data: Any, offsets: Any) -> bool:
    inner = offsets[(offsets > offsets[0]) & (offsets < offsets[-1])]
    return bool(((data[inner] & 0xC0) == 0x80).any())


def _search(array: Array, data: Any, offsets: Any) -> int | None:
    """Value by value, as bytes under a null may be anything."""
    for slot in range(array.length):
        value = data[offsets[slot] : offsets[slot + 1]]
        if not _is_utf8(value) and array.slice(slot, 1).null_count == 0:
            return slot
    return None
