"""Time zones of row functions: which offset from UTC a datetime has, by a table of the zone's periods.

A table is three lists of words, a period each, in microseconds: when it starts in UTC; the offset in it;
and when it starts on the clock of its zone, after what that clock repeats or leaves out. Behind the last
period stands the end of the table. Lists of starts go on with the number of the period that each stretch
of time begins in, and end with how many periods there are. `colkern.rows.time_zones` makes them; what lies
outside is left to Python.
"""

from __future__ import annotations

from numpy import int64

from colkern.kernels.clock import HOUR, MINUTE
from colkern.kernels.date_text import put_text, put_two
from colkern.kernels.kernel import helper
from colkern.kernels.primitives import get_word
from colkern.kernels.row_values import DONE, LEFT, NO_ROOM, Arena, Code, Text
from colkern.kernels.text_building import text_between, text_room

STRETCH = 43
"""The binary logarithm of a stretch, in microseconds: so long that a table is small, and so short that few
periods begin in one."""


@helper
def word_of(words: int64, number: int64) -> int64:
    """An item of a list of words."""
    return get_word(get_word(words) + number * 8)


@helper
def period_at(starts: int64, moment: int64) -> tuple[int64, Code]:
    """The number of the period that a moment is in."""
    count = word_of(starts, get_word(starts + int64(8)) - 1)
    first = word_of(starts, int64(0))
    if moment < first or moment >= word_of(starts, count):
        return int64(0), LEFT
    period = word_of(starts, count + 1 + (moment - first >> int64(STRETCH)))
    while word_of(starts, period + 1) <= moment:
        period += 1
    return period, DONE


@helper
def offset_at(starts: int64, offsets: int64, instant: int64) -> tuple[int64, Code]:
    """`datetime.utcoffset`."""
    period, code = period_at(starts, instant)
    return word_of(offsets, period), code


@helper
def instant_of(
    starts: int64, offsets: int64, wall: int64, turns: int64, has_fold: bool
) -> tuple[int64, Code]:
    """The moment of a wall clock, the first of two; a time that the clock leaves out is left to Python.

    So is one that the clock repeats, where its `fold` may say that it is the second.
    """
    period, code = period_at(turns, wall)
    instant, following = wall - word_of(offsets, period), word_of(starts, period + 1)
    comes_twice = wall >= following + word_of(offsets, period + 1)
    if code != DONE or instant >= following or (has_fold and comes_twice):
        return int64(0), LEFT
    return instant, DONE


@helper
def is_repeated(starts: int64, offsets: int64, instant: int64) -> tuple[bool, Code]:
    """Whether the clock of the zone shows the time of a moment twice."""
    period, code = period_at(starts, instant)
    offset = word_of(offsets, period)
    later = offset - word_of(offsets, period + 1)
    earlier = word_of(offsets, max(period - 1, int64(0))) - offset
    before_turn = instant >= word_of(starts, period + 1) - later
    return bool(before_turn or instant < word_of(starts, period) + earlier), code


@helper
def offset_text(arena: Arena, offset: int64, colon: bool) -> tuple[Text, Code]:
    """An offset as `isoformat` or `%z` writes it; one with seconds is left to Python."""
    if offset % MINUTE != 0:
        return Text(int64(0), int64(0), True), LEFT
    start = text_room(arena, int64(16))
    if start == 0:
        return Text(int64(0), int64(0), True), NO_ROOM
    place = put_text(start, int64(0x2D if offset < 0 else 0x2B), int64(1))
    hour = abs(offset) // HOUR
    place = put_two(place, hour)
    if colon:
        place = put_text(place, int64(0x3A), int64(1))
    place = put_two(place, (abs(offset) - hour * HOUR) // MINUTE)
    return text_between(arena, start, place), DONE
