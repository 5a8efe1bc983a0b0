"""Bitmaps: bit `i` is bit `i % 8`, counted from the lowest, of byte `i // 8`.

Where a body takes a `validity`, zero bytes of it stand for an array without nulls.

Columnar format 1.5: "Validity bitmaps".
"""

from __future__ import annotations

from typing import NamedTuple

from numpy import uint8, uint64

from colkern.kernels.arguments import Bitmap, In, Index, Out, Truth
from colkern.kernels.kernel import helper, kernel
from colkern.kernels.primitives import load_word, popcount


@helper
def get_bit(bitmap: In[uint8], i: uint64) -> Truth:
    """Whether bit `i` of `bitmap` (uint8[]) is set."""
    return (bitmap[i >> uint64(3)] >> uint8(i & uint64(7))) & uint8(1) != 0


@helper
def bit_at(bitmap: Bitmap, i: Index) -> Truth:
    """Whether bit `i` of a bitmap is set, counted from its first."""
    return get_bit(bitmap.bits, bitmap.offset + uint64(i))


@helper
def is_valid(validity: Bitmap, i: Index) -> Truth:
    """Whether slot `i` is valid; without a bitmap (zero bytes) every slot is."""
    return len(validity.bits) == 0 or bit_at(validity, uint64(i))


@helper
def valid_mask(validity: Bitmap, i: Index) -> uint64:
    """All bits of a uint64 if slot `i` is valid, else none: instead of a branch, where nulls are many."""
    if len(validity.bits) == 0:
        return ~uint64(0)
    return uint64(bit_at(validity, uint64(i))) * ~uint64(0)


@helper
def count_few_bits(bitmap: In[uint8], begin: uint64, end: uint64) -> uint64:
    """The number of set bits in `[begin, end)` of `bitmap` (uint8[]), one by one."""
    total = uint64(0)
    for i in range(begin, end):
        total += uint64(get_bit(bitmap, uint64(i)))
    return total


@kernel(combine="add")
def count_set_bits(start, stop, step, bitmap: In[uint8], begin, end) -> uint64:
    """The number of set bits in `[begin, end)`; the range is over the whole words in between.

    Word `w` is the eight bytes from byte `ceil(begin / 8) + 8 w` on, so there are `whole_words(begin,
    end)` of them. Word 0 also counts the bits around the words.
    """
    first_byte = (begin + uint64(7)) >> uint64(3)
    total = uint64(0)
    for w in range(start, stop, step):
        total += uint64(popcount(load_word(bitmap, first_byte, uint64(w))))
    if start == 0:
        inner = min(first_byte << uint64(3), end)
        outer = max(inner + (((end - inner) >> uint64(6)) << uint64(6)), inner)
        total += count_few_bits(bitmap, begin, inner) + count_few_bits(bitmap, outer, end)
    return total


def whole_words(begin: int, end: int) -> int:
    """The number of words that `count_set_bits` ranges over for those bits."""
    inner = end - ((begin + 7) & -8)
    return inner >> 6 if inner > 0 else 0


@helper
def whole_word_from(bits: In[uint8], position: uint64, w: uint64) -> uint64:
    """Word `w` of the 64-bit words that begin at bit `position`; all 64 bits must be in `bits`.

    Two loads that overlap: shifts that are the same for each word leave a loop that is vectorised.
    """
    shift = position & uint64(7)
    byte = position >> uint64(3)
    low = load_word(bits, byte, w) >> shift
    # At a byte's begin this is the same word again, else the one that begins a byte further.
    high = load_word(bits, byte + ((shift + uint64(7)) >> uint64(3)), w)
    return low | (high << ((uint64(8) - shift) & uint64(7)))


@helper
def whole_word(bitmap: Bitmap, w: uint64) -> uint64:
    """Word `w` of a bitmap, which has all of its bits."""
    return whole_word_from(bitmap.bits, bitmap.offset, w)


@helper
def few_bits(bitmap: In[uint8], position: uint64, count: uint64) -> uint64:
    """The `count` (1 to 63) bits from `position` on, lowest first; reads no byte without such a bit."""
    first = position >> uint64(3)
    shift = position & uint64(7)
    bits = uint64(bitmap[first]) >> shift
    for b in range(uint64(1), ((shift + count + uint64(7)) >> uint64(3))):
        bits |= uint64(bitmap[first + uint64(b)]) << ((uint64(b) << uint64(3)) - shift)
    return bits & ((uint64(1) << count) - uint64(1))


@helper
def bits_from(bits: In[uint8], position: uint64, count: uint64) -> uint64:
    """The `count` (0 to 64) bits from `position` on, lowest first, as a uint64; zeros above them."""
    byte = position >> uint64(3)
    shift = position & uint64(7)
    word = uint64(0)
    if byte + uint64(9) <= uint64(len(bits)):
        word = load_word(bits, byte, uint64(0)) >> shift
        if shift != 0:
            word |= uint64(bits[byte + uint64(8)]) << (uint64(64) - shift)
    else:
        # A word would reach past the end.
        for k in range(byte, min(byte + uint64(9), uint64(len(bits)))):
            place = (uint64(k) - byte) << uint64(3)
            if place < shift:
                word |= uint64(bits[k]) >> shift
            elif place - shift < uint64(64):
                word |= uint64(bits[k]) << (place - shift)
    return word & lowest_bits(count)


@helper
def lowest_bits(count: uint64) -> uint64:
    """A uint64 whose lowest `count` (0 to 64) bits are set."""
    return ~uint64(0) if count >= uint64(64) else (uint64(1) << count) - uint64(1)


@helper
def word_from(bits: In[uint8], position: uint64, w: uint64, length: uint64) -> uint64:
    """Word `w` of the `length` bits from `position` on, with zeros past the last one."""
    begin = w << uint64(6)
    if begin + uint64(64) <= length:
        return whole_word_from(bits, position, w)
    return few_bits(bits, position + begin, length - begin)


@helper
def word_of(bitmap: Bitmap, w: uint64, length: uint64) -> uint64:
    """Word `w` of a bitmap of `length` bits, with zeros past the last one."""
    return word_from(bitmap.bits, bitmap.offset, w, length)


def words_for(bits: int) -> int:
    """The number of 64-bit words that hold so many bits."""
    return (bits + 63) >> 6


@kernel()
def copy_bits(start, stop, step, bitmap: Bitmap, length, out: Out[uint64]):
    """Bits `[offset, offset + length)` moved to bit 0; the range is over the words of `out`."""
    w = uint64(start)
    whole = min(uint64(stop), length >> uint64(6))
    while w < whole:
        out[w] = whole_word(bitmap, w)
        w += uint64(step)
    if w < stop:
        out[w] = word_of(bitmap, w, length)


@helper
def combined(left: uint64, right: uint64, table: uint64) -> uint64:
    """Two words of bits combined by a truth table.

    Bit 0 of the table inverts the result; bits 1, 2 and 3 add `left`, `right` and both together, without
    carry.
    """
    inverted = (table & uint64(1)) * ~uint64(0)
    lefts = ((table >> uint64(1)) & uint64(1)) * ~uint64(0)
    rights = ((table >> uint64(2)) & uint64(1)) * ~uint64(0)
    both = ((table >> uint64(3)) & uint64(1)) * ~uint64(0)
    return (left & (lefts ^ (right & both))) ^ (right & rights) ^ inverted


AND, OR, XOR, AND_NOT, OR_NOT = 0b1000, 0b1110, 0b0110, 0b1010, 0b1101
"""Tables of `combined`."""

SAME, NOT, EQUAL, NEVER = 0b0010, 0b0011, 0b0111, 0b0000
"""As well: `left` as it is, whatever `right` is; the contrary of it; whether both are the same; false."""


@kernel()
def combine_bits(start, stop, step, left: Bitmap, right: Bitmap, length, table, out: Out[uint64]):
    """Bit `i` of `out` = what a truth table makes of both bits; the range is over words of `out`."""
    w = uint64(start)
    whole = min(uint64(stop), length >> uint64(6))
    while w < whole:
        a = whole_word(left, w)
        out[w] = combined(a, whole_word(right, w), table)
        w += uint64(step)
    if w < stop:
        a = word_of(left, w, length)
        bits = combined(a, word_of(right, w, length), table)
        out[w] = bits & ((uint64(1) << (length & uint64(63))) - uint64(1))


@kernel(combine="add")
def and_bits(start, stop, step, left: Bitmap, right: Bitmap, length, out: Out[uint64]) -> uint64:
    """Bit `i` of `out` = whether both bits are set; returns how many are. Ranges over words of `out`."""
    count = uint64(0)
    w = uint64(start)
    whole = min(uint64(stop), length >> uint64(6))
    while w < whole:
        both = whole_word(left, w) & whole_word(right, w)
        out[w] = both
        count += uint64(popcount(both))
        w += uint64(step)
    if w < stop:
        both = word_of(left, w, length) & word_of(right, w, length)
        out[w] = both
        count += uint64(popcount(both))
    return count


OF_LEFT, OF_RIGHT, LEFT_SET, RIGHT_SET = 1, 2, 4, 8
"""Bits of the `sides` of `choose_bits`: whether a bitmap counts; else, what all bits of that side are."""


@kernel(combine="add")
def choose_bits(
    start,
    stop,
    step,
    condition: Bitmap,
    visible: Bitmap,
    left: Bitmap,
    right: Bitmap,
    length,
    sides,
    out: Out[uint64],
) -> uint64:
    """Bit `i` of `out` = that of `left` where the condition's is set, else of `right`; as `and_bits`.

    Where a bit of the validity `visible` is clear, so is that of `out`.
    """
    left_counts = (sides & uint64(1)) * ~uint64(0)
    right_counts = ((sides >> uint64(1)) & uint64(1)) * ~uint64(0)
    left_set = ((sides >> uint64(2)) & uint64(1)) * ~uint64(0)
    right_set = ((sides >> uint64(3)) & uint64(1)) * ~uint64(0)
    count = uint64(0)
    w = uint64(start)
    whole = min(uint64(stop), length >> uint64(6))
    while w < whole:
        own = whole_word(left, w) & left_counts | left_set
        other = whole_word(right, w) & right_counts | right_set
        chosen = other ^ whole_word(condition, w) & (own ^ other)
        if len(visible.bits) != 0:
            chosen &= whole_word(visible, w)
        out[w] = chosen
        count += uint64(popcount(chosen))
        w += uint64(step)
    if w < stop:
        own = word_of(left, w, length) & left_counts | left_set
        other = word_of(right, w, length) & right_counts | right_set
        chosen = other ^ word_of(condition, w, length) & (own ^ other)
        chosen &= lowest_bits(length & uint64(63))
        if len(visible.bits) != 0:
            chosen &= word_of(visible, w, length)
        out[w] = chosen
        count += uint64(popcount(chosen))
    return count


class Booleans(NamedTuple):
    """Booleans: their values, and which of them are not null."""

    values: Bitmap
    valid: Bitmap


@kernel()
def kleene_bits(
    start,
    stop,
    step,
    left: Booleans,
    right: Booleans,
    length,
    left_decides,
    right_decides,
    out: Out[uint64],
):
    """Bit `i` of `out` = whether a result is known: both sides are, or one that decides it.

    The range is over the words of `out`. A set bit decides on a side whose `decides` is 1, a clear one if
    it is 0.
    """
    left_turn = (left_decides ^ uint64(1)) * ~uint64(0)
    right_turn = (right_decides ^ uint64(1)) * ~uint64(0)
    w = uint64(start)
    whole = min(uint64(stop), length >> uint64(6))
    while w < whole:
        a = whole_word(left.valid, w)
        b = whole_word(right.valid, w)
        known = (a & b) | (a & (whole_word(left.values, w) ^ left_turn))
        out[w] = known | (b & (whole_word(right.values, w) ^ right_turn))
        w += uint64(step)
    if w < stop:
        a = word_of(left.valid, w, length)
        b = word_of(right.valid, w, length)
        known = (a & b) | (a & (word_of(left.values, w, length) ^ left_turn))
        out[w] = known | (b & (word_of(right.values, w, length) ^ right_turn))


EACH_BYTE = 0x0101010101010101
"""1 in each byte of a word."""


@kernel()
def expand_bits(start, stop, step, bitmap: Bitmap, length, out: Out[uint64]):
    """Byte `i` of `out` = bit `i` as 0 or 1; the range is over words of `out`, of eight bytes each."""
    shift = bitmap.offset & uint64(7)
    first = bitmap.offset >> uint64(3)
    further = (shift + uint64(7)) >> uint64(3)
    up = (uint64(8) - shift) & uint64(7)
    w = uint64(start)
    whole = min(uint64(stop), length >> uint64(3))
    while w < whole:
        low = uint64(bitmap.bits[first + w]) >> shift
        out[w] = spread_bits(low | (uint64(bitmap.bits[first + further + w]) << up))
        w += uint64(step)
    if w < stop:
        begin = w << uint64(3)
        out[w] = spread_bits(few_bits(bitmap.bits, bitmap.offset + begin, length - begin))


@helper
def spread_bits(bits: uint64) -> uint64:
    """The lowest eight bits as the eight bytes of a word, 0 or 1 each; what is above does not count."""
    # Eight copies of the byte, of which each keeps another bit; then 1 where one is left.
    chosen = ((bits & uint64(0xFF)) * uint64(EACH_BYTE)) & uint64(0x8040201008040201)
    return ((chosen + uint64(0x7F * EACH_BYTE)) >> uint64(7)) & uint64(EACH_BYTE)


# Validity by the word: what loops over 64 slots ask for, once, instead of a bit for each slot


@helper
def bits_of_slots(validity: Bitmap, first: uint64, step: uint64) -> uint64:
    """Which of 64 slots are valid, as a uint64: those from slot `first` on, `step` apart."""
    if len(validity.bits) == 0:
        return ~uint64(0)
    if step == 1:
        return whole_word_from(validity.bits, validity.offset + first, uint64(0))
    bits = uint64(0)
    for k in range(uint64(0), uint64(64)):
        bits |= uint64(bit_at(validity, first + uint64(k) * step)) << uint64(k)
    return bits


@helper
def bits_of_next(validity: Bitmap, first: uint64, count: uint64) -> uint64:
    """Which of the `count` (1 to 64) slots from `first` on are valid, as a uint64.

    Bits past `count` are 0, or 1 without a bitmap.
    """
    if len(validity.bits) == 0:
        return ~uint64(0)
    return word_from(validity.bits, validity.offset + first, uint64(0), count)
