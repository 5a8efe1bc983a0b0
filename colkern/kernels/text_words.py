"""Eight bytes of a text at a time, as one int64, and what is copied, compared and found by such words.

A mask of a word has the highest bit of each byte that it stands for, and no other. Pieces are of 32 bytes.
"""

from __future__ import annotations

from numpy import int64, uint64

from colkern.kernels.kernel import helper
from colkern.kernels.primitives import (
    copy_piece,
    get_byte,
    get_unaligned,
    range_places,
    set_unaligned,
    shifted_right,
    trailing_zeros,
    wrapped,
)

ONES = 0x0101010101010101
LOW_BITS = 0x7F7F7F7F7F7F7F7F
HIGH_BITS = -0x7F7F7F7F7F7F7F80

SPILL = 32
"""The bytes of a piece. Behind a copy, so many may be overwritten: it does not look at a short size."""

PAGE = 4096
"""The least size of a page of memory: all of one can be read if a byte of it is part of a text."""


@helper
def readable(address: int64, count: int64, size: int64) -> int64:
    """Where `size` bytes can be read that have the next ones, of which there are `count`, at least 1.

    That is where they begin, but where the last of them is too near to the end of its page. What is behind
    them is read, too, or what is before them: so there is no branch, guessed wrong at the ends of texts.
    """
    return min(address, ((address + count - 1) | (PAGE - 1)) - (size - 1))


@helper
def near_word(address: int64, count: int64) -> int64:
    """The next bytes, at most 8 and at most `count` (at least 1), zeros behind them."""
    place = readable(address, count, int64(8))
    word = shifted_right(get_unaligned(place), (address - place) << 3)
    return word & (int64(-1) if count >= 8 else (int64(1) << ((count & 7) << 3)) - 1)


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
def write_loosely(target: int64, source: int64, size: int64, there: int64) -> None:
    """Copy bytes by words, of a source that has more: up to 7 bytes behind them are overwritten."""
    k = int64(0)
    while k < size:
        set_unaligned(target + k, near_word(source + k, there - k))
        k += 8


@helper
def piece_at(address: int64, count: int64, room: int64) -> int64:
    """Where `SPILL` bytes can be read that begin with the next ones, of which there are `count`.

    That is where they are, or `room`, if another page may begin behind them: they are copied there.
    """
    place = address if count > 0 else room
    if (place & (PAGE - 1)) > PAGE - SPILL:
        write_loosely(room, place, count, count)
        place = room
    return place


@helper
def write_part(target: int64, source: int64, size: int64) -> None:
    """Copy bytes by pieces: fewer than `SPILL` bytes behind them in the target are overwritten.

    The source may overlap the target, if it begins behind it.
    """
    last = size - SPILL
    k = int64(0)
    while k < last:
        copy_piece(target + k, source + k)
        k += SPILL
    # The same piece however many bytes there are: no branch is guessed wrong.
    copy_piece(target + k, piece_at(source + k, size - k, target + k))


@helper
def are_same(left: int64, right: int64, size: int64) -> bool:
    """Whether the bytes at two addresses are the same."""
    last = size - 8
    if last < 0:
        return size == 0 or near_word(left, size) == near_word(right, size)
    k = int64(0)
    while k < last:
        if get_unaligned(left + k) != get_unaligned(right + k):
            return False
        k += 8
    return get_unaligned(left + last) == get_unaligned(right + last)


@helper
def low_places(count: int64) -> int64:
    """A bit for each of `count` places, at least 1, at most `SPILL`."""
    return (int64(1) << min(count, int64(SPILL))) - 1


@helper
def is_ascii(address: int64, size: int64) -> bool:
    """Whether bytes are all below 128."""
    high = int64(0)
    last = size - SPILL
    k = int64(0)
    while k < last:
        high |= range_places(address + k, int64(128), int64(128))
        k += SPILL
    if k < size:
        place = readable(address + k, size - k, int64(SPILL))
        places = range_places(place, int64(128), int64(128)) >> (address + k - place)
        high |= places & low_places(size - k)
    return high == 0


@helper
def places_of(byte: int64, address: int64, count: int64) -> int64:
    """Bit `k` = whether byte `k` of the next ones is a certain one: of at most `SPILL`, and of `count`."""
    place = readable(address, count, int64(SPILL))
    return (range_places(place, byte, int64(1)) >> (address - place)) & low_places(count)


@helper
def edges_of(part: int64, size: int64) -> tuple[int64, int64, int64]:
    """Where in a part its last byte is, or one of its first 16; its first byte; and that one."""
    near = min(size, int64(16)) - 1
    return near, get_byte(part), get_byte(part + near)


@helper
def hits_at(address: int64, count: int64, near: int64, head: int64, tail: int64) -> int64:
    """Bit `k` = whether a part may begin at place `k`, of at most `SPILL - near` and of `count`.

    Those bytes of it are there that `edges_of` gives. They are looked for in one piece, at the same address
    as bytes were written by: a processor waits for a store that another load reads a part of.
    """
    piece = readable(address, count + near, int64(SPILL))
    hits = range_places(piece, head, int64(1))
    if near > 0:
        hits &= range_places(piece, tail, int64(1)) >> near
    return (hits >> (address - piece)) & low_places(min(count, SPILL - near))


@helper
def first_hit(hits: int64) -> int64:
    """The place of the lowest bit, of which there is one."""
    return int64(trailing_zeros(uint64(hits)))


@helper
def find_part(address: int64, first: int64, stop: int64, part: int64, size: int64) -> int64:
    """The first place from `first` on of a part that ends before `stop`; -1 if there is none.

    Places are in bytes from `address` on.
    """
    limit = stop - size + 1
    if size == 0:
        return first if first < limit else int64(-1)
    near, head, tail = edges_of(part, size)
    k = first
    while k < limit:
        hits = hits_at(address + k, limit - k, near, head, tail)
        while hits != 0:
            place = k + first_hit(hits)
            if size <= 2 or are_same(address + place, part, size):
                return place
            hits &= hits - 1
        k += SPILL - near
    return int64(-1)


@helper
def find_last_part(address: int64, first: int64, stop: int64, part: int64, size: int64) -> int64:
    """The last place from `first` on of a part that ends before `stop`; -1 if there is none."""
    place = stop - size
    if size == 0:
        return place if place >= first else int64(-1)
    head = get_byte(part)
    while place >= first:
        if get_byte(address + place) == head and are_same(address + place, part, size):
            return place
        place -= 1
    return int64(-1)
