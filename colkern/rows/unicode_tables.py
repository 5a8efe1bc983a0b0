"""Tables of characters for compiled code, from the version of Unicode that this Python has."""

from __future__ import annotations

import hashlib
import inspect
import sys
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache

import numpy as np

from colkern.cache import cache_dir, read_whole, write_whole
from colkern.kernels import normalization as n
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
    u.NOT_DECIMAL: lambda character: character.isalnum() and not character.isdecimal(),
}

_CASES: tuple[Callable[[str], str], ...] = (str.lower, str.upper, str.title, str.casefold)
"""The methods for the words of a record, in their order."""


@cache
def characters() -> bytes:
    """Returns the table of characters, in the layout of `colkern.kernels.unicode_data`."""
    return _kept("characters", _characters)


@cache
def decompositions() -> bytes:
    """Returns the table of decompositions, in the layout of `colkern.kernels.normalization`."""
    return _kept("decompositions", _decompositions)


TABLES = {"unicode": characters, "decompositions": decompositions}
"""The tables by the names of the parameters of bodies that get their addresses."""


def _kept(name: str, make: Callable[[], bytes]) -> bytes:
    """Returns a table, which is kept on disk."""
    source = "".join(map(inspect.getsource, (u, n, sys.modules[__name__])))
    layout = hashlib.sha256(f"{sys.version} {source}".encode()).hexdigest()[:16]
    try:
        path = cache_dir("unicode") / f"{name}-{unicodedata.unidata_version}-{layout}"
        kept = read_whole(path)
    except PermissionError:
        return make()
    except FileNotFoundError:
        kept = None
    if kept is None:
        kept = make()
        write_whole(path, kept)
    return kept


def _characters() -> bytes:
    sequences = _Sequences("utf-32-le")
    records = {code: _record(character, sequences) for code, character in _assigned()}
    # All code points without a character have the record of the last one.
    return _table(_record(chr(0x10FFFF), sequences), records, sequences, [])


def _decompositions() -> bytes:
    sequences = _Sequences("utf-8")
    pairs: dict[str, str] = {}
    for _, character in _assigned():
        parts = unicodedata.decomposition(character).split()
        if len(parts) == 2 and parts[0][0] != "<":
            pairs["".join(chr(int(part, 16)) for part in parts)] = character
    # Characters that may become a part of one before; vowels and trails of Hangul do, too.
    seconds = {pair[1] for pair in pairs} | {chr(code) for code in range(0x1161, 0x11C3)}
    records = {}
    for code, character in _assigned():
        word = unicodedata.combining(character)
        wholes = unicodedata.normalize("NFC", character), unicodedata.normalize("NFKC", character)
        for kind, whole in zip((n.CANONICAL, n.COMPATIBLE), wholes, strict=True):
            word |= n.CHANGES * kind * (character in seconds or whole != character)
        forms = unicodedata.normalize("NFD", character), unicodedata.normalize("NFKD", character)
        is_itself = unicodedata.name(character, "").startswith("HANGUL SYLLABLE")
        places = [0 if of == character or is_itself else sequences.place(of) for of in forms]
        if word or any(places):
            records[code] = word, *places
    words = [
        ord(pair[0]) << n.FIRST | ord(pair[1]) << n.SECOND | ord(whole)
        for pair, whole in pairs.items()
        if unicodedata.normalize("NFC", pair) == whole
    ]
    return _table((0, 0, 0), records, sequences, sorted(words))


class _Sequences:
    """Texts of characters, each of which has a place, in an encoding."""

    def __init__(self, encoding: str) -> None:
        self._encoding = encoding
        self._places: dict[str, int] = {}
        self.data = b""

    def place(self, text: str) -> int:
        """Returns where a text is in the data, and its size in high bits."""
        data = text.encode(self._encoding)
        if text not in self._places:
            self._places[text] = len(data) << n.SIZE | len(self.data)
            self.data += data
        return self._places[text]


def _table(
    other: tuple[int, ...],
    records: dict[int, tuple[int, ...]],
    sequences: _Sequences,
    pairs: list[int],
) -> bytes:
    """Returns a table of records of code points; `other` is that of all others."""
    unlike = dict.fromkeys([other, *records.values()])
    numbers = {record: number for number, record in enumerate(unlike)}
    number_of = np.zeros(0x110000, np.uint16)
    for code, record in records.items():
        number_of[code] = numbers[record]
    pages, page_of = np.unique(number_of.reshape(-1, 128), axis=0, return_inverse=True)
    words = np.array([*unlike], np.int64)
    begins = u.RECORDS + pages.nbytes
    begin_of_pairs = begins + words.nbytes
    # Places count from the end of the pairs.
    words[:, 1:][words[:, 1:] >= u.SEVERAL] += begin_of_pairs + 8 * len(pairs) + 8
    header = np.array([begins, begin_of_pairs, len(pairs)], np.int64)
    last = np.array([*pairs, 0], np.int64)
    parts = (header, page_of.astype(np.uint16), pages, words, last)
    return b"".join([*(part.tobytes() for part in parts), sequences.data, bytes(64)])


def _assigned() -> Iterator[tuple[int, str]]:
    for code in range(0x110000):
        character = chr(code)
        if unicodedata.category(character) not in ("Cn", "Cs"):
            yield code, character


def _record(character: str, sequences: _Sequences) -> tuple[int, ...]:
    word = sum(bit for bit, has in _PROPERTIES.items() if has(character))
    word |= int.from_bytes(unicodedata.category(character).encode(), "little") << 8 * u.CATEGORY
    word |= unicodedata.combining(character) << u.COMBINING
    return (word, *(_case(character, turned(character), sequences) for turned in _CASES))


def _case(character: str, turned: str, sequences: _Sequences) -> int:
    return ord(turned) - ord(character) if len(turned) == 1 else sequences.place(turned)
