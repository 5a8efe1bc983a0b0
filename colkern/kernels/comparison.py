"""Comparison: whether values of two arrays are equal, or those of one array equal a value.

The range is over the bytes of the output: eight values make one. `flip` is 0, or 255 for
the opposite.

Columnar format 1.5: "Fixed-size Primitive Layout".
"""

from __future__ import annotations

from numpy import uint8, uint16, uint64

from colkern.kernels.arguments import In, Out, T, Truth
from colkern.kernels.kernel import helper, kernel
from colkern.kernels.lanes import SECTOR, bits_of_lanes
from colkern.kernels.primitives import lane, lanes, store_equal, store_equal_to
from colkern.kernels.relations import eight_equal, eight_equal_to
from colkern.kernels.strings import packed

_HALF_NAN = 0x7C00


@kernel(T="u1 u2 u4 u8 f4 f8")
def equal_items(start, stop, step, left: In[T], right: In[T], length, flip, out: Out[uint8]):
    """Bit i of `out` = whether left[i] equals right[i]; as numbers, so NaN equals nothing."""
    b = uint64(start)
    whole = min(uint64(stop), length >> uint64(3))
    while step == 1 and b + uint64(8) <= whole:
        store_equal(out, b, left, b << uint64(3), right, b << uint64(3), flip)
        b += uint64(8)
    while step != 1 and b < whole:
        out[b] = uint8(eight_equal(left, b << uint64(3), right, b << uint64(3)) ^ flip)
        b += uint64(step)
    while b < stop:
        first = b << uint64(3)
        bits = uint64(0)
        for i in range(first, min(first + uint64(8), length)):
            bits |= uint64(left[uint64(i)] == right[uint64(i)]) << (uint64(i) - first)
        out[b] = packed(bits, flip, length - first)
        b += uint64(step)


@kernel(T="u1 u2 u4 u8 f4 f8")
def equal_item(start, stop, step, left: In[T], value: In[T], length, flip, out: Out[uint8]):
    """Bit i of `out` = whether left[i] equals a value; as numbers, so NaN equals nothing."""
    b = uint64(start)
    whole = min(uint64(stop), length >> uint64(3))
    while step == 1 and b + uint64(8) <= whole:
        store_equal_to(out, b, left, b << uint64(3), value[uint64(0)], flip)
        b += uint64(8)
    while step != 1 and b < whole:
        out[b] = uint8(eight_equal_to(left, b << uint64(3), value[uint64(0)]) ^ flip)
        b += uint64(step)
    while b < stop:
        first = b << uint64(3)
        bits = uint64(0)
        for i in range(first, min(first + uint64(8), length)):
            bits |= uint64(left[uint64(i)] == value[uint64(0)]) << (uint64(i) - first)
        out[b] = packed(bits, flip, length - first)
        b += uint64(step)


@kernel(grouped=True, most_lanes=SECTOR)
def equal_wide(
    start, stop, step, left: In[T], right: In[T], width, stride, length, flip, out: Out[uint8]
):
    """Bit i of `out` = whether values i are the same; a value is `width` items.

    Values of `right` are `stride` items apart: `width`, or 0 if there is one value.
    """
    for b in range(start, stop, step):
        first = uint64(b) << uint64(3)
        bits = uint64(0)
        for i in range(first + lane(), min(first + uint64(8), length), lanes()):
            mine, other = uint64(i) * width, uint64(i) * stride
            unlike = uint64(0)
            for k in range(uint64(0), width):
                unlike |= uint64(left[mine + uint64(k)] ^ right[other + uint64(k)])
            bits |= uint64(unlike == 0) << (uint64(i) - first)
        bits = bits_of_lanes(bits)
        if lane() == 0:
            out[b] = packed(bits, flip, length - first)


@helper
def are_equal_halves(left: uint16, right: uint16) -> Truth:
    """Whether two float16, given as uint16, are equal as numbers: zeros are, NaN is not."""
    same = left == right and uint64(left & 0x7FFF) <= _HALF_NAN
    return same or uint64((left | right) & 0x7FFF) == 0


@kernel()
def equal_halves(
    start, stop, step, left: In[uint16], right: In[uint16], stride, length, flip, out: Out[uint8]
):
    """Bit i of `out` = whether two float16 are equal, by their bits: a CPU has no such floats.

    `stride` is 1, or 0 if `right` is one value.
    """
    for b in range(start, stop, step):
        first = uint64(b) << uint64(3)
        bits = uint64(0)
        for i in range(first, min(first + uint64(8), length)):
            same = are_equal_halves(left[uint64(i)], right[uint64(i) * stride])
            bits |= uint64(same) << (uint64(i) - first)
        out[b] = packed(bits, flip, length - first)
