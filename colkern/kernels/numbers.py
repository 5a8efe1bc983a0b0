"""Numbers: whether they keep within what their type allows, which is less than their bits could hold.

What stands under a null may be anything.

Columnar format 1.5: `Decimal`, `Date`, `Time` in Schema.fbs.
"""

from __future__ import annotations

from typing import Any

from numpy import int64, uint64

from colkern.kernels.bitmaps import is_valid
from colkern.kernels.kernel import kernel

DAY_MS = 86_400_000
"""The milliseconds of a day, which has no leap second."""


@kernel("values: T[], validity: u1[], offset: u8, limit: i8", returns="u8", T="i4 i8")
def first_number_out_of_range(start, stop, step, values, validity, offset, limit):
    """The first valid slot of the range that is below 0 or not below `limit`; the largest uint64 if
    none is.

    values: int32/int64[n]
    validity: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    limit: past the largest number
    """
    for i in range(start, stop, step):
        outside = values[i] < 0 or int64(values[i]) >= limit
        if outside and is_valid(validity, offset, i):
            return uint64(i)
    return ~uint64(0)


@kernel("values: i8[], validity: u1[], offset: u8", returns="u8")
def first_partial_day(start, stop, step, values, validity, offset):
    """The first valid slot of the range that is no whole number of days; the largest uint64 if none.

    values: int64[n], milliseconds
    validity: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    """
    for i in range(start, stop, step):
        if values[i] % int64(DAY_MS) != 0 and is_valid(validity, offset, i):
            return uint64(i)
    return ~uint64(0)


@kernel(
    "digits: u4[], validity: u1[], offset: u8, shift: u4[], largest: u4[]",
    returns="u8",
)
def first_decimal_out_of_precision(start, stop, step, digits, validity, offset, shift, largest):
    """The first valid slot of the range with more digits than the type has; the largest uint64 if none.

    With `limit` the largest value, v is in `[-limit, limit]` just if v + limit, without a sign, is at
    most 2 limit. Both the sum and the comparison run from the lowest 32 bits up.

    digits: uint32[n width], the values in two's complement, lowest bits first
    validity: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    shift: uint32[width], `limit`
    largest: uint32[width], 2 limit
    """
    width = uint64(len(shift))
    for i in range(start, stop, step):
        carry = uint64(0)
        beyond: Any = False
        for k in range(uint64(0), width):
            total = uint64(digits[uint64(i) * width + uint64(k)]) + uint64(shift[k]) + carry
            carry = total >> uint64(32)
            digit = total & uint64(0xFFFFFFFF)
            beyond = digit > uint64(largest[k]) or (digit == uint64(largest[k]) and beyond)
        if beyond and is_valid(validity, offset, i):
            return uint64(i)
    return ~uint64(0)
