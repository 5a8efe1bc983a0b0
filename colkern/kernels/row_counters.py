"""Counters of row functions: dictionaries whose values are counts."""

from __future__ import annotations

from numpy import int64

from colkern.kernels.kernel import helper
from colkern.kernels.primitives import get_word, set_word
from colkern.kernels.row_dicts import COUNT, insert_place, new_dict, next_item
from colkern.kernels.row_items import NUMBER, Layout, copy_words
from colkern.kernels.row_lists import new_list
from colkern.kernels.row_sorting import sort
from colkern.kernels.row_values import DONE, NO_ROOM, Arena, Code


@helper
def count_items(
    arena: Arena, key_layout: Layout, key_words: int64, header: int64
) -> tuple[int64, Code]:
    """`Counter(list)`."""
    counter = new_dict(arena, key_words)
    if counter == 0:
        return counter, NO_ROOM
    key = get_word(header)
    for _ in range(get_word(header + 8)):
        place, code = insert_place(arena, key_layout, key_words, int64(1), counter, key)
        if code != DONE:
            return counter, code
        set_word(place, get_word(place) + 1)
        key += key_words * 8
    return counter, DONE


@helper
def most_common(arena: Arena, key_words: int64, header: int64, most: int64) -> tuple[int64, Code]:
    """`Counter.most_common(most)`, pairs of a key and its count; of all of them the greatest int64."""
    words = key_words + 1
    pairs = new_list(arena, words, get_word(header + COUNT))
    if pairs == 0:
        return pairs, NO_ROOM
    set_word(pairs + 8, get_word(header + COUNT))
    target = get_word(pairs)
    key = next_item(key_words, int64(1), header, int64(0))
    while key != 0:
        # The count first: what is sorted by.
        set_word(target, get_word(key + key_words * 8))
        copy_words(key, target + 8, key_words)
        target += words * 8
        key = next_item(key_words, int64(1), header, key)
    pairs, code = sort(arena, int64(NUMBER), words, pairs, True)
    size = max(min(get_word(pairs + 8), most), int64(0))
    set_word(pairs + 8, size)
    place = get_word(pairs)
    for _ in range(size):
        count = get_word(place)
        copy_words(place + 8, place, key_words)
        set_word(place + key_words * 8, count)
        place += words * 8
    return pairs, code
