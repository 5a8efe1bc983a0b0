"""Aggregates of the rows of each group.

The range is over shares of the rows, see `Shares`. Sums begin with zeros in `out`.
"""

from __future__ import annotations

from typing import NamedTuple

from numpy import float64, int64, uint32, uint64

from colkern.kernels.arguments import Bitmap, In, Index, Out, T
from colkern.kernels.bitmaps import is_valid
from colkern.kernels.kernel import helper, kernel
from colkern.kernels.primitives import add

NO_ROW = (1 << 64) - 1
"""The row of an extreme where no row counts; also the key that it has before."""


class Shares(NamedTuple):
    """Which rows a share has, and where it adds up what they have.

    Share `p` has the rows at order[bounds[p] : bounds[p + 1]], or those numbers if `order` is empty. It
    has `lanes` sums of a group, a power of two, to which its rows are added in turn: an addition waits
    for the one before it at the same place. The place of the row `i` at `j` of the order is
    (p lanes + j % lanes) stride + numbers[i]: threads of a CPU have places of their own, a share of a
    device has the rows of one group.
    """

    order: In[uint64]
    bounds: In[int64]
    numbers: In[uint32]
    lanes: uint64
    stride: uint64


@helper
def row_at(shares: Shares, j: Index) -> uint64:
    """The row at a place of the order."""
    return uint64(j) if len(shares.order) == 0 else shares.order[j]


@helper
def place_of(shares: Shares, p: Index, j: Index, i: uint64) -> uint64:
    """The place of row `i`, which is at `j` of the order, in share `p`."""
    lane = uint64(p) * shares.lanes + (uint64(j) & (shares.lanes - uint64(1)))
    return lane * shares.stride + uint64(shares.numbers[i])


@kernel()
def count_group_rows(start, stop, step, shares: Shares, validity: Bitmap, out: Out[uint64]):
    """out[place] = how many valid rows there are."""
    for p in range(start, stop, step):
        for j in range(uint64(shares.bounds[p]), uint64(shares.bounds[uint64(p) + uint64(1)])):
            i = row_at(shares, j)
            place = place_of(shares, p, j, i)
            out[place] += uint64(is_valid(validity, i))


@kernel(T="i4 i8 u4")
def sum_group_integers(
    start, stop, step, shares: Shares, values: In[T], validity: Bitmap, out: Out[uint64]
):
    """out[place] = the sum of the valid rows, modulo 2^64."""
    for p in range(start, stop, step):
        for j in range(uint64(shares.bounds[p]), uint64(shares.bounds[uint64(p) + uint64(1)])):
            i = row_at(shares, j)
            if is_valid(validity, i):
                place = place_of(shares, p, j, i)
                out[place] = add(out[place], uint64(values[i]))


@kernel(T="f4 f8")
def sum_group_floats(
    start, stop, step, shares: Shares, values: In[T], validity: Bitmap, out: Out[float64]
):
    """out[place] = the sum of the valid rows."""
    for p in range(start, stop, step):
        for j in range(uint64(shares.bounds[p]), uint64(shares.bounds[uint64(p) + uint64(1)])):
            i = row_at(shares, j)
            if is_valid(validity, i):
                place = place_of(shares, p, j, i)
                out[place] += float64(values[i])


@kernel()
def sum_group_squares(
    start,
    stop,
    step,
    shares: Shares,
    values: In[float64],
    validity: Bitmap,
    means: In[float64],
    out: Out[float64],
):
    """out[place] = the sum of the squares of the distances of the valid rows from their group's mean."""
    for p in range(start, stop, step):
        for j in range(uint64(shares.bounds[p]), uint64(shares.bounds[uint64(p) + uint64(1)])):
            i = row_at(shares, j)
            if is_valid(validity, i):
                distance = values[i] - means[uint64(shares.numbers[i])]
                out[place_of(shares, p, j, i)] += distance * distance


@kernel()
def sum_group_words(
    start, stop, step, shares: Shares, words: In[uint64], width, validity: Bitmap, out: Out[uint64]
):
    """The `width` words of `out` from place width on = the sum of the valid rows, with a sign or without.

    Numbers have `width` words, the lowest first; what does not fit them is lost.
    """
    for p in range(start, stop, step):
        for j in range(uint64(shares.bounds[p]), uint64(shares.bounds[uint64(p) + uint64(1)])):
            i = row_at(shares, j)
            if is_valid(validity, i):
                place = place_of(shares, p, j, i) * width
                carry = uint64(0)
                for k in range(uint64(0), width):
                    word = words[i * width + uint64(k)]
                    before = add(out[place + uint64(k)], carry)
                    carry = uint64(before < carry)
                    after = add(before, word)
                    carry += uint64(after < word)
                    out[place + uint64(k)] = after


@kernel()
def least_group_keys(
    start, stop, step, shares: Shares, keys: In[uint64], validity: Bitmap, out: Out[uint64]
):
    """Two words a place: the least key of the valid rows, and the first row that has it.

    out: each word `NO_ROW` before
    """
    for p in range(start, stop, step):
        for j in range(uint64(shares.bounds[p]), uint64(shares.bounds[uint64(p) + uint64(1)])):
            i = row_at(shares, j)
            if is_valid(validity, i):
                place = place_of(shares, p, j, i) << uint64(1)
                row = place + uint64(1)
                if keys[i] < out[place] or out[row] == uint64(NO_ROW):
                    out[place] = keys[i]
                    out[row] = i
