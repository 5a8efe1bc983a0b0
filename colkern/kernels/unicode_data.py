"""Properties of characters, and their other cases, from the table of `colkern.rows.unicode_tables`.

Bodies with a parameter `unicode` get the address of that table. It has the number of a page for each 128
code points, pages with the number of a record for each code point, and records. A record is a word of
properties, and a word for each case: the difference of the code points, or, with `SEVERAL`, where in the
table the code points are, and how many, of which the first is that for `SIMPLE`.
"""

from __future__ import annotations

from numpy import int64

from colkern.kernels.kernel import apart, helper
from colkern.kernels.primitives import get_unaligned, set_word
from colkern.kernels.row_values import DONE, LEFT, NO_ROOM, Arena, Code, Text
from colkern.kernels.text_building import allocate_text, end_behind
from colkern.kernels.text_characters import code_at, position_before, put_character, size_at

PAGES = 24
"""Where the numbers of pages begin, behind the place of the records and two words for other tables."""

RECORDS = PAGES + 2 * (0x110000 >> 7)
"""Where the pages begin."""

RECORD = 40
"""The bytes of a record."""

ALPHABETIC = 1
DECIMAL = 2
DIGIT = 4
NUMERIC = 8
SPACE = 16
PRINTABLE = 32
LOWER = 64
UPPER = 128
TITLE = 256
NAME_BEGINS = 512
NAME_GOES_ON = 1024
IGNORED = 2048
NOT_DECIMAL = 4096
"""The bits of properties.

`IGNORED` are those that `lower` looks past from a capital sigma, `NOT_DECIMAL` the letters and numbers that
are no decimal digits.
"""

CASED = LOWER | UPPER | TITLE
WORD = ALPHABETIC | DECIMAL | DIGIT | NUMERIC

CATEGORY = 2
"""The byte of the word of properties with which the letters of the category begin."""

COMBINING = 32
"""The bit of it with which the combining class begins."""

TO_LOWER = 8
TO_UPPER = 16
TO_TITLE = 24
TO_FOLDED = 32
"""Where in a record the words of cases are."""

TO_OTHER = 0
TO_CAPITAL = 1
"""Other ways: each letter to its other case; the first character to title case, others to lower case."""

SIMPLE = 128
"""The bit of a way that gives one character for each, as `colkern.rows.simple_cases` has it."""

SEVERAL = 1 << 40

_SIGMA = 0x3A3
"""The capital sigma; of its lower cases, the one at the end of words comes before the other."""


@helper
def record_of(table: int64, code: int64, size: int64) -> int64:
    """The address of a code point's record; `size` is that of records."""
    # Bytes that are no UTF-8 may stand for larger numbers.
    code = min(code, int64(0x10FFFF))
    page = get_unaligned(table + PAGES + (code >> 7) * 2) & 0xFFFF
    number = get_unaligned(table + RECORDS + page * 256 + (code & 127) * 2) & 0xFFFF
    return table + get_unaligned(table) + number * size


@helper
def properties_at(unicode: int64, address: int64) -> int64:
    """The properties of the character of UTF-8 at an address."""
    return get_unaligned(record_of(unicode, code_at(address), int64(RECORD)))


@apart
@helper
def are_all(unicode: int64, text: Text, wanted: int64) -> bool:
    """Whether each character has some of the wanted properties."""
    position = int64(0)
    while position < text.size:
        if properties_at(unicode, text.address + position) & wanted == 0:
            return False
        position += size_at(text.address + position)
    return True


@apart
@helper
def are_cased(unicode: int64, text: Text, own: int64, other: int64) -> bool:
    """Whether there are letters of one case, and none of others."""
    seen = int64(0)
    position = int64(0)
    while position < text.size:
        seen |= properties_at(unicode, text.address + position)
        position += size_at(text.address + position)
    return seen & own != 0 and seen & other == 0


@apart
@helper
def are_titles(unicode: int64, text: Text) -> bool:
    """`text.istitle()`."""
    seen = int64(0)
    before = False
    position = int64(0)
    while position < text.size:
        own = properties_at(unicode, text.address + position)
        begins = own & (UPPER | TITLE) != 0
        goes_on = own & LOWER != 0
        if (begins and before) or (goes_on and not begins and not before):
            return False
        before = begins or goes_on
        seen |= int64(before)
        position += size_at(text.address + position)
    return seen != 0


@helper
def put_case(unicode: int64, target: int64, code: int64, word: int64, simple: bool) -> int64:
    """Write the characters of a code point's other case, by its word; their size."""
    if word < SEVERAL:
        return put_character(target, code + word)
    place = unicode + (word & 0xFFFFFFFF)
    if simple:
        return put_character(target, get_unaligned(place) & 0x1FFFFF)
    size = int64(0)
    for k in range(1, word >> 42):
        size += put_character(target + size, get_unaligned(place + 4 * k) & 0x1FFFFF)
    return size


@helper
def ends_word(unicode: int64, text: Text, position: int64) -> bool:
    """Whether the sigma at a position has a letter before it and none behind it, which gives it a form."""
    near = position
    own = int64(IGNORED)
    while own & IGNORED != 0 and near > 0:
        near = position_before(text, near)
        own = properties_at(unicode, text.address + near)
    if own & CASED == 0 or own & IGNORED != 0:
        return False
    near = position + size_at(text.address + position)
    own = int64(IGNORED)
    while own & IGNORED != 0 and near < text.size:
        own = properties_at(unicode, text.address + near)
        near += size_at(text.address + near)
    return own & CASED == 0 or own & IGNORED != 0


@helper
def case_at(own: int64, way: int64, position: int64, before: int64, simple: bool) -> int64:
    """The case that a character gets, by its properties and those of the one before; 0 for its own."""
    if way == TO_TITLE:
        return int64(TO_LOWER if before & CASED != 0 else TO_TITLE)
    if way == TO_CAPITAL:
        first = int64(TO_UPPER if simple else TO_TITLE)
        return first if position == 0 else int64(TO_LOWER)
    if way == TO_OTHER:
        return int64(TO_LOWER if own & UPPER != 0 else TO_UPPER if own & LOWER != 0 else 0)
    return way


@apart
@helper
def turn_characters(arena: Arena, unicode: int64, text: Text, way: int64) -> tuple[Text, Code]:
    """A text with its letters in another case, by the table."""
    # No case of a character has more than three times its bytes.
    target = allocate_text(arena, 3 * text.size)
    if target == 0:
        return Text(arena, int64(0), True), NO_ROOM
    simple = way & SIMPLE != 0
    way &= SIMPLE - 1
    size = int64(0)
    before = int64(0)
    position = int64(0)
    while position < text.size:
        code = code_at(text.address + position)
        record = record_of(unicode, code, int64(RECORD))
        own = get_unaligned(record)
        case = case_at(own, way, position, before, simple)
        word = get_unaligned(record + case) if case != 0 else int64(0)
        if case == TO_LOWER and code == _SIGMA and not simple:
            word -= int64(ends_word(unicode, text, position))
        size += put_case(unicode, target + size, code, word, simple)
        before = own
        position += size_at(text.address + position)
    set_word(arena, end_behind(target + size))
    return Text(target, size, False), DONE


@helper
def category(unicode: int64, text: Text) -> tuple[Text, Code]:
    """`unicodedata.category(text)`."""
    if text.size == 0 or size_at(text.address) != text.size:
        return Text(text.address, int64(0), True), LEFT
    record = record_of(unicode, code_at(text.address), int64(RECORD))
    return Text(record + CATEGORY, int64(2), True), DONE


@helper
def combining(unicode: int64, text: Text) -> tuple[int64, Code]:
    """`unicodedata.combining(text)`."""
    if text.size == 0 or size_at(text.address) != text.size:
        return int64(0), LEFT
    return properties_at(unicode, text.address) >> COMBINING & 255, DONE
