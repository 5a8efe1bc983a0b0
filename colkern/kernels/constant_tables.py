"""Keys looked up in dictionaries and sets with keys of one text or number.

`colkern.rows.constants` lays constants out as `colkern.kernels.row_dicts` does, so that all bodies that
only read take them. These take a key as it is: with them, nobody has to write its words anywhere.
"""

from __future__ import annotations

from numpy import int64

from colkern.kernels.kernel import helper
from colkern.kernels.primitives import get_word
from colkern.kernels.row_dicts import MASK, SLOTS, as_optional
from colkern.kernels.row_items import Layout, Place, hash_bytes, mix
from colkern.kernels.row_values import Arena, Code, Text
from colkern.kernels.text_words import are_same


@helper
def find_text(value_words: int64, header: int64, key: Text) -> Place:
    """The value of a key that is a text; 0 if it is not there."""
    size_of_entry = (3 + value_words) * 8
    entries = get_word(header) - size_of_entry
    slots = get_word(header + SLOTS)
    mask = get_word(header + MASK)
    key_hash = hash_bytes(int64(0), key.address, key.size) | 1
    slot = (key_hash >> 1) & mask
    number = get_word(slots + slot * 8)
    while number != 0:
        entry = entries + number * size_of_entry
        is_same = get_word(entry) == key_hash and get_word(entry + 16) >> 1 == key.size
        # Below eight bytes, no other text has this hash.
        if is_same and (key.size < 8 or are_same(get_word(entry + 8), key.address, key.size)):
            return entry + 24
        slot = (slot + 1) & mask
        number = get_word(slots + slot * 8)
    return int64(0)


@helper
def find_number(value_words: int64, header: int64, key: int64) -> Place:
    """The value of a key that is a word by itself (an int, a bool, a date); 0 if it is not there."""
    size_of_entry = (2 + value_words) * 8
    entries = get_word(header) - size_of_entry
    slots = get_word(header + SLOTS)
    mask = get_word(header + MASK)
    slot = (mix(int64(0), int64(key)) >> 1) & mask
    number = get_word(slots + slot * 8)
    while number != 0:
        entry = entries + number * size_of_entry
        # A deleted entry keeps the words of its key.
        if get_word(entry + 8) == key and get_word(entry) != 0:
            return entry + 16
        slot = (slot + 1) & mask
        number = get_word(slots + slot * 8)
    return int64(0)


# Rows of the table for such keys.


@helper
def get_text_optional(
    arena: Arena, value_layout: Layout, value_words: int64, header: int64, key: Text
) -> tuple[Place, Code]:
    """`dict.get(key)` of a text."""
    return as_optional(arena, value_layout, value_words, find_text(value_words, header, key))


@helper
def get_number_optional(
    arena: Arena, value_layout: Layout, value_words: int64, header: int64, key: int64
) -> tuple[Place, Code]:
    """`dict.get(key)` of an int."""
    return as_optional(arena, value_layout, value_words, find_number(value_words, header, key))
