"""Values as text in row functions: f-strings, `format`, `%`, `str`."""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Sequence

from colkern.rows import kinds as k
from colkern.rows.calls import call
from colkern.rows.emitter import Emitter
from colkern.rows.expressions import constant, evaluated, expression
from colkern.rows.values import Value, inner


def text_of(emitter: Emitter, value: Value) -> Value:
    """`str(value)`."""
    if value.is_constant:
        return evaluated(emitter, str, value.constant)
    if isinstance(value.kind, k.Optional):
        return emitter.chosen(
            value.none, lambda: constant("None"), lambda: text_of(emitter, inner(value))
        )
    return value if value.kind == k.TEXT else call(emitter, "str", [value])


def represented(emitter: Emitter, value: Value) -> Value:
    """`repr(value)`."""
    if value.is_constant:
        return constant(repr(value.constant))
    return call(emitter, "repr", [emitter.plain(value)])


def with_specification(emitter: Emitter, value: Value, specification: str) -> Value:
    """`format(value, specification)`."""
    if not specification:
        return text_of(emitter, value)
    if value.is_constant:
        return evaluated(emitter, format, value.constant, specification)
    return call(emitter, "format", [emitter.plain(value), constant(specification)])


def joined(emitter: Emitter, node: ast.JoinedStr) -> Value:
    """An f-string."""
    pieces: list[Value] = []
    for part in node.values:
        if isinstance(part, ast.Constant):
            pieces.append(constant(part.value))
        elif isinstance(part, ast.FormattedValue):
            pieces.append(_field(emitter, part))
    return concatenated(emitter, pieces)


def _field(emitter: Emitter, part: ast.FormattedValue) -> Value:
    value = expression(emitter, part.value)
    if part.conversion == ord("r"):
        value = represented(emitter, value)
    elif part.conversion not in (-1, ord("s")):
        emitter.refuse("!a in an f-string has no compiled form")
    specification = constant("")
    if part.format_spec is not None:
        specification = expression(emitter, part.format_spec)
    if not specification.is_constant:
        emitter.refuse("a format that depends on the row has no compiled form")
    return with_specification(emitter, value, specification.constant)


def concatenated(emitter: Emitter, pieces: Sequence[Value]) -> Value:
    """Texts, one after the other."""
    merged: list[Value] = []
    for piece in pieces:
        if merged and piece.is_constant and merged[-1].is_constant:
            merged[-1] = constant(merged[-1].constant + piece.constant)
        elif not piece.is_constant or piece.constant:
            merged.append(piece)
    if not merged:
        return constant("")
    result = merged[0]
    for piece in merged[1:]:
        result = call(emitter, "+", [result, piece])
    return result


def formatted(
    emitter: Emitter, text: str, arguments: Sequence[Value], named: dict[str, Value]
) -> Value:
    """`text.format(…)`."""
    pieces: list[Value] = []
    position = 0
    try:
        fields = list(string.Formatter().parse(text))
    except ValueError as error:
        emitter.refuse(str(error))
    for before, field, specification, conversion in fields:
        pieces.append(constant(before))
        if field is None:
            continue
        if conversion not in (None, "r", "s") or "{" in (specification or ""):
            emitter.refuse(f"the format {text!r} has no compiled form")
        if field == "":
            field, position = str(position), position + 1
        if field.isdigit() and int(field) < len(arguments):
            value = arguments[int(field)]
        elif field in named:
            value = named[field]
        else:
            emitter.refuse(f"the format {text!r} has no compiled form")
        if conversion == "r":
            value = represented(emitter, value)
        pieces.append(with_specification(emitter, value, specification or ""))
    return concatenated(emitter, pieces)


_PERCENT = re.compile(r"%(?:\((\w+)\))?([-+ #0]*)(\d*)(\.\d+)?([sdifFeEgGxXor%])")


def percent(emitter: Emitter, text: str, right: Value) -> Value:
    """`text % right`."""
    values = list(right.items) if isinstance(right.kind, k.Tuple) else [right]
    if k.is_row(right.kind):
        values = []
    if isinstance(right.constant, tuple):
        values = [constant(item) for item in right.constant]
    pieces: list[Value] = []
    at = 0
    for match in _PERCENT.finditer(text):
        pieces.append(constant(text[at : match.start()]))
        at = match.end()
        if match[5] == "%":
            pieces.append(constant("%"))
            continue
        if match[1] and isinstance(right.kind, k.Tuple) and match[1] in right.kind.names:
            item = right.items[right.kind.names.index(match[1])]
            pieces.append(_percent_field(emitter, match, item))
            continue
        if not values or match[1]:
            emitter.refuse(f"the format {text!r} has no compiled form")
        pieces.append(_percent_field(emitter, match, values.pop(0)))
    rest = text[at:]
    if "%" in rest or values:
        emitter.refuse(f"the format {text!r} has no compiled form")
    pieces.append(constant(rest))
    return concatenated(emitter, pieces)


def _percent_field(emitter: Emitter, match: re.Match[str], value: Value) -> Value:
    """One field of `%`, as a specification of `format`."""
    flags, width, precision, letter = match[2], match[3], match[4] or "", match[5]
    if letter in "sr":
        if letter == "r" or value.kind != k.TEXT:
            value = text_of(emitter, value)
        align = "<" if "-" in flags else ">"
        specification = f"{align}{width}{precision}" if width or precision else ""
        return with_specification(emitter, value, specification)
    if "#" in flags or (precision and letter in "dixXo"):
        emitter.refuse(f"the format {match[0]!r} has no compiled form")
    value = emitter.plain(value)
    if letter in "di":
        if value.kind.name == "float":
            value = call(emitter, "int", [value])
        letter = "d"
    elif value.kind.name in ("int", "bool") and letter in "fFeEgG":
        value = Value(k.FLOAT, f"float({emitter.numbers(value).code})")
    align = "<" if "-" in flags else ""
    sign = "+" if "+" in flags else " " if " " in flags else ""
    zero = "0" if "0" in flags and not align else ""
    return with_specification(emitter, value, f"{align}{sign}{zero}{width}{precision}{letter}")
