"""Upper and lower case as pyarrow has it: one character for each, wherever it is.

Row functions may call these; the table of methods has bodies for them.
"""

from __future__ import annotations

from collections.abc import Callable

_SINGLE = {"ß": "ẞ", "İ": "i"}


def by_character(turned: Callable[[str], str], text: str) -> str:
    """Returns a text in upper or lower case; a character without one such character is in title case."""
    # If that is several characters, too, it stays, as "ﬁ" does.
    return "".join(
        next(
            character
            for character in (turned(each), _SINGLE.get(each, ""), each.title(), each)
            if len(character) == 1
        )
        for each in text
    )


def upper(text: str) -> str:
    """Returns a text in upper case."""
    return by_character(str.upper, text)


def lower(text: str) -> str:
    """Returns a text in lower case."""
    return by_character(str.lower, text)


def swapcase(text: str) -> str:
    """Returns a text with the case of its letters swapped."""
    return by_character(str.swapcase, text)


def capitalize(text: str) -> str:
    """Returns a text with its first character in upper case, the others in lower case."""
    return upper(text[:1]) + lower(text[1:])
