"""Whether a text is all digits, letters, and so on: of ASCII, or by the table of characters.

As in `text_case`, byte strings may say that they are ASCII.
"""

from __future__ import annotations

from numpy import int64

from colkern.kernels.arguments import Truth
from colkern.kernels.kernel import helper
from colkern.kernels.primitives import get_byte, shifted_right
from colkern.kernels.row_values import Text
from colkern.kernels.text_case import EITHER
from colkern.kernels.text_characters import size_at
from colkern.kernels.text_words import HIGH_BITS, ONES, bytes_between, equal_bytes, near_word
from colkern.kernels.text_words import is_ascii as are_bytes_ascii
from colkern.kernels.unicode_data import (
    NAME_BEGINS,
    NAME_GOES_ON,
    are_all,
    are_cased,
    are_titles,
)

DIGITS = 1
LETTERS = 2
SPACES = 4
PRINTABLE = 8
NAME = 16
CONTROLS = 32
"""The bits of a choice of classes; `CONTROLS` are those characters from 28 to 31, white space in a text."""


@helper
def of_classes(word: int64, classes: int64) -> int64:
    """The mask of the bytes that are in any of some classes."""
    mask = int64(0)
    if classes & DIGITS != 0:
        mask |= bytes_between(word, int64(0x30), int64(0x39))
    if classes & LETTERS != 0:
        mask |= bytes_between(word | EITHER, int64(0x61), int64(0x7A))
    if classes & SPACES != 0:
        mask |= bytes_between(word, int64(9), int64(13)) | equal_bytes(word, int64(0x20 * ONES))
    if classes & CONTROLS != 0:
        mask |= bytes_between(word, int64(28), int64(31))
    if classes & PRINTABLE != 0:
        mask |= bytes_between(word, int64(0x20), int64(0x7E))
    if classes & NAME != 0:
        mask |= equal_bytes(word, int64(0x5F * ONES))
    return mask


@helper
def all_of(unicode: int64, text: Text, classes: int64, wanted: int64, empty: bool) -> Truth:
    """Whether all characters are in some classes; `empty` if there are none.

    Those beyond ASCII need some of the properties `wanted`.
    """
    if text.size == 1:
        # Loops ask about single characters, and these take a third of the time like this.
        return of_classes(get_byte(text.address), classes) & 0x80 != 0
    seen = int64(0)
    k = int64(0)
    while k < text.size:
        count = min(text.size - k, int64(8))
        word = near_word(text.address + k, count)
        high = int64(0) if text.ascii else word & HIGH_BITS
        seen |= high
        # Behind the end are zeros, which no class is asked about.
        asked = shifted_right(int64(HIGH_BITS), 64 - (count << 3)) & ~high
        if ~of_classes(word, classes) & asked != 0:
            return False
        k += 8
    if seen != 0:
        return are_all(unicode, text, wanted)
    return text.size > 0 or empty


@helper
def isidentifier(unicode: int64, text: Text) -> Truth:
    """`text.isidentifier()`."""
    classes = int64(DIGITS | LETTERS | NAME)
    if not all_of(unicode, text, classes, int64(NAME_GOES_ON), False):
        return False
    first = Text(text.address, size_at(text.address), False)
    return all_of(unicode, first, int64(LETTERS | NAME), int64(NAME_BEGINS), False)


@helper
def isascii(text: Text) -> bool:
    """`text.isascii()`."""
    return text.ascii or are_bytes_ascii(text.address, text.size)


@helper
def has_case(unicode: int64, text: Text, wanted: int64, own: int64, other: int64) -> Truth:
    """Whether there are letters, and all have the case of the letter `wanted`, an A or a.

    Beyond ASCII, these have the property `own`, and those of other cases some of `other`.
    """
    if text.size == 1:
        return bytes_between(get_byte(text.address), wanted, wanted + 25) & 0x80 != 0
    seen = int64(0)
    letters = int64(0)
    k = int64(0)
    while k < text.size:
        word = near_word(text.address + k, text.size - k)
        seen |= word
        letters |= bytes_between(word, wanted, wanted + 25)
        if bytes_between(word, wanted ^ 32, (wanted ^ 32) + 25) != 0:
            return False
        k += 8
    if text.ascii or seen & HIGH_BITS == 0:
        return letters != 0
    return are_cased(unicode, text, own, other)


@helper
def istitle(unicode: int64, text: Text) -> Truth:
    """`text.istitle()`."""
    seen = int64(0)
    letters = int64(0)
    wrong = int64(0)
    before = int64(0)
    k = int64(0)
    while k < text.size:
        word = near_word(text.address + k, text.size - k)
        seen |= word
        upper = bytes_between(word, int64(0x41), int64(0x5A))
        lower = bytes_between(word, int64(0x61), int64(0x7A))
        follows = (upper | lower) << 8 | shifted_right(before, int64(56))
        wrong |= upper & follows | lower & ~follows
        before = upper | lower
        letters |= before
        k += 8
    if text.ascii or seen & HIGH_BITS == 0:
        return letters != 0 and wrong == 0
    return are_titles(unicode, text)
