"""Results of row functions on their way into a column.

A sink is memory that results of any size are appended to: the address of three words, which are the address
of the memory, how many bytes are used, and how many there are.
"""

from __future__ import annotations

from numpy import int64

from colkern.kernels.kernel import helper
from colkern.kernels.primitives import get_word, set_word
from colkern.kernels.row_values import Bytes, Text, is_ascii
from colkern.kernels.text_words import SPILL, write_part


@helper
def put(sink: int64, address: int64, size: int64) -> int64:
    """Append bytes: where they begin in the sink; -1 if there is no room, and nothing is appended."""
    used = get_word(sink + int64(8))
    if used + size + SPILL > get_word(sink + int64(16)):
        return int64(-1)
    write_part(get_word(sink) + used, address, size)
    set_word(sink + int64(8), used + size)
    return used


@helper
def leave(sink: int64, row: int64, status: int64) -> bool:
    """Append a row that is left to Python, and the number of the place; false if there is no room."""
    used = get_word(sink + int64(8))
    if used + int64(16) > get_word(sink + int64(16)):
        return False
    word = get_word(sink) + used
    set_word(word, row)
    set_word(word + int64(8), status >> int64(8))
    set_word(sink + int64(8), used + int64(16))
    return True


@helper
def row_text(address: int64, size: int64, all_ascii: int64) -> Text:
    """A text of a column; `all_ascii` says that all texts of the column are ASCII."""
    return Text(address, size, all_ascii != 0 or is_ascii(address, size))


@helper
def row_bytes(address: int64, size: int64, all_ascii: int64) -> Bytes:
    """A byte string of a column."""
    return Bytes(address, size)
