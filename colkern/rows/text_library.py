"""Texts of `json`, `csv` and `textwrap`, as plain Python that is compiled with the user's."""

from __future__ import annotations

import json
import math
import re
import string
from collections.abc import Callable, Iterable, Iterator
from functools import partial
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


JSON, PYTHON = '"', "\"'"
"""The quotes of texts in documents, which tell the language of a document."""

Part = Callable[[str, str], tuple[Any, str]]
"""Returns the value at the beginning of a document, and what follows it and the spaces behind."""


def json_object(rest: str, quotes: str, part: Part) -> tuple[dict[str, Any], str]:
    """Returns the object at the beginning of a document, and what follows it."""
    entries: dict[str, Any] = {}
    rest = rest[1:].lstrip(_JSON_SPACES)
    is_open = not rest.startswith("}")
    while is_open:
        key, rest = json_word(rest, quotes)
        if not rest.startswith(":"):
            raise Uncovered
        entries[key], rest = part(rest[1:].lstrip(_JSON_SPACES), quotes)
        is_open = rest.startswith(",")
        if is_open:
            rest = rest[1:].lstrip(_JSON_SPACES)
    if not rest.startswith("}"):
        raise Uncovered
    return entries, rest[1:].lstrip(_JSON_SPACES)


def json_list(rest: str, quotes: str, part: Part) -> tuple[list[Any], str]:
    """Returns the list at the beginning of a document, and what follows it."""
    entries: list[Any] = []
    rest = rest[1:].lstrip(_JSON_SPACES)
    is_open = not rest.startswith("]")
    while is_open:
        value, rest = part(rest, quotes)
        entries.append(value)
        is_open = rest.startswith(",")
        if is_open:
            rest = rest[1:].lstrip(_JSON_SPACES)
    if not rest.startswith("]"):
        raise Uncovered
    return entries, rest[1:].lstrip(_JSON_SPACES)


def json_part(rest: str, quotes: str, part: Part) -> tuple[Any, str]:
    """Returns the value at the beginning of a document, and what follows it."""
    value: Any = None
    if rest.startswith("{"):
        value, rest = json_object(rest, quotes, part)
    elif rest.startswith("["):
        value, rest = json_list(rest, quotes, part)
    else:
        value, rest = json_scalar(rest, quotes)
    return value, rest


def json_scalar(rest: str, quotes: str) -> tuple[Any, str]:
    """Returns the value at the beginning, which is no list or object, and what follows it."""
    value: Any = None
    if rest.startswith(('"', "'")):
        value, rest = json_word(rest, quotes)
    elif rest.startswith("null" if quotes == JSON else "None"):
        rest = rest[4:]
    elif rest.startswith("true" if quotes == JSON else "True"):
        value = True
        rest = rest[4:]
    elif rest.startswith("false" if quotes == JSON else "False"):
        value = False
        rest = rest[5:]
    else:
        number = _JSON_NUMBER.match(rest)
        if number is None:
            raise Uncovered
        word = number[0]
        rest = rest[len(word) :]
        if "." in word or "e" in word or "E" in word:
            value = float(word)
        else:
            value = int(word)
    return value, rest.lstrip(_JSON_SPACES)


json_inner: Part = partial(json_part, part=json_scalar)
"""A value, whose parts are no lists or objects."""

json_value: Part = partial(json_part, part=json_inner)


def json_word(rest: str, quotes: str) -> tuple[str, str]:
    """Returns the text in quotes at the beginning of a document, and what follows it."""
    quote = rest[:1]
    if quote == "" or quote not in quotes:
        raise Uncovered
    end = rest.find(quote, 1)
    word = rest[1:end]
    if "\\" in word and quotes == JSON:
        return json_escaped(rest)
    is_plain = word.isascii() and word.isprintable()
    if end < 0 or "\\" in word or not (is_plain or min(word) >= " "):
        raise Uncovered
    return word, rest[end + 1 :].lstrip(_JSON_SPACES)


def json_escaped(rest: str) -> tuple[str, str]:
    """Returns the text in quotes at the beginning of JSON, and what follows it."""
    parts: list[str] = []
    place = 1
    character = rest[1:2]
    while character != '"':
        place += 1
        if character == "\\":
            character = _JSON_ESCAPES.get(rest[place : place + 1], "")
            place += 1
            if character == "u":
                code = json_unit(rest[place : place + 4])
                place += 4
                if 0xD800 <= code < 0xDC00 and rest.startswith("\\u", place):
                    # Characters beyond 16 bits have two units.
                    low = json_unit(rest[place + 2 : place + 6])
                    place += 6
                    if not 0xDC00 <= low < 0xE000:
                        raise Uncovered
                    code = 0x10000 + ((code - 0xD800) << 10) + low - 0xDC00
                if 0xD800 <= code < 0xE000:
                    raise Uncovered
                character = chr(code)
            elif character == "":
                raise Uncovered
        elif character < " ":
            # An empty one, behind the end of the document, too.
            raise Uncovered
        parts.append(character)
        character = rest[place : place + 1]
    return "".join(parts), rest[place + 1 :].lstrip(_JSON_SPACES)


_JSON_ESCAPES = dict(zip('"\\/bfnrtu', '"\\/\b\f\n\r\tu', strict=True))


def json_unit(digits: str) -> int:
    """Returns the number that four digits stand for."""
    if len(digits) != 4 or any(digit not in string.hexdigits for digit in digits):
        raise Uncovered
    return int(digits, 16)


def loads(s: str, quotes: str = JSON, part: Part = json_value, first: str = "{") -> Any:
    """`json.loads` of an object, or with "[" for `first` of a list: three levels of lists and objects.

    With `json_scalar` for `part`, no value of the object is a list or an object.
    """
    if not isinstance(s, str):
        raise Uncovered
    # Spaces in front of a line of Python mean something.
    text = s.strip(_JSON_SPACES) if quotes == JSON else s.lstrip(" \t").rstrip(_JSON_SPACES)
    if quotes == JSON and _JSON_BEGIN.match(text) is None:
        raise json.JSONDecodeError("Expecting value", s, 0)
    if not text.startswith(first):
        raise Uncovered
    document: Any = None
    if first == "[":
        document, rest = json_list(text, quotes, part)
    else:
        document, rest = json_object(text, quotes, part)
    if rest != "":
        raise Uncovered
    return document


_JSON_SPACES = " \t\n\r"
_JSON_BEGIN = re.compile(r'[-0-9{\["tfNI]|null')
_JSON_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


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
