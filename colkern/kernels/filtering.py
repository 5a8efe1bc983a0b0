"""Filters: the slots whose bit is set in a bitmap, for every kind of buffer.

A range is over blocks of `words` 64-bit words of the bitmap. `starts[b]` is how many slots are kept
before block b: the running sum of what `count_kept` says.
"""

from __future__ import annotations

from typing import NamedTuple

from numpy import int64, uint8, uint64

from colkern.kernels.arguments import Bitmap, In, Index, O, Out, T
from colkern.kernels.bitmaps import bit_at, whole_word, word_of
from colkern.kernels.kernel import helper, kernel
from colkern.kernels.lanes import SECTOR, own_bits, rank_of, set_below, sums_of_lanes
from colkern.kernels.primitives import (
    compress_items,
    copy_bytes_loosely,
    extract_bits,
    lane,
    lanes,
    most_one_by_one,
    popcount,
    trailing_zeros,
)

STRETCH = 64
"""So many words of a bitmap are looked at before it is decided how to copy what they keep."""

SPARSE = 1
"""The most slots of a word, on average, for which each is looked for by itself."""


FEW_PAIRS = 16
"""The most pairs of a word that are faster copied one by one."""


class Mask(NamedTuple):
    """The bits of `length` slots, set for those that are kept; a block is `words` 64-bit words of them."""

    bits: Bitmap
    length: uint64
    words: uint64


@helper
def last_word(b: Index, words: uint64, length: uint64) -> uint64:
    """Past the last word of block `b`, of those that hold `length` bits."""
    return min((uint64(b) + uint64(1)) * words, (length + uint64(63)) >> uint64(6))


@kernel()
def count_kept(start, stop, step, mask: Mask, out: Out[int64]):
    """out[b] = how many bits of block b are set."""
    for b in range(start, stop, step):
        begin = uint64(b) * mask.words
        end = last_word(b, mask.words, mask.length)
        # At most the last word is not a whole one: the others are counted without a look.
        whole = min(end, mask.length >> uint64(6))
        count = uint64(0)
        for w in range(begin, whole):
            count += uint64(popcount(whole_word(mask.bits, uint64(w))))
        if whole < end:
            count += uint64(popcount(word_of(mask.bits, whole, mask.length)))
        out[b] = count


@helper
def room_to_spill(starts: In[int64], b: Index, stop: uint64, step: uint64) -> uint64:
    """The number of items that the thread of block `b` writes behind the block, later.

    A thread with blocks one after the other may spill items there.
    """
    if step != 1:
        return uint64(0)
    return uint64(starts[stop]) - uint64(starts[uint64(b) + uint64(1)])


@kernel(grouped=True, most_lanes=SECTOR)
def filter_items(start, stop, step, mask: Mask, starts: In[int64], values: In[T], out: Out[T]):
    """The items of `out` from starts[b] on = those of block b that are kept."""
    # A thread with blocks one after the other may spill items over what it has yet to write.
    end = uint64(starts[stop]) if step == 1 else uint64(0)
    whole = mask.length >> uint64(6)
    for b in range(start, stop, step):
        place = uint64(starts[b])
        w = uint64(b) * mask.words
        last = last_word(b, mask.words, mask.length)
        while w < last:
            after = min(w + uint64(STRETCH), last)
            if after > whole:
                if lane() == 0:
                    place = keep_each(mask.bits, mask.length, w, after, place, values, out)
            elif step == 1:
                place = keep_stretch(mask.bits, w, after, place, end, values, out)
            else:
                place = keep_many(mask.bits, w, after, place, values, out)
            w = after


@helper
def keep_each(
    bits: Bitmap,
    length: uint64,
    begin: uint64,
    end: uint64,
    place: uint64,
    values: In[T],
    out: Out[T],
) -> uint64:
    """Copy the items kept of words `[begin, end)`, and nothing else; returns the place behind them."""
    for w in range(begin, end):
        kept = word_of(bits, uint64(w), length)
        while kept != 0:
            out[place] = values[(uint64(w) << uint64(6)) + uint64(trailing_zeros(kept))]
            kept &= kept - uint64(1)
            place += uint64(1)
    return place


@helper
def keep_stretch(
    bits: Bitmap,
    begin: uint64,
    end: uint64,
    place: uint64,
    room: uint64,
    values: In[T],
    out: Out[T],
) -> uint64:
    """Copy the items kept of the whole words `[begin, end)`; returns the place behind them.

    The copy that is fastest for so many; up to `room`, `out` may hold anything behind them.
    """
    count = uint64(0)
    for w in range(begin, end):
        count += uint64(popcount(whole_word(bits, uint64(w))))
    words = end - begin
    first = begin << uint64(6)
    if count == words << uint64(6):
        for k in range(uint64(0), count):
            out[place + uint64(k)] = values[first + uint64(k)]
    elif count <= words * uint64(SPARSE):
        keep_sparse(bits, begin, place, place + count, values, out)
    elif place + count + uint64(64) > room:
        keep_each(bits, end << uint64(6), begin, end, place, values, out)
    elif count <= words * most_one_by_one(values):
        keep_few(bits, begin, end, place, values, out)
    else:
        return keep_many(bits, begin, end, place, values, out)
    return place + count


@helper
def keep_many(
    bits: Bitmap, begin: uint64, end: uint64, place: uint64, values: In[T], out: Out[T]
) -> uint64:
    """Words of many items, several slots at a time; returns the place behind them."""
    for w in range(begin, end):
        kept = whole_word(bits, uint64(w))
        if kept != 0:
            compress_items(out, place, values, uint64(w) << uint64(6), kept)
            place += uint64(popcount(kept))
    return place


@helper
def keep_few(
    bits: Bitmap, begin: uint64, end: uint64, place: uint64, values: In[T], out: Out[T]
) -> None:
    """Words of few items: four of them a time, as each further branch is mispredicted."""
    for w in range(begin, end):
        a = whole_word(bits, uint64(w))
        after = place + uint64(popcount(a))
        first = uint64(w) << uint64(6)
        while place < after:
            # Where there is no further one, the first again: it is in the cache.
            b = a & (a - uint64(1))
            b = b if b != 0 else a
            c = b & (b - uint64(1))
            c = c if c != 0 else a
            d = c & (c - uint64(1))
            d = d if d != 0 else a
            out[place] = values[first + uint64(trailing_zeros(a))]
            out[place + uint64(1)] = values[first + uint64(trailing_zeros(b))]
            out[place + uint64(2)] = values[first + uint64(trailing_zeros(c))]
            out[place + uint64(3)] = values[first + uint64(trailing_zeros(d))]
            a = d & (d - uint64(1))
            place += uint64(4)
        place = after


@helper
def keep_sparse(
    bits: Bitmap, w: uint64, place: uint64, end: uint64, values: In[T], out: Out[T]
) -> None:
    """Words of hardly an item, from word `w` on up to place `end` of `out`: from item to item."""
    kept = uint64(0)
    if place < end:
        kept = whole_word(bits, w)
    while place < end:
        while kept == 0:
            w += uint64(1)
            kept = whole_word(bits, w)
        out[place] = values[(w << uint64(6)) + uint64(trailing_zeros(kept))]
        kept &= kept - uint64(1)
        place += uint64(1)


@kernel(grouped=True, most_lanes=SECTOR)
def filter_pairs(
    start, stop, step, mask: Mask, starts: In[int64], values: In[uint64], out: Out[uint64]
):
    """As `filter_items`, for values of two items."""
    # As in `filter_items`.
    end = uint64(starts[stop]) << uint64(1) if step == 1 else uint64(0)
    for b in range(start, stop, step):
        place = uint64(starts[b]) << uint64(1)
        for w in range(uint64(b) * mask.words, last_word(b, mask.words, mask.length)):
            kept = word_of(mask.bits, uint64(w), mask.length)
            first = uint64(w) << uint64(7)
            full = (uint64(w) + uint64(1)) << uint64(6) <= mask.length
            many = uint64(popcount(kept)) > uint64(FEW_PAIRS) and place + uint64(128) <= end
            if full and (many or step != 1):
                low, high = twice(kept), twice(kept >> uint64(32))
                compress_items(out, place, values, first, low)
                place += uint64(popcount(low))
                compress_items(out, place, values, first + uint64(64), high)
                place += uint64(popcount(high))
                kept = uint64(0)
            while kept != 0 and lane() == 0:
                item = first + (uint64(trailing_zeros(kept)) << uint64(1))
                low, high = values[item], values[item + uint64(1)]
                out[place] = low
                out[place + uint64(1)] = high
                kept &= kept - uint64(1)
                place += uint64(2)


@helper
def twice(bits: uint64) -> uint64:
    """Each of the lowest 32 bits, twice."""
    bits = ((bits << uint64(16)) | (bits & uint64(0xFFFFFFFF))) & uint64(0x0000FFFF0000FFFF)
    bits = (bits | (bits << uint64(8))) & uint64(0x00FF00FF00FF00FF)
    bits = (bits | (bits << uint64(4))) & uint64(0x0F0F0F0F0F0F0F0F)
    bits = (bits | (bits << uint64(2))) & uint64(0x3333333333333333)
    bits = (bits | (bits << uint64(1))) & uint64(0x5555555555555555)
    return bits | (bits << uint64(1))


@kernel(grouped=True)
def filter_values(start, stop, step, mask: Mask, starts: In[int64], base, width, out: Out[uint8]):
    """As `filter_items`, for values of any width; values side by side are copied together."""
    source_end = mask.length * width
    for b in range(start, stop, step):
        place = uint64(starts[b]) * width
        end = uint64(starts[b + uint64(1)]) + room_to_spill(starts, b, stop, step)
        for w in range(uint64(b) * mask.words, last_word(b, mask.words, mask.length)):
            kept = word_of(mask.bits, uint64(w), mask.length)
            first = uint64(w) << uint64(6)
            begins = begins_of_runs(kept)
            ends = ends_of_runs(kept)
            while begins != 0:
                begin = (first + uint64(trailing_zeros(begins))) * width
                count = (first + uint64(trailing_zeros(ends)) + uint64(1)) * width - begin
                room = min(end * width - place, source_end - begin)
                copy_bytes_loosely(out, place, base + begin, count, room)
                place += count
                begins &= begins - uint64(1)
                ends &= ends - uint64(1)


@helper
def begins_of_runs(bits: uint64) -> uint64:
    """The lowest bit of each run of set bits."""
    return bits & ~(bits << uint64(1))


@helper
def ends_of_runs(bits: uint64) -> uint64:
    """The highest bit of each run of set bits."""
    return bits & ~(bits >> uint64(1))


@kernel(grouped=True, most_lanes=SECTOR, T="u2 u4 u8")
def kept_positions(start, stop, step, mask: Mask, starts: In[int64], out: Out[T]):
    """out[starts[b] : starts[b + 1]] = which bits of block b are set, in order."""
    for b in range(start, stop, step):
        place = uint64(starts[b])
        for w in range(uint64(b) * mask.words, last_word(b, mask.words, mask.length)):
            kept = word_of(mask.bits, uint64(w), mask.length)
            first = uint64(w) << uint64(6)
            if kept == ~uint64(0):
                for k in range(lane(), uint64(64), lanes()):
                    out[place + uint64(k)] = first + uint64(k)
            else:
                own, seen = own_bits(kept), uint64(0)
                while own != 0:
                    slot = uint64(trailing_zeros(own))
                    out[place + rank_of(kept, slot, seen)] = first + slot
                    own &= own - uint64(1)
                    seen += uint64(1)
            place += uint64(popcount(kept))


@kernel(combine="add")
def filter_bits(
    start, stop, step, mask: Mask, starts: In[int64], values: Bitmap, out: Out[uint64]
) -> uint64:
    """Bit i of `out` = the bit of the i-th slot that is kept; returns how many are set.

    The range is over the words of `out`, as no word is written by two threads.
    """
    total = uint64(0)
    # A thread with words one after the other goes on where it is.
    stretch = uint64(stop) - uint64(start) if step == 1 and start < stop else uint64(1)
    for o in range(start, stop, step * stretch):
        begin = uint64(o)
        total += fill_words(mask, starts, values, begin, begin + stretch, out)
    return total


@helper
def fill_words(
    mask: Mask, starts: In[int64], values: Bitmap, begin: uint64, end: uint64, out: Out[uint64]
) -> uint64:
    """The words `[begin, end)` of `out`, as `filter_bits` says; how many of their bits are set."""
    last = (mask.length + uint64(63)) >> uint64(6)
    whole = mask.length >> uint64(6)
    block = find_block(starts, begin << uint64(6))
    passed = (begin << uint64(6)) - uint64(starts[block])
    w = block * mask.words
    kept = word_of(mask.bits, w, mask.length)
    while passed >= uint64(popcount(kept)):
        passed -= uint64(popcount(kept))
        w += uint64(1)
        kept = word_of(mask.bits, w, mask.length)
    part = extract_bits(word_of(values, w, mask.length), kept) >> passed
    total = uint64(popcount(part))
    count = uint64(popcount(kept)) - passed
    ready, filled, o = append_bits(part, count, uint64(0), uint64(0), begin, out)
    w += uint64(1)
    # Whole words in a loop of their own: twice as fast as with a look at each.
    while o < end and w < whole:
        kept = whole_word(mask.bits, w)
        part = extract_bits(whole_word(values, w), kept)
        total += uint64(popcount(part))
        ready, filled, o = append_bits(part, uint64(popcount(kept)), ready, filled, o, out)
        w += uint64(1)
    if o < end and w < last:
        kept = word_of(mask.bits, w, mask.length)
        part = extract_bits(word_of(values, w, mask.length), kept)
        total += uint64(popcount(part))
        ready, filled, o = append_bits(part, uint64(popcount(kept)), ready, filled, o, out)
    if o < end:
        out[o] = ready
        return total
    # What is left over goes to the next word, which is another's.
    return total - uint64(popcount(ready))


@helper
def append_bits(
    part: uint64, count: uint64, ready: uint64, filled: uint64, o: uint64, out: Out[uint64]
) -> tuple[uint64, uint64, uint64]:
    """`count` bits behind the `filled` ones that are ready for word `o`; the bits, number and word then."""
    ready |= part << filled
    # Written whether it is full or not: whether is as good as random.
    out[o] = ready
    over = (part >> uint64(1)) >> (uint64(63) - filled)
    filled += count
    full = filled >> uint64(6)
    return (over if full != 0 else ready), filled & uint64(63), o + full


@helper
def find_block(starts: In[O], position: uint64) -> uint64:
    """The block that holds a position: the last one that starts there or before."""
    low = uint64(0)
    high = uint64(len(starts))
    while high - low > 1:
        middle = (low + high) >> uint64(1)
        if uint64(starts[middle]) > position:
            high = middle
        else:
            low = middle
    return low


@kernel()
def sum_kept_lengths(start, stop, step, mask: Mask, offsets: In[O], out: Out[int64]):
    """out[b] = how many slots of block b are kept; behind all of these, what their values have together."""
    blocks = uint64(len(out)) >> uint64(1)
    for b in range(start, stop, step):
        count, total = uint64(0), int64(0)
        for w in range(uint64(b) * mask.words, last_word(b, mask.words, mask.length)):
            kept = word_of(mask.bits, uint64(w), mask.length)
            first = uint64(w) << uint64(6)
            begins = begins_of_runs(kept)
            ends = ends_of_runs(kept)
            while begins != 0:
                begin = first + uint64(trailing_zeros(begins))
                end = first + uint64(trailing_zeros(ends)) + uint64(1)
                total += int64(offsets[end]) - int64(offsets[begin])
                begins &= begins - uint64(1)
                ends &= ends - uint64(1)
            count += uint64(popcount(kept))
        out[b] = count
        out[blocks + uint64(b)] = total


@kernel(grouped=True, most_lanes=SECTOR)
def filter_offsets(
    start, stop, step, mask: Mask, starts: In[int64], sums: In[int64], offsets: In[O], out: Out[O]
):
    """The offsets from 0 on of the values that are kept: those of block b begin at sums[b] - sums[0]."""
    for b in range(start, stop, step):
        place = uint64(starts[b])
        end = sums[b] - sums[uint64(0)]
        if b == 0 and lane() == 0:
            out[0] = 0
        for w in range(uint64(b) * mask.words, last_word(b, mask.words, mask.length)):
            kept = word_of(mask.bits, uint64(w), mask.length)
            first = uint64(w) << uint64(6)
            if lanes() != 1:
                end = int64(offset_lanes(kept, first, place, uint64(end), offsets, out))
                place += uint64(popcount(kept))
            elif kept == ~uint64(0):
                moved = end - int64(offsets[first])
                for k in range(uint64(1), uint64(65)):
                    out[place + uint64(k)] = offsets[first + uint64(k)] + moved
                place += uint64(64)
                end = moved + int64(offsets[first + uint64(64)])
            else:
                while kept != 0:
                    slot = first + uint64(trailing_zeros(kept))
                    end += int64(offsets[slot + uint64(1)]) - int64(offsets[slot])
                    place += uint64(1)
                    out[place] = end
                    kept &= kept - uint64(1)


@helper
def offset_lanes(
    kept: uint64, first: uint64, place: uint64, end: uint64, offsets: In[O], out: Out[O]
) -> uint64:
    """The offsets of the slots kept of a word, as many slots at a time as there are lanes; the last one."""
    for j in range(uint64(0), uint64(64), lanes()):
        k = uint64(j) + lane()
        is_kept, length = (kept >> k) & uint64(1), uint64(0)
        if is_kept != 0:
            length = uint64(offsets[first + k + uint64(1)]) - uint64(offsets[first + k])
        before, total = sums_of_lanes(length)
        if is_kept != 0:
            out[place + set_below(kept, k) + uint64(1)] = int64(end + before + length)
        end += total
    return end


@kernel(grouped=True)
def filter_bytes(
    start, stop, step, mask: Mask, sums: In[int64], offsets: In[O], base, width, out: Out[uint8]
):
    """The bytes of the values that are kept; values side by side are copied together.

    Offsets count items of `width` bytes from address `base` on. `sums` are as in `filter_offsets`.
    """
    source_end = uint64(offsets[mask.length]) * width
    origin = uint64(sums[uint64(0)])
    for b in range(start, stop, step):
        place = (uint64(sums[b]) - origin) * width
        end = uint64(sums[b + uint64(1)]) - origin + room_to_spill(sums, b, stop, step)
        for w in range(uint64(b) * mask.words, last_word(b, mask.words, mask.length)):
            kept = word_of(mask.bits, uint64(w), mask.length)
            first = uint64(w) << uint64(6)
            begins = begins_of_runs(kept)
            ends = ends_of_runs(kept)
            while begins != 0:
                begin = uint64(offsets[first + uint64(trailing_zeros(begins))]) * width
                after = uint64(offsets[first + uint64(trailing_zeros(ends)) + uint64(1)])
                count = after * width - begin
                room = min(end * width - place, source_end - begin)
                copy_bytes_loosely(out, place, base + begin, count, room)
                place += count
                begins &= begins - uint64(1)
                ends &= ends - uint64(1)


@kernel()
def spread_to_elements(start, stop, step, bits: Bitmap, offsets: In[O], out: Out[uint64]):
    """Bit i of `out` = the bit of the list that has element `offsets[0] + i` of the child.

    The range is over the words of `out`.
    """
    origin = uint64(offsets[0])
    last = uint64(offsets[uint64(len(offsets)) - uint64(1)])
    i = uint64(0)
    following = uint64(start) + uint64(1)
    for o in range(start, stop, step):
        begin = origin + (uint64(o) << uint64(6))
        if uint64(o) != following:
            i = find_block(offsets, begin)
        end = min(begin + uint64(64), last)
        packed = uint64(0)
        position = begin
        while position < end:
            while uint64(offsets[i + uint64(1)]) <= position:
                i += uint64(1)
            reached = min(uint64(offsets[i + uint64(1)]), end)
            ones = ~uint64(0) >> (uint64(64) - (reached - position))
            packed |= (ones * uint64(bit_at(bits, i))) << (position - begin)
            position = reached
        out[o] = packed
        following = uint64(o) + uint64(1)
