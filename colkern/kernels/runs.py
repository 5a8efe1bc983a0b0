"""Runs: `run_ends[r]` is the logical position where run `r` ends, so runs are found by search.

Bodies find the run of their first position and then carry it along; a search for each value would be
many times slower.

`offset` is the logical position of the first slot, `value_offsets` are those of the values of the runs.

Columnar format 1.5: "Run-End Encoded Layout".
"""

from __future__ import annotations

from typing import Any

from numpy import int64, uint8, uint64

from colkern.kernels.arguments import Bitmap, I, In, O, Out, P, R, RunSpan, T
from colkern.kernels.bitmaps import bit_at, bits_from
from colkern.kernels.kernel import helper, kernel
from colkern.kernels.lanes import SECTOR, sum_of_lanes
from colkern.kernels.primitives import copy_bytes_loosely, lane, lanes, popcount

OVER = 16
"""Where one thread fills runs one after the other, it may write so many items at once: the next run's
are written after them."""

BLOCK_BITS = 6
"""A block of runs is `1 << BLOCK_BITS` of them."""


@helper
def find_run(run_ends: In[R], position: uint64) -> uint64:
    """The run that holds a logical position: the first whose end is greater. `len(run_ends)` if none."""
    low = uint64(0)
    left = uint64(len(run_ends))
    # Always as many steps: a branch on what is found would be guessed wrong every other time.
    while left > 0:
        half = (left + uint64(1)) >> uint64(1)
        before = uint64(run_ends[low + half - uint64(1)]) <= position
        low += half if before else uint64(0)
        left -= half
    return low


@helper
def fill(out: Out[T], begin: uint64, end: uint64, value: Any) -> None:
    """`out[begin:end]` = value, and up to `OVER - 1` more items: whole vectors without a rest.

    Most runs are either short, and then two stores do, or long.
    """
    out[begin] = value
    out[begin + uint64(1)] = value
    if end > begin + uint64(2):
        for k in range(uint64(0), (end - begin + uint64(OVER - 1)) & ~uint64(OVER - 1)):
            out[begin + uint64(k)] = value


@kernel()
def find_runs(start, stop, step, run_ends: In[R], positions: In[P], offset, out: Out[int64]):
    """out[i] = the run that holds logical position offset + positions[i]."""
    for i in range(start, stop, step):
        out[i] = find_run(run_ends, offset + uint64(positions[i]))


@kernel()
def decode_runs(start, stop, step, run_ends: In[R], values: In[T], offset, out: Out[T]):
    """out[i] = values[the run that holds logical position offset + i]."""
    i = uint64(start)
    run = find_run(run_ends, offset + i)
    if step == 1 and i + uint64(OVER) < stop:
        last = find_run(run_ends, offset + uint64(stop) - uint64(OVER))
        for r in range(run, last):
            end = uint64(run_ends[uint64(r)]) - offset
            fill(out, i, end, values[uint64(r)])
            i = end
        run = last
    while i < stop:
        while uint64(run_ends[run]) <= offset + i:
            run += uint64(1)
        value = values[run]
        end = min(uint64(run_ends[run]) - offset, uint64(stop))
        while i < end:
            out[i] = value
            i += uint64(step)


@kernel(combine="add")
def decode_run_bits(
    start, stop, step, run_ends: In[R], bits: Bitmap, offset, length, out: Out[uint64]
) -> uint64:
    """Bit i of `out` = the bit of the run that holds offset + i; returns how many are set.

    The range is over the words of `out`.
    """
    run = find_run(run_ends, offset + (uint64(start) << uint64(6)))
    total = uint64(0)
    for w in range(start, stop, step):
        begin = offset + (uint64(w) << uint64(6))
        count = min(offset + length - begin, uint64(64))
        while uint64(run_ends[run]) <= begin:
            run += uint64(1)
        # What a run has that the one before has not turns over all bits from its begin on.
        bit = uint64(bit_at(bits, run))
        packed = bit * ~uint64(0)
        end = uint64(run_ends[run]) - begin
        while end < count:
            run += uint64(1)
            after = uint64(bit_at(bits, run))
            packed ^= ((bit ^ after) * ~uint64(0)) << end
            bit = after
            end = uint64(run_ends[run]) - begin
        if count < 64:
            packed &= (uint64(1) << count) - uint64(1)
        out[w] = packed
        total += uint64(popcount(packed))
    return total


@kernel()
def measure_runs(
    start, stop, step, runs: RunSpan[R], length, value_offsets: In[O], out: Out[int64]
):
    """out[r] = how many bytes the binary values of all slots of run first + r are."""
    for r in range(start, stop, step):
        run = runs.first + uint64(r)
        begin = max(uint64(runs.ends[run - uint64(1)]), runs.offset) if r > 0 else runs.offset
        slots = min(uint64(runs.ends[run]), runs.offset + length) - begin
        size = uint64(value_offsets[run + uint64(1)]) - uint64(value_offsets[run])
        out[r] = int64(slots * size)


@kernel()
def repeat_offsets(
    start, stop, step, runs: RunSpan[R], value_offsets: In[O], starts: In[int64], out: Out[O]
):
    """out[i] = where the binary value of slot i begins if each slot has its own."""
    i = uint64(start)
    run = find_run(runs.ends, runs.offset + i)
    while i < stop:
        while uint64(runs.ends[run]) <= runs.offset + i:
            run += uint64(1)
        begin = runs.offset
        if run > runs.first:
            begin = uint64(runs.ends[run - uint64(1)])
        size = uint64(value_offsets[run + uint64(1)]) - uint64(value_offsets[run])
        place = uint64(starts[run - runs.first]) + (runs.offset + i - begin) * size
        end = min(uint64(runs.ends[run]) - runs.offset, uint64(stop))
        while i < end:
            out[i] = int64(place)
            place += size * uint64(step)
            i += uint64(step)


@kernel(grouped=True)
def repeat_bytes(
    start,
    stop,
    step,
    run_ends: In[R],
    offset,
    value_offsets: In[O],
    base,
    starts: In[O],
    out: Out[uint8],
):
    """The bytes of `out` from starts[i] on = the binary value of the run of slot i."""
    run = find_run(run_ends, offset + uint64(start))
    source_end = uint64(value_offsets[uint64(len(value_offsets)) - uint64(1)])
    for i in range(start, stop, step):
        while uint64(run_ends[run]) <= offset + uint64(i):
            run += uint64(1)
        place = uint64(starts[i])
        after = uint64(starts[i + uint64(1)])
        source = uint64(value_offsets[run])
        # A thread with values one after the other may spill over what it has yet to write.
        end = uint64(starts[stop]) if step == 1 else after
        room = min(end - place, source_end - source)
        copy_bytes_loosely(out, place, base + source, after - place, room)


@kernel()
def first_bad_run_end(start, stop, step, run_ends: In[R]) -> uint64:
    """The first run of the range that does not end after the one before."""
    for r in range(start, stop, step):
        # Loaded first, wanted or not: a load under a condition is one that a GPU waits for.
        before = run_ends[max(uint64(r), uint64(1)) - uint64(1)]
        before = before if r > 0 else before * 0
        if run_ends[uint64(r)] <= before:
            return uint64(r)
    return ~uint64(0)


@kernel()
def end_runs(start, stop, step, starts: In[int64], length, out: Out[R]):
    """out[r] = where run r ends: where the next one starts, or `length` for the last."""
    last = uint64(max(len(starts), 1)) - uint64(1)
    for r in range(start, min(uint64(stop), last), step):
        out[r] = starts[uint64(r) + uint64(1)]
    # By the thread that has the last run.
    if start <= last and last < stop and (last - uint64(start)) % uint64(step) == 0:
        out[last] = int64(length)


@kernel()
def number_runs(start, stop, step, out: Out[R]):
    """out[i] = i + 1: the ends of runs of length one."""
    for i in range(start, stop, step):
        out[i] = i + uint64(1)


@kernel(combine="add", sequential=True, I="u4 u8")
def join_neighbours(start, stop, step, words: In[I], out: Out[I]) -> uint64:
    """The first half of `out` = the words, equal neighbours once; returns how many these are.

    The other half = the slot behind each of them and its neighbours.
    """
    half = uint64(len(out)) >> uint64(1)
    count = uint64(start)
    for i in range(start, stop, step):
        # Written whether it is another one or not: a branch would be guessed wrong.
        before = words[max(uint64(i), uint64(1)) - uint64(1)]
        count += uint64(i == 0 or words[i] != before)
        out[count - uint64(1)] = words[i]
        out[half + count - uint64(1)] = uint64(i) + uint64(1)
    return count


@kernel()
def rebase_run_ends(start, stop, step, run_ends: In[R], first, last, base, out: Out[R]):
    """out[r] = where run r ends if slots [first, last) alone are kept and begin at `base`."""
    for r in range(start, stop, step):
        out[r] = min(uint64(run_ends[r]), last) - first + base


@kernel()
def index_runs(start, stop, step, run_ends: In[R], offset, out: Out[uint64]):
    """An index of runs for many searches: for each 64 slots, where runs start and which is the first.

    Bit k of out[2 w] = whether a run starts at slot 64 w + k, for k > 0; out[2 w + 1] = the run of slot
    64 w. The range is over the pairs.
    """
    run = find_run(run_ends, offset + (uint64(start) << uint64(6)))
    for w in range(start, stop, step):
        begin = offset + (uint64(w) << uint64(6))
        while uint64(run_ends[run]) <= begin:
            run += uint64(1)
        out[uint64(w) * uint64(2) + uint64(1)] = run
        starts = uint64(0)
        end = uint64(run_ends[run]) - begin
        while end < 64 and run + uint64(1) < uint64(len(run_ends)):
            starts |= uint64(1) << end
            run += uint64(1)
            end = uint64(run_ends[run]) - begin
        out[uint64(w) * uint64(2)] = starts


@kernel(I="i4 i8")
def look_up_runs(start, stop, step, index: In[uint64], positions: In[P], out: Out[I]):
    """out[i] = the run that holds slot positions[i]."""
    for i in range(start, stop, step):
        position = uint64(positions[i])
        pair = (position >> uint64(6)) << uint64(1)
        # What starts later is shifted out.
        starts = index[pair] << (uint64(63) - (position & uint64(63)))
        out[i] = int64(index[pair + uint64(1)] + uint64(popcount(starts)))


@kernel()
def count_word_bits(start, stop, step, bits: Bitmap, length, out: Out[int64]):
    """out[w] = how many of bits 64 w and up, 64 of them, are set."""
    for w in range(start, stop, step):
        begin = uint64(w) << uint64(6)
        count = min(length - begin, uint64(64))
        out[w] = int64(popcount(bits_from(bits.bits, bits.offset + begin, count)))


@kernel()
def kept_before(
    start, stop, step, runs: RunSpan[R], length, bits: Bitmap, before: In[int64], out: Out[int64]
):
    """out[r] = how many slots are kept before run first + r; `before` is the sum of `count_word_bits`."""
    for r in range(start, stop, step):
        if r == 0:
            out[r] = 0
        else:
            slot = min(uint64(runs.ends[runs.first + uint64(r) - uint64(1)]) - runs.offset, length)
            inside = slot & uint64(63)
            word = bits_from(bits.bits, bits.offset + (slot - inside), inside)
            out[r] = before[slot >> uint64(6)] + int64(popcount(word))


@helper
def positions_before(positions: In[O], place: uint64, end: int64) -> uint64:
    """The number of positions, which ascend, that are less than `end`; `place` of them are known to be."""
    count = uint64(len(positions))
    # Eight at a time: a branch for each would be guessed wrong at the end of each run.
    while place + uint64(8) <= count:
        less = uint64(0)
        for k in range(uint64(0), uint64(8)):
            less += uint64(int64(positions[place + uint64(k)]) < end)
        place += less
        if less < uint64(8):
            return place
    while place < count and int64(positions[place]) < end:
        place += uint64(1)
    return place


@kernel()
def picked_before(start, stop, step, runs: RunSpan[R], positions: In[P], out: Out[int64]):
    """out[r] = how many of the ascending positions are before run first + r; see `kept_before`."""
    place = uint64(0)
    for r in range(start, stop, step):
        if r > 0:
            end = uint64(runs.ends[runs.first + uint64(r) - uint64(1)]) - runs.offset
            if step == 1 and r > start:
                place = positions_before(positions, place, int64(end))
            else:
                # The run before has slots: its end is 1 at least.
                place = find_run(positions, end - uint64(1))
        out[r] = int64(place)


@kernel(grouped=True, most_lanes=SECTOR)
def count_kept_runs(start, stop, step, kept: In[int64], first, out: Out[int64]):
    """out[b] = how many runs of block b keep a slot; a block is `1 << BLOCK_BITS` runs."""
    for b in range(start, stop, step):
        begin = uint64(b) << uint64(BLOCK_BITS)
        end = min(begin + uint64(1 << BLOCK_BITS), uint64(len(kept)) - uint64(1))
        total = uint64(0)
        for r in range(begin + lane(), end, lanes()):
            total += uint64(kept[uint64(r) + uint64(1)] != kept[uint64(r)])
        total = sum_of_lanes(total)
        if lane() == 0:
            out[b] = int64(total)


@kernel()
def list_kept_runs(start, stop, step, kept: In[int64], first, starts: In[int64], out: Out[int64]):
    """out[starts[b] : starts[b + 1]] = the runs of block b that keep a slot, from run `first` on."""
    for b in range(start, stop, step):
        r = uint64(b) << uint64(BLOCK_BITS)
        place = uint64(starts[b])
        end = uint64(starts[uint64(b) + uint64(1)])
        # Written whether kept or not: the next one overwrites it.
        while place < end:
            out[place] = int64(first + r)
            place += uint64(kept[r + uint64(1)] != kept[r])
            r += uint64(1)


@kernel()
def end_kept_runs(start, stop, step, kept: In[int64], first, runs: In[int64], out: Out[R]):
    """out[k] = where run runs[k] ends among the slots that are kept."""
    for k in range(start, stop, step):
        out[k] = kept[uint64(runs[k]) - first + uint64(1)]
