"""Rows for numbers and text as formatted text: `str`, `repr`, `format` with a constant specification.

A specification is parsed when a function is compiled; the generated body has just the steps that it needs.
Python itself rejects wrong specifications. Rare ones (`#` for floats, upper-case exponents, fill characters
beyond ASCII) leave the row to Python.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

from numpy import float64, uint64

from colkern.generated import function_of_text
from colkern.kernels import number_formatting as texts
from colkern.kernels import text_parts
from colkern.kernels.kernel import helper
from colkern.kernels.row_values import LEFT, VALUE_ERROR
from colkern.rows.methods import Body, Bound, Method

_SPECIFICATION = re.compile(
    r"(?:(?P<fill>.)?(?P<align>[<>=^]))?(?P<sign>[-+ ])?(?P<z>z)?(?P<alt>#)?(?P<zero>0)?(?P<width>\d+)?"
    r"(?P<grouping>[_,])?(?:\.(?P<precision>\d+))?(?P<type>[a-zA-Z%])?",
    re.DOTALL | re.ASCII,
)
_BASES = {"b": (1, 87), "o": (3, 87), "x": (4, 87), "X": (4, 55)}
"""The bases of integers: the bits of a digit, and the number that is added to digits above 9."""

_NAMESPACE: dict[str, object] = {
    **{name: value for name, value in vars(texts).items() if not name.startswith("__")},
    "float64": float64,
    "uint64": uint64,
    "slice_to": text_parts.slice_to,
}
TYPES: dict[str, type] = {"int": int, "unsigned": uint64, "float": float, "bool": bool, "str": str}
"""The types whose formats are those of a kind."""

_HINTS = {int: "int64", uint64: "int64", float: "float64", bool: "bool", str: "Text"}


@cache
def _body_of_steps(kind: type, steps: tuple[str, ...]) -> Callable[..., Any]:
    """Returns the body that computes `text` in steps, each an expression for a text and a code."""
    sizes = "".join(f", {name}: int64" for name in LATER if any(name in step for step in steps))
    lines = [f"def formatted(arena: Arena, value: {_HINTS[kind]}{sizes}) -> tuple[Text, Code]:"]
    for k, step in enumerate(steps):
        if k:
            lines += ["    if code != DONE:", "        return text, code"]
        lines.append(f"    text, code = {step}")
    lines.append("    return text, code")
    source = "\n".join(lines) + "\n"
    namespace = {"__name__": __name__, **_NAMESPACE}
    return helper(function_of_text("formatted", source, namespace, "format"))


def _failing(kind: type, code: int) -> Callable[..., Any]:
    return _body_of_steps(kind, (f"Text(int64(0), int64(0), True), {code}",))


def body_of_format(kind: type, specification: str) -> Callable[..., Any]:
    """Returns the body of `format(value, specification)`.

    Args:
        kind: One of `TYPES`.
        specification: The text after the colon in an f-string.
    """
    try:
        format(kind(), specification)
    except (ValueError, OverflowError):
        # A specification may be wrong for this value and right for another, as for the character of a
        # number.
        return _failing(kind, VALUE_ERROR)
    if kind is bool and not specification:
        return _body_of_steps(bool, ("str_of_bool(arena, value)",))
    match = _SPECIFICATION.fullmatch(specification)
    steps = match and _steps(kind, match.groupdict())
    return _body_of_steps(kind, steps) if steps else _failing(kind, LEFT)


LATER = {"width_": "9173", "precision_": "14"}
"""Numbers of a specification that depend on the row: the parameters of its body, and their placeholders."""


def body_of_sizes(kind: type, specification: str) -> tuple[Callable[..., Any], list[str]] | None:
    """Returns the body of a format with placeholders of `LATER`, and its parameters, if there is one."""
    try:
        format(kind(), specification)
    except (ValueError, OverflowError):
        return None
    match = _SPECIFICATION.fullmatch(specification)
    steps = match and _steps(kind, match.groupdict())
    if not steps:
        return None
    for name, number in LATER.items():
        steps = tuple(step.replace(f"int64({number})", name) for step in steps)
    used = [name for name in LATER if any(name in step for step in steps)]
    names = [name for name, number in LATER.items() if number in specification]
    return (_body_of_steps(kind, steps), used) if used == names else None


def _steps(kind: type, parts: dict[str, str | None]) -> tuple[str, ...] | None:
    """Returns the steps for the parts of a specification that Python accepts; None to leave the row."""
    if kind is str:
        first = ("value, DONE",)
        if parts["precision"]:
            first = (f"slice_to(value, int64({parts['precision']})), DONE",)
        return _with_padding(first, parts, "<", -1)
    type_ = parts["type"] or ""
    is_float = kind is float or (type_ != "" and type_ in "efgEFG%")
    lead = 2 if parts["alt"] and not is_float and type_ in _BASES else 0
    number = (
        _float_steps(kind, type_, parts) if is_float else _integer_steps(kind, type_, lead, parts)
    )
    if number is None or parts["z"]:
        return None
    if parts["sign"] in ("+", " "):
        number += (f"with_plus(arena, text, int64({ord(parts['sign'])}))",)
    if grouping := parts["grouping"]:
        form = f"arena, text, int64({lead}), int64({4 if type_ in _BASES else 3})"
        if _is_filled_with_zeros(parts):
            number += (f"with_zeros({form}, int64({parts['width']}))",)
        number += (f"with_separators({form}, int64({ord(grouping)}))",)
    return _with_padding(number, parts, ">", lead)


def _integer_steps(
    kind: type, type_: str, lead: int, parts: dict[str, str | None]
) -> tuple[str, ...] | None:
    is_plain = parts["sign"] in (None, "-") and not parts["grouping"]
    width = int(parts["width"] or 1) if is_plain and _is_filled_with_zeros(parts) else 1
    least = f"int64({width if width <= 8 else 1})"
    if type_ in ("", "d"):
        body = "unsigned_of_width" if kind is uint64 else "integer_of_width"
        return (f"{body}(arena, int64(value), {least})",)
    if type_ not in _BASES:
        return None
    bits, letters = _BASES[type_]
    form = f"int64({bits}), int64({letters}), int64({ord(type_) if lead else 0})"
    is_signed = kind is not uint64
    return (f"text_of_bits(arena, int64(value), {is_signed}, {form}, {least})",)


def _float_steps(kind: type, type_: str, parts: dict[str, str | None]) -> tuple[str, ...] | None:
    value = "value" if kind is float else "float64(value)"
    if kind is uint64:
        value = "float64(uint64(value))"
    digits = parts["precision"]
    precision = 6 if digits is None else int(digits)
    if parts["alt"] or precision > 20:
        return None
    if type_ == "" and digits is None:
        return (f"str_of_float(arena, {value})",)
    if type_ == "f":
        return (f"fixed_of_float(arena, {value}, int64({precision}))",)
    if type_ == "%":
        number = f"fixed_of_float(arena, {value} * float64(100.0), int64({precision}))"
        return (number, "with_suffix(arena, text, int64(37))")
    if type_ == "e" and precision <= 16:
        return (f"scientific_of_float(arena, {value}, int64({precision}))",)
    if type_ in ("", "g") and precision <= 17:
        dot = int(type_ == "")
        return (f"general_of_float(arena, {value}, int64({max(precision, 1)}), int64({dot}))",)
    return None


def _is_filled_with_zeros(parts: dict[str, str | None]) -> bool:
    """Whether zeros are inserted between the sign and the digits."""
    fill = parts["fill"] or ("0" if parts["zero"] else " ")
    align = parts["align"] or ("=" if parts["zero"] else ">")
    return fill == "0" and align == "=" and bool(parts["width"])


def _with_padding(
    steps: tuple[str, ...], parts: dict[str, str | None], default: str, lead: int
) -> tuple[str, ...] | None:
    fill, align = parts["fill"], parts["align"]
    if parts["zero"]:
        fill = fill or "0"
        align = align or ("=" if default == ">" else default)
    fill, align = fill or " ", align or default
    width = int(parts["width"] or 0)
    if width <= 1:
        return steps
    if parts["grouping"] and _is_filled_with_zeros(parts):
        return steps
    if not fill.isascii():
        return None
    share = {"<": 0, "^": 1, ">": 2, "=": 2}[align]
    behind = lead if align == "=" else -1
    return (
        *steps,
        f"padded(arena, text, int64({width}), int64({share}), int64({behind}), int64({ord(fill)}))",
    )


_STR_OF_INTEGER = Bound(texts.integer_of_width, width=1)


def _in_digits(letter: str, is_signed: bool) -> Body:
    bits, letters = _BASES[letter]
    return Bound(
        texts.text_of_bits,
        is_signed=str(is_signed),
        bits=bits,
        letters=letters,
        prefix=ord(letter),
        width=1,
    )


METHODS = [
    *(
        Method(name, f"({kind}) -> str", body)
        for name in ("str", "repr", "format")
        for kind, body in (
            ("bool", texts.str_of_bool),
            ("int", _STR_OF_INTEGER),
            ("unsigned", Bound(texts.unsigned_of_width, width=1)),
            ("float", texts.str_of_float),
        )
    ),
    *(
        Method(name, f"({kind}) -> str", _in_digits(letter, kind == "int"))
        for name, letter in (("hex", "x"), ("oct", "o"), ("bin", "b"))
        for kind in ("int", "unsigned")
    ),
    Method("format", "(str) -> str", "{0}"),
    *(
        Method(
            "format",
            f"({name}, const) -> str",
            lambda specification, kind=kind: body_of_format(kind, specification),
            maker=True,
        )
        for name, kind in TYPES.items()
    ),
]
