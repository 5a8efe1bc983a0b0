"""Sets of characters that one item of a regular expression matches.

The meaning of `\\w`, `\\d`, `\\s` and ignored case beyond ASCII comes from `re` itself, so it follows this
Python's version of Unicode.
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
    """Returns the lowest 64 bits of a number, as an int64."""
    return ((word + (1 << 63)) & ((1 << 64) - 1)) - (1 << 63)


@dataclass(frozen=True)
class Characters:
    """A set of characters.

    Args:
        ascii: A bit for each ASCII character.
        yes: A bit for each first byte of other characters, from 192 on: whether all of them are in.
        no: A bit for each: whether none of them is in. If neither bit is set, some are in.
    """

    ascii: int
    yes: int = 0
    no: int = LEADS

    @property
    def leads(self) -> int:
        """The first bytes of characters beyond ASCII that may be in the set."""
        return LEADS & ~self.no

    @property
    def known(self) -> bool:
        """Whether the first byte of a character always tells whether it is in the set."""
        return self.yes | self.no == LEADS

    @property
    def words(self) -> tuple[int, int, int, int]:
        """The four words that `colkern.kernels.text_scanning` takes."""
        # All bits are set if all first bytes are: then a compiler sees that no look-up is needed.
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
        """Returns the ASCII characters of the set."""
        return [c for c in range(128) if self.ascii >> c & 1]

    def _parts(self) -> list[list[int]]:
        """Returns the first and the last of each range of consecutive ASCII characters."""
        parts: list[list[int]] = []
        for c in self.members():
            if parts and parts[-1][1] == c - 1:
                parts[-1][1] = c
            else:
                parts.append([c, c])
        return parts

    @property
    def ranges(self) -> int:
        """The largest ranges of ASCII characters, in the form of `colkern.kernels.text_scanning.Run`."""
        sizes = [(last - first + 1, first) for first, last in self._parts()]
        largest = sorted(sizes, reverse=True)[:4]
        return sum((first | count << 8) << 16 * k for k, (count, first) in enumerate(largest))

    def test(self, name: str) -> str:
        """Returns an expression for whether a byte, or 256 for the end, is one of the ASCII characters."""
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
    """Returns the set of the characters that begin with a byte: a single one, if it is ASCII."""
    if byte < 128:
        return Characters(1 << byte)
    return Characters(0, 0, LEADS & ~(1 << (byte - 192)))


def of_item(kind: str, value: Any, flags: int) -> Characters:
    """Returns the set for one item of the standard library's parser."""
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
    """Returns the set of a range of code points."""
    ascii = sum(1 << c for c in range(first, min(last, 127) + 1))
    yes, no = 0, LEADS
    for lead, (begin, end) in _BY_LEAD.items():
        if first < end and begin <= last:
            no &= ~(1 << (lead - 192))
            if first <= begin and end - 1 <= last:
                yes |= 1 << (lead - 192)
    return Characters(ascii, yes, no)


def _ranges() -> Iterator[tuple[int, tuple[int, int]]]:
    """Yields each first byte with its range of code points."""
    for lead in range(0xC2, 0xE0):
        yield lead, ((lead & 31) << 6, (lead & 31) + 1 << 6)
    for lead in range(0xE0, 0xF0):
        yield lead, (max(0x800, (lead & 15) << 12), (lead & 15) + 1 << 12)
    for lead in range(0xF0, 0xF5):
        yield lead, (max(0x10000, (lead & 7) << 18), min(0x110000, (lead & 7) + 1 << 18))


_BY_LEAD = dict(_ranges())
_answers: dict[tuple[str, int], Characters] = {}


def _asked(key: str, items: tuple[Any, ...], flags: int) -> Characters:
    """Returns the set of characters that `re` matches with items."""
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
    """Returns the set of `\\w`."""
    return of_item("CATEGORY", parser.CATEGORY_WORD, flags)
