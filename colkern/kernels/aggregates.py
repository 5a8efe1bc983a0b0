"""Aggregates: sums, extremes and counts of the valid slots of an array.

Sums and counts run over words of 64 slots: a null's value is masked, so that no branch depends on the
data. Where `validity` has zero bytes every slot is valid. What stands under a null may be anything.

A *piece* is a run of slots that one item of a range stands for: the result for it goes to the
piece's own place, and callers of the kernel combine the pieces.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy import float64, int32, int64, uint8, uint64

from colkern.kernels.arguments import Bitmap, I, In, Out, R, RunSpan, T
from colkern.kernels.bitmaps import (
    bit_at,
    bits_of_next,
    bits_of_slots,
    is_valid,
    lowest_bits,
    whole_word,
    whole_word_from,
    word_of,
)
from colkern.kernels.kernel import helper, kernel
from colkern.kernels.lanes import SECTOR, least_of_lanes, sum_of_lanes
from colkern.kernels.primitives import add, lane, lanes, multiply, popcount

LANES = 64
"""The number of running sums that a piece of `sum_floats` has."""

ROUNDS = 64
"""The most slots that go into one of them."""


class Keys(NamedTuple):
    """The way values become keys, which are ordered as signed integers, and which keys count.

    A negative value has the bits of `low` flipped (for floats, all but the sign), then each has those of
    `flip` flipped (for unsigned integers, the highest; all others, for the greatest value). Keys below
    `lowest` or above `highest` (NaN) do not count. `most` is the largest integer of the type.
    """

    flip: int64
    low: int64
    lowest: int64
    highest: int64
    most: int64


@helper
def key_at(values: In[T], i: uint64, keys: Keys) -> Any:
    """The key of a slot."""
    word = values.dtype.type
    value = values[i]
    other = word(value ^ word(keys.low))
    return word((other if value < word(0) else value) ^ word(keys.flip))


BLOCK_BYTES = 1 << 14
"""The bytes of values that are looked at before their nulls, to see whether one of them counts."""


@kernel(combine="add", T="i1 i2 i4 i8 u1 u2 u4")
def sum_integers(start, stop, step, values: In[T], validity: Bitmap) -> int64:
    """The sum of the valid slots, modulo 2**64 (so uint64 may be given as int64)."""
    total = uint64(0)
    i = uint64(start)
    if len(validity.bits) == 0:
        # Sums of few small numbers have room in 32 bits, of which a vector has more.
        while values.itemsize <= 2 and i + uint64(4096) * step <= stop:
            part = int32(0)
            for k in range(uint64(0), uint64(4096)):
                part = int32(part + int32(values[i + uint64(k) * step]))
            total = add(total, uint64(part))
            i += uint64(4096) * step
        for k in range(i, stop, step):
            total = add(total, uint64(values[k]))
        return int64(total)
    while i + uint64(64) * step <= stop:
        bits = bits_of_slots(validity, i, step)
        for k in range(uint64(0), uint64(64)):
            keep = uint64(-int64((bits >> uint64(k)) & uint64(1)))
            total = add(total, uint64(values[i + uint64(k) * step]) & keep)
        i += uint64(64) * step
    for k in range(i, stop, step):
        if bit_at(validity, uint64(k)):
            total = add(total, uint64(values[k]))
    return int64(total)


@kernel(T="f4 f8")
def sum_floats(start, stop, step, values: In[T], validity: Bitmap, out: Out[float64]):
    """Sums of valid slots: item `piece * LANES + lane` sums slots `LANES` apart of a piece.

    Many sums of few slots each keep rounding errors small. Neighbouring items sum neighbouring slots.
    """
    i = uint64(start)
    while i < stop:
        place = i - i % uint64(LANES)
        first = i - place
        last = min(uint64(stop) - place, uint64(LANES))
        slot = place * uint64(ROUNDS)
        end = min(slot + uint64(LANES * ROUNDS), uint64(len(values)))
        for own in range(first, last, step):
            # A thread of a GPU sums in a register; memory would be read and written with each slot.
            total = 0.0
            if step != 1:
                for k in range(slot + uint64(own), end, uint64(LANES)):
                    value = float64(values[k])
                    total += value if is_valid(validity, k) else 0.0
            out[place + uint64(own)] = total
            i += uint64(step)
        if step == 1 and last - first == uint64(LANES):
            while len(validity.bits) == 0 and slot + uint64(4 * LANES) <= end:
                add_four_rounds(values, slot, place, out)
                slot += uint64(4 * LANES)
            while slot + uint64(2 * LANES) <= end:
                add_two_rounds(values, validity, slot, place, out)
                slot += uint64(2 * LANES)
        while step == 1 and slot < end:
            for own in range(first, min(last, end - slot), step):
                if is_valid(validity, slot + uint64(own)):
                    out[place + uint64(own)] += float64(values[slot + uint64(own)])
            slot += uint64(LANES)


@helper
def add_four_rounds(values: In[T], slot: uint64, place: uint64, out: Out[float64]) -> None:
    """To each of the LANES items of `out` from `place` on, four slots from `slot` on, LANES apart."""
    apart = uint64(LANES)
    for k in range(uint64(0), apart):
        i = slot + uint64(k)
        low = float64(values[i]) + float64(values[i + apart])
        high = float64(values[i + uint64(2) * apart]) + float64(values[i + uint64(3) * apart])
        out[place + uint64(k)] += low + high


@helper
def add_two_rounds(
    values: In[T], validity: Bitmap, slot: uint64, place: uint64, out: Out[float64]
) -> None:
    """To each of the LANES items of `out` from `place` on, two slots from `slot` on, LANES apart."""
    apart = uint64(LANES)
    if len(validity.bits) == 0:
        for k in range(uint64(0), apart):
            i = slot + uint64(k)
            out[place + uint64(k)] += float64(values[i]) + float64(values[i + apart])
        return
    low = whole_word_from(validity.bits, validity.offset + slot, uint64(0))
    high = whole_word_from(validity.bits, validity.offset + slot + apart, uint64(0))
    for k in range(uint64(0), apart):
        i = slot + uint64(k)
        bit = uint64(1) << uint64(k)
        # Loaded first, wanted or not: a load under a condition is not vectorised.
        first, second = float64(values[i]), float64(values[i + apart])
        valid_first = first if low & bit != 0 else 0.0
        valid_second = second if high & bit != 0 else 0.0
        out[place + uint64(k)] += valid_first + valid_second


@kernel(T="i1 i2 i4 i8")
def least_key(start, stop, step, values: In[T], validity: Bitmap, keys: Keys) -> int64:
    """The least key among the valid slots; `most` or a key above `highest` if none counts.

    Only blocks with a smaller key are searched again for slots that are valid; a thread of a GPU has few
    slots, and reads the validity of each.
    """
    word = values.dtype.type
    turned = word(keys.flip)
    bottom, top = word(keys.lowest), word(keys.highest)
    least = word(keys.most)
    i = uint64(start)
    size = uint64(BLOCK_BYTES // values.itemsize)
    while (step == 1 or len(validity.bits) == 0) and i + uint64(64) * step <= stop:
        if i + size * step > stop:
            # The last block is shorter: slots behind the blocks are looked at one by one.
            size = (uint64(stop) - i) // uint64(step) & ~uint64(63)
        here = word(keys.most)
        if keys.low == 0:
            for k in range(uint64(0), size):
                here = min(here, word(values[i + uint64(k) * step] ^ turned))
        else:
            for k in range(uint64(0), size):
                here = min(here, key_at(values, i + uint64(k) * step, keys))
        if len(validity.bits) == 0 and bottom <= here and here <= top:
            least = min(least, here)
        for block in range(uint64(0), size if here < least else uint64(0), uint64(64)):
            first = i + uint64(block) * step
            near = word(keys.most)
            for k in range(uint64(0), uint64(64)):
                near = min(near, key_at(values, first + uint64(k) * step, keys))
            bits = bits_of_slots(validity, first, step) if near < least else uint64(0)
            for k in range(uint64(0), uint64(64) if near < least else uint64(0)):
                key = key_at(values, first + uint64(k) * step, keys)
                valid = bits & (uint64(1) << uint64(k)) != 0
                counts = valid and bottom <= key and key <= top
                least = min(least, key) if counts else least
        i += size * step
    for k in range(i, stop, step):
        key = key_at(values, uint64(k), keys)
        valid = is_valid(validity, k)
        counts = valid and bottom <= key and key <= top
        least = min(least, key) if counts else least
    return int64(least)


@kernel(grouped=True, most_lanes=SECTOR, T="i1 i2 i4 i8")
def extremes(start, stop, step, values: In[T], validity: Bitmap, size, keys: Keys, out: Out[T]):
    """The least and the greatest key of each piece and of those before it in the range, side by side.

    Pieces have `size` slots, a multiple of 64. Where no key counts, they are `most` and `-most - 1`. Only
    pieces with a new extreme are searched again for slots that are valid.
    """
    word = values.dtype.type
    turned = word(keys.flip)
    bottom, top = word(keys.lowest), word(keys.highest)
    least, greatest = word(keys.most), word(~keys.most)
    for piece in range(start, stop, step):
        begin = uint64(piece) * size
        end = min(begin + size, uint64(len(values)))
        low_here, high_here = word(keys.most), word(~keys.most)
        if keys.low == 0:
            for i in range(begin + lane(), end, lanes()):
                key = word(values[i] ^ turned)
                low_here = min(low_here, key)
                high_here = max(high_here, key)
        else:
            for i in range(begin + lane(), end, lanes()):
                key = key_at(values, uint64(i), keys)
                low_here = min(low_here, key)
                high_here = max(high_here, key)
        if len(validity.bits) == 0 and bottom <= low_here and high_here <= top:
            least, greatest = min(least, low_here), max(greatest, high_here)
        if low_here < least or high_here > greatest:
            for i in range(begin, end, uint64(64)):
                first = uint64(i)
                count = min(end - first, uint64(64))
                bits = bits_of_next(validity, first, count)
                for k in range(lane(), count, lanes()):
                    key = key_at(values, first + uint64(k), keys)
                    # A name with one type: Numba takes `&` of a bool and a number for a number.
                    valid = bits & (uint64(1) << uint64(k)) != 0
                    counts = valid and bottom <= key and key <= top
                    least = min(least, key) if counts else least
                    greatest = max(greatest, key) if counts else greatest
        lowest, highest = least_of_lanes(int64(least)), ~least_of_lanes(int64(~greatest))
        if lane() == 0:
            out[uint64(2) * uint64(piece)] = lowest
            out[uint64(2) * uint64(piece) + uint64(1)] = highest


@helper
def sum_halves(
    words: In[uint64],
    begin: uint64,
    end: uint64,
    width: uint64,
    level: uint64,
    turned: uint64,
    validity: Bitmap,
) -> tuple[uint64, uint64, uint64, uint64]:
    """The sums of the halves of words `level` and `level + 1` of the valid slots from `begin` to `end`."""
    half, one, zero = uint64(0xFFFFFFFF), uint64(1), uint64(0)
    a, b, c, d = zero, zero, zero, zero
    for first in range(begin, end, uint64(64)):
        count = min(end - uint64(first), uint64(64))
        bits = bits_of_next(validity, uint64(first), count)
        for k in range(lane(), count, lanes()):
            i = (uint64(first) + uint64(k)) * width + level
            keep = uint64(-int64((bits >> uint64(k)) & one))
            lower, upper = words[i] & keep, (words[i + one] ^ turned) & keep
            a += lower & half
            b += lower >> uint64(32)
            c += upper & half
            d += upper >> uint64(32)
    return sum_of_lanes(a), sum_of_lanes(b), sum_of_lanes(c), sum_of_lanes(d)


@kernel(grouped=True, most_lanes=SECTOR)
def sum_words(
    start, stop, step, words: In[uint64], width, validity: Bitmap, size, signed, out: Out[uint64]
):
    """The sums of the lower and upper halves of each word of the valid slots of a piece, side by side.

    Numbers have `width` words, the lowest first; pieces have `size` slots, a multiple of 64. Sums of
    halves do not overflow. Of `signed` numbers (1), the highest bit is flipped, so that none is negative.
    """
    half, one, zero = uint64(0xFFFFFFFF), uint64(1), uint64(0)
    sign = signed << uint64(63)
    slots = uint64(len(words)) // width
    for piece in range(start, stop, step):
        begin = uint64(piece) * size
        end = min(begin + size, slots)
        place = uint64(piece) * uint64(2) * width
        if width == 1:
            low, high = zero, zero
            for first in range(begin, end, uint64(64)):
                count = min(end - uint64(first), uint64(64))
                bits = bits_of_next(validity, uint64(first), count)
                for k in range(lane(), count, lanes()):
                    keep = uint64(-int64((bits >> uint64(k)) & one))
                    word = (words[uint64(first) + uint64(k)] ^ sign) & keep
                    low += word & half
                    high += word >> uint64(32)
            low, high = sum_of_lanes(low), sum_of_lanes(high)
            if lane() == 0:
                out[place], out[place + one] = low, high
        else:
            for level in range(zero, width, uint64(2)):
                turned = sign if uint64(level) + uint64(2) == width else zero
                # At a known distance, numbers are loaded by vectors and not gathered.
                if width == uint64(2):
                    a, b, c, d = sum_halves(words, begin, end, uint64(2), zero, sign, validity)
                else:
                    a, b, c, d = sum_halves(
                        words, begin, end, width, uint64(level), turned, validity
                    )
                first_sum = place + uint64(2) * uint64(level)
                if lane() == 0:
                    out[first_sum], out[first_sum + one] = a, b
                    out[first_sum + uint64(2)], out[first_sum + uint64(3)] = c, d


@kernel()
def least_word(
    start, stop, step, words: In[uint64], width, level, flip, above: In[uint64], validity: Bitmap
) -> uint64:
    """The least word `level` among the valid slots whose higher words are those of `above`.

    Numbers have `width` words, the lowest first. `flip` are the bits to flip in the word: the sign for
    the least number, the others for the greatest.
    """
    least = ~uint64(0)
    for i in range(start, stop, step):
        place = uint64(i) * width
        same = is_valid(validity, i)
        for k in range(level + uint64(1), width):
            same = same and words[place + uint64(k)] == above[k]
        if same:
            least = min(least, words[place + level] ^ flip)
    return least


@kernel(combine="add")
def count_common_bits(start, stop, step, left: Bitmap, right: Bitmap, length) -> uint64:
    """The number of bits set in both; the range is over the words of 64 bits, the last one cut."""
    total = uint64(0)
    w = uint64(start)
    whole = min(uint64(stop), length >> uint64(6))
    while w < whole:
        both = whole_word(left, w) & whole_word(right, w)
        total += uint64(popcount(both))
        w += uint64(step)
    if w < stop:
        both = word_of(left, w, length) & word_of(right, w, length)
        total += uint64(popcount(both))
    return total


@kernel(combine="max")
def has_bit(start, stop, step, bits: Bitmap, validity: Bitmap, flip, length) -> uint64:
    """1 if the bit of a valid slot is set, or not set if `flip` is 1; else 0. The range is over words.

    It ends soon after the first one. Words are looked at by blocks, which cost one branch each.
    """
    turn = -int64(flip)
    seen = uint64(0)
    w = uint64(start)
    whole = min(uint64(stop), length >> uint64(6))
    while seen == 0 and w + uint64(63) * step < whole:
        if len(validity.bits) == 0:
            for k in range(uint64(0), uint64(64)):
                seen |= whole_word(bits, w + uint64(k) * step) ^ uint64(turn)
        else:
            for k in range(uint64(0), uint64(64)):
                word = whole_word(bits, w + uint64(k) * step) ^ uint64(turn)
                seen |= word & whole_word(validity, w + uint64(k) * step)
        w += uint64(64) * step
    while seen == 0 and w < stop:
        count = min(length - (w << uint64(6)), uint64(64))
        word = (word_of(bits, w, length) ^ uint64(turn)) & lowest_bits(count)
        seen = word & bits_of_next(validity, w << uint64(6), count)
        w += uint64(step)
    return uint64(seen != 0)


@kernel(I="i1 i2 i4 i8 u1 u2 u4 u8")
def mark_used(start, stop, step, indices: In[I], validity: Bitmap, out: Out[uint8]):
    """out[index] = 1 for each valid index, all of which are in bounds; other items stay as they are."""
    for i in range(start, stop, step):
        if is_valid(validity, i):
            out[uint64(indices[i])] = uint8(1)


@kernel()
def lengths_of_runs(start, stop, step, runs: RunSpan[R], length, out: Out[int64]):
    """out[k] = how many of the `length` slots of an array are in run `first + k`."""
    for k in range(start, stop, step):
        run = runs.first + uint64(k)
        before = uint64(runs.ends[run - uint64(1)]) if run > 0 else uint64(0)
        begin = max(before, runs.offset)
        out[k] = int64(min(uint64(runs.ends[run]), runs.offset + length) - begin)


@kernel(T="i1 i2 i4 i8 u1 u2 u4")
def weigh_integers(start, stop, step, values: In[T], weights: In[int64], out: Out[int64]):
    """out[i] = values[i] weights[i], modulo 2**64."""
    for i in range(start, stop, step):
        out[i] = int64(multiply(uint64(values[i]), uint64(weights[i])))


@kernel(T="f4 f8")
def weigh_floats(start, stop, step, values: In[T], weights: In[int64], out: Out[float64]):
    """out[i] = values[i] weights[i]."""
    for i in range(start, stop, step):
        out[i] = float64(values[i]) * float64(weights[i])
