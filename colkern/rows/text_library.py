"""Texts of `json`, `csv` and `textwrap`, as plain Python that is compiled with the user's."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any


class Uncovered(Exception):
    """Raised to leave the row to Python."""


def json_float(number: float) -> str:
    """`json.dumps` of a float."""
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "Infinity" if number > 0 else "-Infinity"
    return repr(number)


def read_csv(csvfile: Iterable[str], delimiter: str = ",") -> Iterator[list[str]]:
    """`csv.reader` for lines each of which is a record."""
    for line in csvfile:
        if line.endswith("\n"):
            line = line[:-2] if line.endswith("\r\n") else line[:-1]
        if (
            len(delimiter) != 1
            or "\n" in line
            or "\r" in line
            or "\0" in line
            or len(line) > 100000
        ):
            raise Uncovered
        yield fields_of(line, delimiter)


def string_lines(initial_value: str = "", newline: str = "\n") -> Iterator[str]:
    """`io.StringIO`, read line by line."""
    if newline != "\n" and (newline != "" or "\r" in initial_value):
        raise Uncovered
    start = 0
    while start < len(initial_value):
        end = initial_value.find("\n", start) + 1
        if end == 0:
            end = len(initial_value)
        yield initial_value[start:end]
        start = end


def fields_of(line: str, delimiter: str) -> list[str]:
    """Returns the fields of a line, some of which may be quoted."""
    if '"' not in line:
        return line.split(delimiter) if line else []
    fields = []
    place = 0
    while place <= len(line):
        field = ""
        if place < len(line) and line[place] == '"':
            is_open = True
            place += 1
            while is_open:
                end = line.find('"', place)
                if end < 0:
                    raise Uncovered
                field += line[place:end]
                place = end + 1
                is_open = place < len(line) and line[place] == '"'
                if is_open:
                    field += '"'
                    place += 1
        end = line.find(delimiter, place)
        if end < 0:
            end = len(line)
        fields.append(field + line[place:end])
        place = end + 1
    return fields


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
