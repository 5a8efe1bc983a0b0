"""Sorting: keys whose order as uint64 is that of the values, and a radix sort of packed words.

A packed word has 32 bits of a key above 32 bits of a position. Words are sorted digit by digit from
the lowest one on, each time into another buffer: counted, then scattered to the places that follow.
The range of both kernels is over chunks of words, of which each has a place of its own per digit.
"""

from __future__ import annotations

from typing import Any

from numpy import uint64

from colkern.kernels.bitmaps import count_few_bits, get_bit
from colkern.kernels.kernel import helper, kernel

NULL_BLOCK = 1024
"""The slots of which `split_nulls` writes the positions together."""


@kernel(
    "words: T[], width: u8, part: u8, minus: u8, flip: u8, out: u8[w]",
    T="u1 u2 u4 u8",
)
def order_integers(start, stop, step, words, width, part, minus, flip, out):
    """out[i] = a key for word `part` of value i: as unsigned numbers, keys are in the order of values.

    words: T[n width]
    width: how many words make a value
    part: which of them
    minus: the sign bit; 0 for unsigned words
    flip: all bits of T for descending order, else 0
    out: uint64[n]
    """
    for i in range(start, stop, step):
        out[i] = uint64(words[uint64(i) * width + part]) ^ minus ^ flip


@kernel(
    "words: T[], minus: u8, infinity: u8, nan: u8, flip: u8, out: u8[w]",
    T="u2 u4 u8",
)
def order_floats(start, stop, step, words, minus, infinity, nan, flip, out):
    """out[i] = a key for value i: as `order_integers`; both zeros have one, and all NaNs.

    words: T[n], the bits of the floats
    minus: the sign bit
    infinity: the bits of infinity
    nan: the key of NaNs
    flip: all bits of T for descending order, else 0
    out: uint64[n]
    """
    for i in range(start, stop, step):
        word = uint64(words[i])
        magnitude = word & ~minus
        # The order of negative numbers is that of their bits, reversed.
        key = (minus - magnitude if word & minus != 0 else minus + magnitude) ^ flip
        out[i] = nan if magnitude > infinity else key


@kernel("validity: u1[], offset: u8, length: u8, out: i8[w]")
def count_valid(start, stop, step, validity, offset, length, out):
    """out[b] = how many slots of block b are valid; the range is over blocks of `NULL_BLOCK` slots.

    validity: uint8[] bitmap
    offset: the bit of slot 0 in it
    length: how many slots there are
    out: int64[blocks]
    """
    for b in range(start, stop, step):
        begin = uint64(b) * uint64(NULL_BLOCK)
        end = min(begin + uint64(NULL_BLOCK), length)
        out[b] = count_few_bits(validity, offset + begin, offset + end)


@kernel("validity: u1[], offset: u8, length: u8, starts: i8[], valid: u8, out: u8[w]")
def split_nulls(start, stop, step, validity, offset, length, starts, valid, out):
    """The positions of valid slots, then those of nulls; the range is over blocks of slots.

    validity: uint8[] bitmap
    offset: the bit of slot 0 in it
    length: how many slots there are
    starts: int64[blocks + 1], how many valid slots are before each block
    valid: how many there are in all
    out: uint64[length]
    """
    for b in range(start, stop, step):
        begin = uint64(b) * uint64(NULL_BLOCK)
        place = uint64(starts[b])
        null = valid + begin - place
        for i in range(begin, min(begin + uint64(NULL_BLOCK), length)):
            if get_bit(validity, offset + uint64(i)):
                out[place] = i
                place += uint64(1)
            else:
                out[null] = i
                null += uint64(1)


@kernel("keys: u8[], positions: u8[], low: u8, shift: u8, out: u8[w]")
def pack_keys(start, stop, step, keys, positions, low, shift, out):
    """out[i] = 32 bits of a key, above its position.

    keys: uint64[], at least `low`
    positions: uint64[n], or empty for the numbers from 0 on
    low: the least key
    shift: the lowest bit of keys[…] - low that is taken
    out: uint64[n]
    """
    for i in range(start, stop, step):
        position = uint64(i) if len(positions) == 0 else positions[i]
        out[i] = (((keys[position] - low) >> shift) << uint64(32)) | position


@kernel("words: u8[], chunk: u8, first: u8, digits: u8, bits: u8, out: i8[w]")
def count_digits(start, stop, step, words, chunk, first, digits, bits, out):
    """How often each digit has each value, by chunk; the range is over the chunks.

    words: uint64[n]
    chunk: how many words make a chunk
    first: the lowest bit of the first digit
    digits: how many digits are counted
    bits: the bits of a digit
    out: int64[chunks digits 2^bits], zeroed
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


@kernel("words: u8[], chunk: u8, first: u8, bits: u8, kept: u8, out: u8[w]")
def scatter_digits(start, stop, step, words, chunk, first, bits, kept, out):
    """The words in the order of one digit; the range is over the chunks.

    words: uint64[n]
    chunk: how many words make a chunk
    first: the lowest bit of the digit
    bits: the bits of a digit
    kept: which bits of each word are written
    out: uint64[n + chunks 2^bits]; behind the words, where the next one of each chunk goes by its digit
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


@kernel(
    "words: T[], flip: u8, low: u8, chunk: u8, bits: u8, out: i8[w]",
    T="u1 u2 u4 u8",
)
def count_few_keys(start, stop, step, words, flip, low, chunk, bits, out):
    """How often each of few keys is there, by chunk; the range is over the chunks.

    words: T[n]
    flip: a word with these bits flipped is its key
    low: the least key
    chunk: how many words make a chunk
    bits: the bits that keys have, less `low`
    out: int64[chunks 2^bits], zeroed
    """
    for c in range(start, stop, step):
        place = uint64(c) << bits
        for i in range(uint64(c) * chunk, min((uint64(c) + uint64(1)) * chunk, uint64(len(words)))):
            out[place + ((uint64(words[uint64(i)]) ^ flip) - low)] += 1


@kernel(
    "words: T[], flip: u8, low: u8, chunk: u8, bits: u8, out: u8[w]",
    T="u1 u2 u4 u8",
)
def scatter_positions(start, stop, step, words, flip, low, chunk, bits, out):
    """The positions in the order of few keys; the range is over the chunks.

    words: T[n]
    flip: a word with these bits flipped is its key
    low: the least key
    chunk: how many words make a chunk
    bits: the bits that the keys have, less `low`
    out: uint64[n + chunks 2^bits]; behind the positions, where the next one of each chunk goes by its key
    """
    count = uint64(len(words))
    for c in range(start, stop, step):
        next_places = count + (uint64(c) << bits)
        for i in range(uint64(c) * chunk, min((uint64(c) + uint64(1)) * chunk, count)):
            digit = next_places + ((uint64(words[uint64(i)]) ^ flip) - low)
            place = out[digit]
            out[digit] = place + uint64(1)
            out[place] = uint64(i)


@kernel("words: u8[], distance: u8", returns="u8", combine="add")
def count_long_ties(start, stop, step, words, distance):
    """How many sorted packed words have the key of the word `distance` further; the range ends before.

    words: uint64[n], sorted; the range is over n - distance
    distance: how far
    """
    total = uint64(0)
    for i in range(start, stop, step):
        total += uint64((words[i] ^ words[uint64(i) + distance]) >> uint64(32) == 0)
    return total


@helper
def same_key(words: Any, i: Any, j: Any) -> Any:
    """Whether two packed words have the same 32 bits of a key."""
    return (words[i] ^ words[j]) >> uint64(32) == 0


@kernel("words: u8[], keys: u8[], out: u8[w]")
def settle_ties(start, stop, step, words, keys, out):
    """The positions, in the order of whole keys where the sorted parts of them are equal.

    Few words have equal parts. Each run of them is settled by whoever has its first one.

    words: uint64[n], sorted packed words; the first of equal ones first
    keys: uint64[], the whole keys
    out: uint64[n]
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


@kernel("keys: u8[], positions: u8[], out: i8[w]")
def group_starts(start, stop, step, keys, positions, out):
    """out[k] = how many keys are less than k; the range is over k.

    keys: uint64[]
    positions: uint64[n], of the keys in their order
    out: int64[]
    """
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
