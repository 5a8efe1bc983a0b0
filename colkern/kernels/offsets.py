"""Offsets: where each variable-size value begins, and, one further, where the last one ends.

Columnar format 1.5: "Variable-size Binary Layout", "Variable-size List Layout".
"""

from __future__ import annotations

from numpy import int64, uint64

from colkern.kernels.kernel import kernel


@kernel("offsets: O[]", returns="u8", combine="add", O="i4 i8")
def count_descents(start, stop, step, offsets):
    """How many values of the range end before they begin; 0 for valid offsets.

    offsets: int32/int64[n + 1]
    """
    descents = uint64(0)
    for i in range(start, stop, step):
        descents += uint64(offsets[i + uint64(1)] < offsets[i])
    return descents


@kernel("offsets: O[]", returns="u8", O="i4 i8")
def first_descent(start, stop, step, offsets):
    """The first value of the range that ends before it begins; the largest uint64 if none does.

    offsets: int32/int64[n + 1]
    """
    for i in range(start, stop, step):
        if offsets[i + uint64(1)] < offsets[i]:
            return uint64(i)
    return ~uint64(0)


@kernel("offsets: O[], base: i8, out: P[w]", O="i4 i8", P="i4 i8")
def rebase_offsets(start, stop, step, offsets, base, out):
    """out[i] = offsets[i] - base, for offsets that start anew at 0.

    offsets: int32/int64[n]
    base: the first offset
    out: int32/int64[n]
    """
    for i in range(start, stop, step):
        out[i] = offsets[i] - base


@kernel("offsets: O[], out: i8[w]", O="i4 i8")
def lengths_of(start, stop, step, offsets, out):
    """out[i] = the length of value i.

    offsets: int32/int64[n + 1]
    out: int64[n]
    """
    for i in range(start, stop, step):
        out[i] = offsets[i + uint64(1)] - offsets[i]


@kernel("lengths: i8[], out: O[w]", returns="u8", combine="max", sequential=True, O="i4 i8")
def running_sum(start, stop, step, lengths, out):
    """out[i + 1] = lengths[0] + … + lengths[i]; the last of these sums, or more if it has over 63 bits.

    lengths: int64[n], none of them negative
    out: int32/int64[n + 1]; anything, if the sum does not fit
    """
    total = uint64(0)
    over = uint64(0)
    if start == 0:
        out[0] = 0
    for i in range(start, stop, step):
        total += uint64(lengths[i])
        # One length more does not carry it past 64 bits without passing the highest of them.
        over |= total
        out[i + uint64(1)] = int64(total)
    return ~uint64(0) if over >> uint64(63) != 0 else total


@kernel("base: u8, size: u8, out: P[w]", P="i4 i8")
def even_offsets(start, stop, step, base, size, out):
    """out[i] = base + i size: where values of one length begin.

    base: where the first one begins
    size: how long each value is
    out: int32/int64[n + 1]
    """
    # A sum is vectorised, a product of 64 bits hardly.
    place = base + uint64(start) * size
    stride = uint64(step) * size
    for i in range(start, stop, step):
        out[i] = place
        place += stride
