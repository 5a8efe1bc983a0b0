"""Texts made of others: joined, repeated, replaced, padded.

What is written by whole words may spill over its end, for which each allocation has room.
"""

from __future__ import annotations

from numpy import int64

from colkern.kernels.constant_tables import find_number
from colkern.kernels.kernel import helper
from colkern.kernels.primitives import (
    get_byte,
    get_unaligned,
    get_word,
    set_byte,
    set_unaligned,
    set_word,
    shifted_right,
    wrapped,
)
from colkern.kernels.row_lists import item_place, list_size
from colkern.kernels.row_values import (
    DONE,
    LAST_IS_TEXT,
    LEFT,
    NO_ROOM,
    TYPE_ERROR,
    Arena,
    Code,
    Text,
    allocate,
    free_place,
    get_text,
)
from colkern.kernels.text_characters import character_at, code_at, length, next_position
from colkern.kernels.text_words import (
    ONES,
    SPILL,
    are_same,
    edges_of,
    equal_bytes,
    first_hit,
    hits_at,
    near_word,
    places_of,
    write_loosely,
    write_part,
)

MARGIN = SPILL + 16
"""The bytes of the arena behind a text to be written by words."""


@helper
def text_place(arena: Arena) -> int64:
    """Where the next text begins, which needs no alignment: `SPILL` bytes behind one before it.

    So pieces of that one are read, also beyond its end, without waiting for what is written here.
    """
    return get_word(arena) & int64(~LAST_IS_TEXT)


@helper
def end_behind(stop: int64) -> int64:
    """The arena's first word if its last allocation is a text that ends at `stop`."""
    return (stop + SPILL) | int64(LAST_IS_TEXT)


@helper
def text_room(arena: Arena, size: int64) -> int64:
    """Where a text of up to `size` bytes has room, directly behind a last text; 0 if it has none."""
    # The flag, shifted, takes away what is added to where a text ends, without a branch.
    target = text_place(arena) - ((get_word(arena) >> 57) & int64(SPILL))
    return target if target + size <= get_word(arena + 8) - MARGIN else int64(0)


@helper
def text_between(arena: Arena, start: int64, stop: int64) -> Text:
    """The text between two addresses of a room, as the last one of the arena: it is ASCII."""
    set_word(arena, end_behind(stop))
    return Text(start, stop - start, True)


@helper
def allocate_text(arena: Arena, size: int64) -> int64:
    """The address of a text to be written by words, at any place; 0 if there is no room."""
    target = text_place(arena)
    stop = target + size
    if size < 0 or stop > get_word(arena + 8) - MARGIN or stop < target:
        return int64(0)
    set_word(arena, end_behind(stop))
    return target


@helper
def grow_text(arena: Arena, stop: int64) -> bool:
    """Have the arena's last text end at `stop`; false if there is no room."""
    if stop + MARGIN > get_word(arena + 8):
        return False
    set_word(arena, end_behind(stop))
    return True


@helper
def concat(arena: Arena, left: Text, right: Text) -> tuple[Text, Code]:
    """`left + right`. What is added to the last text of the arena is written behind it.

    Texts that begin as that one does keep their bytes. What stands there already is not written again.
    """
    size = left.size + right.size
    target = left.address
    stop = target + left.size
    if stop == right.address:
        return Text(target, size, left.ascii and right.ascii), DONE
    if end_behind(stop) == get_word(arena):
        if not grow_text(arena, target + size):
            return Text(arena, int64(0), True), NO_ROOM
    else:
        target = allocate_text(arena, size)
        if target == 0:
            return Text(arena, int64(0), True), NO_ROOM
        write_part(target, left.address, left.size)
    write_part(target + left.size, right.address, right.size)
    return Text(target, size, left.ascii and right.ascii), DONE


@helper
def repeat(arena: Arena, text: Text, times: int64) -> tuple[Text, Code]:
    """`text * times`."""
    if text.size == 0 or times <= 0:
        return Text(text.address, int64(0), True), DONE
    # What would be petabytes is a MemoryError of Python's.
    if times >> 40 != 0 or text.size >> 20 != 0:
        return Text(arena, int64(0), True), LEFT
    size = text.size * times
    target = allocate_text(arena, size)
    if target == 0:
        return Text(arena, int64(0), True), NO_ROOM
    place = target
    while place < target + size:
        write_part(place, text.address, text.size)
        place += text.size
    return Text(target, size, text.ascii), DONE


@helper
def join_items(arena: Arena, separator: Text, texts: int64, places: int64) -> tuple[Text, Code]:
    """Items of a list with a separator between them; their size is shifted by some places to the left."""
    count = list_size(texts)
    size = separator.size * max(count - 1, int64(0))
    is_ascii = int64(separator.ascii or count < 2)
    items = item_place(int64(2), texts, int64(0))
    for k in range(count):
        word = get_word(items + 16 * k + 8)
        size += word >> places
        is_ascii &= word
    target = allocate_text(arena, size)
    if target == 0:
        return Text(arena, int64(0), True), NO_ROOM
    place = target
    for k in range(count):
        if k > 0:
            write_part(place, separator.address, separator.size)
            place += separator.size
        part = get_word(items + 16 * k + 8) >> places
        write_part(place, get_word(items + 16 * k), part)
        place += part
    return Text(target, size, is_ascii != 0), DONE


@helper
def replace_some(arena: Arena, text: Text, old: Text, new: Text, most: int64) -> tuple[Text, Code]:
    """`text.replace(old, new, most)`; of an empty `old`, it is left."""
    if old.size == 0:
        return text, LEFT
    # Written where the next text begins: how long it will be is not known before.
    target = text_place(arena)
    room = get_word(arena + 8) - MARGIN
    place = target
    limit = text.size - old.size + 1
    near, head, tail = edges_of(old.address, old.size)
    first = int64(0)
    k = int64(0)
    while k < limit and most != 0:
        hits = hits_at(text.address + k, limit - k, near, head, tail)
        while hits != 0 and most != 0:
            hit = k + first_hit(hits)
            hits &= hits - 1
            if hit >= first and (
                old.size <= 2 or are_same(text.address + hit, old.address, old.size)
            ):
                gap = hit - first
                if place + gap + new.size > room:
                    return text, NO_ROOM
                write_loosely(place, text.address + first, gap, text.size - first)
                write_part(place + gap, new.address, new.size)
                place += gap + new.size
                first = hit + old.size
                most -= int64(most > 0)
        k += SPILL - near
    if first == 0:
        return text, DONE
    rest = text.size - first
    if place + rest > room:
        return text, NO_ROOM
    write_part(place, text.address + first, rest)
    size = place + rest - target
    allocate_text(arena, size)
    return Text(target, size, text.ascii and new.ascii), DONE


@helper
def replace(arena: Arena, text: Text, old: Text, new: Text) -> tuple[Text, Code]:
    """`text.replace(old, new)`; of an empty `old`, it is left."""
    if old.size != 1 or new.size != 1:
        return replace_some(arena, text, old, new, int64(-1))
    # By words, as no branch is guessed wrong then: a third of the time, and a tenth where there are many.
    target = allocate_text(arena, text.size)
    if target == 0:
        return text, NO_ROOM
    pattern = wrapped(get_byte(old.address) * ONES)
    change = get_byte(old.address) ^ get_byte(new.address)
    k = int64(0)
    while k < text.size:
        place = text.address + k
        word = get_unaligned(place) if k + 8 <= text.size else near_word(place, text.size - k)
        hits = shifted_right(equal_bytes(word, pattern), int64(7))
        set_unaligned(target + k, word ^ wrapped(hits * change))
        k += 8
    return Text(target, text.size, text.ascii), DONE


@helper
def fill(target: int64, word: int64, size: int64, count: int64) -> int64:
    """Write a character, `size` bytes of a word, again and again. The address behind them."""
    if size == 1:
        word = wrapped(word * ONES)
    for k in range(int64(0), count * size, size if size > 1 else int64(8)):
        set_unaligned(target + k, word)
    return target + count * size


@helper
def padded(
    arena: Arena, text: Text, left: int64, right: int64, word: int64, size: int64
) -> tuple[Text, Code]:
    """A text with a character repeated before and behind it; it is not one if its size is 0."""
    if size == 0:
        return text, TYPE_ERROR
    if left <= 0 and right <= 0:
        return text, DONE
    if left >> 40 != 0 or right >> 40 != 0:
        return text, LEFT
    result_size = text.size + (left + right) * size
    target = allocate_text(arena, result_size)
    if target == 0:
        return text, NO_ROOM
    place = fill(target, word, size, left)
    write_part(place, text.address, text.size)
    fill(place + text.size, word, size, right)
    return Text(target, result_size, text.ascii and size == 1), DONE


@helper
def one_character(text: Text) -> tuple[int64, int64]:
    """The bytes of a text of one character as a word, and how many they are; 0, if it is none."""
    if text.size == 0 or next_position(text, int64(0)) != text.size:
        return int64(0), int64(0)
    return near_word(text.address, text.size), text.size


@helper
def missing_to(text: Text, width: int64) -> int64:
    """The number of characters that a text lacks for a width."""
    return max(max(width, int64(0)) - length(text), int64(0))


@helper
def justified(
    arena: Arena, text: Text, width: int64, share: int64, word: int64, size: int64
) -> tuple[Text, Code]:
    """A text with a character around it up to a width, as `padded`.

    `share` is how many halves of these stand before it: 0 of `ljust`, 1 of `center`, 2 of `rjust`.
    """
    missing = missing_to(text, width)
    left = missing if share == 2 else (missing // 2 + (missing & width & 1)) * share
    return padded(arena, text, left, missing - left, word, size)


@helper
def justified_with(
    arena: Arena, text: Text, width: int64, filler: Text, share: int64
) -> tuple[Text, Code]:
    """As `justified`, with a text of one character."""
    word, size = one_character(filler)
    return justified(arena, text, width, share, word, size)


@helper
def zfill(arena: Arena, text: Text, width: int64) -> tuple[Text, Code]:
    """`text.zfill(width)`. Whether a text is long enough already is not asked: it is copied, too."""
    missing = missing_to(text, width)
    if missing >> 40 != 0:
        return text, LEFT
    size = text.size + missing
    target = allocate_text(arena, size)
    if target == 0:
        return text, NO_ROOM
    set_unaligned(target, int64(0x30 * ONES))
    set_unaligned(target + 8, int64(0x30 * ONES))
    for k in range(int64(16), missing, int64(8)):
        set_unaligned(target + k, int64(0x30 * ONES))
    write_part(target + missing, text.address, text.size)
    if text.size > 0:
        sign = get_byte(text.address)
        if sign == 0x2B or sign == 0x2D:
            set_byte(target + missing, int64(0x30))
            set_byte(target, sign)
    return Text(target, size, text.ascii), DONE


@helper
def expandtabs(arena: Arena, text: Text, tabsize: int64) -> tuple[Text, Code]:
    """`text.expandtabs(tabsize)`."""
    if abs(tabsize >> 20) > 1:
        return text, LEFT
    tabs = int64(0)
    for k in range(int64(0), text.size, int64(SPILL)):
        tabs |= places_of(int64(9), text.address + k, text.size - k)
    if tabs == 0:
        return text, DONE
    target = free_place(arena)
    room = get_word(arena + 8)
    column = int64(0)
    place = target
    for k in range(text.size):
        byte = get_byte(text.address + k)
        count = int64(1)
        if byte == 9:
            count = tabsize - column % tabsize if tabsize > 0 else int64(0)
            byte = int64(32)
            column += count
        elif byte == 10 or byte == 13:
            column = int64(0)
        else:
            column += int64(text.ascii or byte & 0xC0 != 0x80)
        if place + count > room:
            return text, NO_ROOM
        for j in range(count):
            set_byte(place + j, byte)
        place += count
    size = place - target
    allocate(arena, size)
    return Text(target, size, text.ascii), DONE


@helper
def translate(arena: Arena, text: Text, parts: int64, others: int64) -> tuple[Text, Code]:
    """`text.translate(table)`.

    `parts` is a list of a text for each ASCII character, `others` a dictionary of texts for code points
    beyond, or 0.
    """
    size = int64(0)
    position = int64(0)
    is_plain = True
    while position < text.size:
        part = translated_at(text, position, parts, others)
        size += part.size
        is_plain = is_plain and part.ascii
        position = next_position(text, position)
    target = allocate_text(arena, size)
    if target == 0:
        return text, NO_ROOM
    at = target
    position = int64(0)
    while position < text.size:
        part = translated_at(text, position, parts, others)
        for k in range(part.size):
            set_byte(at + k, get_byte(part.address + k))
        at += part.size
        position = next_position(text, position)
    return Text(target, size, is_plain), DONE


@helper
def translated_at(text: Text, position: int64, parts: int64, others: int64) -> Text:
    """The text for a character of `translate`; itself if there is none."""
    code = code_at(text.address + position)
    if code < 128:
        return get_text(get_word(parts) + code * int64(16))
    place = find_number(int64(2), others, code) if others != 0 else int64(0)
    return get_text(place) if place != 0 else character_at(text, position)
