"""Numbers: whether they keep within what their type allows, which is less than their bits could hold.

What stands under a null may be anything.

Columnar format 1.5: `Decimal`, `Date`, `Time` in Schema.fbs.
"""

from __future__ import annotations

from numpy import int64, uint64

from colkern.kernels.arguments import Bitmap, In, T, Truth
from colkern.kernels.bitmaps import is_valid
from colkern.kernels.kernel import kernel

DAY_MS = 86_400_000
"""The milliseconds of a day, which has no leap second."""


@kernel()
def first_partial_day(start, stop, step, values: In[int64], validity: Bitmap) -> uint64:
    """The first valid slot of the range whose milliseconds are not whole days."""
    for i in range(start, stop, step):
        if values[i] % int64(DAY_MS) != 0 and is_valid(validity, i):
            return uint64(i)
    return ~uint64(0)


@kernel(T="u4 u8")
def first_decimal_out_of_precision(
    start, stop, step, words: In[T], validity: Bitmap, sign, least: In[uint64], largest: In[uint64]
) -> uint64:
    """The first valid slot of the range with more digits than the type has.

    With the sign's bit flipped, in the highest word, numbers are in the order of their words, which come
    lowest first; those of `least` and `largest` are flipped. Words are compared from the lowest up: each
    one counts if those above it are equal.
    """
    top = uint64(len(least)) - uint64(1)
    for i in range(start, stop, step):
        place = uint64(i) * (top + uint64(1))
        below: Truth = False
        beyond: Truth = False
        for k in range(uint64(0), top):
            word = uint64(words[place + uint64(k)])
            # Without branches, of which half would be mispredicted.
            below = (word < least[k]) | ((word == least[k]) & below)
            beyond = (word > largest[k]) | ((word == largest[k]) & beyond)
        word = uint64(words[place + top]) ^ sign
        below = (word < least[top]) | ((word == least[top]) & below)
        beyond = (word > largest[top]) | ((word == largest[top]) & beyond)
        if (below | beyond) and is_valid(validity, i):
            return uint64(i)
    return ~uint64(0)
