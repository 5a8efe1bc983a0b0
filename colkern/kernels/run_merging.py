"""The run ends of two arrays merged: where either begins a new run.

One thread goes through both in order. On a device, the ends of both, sorted, are cut into blocks of
`1 << BLOCK_BITS`, so that no long run of either makes anyone's work longer. Of two equal ends the left
one comes first, and the right one counts.

Columnar format 1.5: "Run-End Encoded Layout".
"""

from __future__ import annotations

from numpy import int64, uint64

from colkern.kernels.arguments import In, Out, R
from colkern.kernels.kernel import helper, kernel
from colkern.kernels.runs import find_run

BLOCK_BITS = 6


@kernel(combine="add", sequential=True)
def merge_in_order(
    start, stop, step, left: In[R], left_offset, right: In[R], right_offset, out: Out[int64]
) -> uint64:
    """The first third of `out` = the ends of the runs of both in slots [0, stop), the others = the run of
    the left, and of the right, that holds each; returns how many there are.

    The range is over slots; slot 0 is at the logical positions `left_offset` and `right_offset`.
    """
    second = uint64(len(out)) // uint64(3)
    third = second << uint64(1)
    i = find_run(left, left_offset)
    j = find_run(right, right_offset)
    place = uint64(0)
    end = uint64(start)
    # No branch on which of them ends first: it would be guessed wrong every other time.
    while end < uint64(stop):
        first = uint64(left[i]) - left_offset
        other = uint64(right[j]) - right_offset
        end = min(min(first, other), uint64(stop))
        out[place] = int64(end)
        out[second + place] = int64(i)
        out[third + place] = int64(j)
        place += uint64(1)
        i += uint64(first == end)
        j += uint64(other == end)
    return place


@helper
def ends_of_left(left: In[R], right: In[R], count: uint64) -> uint64:
    """The number of left ones among the first `count` ends of both."""
    others = uint64(len(right))
    low = count - others if count > others else uint64(0)
    high = min(count, uint64(len(left)))
    while low < high:
        middle = (low + high) >> uint64(1)
        if left[middle] <= right[count - middle - uint64(1)]:
            low = middle + uint64(1)
        else:
            high = middle
    return low


@kernel()
def count_merged(start, stop, step, left: In[R], right: In[R], out: Out[int64]):
    """out[b] = how many ends of block b are not an end of the left that the right has too.

    Both have the same last end.
    """
    every = uint64(len(left)) + uint64(len(right))
    for b in range(start, stop, step):
        begin = uint64(b) << uint64(BLOCK_BITS)
        i = ends_of_left(left, right, begin)
        j = begin - i
        total = uint64(0)
        for _ in range(begin, min(begin + uint64(1 << BLOCK_BITS), every)):
            if i < uint64(len(left)) and left[i] <= right[j]:
                total += uint64(left[i] != right[j])
                i += uint64(1)
            else:
                total += uint64(1)
                j += uint64(1)
        out[b] = int64(total)


@kernel()
def list_merged(
    start,
    stop,
    step,
    left: In[R],
    right: In[R],
    left_first,
    right_first,
    starts: In[int64],
    out: Out[int64],
):
    """The first third of `out` = 0, then the ends that `count_merged` counts, those of block b from place
    1 + starts[b] on. The others = the run of the left, and of the right, that holds such a slot.

    Runs are numbered from `left_first` and from `right_first` on.
    """
    second = uint64(len(out)) // uint64(3)
    third = second << uint64(1)
    every = uint64(len(left)) + uint64(len(right))
    for b in range(start, stop, step):
        begin = uint64(b) << uint64(BLOCK_BITS)
        if begin == 0:
            out[0], out[second], out[third] = int64(0), int64(left_first), int64(right_first)
        i = ends_of_left(left, right, begin)
        j = begin - i
        place = uint64(starts[b]) + uint64(1)
        for _ in range(begin, min(begin + uint64(1 << BLOCK_BITS), every)):
            if i < uint64(len(left)) and left[i] <= right[j]:
                end = left[i]
                counts = end != right[j]
                i += uint64(1)
            else:
                end = right[j]
                counts = True
                j += uint64(1)
            if counts:
                out[place] = int64(end)
                out[second + place] = int64(left_first + i)
                out[third + place] = int64(right_first + j)
                place += uint64(1)
