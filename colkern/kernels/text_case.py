"""Upper and lower case: of ASCII, of Latin and Cyrillic letters of two bytes, and of scripts without case.

ASCII is turned a piece at a time; texts with letters such as Greek ones are left to Python.

`text.ascii` is taken at its word, so that byte strings may say that they are ASCII: their other bytes stay.
"""

from __future__ import annotations

from numpy import int64

from colkern.kernels.kernel import apart, helper
from colkern.kernels.primitives import get_byte, set_byte, set_unaligned, shifted_right, turn_piece
from colkern.kernels.row_values import DONE, LEFT, NO_ROOM, Arena, Code, Text
from colkern.kernels.text_building import allocate_text
from colkern.kernels.text_characters import code_at, put_character
from colkern.kernels.text_words import (
    HIGH_BITS,
    SPILL,
    bytes_between,
    is_ascii,
    near_word,
    piece_at,
)

EITHER = 0x2020202020202020
"""The bits that make all ASCII letters lower-case."""


@helper
def cased(code: int64, upper: bool) -> int64:
    """The upper or lower case of a code point above ASCII, of as many bytes; -1 if it is left to Python."""
    if code == 0x130 or code == 0x178:
        return code if upper else int64(-1)
    if (
        code == 0xB5
        or code == 0xDF
        or code == 0xFF
        or code == 0x131
        or code == 0x149
        or code == 0x17F
    ):
        return int64(-1) if upper else code
    if code < 0x100:
        small = code | 0x20
        if small < 0xE0 or small == 0xF7:
            return code
        return small - 0x20 if upper else small
    if code < 0x180:
        # Pairs, of which the first is upper case: an even number, or an odd one.
        is_odd = int64(0x139 <= code <= 0x148 or code > 0x178)
        if code == 0x138 or (code & 1 == is_odd) == upper:
            return code
        return code - 1 if upper else code + 1
    if 0x400 <= code < 0x460:
        if code < 0x410:
            return code if upper else code + 0x50
        if code >= 0x450:
            return code - 0x50 if upper else code
        return 0x410 + ((code - 0x10) & 0x1F) + (int64(0) if upper else int64(0x20))
    # Combining accents; Hebrew to Tibetan; punctuation and currencies; Chinese and Japanese; Korean; emoji.
    has_none = (
        0x300 <= code < 0x345
        or 0x590 <= code < 0x1000
        or 0x2010 <= code < 0x20D0
        or 0x3000 <= code < 0xA000
        or 0xAC00 <= code < 0xD800
        or 0x1F000 <= code < 0x20000
    )
    return code if has_none else int64(-1)


@apart
@helper
def turn_characters(target: int64, text: Text, first: int64, either: int64) -> bool:
    """Write the text that `turned` gives, of any characters; false if one is left to Python."""
    k = int64(0)
    while k < text.size:
        code = code_at(text.address + k)
        if code < 0x80:
            letter = (code | either) - first
            other = code ^ 0x20 if 0 <= letter < 26 else code
        else:
            other = cased(code, first == 0x61 and either == 0)
            if other == code and either != 0:
                other = cased(code, True)
        if other < 0:
            return False
        k += put_character(target + k, other)
    return True


@helper
def turned(arena: Arena, text: Text, first: int64, either: int64) -> tuple[Text, Code]:
    """A text whose letters have the other case: those from `first` on once the bits of `either` are set."""
    target = allocate_text(arena, text.size)
    if target == 0:
        return Text(arena, int64(0), True), NO_ROOM
    if not text.ascii and not is_ascii(text.address, text.size):
        known = turn_characters(target, text, first, either)
        return Text(target, text.size, False), DONE if known else LEFT
    last = text.size - SPILL
    k = int64(0)
    while k < last:
        turn_piece(target + k, text.address + k, first, either)
        k += SPILL
    # The same piece however many bytes there are: no branch is guessed wrong.
    rest = piece_at(text.address + k, text.size - k, target + k)
    turn_piece(target + k, rest, first, either)
    return Text(target, text.size, True), DONE


@helper
def lower(arena: Arena, text: Text) -> tuple[Text, Code]:
    """`text.lower()`."""
    return turned(arena, text, int64(0x41), int64(0))


@helper
def casefold(arena: Arena, text: Text) -> tuple[Text, Code]:
    """`text.casefold()`, of ASCII."""
    result, code = lower(arena, text)
    return result, code if result.ascii else LEFT


@helper
def capitalize(arena: Arena, text: Text) -> tuple[Text, Code]:
    """`text.capitalize()`."""
    result, code = lower(arena, text)
    if code == DONE and text.size > 0:
        first = get_byte(result.address)
        if first < 0x80 or result.ascii:
            set_byte(result.address, first - 32 if first >= 0x61 and first <= 0x7A else first)
        else:
            first = cased(code_at(result.address), True)
            if first < 0:
                return result, LEFT
            put_character(result.address, first)
    return result, code


@helper
def title(arena: Arena, text: Text) -> tuple[Text, Code]:
    """`text.title()`."""
    target = allocate_text(arena, text.size)
    if target == 0:
        return Text(arena, int64(0), True), NO_ROOM
    seen = int64(0)
    letters = int64(0)
    k = int64(0)
    while k < text.size:
        word = near_word(text.address + k, text.size - k)
        seen |= word
        # A letter is the first of its word if there is none before it, where the last of eight may be.
        before = shifted_right(letters, int64(56))
        letters = bytes_between(word | EITHER, int64(0x61), int64(0x7A))
        firsts = letters & ~(letters << 8 | before)
        turned_down = word | shifted_right(letters, int64(2))
        set_unaligned(target + k, turned_down & ~shifted_right(firsts, int64(2)))
        k += 8
    if not text.ascii and seen & HIGH_BITS != 0:
        return Text(arena, int64(0), True), LEFT
    return Text(target, text.size, True), DONE
