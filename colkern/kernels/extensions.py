"""Canonical extension types: what their values keep beyond the rules of their storage.

Format: "Canonical Extension Types".
"""

from __future__ import annotations

from numpy import int16, int32, int64, uint64

from colkern.kernels.arguments import Bitmap, In, Truth
from colkern.kernels.bitmaps import is_valid
from colkern.kernels.kernel import kernel


@kernel()
def first_tensor_unlike_its_shape(
    start,
    stop,
    step,
    offsets: In[int32],
    shapes: In[int32],
    sizes: Bitmap,
    uniform: In[int64],
    validity: Bitmap,
) -> uint64:
    """The first valid slot of the range whose number of elements is not the product of its shape.

    Nor may a size be null, negative, or other than the size in `uniform`, if that is not -1. `shapes` has
    the shapes one after the other.
    """
    dimensions = uint64(len(uniform))
    most = int64(1) << int64(31)
    for i in range(start, stop, step):
        elements = int64(1)
        is_shape: Truth = True
        for d in range(uint64(0), dimensions):
            place = uint64(i) * dimensions + uint64(d)
            size = int64(shapes[place])
            same = uniform[d] < 0 or size == uniform[d]
            if size < 0 or not same or not is_valid(sizes, place):
                is_shape = False
                size = int64(0)
            # No list has as many elements as this; more would not fit the product.
            elements = min(elements * size, most)
        length = int64(offsets[uint64(i) + uint64(1)]) - int64(offsets[i])
        if (not is_shape or length != elements) and is_valid(validity, i):
            return uint64(i)
    return ~uint64(0)


@kernel()
def first_number_outside(
    start, stop, step, values: In[int16], low: int64, high: int64, validity: Bitmap
) -> uint64:
    """The first valid slot of the range with a number outside `[low, high)`."""
    for i in range(start, stop, step):
        number = int64(values[i])
        if (number < low or number >= high) and is_valid(validity, i):
            return uint64(i)
    return ~uint64(0)
