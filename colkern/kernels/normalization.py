"""Unicode's normal forms of texts, by the table of decompositions of `colkern.rows.unicode_tables`.

Bodies with a parameter `decompositions` get the address of that table, which is laid out as that of
`unicode_data`. A record is a word of properties, and one for each kind of decompositions: where in the
table its UTF-8 is, and the size. Pairs of characters that compose another are sorted words.

Unicode Standard Annex #15, "Unicode Normalization Forms".
"""

from __future__ import annotations

from numpy import int64

from colkern.kernels.kernel import apart, helper
from colkern.kernels.primitives import get_byte, get_unaligned, set_byte, set_word
from colkern.kernels.row_values import DONE, NO_ROOM, Arena, Code, Text
from colkern.kernels.text_building import allocate_text, end_behind
from colkern.kernels.text_characters import code_at, position_before, put_character, size_at
from colkern.kernels.text_words import is_ascii, write_part
from colkern.kernels.unicode_data import record_of

RECORD = 24
"""The bytes of a record."""

CANONICAL = 8
COMPATIBLE = 16
"""Where in a record the words of the decompositions are, with the size in the bits from `SIZE` on."""

SIZE = 40

CLASS = 255
"""The bits of the word of properties that have the combining class."""

CHANGES = 256
"""This bit times a kind of decomposition: whether composing may change the character, or a text with it."""

PAIRS = 8
COUNT = 16
"""The words of the table with the place of the first pair, and the number of pairs."""

FIRST = 42
SECOND = 21
"""The bits of a pair's word where its characters begin, behind that which they compose."""

_HANGUL = 0xAC00
_LAST_HANGUL = 0xD7A3
_LEADS, _VOWELS, _TRAILS = 0x1100, 0x1161, 0x11A7


@helper
def class_at(table: int64, address: int64) -> int64:
    """The combining class of the character at an address."""
    return get_unaligned(record_of(table, code_at(address), int64(RECORD))) & CLASS


@helper
def put_decomposition(table: int64, target: int64, code: int64, kind: int64) -> int64:
    """Write the decomposition of a character, which may be itself; its size."""
    if _HANGUL <= code <= _LAST_HANGUL:
        number = code - _HANGUL
        size = put_character(target, _LEADS + number // 588)
        size += put_character(target + size, _VOWELS + number % 588 // 28)
        return size + (put_character(target + size, _TRAILS + number % 28) if number % 28 else 0)
    word = get_unaligned(record_of(table, code, int64(RECORD)) + kind)
    if word == 0:
        return put_character(target, code)
    write_part(target, table + (word & 0xFFFFFFFF), word >> SIZE)
    return word >> SIZE


@apart
@helper
def size_of_decomposed(table: int64, text: Text, kind: int64, composed: bool) -> int64:
    """The size of a text's decomposition; -1 if the text is in its normal form."""
    size, before, changes = int64(0), int64(0), False
    position = int64(0)
    while position < text.size:
        code = code_at(text.address + position)
        record = record_of(table, code, int64(RECORD))
        own, word = get_unaligned(record), get_unaligned(record + kind)
        is_hangul = _HANGUL <= code <= _LAST_HANGUL
        if own & CLASS != 0 and own & CLASS < before:
            changes = True
        if (own & CHANGES * kind != 0) if composed else (word != 0 or is_hangul):
            changes = True
        before = own & CLASS
        own_size = size_at(text.address + position)
        size += 9 if is_hangul else own_size if word == 0 else word >> SIZE
        position += own_size
    return size if changes else int64(-1)


@apart
@helper
def put_in_order(table: int64, text: Text) -> None:
    """Sort the marks behind each character by their classes; those of one class stay in their order."""
    before = int64(0)
    position = int64(0)
    while position < text.size:
        own = class_at(table, text.address + position)
        size = size_at(text.address + position)
        if own != 0 and own < before:
            to = position_before(text, position)
            while to > 0:
                near = position_before(text, to)
                if class_at(table, text.address + near) <= own:
                    break
                to = near
            code = code_at(text.address + position)
            move(text.address + to + size, text.address + to, position - to)
            put_character(text.address + to, code)
        else:
            before = own
        position += size


@helper
def move(target: int64, source: int64, size: int64) -> None:
    """Copy bytes to a place that may overlap with theirs."""
    for k in range(size):
        at = size - 1 - k if target > source else k
        set_byte(target + at, get_byte(source + at))


@helper
def composite(table: int64, first: int64, second: int64) -> int64:
    """The character that two compose; 0 if there is none."""
    vowel, trail = second - _VOWELS, second - _TRAILS
    if 0 <= first - _LEADS < 19 and 0 <= vowel < 21:
        return _HANGUL + ((first - _LEADS) * 21 + vowel) * 28
    if _HANGUL <= first <= _LAST_HANGUL and (first - _HANGUL) % 28 == 0 and 0 < trail < 28:
        return first + trail
    sought = first << FIRST | second << SECOND
    low, high = int64(0), get_unaligned(table + COUNT)
    while low < high:
        middle = (low + high) >> 1
        if get_unaligned(table + get_unaligned(table + PAIRS) + middle * 8) < sought:
            low = middle + 1
        else:
            high = middle
    pair = get_unaligned(table + get_unaligned(table + PAIRS) + low * 8)
    return pair & 0x1FFFFF if pair >> SECOND == sought >> SECOND else int64(0)


@apart
@helper
def compose(table: int64, text: Text) -> int64:
    """Compose the characters of a decomposed text, in its place; the size of the result."""
    end = int64(0)
    # The last character without a class, what follows it, and the class of the last mark behind it.
    starter, behind, starter_code, before = int64(-1), int64(0), int64(0), int64(0)
    position = int64(0)
    while position < text.size:
        code = code_at(text.address + position)
        size, own = size_at(text.address + position), class_at(table, text.address + position)
        position += size
        whole = int64(0)
        if starter >= 0 and (end == behind or 0 < before < own):
            whole = composite(table, starter_code, code)
        if whole != 0:
            # As the second character is read, there is room for a longer one.
            grown = starter + 1 + int64(whole > 0x7F) + int64(whole > 0x7FF) + int64(whole > 0xFFFF)
            move(text.address + grown, text.address + behind, end - behind)
            put_character(text.address + starter, whole)
            end += grown - behind
            behind, starter_code = grown, whole
            continue
        put_character(text.address + end, code)
        if own == 0:
            starter, starter_code, behind = end, code, end + size
        before = own
        end += size
    return end


@helper
def normalize(
    arena: Arena, decompositions: int64, text: Text, kind: int64, composed: bool
) -> tuple[Text, Code]:
    """`unicodedata.normalize` for one form."""
    if text.ascii or is_ascii(text.address, text.size):
        return Text(text.address, text.size, True), DONE
    room = size_of_decomposed(decompositions, text, kind, composed)
    if room < 0:
        return Text(text.address, text.size, False), DONE
    target = allocate_text(arena, room)
    if target == 0:
        return Text(arena, int64(0), True), NO_ROOM
    size = int64(0)
    position = int64(0)
    while position < text.size:
        code = code_at(text.address + position)
        size += put_decomposition(decompositions, target + size, code, kind)
        position += size_at(text.address + position)
    put_in_order(decompositions, Text(target, size, False))
    if composed:
        size = compose(decompositions, Text(target, size, False))
    set_word(arena, end_behind(target + size))
    return Text(target, size, False), DONE
