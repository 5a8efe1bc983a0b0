"""Order: whether values of one array are less than those of another.

The range is over the bytes of the output: eight values make one. `flip` turns the answer: not less is
greater or equal. On either side there may be one number instead of an array, which is beside all numbers
of the other side: the place of a number is multiplied by the side's `stride`, 1 or 0. Strings have
kernels of their own for that, as they take about half as long.

Columnar format 1.5: "Fixed-size Primitive Layout", "Variable-size Binary Layout", "Variable-size Binary
View Layout".
"""

from __future__ import annotations

from typing import Any

from numpy import uint64

from colkern.kernels.bitmaps import valid_mask
from colkern.kernels.kernel import helper, kernel
from colkern.kernels.primitives import (
    prefetch,
    store_less_floats,
    store_less_integers,
    trailing_zeros,
    word_at,
)
from colkern.kernels.relations import is_less_float, is_less_integer
from colkern.kernels.strings import AHEAD, are_long, low_bytes, near_word, packed, source_of_view

SIDE_BY_SIDE = 64
"""How often one number stands in an array that is in the place of it."""

_LENGTH = (1 << 32) - 1
_MINUS = 1 << 63


@kernel(
    "left: T[], stride: u8, right: T[], other_stride: u8, minus: u8, length: u8, flip: u8,"
    "out: u1[w]",
    T="u1 u2 u4 u8",
)
def less_integers(start, stop, step, left, stride, right, other_stride, minus, length, flip, out):
    """Bit i of `out` = whether integer i of `left` is less than that of `right`.

    left: T[length], or `SIDE_BY_SIDE` times one value if its stride is 0
    stride: 1, or 0 for one value
    right: as `left`
    other_stride: as `stride`, of `right`
    minus: the sign bit; 0 for integers without sign
    length: the number of values
    flip: 0, or 255 for the opposite
    out: uint8[ceil(length / 8)]; bits past `length` become zero
    """
    b = uint64(start)
    whole = min(uint64(stop), length >> uint64(3))
    while step == 1 and b + uint64(8) <= whole:
        at = b << uint64(3)
        store_less_integers(out, b, left, at * stride, right, at * other_stride, minus, flip)
        b += uint64(8)
    while b < stop:
        first = b << uint64(3)
        bits = uint64(0)
        for i in range(first, min(first + uint64(8), length)):
            mine, other = left[uint64(i) * stride], right[uint64(i) * other_stride]
            bits |= uint64(is_less_integer(mine, other, minus)) << (uint64(i) - first)
        out[b] = packed(bits, flip, length - first)
        b += uint64(step)


@kernel(
    "left: T[], stride: u8, right: T[], other_stride: u8, relation: u8, length: u8, flip: u8,"
    "out: u1[w]",
    T="f4 f8",
)
def less_floats(start, stop, step, left, stride, right, other_stride, relation, length, flip, out):
    """Bit i of `out` = whether float i of `left` is in a relation with that of `right`.

    Both zeros are one number. As NaN is in no order with a number, not less is not the same as greater or
    equal, but for the relation that has a place for it.

    left: T[length], or `SIDE_BY_SIDE` times one value if its stride is 0
    stride: 1, or 0 for one value
    right: as `left`
    other_stride: as `stride`, of `right`
    relation: one of `colkern.kernels.relations`
    length: the number of values
    flip: 0, or 255 for the opposite
    out: uint8[ceil(length / 8)]; bits past `length` become zero
    """
    b = uint64(start)
    whole = min(uint64(stop), length >> uint64(3))
    while step == 1 and b + uint64(8) <= whole:
        at = b << uint64(3)
        store_less_floats(out, b, left, at * stride, right, at * other_stride, relation, flip)
        b += uint64(8)
    while b < stop:
        first = b << uint64(3)
        bits = uint64(0)
        for i in range(first, min(first + uint64(8), length)):
            mine, other = left[uint64(i) * stride], right[uint64(i) * other_stride]
            bits |= uint64(is_less_float(mine, other, relation)) << (uint64(i) - first)
        out[b] = packed(bits, flip, length - first)
        b += uint64(step)


@kernel(
    "left: u8[], stride: u8, right: u8[], other_stride: u8, width: u8, length: u8, flip: u8,"
    "out: u1[w]"
)
def less_decimals(start, stop, step, left, stride, right, other_stride, width, length, flip, out):
    """Bit i of `out` = whether integer i of `left` is less than that of `right`, of several words each.

    left: uint64[length width], or uint64[width] if its stride is 0; the lowest word of each first
    stride: 1, or 0 for one value
    right: as `left`
    other_stride: as `stride`, of `right`
    width: how many words make an integer, which has a sign
    length: the number of values
    flip: 0, or 255 for the opposite
    out: uint8[ceil(length / 8)]; bits past `length` become zero
    """
    top = width - uint64(1)
    for b in range(start, stop, step):
        first = uint64(b) << uint64(3)
        bits = uint64(0)
        for i in range(first, min(first + uint64(8), length)):
            mine, other = uint64(i) * stride * width, uint64(i) * other_stride * width
            less = uint64(0)
            for k in range(uint64(0), top):
                low, high = left[mine + uint64(k)], right[other + uint64(k)]
                less = uint64(low < high) | uint64(low == high) & less
            low, high = left[mine + top] ^ uint64(_MINUS), right[other + top] ^ uint64(_MINUS)
            less = uint64(low < high) | uint64(low == high) & less
            bits |= less << (uint64(i) - first)
        out[b] = packed(bits, flip, length - first)


@helper
def is_less_word(left: Any, right: Any, unlike: Any) -> Any:
    """Whether one word is less than another as a string of bytes; by the lowest bit of `unlike`."""
    first = trailing_zeros(unlike) & uint64(56)
    return (left >> first) & uint64(255) < (right >> first) & uint64(255)


@helper
def are_less(left: Any, right: Any, common: Any, shorter: Any) -> Any:
    """Whether one string is less than another, whose first 8 bytes are the same.

    left: its address
    right: that of the other one
    common: how many bytes both have; at least 8
    shorter: what to say if these are all the same
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
def ask_for_texts(offsets: Any, base: Any, first: Any, length: Any) -> None:
    """Ask for the bytes of eight values that are compared later, if values are long."""
    far = first + uint64(AHEAD)
    if far + uint64(8) <= length and are_long(offsets, first):
        for k in range(far, far + uint64(8)):
            prefetch(base + uint64(offsets[uint64(k)]))


@kernel(
    "offsets: O[], base: u8, last: u8, pattern: u8, wanted: u8, or_equal: u8, length: u8, flip: u8,"
    "out: u1[w]",
    O="i4 i8",
)
def less_text(start, stop, step, offsets, base, last, pattern, wanted, or_equal, length, flip, out):
    """Bit i of `out` = whether byte string i is less than a pattern.

    The first eight bytes decide nearly always, without a branch.

    offsets: int32/int64[length + 1], checked
    base: the address of the data buffer
    last: its size less 8
    pattern: the address of the pattern; 8 bytes are there at least
    wanted: the pattern's length
    or_equal: 1 if the pattern itself is in order, too; else 0
    length: the number of values
    flip: 0, or 255 for the opposite
    out: uint8[ceil(length / 8)]; bits past `length` become zero
    """
    head = word_at(pattern)
    for b in range(start, stop, step):
        first = uint64(b) << uint64(3)
        bits = uint64(0)
        ask_for_texts(offsets, base, first, length)
        for i in range(first, min(first + uint64(8), length)):
            place = uint64(offsets[uint64(i)])
            size = uint64(offsets[uint64(i) + uint64(1)]) - place
            common = min(size, wanted)
            mine = near_word(base, place, last)
            unlike = (mine ^ head) & low_bytes(min(common, uint64(8)))
            less = size < wanted + or_equal
            if unlike != 0:
                less = is_less_word(mine, head, unlike)
            elif common > 8:
                less = are_less(base + place, pattern, common, less)
            bits |= uint64(less) << (uint64(i) - first)
        out[b] = packed(bits, flip, length - first)


@kernel(
    "offsets: O[], base: u8, last: u8, others: O[], other_base: u8, other_last: u8, length: u8,"
    "flip: u8, out: u1[w]",
    O="i4 i8",
)
def less_texts(
    start, stop, step, offsets, base, last, others, other_base, other_last, length, flip, out
):
    """Bit i of `out` = whether byte string i is less than that of another array; as `less_text`.

    offsets: int32/int64[length + 1], checked
    base: the address of the data buffer
    last: its size less 8
    others: as `offsets`, of the other array
    other_base: as `base`
    other_last: as `last`
    length: the number of values
    flip: 0, or 255 for the opposite
    out: uint8[ceil(length / 8)]; bits past `length` become zero
    """
    for b in range(start, stop, step):
        first = uint64(b) << uint64(3)
        bits = uint64(0)
        ask_for_texts(offsets, base, first, length)
        ask_for_texts(others, other_base, first, length)
        for i in range(first, min(first + uint64(8), length)):
            place, other_place = uint64(offsets[uint64(i)]), uint64(others[uint64(i)])
            size = uint64(offsets[uint64(i) + uint64(1)]) - place
            other_size = uint64(others[uint64(i) + uint64(1)]) - other_place
            common = min(size, other_size)
            mine = near_word(base, place, last)
            other = near_word(other_base, other_place, other_last)
            unlike = (mine ^ other) & low_bytes(min(common, uint64(8)))
            less = size < other_size
            if unlike != 0:
                less = is_less_word(mine, other, unlike)
            elif common > 8:
                less = are_less(base + place, other_base + other_place, common, less)
            bits |= uint64(less) << (uint64(i) - first)
        out[b] = packed(bits, flip, length - first)


@helper
def are_less_behind_prefix(left: Any, right: Any, common: Any, shorter: Any) -> Any:
    """As `are_less`, of strings of which the first 4 bytes are the same, and 12 can be read.

    common: how many bytes both have; at least 4
    """
    mine, other = word_at(left + uint64(4)), word_at(right + uint64(4))
    unlike = (mine ^ other) & low_bytes(min(common - uint64(4), uint64(8)))
    if unlike != 0:
        return is_less_word(mine, other, unlike)
    return are_less(left, right, common, shorter) if common > 12 else shorter


@kernel(
    "views: u8[], addresses: u8[], validity: u1[], offset: u8, pattern: u8, wanted: u8,"
    "or_equal: u8, length: u8, flip: u8, out: u1[w]"
)
def less_view(
    start,
    stop,
    step,
    views,
    addresses,
    validity,
    offset,
    pattern,
    wanted,
    or_equal,
    length,
    flip,
    out,
):
    """Bit i of `out` = whether the value of view i is less than a pattern; a null is an empty string.

    views: uint64[2 length], in bounds
    addresses: uint64[buffers + 1], of each data buffer, then of the views
    validity: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    pattern: the address of the pattern; 12 bytes are there at least
    wanted: the pattern's length
    or_equal: 1 if the pattern itself is in order, too; else 0
    length: the number of values
    flip: 0, or 255 for the opposite
    out: uint8[ceil(length / 8)]; bits past `length` become zero
    """
    prefix = word_at(pattern)
    for b in range(start, stop, step):
        first = uint64(b) << uint64(3)
        bits = uint64(0)
        for i in range(first, min(first + uint64(8), length)):
            head = views[uint64(i) << uint64(1)] & valid_mask(validity, offset, i)
            size, mine = head & uint64(_LENGTH), head >> uint64(32)
            common = min(size, wanted)
            unlike = (mine ^ prefix) & low_bytes(min(common, uint64(4)))
            less = size < wanted + or_equal
            if unlike != 0:
                less = is_less_word(mine, prefix, unlike)
            elif common > 4:
                source = source_of_view(views, uint64(i), addresses)
                less = are_less_behind_prefix(source, pattern, common, less)
            bits |= uint64(less) << (uint64(i) - first)
        out[b] = packed(bits, flip, length - first)


@kernel(
    "views: u8[], addresses: u8[], validity: u1[], offset: u8, others: u8[], other_addresses: u8[],"
    "other_validity: u1[], other_offset: u8, length: u8, flip: u8, out: u1[w]"
)
def less_views(
    start,
    stop,
    step,
    views,
    addresses,
    validity,
    offset,
    others,
    other_addresses,
    other_validity,
    other_offset,
    length,
    flip,
    out,
):
    """Bit i of `out` = whether the value of view i is less than that of another array's; not if null.

    views: uint64[2 length], in bounds
    addresses: uint64[buffers + 1], of each data buffer, then of the views
    validity: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    others: as `views`, of the other array
    other_addresses: as `addresses`
    other_validity: as `validity`
    other_offset: as `offset`
    length: the number of values
    flip: 0, or 255 for the opposite
    out: uint8[ceil(length / 8)]; bits past `length` become zero
    """
    for b in range(start, stop, step):
        first = uint64(b) << uint64(3)
        bits = uint64(0)
        for i in range(first, min(first + uint64(8), length)):
            shown = valid_mask(validity, offset, i) & valid_mask(other_validity, other_offset, i)
            head = views[uint64(i) << uint64(1)] & shown
            other_head = others[uint64(i) << uint64(1)] & shown
            size, other_size = head & uint64(_LENGTH), other_head & uint64(_LENGTH)
            mine, other = head >> uint64(32), other_head >> uint64(32)
            common = min(size, other_size)
            unlike = (mine ^ other) & low_bytes(min(common, uint64(4)))
            less = size < other_size
            if unlike != 0:
                less = is_less_word(mine, other, unlike)
            elif common > 4:
                source = source_of_view(views, uint64(i), addresses)
                other_source = source_of_view(others, uint64(i), other_addresses)
                less = are_less_behind_prefix(source, other_source, common, less)
            bits |= uint64(less) << (uint64(i) - first)
        out[b] = packed(bits, flip, length - first)
