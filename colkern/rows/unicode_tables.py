"""The table of characters for compiled code, from the version of Unicode that this Python has."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache

import numpy as np

from colkern.cache import cache_dir, read_whole, write_whole
from colkern.kernels import unicode_data as u

_PROPERTIES: dict[int, Callable[[str], bool]] = {
    u.ALPHABETIC: str.isalpha,
    u.DECIMAL: str.isdecimal,
    u.DIGIT: str.isdigit,
    u.NUMERIC: str.isnumeric,
    u.SPACE: str.isspace,
    u.PRINTABLE: str.isprintable,
    u.LOWER: str.islower,
    u.UPPER: str.isupper,
    u.TITLE: lambda character: character.istitle() and not character.isupper(),
    u.NAME_BEGINS: str.isidentifier,
    u.NAME_GOES_ON: lambda character: f"a{character}".isidentifier(),
    # These two are known from what methods do to the letter next to a character.
    u.CASED: lambda character: f"{character}a".title().endswith("a"),
    u.IGNORED: lambda character: (
        f"A{character}\u03a3".lower().endswith("\u03c2")
        and not f"{character}\u03a3".lower().endswith("\u03c2")
    ),
}

_CASES: tuple[Callable[[str], str], ...] = (str.lower, str.upper, str.title, str.casefold)
"""The methods for the words of a record, in their order."""


@cache
def characters() -> bytes:
    """Returns the table, in the layout of `colkern.kernels.unicode_data`; it is kept on disk."""
    version = ".".join(map(str, sys.version_info[:3]))
    try:
        path = cache_dir("unicode") / f"characters-{version}-{unicodedata.unidata_version}"
        kept = read_whole(path)
    except PermissionError:
        return _table()
    except FileNotFoundError:
        kept = None
    if kept is None:
        kept = _table()
        write_whole(path, kept)
    return kept


def _table() -> bytes:
    sequences: dict[str, int] = {}
    # The first record is that of all code points without a character.
    records = {_record(chr(0x10FFFF), sequences): 0}
    numbers = np.zeros(0x110000, np.uint16)
    for code, character in _assigned():
        record = _record(character, sequences)
        numbers[code] = records.setdefault(record, len(records))
    pages, page_of = np.unique(numbers.reshape(-1, 128), axis=0, return_inverse=True)
    begins = u.RECORDS + pages.nbytes
    words = np.array([*records], np.int64)
    # The places of sequences count from the end of the records.
    words[:, 1:][words[:, 1:] >= u.SEVERAL] += begins + words.nbytes
    return b"".join(
        [
            begins.to_bytes(8, "little"),
            page_of.astype(np.uint16).tobytes(),
            pages.tobytes(),
            words.tobytes(),
            *(sequence.encode("utf-32-le") for sequence in sequences),
            bytes(8),
        ]
    )


def _assigned() -> Iterator[tuple[int, str]]:
    for code in range(0x110000):
        character = chr(code)
        if unicodedata.category(character) not in ("Cn", "Cs"):
            yield code, character


def _record(character: str, sequences: dict[str, int]) -> tuple[int, ...]:
    word = sum(bit for bit, has in _PROPERTIES.items() if has(character))
    word |= int.from_bytes(unicodedata.category(character).encode(), "little") << 8 * u.CATEGORY
    word |= unicodedata.combining(character) << u.COMBINING
    cases = [_case(character, turned(character), sequences) for turned in _CASES]
    return (word, *cases)


def _case(character: str, turned: str, sequences: dict[str, int]) -> int:
    if len(turned) == 1:
        return ord(turned) - ord(character)
    if turned not in sequences:
        sequences[turned] = 4 * sum(map(len, sequences))
    return len(turned) * u.SEVERAL + sequences[turned]
