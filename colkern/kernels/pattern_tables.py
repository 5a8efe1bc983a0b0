"""Regular expressions as tables: one body matches any of many patterns, of which the row has the number.

A pattern is a list of words, which `colkern.rows.regex.tables` makes: the bytes that may begin a match, as
a bit for each, then instructions of `STEP` bytes. A matcher goes from one to the next, and back to the last
choice where one fails. Texts that are not ASCII are left to Python.
"""

from __future__ import annotations

from numpy import int64

from colkern.kernels.kernel import helper
from colkern.kernels.primitives import get_byte, get_word, set_word
from colkern.kernels.row_values import DONE, LEFT, NO_ROOM, Arena, Code, Text, allocate
from colkern.kernels.text_building import MARGIN, end_behind, text_place
from colkern.kernels.text_scanning import (
    begins_line,
    ends_last_line,
    ends_line,
    match_again,
    put_part,
)
from colkern.kernels.text_words import is_ascii

SEARCH, MATCH = 0, 1
"""Where a match may begin: anywhere, or at the first place."""

END, BYTE, RUN, SPLIT, JUMP, SAVE, AGAIN, PLACE = range(8)
"""The instructions."""

GREEDY, LAZY, POSSESSIVE = range(3)
"""The ways of a run of characters."""

BEGINNING, LINE_START, TEXT_END, LAST_LINE, LINE_END, BOUNDARY, NO_BOUNDARY = range(7)
"""The conditions on a place."""

STEP = 48
"""The bytes of an instruction: its number, two words of a set or two targets, and three numbers."""

UNKNOWN = -1
"""Stands for the set of a pattern that is left to Python."""

HEADER = 40
"""The bytes before the first instruction: the two words of a set, whether it holds, the number of groups,
and the largest number of groups that one of the patterns has."""

_CHOICES = 3072
"""The bytes for the choices to which a matcher may go back, three words each."""

_MOST_STEPS = 100_000
"""The number of instructions after which a row is left."""

_UNDO = -1
"""Stands for a choice: what a group's begin or end was before."""


@helper
def is_member(low: int64, high: int64, byte: int64) -> bool:
    """Whether an ASCII character is in a set."""
    return ((low if byte < 64 else high) >> (byte & 63)) & 1 != 0


@helper
def holds_at(instruction: int64, text: Text, at: int64) -> bool:
    """Whether a condition on a place holds."""
    name = get_word(instruction + 24)
    if name == BEGINNING:
        return at == 0
    if name == LINE_START:
        return begins_line(text, at)
    if name == TEXT_END:
        return at == text.size
    if name == LAST_LINE:
        return ends_last_line(text, at)
    if name == LINE_END:
        return ends_line(text, at)
    low, high = get_word(instruction + 8), get_word(instruction + 16)
    before = at > 0 and is_member(low, high, get_byte(text.address + at - 1))
    behind = at < text.size and is_member(low, high, get_byte(text.address + at))
    if text.size == 0:
        # Whether there is an inside depends on the version of Python.
        return name == NO_BOUNDARY and get_word(instruction + 32) != 0
    return (before != behind) == (name == BOUNDARY)


@helper
def match_from(
    pattern: int64, spans: int64, choices: int64, text: Text, start: int64, barred: int64
) -> tuple[int64, Code]:
    """Where the match that begins at a place ends; -1 if there is none. An empty one at `barred` is none.

    The begin and end of each group are written to `spans`, from its fourth word on.
    """
    at = start
    here = pattern + HEADER
    top = choices
    for _ in range(_MOST_STEPS):
        if top > choices + (_CHOICES - 48):
            break
        name = get_word(here)
        holds = True
        if name == BYTE:
            holds = bool(at < text.size and get_byte(text.address + at) == get_word(here + 8))
            at += 1
        elif name == RUN:
            low, high = get_word(here + 8), get_word(here + 16)
            least, most, way = get_word(here + 24), get_word(here + 32), get_word(here + 40)
            limit = least if way == LAZY else most
            stop = at
            while (
                stop < text.size
                and stop - at < limit
                and is_member(low, high, get_byte(text.address + stop))
            ):
                stop += 1
            holds = bool(stop - at >= least)
            if holds and way != POSSESSIVE and (way == LAZY or stop - at > least):
                # Of a greedy run, characters may be given back; of a lazy one, more may come.
                set_word(top, here)
                set_word(top + 8, most - least if way == LAZY else stop - at - least)
                set_word(top + 16, stop)
                top += 24
            at = stop
        elif name == SPLIT:
            set_word(top, get_word(here + 16) + pattern)
            set_word(top + 8, int64(-1))
            set_word(top + 16, at)
            top += 24
        elif name == SAVE:
            slot = spans + get_word(here + 8)
            set_word(top, int64(_UNDO))
            set_word(top + 8, slot)
            set_word(top + 16, get_word(slot))
            top += 24
            set_word(slot, at)
        elif name == AGAIN:
            slot = spans + get_word(here + 8)
            stop = match_again(text, at, get_word(slot), get_word(slot + 8))
            holds = bool(stop >= 0)
            at = stop
        elif name == PLACE:
            holds = holds_at(here, text, at)
        elif name == END:
            if at != start or at != barred:
                return at, DONE
            holds = False
        here = get_word(here + 8) + pattern if name in (SPLIT, JUMP) else here + STEP
        while not holds:
            if top == choices:
                return int64(-1), DONE
            top -= 24
            here, count, at = get_word(top), get_word(top + 8), get_word(top + 16)
            if here == _UNDO:
                set_word(count, at)
                continue
            holds = True
            if count >= 0:
                is_lazy = get_word(here + 40) == LAZY
                if is_lazy:
                    holds = bool(count > 0 and at < text.size) and is_member(
                        get_word(here + 8), get_word(here + 16), get_byte(text.address + at)
                    )
                at += 1 if is_lazy else -1
                if holds and (is_lazy or count > 1):
                    set_word(top + 8, count - 1)
                    set_word(top + 16, at)
                    top += 24
                here += STEP
    return int64(-1), LEFT


@helper
def find_from(
    pattern: int64,
    spans: int64,
    choices: int64,
    text: Text,
    start: int64,
    barred: int64,
    how: int64,
) -> tuple[bool, Code]:
    """Whether there is a match at a place, or behind it; where it and its groups begin and end is written
    to `spans`, from the second word on."""
    low, high, is_known = get_word(pattern), get_word(pattern + 8), get_word(pattern + 16)
    if is_known == UNKNOWN:
        return False, LEFT
    slots = int64(2) * get_word(pattern + 32)
    at = start
    while at <= text.size:
        if is_known != 0:
            if how == SEARCH:
                while at < text.size and not is_member(low, high, get_byte(text.address + at)):
                    at += 1
            if at == text.size or not is_member(low, high, get_byte(text.address + at)):
                break
        for slot in range(slots):
            set_word(spans + 24 + 8 * slot, int64(-1))
        end, code = match_from(pattern, spans, choices, text, at, barred)
        if code != DONE:
            return False, code
        if end >= 0:
            set_word(spans + 8, at)
            set_word(spans + 16, end)
            return True, DONE
        if how != SEARCH:
            break
        at += 1
    return False, DONE


@helper
def numbered(patterns: int64, number: int64) -> int64:
    """The address of the words of a pattern in a list of lists."""
    return get_word(get_word(get_word(patterns) + 8 * number))


@helper
def room_of_choices(arena: Arena, size: int64) -> int64:
    """The address of room for choices, and `size` bytes behind it, at the end of the arena, which is taken
    for one call only; 0 if there is none."""
    end = (get_word(arena + 8) & int64(-8)) - _CHOICES - size
    return end if text_place(arena) + MARGIN <= end else int64(0)


@helper
def find_match(
    arena: Arena, patterns: int64, number: int64, text: Text, how: int64
) -> tuple[int64, Code]:
    """The address of the words of a match: whether there is one; begin and end of it, and of each group."""
    if not text.ascii and not is_ascii(text.address, text.size):
        return int64(0), LEFT
    pattern = numbered(patterns, number)
    spans = allocate(arena, int64(16) * get_word(pattern + 32) + int64(24))
    choices = room_of_choices(arena, int64(0))
    if spans == 0 or choices == 0:
        return int64(0), NO_ROOM
    found, code = find_from(pattern, spans, choices, text, int64(0), int64(-1), how)
    set_word(spans, int64(found))
    return spans, code


@helper
def put_replacement(
    target: int64, limit: int64, text: Text, repl: Text, spans: int64, groups: int64
) -> int64:
    """Write a replacement, with the text of groups in place of `\\1` to `\\9`.

    The end; 0 where there is no room, -1 for other backslashes.
    """
    last = at = int64(0)
    while at < repl.size:
        if get_byte(repl.address + at) != 92:
            at += 1
            continue
        group = int64(0)
        if at + 1 < repl.size:
            group = get_byte(repl.address + at + 1) - int64(48)
        digit = int64(-1)
        if at + 2 < repl.size:
            digit = get_byte(repl.address + at + 2) - int64(48)
        if group < 1 or group > 9 or group > groups or (digit >= 0 and digit < 10):
            return int64(-1)
        target = put_part(target, limit, repl.address, last, at)
        slot = spans + 8 + 16 * group
        if spans != 0:
            target = put_part(target, limit, text.address, get_word(slot), get_word(slot + 8))
        at += 2
        last = at
    return put_part(target, limit, repl.address, last, repl.size)


@helper
def replace_matches(
    arena: Arena, patterns: int64, number: int64, text: Text, repl: Text
) -> tuple[Text, Code]:
    """A text with a replacement in place of each match."""
    nothing = Text(text.address, int64(0), True)
    if not text.ascii and not is_ascii(text.address, text.size):
        return nothing, LEFT
    pattern = numbered(patterns, number)
    groups = get_word(pattern + 24)
    choices = room_of_choices(arena, int64(16) * get_word(pattern + 32) + int64(24))
    if choices == 0:
        return nothing, NO_ROOM
    spans, limit = choices + _CHOICES, choices - MARGIN
    begin = target = text_place(arena)
    if put_replacement(begin, limit, text, repl, int64(0), groups) < 0:
        return nothing, LEFT
    at = last = int64(0)
    barred = int64(-1)
    while at <= text.size and target != 0:
        found, code = find_from(pattern, spans, choices, text, at, barred, int64(SEARCH))
        if code != DONE:
            return nothing, code
        if not found:
            break
        start, at = get_word(spans + 8), get_word(spans + 16)
        target = put_part(target, limit, text.address, last, start)
        target = put_replacement(target, limit, text, repl, spans, groups)
        barred = at if at == start else int64(-1)
        last = at
    if last == 0 and barred < 0:
        return text, DONE
    target = put_part(target, limit, text.address, last, text.size)
    if target == 0:
        return nothing, NO_ROOM
    set_word(arena, end_behind(target))
    return Text(begin, target - begin, repl.ascii), DONE
