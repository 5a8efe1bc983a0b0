"""Canonical extension types: what their values keep beyond the rules of their storage.

Format: "Canonical Extension Types".
"""

from __future__ import annotations

from typing import Any

from numpy import int64, uint64

from colkern.kernels.bitmaps import is_valid
from colkern.kernels.kernel import kernel


@kernel(
    "offsets: i4[], shapes: i4[], sizes: u1[], sizes_offset: u8, uniform: i8[], "
    "validity: u1[], offset: u8",
    returns="u8",
)
def first_tensor_unlike_its_shape(
    start, stop, step, offsets, shapes, sizes, sizes_offset, uniform, validity, offset
):
    """The first valid slot of the range whose elements are not as many as its shape says, or whose
    shape has a size that is null, negative or not the uniform one; the largest uint64 if none is.

    offsets: int32[n + 1], checked, of the tensors' elements
    shapes: int32[n d], the shapes one after the other
    sizes: uint8[] bitmap of the sizes in `shapes` that are valid, or empty
    sizes_offset: the bit of the first size in it
    uniform: int64[d], the size of each dimension that all tensors share, or -1
    validity: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    """
    dimensions = uint64(len(uniform))
    most = int64(1) << int64(31)
    for i in range(start, stop, step):
        elements = int64(1)
        is_shape: Any = True
        for d in range(uint64(0), dimensions):
            place = uint64(i) * dimensions + uint64(d)
            size = int64(shapes[place])
            same = uniform[d] < 0 or size == uniform[d]
            if size < 0 or not same or not is_valid(sizes, sizes_offset, place):
                is_shape = False
                size = int64(0)
            # No list has as many elements as this; more would not fit the product.
            elements = min(elements * size, most)
        length = int64(offsets[uint64(i) + uint64(1)]) - int64(offsets[i])
        if (not is_shape or length != elements) and is_valid(validity, offset, i):
            return uint64(i)
    return ~uint64(0)


@kernel("values: i2[], low: i8, high: i8, validity: u1[], offset: u8", returns="u8")
def first_number_outside(start, stop, step, values, low, high, validity, offset):
    """The first valid slot of the range with a number outside `[low, high)`; the largest uint64 if none.

    values: int16[n]
    low: the least number
    high: past the largest number
    validity: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    """
    for i in range(start, stop, step):
        number = int64(values[i])
        if (number < low or number >= high) and is_valid(validity, offset, i):
            return uint64(i)
    return ~uint64(0)
