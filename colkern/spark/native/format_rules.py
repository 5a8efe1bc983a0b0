"""Rules for `format` of integers and text by a constant specification, as in f-strings and `%`.

Floats have no rules: their exact digits take Spark several times as long as a worker over Arrow.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql import functions as f

from colkern.spark.native.rule import Operand, Rule, Rules

_SPECIFICATION = re.compile(
    r"((?P<fill>.)?(?P<align>[<>^=]))?(?P<sign>[-+ ])?(?P<zero>0)?(?P<width>\d*)"
    r"(?P<group>[,_])?(\.(?P<places>\d+))?(?P<type>[a-zA-Z%])?",
    re.DOTALL,
)


@dataclass(frozen=True)
class _Specification:
    """The parts of a specification with a native form:
    [[fill]align][sign][0][width][grouping][.places][type]."""

    fill: str
    align: str
    sign: str
    width: int
    group: str
    places: int | None
    type: str


def _read(text: object, types: str, align: str) -> _Specification | None:
    """Reads a specification; returns None if it has no native form for values of these types."""
    match = _SPECIFICATION.fullmatch(text) if isinstance(text, str) else None
    if match is None or (match["type"] or "") not in ("", *types):
        return None
    if match["zero"] and (match["align"] or match["group"] or align == "<"):
        # Python groups these zeros too, or has another rule for them.
        return None
    fill, alignment = (
        ("0", "=") if match["zero"] else (match["fill"] or " ", match["align"] or align)
    )
    places = int(match["places"]) if match["places"] else None
    width = int(match["width"] or 0)
    sign = match["sign"] or "-"
    return _Specification(
        fill, alignment, sign, width, match["group"] or "", places, match["type"] or ""
    )


def _of_text(value: Operand, text: Operand) -> Column | None:
    form = _read(text.constant, "s", "<")
    if form is None or form.align == "=" or form.sign != "-" or form.group:
        return None
    column = value.column
    if form.places is not None:
        column = f.substring(column, 1, form.places)
    return _padded(f.lit(""), column, form)


def _of_integer(value: Operand, text: Operand) -> Column | None:
    form = _read(text.constant, "d", ">")
    if form is None or form.places is not None:
        return None
    digits = f.replace(value.column.cast("string"), f.lit("-"), f.lit(""))
    sign = f.when(value.column < 0, "-").otherwise("" if form.sign == "-" else form.sign)
    return _padded(sign, _grouped(digits, form), form)


def _grouped(digits: Column, form: _Specification) -> Column:
    """Returns digits in groups of three, with the separator of the specification, if it has one."""
    if not form.group:
        return digits
    return f.regexp_replace(digits, r"(?<=\d)(?=(\d{3})+$)", form.group)


def _padded(sign: Column, body: Column, form: _Specification) -> Column:
    """Returns a text that is filled up to the width of the specification."""
    if form.align == "=":
        size = f.lit(form.width) - f.char_length(sign)
        return f.concat(sign, f.lpad(body, f.greatest(size, f.char_length(body)), f.lit(form.fill)))
    text = f.concat(sign, body)
    if not form.width:
        return text
    size = f.char_length(text)
    missing = f.greatest(f.lit(form.width) - size, f.lit(0))
    before = _BEFORE[form.align](missing)
    fill = f.lit(form.fill)
    return f.rpad(f.lpad(text, size + before, fill), size + missing, fill)


_BEFORE: dict[str, Callable[[Column], Column]] = {
    "<": lambda missing: f.lit(0),
    ">": lambda missing: missing,
    "^": lambda missing: f.shiftright(missing, 1),
}
"""The number of fill characters in front, from the number of all."""

RULES: Rules = {
    ("format", "(str, const) -> str"): Rule(_of_text),
    ("format", "(int, const) -> str"): Rule(_of_integer),
}
"""The rules for formats."""
