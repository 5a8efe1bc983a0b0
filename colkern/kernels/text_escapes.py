"""Texts in quotes, with escapes: as `repr` and as JSON have them."""

from __future__ import annotations

from numpy import int64

from colkern.kernels.kernel import apart, helper
from colkern.kernels.primitives import get_byte, get_unaligned, set_byte, set_word
from colkern.kernels.row_values import DONE, NO_ROOM, Arena, Code, Text, allocate
from colkern.kernels.text_building import allocate_text, end_behind
from colkern.kernels.text_characters import code_at, put_character, size_at
from colkern.kernels.unicode_data import PRINTABLE, RECORD, record_of

QUOTE, APOSTROPHE, BACKSLASH, _SMALL_U, _LARGE_U, _SMALL_X = map(ord, "\"'\\uUx")

_LETTERS = int.from_bytes(b"btn fr", "little")
"""The letters behind a backslash that stand for the characters from 8 on."""


@helper
def letter_of_code(code: int64) -> int64:
    """The letter behind a backslash that stands for a character in JSON; 0 if there is none."""
    if 8 <= code <= 13 and code != 11:
        return int64(_LETTERS >> (code - 8) * 8 & 0xFF)
    return int64(0 if code != QUOTE and code != BACKSLASH else code)


@helper
def put_escape(target: int64, letter: int64, number: int64, digits: int64) -> int64:
    """Write a backslash, a letter and a number in hexadecimal digits; the address behind it."""
    set_byte(target, int64(BACKSLASH))
    set_byte(target + 1, letter)
    for k in range(digits):
        digit = number >> 4 * (digits - 1 - k) & 15
        set_byte(target + 2 + k, digit + (48 if digit < 10 else 87))
    return target + 2 + digits


@apart
@helper
def quoted(arena: Arena, text: Text, is_ascii: bool) -> tuple[Text, Code]:
    """`json.dumps` of a text, with all beyond ASCII escaped or none of it."""
    start = allocate(arena, 6 * text.size + 2)
    if start == 0:
        return text, NO_ROOM
    set_byte(start, int64(QUOTE))
    target = start + 1
    k = int64(0)
    while k < text.size:
        code = code_at(text.address + k)
        letter = letter_of_code(code)
        size = 1 + int64(code > 0x7F) + int64(code > 0x7FF) + int64(code > 0xFFFF)
        if letter != 0:
            set_byte(target, int64(BACKSLASH))
            set_byte(target + 1, letter)
            target += 2
        elif code > 0xFFFF and is_ascii:
            target = put_escape(target, int64(_SMALL_U), 0xD7C0 + (code >> 10), int64(4))
            target = put_escape(target, int64(_SMALL_U), 0xDC00 | code & 0x3FF, int64(4))
        elif code < 32 or (code > 126 and is_ascii):
            target = put_escape(target, int64(_SMALL_U), code, int64(4))
        else:
            target += put_character(target, code)
        k += size
    set_byte(target, int64(QUOTE))
    return Text(start, target + 1 - start, is_ascii or text.ascii), DONE


@apart
@helper
def represented(arena: Arena, unicode: int64, text: Text) -> tuple[Text, Code]:
    """`repr(text)`."""
    target = allocate_text(arena, 4 * text.size + 2)
    if target == 0:
        return text, NO_ROOM
    has_apostrophe, has_quote = False, False
    for k in range(text.size):
        has_apostrophe = has_apostrophe or get_byte(text.address + k) == APOSTROPHE
        has_quote = has_quote or get_byte(text.address + k) == QUOTE
    around = int64(QUOTE if has_apostrophe and not has_quote else APOSTROPHE)
    set_byte(target, around)
    stop = target + 1
    position = int64(0)
    while position < text.size:
        code = code_at(text.address + position)
        letter = letter_of_code(code)
        # JSON has letters for two more characters, and for any quote.
        if code == around or (letter != 0 and code != QUOTE and code != 8 and code != 12):
            set_byte(stop, int64(BACKSLASH))
            set_byte(stop + 1, code if code == around else letter)
            stop += 2
        elif get_unaligned(record_of(unicode, code, int64(RECORD))) & PRINTABLE != 0:
            stop += put_character(stop, code)
        elif code < 0x100:
            stop = put_escape(stop, int64(_SMALL_X), code, int64(2))
        elif code < 0x10000:
            stop = put_escape(stop, int64(_SMALL_U), code, int64(4))
        else:
            stop = put_escape(stop, int64(_LARGE_U), code, int64(8))
        position += size_at(text.address + position)
    set_byte(stop, around)
    set_word(arena, end_behind(stop + 1))
    return Text(target, stop + 1 - target, text.ascii), DONE
