"""Sorting: keys whose order as uint64 is that of the values, and a radix sort of packed words.

A packed word has 32 bits of a key above 32 bits of a position. Words are sorted digit by digit from
the lowest one on, each time into another buffer: counted, then scattered to the places that follow.
The range of both kernels is over chunks of words, of which each has a place of its own per digit.
Several threads divide words by the highest digit, and each sorts buckets of its own.
"""

from __future__ import annotations

from numpy import int64, uint64

from colkern.kernels.arguments import Bitmap, In, Out, T, Truth
from colkern.kernels.bitmaps import bits_from, word_of
from colkern.kernels.kernel import helper, kernel
from colkern.kernels.lanes import SECTOR, set_below, sum_of_lanes
from colkern.kernels.primitives import lane, lanes, popcount

NULL_BLOCK = 1024
"""The slots of which `split_nulls` writes the positions together."""


@kernel()
def order_integers(start, stop, step, words: In[T], width, part, minus, flip, out: Out[uint64]):
    """out[i] = a key for word `part` of value i: unsigned keys are in the order of values.

    `minus` is the sign bit, 0 for unsigned words; `flip` is all bits for descending order, else 0.
    """
    for i in range(start, stop, step):
        out[i] = uint64(words[uint64(i) * width + part]) ^ minus ^ flip


@kernel(T="u2 u4 u8")
def order_floats(start, stop, step, words: In[T], minus, infinity, nan, flip, out: Out[uint64]):
    """As `order_integers`; both zeros have one key, and all NaNs have the key `nan`."""
    for i in range(start, stop, step):
        word = uint64(words[i])
        magnitude = word & ~minus
        # The order of negative numbers is that of their bits, reversed.
        key = (minus - magnitude if word & minus != 0 else minus + magnitude) ^ flip
        out[i] = nan if magnitude > infinity else key


@kernel(grouped=True, most_lanes=SECTOR)
def count_valid(start, stop, step, validity: Bitmap, length, out: Out[int64]):
    """out[b] = how many slots of block b are valid; the range is over blocks of `NULL_BLOCK` slots."""
    for b in range(start, stop, step):
        begin = uint64(b) * uint64(NULL_BLOCK)
        end = min(begin + uint64(NULL_BLOCK), length)
        count = uint64(0)
        for w in range((begin >> uint64(6)) + lane(), (end + uint64(63)) >> uint64(6), lanes()):
            count += uint64(popcount(word_of(validity, uint64(w), length)))
        count = sum_of_lanes(count)
        if lane() == 0:
            out[b] = count


@kernel(grouped=True, most_lanes=SECTOR)
def split_nulls(start, stop, step, validity: Bitmap, length, starts: In[int64], out: Out[uint64]):
    """The positions of valid slots, then those of nulls; the range is over blocks of slots.

    starts[b] is how many valid slots are before block b, and the last of them how many there are in all.
    """
    valid = uint64(starts[uint64(len(starts)) - uint64(1)])
    for b in range(start, stop, step):
        begin = uint64(b) * uint64(NULL_BLOCK)
        place = uint64(starts[b])
        null = valid + begin - place
        end = min(begin + uint64(NULL_BLOCK), length)
        for first in range(begin, end, uint64(64)):
            count = min(end - uint64(first), uint64(64))
            bits = bits_from(validity.bits, validity.offset + uint64(first), count)
            for k in range(lane(), count, lanes()):
                before = set_below(bits, uint64(k))
                is_one = (bits >> uint64(k)) & uint64(1) != 0
                at = place + before if is_one else null + uint64(k) - before
                out[at] = uint64(first) + uint64(k)
            place += uint64(popcount(bits))
            null += count - uint64(popcount(bits))


@kernel()
def pack_keys(
    start, stop, step, keys: In[uint64], positions: In[uint64], low, shift, out: Out[uint64]
):
    """out[i] = 32 bits of a key, less `low`, from bit `shift` on, above its position.

    No positions stand for the numbers from 0 on.
    """
    for i in range(start, stop, step):
        position = uint64(i) if len(positions) == 0 else positions[i]
        out[i] = (((keys[position] - low) >> shift) << uint64(32)) | position


@kernel()
def count_digits(start, stop, step, words: In[uint64], chunk, first, digits, bits, out: Out[int64]):
    """The counts of the values of each of `digits` digits, from bit `first` on; the range is over chunks.

    out: [chunks digits 2^bits], zeroed
    """
    mask = (uint64(1) << bits) - uint64(1)
    for c in range(start, stop, step):
        for i in range(uint64(c) * chunk, min((uint64(c) + uint64(1)) * chunk, uint64(len(words)))):
            word = words[uint64(i)] >> first
            place = uint64(c) * digits << bits
            for _ in range(uint64(0), digits):
                out[place + (word & mask)] += 1
                word >>= bits
                place += mask + uint64(1)


@kernel()
def scatter_digits(
    start, stop, step, words: In[uint64], chunk, first, bits, kept, out: Out[uint64]
):
    """The words, of which the bits `kept` remain, in the order of the digit at bit `first`.

    The range is over chunks. Behind the n words, `out` has the next place for each digit of each chunk.
    """
    count = uint64(len(words))
    mask = (uint64(1) << bits) - uint64(1)
    for c in range(start, stop, step):
        next_places = count + (uint64(c) << bits)
        for i in range(uint64(c) * chunk, min((uint64(c) + uint64(1)) * chunk, count)):
            word = words[uint64(i)]
            digit = next_places + ((word >> first) & mask)
            place = out[digit]
            out[digit] = place + uint64(1)
            out[place] = word & kept


@kernel()
def sort_buckets(
    start,
    stop,
    step,
    words: In[uint64],
    bounds: In[int64],
    first,
    digits,
    bits,
    kept,
    out: Out[uint64],
):
    """The words, of which the bits `kept` remain, in the order of `digits` digits within their buckets.

    Digits have `bits` bits, from bit `first` on. The range is over buckets, whose words `bounds` divides.

    out: [the n words, room for n, room for digits 2^bits places of each bucket]
    """
    count, mask = uint64(len(words)), (uint64(1) << bits) - uint64(1)
    for b in range(start, stop, step):
        begin, end = uint64(bounds[b]), uint64(bounds[uint64(b) + uint64(1)])
        places = (count << uint64(1)) + (uint64(b) * digits << bits)
        passes = digits if end > begin else uint64(0)
        for place in range(places, places + (passes << bits)):
            out[place] = uint64(0)
        for i in range(begin, end):
            word = words[uint64(i)] >> first
            for digit in range(uint64(0), digits):
                out[places + (uint64(digit) << bits) + (word & mask)] += uint64(1)
                word >>= bits
        for digit in range(uint64(0), passes):
            own = places + (uint64(digit) << bits)
            total = begin
            for place in range(own, own + mask + uint64(1)):
                number = out[place]
                out[place] = total
                total += number
            # The words go there and back, and the last time to the front.
            turns = digits - uint64(digit)
            target = (uint64(1) - (turns & uint64(1))) * count
            source = count - target
            shift = first + uint64(digit) * bits
            remain = kept if turns == uint64(1) else ~uint64(0)
            for i in range(begin, end):
                word = words[uint64(i)] if digit == 0 else out[source + uint64(i)]
                next_place = own + ((word >> shift) & mask)
                out[target + out[next_place]] = word & remain
                out[next_place] += uint64(1)


@kernel()
def count_few_keys(start, stop, step, words: In[T], flip, low, chunk, bits, out: Out[int64]):
    """The count of each of few keys; the range is over chunks.

    A key is a word with the bits of `flip` flipped; less `low`, it has `bits` bits.

    out: [chunks 2^bits], zeroed
    """
    count, keys = uint64(len(words)), uint64(1) << bits
    c = uint64(start)
    while c < stop:
        begin, place, done = c * chunk, c << bits, uint64(0)
        if step == 1 and c + uint64(4) <= stop and begin + uint64(3) * chunk < count:
            # Counts of one key wait for each other; those of other chunks do not.
            done = min(chunk, count - begin - uint64(3) * chunk)
            for i in range(begin, begin + done):
                for k in range(uint64(0), uint64(4)):
                    word = uint64(words[uint64(i) + uint64(k) * chunk])
                    out[place + uint64(k) * keys + ((word ^ flip) - low)] += 1
        for k in range(uint64(0), uint64(4) if done != 0 else uint64(1)):
            first = begin + uint64(k) * chunk
            for i in range(first + done, min(first + chunk, count)):
                out[place + uint64(k) * keys + ((uint64(words[uint64(i)]) ^ flip) - low)] += 1
        c += uint64(4) if done != 0 else uint64(step)


@kernel()
def scatter_positions(start, stop, step, words: In[T], flip, low, chunk, bits, out: Out[uint64]):
    """The positions in the order of few keys, as in `count_few_keys`; the range is over chunks.

    Behind the n positions, `out` has the next place for each key of each chunk.
    """
    count = uint64(len(words))
    for c in range(start, stop, step):
        next_places = count + (uint64(c) << bits)
        for i in range(uint64(c) * chunk, min((uint64(c) + uint64(1)) * chunk, count)):
            digit = next_places + ((uint64(words[uint64(i)]) ^ flip) - low)
            place = out[digit]
            out[digit] = place + uint64(1)
            out[place] = uint64(i)


@kernel()
def rank_few_keys(start, stop, step, words: In[T], flip, low, chunk, bits, out: Out[uint64]):
    """out[i] = 1 + the place of slot i in the order of few keys; otherwise as `scatter_positions`."""
    count = uint64(len(words))
    for c in range(start, stop, step):
        next_places = count + (uint64(c) << bits)
        for i in range(uint64(c) * chunk, min((uint64(c) + uint64(1)) * chunk, count)):
            digit = next_places + ((uint64(words[uint64(i)]) ^ flip) - low)
            out[digit] += uint64(1)
            out[uint64(i)] = out[digit]


@kernel()
def rank_positions(start, stop, step, positions: In[uint64], out: Out[uint64]):
    """out[positions[i]] = 1 + i; the positions are different."""
    for i in range(start, stop, step):
        out[positions[i]] = uint64(i) + uint64(1)


@kernel(combine="add")
def count_long_ties(start, stop, step, words: In[uint64], distance) -> uint64:
    """The number of sorted packed words with the key of the word `distance` further; over n - distance."""
    total = uint64(0)
    for i in range(start, stop, step):
        total += uint64((words[i] ^ words[uint64(i) + distance]) >> uint64(32) == 0)
    return total


@helper
def same_key(words: In[uint64], i: uint64, j: uint64) -> Truth:
    """Whether two packed words have the same 32 bits of a key."""
    return (words[i] ^ words[j]) >> uint64(32) == 0


@kernel()
def settle_ties(start, stop, step, words: In[uint64], keys: In[uint64], out: Out[uint64]):
    """The positions, in the order of whole keys where the parts of them in the sorted words are equal.

    Few words have equal parts. Each run of them is settled by the thread that has its first one.
    """
    count = uint64(len(words))
    low = uint64(0xFFFF_FFFF)
    for i in range(start, stop, step):
        begin = uint64(i)
        if begin == 0 or not same_key(words, begin, begin - uint64(1)):
            out[begin] = words[begin] & low
            end = begin + uint64(1)
            while end < count and same_key(words, begin, end):
                position = words[end] & low
                key = keys[position]
                place = end
                while place > begin and keys[out[place - uint64(1)]] > key:
                    out[place] = out[place - uint64(1)]
                    place -= uint64(1)
                out[place] = position
                end += uint64(1)


@kernel()
def group_starts(start, stop, step, keys: In[uint64], positions: In[uint64], out: Out[int64]):
    """out[k] = how many keys are less than k; the range is over k."""
    for k in range(start, stop, step):
        low = uint64(0)
        high = uint64(len(positions))
        while low < high:
            middle = (low + high) >> uint64(1)
            if keys[positions[middle]] < uint64(k):
                low = middle + uint64(1)
            else:
                high = middle
        out[k] = low
