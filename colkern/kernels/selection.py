"""Selection: values picked by position, for every layout's buffers.

Indices are checked (`first_index_out_of_bounds`) before any of the others runs.
"""

from __future__ import annotations

from numpy import int64, uint8, uint64

from colkern.kernels.bitmaps import get_bit, is_valid
from colkern.kernels.kernel import kernel
from colkern.kernels.primitives import copy_bytes


@kernel(
    "indices: I[], validity: u1[], offset: u8, length: i8",
    returns="u8",
    I="i1 i2 i4 i8 u1 u2 u4 u8",
)
def first_index_out_of_bounds(start, stop, step, indices, validity, offset, length):
    """The first valid index of the range below 0 or not below `length`; the largest uint64 if none.

    indices: an integer array[n]
    validity: uint8[] bitmap of the indices, or empty
    offset: the bit of index 0 in it
    length: how many values there are to pick from
    """
    for i in range(start, stop, step):
        outside = indices[i] < 0 or uint64(indices[i]) >= uint64(length)
        if outside and is_valid(validity, offset, i):
            return uint64(i)
    return ~uint64(0)


@kernel("indices: I[], validity: u1[], offset: u8, out: i8[w]", I="i1 i2 i4 i8 u1 u2 u4 u8")
def plain_indices(start, stop, step, indices, validity, offset, out):
    """out[i] = indices[i], or 0 under a null: indices that may be followed without a look.

    indices: an integer array[n]
    validity: uint8[] bitmap of the indices, or empty
    offset: the bit of index 0 in it
    out: int64[n]
    """
    for i in range(start, stop, step):
        out[i] = int64(indices[i]) if is_valid(validity, offset, i) else int64(0)


@kernel("indices: i8[], values: T[], width: u8, out: T[w]", T="u1 u2 u4 u8")
def take_items(start, stop, step, indices, values, width, out):
    """Value i of `out` = value indices[i] of `values`; a value is `width` items.

    indices: int64[n], in bounds
    values: T[]
    width: how many items make one value
    out: T[n width]
    """
    for i in range(start, stop, step):
        source = uint64(indices[i]) * width
        place = uint64(i) * width
        for item in range(uint64(0), width):
            out[place + uint64(item)] = values[source + uint64(item)]


@kernel("indices: i8[], bits: u1[], offset: u8, out: u1[w]")
def take_bits(start, stop, step, indices, bits, offset, out):
    """Bit i of `out` = bit offset + indices[i]; the range is over the bytes of `out`.

    indices: int64[n], in bounds
    bits: uint8[] bitmap
    offset: the bit of value 0
    out: uint8[ceil(n / 8)]; bits past n become zero
    """
    for b in range(start, stop, step):
        begin = uint64(b) << uint64(3)
        packed = uint64(0)
        for i in range(begin, min(begin + uint64(8), uint64(len(indices)))):
            packed |= uint64(get_bit(bits, offset + uint64(indices[i]))) << (uint64(i) - begin)
        out[b] = uint8(packed)


@kernel("indices: i8[], offsets: O[], out: i8[w]", O="i4 i8")
def take_lengths(start, stop, step, indices, offsets, out):
    """out[i] = the length of value indices[i].

    indices: int64[n], in bounds
    offsets: int32/int64[], checked
    out: int64[n]
    """
    for i in range(start, stop, step):
        index = uint64(indices[i])
        out[i] = offsets[index + uint64(1)] - offsets[index]


@kernel(
    "indices: i8[], offsets: O[], base: u8, starts: P[], out: u1[w]",
    grouped=True,
    O="i4 i8",
    P="i4 i8",
)
def take_bytes(start, stop, step, indices, offsets, base, starts, out):
    """The bytes of `out` from starts[i] on = the bytes of value indices[i].

    indices: int64[n], in bounds
    offsets: int32/int64[], checked
    base: the address of the data buffer
    starts: int32/int64[n + 1], the running sum of the values' lengths
    out: uint8[starts[n]]
    """
    for i in range(start, stop, step):
        place = uint64(starts[i])
        count = uint64(starts[i + uint64(1)]) - place
        copy_bytes(out, place, base + uint64(offsets[uint64(indices[i])]), count)


@kernel("indices: i8[], offsets: O[], starts: P[], out: i8[w]", O="i4 i8", P="i4 i8")
def take_ranges(start, stop, step, indices, offsets, starts, out):
    """The positions in `out` from starts[i] on = offsets[indices[i]] and up: the elements of a list.

    indices: int64[n], in bounds
    offsets: int32/int64[], checked: where each list begins
    starts: int32/int64[n + 1], the running sum of the lists' lengths
    out: int64[starts[n]]
    """
    for i in range(start, stop, step):
        place = uint64(starts[i])
        first = int64(offsets[uint64(indices[i])])
        for k in range(place, uint64(starts[i + uint64(1)])):
            out[k] = first + int64(uint64(k) - place)
