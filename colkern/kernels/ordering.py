"""Order: whether values of one array are less than those of another.

The range is over the bytes of the output: eight values make one. `flip` is 0, or 255 for the opposite: not
less is greater or equal. On either side one number may take the place of an array: see `Side`. Strings have
kernels of their own for that, as they take about half as long.

Columnar format 1.5: "Fixed-size Primitive Layout", "Variable-size Binary Layout", "Variable-size Binary
View Layout".
"""

from __future__ import annotations

from typing import Generic, NamedTuple

from numpy import uint8, uint64

from colkern.kernels.arguments import In, Index, O, Out, T, Truth
from colkern.kernels.bitmaps import bits_of_next
from colkern.kernels.kernel import helper, kernel
from colkern.kernels.lanes import SECTOR, bits_of_lanes
from colkern.kernels.primitives import (
    lane,
    lanes,
    prefetch,
    store_less_floats,
    store_less_integers,
    trailing_zeros,
    word_at,
)
from colkern.kernels.relations import eight_less_floats, eight_less_integers, is_less_float
from colkern.kernels.strings import (
    AHEAD,
    Pattern,
    Texts,
    Viewed,
    are_long,
    low_bytes,
    packed,
    reversed_bytes,
    source_of_view,
)
from colkern.layouts import VIEW_INLINE_BYTES

SIDE_BY_SIDE = 64
"""The number of times that one number stands in an array that is in the place of it."""

_LENGTH = (1 << 32) - 1
_MINUS = 1 << 63


class Side(NamedTuple, Generic[T]):
    """The values of one side: an array, and a stride of 1; or one value for all, and a stride of 0.

    One value is there `SIDE_BY_SIDE` times.
    """

    items: In[T]
    stride: uint64


@kernel()
def less_integers(
    start, stop, step, left: Side[T], right: Side[T], sign, length, flip, out: Out[uint8]
):
    """Bit i of `out` = whether left[i] < right[i]; `sign` is the place of the sign bit, 0 without one."""
    minus = uint64(1) << sign & ~uint64(1)
    kind = left.items.dtype.type
    turned = kind(minus)
    b = uint64(start)
    whole = min(uint64(stop), length >> uint64(3))
    while step == 1 and b + uint64(8) <= whole:
        at = b << uint64(3)
        store_less_integers(
            out, b, left.items, at * left.stride, right.items, at * right.stride, minus, flip
        )
        b += uint64(8)
    while step != 1 and b < whole:
        mine, other = (b << uint64(3)) * left.stride, (b << uint64(3)) * right.stride
        out[b] = uint8(eight_less_integers(left.items, mine, right.items, other, minus) ^ flip)
        b += uint64(step)
    while b < stop:
        first = b << uint64(3)
        bits = uint64(0)
        for i in range(first, min(first + uint64(8), length)):
            mine, other = left.items[uint64(i) * left.stride], right.items[uint64(i) * right.stride]
            bits |= uint64(kind(mine ^ turned) < kind(other ^ turned)) << (uint64(i) - first)
        out[b] = packed(bits, flip, length - first)
        b += uint64(step)


@kernel(T="f4 f8")
def less_floats(
    start, stop, step, left: Side[T], right: Side[T], relation, length, flip, out: Out[uint8]
):
    """Bit i of `out` = whether left[i] is in a relation of `colkern.kernels.relations` with right[i].

    Both zeros are one number. NaN is in no order with a number, so "not less" is not "greater or equal",
    but for the relation that has a place for NaN.
    """
    b = uint64(start)
    whole = min(uint64(stop), length >> uint64(3))
    while step == 1 and b + uint64(8) <= whole:
        at = b << uint64(3)
        store_less_floats(
            out, b, left.items, at * left.stride, right.items, at * right.stride, relation, flip
        )
        b += uint64(8)
    while step != 1 and b < whole:
        mine, other = (b << uint64(3)) * left.stride, (b << uint64(3)) * right.stride
        out[b] = uint8(eight_less_floats(left.items, mine, right.items, other, relation) ^ flip)
        b += uint64(step)
    while b < stop:
        first = b << uint64(3)
        bits = uint64(0)
        for i in range(first, min(first + uint64(8), length)):
            mine, other = left.items[uint64(i) * left.stride], right.items[uint64(i) * right.stride]
            bits |= uint64(is_less_float(mine, other, relation)) << (uint64(i) - first)
        out[b] = packed(bits, flip, length - first)
        b += uint64(step)


@helper
def is_less_pair(
    left: In[uint64], right: In[uint64], i: uint64, j: uint64, minus: uint64, below: uint64
) -> uint64:
    """1 if two words, the lower one first, are less than two others; `below` if they are the same."""
    low = uint64(left[i] < right[j]) | uint64(left[i] == right[j]) & below
    mine, other = left[i + uint64(1)] ^ minus, right[j + uint64(1)] ^ minus
    return uint64(mine < other) | uint64(mine == other) & low


@helper
def count_together(b: Index, stop: uint64, step: uint64, length: uint64) -> uint64:
    """The number of values from byte `b` of the output on that are compared together.

    64 for a thread with bytes one after the other, which makes vectors of them; else up to 8.
    """
    first = uint64(b) << uint64(3)
    if step == 1 and uint64(b) + uint64(8) <= stop and first + uint64(64) <= length:
        return uint64(64)
    return min(length - first, uint64(8))


@helper
def store_bits(bits: uint64, b: uint64, count: uint64, flip: uint64, out: Out[uint8]) -> uint64:
    """Write the bits of `count` values from byte `b` on, turned as by `packed`; returns the next byte."""
    if count < uint64(64):
        out[b] = packed(bits, flip, count)
        return b + uint64(1)
    for k in range(uint64(0), uint64(8)):
        out[b + uint64(k)] = uint8((bits >> (uint64(k) << uint64(3))) ^ flip)
    return b + uint64(8)


@helper
def less_pairs(left: Side[uint64], right: Side[uint64], first: uint64, count: uint64) -> uint64:
    """Bit `k` = whether value `first + k` is less, of values of two words."""
    mine, other = (first * left.stride) << uint64(1), (first * right.stride) << uint64(1)
    minus, none = uint64(_MINUS), uint64(0)
    bits = uint64(0)
    for k in range(lane(), count, lanes()):
        # One value is there often enough: a step that is known makes vectors.
        i = uint64(k) << uint64(1)
        less = is_less_pair(left.items, right.items, mine + i, other + i, minus, none)
        bits |= less << uint64(k)
    return bits


@kernel(grouped=True, most_lanes=SECTOR)
def less_decimals(
    start, stop, step, left: Side[uint64], right: Side[uint64], width, length, flip, out: Out[uint8]
):
    """Bit i of `out` = whether left[i] < right[i], signed integers of `width` words, the lowest first.

    `width` is even.
    """
    upper = width - uint64(2)
    pace, other_pace = left.stride * width, right.stride * width
    minus, none = uint64(_MINUS), uint64(0)
    b = uint64(start)
    while b < stop:
        first, count = b << uint64(3), count_together(b, stop, step, length)
        bits = uint64(0)
        if upper == 0 and count == uint64(64):
            bits = less_pairs(left, right, first, uint64(64))
        elif upper == 0:
            bits = less_pairs(left, right, first, count)
        else:
            for i in range(first + lane(), first + count, lanes()):
                mine, other = uint64(i) * pace, uint64(i) * other_pace
                less = uint64(0)
                for k in range(uint64(0), upper, uint64(2)):
                    low, high = mine + uint64(k), other + uint64(k)
                    less = is_less_pair(left.items, right.items, low, high, none, less)
                low, high = mine + upper, other + upper
                less = is_less_pair(left.items, right.items, low, high, minus, less)
                bits |= less << (uint64(i) - first)
        bits, after = bits_of_lanes(bits), uint64(0)
        if lane() == 0:
            after = store_bits(bits, b, count, flip, out)
        b = after if step == 1 else b + uint64(step)


@helper
def is_less_word(left: uint64, right: uint64, unlike: uint64) -> Truth:
    """Whether one word is less than another as a string of bytes; by the lowest bit of `unlike`."""
    first = trailing_zeros(unlike) & uint64(56)
    return (left >> first) & uint64(255) < (right >> first) & uint64(255)


@helper
def are_less(left: uint64, right: uint64, common: uint64, shorter: Truth) -> Truth:
    """Whether the string at `left` is less than that at `right`; their first 8 bytes are the same.

    They have `common` bytes, 8 at least; `shorter` is the answer if these are all the same.
    """
    # The last word overlaps the one before it: nothing behind the bytes is looked at.
    tail = common - uint64(8)
    k = min(uint64(8), tail)
    mine, other = word_at(left + k), word_at(right + k)
    while mine == other and k < tail:
        k = min(k + uint64(8), tail)
        mine, other = word_at(left + k), word_at(right + k)
    return shorter if mine == other else is_less_word(mine, other, mine ^ other)


@helper
def ask_for_texts(texts: Texts[O], first: uint64, length: uint64) -> None:
    """Ask for the bytes of eight values that are compared later: gathers do not announce their lines."""
    far = first + uint64(AHEAD)
    if far + uint64(8) > length:
        return
    if are_long(texts.offsets, far):
        for k in range(far, far + uint64(8)):
            prefetch(texts.base + uint64(texts.offsets[uint64(k)]))
    else:
        begin, end = uint64(texts.offsets[far]), uint64(texts.offsets[far + uint64(8)])
        for line in range(begin, end, uint64(64)):
            prefetch(texts.base + uint64(line))


@helper
def decided(bits: uint64, more: uint64, less: Truth) -> uint64:
    """`bits`, of which that at the lowest bit of `more` is now `less`."""
    lowest = more & ~(more - uint64(1))
    return bits & ~lowest | lowest * uint64(less)


@helper
def first_bytes(texts: Texts[O], place: uint64, size: uint64) -> uint64:
    """The first 8 bytes of a string, zeros behind its end: they are in order as a number is."""
    # As `near_word`, without its branch: vectors have none. Other loops are slower for it.
    begin = min(place, texts.last)
    half = (place - begin) << uint64(2)
    word = word_at(texts.base + begin) >> half >> half
    return reversed_bytes(word & low_bytes(min(size, uint64(8))))


@helper
def less_by_first_bytes(
    texts: Texts[O], pattern: Pattern, or_equal: uint64, first: uint64, count: uint64
) -> tuple[uint64, uint64]:
    """Bit `k` = whether string `first + k` is less; and of another word, whether further bytes decide."""
    bits, more = uint64(0), uint64(0)
    other = reversed_bytes(word_at(pattern.address) & low_bytes(min(pattern.length, uint64(8))))
    for k in range(uint64(0), count):
        i = first + uint64(k)
        place = uint64(texts.offsets[i])
        size = uint64(texts.offsets[i + uint64(1)]) - place
        mine = first_bytes(texts, place, size)
        same = uint64(mine == other)
        less = uint64(mine < other) | same & uint64(size < pattern.length + or_equal)
        bits |= less << uint64(k)
        more |= (same & uint64(min(size, pattern.length) > uint64(8))) << uint64(k)
    return bits, more


@kernel()
def less_text(
    start, stop, step, texts: Texts[O], pattern: Pattern, or_equal, length, flip, out: Out[uint8]
):
    """Bit i of `out` = whether byte string i is less than a pattern, or equal if `or_equal` is 1.

    The first eight bytes decide nearly always, without a branch.
    """
    b = uint64(start)
    while b < stop:
        first, count = b << uint64(3), count_together(b, stop, step, length)
        for k in range(first, first + count, uint64(8)):
            ask_for_texts(texts, uint64(k), length)
        if count == uint64(64):
            bits, more = less_by_first_bytes(texts, pattern, or_equal, first, uint64(64))
        else:
            bits, more = less_by_first_bytes(texts, pattern, or_equal, first, count)
        while more != 0:
            i = first + uint64(trailing_zeros(more))
            place = uint64(texts.offsets[i])
            size = uint64(texts.offsets[i + uint64(1)]) - place
            common, shorter = min(size, pattern.length), size < pattern.length + or_equal
            less = are_less(texts.base + place, pattern.address, common, shorter)
            bits = decided(bits, more, less)
            more &= more - uint64(1)
        after = store_bits(bits, b, count, flip, out)
        b = after if step == 1 else b + uint64(step)


@helper
def less_by_both_first_bytes(
    texts: Texts[O], others: Texts[O], first: uint64, count: uint64
) -> tuple[uint64, uint64]:
    """As `less_by_first_bytes`, of the strings of two arrays."""
    bits, more = uint64(0), uint64(0)
    for k in range(uint64(0), count):
        i = first + uint64(k)
        place, other_place = uint64(texts.offsets[i]), uint64(others.offsets[i])
        size = uint64(texts.offsets[i + uint64(1)]) - place
        other_size = uint64(others.offsets[i + uint64(1)]) - other_place
        mine, other = first_bytes(texts, place, size), first_bytes(others, other_place, other_size)
        same = uint64(mine == other)
        less = uint64(mine < other) | same & uint64(size < other_size)
        bits |= less << uint64(k)
        more |= (same & uint64(min(size, other_size) > uint64(8))) << uint64(k)
    return bits, more


@kernel()
def less_texts(start, stop, step, texts: Texts[O], others: Texts[O], length, flip, out: Out[uint8]):
    """Bit i of `out` = whether byte string i is less than that of another array; as `less_text`."""
    b = uint64(start)
    while b < stop:
        first, count = b << uint64(3), count_together(b, stop, step, length)
        for k in range(first, first + count, uint64(8)):
            ask_for_texts(texts, uint64(k), length)
            ask_for_texts(others, uint64(k), length)
        if count == uint64(64):
            bits, more = less_by_both_first_bytes(texts, others, first, uint64(64))
        else:
            bits, more = less_by_both_first_bytes(texts, others, first, count)
        while more != 0:
            i = first + uint64(trailing_zeros(more))
            place, other_place = uint64(texts.offsets[i]), uint64(others.offsets[i])
            size = uint64(texts.offsets[i + uint64(1)]) - place
            other_size = uint64(others.offsets[i + uint64(1)]) - other_place
            common, shorter = min(size, other_size), size < other_size
            less = are_less(texts.base + place, others.base + other_place, common, shorter)
            bits = decided(bits, more, less)
            more &= more - uint64(1)
        after = store_bits(bits, b, count, flip, out)
        b = after if step == 1 else b + uint64(step)


@helper
def are_less_behind_prefix(left: uint64, right: uint64, common: uint64, shorter: Truth) -> Truth:
    """As `are_less`, of strings whose first 4 bytes are the same, and of which 12 can be read."""
    mine, other = word_at(left + uint64(4)), word_at(right + uint64(4))
    unlike = (mine ^ other) & low_bytes(min(common - uint64(4), uint64(8)))
    if unlike != 0:
        return is_less_word(mine, other, unlike)
    return are_less(left, right, common, shorter) if common > VIEW_INLINE_BYTES else shorter


@helper
def ask_for_views(viewed: Viewed, first: uint64) -> None:
    """Ask for the 64 views behind those from `first` on; as `ask_for_texts`."""
    base = viewed.addresses[uint64(len(viewed.addresses)) - uint64(1)]
    begin = base + ((first + uint64(64)) << uint64(4))
    for line in range(begin, begin + uint64(1024), uint64(64)):
        prefetch(uint64(line))


@helper
def less_by_prefix(
    left: Viewed, pattern: Pattern, or_equal: uint64, first: uint64, count: uint64
) -> tuple[uint64, uint64]:
    """As `less_by_first_bytes`, by the four bytes that are in a view; a null is an empty string."""
    bits, more = uint64(0), uint64(0)
    other = reversed_bytes(word_at(pattern.address) & low_bytes(min(pattern.length, uint64(4))))
    known = bits_of_next(left.validity, first, count)
    for k in range(uint64(0), count):
        i = first + uint64(k)
        head = left.views[i << uint64(1)] if known >> uint64(k) & uint64(1) != 0 else uint64(0)
        size = head & uint64(_LENGTH)
        mine = reversed_bytes(head >> uint64(32) & low_bytes(min(size, uint64(4))))
        same = uint64(mine == other)
        less = uint64(mine < other) | same & uint64(size < pattern.length + or_equal)
        bits |= less << uint64(k)
        more |= (same & uint64(min(size, pattern.length) > uint64(4))) << uint64(k)
    return bits, more


@kernel()
def less_view(
    start, stop, step, left: Viewed, pattern: Pattern, or_equal, length, flip, out: Out[uint8]
):
    """Bit i of `out` = whether the value of view i is less than a pattern, or equal if `or_equal` is 1.

    A null is an empty string.
    """
    b = uint64(start)
    while b < stop:
        first, count = b << uint64(3), count_together(b, stop, step, length)
        if count == uint64(64):
            ask_for_views(left, first)
            bits, more = less_by_prefix(left, pattern, or_equal, first, uint64(64))
        else:
            bits, more = less_by_prefix(left, pattern, or_equal, first, count)
        while more != 0:
            i = first + uint64(trailing_zeros(more))
            size = left.views[i << uint64(1)] & uint64(_LENGTH)
            common, shorter = min(size, pattern.length), size < pattern.length + or_equal
            source = source_of_view(left.views, i, left.addresses)
            less = are_less_behind_prefix(source, pattern.address, common, shorter)
            bits = decided(bits, more, less)
            more &= more - uint64(1)
        after = store_bits(bits, b, count, flip, out)
        b = after if step == 1 else b + uint64(step)


@helper
def less_by_both_prefixes(
    left: Viewed, right: Viewed, first: uint64, count: uint64
) -> tuple[uint64, uint64]:
    """As `less_by_prefix`, of the views of two arrays; both are empty where one is null."""
    bits, more = uint64(0), uint64(0)
    known = bits_of_next(left.validity, first, count) & bits_of_next(right.validity, first, count)
    for k in range(uint64(0), count):
        i = first + uint64(k)
        head, other_head = left.views[i << uint64(1)], right.views[i << uint64(1)]
        if known >> uint64(k) & uint64(1) == 0:
            head = other_head = uint64(0)
        size, other_size = head & uint64(_LENGTH), other_head & uint64(_LENGTH)
        mine = reversed_bytes(head >> uint64(32) & low_bytes(min(size, uint64(4))))
        other = reversed_bytes(other_head >> uint64(32) & low_bytes(min(other_size, uint64(4))))
        same = uint64(mine == other)
        less = uint64(mine < other) | same & uint64(size < other_size)
        bits |= less << uint64(k)
        more |= (same & uint64(min(size, other_size) > uint64(4))) << uint64(k)
    return bits, more


@kernel()
def less_views(start, stop, step, left: Viewed, right: Viewed, length, flip, out: Out[uint8]):
    """Bit i of `out` = whether the value of view i is less than that of another array's; not if null."""
    b = uint64(start)
    while b < stop:
        first, count = b << uint64(3), count_together(b, stop, step, length)
        if count == uint64(64):
            ask_for_views(left, first)
            ask_for_views(right, first)
            bits, more = less_by_both_prefixes(left, right, first, uint64(64))
        else:
            bits, more = less_by_both_prefixes(left, right, first, count)
        while more != 0:
            i = first + uint64(trailing_zeros(more))
            size = left.views[i << uint64(1)] & uint64(_LENGTH)
            other_size = right.views[i << uint64(1)] & uint64(_LENGTH)
            common, shorter = min(size, other_size), size < other_size
            source = source_of_view(left.views, i, left.addresses)
            other_source = source_of_view(right.views, i, right.addresses)
            less = are_less_behind_prefix(source, other_source, common, shorter)
            bits = decided(bits, more, less)
            more &= more - uint64(1)
        after = store_bits(bits, b, count, flip, out)
        b = after if step == 1 else b + uint64(step)
