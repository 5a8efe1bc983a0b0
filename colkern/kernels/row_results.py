"""Results of row functions on their way into a column.

A sink is memory that results of any size are appended to: the address of three words, which are the address
of the memory, how many bytes are used, and how many there are.
"""

from __future__ import annotations

from numpy import int64

from colkern.kernels.kernel import helper
from colkern.kernels.primitives import get_word, set_word
from colkern.kernels.row_items import BYTES, OPTIONAL, TEXT
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
def put_items(layout: int64, item_words: int64, header: int64, items: int64, data: int64) -> bool:
    """Append the items of a list to a sink of words, and the bytes of their texts to another.

    In the words of a text, the position in `data` takes the place of the address. False if there is no
    room; then parts may be appended.
    """
    count = get_word(header + int64(8))
    place = get_word(header)
    at = put(items, place, count * item_words * int64(8))
    if at < 0:
        return False
    base = get_word(items) + at
    for k in range(count):
        word = base + k * item_words * int64(8)
        rest = layout
        while rest != 0:
            part = rest & int64(15)
            rest >>= int64(4)
            if part == OPTIONAL and get_word(word) != 0 and rest & int64(14) == TEXT:
                # The words of what is None are anything.
                set_word(word + int64(8), get_word(data + int64(8)))
                set_word(word + int64(16), int64(0))
                word += int64(16)
                rest >>= int64(4)
            elif part in (TEXT, BYTES):
                size = get_word(word + int64(8))
                if part == TEXT:
                    size >>= int64(1)
                position = put(data, get_word(word), size)
                if position < 0:
                    return False
                set_word(word, position)
                set_word(word + int64(8), size)
                word += int64(8)
            word += int64(8)
    return True


@helper
def row_text(address: int64, size: int64, all_ascii: int64) -> Text:
    """A text of a column; `all_ascii` says that all texts of the column are ASCII."""
    return Text(address, size, all_ascii != 0 or is_ascii(address, size))


@helper
def row_bytes(address: int64, size: int64, all_ascii: int64) -> Bytes:
    """A byte string of a column."""
    return Bytes(address, size)
