"""Operations of sets of row functions, which are dictionaries with values of no words.

In which order Python gives the elements of a set follows from their hashes: a row function that depends on
it is refused. Which of two equal elements stays (0.0 or -0.0) is as in Python.
"""

from __future__ import annotations

from numpy import int64

from colkern.kernels.kernel import helper
from colkern.kernels.primitives import get_word
from colkern.kernels.row_dicts import (
    COUNT,
    find_place,
    insert_place,
    new_dict,
    next_item,
    update,
)
from colkern.kernels.row_items import Layout
from colkern.kernels.row_values import DONE, NO_ROOM, Arena, Code


@helper
def set_of_list(
    arena: Arena, key_layout: Layout, key_words: int64, header: int64
) -> tuple[int64, Code]:
    """`set(list)`."""
    made = new_dict(arena, key_words)
    if made == 0:
        return made, NO_ROOM
    key = get_word(header)
    for _ in range(get_word(header + 8)):
        _place, code = insert_place(arena, key_layout, key_words, int64(0), made, key)
        if code != DONE:
            return made, code
        key += key_words * 8
    return made, DONE


@helper
def union(
    arena: Arena, key_layout: Layout, key_words: int64, left: int64, right: int64
) -> tuple[int64, Code]:
    """`left | right`."""
    made = new_dict(arena, key_words)
    code = int64(NO_ROOM if made == 0 else DONE)
    source = left
    # Twice around, as each call would be compiled by itself.
    for _ in range(2):
        if code == DONE:
            made, code = update(arena, key_layout, key_words, int64(0), made, source)
            source = right
    return made, code


@helper
def add_selected(
    arena: Arena,
    key_layout: Layout,
    key_words: int64,
    made: int64,
    source: int64,
    other: int64,
    wanted: bool,
) -> Code:
    """Add to a set the elements of `source` whose being in `other` is as `wanted`."""
    key = next_item(key_words, int64(0), source, int64(0))
    while key != 0:
        place, code = find_place(key_layout, key_words, int64(0), other, key)
        if code == DONE and (place != 0) == wanted:
            place, code = insert_place(arena, key_layout, key_words, int64(0), made, key)
        if code != DONE:
            return int64(code)
        key = next_item(key_words, int64(0), source, key)
    return int64(DONE)


@helper
def intersection(
    arena: Arena, key_layout: Layout, key_words: int64, left: int64, right: int64
) -> tuple[int64, Code]:
    """`left & right`: the elements of the smaller one, or of the right."""
    made = new_dict(arena, key_words)
    if made == 0:
        return made, NO_ROOM
    swapped = get_word(right + COUNT) > get_word(left + COUNT)
    source = left if swapped else right
    other = right if swapped else left
    return made, add_selected(arena, key_layout, key_words, made, source, other, True)


@helper
def difference(
    arena: Arena, key_layout: Layout, key_words: int64, left: int64, right: int64
) -> tuple[int64, Code]:
    """`left - right`."""
    made = new_dict(arena, key_words)
    if made == 0:
        return made, NO_ROOM
    return made, add_selected(arena, key_layout, key_words, made, left, right, False)


@helper
def symmetric_difference(
    arena: Arena, key_layout: Layout, key_words: int64, left: int64, right: int64
) -> tuple[int64, Code]:
    """`left ^ right`."""
    made = new_dict(arena, key_words)
    code = int64(NO_ROOM if made == 0 else DONE)
    for _ in range(2):
        if code == DONE:
            code = add_selected(arena, key_layout, key_words, made, left, right, False)
            left, right = right, left
    return made, code


@helper
def count_common(
    key_layout: Layout, key_words: int64, left: int64, right: int64
) -> tuple[int64, Code]:
    """How many elements of one set are in the other.

    None: `left.isdisjoint(right)`. As many as the left has: `left <= right`; with fewer than the right has,
    `left < right`.
    """
    found = int64(0)
    key = next_item(key_words, int64(0), left, int64(0))
    while key != 0:
        place, code = find_place(key_layout, key_words, int64(0), right, key)
        if code != DONE:
            return found, code
        found += int64(place != 0)
        key = next_item(key_words, int64(0), left, key)
    return found, DONE
