"""Operations of sets of row functions, which are dictionaries with values of no words.

In which order Python gives the elements of a set follows from their hashes: a row function that depends on
it is refused. Which of two equal elements stays (0.0 or -0.0) is as in Python.
"""

from __future__ import annotations

from numpy import int64

from colkern.kernels.kernel import helper
from colkern.kernels.primitives import get_word
from colkern.kernels.row_dicts import COUNT, find_place, insert_place, new_dict, next_item
from colkern.kernels.row_items import Layout
from colkern.kernels.row_values import DONE, NO_ROOM, Arena, Code


@helper
def add_selected(
    arena: Arena,
    key_layout: Layout,
    key_words: int64,
    result: int64,
    source: int64,
    other: int64,
    wanted: bool,
) -> Code:
    """Add to a set the elements of `source` whose being in `other` is as `wanted`."""
    key = next_item(key_words, int64(0), source, int64(0))
    while key != 0:
        place, code = find_place(key_layout, key_words, int64(0), other, key)
        if code == DONE and (place != 0) == wanted:
            place, code = insert_place(arena, key_layout, key_words, int64(0), result, key)
        if code != DONE:
            return code
        key = next_item(key_words, int64(0), source, key)
    return DONE


@helper
def intersection(
    arena: Arena, key_layout: Layout, key_words: int64, left: int64, right: int64
) -> tuple[int64, Code]:
    """`left & right`: the elements of the smaller one, or of the right."""
    result = new_dict(arena, key_words)
    if result == 0:
        return result, NO_ROOM
    swapped = get_word(right + COUNT) > get_word(left + COUNT)
    source = left if swapped else right
    other = right if swapped else left
    return result, add_selected(arena, key_layout, key_words, result, source, other, True)


@helper
def difference(
    arena: Arena, key_layout: Layout, key_words: int64, left: int64, right: int64
) -> tuple[int64, Code]:
    """`left - right`."""
    result = new_dict(arena, key_words)
    if result == 0:
        return result, NO_ROOM
    return result, add_selected(arena, key_layout, key_words, result, left, right, False)


@helper
def symmetric_difference(
    arena: Arena, key_layout: Layout, key_words: int64, left: int64, right: int64
) -> tuple[int64, Code]:
    """`left ^ right`."""
    result = new_dict(arena, key_words)
    code = NO_ROOM if result == 0 else DONE
    for _ in range(2):
        if code == DONE:
            code = add_selected(arena, key_layout, key_words, result, left, right, False)
            left, right = right, left
    return result, code


@helper
def count_common(
    key_layout: Layout, key_words: int64, left: int64, right: int64
) -> tuple[int64, Code]:
    """The number of elements of one set that are in the other."""
    total = int64(0)
    key = next_item(key_words, int64(0), left, int64(0))
    while key != 0:
        place, code = find_place(key_layout, key_words, int64(0), right, key)
        if code != DONE:
            return total, code
        total += int64(place != 0)
        key = next_item(key_words, int64(0), left, key)
    return total, DONE


@helper
def is_subset(key_layout: Layout, key_words: int64, left: int64, right: int64) -> tuple[bool, Code]:
    """`left <= right`, `left.issubset(right)`."""
    common, code = count_common(key_layout, key_words, left, right)
    return bool(common == get_word(left + COUNT)), code
