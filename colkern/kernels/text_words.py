"""Eight bytes of a text at a time, as one int64, and what is copied, compared and found by such words.

A mask has the highest bit of each byte that it stands for, and no other.
"""

from __future__ import annotations

from numpy import int64, uint64

from colkern.kernels.kernel import helper
from colkern.kernels.primitives import (
    get_byte,
    get_unaligned,
    get_word,
    set_unaligned,
    shifted_right,
    trailing_zeros,
    wrapped,
)

ONES = 0x0101010101010101
LOW_BITS = 0x7F7F7F7F7F7F7F7F
HIGH_BITS = -0x7F7F7F7F7F7F7F80


@helper
def near_word(address: int64, count: int64) -> int64:
    """The next bytes, at most 8 and at most `count` (at least 1), zeros behind them.

    Fewer than 8 are read by the aligned words that they lie in: no other page is touched.
    """
    if count >= 8:
        return get_unaligned(address)
    shift = (address & 7) << 3
    word = shifted_right(get_word(address & -8), shift)
    if shift + (count << 3) > 64:
        word |= get_word((address & -8) + 8) << (64 - shift)
    return word & ((int64(1) << (count << 3)) - 1)


@helper
def first_place(mask: int64) -> int64:
    """The number of the lowest byte of a mask, which has one."""
    return int64(trailing_zeros(uint64(mask))) >> 3


@helper
def equal_bytes(word: int64, pattern: int64) -> int64:
    """The mask of the bytes that are the same in two words."""
    unlike = word ^ pattern
    return ~(wrapped((unlike & LOW_BITS) + LOW_BITS) | unlike | LOW_BITS)


@helper
def bytes_between(word: int64, low: int64, high: int64) -> int64:
    """The mask of the bytes from `low` to `high`, both ASCII."""
    rest = word & LOW_BITS
    reached = wrapped(rest + (128 - low) * ONES)
    passed = wrapped(rest + (127 - high) * ONES)
    return reached & ~passed & ~word & HIGH_BITS


@helper
def write_part(target: int64, source: int64, size: int64) -> None:
    """Copy bytes by words: up to 7 bytes behind them in the target are overwritten."""
    k = int64(0)
    while k < size:
        set_unaligned(target + k, near_word(source + k, size - k))
        k += 8


@helper
def are_same(left: int64, right: int64, size: int64) -> bool:
    """Whether the bytes at two addresses are the same."""
    k = int64(0)
    while k < size:
        if near_word(left + k, size - k) != near_word(right + k, size - k):
            return False
        k += 8
    return True


@helper
def find_part(address: int64, first: int64, stop: int64, part: int64, size: int64) -> int64:
    """The first place from `first` on of a part that ends before `stop`; -1 if there is none.

    Places are in bytes from `address` on. Where the first and the last byte fit, the others are looked at.
    """
    limit = stop - size + 1
    if size == 0:
        return first if first < limit else int64(-1)
    head = wrapped(get_byte(part) * ONES)
    tail = wrapped(get_byte(part + size - 1) * ONES)
    k = first
    while k < limit:
        hits = equal_bytes(near_word(address + k, limit - k), head)
        if hits != 0 and size > 1:
            hits &= equal_bytes(near_word(address + k + size - 1, limit - k), tail)
        while hits != 0:
            place = k + first_place(hits)
            if place < limit and (size <= 2 or are_same(address + place, part, size)):
                return place
            hits &= wrapped(hits - 1)
        k += 8
    return int64(-1)


@helper
def find_last_part(address: int64, first: int64, stop: int64, part: int64, size: int64) -> int64:
    """The last place from `first` on of a part that ends before `stop`; -1 if there is none."""
    place = stop - size
    while place >= first and not are_same(address + place, part, size):
        place -= 1
    return place if place >= first else int64(-1)
