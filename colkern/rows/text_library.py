"""Texts of `json` and `textwrap`, as plain Python that is compiled with the user's (as `library` is)."""

from __future__ import annotations

import math
from typing import Any


class Uncovered(Exception):
    """Raised to leave the row to Python."""


def json_text(text: str, is_ascii: bool) -> str:
    """`json.dumps` of a text, with all beyond ASCII escaped or none of it."""
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return '"' + text + '"'
    parts = []
    for character in text:
        code = ord(character)
        if character in '"\\':
            parts.append("\\" + character)
        elif character in "\b\t\n\f\r":
            parts.append("\\" + "btn fr"[code - 8])
        elif code < 32 or (is_ascii and 126 < code < 0x10000):
            parts.append(f"\\u{code:04x}")
        elif is_ascii and code > 126:
            rest = code - 0x10000
            parts.append(f"\\u{0xD800 + (rest >> 10):04x}\\u{0xDC00 + (rest & 0x3FF):04x}")
        else:
            parts.append(character)
    return '"' + "".join(parts) + '"'


def json_float(number: float) -> str:
    """`json.dumps` of a float."""
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "Infinity" if number > 0 else "-Infinity"
    return repr(number)


def wrap(text: str, width: int = 70) -> list[str]:
    """`textwrap.wrap` of ASCII without hyphens, at which a line may end too."""
    for space in "\t\n\v\f\r":
        if space in text:
            text = text.expandtabs().replace(space, " ")
    # Other control characters may be spaces too, which a line loses at its ends.
    if not text.isascii() or not text.isprintable() or "-" in text or width < 1:
        raise Uncovered
    lines: list[str] = []
    place = 0
    while place < len(text):
        if lines:
            place += len(text) - place - len(text[place:].lstrip(" "))
        start = place
        end = end_of_chunk(text, place)
        while end > place and end - start <= width:
            place = end
            end = end_of_chunk(text, place)
        line = text[start:place]
        if end - place > width:
            place = start + width
            if len(line) < width:
                line = text[start:place]
            else:
                lines.append(line)
                continue
        line = line.rstrip(" ")
        if line:
            lines.append(line)
    return lines


def end_of_chunk(text: str, place: int) -> int:
    """Where the word, or the spaces, at a place of a text end."""
    end = place
    while end < len(text) and (text[end] == " ") == (text[place] == " "):
        end += 1
    return end


def fill(text: str, width: int = 70) -> str:
    """`textwrap.fill`."""
    return "\n".join(wrap(text, width))


def shorten(text: str, width: int, placeholder: str = " [...]") -> str:
    """`textwrap.shorten` of ASCII, without hyphens or words of more than a line where it is cut."""
    if not text.isascii() or len(placeholder.lstrip()) > width or width < 1:
        raise Uncovered
    whole = " ".join(text.split())
    if len(whole) <= width:
        return whole
    word = whole.rfind(" ", 0, width + 1) + 1
    end = whole.find(" ", word)
    if "-" in whole or (len(whole) if end < 0 else end) - word > width:
        raise Uncovered
    last = whole.rfind(" ", 0, max(width - len(placeholder) + 1, 0))
    return whole[:last] + placeholder if last > 0 else placeholder.lstrip()


def in_order_of_keys(items: dict[Any, Any]) -> dict[Any, Any]:
    """A dictionary with the entries of another, the keys in their order."""
    return {key: items[key] for key in sorted(items)}


def with_text_keys(items: dict[int, Any]) -> dict[str, Any]:
    """A dictionary with the entries of another, and the keys as JSON has them."""
    return {str(key): value for key, value in items.items()}
