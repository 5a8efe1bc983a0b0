"""Bitmaps: bit `i` is bit `i % 8`, counted from the lowest, of byte `i // 8`.

Where a body takes a `validity`, zero bytes of it stand for an array without nulls.

Columnar format 1.5: "Validity bitmaps".
"""

from __future__ import annotations

from typing import Any

from numpy import uint8, uint64

from colkern.kernels.kernel import helper, kernel
from colkern.kernels.primitives import load_word, popcount


@helper
def get_bit(bitmap: Any, i: Any) -> Any:
    """Whether bit `i` of `bitmap` (uint8[]) is set."""
    return (bitmap[i >> uint64(3)] >> uint8(i & uint64(7))) & uint8(1) != 0


@helper
def is_valid(validity: Any, offset: Any, i: Any) -> Any:
    """Whether slot `i` is valid; without a bitmap (zero bytes) every slot is."""
    return len(validity) == 0 or get_bit(validity, offset + uint64(i))


@helper
def valid_mask(validity: Any, offset: Any, i: Any) -> Any:
    """All bits of a uint64 if slot `i` is valid, else none: instead of a branch, where nulls are many."""
    if len(validity) == 0:
        return ~uint64(0)
    return uint64(get_bit(validity, offset + uint64(i))) * ~uint64(0)


@helper
def count_few_bits(bitmap: Any, begin: Any, end: Any) -> Any:
    """The number of set bits in `[begin, end)` of `bitmap` (uint8[]), one by one."""
    total = uint64(0)
    for i in range(begin, end):
        total += uint64(get_bit(bitmap, uint64(i)))
    return total


@kernel("bitmap: u1[], begin: u8, end: u8", returns="u8", combine="add")
def count_set_bits(start, stop, step, bitmap, begin, end):
    """The number of set bits in `[begin, end)`; the range is over the whole words in between.

    Word `w` is the eight bytes from byte `ceil(begin / 8) + 8 w` on, so there are
    `whole_words(begin, end)` of them. Whoever has word 0 also counts the bits around the words.

    bitmap: uint8[] that holds `end` bits at least
    begin: the first bit
    end: past the last bit
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
    """How many words `count_set_bits` ranges over for those bits."""
    inner = end - ((begin + 7) & -8)
    return inner >> 6 if inner > 0 else 0


@kernel("bitmap: u1[], offset: u8, length: u8, out: u1[w]")
def copy_bits(start, stop, step, bitmap, offset, length, out):
    """Bits `[offset, offset + length)` moved to bit 0; the range is over the bytes of `out`.

    bitmap: uint8[] that holds `offset + length` bits at least
    offset: the first bit
    length: the number of bits
    out: uint8[ceil(length / 8)]; bits past `length` become zero
    """
    shift = offset & uint64(7)
    first = offset >> uint64(3)
    end = offset + length
    for b in range(start, stop, step):
        byte = first + uint64(b)
        low = uint64(bitmap[byte]) >> shift
        high = uint64(0)
        if shift != 0 and (byte + uint64(1)) << uint64(3) < end:
            high = uint64(bitmap[byte + uint64(1)]) << (uint64(8) - shift)
        bits = (low | high) & uint64(255)
        left = length - (uint64(b) << uint64(3))
        if left < 8:
            bits &= (uint64(1) << left) - uint64(1)
        out[b] = uint8(bits)


@kernel("bitmap: u1[], offset: u8, out: u1[w]")
def expand_bits(start, stop, step, bitmap, offset, out):
    """out[i] = 1 where bit `offset + i` is set, else 0.

    bitmap: uint8[] that holds `offset + n` bits at least
    offset: the first bit
    out: uint8[n]
    """
    for i in range(start, stop, step):
        out[i] = uint8(get_bit(bitmap, offset + uint64(i)))


@kernel("bytes: u1[], length: u8, out: u1[w]")
def pack_bits(start, stop, step, bytes, length, out):
    """Bit `i` of `out` = whether bytes[i] is not 0; the range is over the bytes of `out`.

    bytes: uint8[length]
    length: the number of bits
    out: uint8[ceil(length / 8)]; bits past `length` become zero
    """
    for b in range(start, stop, step):
        begin = uint64(b) << uint64(3)
        bits = uint64(0)
        for i in range(begin, min(begin + uint64(8), length)):
            bits |= uint64(bytes[i] != 0) << (uint64(i) - begin)
        out[b] = uint8(bits)


@kernel("left: u1[], left_offset: u8, right: u1[], right_offset: u8, length: u8, out: u1[w]")
def and_bits(start, stop, step, left, left_offset, right, right_offset, length, out):
    """Bit `i` of `out` = both bits are set; the range is over the bytes of `out`.

    left: uint8[] that holds `left_offset + length` bits at least
    left_offset: the first bit of `left`
    right: uint8[] that holds `right_offset + length` bits at least
    right_offset: the first bit of `right`
    length: the number of bits
    out: uint8[ceil(length / 8)]; bits past `length` become zero
    """
    for b in range(start, stop, step):
        begin = uint64(b) << uint64(3)
        count = min(length - begin, uint64(8))
        both = bits_at(left, left_offset + begin, count) & bits_at(
            right, right_offset + begin, count
        )
        out[b] = uint8(both & ((uint64(1) << count) - uint64(1)))


@helper
def bits_at(bitmap: Any, position: Any, count: Any) -> Any:
    """At least the `count` (1 to 8) bits from `position` on, lowest first, as a uint64."""
    byte = position >> uint64(3)
    shift = position & uint64(7)
    bits = uint64(bitmap[byte]) >> shift
    if shift + count > 8:
        bits |= uint64(bitmap[byte + uint64(1)]) << (uint64(8) - shift)
    return bits


@kernel("bitmap: u1[], offset: u8, length: u8, place: u8, out: u1[w]")
def place_bits(start, stop, step, bitmap, offset, length, place, out):
    """Bits `[offset, offset + length)` into `out` from bit `place` on, where it has zeros.

    The range is over the bytes of `out` from byte `place // 8` on that the bits touch.

    bitmap: uint8[] that holds `offset + length` bits at least
    offset: the first bit
    length: the number of bits
    place: where the first bit goes
    out: uint8[ceil((place + length) / 8)] at least, zeros from bit `place` on
    """
    shift = place & uint64(7)
    for b in range(start, stop, step):
        low = max(uint64(b) << uint64(3), shift)
        high = min((uint64(b) + uint64(1)) << uint64(3), shift + length)
        count = high - low
        bits = bits_at(bitmap, offset + (low - shift), count) & ((uint64(1) << count) - uint64(1))
        out[(place >> uint64(3)) + uint64(b)] |= uint8(bits << (low & uint64(7)))
