"""Runs of characters in texts: what generated matchers of regular expressions call.

Places are addresses. A set of characters is four words: `low` and `high` have a bit for each ASCII
character, `yes` and `no` one for each first byte of others, from 192 on: whether all characters that begin
with it are in the set, or none. If neither, what the set says about such a character is left to Python.
"""

from __future__ import annotations

from typing import NamedTuple

from numpy import int64, uint64

from colkern.kernels.kernel import helper
from colkern.kernels.primitives import get_byte, get_unaligned, set_byte, trailing_zeros, wrapped
from colkern.kernels.row_values import Text

ONES = 0x0101010101010101
HIGHS = -0x7F7F7F7F7F7F7F80

UNKNOWN = -1
"""In place of an address: a character that is left to Python."""

TOO_FEW = -2
"""In place of an address: fewer characters than there must be."""


class Run(NamedTuple):
    """Characters of a set, and how many of it there must and may be."""

    low: int64
    high: int64
    yes: int64
    no: int64
    least: int64
    most: int64


class LongRun(NamedTuple):
    """Characters of a set of nearly all ASCII characters.

    It lacks two bytes, and some below a bound, these three eight times in a word each. If the bound is 0, all
    characters that are not ASCII are in the set.
    """

    low: int64
    high: int64
    yes: int64
    no: int64
    first: int64
    second: int64
    bound: int64


class Piece(NamedTuple):
    """Up to eight bytes of a literal: how many, a word that begins with them, and one with all their bits."""

    size: int64
    word: int64
    mask: int64


class Byte(NamedTuple):
    """A byte, eight times."""

    word: int64


@helper
def find_byte(place: int64, end: int64, of: Byte) -> int64:
    """Where the first byte of a value is, or the end."""
    repeated = of.word
    while place + 8 <= end:
        other = get_unaligned(place) ^ repeated
        hits = wrapped(other - ONES) & ~other & HIGHS
        if hits != 0:
            return place + (int64(trailing_zeros(uint64(hits))) >> 3)
        place += 8
    byte = repeated & 255
    while place < end and get_byte(place) != byte:
        place += 1
    return place


@helper
def byte_at(place: int64, end: int64) -> int64:
    """The byte at an address, or 256 at the end."""
    return get_byte(place) if place < end else int64(256)


@helper
def has(place: int64, end: int64, of: Piece) -> bool:
    """Whether there are certain bytes, up to eight."""
    size, word, mask = of
    if place + 8 <= end:
        return (get_unaligned(place) ^ word) & mask == 0
    if place + size > end:
        return False
    for k in range(size):
        if get_byte(place + k) != (word >> (k * 8)) & 255:
            return False
    return True


@helper
def skip_run(place: int64, end: int64, of: Run) -> int64:
    """The end of a run of up to `most` characters; `TOO_FEW` if fewer than `least`; or `UNKNOWN`."""
    low, high, yes, no, least, most = of
    count = int64(0)
    while count < most and place < end:
        byte = get_byte(place)
        if byte < 128:
            if ((low if byte < 64 else high) >> (byte & 63)) & 1 == 0:
                break
        elif (yes >> (byte & 63)) & 1 != 0:
            place += 1 + (byte >= 224) + (byte >= 240)
        elif (no >> (byte & 63)) & 1 != 0:
            break
        else:
            return int64(UNKNOWN)
        place += 1
        count += 1
    return place if count >= least else int64(TOO_FEW)


@helper
def skip_most(place: int64, end: int64, of: LongRun) -> int64:
    """The end of a run of a set that lacks few ASCII characters, or `UNKNOWN`."""
    low, high, yes, no, first, second, bound = of
    beyond = HIGHS if bound != 0 else 0
    while place < end:
        if place + 8 <= end:
            word = get_unaligned(place)
            one = word ^ first
            two = word ^ second
            hits = wrapped(one - ONES) & ~one
            hits |= wrapped(two - ONES) & ~two
            hits |= wrapped(word - bound) & ~word
            hits = (hits & HIGHS) | (word & beyond)
            if hits == 0:
                place += 8
                continue
            place += int64(trailing_zeros(uint64(hits))) >> 3
        byte = get_byte(place)
        if byte < 128:
            if ((low if byte < 64 else high) >> (byte & 63)) & 1 == 0:
                return place
        elif byte >= 192:
            if (yes >> (byte & 63)) & 1 == 0:
                return place if (no >> (byte & 63)) & 1 != 0 else int64(UNKNOWN)
            place += 1 + (byte >= 224) + (byte >= 240)
        place += 1
    return place


@helper
def find_opening(place: int64, end: int64, of: Run) -> int64:
    """Where the first character begins that may be of a set, or the end."""
    low, high, _yes, no, _least, _most = of
    while place < end:
        byte = get_byte(place)
        if byte < 128:
            if ((low if byte < 64 else high) >> (byte & 63)) & 1 != 0:
                return place
        elif byte >= 192 and (no >> (byte & 63)) & 1 == 0:
            return place
        place += 1
    return place


@helper
def character_before(place: int64) -> int64:
    """Where the character begins that ends at an address."""
    place -= 1
    while get_byte(place) & 192 == 128:
        place -= 1
    return place


@helper
def step_back(place: int64, first: int64) -> int64:
    """Where the character begins that ends at an address; of `first`, the byte before."""
    return character_before(place) if place > first else place - int64(1)


@helper
def is_boundary(place: int64, begin: int64, end: int64, of: Run) -> int64:
    """Whether one of the characters before and behind a place is in a set: 1, 0 or `UNKNOWN`.

    `of` is a run of at most one.
    """
    inside = int64(0)
    if place > begin:
        before = character_before(place)
        after = skip_run(before, place, of)
        if after < 0:
            return int64(UNKNOWN)
        inside = int64(after > before)
    if place < end:
        after = skip_run(place, end, of)
        if after < 0:
            return int64(UNKNOWN)
        inside ^= int64(after > place)
    return inside


@helper
def part(text: Text, start: int64, stop: int64) -> Text:
    """The part of a text between two bytes; the empty text if it begins before 0, as that of no group."""
    if start < 0:
        return Text(text.address, int64(0), True)
    return Text(text.address + start, stop - start, text.ascii)


@helper
def character_index(text: Text, offset: int64) -> int64:
    """Which character begins at a byte of a text; -1 for -1."""
    if text.ascii or offset < 0:
        return offset
    count = int64(0)
    for k in range(offset):
        count += int64(get_byte(text.address + k) & 192 != 128)
    return count


@helper
def put_part(target: int64, limit: int64, base: int64, start: int64, stop: int64) -> int64:
    """Copy a part of a text to `target`: the end of the copy; 0 if it is beyond `limit`, or `target` is 0."""
    if target == 0 or target + (stop - start) > limit:
        return int64(0)
    for k in range(stop - start):
        set_byte(target + k, get_byte(base + start + k))
    return target + (stop - start)


@helper
def put_piece(target: int64, limit: int64, of: Piece) -> int64:
    """As `put_part`, of up to eight bytes."""
    size, word, _mask = of
    if target == 0 or target + size > limit:
        return int64(0)
    for k in range(size):
        set_byte(target + k, word >> (k * 8))
    return target + size
