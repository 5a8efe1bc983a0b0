"""Hidden slots: those that are null, or lie below a null; what stands there must not leave the process.

`visible` is a bitmap of the slots that are not hidden; zero bytes of it stand for one of ones only.

Columnar format 1.5: "Validity bitmaps" leaves open what stands under a null.
"""

from __future__ import annotations

from numpy import int32, int64, uint8, uint64

from colkern.kernels.bitmaps import get_bit, is_valid
from colkern.kernels.kernel import kernel


@kernel("items: T[], width: u8, visible: u1[], offset: u8", returns="u8", T="u1 u2 u4 u8")
def first_hidden_value(start, stop, step, items, width, visible, offset):
    """The first hidden slot of the range whose value is not all zeros; the largest uint64 if none.

    items: T[n width]
    width: how many items make one value
    visible: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    """
    for i in range(start, stop, step):
        if not is_valid(visible, offset, i):
            place = uint64(i) * width
            for k in range(uint64(0), width):
                if items[place + uint64(k)] != 0:
                    return uint64(i)
    return ~uint64(0)


@kernel("items: T[], width: u8, visible: u1[], offset: u8, out: T[w]", T="u1 u2 u4 u8")
def blank_hidden_values(start, stop, step, items, width, visible, offset, out):
    """Value i of `out` = value i of `items`, or zeros in a hidden slot; a value is `width` items.

    items: T[n width]
    width: how many items make one value
    visible: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    out: T[n width]
    """
    for i in range(start, stop, step):
        seen = is_valid(visible, offset, i)
        place = uint64(i) * width
        for k in range(uint64(0), width):
            if seen:
                out[place + uint64(k)] = items[place + uint64(k)]
            else:
                out[place + uint64(k)] = 0


@kernel("offsets: O[], visible: u1[], offset: u8", returns="u8", O="i4 i8")
def first_hidden_length(start, stop, step, offsets, visible, offset):
    """The first hidden slot of the range whose value is not empty; the largest uint64 if none is.

    offsets: int32/int64[n + 1]
    visible: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    """
    for i in range(start, stop, step):
        empty = offsets[i + uint64(1)] == offsets[i]
        if not empty and not is_valid(visible, offset, i):
            return uint64(i)
    return ~uint64(0)


@kernel("offsets: O[], visible: u1[], offset: u8, out: i8[w]", O="i4 i8")
def visible_lengths(start, stop, step, offsets, visible, offset, out):
    """out[i] = the length of value i, 0 in a hidden slot.

    offsets: int32/int64[n + 1]
    visible: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    out: int64[n]
    """
    for i in range(start, stop, step):
        seen = is_valid(visible, offset, i)
        length = int64(offsets[i + uint64(1)]) - int64(offsets[i])
        out[i] = length if seen else int64(0)


@kernel("views: i4[], visible: u1[], offset: u8, out: i8[w]")
def visible_long_lengths(start, stop, step, views, visible, offset, out):
    """out[i] = the length of value i if it stands in a data buffer, 0 if inline or hidden.

    views: int32[4 n]
    visible: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    out: int64[n]
    """
    for i in range(start, stop, step):
        seen = is_valid(visible, offset, i)
        length = int64(views[uint64(i) << uint64(2)])
        out[i] = length if seen and length > 12 else int64(0)


@kernel("views: i4[], visible: u1[], offset: u8, starts: i8[], window_bits: u8, out: i4[w]")
def repoint_views(start, stop, step, views, visible, offset, starts, window_bits, out):
    """View i of `out` = view i, a long one pointing at starts[i] of the gathered bytes; zeros if hidden.

    Data buffer k begins at byte `k << window_bits` of the gathered bytes.

    views: int32[4 n]
    visible: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    starts: int64[n + 1], where the bytes of each long value were put
    window_bits: at most 30, so that offsets fit 31 bits
    out: int32[4 n]
    """
    for i in range(start, stop, step):
        word = uint64(i) << uint64(2)
        seen = is_valid(visible, offset, i)
        long = seen and views[word] > 12
        begin = uint64(starts[i])
        mask = (uint64(1) << window_bits) - uint64(1)
        out[word] = views[word] if seen else int32(0)
        out[word + uint64(1)] = views[word + uint64(1)] if seen else int32(0)
        inline_2 = views[word + uint64(2)] if seen else int32(0)
        inline_3 = views[word + uint64(3)] if seen else int32(0)
        out[word + uint64(2)] = int32(begin >> window_bits) if long else inline_2
        out[word + uint64(3)] = int32(begin & mask) if long else inline_3


@kernel("bits: u1[], size: u8, length: u8, out: u1[w]")
def repeat_bits(start, stop, step, bits, size, length, out):
    """Bit i of `out` = bit i // size; the range is over the bytes of `out`.

    bits: uint8[] bitmap
    size: how often each bit is repeated, at least once
    length: the number of bits of `out`
    out: uint8[ceil(length / 8)]; bits past `length` become zero
    """
    for b in range(start, stop, step):
        begin = uint64(b) << uint64(3)
        packed = uint64(0)
        for i in range(begin, min(begin + uint64(8), length)):
            packed |= uint64(get_bit(bits, uint64(i) // size)) << (uint64(i) - begin)
        out[b] = uint8(packed)
