"""Characters of texts: how many there are, where they stand, and their code points.

A position is in bytes from the beginning of the text, an index in characters. In text that is known to be
ASCII they are the same.
"""

from __future__ import annotations

from numpy import int64, uint64

from colkern.kernels.kernel import apart, helper
from colkern.kernels.primitives import (
    get_byte,
    get_word,
    popcount,
    set_byte,
    set_word,
    shifted_right,
)
from colkern.kernels.row_lists import new_list
from colkern.kernels.row_values import (
    DONE,
    LEFT,
    NO_ROOM,
    TYPE_ERROR,
    VALUE_ERROR,
    Arena,
    Code,
    Text,
    allocate,
    set_text,
)
from colkern.kernels.text_words import ONES, near_word


@apart
@helper
def count_characters(address: int64, size: int64) -> int64:
    """The number of characters that begin in bytes of UTF-8."""
    later = int64(0)
    k = int64(0)
    while k < size:
        word = near_word(address + k, size - k)
        later += int64(popcount(uint64(shifted_right(word, int64(7)) & (~word >> 6) & ONES)))
        k += 8
    return size - later


@helper
def length(text: Text) -> int64:
    """The number of characters of a text."""
    return text.size if text.ascii else count_characters(text.address, text.size)


@helper
def size_at(address: int64) -> int64:
    """The size of the character of UTF-8 that begins at an address."""
    lead = get_byte(address)
    return 1 + int64(lead >= 0xC0) + int64(lead >= 0xE0) + int64(lead >= 0xF0)


@helper
def next_position(text: Text, position: int64) -> int64:
    """Where the character behind the one at a position begins."""
    return position + 1 if text.ascii else position + size_at(text.address + position)


@helper
def position_before(text: Text, position: int64) -> int64:
    """Where the character before a position begins."""
    position -= 1
    while get_byte(text.address + position) & 0xC0 == 0x80:
        position -= 1
    return position


@helper
def character_at(text: Text, position: int64) -> Text:
    """The character that begins at a position."""
    address = text.address + position
    size = int64(1) if text.ascii else size_at(address)
    return Text(address, size, size == 1)


@helper
def position_of(text: Text, index: int64) -> int64:
    """Where character `index` begins; the end of the text if it has just as many."""
    return index if text.ascii else position_after(text, index)


@apart
@helper
def position_after(text: Text, count: int64) -> int64:
    """Where the first characters of a text end, `count` of any size."""
    position = int64(0)
    while count > 0:
        # A word has as many characters as it has first bytes, none of which may be passed.
        if count >= 8 and position + 8 <= text.size:
            count -= count_characters(text.address + position, int64(8))
            position += 8
        else:
            count -= int64(get_byte(text.address + position) & 0xC0 != 0x80)
            position += 1
    while position < text.size and get_byte(text.address + position) & 0xC0 == 0x80:
        position += 1
    return position


@helper
def index_of(text: Text, position: int64) -> int64:
    """The index of the character that begins at a position."""
    return position if text.ascii else count_characters(text.address, position)


@helper
def code_at(address: int64) -> int64:
    """The code point of the character that begins at an address."""
    lead = get_byte(address)
    if lead < 0x80:
        return lead
    code = get_byte(address + 1) & 0x3F
    if lead < 0xE0:
        return (lead & 0x1F) << 6 | code
    code = code << 6 | get_byte(address + 2) & 0x3F
    if lead < 0xF0:
        return (lead & 0x0F) << 12 | code
    return (lead & 0x07) << 18 | code << 6 | get_byte(address + 3) & 0x3F


@helper
def ord_of(text: Text) -> tuple[int64, Code]:
    """`ord(text)`."""
    if text.size == 0 or size_at(text.address) != text.size:
        return int64(0), TYPE_ERROR
    return code_at(text.address), DONE


@helper
def put_character(address: int64, code: int64) -> int64:
    """Write the UTF-8 of a code point to an address; its size."""
    if code < 0x80:
        set_byte(address, code)
        return int64(1)
    size = 2 + int64(code > 0x7FF) + int64(code > 0xFFFF)
    for k in range(size - 1):
        set_byte(address + size - 1 - k, 0x80 | (code >> (6 * k)) & 0x3F)
    set_byte(address, (0xF00 >> size) & 0xFF | code >> (6 * (size - 1)))
    return size


@helper
def chr_of(arena: Arena, code: int64) -> tuple[Text, Code]:
    """`chr(code)`; surrogates, which UTF-8 does not have, are left."""
    if code < 0 or code > 0x10FFFF:
        # An integer of more than 32 bits is another error.
        is_small = code >> 31 == 0 or code >> 31 == -1
        return Text(arena, int64(0), True), VALUE_ERROR if is_small else LEFT
    if code >> 11 == 0x1B:
        return Text(arena, int64(0), True), LEFT
    address = allocate(arena, int64(8))
    if address == 0:
        return Text(arena, int64(0), True), NO_ROOM
    size = put_character(address, code)
    return Text(address, size, size == 1), DONE


@helper
def characters(arena: Arena, text: Text) -> tuple[int64, Code]:
    """`list(text)`."""
    count = length(text)
    header = new_list(arena, int64(2), count)
    if header == 0:
        return header, NO_ROOM
    set_word(header + 8, count)
    items = get_word(header)
    position = int64(0)
    for k in range(count):
        character = character_at(text, position)
        set_text(items + 16 * k, character)
        position += character.size
    return header, DONE
