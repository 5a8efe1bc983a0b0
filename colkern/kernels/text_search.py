"""Parts of texts: where they stand, how often, and whether a text begins or ends with them."""

from __future__ import annotations

from numpy import int64, uint64

from colkern.kernels.arguments import Truth
from colkern.kernels.kernel import helper
from colkern.kernels.primitives import get_byte, popcount
from colkern.kernels.row_values import Text
from colkern.kernels.text_characters import index_of, length, position_of
from colkern.kernels.text_comparison import Value
from colkern.kernels.text_words import (
    SPILL,
    are_same,
    edges_of,
    find_last_part,
    find_part,
    first_hit,
    hits_at,
    places_of,
)

END = (1 << 63) - 1
"""The end where none is given."""


@helper
def within(text: Text, start: int64, end: int64) -> Text:
    """The part that a method with `start` and `end` looks at; of size -1 where it does not look at all."""
    count = length(text)
    start = max(start + count, int64(0)) if start < 0 else start
    end = max(end + count, int64(0)) if end < 0 else min(end, count)
    if start > end:
        return Text(text.address, int64(-1), text.ascii)
    first = position_of(text, start)
    rest = Text(text.address + first, text.size - first, text.ascii)
    return Text(rest.address, position_of(rest, end - start), text.ascii)


@helper
def index_at(text: Text, place: int64) -> int64:
    """The index of the character at a position; -1 for -1."""
    return place if text.ascii or place < 0 else index_of(text, place)


@helper
def find_between(text: Text, part: Text, start: int64, end: int64) -> int64:
    """`text.find(part, start, end)`."""
    seen = within(text, start, end)
    first = seen.address - text.address
    place = find_part(text.address, first, first + seen.size, part.address, part.size)
    return index_at(text, place)


@helper
def find(text: Text, part: Text) -> int64:
    """`text.find(part)`."""
    place = find_part(text.address, int64(0), text.size, part.address, part.size)
    return index_at(text, place)


@helper
def rfind_between(text: Text, part: Text, start: int64, end: int64) -> int64:
    """`text.rfind(part, start, end)`."""
    seen = within(text, start, end)
    first = seen.address - text.address
    place = find_last_part(text.address, first, first + seen.size, part.address, part.size)
    return index_at(text, place)


@helper
def rfind(text: Text, part: Text) -> int64:
    """`text.rfind(part)`."""
    place = find_last_part(text.address, int64(0), text.size, part.address, part.size)
    return index_at(text, place)


@helper
def is_in(part: Value, text: Value) -> Truth:
    """`part in text`."""
    if part.size == 1 and 0 < text.size <= SPILL:
        # A character among a few, of which a loop asks for each of a text's: one look, as both are short.
        return places_of(get_byte(part.address), text.address, text.size) != 0
    return find_part(text.address, int64(0), text.size, part.address, part.size) >= 0


@helper
def count(text: Text, part: Text) -> int64:
    """`text.count(part)`."""
    if part.size == 0:
        return length(text) + 1
    limit = text.size - part.size + 1
    near, head, tail = edges_of(part.address, part.size)
    total = int64(0)
    after = int64(0)
    k = int64(0)
    while k < limit:
        hits = hits_at(text.address + k, limit - k, near, head, tail)
        if part.size == 1:
            total += int64(popcount(uint64(hits)))
            hits = int64(0)
        while hits != 0:
            place = k + first_hit(hits)
            hits &= hits - 1
            if place >= after and are_same(text.address + place, part.address, part.size):
                total += 1
                after = place + part.size
        k += SPILL - near
    return total


@helper
def count_between(text: Text, part: Text, start: int64, end: int64) -> int64:
    """`text.count(part, start, end)`."""
    seen = within(text, start, end)
    return count(seen, part) if seen.size >= 0 else int64(0)


@helper
def startswith(text: Value, part: Value) -> Truth:
    """`text.startswith(part)`."""
    return part.size <= text.size and are_same(text.address, part.address, part.size)


@helper
def startswith_between(text: Text, part: Text, start: int64, end: int64) -> Truth:
    """`text.startswith(part, start, end)`."""
    return startswith(within(text, start, end), part)


@helper
def endswith(text: Value, part: Value) -> Truth:
    """`text.endswith(part)`."""
    rest = text.size - part.size
    return rest >= 0 and are_same(text.address + rest, part.address, part.size)


@helper
def endswith_between(text: Text, part: Text, start: int64, end: int64) -> Truth:
    """`text.endswith(part, start, end)`."""
    return endswith(within(text, start, end), part)
