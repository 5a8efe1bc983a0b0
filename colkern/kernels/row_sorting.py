"""Lists of row functions in order: short runs by insertion, then pairs of runs merged; stable."""

from __future__ import annotations

from numpy import int64

from colkern.kernels.kernel import helper
from colkern.kernels.primitives import get_word, set_word
from colkern.kernels.row_items import NO, UNKNOWN, Layout, copy_words, less_words
from colkern.kernels.row_lists import copy_list
from colkern.kernels.row_values import DONE, LEFT, NO_ROOM, Arena, Code, allocate

RUN = 8
"""The items of a run that insertion sorts."""


@helper
def sort(
    arena: Arena, item_layout: Layout, item_words: int64, header: int64, descending: bool
) -> tuple[int64, Code]:
    """`list.sort(reverse=descending)`: the same list, by what the layout speaks of in an item."""
    size = item_words * int64(8)
    count = get_word(header + int64(8))
    buffer = allocate(arena, (count if count > RUN else int64(1)) * size)
    if buffer == 0:
        return header, NO_ROOM
    items = get_word(header)
    if not sort_runs(item_layout, item_words, items, items + count * size, buffer, descending):
        return header, LEFT
    width = RUN * size
    whole = count * size
    while width < whole:
        if not merge_runs(item_layout, item_words, items, buffer, whole, width, descending):
            return header, LEFT
        items, buffer = buffer, items
        width *= int64(2)
    if count > 0 and items != get_word(header):
        # Where the items are now has room for just as many.
        set_word(header, items)
        set_word(header + int64(16), count)
    return header, DONE


@helper
def sorted_list(
    arena: Arena, item_layout: Layout, item_words: int64, header: int64, descending: bool
) -> tuple[int64, Code]:
    """`sorted(list, reverse=descending)`."""
    other, code = copy_list(arena, item_words, header)
    if code != DONE:
        return other, code
    return sort(arena, item_layout, item_words, other, descending)


@helper
def comes_first(layout: Layout, left: int64, right: int64, descending: bool) -> int64:
    """Whether one item has to stand before another, by their order alone."""
    return less_words(layout, right if descending else left, left if descending else right)


@helper
def sort_runs(
    layout: Layout, words: int64, begin: int64, end: int64, spare: int64, descending: bool
) -> bool:
    """Sort each run of the items from `begin` to `end`; false where their order is unknown.

    `spare` has room for one item.
    """
    size = words * int64(8)
    run = begin
    place = begin + size
    while place < end:
        if place - run == RUN * size:
            run = place
        hole = place
        copy_words(place, spare, words)
        while hole > run:
            first = comes_first(layout, spare, hole - size, descending)
            if first == UNKNOWN:
                return False
            if first == NO:
                break
            copy_words(hole - size, hole, words)
            hole -= size
        copy_words(spare, hole, words)
        place += size
    return True


@helper
def merge_runs(
    layout: Layout,
    words: int64,
    items: int64,
    target: int64,
    whole: int64,
    width: int64,
    descending: bool,
) -> bool:
    """Merge pairs of runs of `width` bytes of the `whole` ones at `items`; false as `sort_runs`."""
    size = words * int64(8)
    begin = int64(0)
    while begin < whole:
        left = items + begin
        middle = items + min(begin + width, whole)
        right = middle
        end = items + min(begin + width * int64(2), whole)
        while left < middle or right < end:
            first = int64(right < end)
            if left < middle and right < end:
                first = comes_first(layout, right, left, descending)
                if first == UNKNOWN:
                    return False
            if first != NO:
                copy_words(right, target, words)
                right += size
            else:
                copy_words(left, target, words)
                left += size
            target += size
        begin += width * int64(2)
    return True
