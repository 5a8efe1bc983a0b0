"""Tables of characters for compiled code, from the version of Unicode that this Python has."""

from __future__ import annotations

import hashlib
import sys
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from functools import cache

import numpy as np
from numpy.typing import NDArray

from colkern.cache import cache_dir, read_whole, write_whole
from colkern.kernels import normalization as n
from colkern.kernels import unicode_data as u
from colkern.memory import Items
from colkern.rows.simple_cases import by_character

_VERSION = 2
"""Another number makes tables that are kept on disk void, such as after a change of `_PROPERTIES`."""

_PROPERTIES: dict[int, Callable[[str], bool]] = {
    u.ALPHABETIC: str.isalpha,
    u.DECIMAL: str.isdecimal,
    u.DIGIT: str.isdigit,
    u.NUMERIC: str.isnumeric,
    u.SPACE: str.isspace,
    u.PRINTABLE: str.isprintable,
    u.LOWER: str.islower,
    u.UPPER: str.isupper,
    u.NAME_BEGINS: str.isidentifier,
}

_CASES: tuple[Callable[[str], str], ...] = (str.lower, str.upper, str.title, str.casefold)
"""The methods for the words of a record, in their order."""

_CHUNK = 1 << 12
_FACTOR = 0x9E3779B97F4A7C15


@cache
def characters() -> bytes:
    """Returns the table of characters, in the layout of `colkern.kernels.unicode_data`."""
    return _kept("characters", _characters)


def with_property(mask: int) -> NDArray[np.bool]:
    """Returns for each code point whether it has some properties of the table."""
    words, numbers = _records()
    has_it: NDArray[np.bool] = np.not_equal(words[:, 0] & mask, 0)
    return has_it[numbers]


def with_cases() -> NDArray[np.bool]:
    """Returns for each code point whether it has another case."""
    words, numbers = _records()
    has_one: NDArray[np.bool] = np.any(words[:, 1:], axis=1)
    return has_one[numbers]


def _records() -> tuple[Items, Items]:
    """Returns the records of the table of characters, and the number of that of each code point."""
    table = characters()
    begins, ends, _ = np.frombuffer(table, np.int64, u.PAGES // 8)
    page_of = np.frombuffer(table[u.PAGES : u.RECORDS], np.uint16)
    pages = np.frombuffer(table[u.RECORDS : begins], np.uint16).reshape(-1, 128)
    words = np.frombuffer(table[begins:ends], np.int64).reshape(-1, u.RECORD // 8)
    return words, pages[page_of].reshape(-1)


@cache
def decompositions() -> bytes:
    """Returns the table of decompositions, in the layout of `colkern.kernels.normalization`."""
    return _kept("decompositions", _decompositions)


TABLES = {"unicode": characters, "decompositions": decompositions}
"""The tables by the names of the parameters of bodies that get their addresses."""


def _kept(name: str, make: Callable[[], bytes]) -> bytes:
    """Returns a table, which is kept on disk."""
    numbers = [item for of in (u, n) for item in vars(of).items() if isinstance(item[1], int)]
    described = f"{_VERSION} {sys.version} {numbers}"
    layout = hashlib.sha256(described.encode()).hexdigest()[:16]
    file = f"{name}-{unicodedata.unidata_version}-{layout}"
    with suppress(OSError):
        if (kept := read_whole(cache_dir("unicode") / file)) is not None:
            return kept
    table = make()
    with suppress(OSError):
        write_whole(cache_dir("unicode") / file, table)
    return table


def _characters() -> bytes:
    sequences = _Sequences("utf-32-le")
    known, categories = [*_assigned()], [*_assigned().values()]
    own = np.zeros(len(known), np.int64)
    for bit, has in _PROPERTIES.items():
        own |= bit * np.fromiter(map(has, known), np.int64, len(known))
    is_title = np.fromiter(map(str.istitle, known), np.bool, len(known)) & (own & u.UPPER == 0)
    own |= u.TITLE * is_title
    own |= u.NAME_GOES_ON * np.array([f"a{each}".isidentifier() for each in known])
    own |= u.IGNORED * np.array([*map(_is_ignored, known, categories)])
    own |= u.NOT_DECIMAL * ((own & u.WORD != 0) & (own & u.DECIMAL == 0))
    own |= np.array([*map(_CATEGORIES.__getitem__, categories)])
    own |= np.fromiter(map(unicodedata.combining, known), np.int64, len(known)) << u.COMBINING
    cases = np.zeros((len(known), len(_CASES)), np.int64)
    for place, turned in enumerate(_CASES):
        for number, (character, other) in enumerate(zip(known, map(turned, known), strict=True)):
            if character != other:
                is_one = len(other) == 1
                one = by_character(turned, character)
                word = ord(other) - ord(character) if is_one else sequences.place(one + other)
                cases[number, place] = word
    words = np.zeros((0x110000, u.RECORD // 8), np.int64)
    words[:, 0] = _CATEGORIES["Cn"]
    for begin, end in ((0xE000, 0xF900), (0xF0000, 0xFFFFE), (0x100000, 0x10FFFE)):
        words[begin:end, 0] = _CATEGORIES["Co"]
    codes = [*map(ord, known)]
    words[codes, 0], words[codes, 1:] = own, cases
    return _table(words, sequences, [])


def _is_ignored(character: str, category: str) -> bool:
    """Whether `lower` looks past a character from a capital sigma; letters and symbols, it does not."""
    if category[0] not in "MP" and category not in ("Cf", "Lm", "Sk"):
        return False
    return f"A{character}\u03a3".lower()[-1] == "\u03c2" != f"{character}\u03a3".lower()[-1]


def _decompositions() -> bytes:
    sequences = _Sequences("utf-8")
    known = [*_assigned()]
    parts = {
        each: of.split()
        for each, of in zip(known, map(unicodedata.decomposition, known), strict=True)
        if of
    }
    pairs = {
        "".join(chr(int(part, 16)) for part in of): whole
        for whole, of in parts.items()
        if len(of) == 2 and of[0][0] != "<"
    }
    # Characters that may become a part of one before; vowels and trails of Hangul do, too.
    seconds = {pair[1] for pair in pairs} | {chr(code) for code in range(0x1161, 0x11C3)}
    records = np.zeros((0x110000, n.RECORD // 8), np.int64)
    for character in {*parts, *seconds, *filter(unicodedata.combining, known)}:
        word = unicodedata.combining(character)
        wholes = unicodedata.normalize("NFC", character), unicodedata.normalize("NFKC", character)
        for kind, whole in zip((n.CANONICAL, n.COMPATIBLE), wholes, strict=True):
            word |= n.CHANGES * kind * (character in seconds or whole != character)
        forms = unicodedata.normalize("NFD", character), unicodedata.normalize("NFKD", character)
        places = [0 if of == character else sequences.place(of) for of in forms]
        records[ord(character)] = word, *places
    words = [
        ord(pair[0]) << n.FIRST | ord(pair[1]) << n.SECOND | ord(whole)
        for pair, whole in pairs.items()
        if unicodedata.normalize("NFC", pair) == whole
    ]
    return _table(records, sequences, sorted(words))


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


def _table(words: Items, sequences: _Sequences, pairs: list[int]) -> bytes:
    """Returns a table of the records of all code points, of words each."""
    # The sum of odd multiples, as to compare one number takes a tenth of the time of several.
    factors = [pow(_FACTOR, place, 1 << 64) for place in range(words.shape[1])]
    mixed = words.view(np.uint64) @ np.array(factors, np.uint64)
    (others,) = np.nonzero(mixed != mixed[-1])
    _, first, number_of = np.unique(mixed[others], return_index=True, return_inverse=True)
    records = np.concatenate([words[-1:], words[others[first]]])
    numbers = np.zeros(0x110000, np.uint16)
    numbers[others] = number_of + 1
    assert np.array_equal(records[numbers[others]], words[others])
    pages: dict[bytes, int] = {}
    page_of = [pages.setdefault(page.tobytes(), len(pages)) for page in numbers.reshape(-1, 128)]
    begins = u.RECORDS + 256 * len(pages)
    begin_of_pairs = begins + records.nbytes
    # Places count from the end of the pairs.
    records[:, 1:][records[:, 1:] >= u.SEVERAL] += begin_of_pairs + 8 * len(pairs) + 8
    header = np.array([begins, begin_of_pairs, len(pairs)], np.int64).tobytes()
    last = np.array([*pairs, 0], np.int64).tobytes()
    numbers_of_pages = np.array(page_of, np.uint16).tobytes()
    parts = header, numbers_of_pages, *pages, records.tobytes(), last, sequences.data
    return b"".join([*parts, bytes(64)])


@cache
def _assigned() -> dict[str, str]:
    """Returns the characters with their categories, except those of code points without one."""
    assigned: dict[str, str] = {}
    for begin in range(0, 0x110000, _CHUNK):
        chunk = [*map(chr, range(begin, begin + _CHUNK))]
        few = {*map(unicodedata.category, chunk[:: _CHUNK // 16])}
        # Most planes have no characters, or those of private use: `repr` has ten letters for each.
        if few <= {"Cn", "Co"} and len(repr("".join(chunk))) == 2 + 10 * _CHUNK:
            continue
        categories = zip(chunk, map(unicodedata.category, chunk), strict=True)
        assigned |= {each: of for each, of in categories if of not in ("Cn", "Co", "Cs")}
    return assigned


_CATEGORY_NAMES = """
    Cc Cf Cn Co Cs Ll Lm Lo Lt Lu Mc Me Mn Nd Nl No Pc Pd Pe Pf Pi Po Ps Sc Sk Sm So Zl Zp Zs
"""
_CATEGORIES = {
    name: int.from_bytes(name.encode(), "little") << 8 * u.CATEGORY
    for name in _CATEGORY_NAMES.split()
}
