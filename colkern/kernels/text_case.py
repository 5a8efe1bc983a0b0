"""Upper and lower case: of ASCII, a piece at a time; other texts are turned by the table of characters.

`text.ascii` is taken at its word, so that byte strings may say that they are ASCII: their other bytes stay.
"""

from __future__ import annotations

from numpy import int64

from colkern.kernels.kernel import helper
from colkern.kernels.primitives import get_byte, set_byte, set_unaligned, shifted_right, turn_piece
from colkern.kernels.row_values import DONE, NO_ROOM, Arena, Code, Text
from colkern.kernels.text_building import allocate_text
from colkern.kernels.text_words import (
    SPILL,
    bytes_between,
    is_ascii,
    near_word,
    piece_at,
)
from colkern.kernels.unicode_data import (
    TO_TITLE,
    turn_characters,
)

EITHER = 0x2020202020202020
"""The bits that make all ASCII letters lower-case."""


@helper
def turned(
    arena: Arena, unicode: int64, text: Text, first: int64, either: int64, way: int64
) -> tuple[Text, Code]:
    """A text whose letters have another case.

    Of ASCII, those from `first` on once the bits of `either` are set; `way` is for other texts.
    """
    if not text.ascii and not is_ascii(text.address, text.size):
        return turn_characters(arena, unicode, text, way)
    target = allocate_text(arena, text.size)
    if target == 0:
        return Text(arena, int64(0), True), NO_ROOM
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
def lower(arena: Arena, unicode: int64, text: Text, way: int64) -> tuple[Text, Code]:
    """A text in lower case; `way` is for texts that are not ASCII."""
    return turned(arena, unicode, text, int64(0x41), int64(0), way)


@helper
def capitalize(arena: Arena, unicode: int64, text: Text, way: int64) -> tuple[Text, Code]:
    """`text.capitalize()`; `way` is for texts that are not ASCII."""
    result, code = lower(arena, unicode, text, way)
    if code == DONE and result.ascii and text.size > 0:
        first = get_byte(result.address)
        set_byte(result.address, first - 32 if first >= 0x61 and first <= 0x7A else first)
    return result, code


@helper
def title(arena: Arena, unicode: int64, text: Text) -> tuple[Text, Code]:
    """`text.title()`."""
    if not text.ascii and not is_ascii(text.address, text.size):
        return turn_characters(arena, unicode, text, int64(TO_TITLE))
    target = allocate_text(arena, text.size)
    if target == 0:
        return Text(arena, int64(0), True), NO_ROOM
    letters = int64(0)
    k = int64(0)
    while k < text.size:
        word = near_word(text.address + k, text.size - k)
        # A letter is the first of its word if there is none before it, where the last of eight may be.
        before = shifted_right(letters, int64(56))
        letters = bytes_between(word | EITHER, int64(0x61), int64(0x7A))
        firsts = letters & ~(letters << 8 | before)
        turned_down = word | shifted_right(letters, int64(2))
        set_unaligned(target + k, turned_down & ~shifted_right(firsts, int64(2)))
        k += 8
    return Text(target, text.size, True), DONE
