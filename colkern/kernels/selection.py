"""Selection: values picked by position, for every layout's buffers.

Positions are unsigned words of any width: a negative number is then a very large one. They are
checked (by `largest_index`, or as `take_items` follows them) and, where they are null, made 0 before
any of the others runs. `picked` is a bitmap of the picks that are not null; zero bytes of it stand for
one of ones only.
"""

from __future__ import annotations

from numpy import int64, uint8, uint64

from colkern.kernels.arguments import Bitmap, I, In, Index, J, O, Out, T, Truth
from colkern.kernels.bitmaps import bit_at, get_bit, is_valid, whole_word_from, word_from
from colkern.kernels.kernel import helper, kernel
from colkern.kernels.primitives import (
    copy_bytes,
    copy_bytes_loosely,
    get_byte,
    popcount,
    prefetch,
    word_at,
)
from colkern.kernels.runs import find_run

AHEAD = 16
"""The number of values ahead for which memory is asked before they are copied."""


@kernel(I="i1 i2 i4 i8 u1 u2 u4 u8")
def first_index_out_of_bounds(
    start, stop, step, indices: In[I], validity: Bitmap, length: int64
) -> uint64:
    """The first valid index of the range below 0 or not below `length`."""
    for i in range(start, stop, step):
        outside = indices[i] < 0 or uint64(indices[i]) >= uint64(length)
        if outside and is_valid(validity, i):
            return uint64(i)
    return ~uint64(0)


@kernel(combine="max")
def largest_index(start, stop, step, indices: In[I]) -> uint64:
    """The largest index of the range, 0 if there is none."""
    largest = uint64(0)
    for i in range(start, stop, step):
        largest = max(largest, uint64(indices[i]))
    return largest


@helper
def one_not_below(
    bound: uint64,
    a: uint64,
    b: uint64,
    c: uint64,
    d: uint64,
    e: uint64,
    f: uint64,
    g: uint64,
    h: uint64,
) -> Truth:
    """Whether one of eight numbers is not below a bound.

    Eight comparisons: that of the largest comes later, and a take from a small table is a fifth slower.
    """
    low = (a >= bound) | (b >= bound) | (c >= bound) | (d >= bound)
    return low | (e >= bound) | (f >= bound) | (g >= bound) | (h >= bound)


@helper
def follow(
    indices: In[I],
    bound: uint64,
    values: In[T],
    base: uint64,
    start: Index,
    stop: uint64,
    step: uint64,
    out: Out[J],
) -> uint64:
    """out[i] = values[base + indices[i]], eight at a time; returns the first slot that is left.

    Fewer than eight are left, or one of the next eight indices is not below `bound`.
    """
    i, apart = uint64(start), uint64(step)
    # As fast as without a look at the bounds, and a GPU waits for them once.
    while i + uint64(7) * apart < stop:
        a = uint64(indices[i])
        b = uint64(indices[i + apart])
        c = uint64(indices[i + uint64(2) * apart])
        d = uint64(indices[i + uint64(3) * apart])
        e = uint64(indices[i + uint64(4) * apart])
        f = uint64(indices[i + uint64(5) * apart])
        g = uint64(indices[i + uint64(6) * apart])
        h = uint64(indices[i + uint64(7) * apart])
        if one_not_below(bound, a, b, c, d, e, f, g, h):
            return i
        out[i] = values[base + a]
        out[i + apart] = values[base + b]
        out[i + uint64(2) * apart] = values[base + c]
        out[i + uint64(3) * apart] = values[base + d]
        out[i + uint64(4) * apart] = values[base + e]
        out[i + uint64(5) * apart] = values[base + f]
        out[i + uint64(6) * apart] = values[base + g]
        out[i + uint64(7) * apart] = values[base + h]
        i += uint64(8) * apart
    return i


@kernel(streams=True)
def take_items(start, stop, step, indices: In[I], values: In[T], out: Out[T]) -> uint64:
    """out[i] = values[indices[i]]; returns the first index that is out of bounds.

    Later slots are not to be read.
    """
    bound = uint64(len(values))
    i = follow(indices, bound, values, uint64(0), start, uint64(stop), uint64(step), out)
    while i < stop:
        a = uint64(indices[i])
        if a >= bound:
            return i
        out[i] = values[a]
        i += uint64(step)
    return ~uint64(0)


@helper
def eight_bits(bitmap: In[uint8], position: uint64) -> uint64:
    """The eight bits from `position` on, lowest first, and perhaps others above; all are in `bitmap`."""
    shift = position & uint64(7)
    low = uint64(bitmap[position >> uint64(3)]) >> shift
    return low | (uint64(bitmap[(position + uint64(7)) >> uint64(3)]) << (uint64(8) - shift))


@helper
def shown_index(indices: In[I], i: uint64, known: uint64, bit: uint64) -> uint64:
    """Index i, or 0 where that bit of `known` is not set. Loaded first: so there is no branch."""
    index = uint64(indices[i])
    return index if known & bit != 0 else uint64(0)


@kernel(streams=True)
def take_picked_items(
    start, stop, step, indices: In[I], validity: Bitmap, values: In[T], out: Out[T]
) -> uint64:
    """As `take_items`, where an index that is null stands for 0; there is a bitmap, and a value."""
    bound = uint64(len(values))
    i = uint64(start)
    if step == 1:
        while i + uint64(8) <= stop:
            known = eight_bits(validity.bits, validity.offset + i)
            a = shown_index(indices, i, known, uint64(1))
            b = shown_index(indices, i + uint64(1), known, uint64(2))
            c = shown_index(indices, i + uint64(2), known, uint64(4))
            d = shown_index(indices, i + uint64(3), known, uint64(8))
            e = shown_index(indices, i + uint64(4), known, uint64(16))
            f = shown_index(indices, i + uint64(5), known, uint64(32))
            g = shown_index(indices, i + uint64(6), known, uint64(64))
            h = shown_index(indices, i + uint64(7), known, uint64(128))
            if one_not_below(bound, a, b, c, d, e, f, g, h):
                return i
            out[i] = values[a]
            out[i + uint64(1)] = values[b]
            out[i + uint64(2)] = values[c]
            out[i + uint64(3)] = values[d]
            out[i + uint64(4)] = values[e]
            out[i + uint64(5)] = values[f]
            out[i + uint64(6)] = values[g]
            out[i + uint64(7)] = values[h]
            i += uint64(8)
    while i < stop:
        a = uint64(indices[i]) * uint64(bit_at(validity, i))
        if a >= bound:
            return i
        out[i] = values[a]
        i += uint64(step)
    return ~uint64(0)


@kernel()
def choose_items(
    start, stop, step, condition: Bitmap, flip, left: In[T], right: In[T], width, out: Out[T]
):
    """Value i of `out` = that of `left` where bit i is set, else that of `right`.

    If `flip` is all bits, not 0, it is the other way round. A value is `width` items. `right` may have one
    value, which then stands for every slot. Both sides are read and combined: a read that hangs on a bit
    would be a branch.
    """
    is_one = uint64(len(right)) == width
    if width != 1:
        pace = uint64(0) if is_one else width
        for i in range(start, stop, step):
            ours = uint64(bit_at(condition, i)) * ~uint64(0) ^ flip
            for k in range(uint64(0), width):
                place = uint64(i) * width + uint64(k)
                other = right[uint64(i) * pace + uint64(k)]
                out[place] = one_of_both(ours, uint64(left[place]), uint64(other))
        return
    first = uint64(start)
    while step == 1 and first + uint64(64) <= stop:
        # A word of bits at a time: in vectors.
        bits = whole_word_from(condition.bits, condition.offset + first, uint64(0)) ^ flip
        last = first + uint64(64)
        if is_one:
            other = uint64(right[0])
            for k in range(first, last):
                ours = ((bits >> (uint64(k) - first)) & uint64(1)) * ~uint64(0)
                out[k] = one_of_both(ours, uint64(left[k]), other)
        else:
            for k in range(first, last):
                ours = ((bits >> (uint64(k) - first)) & uint64(1)) * ~uint64(0)
                out[k] = one_of_both(ours, uint64(left[k]), uint64(right[k]))
        first = last
    for slot in range(first, stop, step):
        ours = uint64(bit_at(condition, slot)) * ~uint64(0) ^ flip
        other = uint64(right[uint64(0) if is_one else uint64(slot)])
        out[slot] = one_of_both(ours, uint64(left[slot]), other)


@helper
def one_of_both(ours: uint64, left: uint64, right: uint64) -> uint64:
    """`left` if `ours` is all bits, `right` if it is 0."""
    return right ^ ((left ^ right) & ours)


@kernel(streams=True)
def copy_words(start, stop, step, address, out: Out[uint64]):
    """out[i] = the eight bytes at `address + 8 i`."""
    for i in range(start, stop, step):
        out[i] = word_at(address + (uint64(i) << uint64(3)))


@kernel()
def take_pairs(start, stop, step, indices: In[I], values: In[uint64], out: Out[uint64]):
    """Items 2 i and 2 i + 1 of `out` = those of value indices[i]."""
    for i in range(start, stop, step):
        source = uint64(indices[i]) << uint64(1)
        # Both are loaded first: compilers move them together then.
        low, high = values[source], values[source + uint64(1)]
        place = uint64(i) << uint64(1)
        out[place] = low
        out[place + uint64(1)] = high


@kernel(grouped=True)
def take_values(start, stop, step, indices: In[I], base, width, out: Out[uint8]):
    """Value i of `out` = value indices[i], of any width."""
    for i in range(start, stop, step):
        copy_bytes(out, uint64(i) * width, base + uint64(indices[i]) * width, width)


OUTSIDE = 1 << 42
"""Or more: what `take_bits` returns, instead of a number of bits, if an index is out of bounds."""


@kernel(combine="add")
def take_bits(
    start, stop, step, indices: In[I], bits: Bitmap, bound, picked: In[uint8], out: Out[uint64]
) -> uint64:
    """Bit i of `out` = bit indices[i], 0 if the pick is null; returns how many are set.

    The range is over the words of `out`. At an index that is not below `bound`, it returns `OUTSIDE` or
    more; this word and those that follow are not written.
    """
    total = uint64(0)
    count = uint64(len(indices))
    for w in range(start, stop, step):
        begin = uint64(w) << uint64(6)
        packed = uint64(0)
        if begin + uint64(64) <= count:
            for b in range(uint64(0), uint64(8)):
                first = begin + (uint64(b) << uint64(3))
                beyond = False
                for k in range(uint64(0), uint64(8)):
                    beyond = beyond | (uint64(indices[first + uint64(k)]) >= bound)
                if beyond:
                    return uint64(OUTSIDE)
                eight = uint64(0)
                for k in range(uint64(0), uint64(8)):
                    bit = uint64(bit_at(bits, uint64(indices[first + uint64(k)])))
                    eight |= bit << uint64(k)
                packed |= eight << (uint64(b) << uint64(3))
        else:
            for i in range(begin, count):
                index = uint64(indices[uint64(i)])
                if index >= bound:
                    return uint64(OUTSIDE)
                packed |= uint64(bit_at(bits, index)) << (uint64(i) - begin)
        if len(picked) != 0:
            packed &= word_from(picked, uint64(0), uint64(w), count)
        out[w] = packed
        total += uint64(popcount(packed))
    return total


@kernel(combine="max")
def take_lengths(
    start, stop, step, indices: In[I], offsets: In[O], bound, picked: In[uint8], out: Out[int64]
) -> uint64:
    """out[i] = the length of value indices[i], 0 if the pick is null; returns 1 if an index is not below
    `bound`, else 0.

    For an index that is out of bounds, it is the length of the last value.
    """
    last = uint64(len(offsets)) - uint64(2)
    outside = uint64(0)
    for i in range(start, stop, step):
        index = uint64(indices[i])
        # The largest index would be a branch, which random picks make expensive.
        outside |= uint64(index >= bound)
        index = min(index, last)
        length = int64(offsets[index + uint64(1)]) - int64(offsets[index])
        out[i] = length if len(picked) == 0 or get_bit(picked, uint64(i)) else int64(0)
    return outside


@kernel(grouped=True)
def take_bytes(
    start, stop, step, indices: In[I], offsets: In[O], base, width, starts: In[O], out: Out[uint8]
):
    """The values at `indices` from starts[i] on.

    Offsets and `starts`, the running sum of the lengths, count items of `width` bytes.
    """
    source_end = uint64(offsets[uint64(len(offsets)) - uint64(1)])
    for i in range(start, stop, step):
        # Values lie anywhere: what is copied soon is asked of memory now.
        later = min(uint64(i) + uint64(AHEAD) * uint64(step), uint64(stop) - uint64(1))
        prefetch(base + uint64(offsets[uint64(indices[later])]) * width)
        place = uint64(starts[i])
        after = uint64(starts[i + uint64(1)])
        source = uint64(offsets[uint64(indices[i])])
        # A thread with values one after the other may spill over what it has yet to write.
        end = uint64(starts[stop]) if step == 1 else after
        room = min(end - place, source_end - source) * width
        count = (after - place) * width
        copy_bytes_loosely(out, place * width, base + source * width, count, room)


@kernel(grouped=True)
def gather_bytes(start, stop, step, addresses: In[uint64], starts: In[O], out: Out[uint8]):
    """The bytes of `out` from starts[i] on = those at addresses[i], as many as there is room for."""
    for i in range(start, stop, step):
        place = uint64(starts[i])
        copy_bytes(out, place, addresses[i], uint64(starts[i + uint64(1)]) - place)


@kernel()
def join_bits(
    start, stop, step, addresses: In[uint64], firsts: In[uint64], ends: In[int64], out: Out[uint64]
):
    """The words of bits of several pieces, one after the other, and zeros past the last one.

    Piece `p` ends before bit ends[p]. Its bits are those from bit firsts[p] at addresses[p] on, of which
    no byte without such a bit is read; ones where the address is 0.
    """
    w = uint64(start)
    piece = find_run(ends, w << uint64(6))
    while w < uint64(stop):
        at = w << uint64(6)
        while uint64(ends[piece]) <= at:
            piece += uint64(1)
        # The words that are of this piece alone.
        whole = min(uint64(ends[piece]) >> uint64(6), uint64(stop))
        if w >= whole:
            out[w] = joined_word(addresses, firsts, ends, piece, at)
            w += uint64(step)
        elif addresses[piece] == uint64(0):
            while w < whole:
                out[w] = ~uint64(0)
                w += uint64(step)
        else:
            begin = uint64(ends[piece - uint64(1)]) if piece else uint64(0)
            position = firsts[piece] + uint64(8) - (begin & uint64(7))
            place = addresses[piece] + (position >> uint64(3)) - (begin >> uint64(3)) - uint64(1)
            shift = position & uint64(7)
            while w < whole:
                byte = place + (w << uint64(3))
                bits = word_at(byte)
                if shift:
                    above = uint64(get_byte(int64(byte + uint64(8))))
                    bits = bits >> shift | above << (uint64(64) - shift)
                out[w] = bits
                w += uint64(step)


@helper
def joined_word(
    addresses: In[uint64], firsts: In[uint64], ends: In[int64], piece: uint64, at: uint64
) -> uint64:
    """The word from bit `at` on, which begins in a piece, of `join_bits`."""
    last = min(at + uint64(64), uint64(ends[len(ends) - 1]))
    first = at
    word = uint64(0)
    while at < last:
        while uint64(ends[piece]) <= at:
            piece += uint64(1)
        count = min(uint64(ends[piece]), last) - at
        bits = ~uint64(0)
        if addresses[piece] != uint64(0):
            begin = uint64(ends[piece - uint64(1)]) if piece else uint64(0)
            position = firsts[piece] + (at - begin)
            byte = addresses[piece] + (position >> uint64(3))
            shift = position & uint64(7)
            size = shift + count
            if size > uint64(56):
                bits = word_at(byte) >> shift
                if size > uint64(64):
                    above = uint64(get_byte(int64(byte + uint64(8))))
                    bits |= above << (uint64(64) - shift)
            else:
                bits = uint64(0)
                for b in range(uint64(0), (size + uint64(7)) >> uint64(3)):
                    own = uint64(get_byte(int64(byte + uint64(b))))
                    bits |= own << (uint64(b) << uint64(3))
                bits >>= shift
        word |= (bits & (~uint64(0) >> (uint64(64) - count))) << (at - first)
        at += count
    return word


@kernel()
def take_ranges(start, stop, step, indices: In[I], offsets: In[O], starts: In[O], out: Out[uint64]):
    """out[starts[i] : starts[i + 1]] = offsets[indices[i]] and up: the elements of a list."""
    for i in range(start, stop, step):
        place = uint64(starts[i])
        first = uint64(offsets[uint64(indices[i])])
        for k in range(place, uint64(starts[i + uint64(1)])):
            out[k] = first + (uint64(k) - place)


@kernel()
def take_fixed_ranges(start, stop, step, indices: In[I], size, offset, out: Out[uint64]):
    """out[i size : (i + 1) size] = the elements of list indices[i], from slot `offset` on."""
    for i in range(start, stop, step):
        place = uint64(i) * size
        first = (uint64(indices[i]) + offset) * size
        for k in range(uint64(0), size):
            out[place + uint64(k)] = first + uint64(k)
