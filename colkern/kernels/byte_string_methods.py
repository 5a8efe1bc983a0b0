"""Byte strings where they differ from texts: items that are numbers, ASCII's white space, lines.

The rest of their methods are those of a text that says that it is ASCII: a byte is a character.
"""

from __future__ import annotations

from numpy import int64, uint8

from colkern.kernels.arguments import Truth
from colkern.kernels.kernel import helper
from colkern.kernels.primitives import get_byte, get_word, set_byte, set_word
from colkern.kernels.row_lists import item_place, list_size, new_list
from colkern.kernels.row_values import (
    DONE,
    INDEX_ERROR,
    LEFT,
    NO_ROOM,
    TYPE_ERROR,
    UNICODE_DECODE_ERROR,
    VALUE_ERROR,
    Arena,
    Bytes,
    Code,
    Text,
    allocate,
)
from colkern.kernels.text import is_misplaced
from colkern.kernels.text_building import allocate_text, end_behind
from colkern.kernels.text_characters import size_at
from colkern.kernels.text_splitting import closed, write_piece
from colkern.kernels.text_words import is_ascii, near_word


@helper
def as_text(value: Bytes) -> Text:
    """The same bytes as a text each character of which is one."""
    return Text(value.address, value.size, True)


BIG, LITTLE = (int.from_bytes(word, "little") for word in (b"big", b"little"))


@helper
def integer(value: Bytes, byteorder: Text, signed: bool) -> tuple[int64, Code]:
    """`int.from_bytes(value, byteorder, signed=signed)`."""
    order = int64(0)
    if byteorder.size > 0 and byteorder.size < 8:
        order = near_word(byteorder.address, byteorder.size)
    is_big = order == BIG
    if value.size > 8 or not (is_big or order == LITTLE):
        return int64(0), LEFT
    if value.size == 0:
        return int64(0), DONE
    first = get_byte(value.address + (int64(0) if is_big else value.size - 1))
    is_negative = first > 127
    if is_negative and not signed and value.size == 8:
        return int64(0), LEFT
    result = int64(-1) if is_negative and signed else int64(0)
    for k in range(value.size):
        place = k if is_big else value.size - 1 - k
        result = result << 8 | get_byte(value.address + place)
    return result, DONE


@helper
def item(value: Bytes, index: int64) -> tuple[int64, Code]:
    """`value[index]`."""
    place = index + value.size if index < 0 else index
    if place < 0 or place >= value.size:
        return int64(0), INDEX_ERROR
    return get_byte(value.address + place), DONE


@helper
def has_byte(byte: int64, value: Bytes) -> tuple[Truth, Code]:
    """`byte in value`."""
    if byte < 0 or byte > 255:
        return False, VALUE_ERROR
    k = int64(0)
    while k < value.size and get_byte(value.address + k) != byte:
        k += 1
    return k < value.size, DONE


@helper
def ord_of(value: Bytes) -> tuple[int64, Code]:
    """`ord(value)`."""
    if value.size != 1:
        return int64(0), TYPE_ERROR
    return get_byte(value.address), DONE


@helper
def encode(text: Text) -> Bytes:
    """`text.encode()`."""
    return Bytes(text.address, text.size)


@helper
def encode_ascii(arena: Arena, text: Text, mark: int64) -> tuple[Bytes, Code]:
    """`text.encode("ascii", …)` with `mark` for each other character, or nothing for -1."""
    if text.ascii:
        return Bytes(text.address, text.size), DONE
    target = allocate_text(arena, text.size)
    if target == 0:
        return Bytes(arena, int64(0)), NO_ROOM
    size = int64(0)
    position = int64(0)
    while position < text.size:
        byte = get_byte(text.address + position)
        if byte < 128 or mark >= 0:
            set_byte(target + size, byte if byte < 128 else mark)
            size += 1
        position += size_at(text.address + position)
    set_word(arena, end_behind(target + size))
    return Bytes(target, size), DONE


@helper
def decode(value: Bytes) -> tuple[Text, Code]:
    """`value.decode()`."""
    if is_ascii(value.address, value.size):
        return Text(value.address, value.size, True), DONE
    text = Text(value.address, value.size, False)
    before, before2, before3 = uint8(0), uint8(0), uint8(0)
    for k in range(value.size):
        byte = uint8(get_byte(value.address + k))
        if is_misplaced(byte, before, before2, before3):
            return text, UNICODE_DECODE_ERROR
        before, before2, before3 = byte, before, before2
    if is_misplaced(uint8(0), before, before2, before3):
        return text, UNICODE_DECODE_ERROR
    return text, DONE


@helper
def from_items(arena: Arena, items: int64) -> tuple[Bytes, Code]:
    """`bytes(items)` of a list of numbers."""
    count = list_size(items)
    target = allocate(arena, count)
    if target == 0:
        return Bytes(arena, int64(0)), NO_ROOM
    numbers = item_place(int64(1), items, int64(0))
    for k in range(count):
        byte = get_word(numbers + 8 * k)
        if byte < 0 or byte > 255:
            return Bytes(arena, int64(0)), VALUE_ERROR
        set_byte(target + k, byte)
    return Bytes(target, count), DONE


@helper
def isascii(value: Bytes) -> bool:
    """`value.isascii()`."""
    return is_ascii(value.address, value.size)


@helper
def splitlines(arena: Arena, value: Bytes, keepends: bool) -> tuple[int64, Code]:
    """`value.splitlines(keepends)`: only line feeds and carriage returns end a line."""
    header = new_list(arena, int64(2), int64(0))
    if header == 0:
        return header, NO_ROOM
    place = get_word(arena)
    first = int64(0)
    position = int64(0)
    while position < value.size:
        byte = get_byte(value.address + position)
        end = position
        position += 1
        is_end = byte == 10 or byte == 13
        if byte == 13 and position < value.size:
            position += int64(get_byte(value.address + position) == 10)
        if is_end or position == value.size:
            end = position if keepends or not is_end else end
            place = write_piece(arena, place, value.address + first, end - first, int64(0))
            first = position
    return closed(arena, header, place)
