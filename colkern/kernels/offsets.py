"""Offsets: where each variable-size value begins, and, one further, where the last one ends.

Columnar format 1.5: "Variable-size Binary Layout", "Variable-size List Layout".
"""

from __future__ import annotations

from numpy import int64, uint64

from colkern.kernels.arguments import In, O, Out, P
from colkern.kernels.kernel import kernel
from colkern.kernels.runs import find_run


@kernel(combine="add")
def count_bad_offsets(start, stop, step, offsets: In[O], limit: int64) -> uint64:
    """The number of values of the range that end before they begin; 0 for valid offsets.

    From value 0 on it also counts a first offset that is negative, and a last one past `limit`.
    """
    bad = uint64(0)
    for i in range(start, stop, step):
        bad += uint64(offsets[i + uint64(1)] < offsets[i])
    if start == 0:
        last = offsets[uint64(len(offsets)) - uint64(1)]
        bad += uint64(offsets[uint64(0)] < 0) + uint64(last > limit)
    return bad


@kernel()
def first_descent(start, stop, step, offsets: In[O]) -> uint64:
    """The first value of the range that ends before it begins."""
    for i in range(start, stop, step):
        if offsets[i + uint64(1)] < offsets[i]:
            return uint64(i)
    return ~uint64(0)


@kernel(streams=True)
def rebase_offsets(start, stop, step, offsets: In[O], base: int64, out: Out[P]):
    """out[i] = offsets[i] - base, for offsets that start at 0."""
    for i in range(start, stop, step):
        out[i] = offsets[i] - base


@kernel()
def join_offsets(start, stop, step, items: In[O], ends: In[int64], bases: In[int64], out: Out[O]):
    """The offsets of several arrays as those of one: out[i] = items[i + p] + bases[p], of array `p`.

    Array `p` ends before slot ends[p] of `out`; of its offsets in `items`, the last one is left out.
    """
    i = uint64(start)
    piece = find_run(ends, i)
    while i < stop:
        while uint64(ends[piece]) <= i:
            piece += uint64(1)
        base, end = bases[piece], min(uint64(ends[piece]), uint64(stop))
        while i < end:
            out[i] = items[i + piece] + base
            i += uint64(step)


@kernel(streams=True)
def lengths_of(start, stop, step, offsets: In[O], out: Out[int64]):
    """out[i] = the length of value i."""
    for i in range(start, stop, step):
        out[i] = offsets[i + uint64(1)] - offsets[i]


@kernel(combine="max", sequential=True)
def running_sum(start, stop, step, lengths: In[int64], out: Out[O]) -> uint64:
    """out[i + 1] = lengths[0] + … + lengths[i]; returns the last sum, or more if it has over 63 bits.

    No length is negative. `out` may hold anything if the sum does not fit.
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


@kernel(sequential=True)
def sum_in_place(start, stop, step, sums: Out[O]):
    """sums[i + 1] = sums[1] + … + sums[i + 1], and sums[0] = 0: lengths become offsets.

    No length is negative, and their sum fits. NumPy takes two to three times as long.
    """
    total = uint64(0)
    if start < stop:
        sums[0] = 0
    for i in range(start, stop, step):
        total += uint64(sums[i + uint64(1)])
        sums[i + uint64(1)] = int64(total)


@kernel()
def even_offsets(start, stop, step, base, size, out: Out[P]):
    """out[i] = base + i size: the offsets of values of one length."""
    # A sum is vectorised, a product of 64 bits hardly.
    place = base + uint64(start) * size
    stride = uint64(step) * size
    for i in range(start, stop, step):
        out[i] = place
        place += stride
