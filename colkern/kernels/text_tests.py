"""Whether a text is all digits, letters, and so on: of ASCII. Other texts are left to Python.

As in `text_case`, byte strings may say that they are ASCII.
"""

from __future__ import annotations

from numpy import int64

from colkern.kernels.arguments import Truth
from colkern.kernels.kernel import helper
from colkern.kernels.primitives import get_byte, shifted_right
from colkern.kernels.row_values import DONE, LEFT, Code, Text
from colkern.kernels.text_case import EITHER
from colkern.kernels.text_words import HIGH_BITS, ONES, bytes_between, equal_bytes, near_word
from colkern.kernels.text_words import is_ascii as are_bytes_ascii

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
def all_of(text: Text, classes: int64, empty: bool) -> tuple[Truth, Code]:
    """Whether all characters are in some classes; `empty` if there are none."""
    if text.size == 1:
        # Loops ask about single characters, and these take a third of the time like this.
        return of_classes(get_byte(text.address), classes) & 0x80 != 0, DONE
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
            return False, DONE
        k += 8
    return text.size > 0 or empty, LEFT if seen != 0 else DONE


@helper
def isidentifier(text: Text) -> tuple[Truth, Code]:
    """`text.isidentifier()`."""
    result, code = all_of(text, int64(DIGITS | LETTERS | NAME), False)
    if result:
        result = of_classes(near_word(text.address, int64(1)), int64(DIGITS)) & 255 == 0
    return result, code


@helper
def isascii(text: Text) -> bool:
    """`text.isascii()`."""
    return text.ascii or are_bytes_ascii(text.address, text.size)


@helper
def has_case(text: Text, wanted: int64) -> tuple[Truth, Code]:
    """Whether there are letters, and all have the case of the letter `wanted`, an A or a."""
    if text.size == 1:
        return bytes_between(get_byte(text.address), wanted, wanted + 25) & 0x80 != 0, DONE
    seen = int64(0)
    letters = int64(0)
    k = int64(0)
    while k < text.size:
        word = near_word(text.address + k, text.size - k)
        seen |= word
        letters |= bytes_between(word, wanted, wanted + 25)
        if bytes_between(word, wanted ^ 32, (wanted ^ 32) + 25) != 0:
            return False, DONE
        k += 8
    return letters != 0, LEFT if not text.ascii and seen & HIGH_BITS != 0 else DONE


@helper
def istitle(text: Text) -> tuple[Truth, Code]:
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
    if not text.ascii and seen & HIGH_BITS != 0:
        return False, LEFT
    return letters != 0 and wrong == 0, DONE
