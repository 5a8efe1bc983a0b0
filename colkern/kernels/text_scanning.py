"""Runs of characters in texts: what generated matchers of regular expressions call.

Places are bytes of a text, from 0.

What is known when a matcher is generated comes as one named tuple: a call is then quick to compile, and
serves all such tuples, where Numba would compile a helper anew for each literal number.
"""

from __future__ import annotations

from typing import NamedTuple

from numpy import int64, uint64

from colkern.kernels.kernel import apart, helper
from colkern.kernels.primitives import (
    get_byte,
    get_unaligned,
    range_places,
    set_unaligned,
    trailing_zeros,
    wrapped,
)
from colkern.kernels.row_values import Text
from colkern.kernels.text_characters import code_at
from colkern.kernels.text_words import HIGH_BITS, ONES, SPILL, first_hit, readable, write_part
from colkern.kernels.unicode_data import RECORD, record_of

UNKNOWN = -1
"""Stands for a place: there is a character that is left to Python."""

TOO_FEW = -2
"""Stands for a place: there are too few characters, or another byte than the one that must follow."""


class Set(NamedTuple):
    """A set of characters.

    Args:
        low, high: A bit for each ASCII character.
        yes, no: A bit for each first byte of others, from 192 on: whether all characters that begin with it
            are in the set, or none. If neither, `is_in` tells by the other numbers.
        mask: Properties of which a character has some. With `negated`, it has none; 2 stands for a set that
            only Python knows.
        range_1: The first character of a range for which the reverse is true, and the last in high bits.
    """

    low: int64
    high: int64
    yes: int64
    no: int64
    mask: int64
    negated: int64
    range_1: int64
    range_2: int64
    range_3: int64
    range_4: int64
    range_5: int64
    range_6: int64


class Run(NamedTuple):
    """Characters of a set.

    Args:
        members: The set.
        ranges: The ASCII characters of the set, or some of them, as up to four ranges: of each, the first
            character and how many they are. If 0, they are looked at one by one.
        least: How many there must be.
        most: How many there may be.
        behind: How many bytes behind a place they begin.
        following: The byte that must follow; -1 for any.
    """

    members: Set
    ranges: int64
    least: int64
    most: int64
    behind: int64
    following: int64


class LongRun(NamedTuple):
    """Any number of characters of a set of nearly all ASCII characters.

    Args:
        members: The set.
        bytes: How many bytes it may lack, up to two.
        first, second: These, eight times each.
        bound: A byte below which it may lack others, eight times. If 0, all characters that are not ASCII
            are in the set.
        least: 0, or 1 if there must be a character.
        behind, following: As in `Run`.
    """

    members: Set
    bytes: int64
    first: int64
    second: int64
    bound: int64
    least: int64
    behind: int64
    following: int64


class Piece(NamedTuple):
    """Up to eight bytes of a literal."""

    size: int64  #: How many.
    word: int64  #: A word that begins with them.
    mask: int64  #: A word with all bits of so many bytes.
    behind: int64  #: How many bytes behind a place they are.


class Byte(NamedTuple):
    """A byte, eight times."""

    word: int64


@helper
def byte_at(text: Text, place: int64) -> int64:
    """The byte at a place, or 256 at the end."""
    return get_byte(text.address + place) if place < text.size else int64(256)


@helper
def has(text: Text, place: int64, of: Piece) -> bool:
    """Whether there are the bytes of a literal."""
    place += of.behind
    if place + 8 <= text.size:
        return (get_unaligned(text.address + place) ^ of.word) & of.mask == 0
    if place + of.size > text.size:
        return False
    different = int64(0)
    k = int64(0)
    while k < of.size:
        different |= get_byte(text.address + place + k) ^ ((of.word >> (k * 8)) & 255)
        k += 1
    return different == 0


@helper
def members_at(address: int64, ranges: int64) -> int64:
    """Bit `k` = whether byte `k` of the `SPILL` at an address is in one of the ranges of a `Run`."""
    places = int64(0)
    for k in range(int64(0), int64(64), int64(16)):
        places |= range_places(address, (ranges >> k) & 255, (ranges >> (k + 8)) & 255)
    return places


@apart
@helper
def is_in(unicode: int64, address: int64, of: Set) -> int64:
    """Whether a character is in a set, if its first byte does not tell: 1, 0 or `UNKNOWN`."""
    if of.negated > 1:
        return int64(UNKNOWN)
    code = code_at(address)
    result = of.negated
    if of.mask != 0:
        result ^= int64(get_unaligned(record_of(unicode, code, int64(RECORD))) & of.mask != 0)
    result ^= is_between(code, of.range_1) ^ is_between(code, of.range_2)
    result ^= is_between(code, of.range_3) ^ is_between(code, of.range_4)
    return result ^ is_between(code, of.range_5) ^ is_between(code, of.range_6)


@helper
def is_between(code: int64, ends: int64) -> int64:
    """1 if a code point is in a range, else 0."""
    return int64(code >= ends & 0xFFFFFFFF and code <= ends >> 32)


@helper
def skip_run(unicode: int64, text: Text, place: int64, of: Run) -> int64:
    """The end of a run of characters; `TOO_FEW`; or `UNKNOWN`."""
    low = of.members.low
    high = of.members.high
    yes = of.members.yes
    no = of.members.no
    following = of.following
    place += text.address + of.behind
    end = text.address + text.size
    count = int64(0)
    while count < of.most and place < end:
        if of.ranges != 0:
            near = readable(place, end - place, int64(SPILL))
            # A bit is set also for what is behind the piece.
            others = ~members_at(near, of.ranges) >> (place - near)
            step = min(first_hit(others), end - place, of.most - count)
            place += step
            count += step
            if place >= end or count >= of.most:
                break
        byte = get_byte(place)
        if byte < 128:
            if ((low if byte < 64 else high) >> (byte & 63)) & 1 == 0:
                break
        elif (yes >> (byte & 63)) & 1 != 0:
            place += 1 + (byte >= 224) + (byte >= 240)
        elif (no >> (byte & 63)) & 1 != 0:
            break
        else:
            known = is_in(unicode, place, of.members)
            if known < 0:
                return int64(UNKNOWN)
            if known == 0:
                break
            place += 1 + (byte >= 224) + (byte >= 240)
        place += 1
        count += 1
    if count < of.least or (following >= 0 and (place >= end or get_byte(place) != following)):
        return int64(TOO_FEW)
    return place - text.address


@helper
def skip_most(unicode: int64, text: Text, place: int64, of: LongRun) -> int64:
    """The end of a long run; `TOO_FEW`; or `UNKNOWN`."""
    low = of.members.low
    high = of.members.high
    yes = of.members.yes
    no = of.members.no
    first = of.first
    second = of.second
    following = of.following
    place += text.address + of.behind
    least = place + of.least
    end = text.address + text.size
    while place < end:
        if place + 8 <= end:
            word = get_unaligned(place)
            hits = int64(0)
            if of.bytes > 0:
                hits = wrapped((word ^ first) - ONES) & ~(word ^ first)
            if of.bytes > 1:
                hits |= wrapped((word ^ second) - ONES) & ~(word ^ second)
            if of.bound > 0:
                hits |= wrapped(word - of.bound) | word
            hits &= HIGH_BITS
            if hits == 0:
                place += 8
                continue
            place += int64(trailing_zeros(uint64(hits))) >> 3
        byte = get_byte(place)
        if byte < 128:
            if ((low if byte < 64 else high) >> (byte & 63)) & 1 == 0:
                break
        elif byte >= 192:
            if (yes >> (byte & 63)) & 1 == 0:
                if (no >> (byte & 63)) & 1 != 0:
                    break
                known = is_in(unicode, place, of.members)
                if known < 0:
                    return int64(UNKNOWN)
                if known == 0:
                    break
            place += 1 + (byte >= 224) + (byte >= 240)
        place += 1
    if place < least or (following >= 0 and (place >= end or get_byte(place) != following)):
        return int64(TOO_FEW)
    return place - text.address


@helper
def step_back(text: Text, place: int64, first: int64) -> int64:
    """Where the character begins that ends at a place; of `first`, the byte before."""
    place -= 1
    while place >= first and get_byte(text.address + place) & 192 == 128:
        place -= 1
    return place


@helper
def go_back(text: Text, place: int64, count: int64) -> int64:
    """The place that many characters before; a negative number if there are fewer."""
    while count > 0 and place >= 0:
        place = step_back(text, place, int64(0))
        count -= 1
    return place


@helper
def match_again(text: Text, place: int64, start: int64, stop: int64) -> int64:
    """The place behind a copy of a part of the text; -1 if there is no copy, or no part."""
    size = stop - start
    if start < 0 or place + size > text.size:
        return int64(-1)
    for k in range(size):
        if get_byte(text.address + place + k) != get_byte(text.address + start + k):
            return int64(-1)
    return place + size


# Where a match may begin, at a place or behind it.


@helper
def find_byte(text: Text, place: int64, of: Byte) -> int64:
    """Where the first byte of a value is, or the end."""
    repeated = of.word
    place += text.address
    end = text.address + text.size
    while place + 8 <= end:
        other = get_unaligned(place) ^ repeated
        hits = wrapped(other - ONES) & ~other & HIGH_BITS
        if hits != 0:
            return place + (int64(trailing_zeros(uint64(hits))) >> 3) - text.address
        place += 8
    byte = repeated & 255
    while place < end and get_byte(place) != byte:
        place += 1
    return place - text.address


@helper
def find_opening(text: Text, place: int64, of: Run) -> int64:
    """Where the first character begins that may be of a set, or the end."""
    place += text.address
    end = text.address + text.size
    while place < end:
        byte = get_byte(place)
        if byte < 128:
            if ((of.members.low if byte < 64 else of.members.high) >> (byte & 63)) & 1 != 0:
                break
        elif byte >= 192 and (of.members.no >> (byte & 63)) & 1 == 0:
            break
        place += 1
    return place - text.address


@helper
def find_character(text: Text, place: int64) -> int64:
    """Where a character begins, or the end."""
    while place < text.size and get_byte(text.address + place) & 192 == 128:
        place += 1
    return place


@helper
def find_line(text: Text, place: int64) -> int64:
    """Where a line begins; behind the end if there is none."""
    while not begins_line(text, place):
        place += 1
    return place


# Conditions on a place.


@helper
def begins_line(text: Text, place: int64) -> bool:
    """Whether a line begins, or the place is behind the end."""
    if place == 0 or place > text.size:
        return True
    return get_byte(text.address + place - 1) == 10


@helper
def ends_line(text: Text, place: int64) -> bool:
    """Whether a line ends."""
    return bool(place == text.size or get_byte(text.address + place) == 10)


@helper
def ends_last_line(text: Text, place: int64) -> bool:
    """Whether the text ends, but for the end of a line."""
    if place < text.size - 1:
        return False
    return ends_line(text, place)


@helper
def is_boundary(unicode: int64, text: Text, place: int64, of: Run) -> int64:
    """Whether one of the characters before and behind a place is in a set: 1, 0 or `UNKNOWN`.

    `of` is a run of at most one.
    """
    inside = int64(0)
    if place > 0:
        before = step_back(text, place, int64(0))
        after = skip_run(unicode, text, before, of)
        if after < 0:
            return int64(UNKNOWN)
        inside = int64(after > before)
    if place < text.size:
        after = skip_run(unicode, text, place, of)
        if after < 0:
            return int64(UNKNOWN)
        inside ^= int64(after > place)
    return inside


# What is done with matches.


@helper
def part(text: Text, start: int64, stop: int64) -> Text:
    """The part of a text between two bytes; the empty text if it begins before 0, as that of no group."""
    if start < 0:
        return Text(text.address, int64(0), True)
    return Text(text.address + start, stop - start, text.ascii)


@helper
def put_part(target: int64, limit: int64, base: int64, start: int64, stop: int64) -> int64:
    """Copy a part of a text to `target`, and up to a piece more.

    The end of the copy; 0 if that is beyond `limit`, or for 0.
    """
    if target == 0 or target + (stop - start) > limit:
        return int64(0)
    write_part(target, base + start, stop - start)
    return target + (stop - start)


@helper
def put_piece(target: int64, limit: int64, of: Piece) -> int64:
    """As `put_part`, of up to eight bytes."""
    if target == 0 or target + of.size > limit:
        return int64(0)
    set_unaligned(target, of.word)
    return target + of.size
