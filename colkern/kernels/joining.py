"""Joins: the pairs of rows whose keys have the same number.

Rows of one side are in the order of their numbers: order[bounds[g] : bounds[g + 1]] have number `g`.
Numbers from `known` on are on the other side alone. Rows that are null have no match.
"""

from __future__ import annotations

from numpy import int64, uint32, uint64

from colkern.kernels.arguments import Bitmap, In, Out
from colkern.kernels.bitmaps import is_valid
from colkern.kernels.kernel import kernel
from colkern.kernels.primitives import add
from colkern.kernels.runs import find_run

NO_MATCH = (1 << 64) - 1
"""The row that stands for none."""


@kernel()
def count_matches(
    start,
    stop,
    step,
    numbers: In[uint32],
    validity: Bitmap,
    bounds: In[int64],
    known,
    least,
    out: Out[int64],
):
    """out[i] = how many rows match row i, or `least` if there are fewer."""
    for i in range(start, stop, step):
        number = uint64(numbers[i])
        count = uint64(0)
        if number < known and is_valid(validity, i):
            count = uint64(bounds[number + uint64(1)]) - uint64(bounds[number])
        out[i] = int64(max(count, least))


@kernel()
def left_of_matches(start, stop, step, starts: In[int64], out: Out[uint64]):
    """out[k] = i for the matches of row i, which are from starts[i] on."""
    for i in range(start, stop, step):
        for k in range(uint64(starts[i]), uint64(starts[uint64(i) + uint64(1)])):
            out[k] = i


@kernel()
def right_of_matches(
    start,
    stop,
    step,
    numbers: In[uint32],
    validity: Bitmap,
    bounds: In[int64],
    order: In[uint64],
    known,
    starts: In[int64],
    out: Out[uint64],
):
    """out[k] = the row that matches, for the matches of row i from starts[i] on; `NO_MATCH` for none."""
    for i in range(start, stop, step):
        number = uint64(numbers[i])
        first = uint64(0)
        matches = uint64(0)
        if number < known and is_valid(validity, i):
            first = uint64(bounds[number])
            matches = uint64(bounds[number + uint64(1)]) - first
        begin = uint64(starts[i])
        for k in range(begin, uint64(starts[uint64(i) + uint64(1)])):
            here = uint64(k) - begin
            out[k] = order[first + here] if here < matches else uint64(NO_MATCH)


@kernel()
def match_last(start, stop, step, left: In[uint64], right: In[uint64], out: Out[uint64]):
    """out[i] = the last right row whose word is not greater, `NO_MATCH` for none; both are in order."""
    if step != 1:
        for k in range(start, stop, step):
            out[k] = add(find_run(right, left[k]), ~uint64(0))
    elif start < stop:
        i = uint64(start)
        j = find_run(right, left[i])
        # No branch: which side is next is guessed wrong every other time.
        while i < stop and j < uint64(len(right)):
            is_left = right[j] > left[i]
            out[i] = add(j, ~uint64(0))
            i += uint64(is_left)
            j += uint64(not is_left)
        for k in range(i, stop):
            out[k] = add(j, ~uint64(0))


@kernel(sequential=True)
def match_last_of_group(
    start,
    stop,
    step,
    left: In[uint64],
    right: In[uint64],
    left_groups: In[uint32],
    right_groups: In[uint32],
    groups,
    out: Out[uint64],
):
    """As `match_last`, of the right rows of the same group.

    Behind those of the left rows, `out` has the last row of each group so far, at first `NO_MATCH`, and
    another one.
    """
    table = uint64(stop)
    i, j = uint64(start), uint64(0)
    while i < stop and j < uint64(len(right)):
        is_left = right[j] > left[i]
        group = uint64(right_groups[j])
        out[table + (groups if is_left else group)] = j
        out[i] = out[table + uint64(left_groups[i])]
        i += uint64(is_left)
        j += uint64(not is_left)
    for k in range(i, stop):
        out[k] = out[table + uint64(left_groups[k])]
