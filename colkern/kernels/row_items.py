"""Items of containers of row functions, by layout: their hash, whether they are equal, their order.

A layout says what the words of an item are, in four bits a part, the first part lowest. A tuple has those
of its items. An item may have more words than its layout speaks of: what follows is no part of the
comparison, as the values behind the keys that a list is sorted by.

What depends on which of two NaN are one object, or on the order of a NaN or a None, is `UNKNOWN`.
"""

from __future__ import annotations

import math
from typing import TypeAlias

from numpy import float64, int64, uint64

from colkern.kernels.kernel import apart, helper
from colkern.kernels.primitives import (
    bits_of_float,
    float_of_bits,
    fold,
    get_byte,
    get_unaligned,
    get_word,
    multiply,
    set_word,
    shifted_right,
)
from colkern.kernels.text_words import are_same, near_word

Place: TypeAlias = int64
"""The address of the words of an item. Of a parameter: the argument's. As a result: the result's."""

Room: TypeAlias = int64
"""The address of words that the caller is to write: those of an argument that the body does not take."""

Layout: TypeAlias = int64

NUMBER = 1
"""A word that is as its value is: an int, a bool, a date or a time."""
TEXT = 2
BYTES = 3
FLOAT = 4
OPTIONAL = 5
"""A word that says whether the following part is None, whose words are anything then."""
HANDLE = 6
"""A list, set or dictionary; whether it is equal to another or less is `UNKNOWN`."""
OPAQUE = 7
"""Words that stand for a value in a form of their own: all that follows is `UNKNOWN`."""
NODE = 8
"""A value of a document (`row_documents`): the address of its type and its words, or 0 for None."""

OF_BOOL, OF_INT, OF_FLOAT, OF_STR, OF_LIST, OF_DICT = range(6)
"""The types of values of documents."""

EXACT = 1 << 53
"""Integers up to this one are floats, too."""

NO = 0
YES = 1
UNKNOWN = 2

# Of XXH64.
STATE_KEY = 0x9E37_79B1_85EB_CA87
WORD_KEY = 0xC2B2_AE3D_27D4_EB4F
SPREAD_KEY = 0x27D4_EB2F_1656_67C5


@helper
def copy_words(source: int64, target: int64, count: int64) -> None:
    """Copy words, one after the other: the target may begin within the source only before it."""
    for k in range(count):
        set_word(target + k * 8, get_word(source + k * 8))


@helper
def mix(state: int64, word: int64) -> int64:
    """A hash with one word more."""
    return int64(fold(uint64(state) ^ uint64(STATE_KEY), uint64(word) ^ uint64(WORD_KEY)))


@helper
def spread(word: int64) -> int64:
    """A hash of up to 63 bits that no others have, its lowest bit aside."""
    word = int64(multiply(uint64(word ^ shifted_right(word, int64(30))), uint64(2 * SPREAD_KEY)))
    return word ^ shifted_right(word, int64(32))


@helper
def hash_bytes(state: int64, address: int64, size: int64) -> int64:
    """A hash with bytes more. Two keys of one text below eight bytes have different ones."""
    if size < 8:
        return spread(state ^ ((near_word(address, size) if size > 0 else int64(0)) << 3 | size))
    state ^= size
    last = address + size - 8
    while address < last:
        state = mix(state, get_unaligned(address))
        address += 8
    return mix(state, get_unaligned(last))


@helper
def hash_words(layout: Layout, place: Place) -> int64:
    """The hash of an item, which is odd."""
    state = int64(0)
    while layout != 0:
        part = layout & 15
        layout >>= 4
        word = get_word(place)
        place += 8
        if part & 14 == TEXT:
            state = hash_bytes(state, word, get_word(place) >> (BYTES - part))
            place += 8
        elif part == FLOAT:
            # -0.0 becomes 0.0.
            state = mix(state, bits_of_float(float_of_bits(word) + 0.0))
        else:
            state = mix(state, word)
            if part == OPTIONAL and word != 0:
                place += 16 if layout & 14 == TEXT else 8
                layout >>= 4
    return state | 1


@helper
def order_of_bytes(left: int64, left_size: int64, right: int64, right_size: int64) -> int64:
    """-1, 0 or 1, as bytes are less than others, equal or greater; of texts, as their code points are."""
    size = min(left_size, right_size)
    k = int64(0)
    while k + 8 <= size and get_unaligned(left + k) == get_unaligned(right + k):
        k += 8
    while k < size:
        a = get_byte(left + k)
        b = get_byte(right + k)
        if a != b:
            return int64(-1) if a < b else int64(1)
        k += 1
    return int64(left_size > right_size) - int64(left_size < right_size)


@helper
def number_of_node(node: int64) -> float64:
    """A number of a document as a float; NaN if no float equals it for sure."""
    word = get_word(node + 8)
    if get_word(node) == OF_FLOAT:
        return float_of_bits(word)
    return float64(word) if -EXACT <= word <= EXACT else float64(math.nan)


@helper
def order_of_numbers(left: int64, right: int64) -> int64:
    """-1, 0 or 1, as a number of a document is less than another, equal or greater; or `UNKNOWN`."""
    if get_word(left) != OF_FLOAT and get_word(right) != OF_FLOAT:
        a = get_word(left + 8)
        b = get_word(right + 8)
        return int64(a > b) - int64(a < b)
    x = number_of_node(left)
    y = number_of_node(right)
    return int64(UNKNOWN) if x != x or y != y else int64(x > y) - int64(x < y)


@apart
@helper
def equal_nodes(left: int64, right: int64) -> int64:
    """Whether two values of documents at different addresses are equal."""
    if left == 0 or right == 0:
        return int64(NO)
    a = get_word(left)
    b = get_word(right)
    if a > OF_FLOAT or b > OF_FLOAT:
        size = get_word(left + 16) >> 1
        if a != b:
            return int64(NO)
        if a != OF_STR:
            return int64(UNKNOWN)
        is_same = size == get_word(right + 16) >> 1
        return int64(is_same and are_same(get_word(left + 8), get_word(right + 8), size))
    order = order_of_numbers(left, right)
    return int64(UNKNOWN if order == UNKNOWN else order == 0)


@apart
@helper
def less_nodes(left: int64, right: int64) -> int64:
    """Whether a value of a document is less than another at another address."""
    if left == 0 or right == 0:
        return int64(UNKNOWN)
    a = get_word(left)
    b = get_word(right)
    if a == OF_STR and b == OF_STR:
        sizes = get_word(left + 16) >> 1, get_word(right + 16) >> 1
        return int64(
            order_of_bytes(get_word(left + 8), sizes[0], get_word(right + 8), sizes[1]) < 0
        )
    if a > OF_FLOAT or b > OF_FLOAT:
        return int64(UNKNOWN)
    order = order_of_numbers(left, right)
    return int64(UNKNOWN if order == UNKNOWN else order < 0)


@helper
def equal_words(layout: Layout, left: Place, right: Place) -> int64:
    """Whether two items are one or equal: `YES`, `NO`, or `UNKNOWN` where both have a NaN."""
    while layout != 0:
        part = layout & 15
        layout >>= 4
        if part == OPAQUE:
            return int64(UNKNOWN)
        a = get_word(left)
        b = get_word(right)
        left += 8
        right += 8
        if part & 14 == TEXT:
            size = get_word(left) >> (BYTES - part)
            if size != get_word(right) >> (BYTES - part) or not are_same(a, b, size):
                return int64(NO)
            left += 8
            right += 8
        elif part == FLOAT:
            x = float_of_bits(a)
            y = float_of_bits(b)
            if x != y:
                return int64(UNKNOWN if x != x and y != y else NO)
        elif part == NODE:
            same = equal_nodes(a, b) if a != b else int64(YES)
            if same != YES:
                return same
        elif a != b:
            return int64(UNKNOWN if part == HANDLE else NO)
        elif part == OPTIONAL and a != 0:
            size = int64(16 if layout & 14 == TEXT else 8)
            left += size
            right += size
            layout >>= 4
    return int64(YES)


@helper
def less_words(layout: Layout, left: Place, right: Place) -> int64:
    """Whether an item is less than another: `YES`, `NO`, or `UNKNOWN` where a NaN or None decides."""
    while layout != 0:
        part = layout & 15
        layout >>= 4
        a = get_word(left)
        b = get_word(right)
        left += 8
        right += 8
        if part & 14 == TEXT:
            shift = BYTES - part
            order = order_of_bytes(a, get_word(left) >> shift, b, get_word(right) >> shift)
            if order != 0:
                return int64(order < 0)
            left += 8
            right += 8
        elif part == FLOAT:
            x = float_of_bits(a)
            y = float_of_bits(b)
            if x != y:
                return int64(UNKNOWN if x != x or y != y else x < y)
        elif part == OPTIONAL:
            if a != 0 or b != 0:
                return int64(UNKNOWN)
        elif part == NODE:
            same = equal_nodes(a, b) if a != b else int64(YES)
            if same != YES:
                return less_nodes(a, b) if same == NO else same
        elif a != b:
            return int64(UNKNOWN if part == HANDLE else a < b)
    return int64(NO)
