"""Results of row functions on their way into a column.

A sink is memory that results of any size are appended to. It is the address of two words, as an arena is:
where the next bytes go, and where the memory ends. The bytes begin `HEADER` bytes behind that address.
"""

from __future__ import annotations

from numpy import int64

from colkern.kernels.kernel import helper
from colkern.kernels.primitives import get_word, set_word
from colkern.kernels.row_values import Bytes, Text
from colkern.kernels.text_words import SPILL, is_ascii, write_part

HEADER = 64
"""The bytes before those of a sink: results are aligned as Arrow has them."""

RESULTS = 16
"""Where in an arena's header the address of the sink is that texts are made in which are results."""


@helper
def write_at(sink: int64, place: int64, address: int64, size: int64) -> int64:
    """Write bytes at a place of a sink, if they are not there. The place behind; 0 if there is no room."""
    end = place + size
    if end + SPILL > get_word(sink + int64(8)):
        return int64(0)
    if address != place:
        write_part(place, address, size)
    return end


@helper
def put(sink: int64, address: int64, size: int64) -> int64:
    """Append bytes: where they begin; 0 if there is no room, and nothing is appended."""
    place = get_word(sink)
    end = write_at(sink, place, address, size)
    if end == 0:
        return int64(0)
    set_word(sink, end)
    return place


@helper
def leave(sink: int64, row: int64, status: int64) -> bool:
    """Append a row that is left to Python, and the number of the place; false if there is no room."""
    place = get_word(sink)
    if place + int64(16) > get_word(sink + int64(8)):
        return False
    set_word(place, row)
    set_word(place + int64(8), status >> int64(8))
    set_word(sink, place + int64(16))
    return True


@helper
def row_text(address: int64, size: int64, all_ascii: int64) -> Text:
    """A text of a column; `all_ascii` says that all texts of the column are ASCII."""
    return Text(address, size, all_ascii != 0 or is_ascii(address, size))


@helper
def row_bytes(address: int64, size: int64, all_ascii: int64) -> Bytes:
    """A byte string of a column."""
    return Bytes(address, size)
