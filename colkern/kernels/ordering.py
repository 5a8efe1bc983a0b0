"""Order: whether values of one array are less than those of another.

The range is over the bytes of the output: eight values make one. On either side there may be one value
instead of an array, which is beside all values of the other side: the place of a value is multiplied by
the side's `stride`, 1 or 0. `flip` turns the answer: not less is greater or equal.

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
def is_less_word(left: Any, right: Any) -> Any:
    """Whether one word is less than another, which differs, as a string of eight bytes."""
    first = trailing_zeros(left ^ right) & uint64(56)
    return (left >> first) & uint64(255) < (right >> first) & uint64(255)


@helper
def are_less(left: Any, size: Any, right: Any, other_size: Any) -> Any:
    """Whether a string of at least 8 bytes is less than another one; by address and size."""
    # The last word overlaps the one before it: nothing behind the bytes is looked at.
    tail = min(size, other_size) - uint64(8)
    k = uint64(0)
    mine, other = word_at(left), word_at(right)
    while mine == other and k < tail:
        k = min(k + uint64(8), tail)
        mine, other = word_at(left + k), word_at(right + k)
    return size < other_size if mine == other else is_less_word(mine, other)


@kernel(
    "offsets: O[], base: u8, last: u8, stride: u8, others: O[], other_base: u8, other_last: u8,"
    "other_stride: u8, length: u8, flip: u8, out: u1[w]",
    O="i4 i8",
)
def less_texts(
    start,
    stop,
    step,
    offsets,
    base,
    last,
    stride,
    others,
    other_base,
    other_last,
    other_stride,
    length,
    flip,
    out,
):
    """Bit i of `out` = whether byte string i is less than that of another array.

    The first eight bytes decide nearly always; zeros stand for those that a string does not have.

    offsets: int32/int64[length + 1], checked; of 2 items if its stride is 0
    base: the address of the data buffer
    last: its size less 8
    stride: 1, or 0 for one value
    others: as `offsets`, of the other array
    other_base: as `base`
    other_last: as `last`
    other_stride: as `stride`
    length: the number of values
    flip: 0, or 255 for the opposite
    out: uint8[ceil(length / 8)]; bits past `length` become zero
    """
    for b in range(start, stop, step):
        first = uint64(b) << uint64(3)
        bits = uint64(0)
        far = first + uint64(AHEAD)
        if far + uint64(8) <= length:
            ask_for_texts(offsets, base, stride, first)
            ask_for_texts(others, other_base, other_stride, first)
        for i in range(first, min(first + uint64(8), length)):
            j, k = uint64(i) * stride, uint64(i) * other_stride
            place, other_place = uint64(offsets[j]), uint64(others[k])
            size = uint64(offsets[j + uint64(1)]) - place
            other_size = uint64(others[k + uint64(1)]) - other_place
            mine = near_word(base, place, last) & low_bytes(min(size, uint64(8)))
            other = near_word(other_base, other_place, other_last)
            other &= low_bytes(min(other_size, uint64(8)))
            if mine != other:
                less = is_less_word(mine, other)
            elif min(size, other_size) > 8:
                less = are_less(base + place, size, other_base + other_place, other_size)
            else:
                less = size < other_size
            bits |= uint64(less) << (uint64(i) - first)
        out[b] = packed(bits, flip, length - first)


@helper
def ask_for_texts(offsets: Any, base: Any, stride: Any, first: Any) -> None:
    """Ask for the bytes of values that are compared later, if they are long; where there are any."""
    if stride != 0 and are_long(offsets, first):
        for k in range(first + uint64(AHEAD), first + uint64(AHEAD + 8)):
            prefetch(base + uint64(offsets[uint64(k)]))


@helper
def is_less_behind_prefix(left: Any, size: Any, right: Any, other_size: Any) -> Any:
    """Whether a string is less than another, where both are longer than the 4 bytes that are the same.

    left: its address, at which 12 bytes can be read
    right: that of the other one
    """
    mine = word_at(left + uint64(4)) & low_bytes(min(size - uint64(4), uint64(8)))
    other = word_at(right + uint64(4)) & low_bytes(min(other_size - uint64(4), uint64(8)))
    if mine != other:
        return is_less_word(mine, other)
    if min(size, other_size) > 12:
        return are_less(left, size, right, other_size)
    return size < other_size


@kernel(
    "views: u8[], addresses: u8[], validity: u1[], offset: u8, stride: u8, others: u8[],"
    "other_addresses: u8[], other_validity: u1[], other_offset: u8, other_stride: u8, length: u8,"
    "flip: u8, out: u1[w]"
)
def less_views(
    start,
    stop,
    step,
    views,
    addresses,
    validity,
    offset,
    stride,
    others,
    other_addresses,
    other_validity,
    other_offset,
    other_stride,
    length,
    flip,
    out,
):
    """Bit i of `out` = whether the value of view i is less than that of another array's.

    views: uint64[2 length], in bounds; one view if its stride is 0
    addresses: uint64[buffers + 1], of each data buffer, then of the views
    validity: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    stride: 1, or 0 for one value
    others: as `views`, of the other array
    other_addresses: as `addresses`
    other_validity: as `validity`
    other_offset: as `offset`
    other_stride: as `stride`
    length: the number of values
    flip: 0, or 255 for the opposite
    out: uint8[ceil(length / 8)]; bits past `length` become zero, those of nulls 0 as `flip` has it
    """
    for b in range(start, stop, step):
        first = uint64(b) << uint64(3)
        bits = uint64(0)
        for i in range(first, min(first + uint64(8), length)):
            j, k = uint64(i) * stride, uint64(i) * other_stride
            shown = valid_mask(validity, offset, j) & valid_mask(other_validity, other_offset, k)
            head, other_head = views[j << uint64(1)] & shown, others[k << uint64(1)] & shown
            size, other_size = head & uint64(_LENGTH), other_head & uint64(_LENGTH)
            mine = head >> uint64(32) & low_bytes(min(size, uint64(4)))
            other = other_head >> uint64(32) & low_bytes(min(other_size, uint64(4)))
            if mine != other:
                less = is_less_word(mine, other)
            elif min(size, other_size) > 4:
                source = source_of_view(views, j, addresses)
                other_source = source_of_view(others, k, other_addresses)
                less = is_less_behind_prefix(source, size, other_source, other_size)
            else:
                less = size < other_size
            bits |= uint64(less) << (uint64(i) - first)
        out[b] = packed(bits, flip, length - first)
