"""Lists that row functions make: a header of three words in the arena, and items elsewhere in it.

The header has the address of the items, how many there are, and how many have room. A list is the address
of its header, so that two names of one list see the same items. An item has `item_words` words.
"""

from __future__ import annotations

from numpy import int64

from colkern.kernels.kernel import helper
from colkern.kernels.primitives import get_word, set_word
from colkern.kernels.row_values import Arena, allocate, copy


@helper
def new_list(arena: Arena, item_words: int64, capacity: int64) -> int64:
    """An empty list with room for `capacity` items; 0 if the arena has no room."""
    header = allocate(arena, int64(24))
    items = allocate(arena, capacity * item_words * int64(8))
    if header == 0 or items == 0:
        return int64(0)
    set_word(header, items)
    set_word(header + int64(8), int64(0))
    set_word(header + int64(16), capacity)
    return header


@helper
def list_size(header: int64) -> int64:
    """How many items a list has."""
    return get_word(header + int64(8))


@helper
def item_place(item_words: int64, header: int64, k: int64) -> int64:
    """The address of item `k`, which must be there."""
    return get_word(header) + k * item_words * int64(8)


@helper
def append_place(arena: Arena, item_words: int64, header: int64) -> int64:
    """The address of a new last item, whose words are to be written; 0 if the arena has no room."""
    count = get_word(header + int64(8))
    capacity = get_word(header + int64(16))
    if count == capacity:
        capacity = capacity * int64(2) + int64(4)
        items = allocate(arena, capacity * item_words * int64(8))
        if items == 0:
            return int64(0)
        copy(get_word(header), items, count * item_words * int64(8))
        set_word(header, items)
        set_word(header + int64(16), capacity)
    set_word(header + int64(8), count + int64(1))
    return get_word(header) + count * item_words * int64(8)
