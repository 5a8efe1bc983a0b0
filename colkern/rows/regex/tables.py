"""Tables of regular expressions, for bodies that match one of many (`colkern.kernels.pattern_tables`)."""

from __future__ import annotations

import re
from functools import cache

from colkern.errors import CompileError
from colkern.kernels import pattern_tables as t
from colkern.rows.regex.matching import EMPTY_HAS_INSIDE
from colkern.rows.regex.openings import chain_of, opening
from colkern.rows.regex.parsing import (
    Again,
    Choice,
    Close,
    Literal,
    Look,
    Node,
    Nodes,
    Open,
    Pattern,
    Place,
    Repeat,
    Run,
    groups_in,
    parse,
    written_out,
)
from colkern.rows.regex.sets import signed, word_characters

_MOST_INSTRUCTIONS = 2000
_MOST_COPIES = 64

_PLACES = {
    name: getattr(t, name)
    for name in ("BEGINNING", "LINE_START", "LAST_LINE", "LINE_END", "BOUNDARY", "NO_BOUNDARY")
} | {"END": t.TEXT_END}


@cache
def table_of(patterns: tuple[re.Pattern[str], ...], at_end: bool = False) -> list[list[int]]:
    """Returns the words of patterns.

    Look-around, repeated groups, and what `parse` does not take leave the row.

    Args:
        at_end: Whether a match has to end at the end of the text.
    """
    most = max(pattern.groups for pattern in patterns)
    return [_words(pattern, at_end, most) for pattern in patterns]


def is_table(pattern: re.Pattern[str]) -> bool:
    """Whether a pattern has a table that finds its matches."""
    return len(table_of((pattern,))[0]) > t.HEADER // 8


def _words(pattern: re.Pattern[str], at_end: bool, most_groups: int) -> list[int]:
    nothing = [0, 0, t.UNKNOWN, pattern.groups, most_groups]
    try:
        return _words_of(parse(pattern), at_end, most_groups)
    except CompileError:
        return nothing


def _words_of(parsed: Pattern, at_end: bool, most_groups: int) -> list[int]:
    nodes = (*parsed.nodes, *([Place("END")] if at_end else []))
    first = opening(chain_of(nodes, None))
    is_known = not (first.any or first.end)
    low, high, *_ = first.characters.words
    words = [signed(low), signed(high), int(is_known), parsed.groups, most_groups]
    for instruction in [*_instructions(nodes, 0), (t.END,)]:
        words += [*instruction, *[0] * (t.STEP // 8 - len(instruction))]
    return words


def _target(place: int) -> int:
    return t.HEADER + t.STEP * place


def _instructions(nodes: Nodes, place: int) -> list[tuple[int, ...]]:
    """Returns the instructions of nodes, of which the first has the number `place`."""
    written: list[tuple[int, ...]] = []
    for node in nodes:
        written += _of_node(node, place + len(written))
        _require_few(written)
    return written


def _require_few(written: list[tuple[int, ...]]) -> None:
    if len(written) > _MOST_INSTRUCTIONS:
        raise CompileError("regular expressions of such a size are left to Python")


def _of_node(node: Node, place: int) -> list[tuple[int, ...]]:
    match node:
        case Literal(data):
            return [(t.BYTE, byte) for byte in data]
        case Run(characters, least, most, greedy, possessive):
            low, high, *_ = map(signed, characters.words)
            way = t.POSSESSIVE if possessive else t.GREEDY if greedy else t.LAZY
            return [(t.RUN, low, high, least, 1 << 62 if most is None else most, way)]
        case Open(group):
            return [(t.SAVE, 8 + 16 * group)]
        case Close(group):
            return [(t.SAVE, 16 + 16 * group)]
        case Again(group):
            return [(t.AGAIN, 8 + 16 * group)]
        case Place(name, flags):
            low, high, *_ = map(signed, word_characters(flags & re.ASCII).words)
            return [(t.PLACE, low, high, _PLACES[name], int(EMPTY_HAS_INSIDE))]
        case Choice(branches):
            return _choice(branches, place)
        case Repeat() if not groups_in(node.body):
            return _repeat(node, place)
        case Look():
            raise CompileError("regular expressions with look-around")
    raise CompileError("regular expressions that repeat a group")


def _choice(branches: tuple[Nodes, ...], place: int) -> list[tuple[int, ...]]:
    *others, last = branches
    written: list[tuple[int, ...]] = []
    jumps = []
    for branch in others:
        first = place + len(written) + 1
        own = _instructions(branch, first)
        written += [(t.SPLIT, _target(first), _target(first + len(own) + 1)), *own, (t.JUMP,)]
        jumps.append(len(written) - 1)
        _require_few(written)
    written += _instructions(last, place + len(written))
    for jump in jumps:
        written[jump] = (t.JUMP, _target(place + len(written)))
    return written


def _repeat(node: Repeat, place: int) -> list[tuple[int, ...]]:
    copies = written_out(node, _MOST_COPIES)
    if copies is not None:
        return _instructions(copies, place)
    if node.most is not None:
        raise CompileError("regular expressions with so many rounds")
    written = _instructions(node.body * node.least, place)
    again = place + len(written)
    own = _instructions(node.body, again + 1)
    ways = _target(again + 1), _target(again + 2 + len(own))
    split = (t.SPLIT, *(ways if node.greedy else ways[::-1]))
    return [*written, split, *own, (t.JUMP, _target(again))]
