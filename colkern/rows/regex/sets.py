"""Sets of characters that one item of a regular expression matches.

The meaning of ignored case comes from `re` itself, that of `\\w`, `\\d` and `\\s` from the table of
characters, so both follow this Python's version of Unicode.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colkern.forks import cached_property
from colkern.kernels import unicode_data
from colkern.rows.unicode_tables import with_cases, with_property

parser: Any = getattr(re, "_parser")  # noqa: B009
_compiler: Any = getattr(re, "_compiler")  # noqa: B009

ASCII = (1 << 128) - 1
_ALL = (1 << 0x110000) - (1 << 0xE000) + (1 << 0xD800) - 1
"""All characters of UTF-8, which has no surrogates."""

LEADS = sum(1 << (byte - 192) for byte in range(0xC2, 0xF5))
"""The first bytes of characters that are not ASCII, from 192 on."""

_MOST_RANGES = 6


def signed(word: int) -> int:
    """Returns the lowest 64 bits of a number, as an int64."""
    return ((word + (1 << 63)) & ((1 << 64) - 1)) - (1 << 63)


@dataclass(frozen=True)
class Characters:
    """A set of characters: `bits` has one for each code point."""

    bits: int

    @property
    def ascii(self) -> int:
        """A bit for each ASCII character."""
        return self.bits & ASCII

    @cached_property
    def yes(self) -> int:
        """A bit for each first byte of other characters, from 192 on: whether all of them are in."""
        return (~self).no

    @cached_property
    def no(self) -> int:
        """A bit for each: whether none of them is in. If neither bit is set, some are in."""
        return sum(1 << (lead - 192) for lead, of in _by_lead().items() if not self.bits & of.bits)

    @property
    def leads(self) -> int:
        """The first bytes of characters beyond ASCII that may be in the set."""
        return LEADS & ~self.no

    @property
    def known(self) -> bool:
        """Whether compiled code knows of each character whether it is in the set."""
        return self._exact[1] < 2

    @property
    def uses_properties(self) -> bool:
        """Whether compiled code needs the table of characters for that."""
        return bool(self._exact[0])

    @cached_property
    def _exact(self) -> tuple[int, ...]:
        """What tells whether a character is in if its first byte does not.

        That is whether it has some properties, or has none if a 1 follows; for characters in the ranges,
        the reverse is true. With a 2, only Python knows.
        """
        some = [
            of.bits for lead, of in _by_lead().items() if 1 << (lead - 192) & ~(self.yes | self.no)
        ]
        unsure = sum(some)
        if not unsure:
            return (0,) * (_MOST_RANGES + 2)
        ways = [
            (mask, negated, *ranges)
            for mask, kind in _classes()
            for negated, of in enumerate((kind, ~kind))
            if len(ranges := _ranges((self.bits ^ of.bits) & unsure)) <= _MOST_RANGES
        ]
        best = min(ways, key=len, default=(0, 2))
        return (*best, *[0] * (_MOST_RANGES + 2 - len(best)))

    @property
    def words(self) -> tuple[int, ...]:
        """The words that `colkern.kernels.text_scanning` takes."""
        # All bits are set if all first bytes are: then a compiler sees that no look-up is needed.
        yes, no = (-1 if leads == LEADS else leads for leads in (self.yes, self.no))
        return self.ascii, self.ascii >> 64, yes, no, *self._exact

    def __or__(self, other: Characters) -> Characters:
        return Characters(self.bits | other.bits)

    def __invert__(self) -> Characters:
        return Characters(_ALL & ~self.bits)

    def meets(self, other: Characters) -> bool:
        """Whether characters of both sets may have the same first byte."""
        return bool(self.ascii & other.ascii or self.leads & other.leads)

    def shares(self, other: Characters) -> bool:
        """Whether a character is in both sets."""
        return bool(self.bits & other.bits)

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
EVERYTHING = ~NOTHING


def of_byte(byte: int) -> Characters:
    """Returns the set of the characters that begin with a byte: a single one, if it is ASCII."""
    return Characters(1 << byte) if byte < 128 else _by_lead()[byte]


@cache
def _by_lead() -> dict[int, Characters]:
    """Returns the characters by their first bytes."""
    two = {lead: _of_range((lead & 31) << 6, (lead & 31) << 6 | 63) for lead in range(0xC2, 0xE0)}
    three = {
        lead: _of_range(max(0x800, (lead & 15) << 12), (lead & 15) << 12 | 0xFFF)
        for lead in range(0xE0, 0xF0)
    }
    four = {
        lead: _of_range(max(0x10000, (lead & 7) << 18), min(0x10FFFF, (lead & 7) << 18 | 0x3FFFF))
        for lead in range(0xF0, 0xF5)
    }
    return two | three | four


@cache
def _classes() -> list[tuple[int, Characters]]:
    """Returns the sets that properties tell, with these: unions of digits, other letters, and spaces."""
    digits = of_item("CATEGORY", parser.CATEGORY_DIGIT, 0)
    parts = (
        (unicode_data.DECIMAL, digits),
        (unicode_data.NOT_DECIMAL, ~(~word_characters(0) | digits)),
        (unicode_data.SPACE, of_item("CATEGORY", parser.CATEGORY_SPACE, 0)),
    )
    sets = [(0, NOTHING)]
    for mask, of in parts:
        sets += [(mask | more, of | others) for more, others in sets]
    return sets


def number_of(are_in: NDArray[np.bool]) -> int:
    """Returns a number with a bit for each of some booleans."""
    return int.from_bytes(np.packbits(are_in, bitorder="little").tobytes(), "little")


def _ranges(bits: int) -> list[int]:
    """Returns up to seven ranges of a set: the first character of each, and the last in high bits."""
    ranges: list[int] = []
    while bits and len(ranges) <= _MOST_RANGES:
        first = (bits & -bits).bit_length() - 1
        bits >>= first
        count = (bits & -bits) and (~bits & (bits + 1)).bit_length() - 1
        ranges.append(first | (first + count - 1) << 32)
        bits = bits >> count << (first + count)
    return ranges


def of_item(kind: str, value: Any, flags: int) -> Characters:
    """Returns the set for one item of the standard library's parser."""
    if kind == "ANY":
        return EVERYTHING if flags & re.DOTALL else ~of_byte(10)
    if kind == "CATEGORY":
        return _of_category(str(value).removeprefix("CATEGORY_"), flags & re.ASCII)
    if kind != "IN":
        ends = value if kind == "RANGE" else (value, value)
        is_any = flags & re.IGNORECASE
        result = _in_any_case(*ends, int(flags & re.ASCII)) if is_any else _of_range(*ends)
        return ~result if kind == "NOT_LITERAL" else result
    result = NOTHING
    negated = False
    for inner, what in value:
        if str(inner) == "NEGATE":
            negated = True
        else:
            result |= of_item(str(inner), what, flags)
    return ~result if negated else result


_OF_ASCII = {"DIGIT": re.compile(r"\d", re.A), "SPACE": re.compile(r"\s", re.A)}
_OF_ASCII["WORD"] = re.compile(r"\w", re.A)

_PROPERTIES = {
    "DIGIT": unicode_data.DECIMAL,
    "SPACE": unicode_data.SPACE,
    "WORD": unicode_data.DECIMAL | unicode_data.NOT_DECIMAL,
}
"""The properties of which characters of the classes have one; `\\w` has the underscore, too."""


@cache
def _of_category(name: str, ascii: int) -> Characters:
    if name.startswith("NOT_"):
        return ~_of_category(name.removeprefix("NOT_"), ascii)
    if ascii:
        members = filter(_OF_ASCII[name].match, map(chr, range(128)))
        return Characters(sum(1 << ord(character) for character in members))
    underscore = 1 << ord("_") if name == "WORD" else 0
    return Characters(number_of(with_property(_PROPERTIES[name])) | underscore)


def _of_range(first: int, last: int) -> Characters:
    """Returns the set of a range of code points."""
    return Characters(((1 << (last + 1)) - (1 << first)) & _ALL)


@lru_cache(maxsize=1 << 8)
def _in_any_case(first: int, last: int, ascii: int) -> Characters:
    """Returns the set of a range in a pattern that ignores case."""
    item = (parser.IN, [(parser.RANGE, (first, last))])
    flags = re.IGNORECASE | (ascii or re.UNICODE)
    pattern = _compiler.compile(parser.SubPattern(parser.State(), [item]), flags)
    characters, all_cased = _cased()
    cased = [ord(character) for character in filter(pattern.match, characters)]
    are_in = np.zeros(0x110000, np.bool)
    are_in[cased] = True
    return Characters(_of_range(first, last).bits & ~all_cased | number_of(are_in))


@cache
def _cased() -> tuple[str, int]:
    """Returns the characters that have another case, which `re` compares if it ignores case; and a bit
    for each."""
    others = with_cases()
    return "".join(map(chr, np.flatnonzero(others))), number_of(others)


@cache
def word_characters(flags: int) -> Characters:
    """Returns the set of `\\w`."""
    return of_item("CATEGORY", parser.CATEGORY_WORD, flags)
