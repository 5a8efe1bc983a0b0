"""Lists that row functions make: a header of three words in the arena, and items elsewhere in it.

The header has the address of the items, how many there are, and how many have room. A list is the address
of its header, so that two names of one list see the same items. An item has `item_words` words, and what
they are is its layout (`colkern.kernels.row_items`). A place in a list is good until the list changes.
"""

from __future__ import annotations

from numpy import int64

from colkern.kernels.kernel import apart, helper
from colkern.kernels.primitives import difference_overflows, get_word, set_word
from colkern.kernels.row_items import (
    NO,
    UNKNOWN,
    Layout,
    Place,
    Room,
    copy_words,
    equal_words,
    less_words,
)
from colkern.kernels.row_values import (
    DONE,
    GREATEST,
    INDEX_ERROR,
    LEFT,
    NO_ROOM,
    VALUE_ERROR,
    Arena,
    Code,
    allocate,
)


@helper
def new_list(arena: Arena, item_words: int64, capacity: int64) -> int64:
    """An empty list with room for `capacity` items; 0 if the arena has no room."""
    header = allocate(arena, 24 + capacity * item_words * 8)
    if header == 0:
        return int64(0)
    set_word(header, header + 24)
    set_word(header + 8, int64(0))
    set_word(header + 16, capacity)
    return header


@helper
def list_size(header: int64) -> int64:
    """The number of items of a list, set or dictionary."""
    return get_word(header + 8)


@helper
def item_place(item_words: int64, header: int64, k: int64) -> int64:
    """The address of item `k`, which must be there."""
    return get_word(header) + k * item_words * 8


@helper
def append_place(arena: Arena, item_words: int64, header: int64) -> int64:
    """The address of a new last item, whose words are to be written; 0 if the arena has no room."""
    count = get_word(header + 8)
    if not has_room(arena, item_words, header, int64(1)):
        return int64(0)
    set_word(header + 8, count + 1)
    return get_word(header) + count * item_words * 8


@helper
def has_room(arena: Arena, item_words: int64, header: int64, count: int64) -> bool:
    """Make room for `count` items more, if any for half as many again; false if there is none."""
    if get_word(header + 8) + count <= get_word(header + 16):
        return True
    return is_grown(arena, item_words, header, count)


@apart
@helper
def is_grown(arena: Arena, item_words: int64, header: int64, count: int64) -> bool:
    """Move a list to where it has room for `count` items more; false if there is none."""
    size = get_word(header + 8)
    capacity = max(size + count, size + (size >> 1) + 4)
    items = allocate(arena, capacity * item_words * 8)
    if items == 0:
        return False
    copy_words(get_word(header), items, size * item_words)
    set_word(header, items)
    set_word(header + 16, capacity)
    return True


# Items by position.


@helper
def index_place(item_words: int64, header: int64, k: int64) -> tuple[Place, Code]:
    """`list[k]`."""
    count = get_word(header + 8)
    if k < 0:
        k += count
    if k < 0 or k >= count:
        return int64(0), INDEX_ERROR
    return get_word(header) + k * item_words * 8, DONE


@helper
def pop_place(item_words: int64, header: int64, k: int64) -> tuple[Place, Code]:
    """`list.pop(k)`; also `del list[k]`. The item lies behind the last one then."""
    place, code = index_place(item_words, header, k)
    if code != DONE:
        return place, code
    last = get_word(header + 8) - 1
    set_word(header + 8, last)
    end = get_word(header) + last * item_words * 8
    size = item_words * 8
    for word in range(item_words):
        at = place + word * 8
        popped = get_word(at)
        while at + size <= end + word * 8:
            set_word(at, get_word(at + size))
            at += size
        set_word(at, popped)
    return end, DONE


@helper
def insert_place(arena: Arena, item_words: int64, header: int64, k: int64) -> tuple[Room, Code]:
    """`list.insert(k, …)`: where the new item's words are to be written."""
    count = get_word(header + 8)
    if k < 0:
        k = max(k + count, int64(0))
    k = min(k, count)
    end = append_place(arena, item_words, header)
    if end == 0:
        return end, NO_ROOM
    size = item_words * 8
    place = end - (count - k) * size
    while end > place:
        copy_words(end - size, end, item_words)
        end -= size
    return place, DONE


@helper
def clear(header: int64) -> int64:
    """`list.clear()`: the same list, empty."""
    set_word(header + 8, int64(0))
    return header


@helper
def reverse(item_words: int64, header: int64) -> int64:
    """`list.reverse()`: the same list, turned."""
    size = item_words * 8
    low = get_word(header)
    high = low + (get_word(header + 8) - 1) * size
    while low < high:
        for word in range(item_words):
            kept = get_word(low + word * 8)
            set_word(low + word * 8, get_word(high + word * 8))
            set_word(high + word * 8, kept)
        low += size
        high -= size
    return header


# Lists of lists' items.


@helper
def slice_list(
    arena: Arena, item_words: int64, header: int64, start: int64, stop: int64, step: int64
) -> tuple[int64, Code]:
    """`list[start:stop:step]`.

    A bound that is left out is the least int64 or the greatest: `start` the least and `stop` the greatest
    where `step` is above 0, else the other way round.
    """
    if step == 0:
        return int64(0), VALUE_ERROR
    start, count = sliced(get_word(header + 8), start, stop, step)
    part = new_list(arena, item_words, count)
    if part == 0:
        return part, NO_ROOM
    set_word(part + 8, count)
    for k in range(count):
        source = item_place(item_words, header, start + k * step)
        copy_words(source, item_place(item_words, part, int64(k)), item_words)
    return part, DONE


@helper
def sliced(size: int64, start: int64, stop: int64, step: int64) -> tuple[int64, int64]:
    """Which of `size` items a slice begins with, and how many it has; for bounds, see `slice_list`."""
    start = slice_bound(size, start, step)
    count, _ = range_size(start, slice_bound(size, stop, step), step)
    return start, count


@helper
def slice_bound(size: int64, bound: int64, step: int64) -> int64:
    """A bound of a slice as a position in `size` items, from -1 on."""
    if bound < 0:
        bound += size
    low = int64(-1) if step < 0 else int64(0)
    return max(low, min(bound, size + low))


@helper
def extend(arena: Arena, item_words: int64, header: int64, other: int64) -> tuple[int64, Code]:
    """`list.extend(other)`, `list += other`: the same list, with the items of a list behind its own."""
    count = get_word(other + 8)
    if not has_room(arena, item_words, header, count):
        return header, NO_ROOM
    size = get_word(header + 8)
    copy_words(get_word(other), item_place(item_words, header, size), count * item_words)
    set_word(header + 8, size + count)
    return header, DONE


@helper
def concatenate(arena: Arena, item_words: int64, left: int64, right: int64) -> tuple[int64, Code]:
    """`list + list`."""
    both = new_list(arena, item_words, get_word(left + 8) + get_word(right + 8))
    if both == 0:
        return both, NO_ROOM
    extend(arena, item_words, both, left)
    extend(arena, item_words, both, right)
    return both, DONE


@helper
def repeat(arena: Arena, item_words: int64, header: int64, times: int64) -> tuple[int64, Code]:
    """`list * times`."""
    count = get_word(header + 8)
    if times <= 0 or count == 0:
        times = int64(0)
    # More than any arena has, and whose product with the size is an int64.
    if times > 1 << 32:
        return int64(0), LEFT
    many = new_list(arena, item_words, count * times)
    if many == 0:
        return many, NO_ROOM
    for k in range(times):
        place = item_place(item_words, many, int64(k) * count)
        copy_words(get_word(header), place, count * item_words)
    set_word(many + 8, count * times)
    return many, DONE


# Comparison.


@helper
def find_from(
    item_layout: Layout, item_words: int64, header: int64, value: Place, start: int64, stop: int64
) -> tuple[int64, Code]:
    """The position of the first item from `start` to before `stop` that is `value`; -1 if none is."""
    stop = min(stop, get_word(header + 8))
    while start < stop:
        same = equal_words(item_layout, item_place(item_words, header, start), value)
        if same != NO:
            return start, LEFT if same == UNKNOWN else DONE
        start += 1
    return int64(-1), DONE


@helper
def is_in(item_layout: Layout, item_words: int64, value: Place, header: int64) -> tuple[bool, Code]:
    """`value in list`."""
    size = get_word(header + 8)
    position, code = find_from(item_layout, item_words, header, value, int64(0), size)
    return bool(position >= 0), code


@helper
def index(
    item_layout: Layout, item_words: int64, header: int64, value: Place, start: int64, stop: int64
) -> tuple[int64, Code]:
    """`list.index(value, start, stop)`; without bounds 0 and the greatest int64."""
    size = get_word(header + 8)
    start = slice_bound(size, start, int64(1))
    stop = slice_bound(size, stop, int64(1))
    position, code = find_from(item_layout, item_words, header, value, start, stop)
    return position, VALUE_ERROR if position < 0 else code


@helper
def count(
    item_layout: Layout, item_words: int64, header: int64, value: Place
) -> tuple[int64, Code]:
    """`list.count(value)`."""
    total = int64(0)
    for k in range(get_word(header + 8)):
        same = equal_words(item_layout, item_place(item_words, header, int64(k)), value)
        if same == UNKNOWN:
            return total, LEFT
        total += same
    return total, DONE


@helper
def remove(
    item_layout: Layout, item_words: int64, header: int64, value: Place
) -> tuple[int64, Code]:
    """`list.remove(value)`: the same list."""
    size = get_word(header + 8)
    position, code = find_from(item_layout, item_words, header, value, int64(0), size)
    if position < 0:
        return header, VALUE_ERROR
    if code == DONE:
        pop_place(item_words, header, position)
    return header, code


@helper
def lists_equal(
    item_layout: Layout, item_words: int64, left: int64, right: int64
) -> tuple[bool, Code]:
    """`left == right`."""
    size = get_word(left + 8)
    if size != get_word(right + 8):
        return False, DONE
    for k in range(size):
        a = item_place(item_words, left, int64(k))
        b = item_place(item_words, right, int64(k))
        same = equal_words(item_layout, a, b)
        if same != 1:
            return False, LEFT if same == UNKNOWN else DONE
    return True, DONE


@helper
def compare_lists(
    item_layout: Layout, item_words: int64, left: int64, right: int64
) -> tuple[int64, Code]:
    """-1, 0 or 1, as a list is less than another, equal or greater: for `<`, `<=`, `>`, `>=`."""
    left_size = get_word(left + 8)
    right_size = get_word(right + 8)
    for k in range(min(left_size, right_size)):
        a = item_place(item_words, left, int64(k))
        b = item_place(item_words, right, int64(k))
        same = equal_words(item_layout, a, b)
        if same == UNKNOWN:
            return int64(0), LEFT
        if same == NO:
            less = less_words(item_layout, a, b)
            return int64(-1) if less != NO else int64(1), LEFT if less == UNKNOWN else DONE
    return int64(left_size > right_size) - int64(left_size < right_size), DONE


# Ranges


@helper
def range_size(start: int64, stop: int64, step: int64) -> tuple[int64, Code]:
    """The length of `range(start, stop, step)`; a step of 0 is a ValueError.

    More than an int64 holds are left to Python.
    """
    if step == 0:
        return int64(0), VALUE_ERROR
    if step < 0:
        # The least int64 has no opposite; a step that is less by one leads as far.
        start, stop, step = stop, start, -max(step, int64(-GREATEST))
    if start >= stop:
        return int64(0), DONE
    if difference_overflows(stop, start):
        return int64(0), LEFT
    return (stop - start - 1) // step + 1, DONE
