"""Functions of text, named as in `pyarrow.compute`: a row function for each.

Results have the type of the strings; dictionaries and runs stay encoded.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Literal

from colkern import operations
from colkern import schema as s
from colkern.arrays import Array
from colkern.errors import UnsupportedError
from colkern.functions.row_functions import (
    BINARY,
    BYTES,
    LISTS,
    STRINGS,
    boolean,
    element_wise,
    item_of,
    listed,
    over_rows,
    row_function,
    same,
    size,
)
from colkern.jit.stored_elements import AS_BYTES
from colkern.operations import cast, coalesce
from colkern.operations.operands import value_type_of
from colkern.operations.strings import matched
from colkern.rows import simple_cases

MOST_PATTERNS = 256
"""The number of functions kept that have a pattern of their own."""


# Case


@row_function("Text", same, STRINGS)
def utf8_upper(strings: str) -> str:
    """Each string in upper case, character by character: 'ß' becomes 'ẞ', not 'SS' as in Python."""
    return simple_cases.upper(strings)


@row_function("Text", same, STRINGS)
def utf8_lower(strings: str) -> str:
    """Each string in lower case, character by character."""
    return simple_cases.lower(strings)


@row_function("Text", same, STRINGS)
def utf8_swapcase(strings: str) -> str:
    """Each string with the case of its letters swapped, character by character."""
    return simple_cases.swapcase(strings)


@row_function("Text", same, STRINGS)
def utf8_capitalize(strings: str) -> str:
    """Each string with its first character in upper case, the others in lower case."""
    return simple_cases.capitalize(strings)


@row_function("Text", same, STRINGS)
def utf8_title(strings: str) -> str:
    """Each string with its words in title case, as Python's `str.title`; pyarrow's differs beyond ASCII."""
    return strings.title()


# Trimming and padding


@row_function("Text", same, STRINGS)
def utf8_trim(strings: str, characters: str) -> str:
    """Each string with those characters removed from both ends."""
    return strings.strip(characters)


@row_function("Text", same, STRINGS)
def utf8_ltrim(strings: str, characters: str) -> str:
    """Each string with those characters removed from its beginning."""
    return strings.lstrip(characters)


@row_function("Text", same, STRINGS)
def utf8_rtrim(strings: str, characters: str) -> str:
    """Each string with those characters removed from its end."""
    return strings.rstrip(characters)


@row_function("Text", same, STRINGS)
def utf8_trim_whitespace(strings: str) -> str:
    """Each string with white space removed from both ends."""
    return strings.strip()


@row_function("Text", same, STRINGS)
def utf8_ltrim_whitespace(strings: str) -> str:
    """Each string with white space removed from its beginning."""
    return strings.lstrip()


@row_function("Text", same, STRINGS)
def utf8_rtrim_whitespace(strings: str) -> str:
    """Each string with white space removed from its end."""
    return strings.rstrip()


@row_function("Text", same, STRINGS)
def utf8_lpad(strings: str, width: int, padding: str = " ") -> str:
    """Each string padded on the left with one character, to a width in characters."""
    return strings.rjust(width, padding)


@row_function("Text", same, STRINGS)
def utf8_rpad(strings: str, width: int, padding: str = " ") -> str:
    """Each string padded on the right with one character, to a width in characters."""
    return strings.ljust(width, padding)


@row_function("Text", same, STRINGS)
def utf8_center(
    strings: str, width: int, padding: str = " ", lean_left_on_odd_padding: bool = True
) -> str:
    """Each string padded on both sides with one character; an odd number puts more right, or else left."""
    missing = max(width - len(strings), 0)
    left = missing // 2 if lean_left_on_odd_padding else missing - missing // 2
    return padding * left + strings + padding * (missing - left)


@row_function("Text", same, STRINGS)
def utf8_zero_fill(strings: str, width: int) -> str:
    """Each string padded with zeros behind its sign, to a width in characters."""
    return strings.zfill(width)


# Parts


@row_function("Text", same, STRINGS)
def utf8_slice_codeunits(strings: str, start: int, stop: int | None = None, step: int = 1) -> str:
    """Characters `start` to `stop` of each string, as Python slices them."""
    return strings[start:stop:step]


@row_function("Text", same, STRINGS)
def utf8_replace_slice(strings: str, start: int, stop: int, replacement: str) -> str:
    """Each string with its characters `start` to `stop`, as Python counts them, replaced by other text."""
    size = len(strings)
    first = start if start >= 0 else max(start + size, 0)
    last = stop if stop >= 0 else stop + size
    return strings[:first] + replacement + strings[max(first, last) :]


@lru_cache(maxsize=4)
def _normalizes(form: Any) -> Callable[..., object]:
    def utf8_normalize(strings: str) -> str:
        return unicodedata.normalize(form, strings)

    return utf8_normalize


@element_wise("Text")
def utf8_normalize(strings: Array, form: str) -> Array:
    """Each string in a normal form of Unicode: "NFC", "NFD", "NFKC" or "NFKD"."""
    if form not in ("NFC", "NFD", "NFKC", "NFKD"):
        raise ValueError(f"form: expected NFC, NFD, NFKC or NFKD, got {form!r}")
    return over_rows(_normalizes(form), [strings], same, STRINGS)


@row_function("Text", same, STRINGS)
def utf8_reverse(strings: str) -> str:
    """Each string with its characters in reverse order."""
    return strings[::-1]


@row_function("Text", same, BYTES)
def binary_repeat(strings: str, num_repeats: int) -> str:
    """Each string or binary value repeated `num_repeats` times, which may be an array."""
    return strings * num_repeats


@row_function("Text", same, BINARY)
def binary_reverse(strings: bytes) -> bytes:
    """Each binary value with its bytes in reverse order."""
    return strings[::-1]


@row_function("Text", same, BINARY)
def binary_slice(strings: bytes, start: int, stop: int | None = None, step: int = 1) -> bytes:
    """Bytes `start` to `stop` of each binary value, as Python slices them."""
    return strings[start:stop:step]


# Substrings


@row_function("Text", same, BYTES)
def replace_substring(
    strings: str, pattern: str, replacement: str, max_replacements: int = -1
) -> str:
    """Each value with the occurrences of `pattern` replaced: all, or at most `max_replacements` of them."""
    return strings.replace(pattern, replacement, max_replacements)


@element_wise("Text")
def match_substring(strings: Array, pattern: str, *, ignore_case: bool = False) -> Array:
    """Whether each string contains a text: booleans.

    Args:
        strings: Strings, or binary values if `pattern` is bytes.
        pattern: The text.
        ignore_case: Whether to treat upper and lower case as the same.
    """
    if ignore_case:
        return match_substring_regex(strings, _literal(pattern), ignore_case=True)
    return over_rows(_contains, [strings, pattern], boolean, BYTES, name="match_substring")


def _contains(strings: str, pattern: str) -> bool:
    return pattern in strings


@element_wise("Text")
def count_substring(strings: Array, pattern: str | bytes, *, ignore_case: bool = False) -> Array:
    """The number of times a text is in each string, without overlaps: int32; int64 for large strings."""
    if ignore_case:
        return count_substring_regex(strings, _literal(pattern), ignore_case=True)
    return over_rows(_count, [strings, pattern], size, BYTES, name="count_substring")


def _count(strings: str, pattern: str) -> int:
    return strings.count(pattern)


@element_wise("Text")
def find_substring(strings: Array, pattern: str | bytes, *, ignore_case: bool = False) -> Array:
    """The byte at which a text first occurs in each string, -1 if nowhere: int32; int64 for large strings.

    As in pyarrow, bytes are counted, not characters.
    """
    if ignore_case:
        return find_substring_regex(strings, _literal(pattern), ignore_case=True)
    text = pattern.encode() if isinstance(pattern, str) else pattern
    return over_rows(_find, [_as_bytes(strings), text], size, BYTES, name="find_substring")


def _find(strings: bytes, pattern: bytes) -> int:
    return strings.find(pattern)


def _as_bytes(strings: Array) -> Array:
    """Text as binary values; not copied."""
    storage = strings.type.storage
    if isinstance(storage, s.Dictionary | s.RunEndEncoded):
        return cast(strings, s.binary())
    plain = AS_BYTES.get(type(storage))
    return strings if plain is None else cast(strings, plain)


# Regular expressions. They are Python's, with the character classes of ASCII as in RE2, and are
# compiled into the function.


def _pattern(name: str, pattern: str, ignore_case: bool = False) -> re.Pattern[str]:
    """The compiled pattern of the function `name`; raises `ValueError` if it is none."""
    flags = re.ASCII
    if ignore_case and pattern.isascii():
        flags |= re.IGNORECASE
    elif ignore_case:
        # Letters beyond ASCII have cases only without the flag, which is for classes and borders.
        if re.search(r"(?<!\\)(?:\\\\)*\\[wWdDsSbB]", pattern):
            raise UnsupportedError(
                f"{name}: pattern {pattern!r}: with ignore_case, letters beyond ASCII stand beside a "
                r"class; write the class as a set, such as [a-z0-9_] for \w"
            )
        flags = re.IGNORECASE
    try:
        return re.compile(pattern, flags)
    except re.error as error:
        raise ValueError(f"{name}: pattern {pattern!r}: {error}") from error


@lru_cache(maxsize=MOST_PATTERNS)
def _searches(pattern: str, ignore_case: bool) -> Callable[..., object]:
    compiled = _pattern("match_substring_regex", pattern, ignore_case)

    def match_substring_regex(strings: str) -> bool:
        return compiled.search(strings) is not None

    return match_substring_regex


@element_wise("Text")
def match_substring_regex(strings: Array, pattern: str, *, ignore_case: bool = False) -> Array:
    """Whether a part of each string matches a regular expression: booleans.

    Args:
        pattern: A regular expression of Python. As in RE2, its character classes cover ASCII only.
        ignore_case: Whether to treat upper and lower case as the same.

    Raises:
        ValueError: If `pattern` is no regular expression.
    """
    return over_rows(_searches(pattern, ignore_case), [strings], boolean, STRINGS)


@lru_cache(maxsize=MOST_PATTERNS)
def _matches_whole(pattern: str, ignore_case: bool) -> Callable[..., object]:
    compiled = _pattern("match_like", f"(?s){pattern}", ignore_case)

    def match_like(strings: str) -> bool:
        return compiled.fullmatch(strings) is not None

    return match_like


@element_wise("Text")
def starts_with(strings: Array, pattern: str | bytes, *, ignore_case: bool = False) -> Array:
    """Whether each string or binary value begins with a pattern: booleans; see `match_substring`."""
    if ignore_case:
        return match_substring_regex(strings, rf"\A{_literal(pattern)}", ignore_case=True)
    return matched(strings, pattern, at_end=False)


@element_wise("Text")
def ends_with(strings: Array, pattern: str | bytes, *, ignore_case: bool = False) -> Array:
    """Whether each string or binary value ends with a pattern: booleans; see `match_substring`."""
    if ignore_case:
        return match_substring_regex(strings, rf"{_literal(pattern)}\Z", ignore_case=True)
    return matched(strings, pattern, at_end=True)


def _literal(pattern: str | bytes) -> str:
    """The regular expression of a text whose case is ignored."""
    if not isinstance(pattern, str):
        raise TypeError(
            f"pattern: expected a str, since bytes have no case to ignore, got {pattern!r}"
        )
    return re.escape(pattern)


_LIKE = re.compile(r"(%?)((?:[^%_\\]|\\[%_\\])*)(%?)")


@element_wise("Text")
def match_like(strings: Array, pattern: str, *, ignore_case: bool = False) -> Array:
    """Whether each string matches a pattern of SQL's LIKE: booleans.

    Args:
        pattern: `%` stands for any text, `_` for any character; a backslash before them escapes them.
        ignore_case: Whether to treat upper and lower case as the same.
    """
    plain = _LIKE.fullmatch(pattern)
    if plain and not ignore_case and isinstance(value_type_of(strings), STRINGS.classes):
        text = re.sub(r"\\(.)", r"\1", plain[2])
        if plain[1] and plain[3]:
            return match_substring(strings, text)
        if plain[1] or plain[3]:
            return matched(strings, text, at_end=bool(plain[1]))
        return operations.equal(strings, text)
    parts = re.findall(r"\\[%_\\]|.", pattern, re.DOTALL)
    special = {"%": ".*", "_": "."}
    regular = "".join(special.get(part) or re.escape(part[-1]) for part in parts)
    return over_rows(_matches_whole(regular, ignore_case), [strings], boolean, STRINGS)


@lru_cache(maxsize=MOST_PATTERNS)
def _counts(pattern: str, ignore_case: bool) -> Callable[..., object]:
    compiled = _pattern("count_substring_regex", pattern, ignore_case)

    def count_substring_regex(strings: str) -> int:
        return sum(1 for _ in compiled.finditer(strings))

    return count_substring_regex


@element_wise("Text")
def count_substring_regex(strings: Array, pattern: str, *, ignore_case: bool = False) -> Array:
    """The number of matches of a regular expression in each string; see `match_substring_regex`."""
    return over_rows(_counts(pattern, ignore_case), [strings], size, STRINGS)


@lru_cache(maxsize=MOST_PATTERNS)
def _finds(pattern: str, ignore_case: bool) -> Callable[..., object]:
    compiled = _pattern("find_substring_regex", pattern, ignore_case)

    def find_substring_regex(strings: str) -> int:
        match = compiled.search(strings)
        return -1 if match is None else len(strings[: match.start()].encode())

    return find_substring_regex


@element_wise("Text")
def find_substring_regex(strings: Array, pattern: str, *, ignore_case: bool = False) -> Array:
    """The byte at which a regular expression first matches in each string, -1 if nowhere.

    See `find_substring` and `match_substring_regex`.
    """
    return over_rows(_finds(pattern, ignore_case), [strings], size, STRINGS)


@lru_cache(maxsize=MOST_PATTERNS)
def _substitutes(pattern: str, replacement: str, count: int) -> Callable[..., object]:
    compiled = _pattern("replace_substring_regex", pattern)

    def replace_substring_regex(strings: str) -> str:
        return compiled.sub(replacement, strings, count)

    return replace_substring_regex


@element_wise("Text")
def replace_substring_regex(
    strings: Array, pattern: str, replacement: str, max_replacements: int | None = None
) -> Array:
    r"""Each string with other text in place of the matches of a regular expression.

    Args:
        pattern: As for `match_substring_regex`.
        replacement: The text; `\1` in it stands for the first group, `\0` for the whole part.
        max_replacements: The most matches to replace; None for all.
    """
    if max_replacements == 0:
        return strings
    # Python's name for the whole match. A backslash behind another one is text.
    template = re.sub(r"(\\\\)|\\0", lambda match: match[1] or r"\g<0>", replacement)
    function = _substitutes(pattern, template, max(max_replacements or 0, 0))
    return over_rows(function, [strings], same, STRINGS)


@lru_cache(maxsize=MOST_PATTERNS)
def _extracts(pattern: str) -> Callable[..., object]:
    compiled = _pattern("extract_regex", pattern)

    def extract_regex(strings: str) -> dict[str, str] | None:
        match = compiled.search(strings)
        return None if match is None else match.groupdict("")

    return extract_regex


@element_wise("Text")
def extract_regex(strings: Array, pattern: str) -> Array:
    """The named groups of the first match of a regular expression: a struct with a field for each.

    The struct is null if nothing matches; a group that took no part in the match is empty. See
    `match_substring_regex`.

    Raises:
        ValueError: If the pattern is no regular expression, or has no named group.
    """
    names = _pattern("extract_regex", pattern).groupindex
    if not names:
        raise ValueError(f"pattern: {pattern!r} has no group with a name, (?P<name>...)")

    def fields(*types: s.DataType) -> s.DataType:
        return s.struct([(name, types[0]) for name in names])

    return over_rows(_extracts(pattern), [strings], fields, STRINGS)


# Splitting and joining


@element_wise("Text")
def split_pattern(
    strings: Array, pattern: str, *, max_splits: int | None = None, reverse: bool = False
) -> Array:
    """The parts of each string that a separator splits it into, as lists.

    Args:
        pattern: The separator.
        max_splits: The most places to split a string at; None for all.
        reverse: Whether to count these from the end.
    """
    function = _split_reverse if reverse else _split
    arguments = [strings, pattern, -1 if max_splits is None else max_splits]
    return over_rows(function, arguments, listed, STRINGS, name="split_pattern")


def _split(strings: str, pattern: str, max_splits: int) -> list[str]:
    return strings.split(pattern, max_splits)


def _split_reverse(strings: str, pattern: str, max_splits: int) -> list[str]:
    return strings.rsplit(pattern, max_splits)


@lru_cache(maxsize=MOST_PATTERNS)
def _splits(pattern: str, count: int) -> Callable[..., object]:
    compiled = _pattern("split_pattern_regex", pattern)

    # Python puts the groups among the parts.
    step = 1 + compiled.groups

    def split_pattern_regex(strings: str) -> list[str]:
        return compiled.split(strings, count)[::step]

    return split_pattern_regex


@element_wise("Text")
def split_pattern_regex(strings: Array, pattern: str, *, max_splits: int | None = None) -> Array:
    """The parts of each string split at the matches of a regular expression, as lists; without its groups.

    See `split_pattern` and `match_substring_regex`.
    """
    if max_splits == 0:
        return over_rows(_whole, [strings], listed, STRINGS, name="split_pattern_regex")
    return over_rows(_splits(pattern, max(max_splits or 0, 0)), [strings], listed, STRINGS)


def _whole(strings: str) -> list[str]:
    return [strings]


_WHITE_SPACE = r"[\s\x1c-\x1f\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+"
"""Python's white space, for expressions over ASCII's classes."""


@element_wise("Text")
def utf8_split_whitespace(strings: Array, *, max_splits: int | None = None) -> Array:
    """The parts of each string split at white space, as lists; empty parts at the ends are kept.

    This is as in pyarrow; Python's `split` drops them.
    """
    return split_pattern_regex(strings, _WHITE_SPACE, max_splits=max_splits)


@element_wise("Text")
def binary_join(lists: Array, separator: Any) -> Array:
    """The strings of each list joined by a separator; null if one of them is null.

    Args:
        lists: Lists of strings.
        separator: A text, or an array with one for each list.
    """
    return over_rows(_joined, [lists, separator], item_of, LISTS, nullable=True, name="binary_join")


def _joined(lists: list[str | None] | None, separator: str | None) -> str | None:
    if lists is None or separator is None:
        return None
    for item in lists:
        if item is None:
            return None
    return separator.join([item for item in lists if item is not None])


NullHandling = Literal["emit_null", "skip", "replace"]


@element_wise("Text")
def binary_join_element_wise(
    *strings: Any,
    null_handling: NullHandling = "emit_null",
    null_replacement: str = "",
) -> Array:
    """The strings of several arrays, joined slot by slot with a separator.

    Args:
        strings: Arrays of one type and length, and texts that are the same for every slot. As in
            pyarrow, the last one is the separator.
        null_handling: "emit_null": the result is null if one string is null. "skip": nulls are left
            out. "replace": nulls become `null_replacement`.

    Raises:
        ValueError: If `null_handling` is another word, or lengths or devices differ.
        TypeError: If there is no array, or it has no strings, or the last argument is no text.
    """
    if null_handling not in ("emit_null", "skip", "replace"):
        raise ValueError(
            f"null_handling: expected 'emit_null', 'skip' or 'replace', got {null_handling!r}"
        )
    if len(strings) < 2 or not isinstance(strings[-1], str):
        raise TypeError("strings: expected arrays, and then the text between them, such as '-'")
    *parts, separator = strings
    if null_handling == "replace":
        parts = [
            coalesce(each, null_replacement) if isinstance(each, Array) else each for each in parts
        ]
    skips = null_handling == "skip"
    joined, *others = parts
    for each in others:
        if not isinstance(joined, Array) and not isinstance(each, Array):
            joined = f"{joined}{separator}{each}"
        else:
            pair = [joined, separator, each]
            joined = over_rows(
                _join_there if skips else _join,
                pair,
                same_text,
                nullable=skips,
                name="binary_join_element_wise",
            )
    if not isinstance(joined, Array):
        raise TypeError("strings: expected an Array; make one with colkern.array(...)")
    return coalesce(joined, "") if skips else joined


def same_text(*types: s.DataType) -> s.DataType:
    """The type of the first column; raises `TypeError` unless it is text."""
    if not isinstance(types[0].storage, STRINGS.classes):
        raise TypeError(f"strings: expected strings, got {types[0]}")
    return types[0]


def _join(left: str, separator: str, right: str) -> str:
    return left + separator + right


def _join_there(left: str | None, separator: str, right: str | None) -> str | None:
    if left is None:
        return right
    if right is None:
        return left
    return left + separator + right


# Predicates


@row_function("Text", boolean, STRINGS)
def utf8_is_alnum(strings: str) -> bool:
    """Whether each string has only letters and digits, and at least one."""
    return strings.isalnum()


@row_function("Text", boolean, STRINGS)
def utf8_is_alpha(strings: str) -> bool:
    """Whether each string has only letters, and at least one."""
    return strings.isalpha()


@row_function("Text", boolean, STRINGS)
def utf8_is_decimal(strings: str) -> bool:
    """Whether each string has only decimal digits, and at least one."""
    return strings.isdecimal()


@row_function("Text", boolean, STRINGS)
def utf8_is_digit(strings: str) -> bool:
    """Whether each string has only digits, as Python's `str.isdigit`, and at least one; '½' is none."""
    return strings.isdigit()


@row_function("Text", boolean, STRINGS)
def utf8_is_lower(strings: str) -> bool:
    """Whether all cased letters of each string are in lower case, and there is at least one."""
    return strings.islower()


@row_function("Text", boolean, STRINGS)
def utf8_is_numeric(strings: str) -> bool:
    """Whether each string has only numeric characters, and at least one."""
    return strings.isnumeric()


@row_function("Text", boolean, STRINGS)
def utf8_is_printable(strings: str) -> bool:
    """Whether all characters of each string are printable."""
    return strings.isprintable()


@row_function("Text", boolean, STRINGS)
def utf8_is_space(strings: str) -> bool:
    """Whether each string has only white space, and at least one character."""
    return strings.isspace()


@row_function("Text", boolean, STRINGS)
def utf8_is_title(strings: str) -> bool:
    """Whether each string is in title case: words, and only words, begin with an upper-case letter."""
    return strings.istitle()


@row_function("Text", boolean, STRINGS)
def utf8_is_upper(strings: str) -> bool:
    """Whether all cased letters of each string are in upper case, and there is at least one."""
    return strings.isupper()
