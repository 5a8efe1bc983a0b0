"""Views: 16 bytes a value. Words 0 to 3 (int32) are the length, then either up to 12 bytes of the value
itself, or a 4-byte prefix, the number of a data buffer and an offset into it.

Data buffers come as a table of addresses and one of sizes, so that any number of them is one compiled
kernel. An empty `validity` stands for an array without nulls.

Columnar format 1.5: "Variable-size Binary View Layout".
"""

from __future__ import annotations

from typing import Any

from numpy import int32, int64, uint32, uint64

from colkern.kernels.bitmaps import is_valid
from colkern.kernels.kernel import helper, kernel
from colkern.kernels.primitives import copy_bytes, load_item

WINDOW_BITS = 30


@helper
def is_view_in_bounds(views: Any, i: Any, sizes: Any) -> Any:
    """Whether view `i` is inline, or lies within one of the data buffers of those `sizes`."""
    length = int64(views[i << uint64(2)])
    if length <= 12:
        return length >= 0
    buffer = int64(views[(i << uint64(2)) + uint64(2)])
    offset = int64(views[(i << uint64(2)) + uint64(3)])
    if buffer < 0 or buffer >= len(sizes) or offset < 0:
        return False
    return offset + length <= sizes[uint64(buffer)]


@kernel("views: i4[], validity: u1[], offset: u8, sizes: i8[]", returns="u8")
def first_view_out_of_bounds(start, stop, step, views, validity, offset, sizes):
    """The first valid slot of the range whose view points outside; the largest uint64 if none does.

    views: int32[4 n]
    validity: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    sizes: int64[buffers], the size of each data buffer
    """
    for i in range(start, stop, step):
        if is_valid(validity, offset, i) and not is_view_in_bounds(views, uint64(i), sizes):
            return uint64(i)
    return ~uint64(0)


@helper
def is_view_like_its_value(views: Any, i: Any, addresses: Any, like: Any) -> Any:
    """Whether view `i`, in bounds, has zeros after an inline value, or the first bytes of another."""
    word = i << uint64(2)
    length = int64(views[word])
    if length <= 12:
        beyond = uint64(0)
        for k in range(uint64(0), uint64(3)):
            inside = min(max(length - (int64(k) << int64(2)), int64(0)), int64(4))
            value = uint64(uint32(views[word + uint64(1) + uint64(k)]))
            beyond |= value >> uint64(inside << int64(3))
        return beyond == 0
    source = addresses[uint64(views[word + uint64(2)])] + uint64(views[word + uint64(3)])
    prefix = uint32(0)
    for j in range(uint64(0), uint64(4)):
        byte = uint32(load_item(like, source + uint64(j)))
        prefix |= uint32(byte << uint32(uint64(j) << uint64(3)))
    return prefix == uint32(views[word + uint64(1)])


@kernel("views: i4[], validity: u1[], offset: u8, addresses: u8[]", returns="u8")
def first_view_unlike_its_value(start, stop, step, views, validity, offset, addresses):
    """The first valid slot of the range with a wrong prefix or padding; the largest uint64 if none.

    views: int32[4 n], in bounds
    validity: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    addresses: uint64[buffers], the address of each data buffer
    """
    for i in range(start, stop, step):
        if is_valid(validity, offset, i) and not is_view_like_its_value(
            views, uint64(i), addresses, validity
        ):
            return uint64(i)
    return ~uint64(0)


@kernel("views: i4[], validity: u1[], offset: u8, out: i8[w]")
def view_lengths(start, stop, step, views, validity, offset, out):
    """out[i] = the length of value i, 0 under a null.

    views: int32[4 n]
    validity: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    out: int64[n]
    """
    for i in range(start, stop, step):
        valid = is_valid(validity, offset, i)
        out[i] = int64(views[uint64(i) << uint64(2)]) if valid else int64(0)


@kernel("views: i4[], base: u8, addresses: u8[], offsets: O[], out: u1[w]", grouped=True, O="i4 i8")
def decode_views(start, stop, step, views, base, addresses, offsets, out):
    """out[offsets[i] : offsets[i + 1]] = the bytes of value i, as many as the offsets leave room for.

    views: int32[4 n], in bounds wherever the offsets leave room
    base: the address of `views`
    addresses: uint64[buffers], the address of each data buffer
    offsets: int32/int64[n + 1]
    out: uint8[offsets[n]]
    """
    for i in range(start, stop, step):
        begin = uint64(offsets[i])
        length = uint64(offsets[i + uint64(1)]) - begin
        word = uint64(i) << uint64(2)
        if length <= 12:
            source = base + (word << uint64(2)) + uint64(4)
        else:
            source = addresses[uint64(views[word + uint64(2)])]
            source += uint64(views[word + uint64(3)])
        copy_bytes(out, begin, source, length)


@kernel(
    "offsets: O[], data: u1[], validity: u1[], offset: u8, out: i4[w]",
    O="i4 i8",
)
def encode_views(start, stop, step, offsets, data, validity, offset, out):
    """View i of `out` = the value at [offsets[i], offsets[i + 1]) of `data`; zeros under a null.

    Data buffer `k` of the views is `data` from byte `k << WINDOW_BITS` on, which keeps offsets within
    31 bits however long `data` is.

    offsets: int32/int64[n + 1]
    data: uint8[], the bytes that the offsets point into
    validity: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    out: int32[4 n], zeroed
    """
    for i in range(start, stop, step):
        if is_valid(validity, offset, i):
            begin = uint64(offsets[i])
            length = uint64(offsets[i + uint64(1)]) - begin
            word = uint64(i) << uint64(2)
            out[word] = int32(length)
            if length <= 12:
                for j in range(uint64(0), length):
                    place = word + uint64(1) + (uint64(j) >> uint64(2))
                    out[place] |= shifted_byte(data[begin + uint64(j)], uint64(j))
            else:
                for j in range(uint64(0), uint64(4)):
                    out[word + uint64(1)] |= shifted_byte(data[begin + uint64(j)], uint64(j))
                out[word + uint64(2)] = int32(begin >> uint64(WINDOW_BITS))
                out[word + uint64(3)] = int32(begin & uint64((1 << WINDOW_BITS) - 1))


@helper
def shifted_byte(byte: Any, position: Any) -> Any:
    """A byte at its place among the four of a little-endian int32 word."""
    return int32(uint32(byte) << uint32((position & uint64(3)) << uint64(3)))


@kernel("first: i4, out: i4[w]")
def renumber_views(start, stop, step, first, out):
    """Let the views that point into a data buffer point `first` buffers further.

    first: how many data buffers were put before
    out: int32[4 n], the views
    """
    for i in range(start, stop, step):
        word = uint64(i) << uint64(2)
        if out[word] > 12:
            out[word + uint64(2)] += int32(first)
