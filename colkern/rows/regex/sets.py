"""Sets of characters, of what a regular expression says in one place.

What `\\w`, `\\d`, `\\s` and ignored case mean beyond ASCII is asked of `re` itself, so that it is what this
Python's version of Unicode says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

parser: Any = getattr(re, "_parser")  # noqa: B009
_compiler: Any = getattr(re, "_compiler")  # noqa: B009

ASCII = (1 << 128) - 1
LEADS = sum(1 << (byte - 192) for byte in range(0xC2, 0xF5))
"""The first bytes of characters that are not ASCII, from 192 on."""


def signed(word: int) -> int:
    """The lowest 64 bits of a number, as an int64."""
    return ((word + (1 << 63)) & ((1 << 64) - 1)) - (1 << 63)


@dataclass(frozen=True)
class Characters:
    """A set of characters.

    Args:
        ascii: A bit for each ASCII character.
        yes: A bit for each first byte of others, from 192 on: whether all that begin with it are in.
        no: Whether none is. If neither is set, some are.
    """

    ascii: int
    yes: int = 0
    no: int = LEADS

    @property
    def leads(self) -> int:
        """The first bytes of other characters that may be in the set."""
        return LEADS & ~self.no

    @property
    def known(self) -> bool:
        """Whether a first byte is all that has to be known of a character."""
        return self.yes | self.no == LEADS

    @property
    def words(self) -> tuple[int, int, int, int]:
        """The four words that `colkern.kernels.text_scanning` takes."""
        # All bits where all first bytes are: a compiler then sees that there is nothing to look up.
        yes, no = (-1 if leads == LEADS else leads for leads in (self.yes, self.no))
        return self.ascii, self.ascii >> 64, yes, no

    def __or__(self, other: Characters) -> Characters:
        return Characters(self.ascii | other.ascii, self.yes | other.yes, self.no & other.no)

    def __invert__(self) -> Characters:
        return Characters(ASCII & ~self.ascii, self.no, self.yes)

    def meets(self, other: Characters) -> bool:
        """Whether a character may be in both sets."""
        return bool(self.ascii & other.ascii or self.leads & other.leads)

    def members(self) -> list[int]:
        """The ASCII characters."""
        return [c for c in range(128) if self.ascii >> c & 1]

    def _parts(self) -> list[list[int]]:
        """The first and the last of ASCII characters that are beside each other."""
        parts: list[list[int]] = []
        for c in self.members():
            if parts and parts[-1][1] == c - 1:
                parts[-1][1] = c
            else:
                parts.append([c, c])
        return parts

    @property
    def ranges(self) -> int:
        """The largest ranges of ASCII characters, as `colkern.kernels.text_scanning.Run` has them."""
        sizes = [(last - first + 1, first) for first, last in self._parts()]
        largest = sorted(sizes, reverse=True)[:4]
        return sum((first | count << 8) << 16 * k for k, (count, first) in enumerate(largest))

    def test(self, name: str) -> str:
        """An expression: whether a byte, or 256 for the end, is one of the ASCII characters."""
        ranges = self._parts()
        if len(ranges) > 2:
            low, high = signed(self.ascii), signed(self.ascii >> 64)
            return (
                f"({name} < 128) & ((({low} if {name} < 64 else {high}) >> ({name} & 63)) & 1 != 0)"
            )
        tests = (
            f"({name} == {a})" if a == b else f"(({name} >= {a}) & ({name} <= {b}))"
            for a, b in ranges
        )
        return " | ".join(tests) or f"({name} < 0)"


NOTHING = Characters(0)
EVERYTHING = Characters(ASCII, LEADS, 0)


def of_byte(byte: int) -> Characters:
    """The set of the characters that begin with a byte: one, if it is ASCII."""
    if byte < 128:
        return Characters(1 << byte)
    return Characters(0, 0, LEADS & ~(1 << (byte - 192)))


def of_item(kind: str, value: Any, flags: int) -> Characters:
    """The set that one item of the standard library's parser stands for."""
    if kind == "ANY":
        return EVERYTHING if flags & re.DOTALL else ~of_byte(10)
    if flags & re.IGNORECASE:
        return _asked(repr((kind, value)), ((getattr(parser, kind), value),), flags)
    if kind == "LITERAL":
        return _of_range(value, value)
    if kind == "NOT_LITERAL":
        return ~_of_range(value, value)
    if kind == "RANGE":
        return _of_range(*value)
    if kind == "CATEGORY":
        item = (parser.IN, [(parser.CATEGORY, value)])
        return _asked(str(value), (item,), flags & re.ASCII)
    assert kind == "IN"
    result = NOTHING
    negated = False
    for inner, what in value:
        if str(inner) == "NEGATE":
            negated = True
        else:
            result |= of_item(str(inner), what, flags)
    return ~result if negated else result


def _of_range(first: int, last: int) -> Characters:
    """The set of a range of code points."""
    ascii = sum(1 << c for c in range(first, min(last, 127) + 1))
    yes, no = 0, LEADS
    for lead, (begin, end) in _BY_LEAD.items():
        if first < end and begin <= last:
            no &= ~(1 << (lead - 192))
            if first <= begin and end - 1 <= last:
                yes |= 1 << (lead - 192)
    return Characters(ascii, yes, no)


def _ranges() -> Iterator[tuple[int, tuple[int, int]]]:
    """The code points of each first byte."""
    for lead in range(0xC2, 0xE0):
        yield lead, ((lead & 31) << 6, (lead & 31) + 1 << 6)
    for lead in range(0xE0, 0xF0):
        yield lead, (max(0x800, (lead & 15) << 12), (lead & 15) + 1 << 12)
    for lead in range(0xF0, 0xF5):
        yield lead, (max(0x10000, (lead & 7) << 18), min(0x110000, (lead & 7) + 1 << 18))


_BY_LEAD = dict(_ranges())
_answers: dict[tuple[str, int], Characters] = {}


def _asked(key: str, items: tuple[Any, ...], flags: int) -> Characters:
    """The set of characters that `re` finds in the place of items."""
    flags &= re.IGNORECASE | re.ASCII
    if not flags & re.ASCII:
        flags |= re.UNICODE
    if (key, flags) not in _answers:
        _answers[key, flags] = _ask(items, int(flags))
    return _answers[key, flags]


def _ask(items: tuple[Any, ...], flags: int) -> Characters:
    def compiled(data: list[Any]) -> re.Pattern[str]:
        pattern: re.Pattern[str] = _compiler.compile(parser.SubPattern(parser.State(), data), flags)
        return pattern

    one = compiled(list(items))
    run = compiled(
        [(parser.MAX_REPEAT, (0, parser.MAXREPEAT, parser.SubPattern(parser.State(), list(items))))]
    )
    ascii = sum(1 << c for c in range(128) if one.match(chr(c)))
    yes = no = 0
    for lead, characters in _characters_by_lead():
        if one.search(characters) is None:
            no |= 1 << (lead - 192)
        elif run.fullmatch(characters):
            yes |= 1 << (lead - 192)
    return Characters(ascii, yes, no)


@cache
def _characters_by_lead() -> list[tuple[int, str]]:
    characters = []
    for lead, (begin, end) in _BY_LEAD.items():
        points = np.arange(begin, end, dtype="<u4")
        points = points[(points < 0xD800) | (points > 0xDFFF)]
        characters.append((lead, points.tobytes().decode("utf-32-le")))
    return characters


@cache
def word_characters(flags: int) -> Characters:
    """The set of `\\w`."""
    return of_item("CATEGORY", parser.CATEGORY_WORD, flags)
