"""Lists of row functions in order: pairs of sorted runs merged, from runs of one item on; stable."""

from __future__ import annotations

from numpy import int64

from colkern.kernels.kernel import helper
from colkern.kernels.primitives import get_word, set_word
from colkern.kernels.row_items import NO, UNKNOWN, Layout, copy_words, less_words
from colkern.kernels.row_lists import repeat
from colkern.kernels.row_values import DONE, LEFT, NO_ROOM, Arena, Code, allocate


@helper
def sort(
    arena: Arena, item_layout: Layout, item_words: int64, header: int64, descending: bool
) -> tuple[int64, Code]:
    """`list.sort(reverse=descending)`: the same list, by what the layout speaks of in an item."""
    count = get_word(header + 8)
    whole = count * item_words * 8
    target = allocate(arena, whole)
    if target == 0:
        return header, NO_ROOM
    items = get_word(header)
    width = item_words * 8
    while width < whole:
        if not merge_runs(item_layout, item_words, items, target, whole, width, descending):
            return header, LEFT
        items, target = target, items
        width *= 2
    if items != get_word(header):
        # Where the items are now has room for just as many.
        set_word(header, items)
        set_word(header + 16, count)
    return header, DONE


@helper
def sorted_list(
    arena: Arena, item_layout: Layout, item_words: int64, header: int64, descending: bool
) -> tuple[int64, Code]:
    """`sorted(list, reverse=descending)`."""
    other, code = repeat(arena, item_words, header, int64(1))
    if code != DONE:
        return other, code
    return sort(arena, item_layout, item_words, other, descending)


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
    """Merge pairs of sorted runs of `width` bytes (the last may be shorter); false where order is unknown.

    They are `whole` bytes of items of a layout and a number of words, and go to `target`.
    """
    size = words * 8
    begin = int64(0)
    while begin < whole:
        left = items + begin
        middle = items + min(begin + width, whole)
        right = middle
        begin += width * 2
        end = items + min(begin, whole)
        while left < middle or right < end:
            takes_right = left == middle
            if left < middle and right < end:
                less = less_words(
                    layout, left if descending else right, right if descending else left
                )
                if less == UNKNOWN:
                    return False
                takes_right = less != NO
            source = left
            if takes_right:
                source = right
                right += size
            else:
                left += size
            copy_words(source, target, words)
            target += size
    return True
