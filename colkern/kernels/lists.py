"""Lists: which elements of the child belong to each slot.

Columnar format 1.5: "ListView Layout".
"""

from __future__ import annotations

from numpy import int64, uint64

from colkern.kernels.bitmaps import is_valid
from colkern.kernels.kernel import kernel


@kernel("offsets: O[], sizes: O[], validity: u1[], offset: u8, length: i8", returns="u8", O="i4 i8")
def first_list_view_out_of_bounds(start, stop, step, offsets, sizes, validity, offset, length):
    """The first valid slot of the range that reaches outside the child; the largest uint64 if none.

    offsets: int32/int64[n]
    sizes: int32/int64[n]
    validity: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    length: the length of the child
    """
    for i in range(start, stop, step):
        begin = int64(offsets[i])
        size = int64(sizes[i])
        outside = begin < 0 or size < 0 or begin > length - size
        if outside and is_valid(validity, offset, i):
            return uint64(i)
    return ~uint64(0)
