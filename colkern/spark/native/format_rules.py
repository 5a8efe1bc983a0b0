"""`format` of numbers and text by a constant specification, as f-strings and `%` have it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from pyspark.sql import Column
from pyspark.sql import functions as f

from colkern.spark.native.number_rules import MOST_PLACES, units
from colkern.spark.native.rule import Operand, Rule, Rules

_SPECIFICATION = re.compile(
    r"((?P<fill>.)?(?P<align>[<>^=]))?(?P<sign>[-+ ])?(?P<zero>0)?(?P<width>\d*)"
    r"(?P<group>[,_])?(\.(?P<places>\d+))?(?P<type>[a-zA-Z%])?",
    re.DOTALL,
)


@dataclass(frozen=True)
class _Specification:
    """A specification that has a native form: [[fill]align][sign][0][width][grouping][.places][type]."""

    fill: str
    align: str
    sign: str
    width: int
    group: str
    places: int | None
    type: str


def _read(text: object, types: str, align: str) -> _Specification | None:
    """A specification; None if it has no native form for values of these types."""
    found = _SPECIFICATION.fullmatch(text) if isinstance(text, str) else None
    if found is None or (found["type"] or "") not in ("", *types):
        return None
    if found["zero"] and (found["align"] or found["group"] or align == "<"):
        # Python groups these zeros too, or has another rule for them.
        return None
    fill, given = ("0", "=") if found["zero"] else (found["fill"] or " ", found["align"] or align)
    places = int(found["places"]) if found["places"] else None
    width = int(found["width"] or 0)
    sign = found["sign"] or "-"
    return _Specification(
        fill, given, sign, width, found["group"] or "", places, found["type"] or ""
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
    return _padded(_signed(value.column < 0, form), _grouped(digits, form), form)


def _of_float(value: Operand, text: Operand) -> Column | None:
    form = _read(text.constant, "fF%", ">")
    if form is None or not form.type:
        return None
    places = 6 if form.places is None else form.places
    if places > MOST_PLACES:
        return None
    number = value.column * 100.0 if form.type == "%" else value.column
    digits = f.call_function("div", *_divided(number, places)).cast("string")
    digits = f.when(f.abs(number) < float(1 << 63), digits).otherwise(_large_digits(number))
    digits = _grouped(f.replace(digits, f.lit("-"), f.lit("")), form)
    if places:
        rest = f.try_mod(*_divided(number, places)).cast("string")
        rest = f.coalesce(f.replace(rest, f.lit("-"), f.lit("")), f.lit("0"))
        digits = f.concat(digits, f.lit("."), f.lpad(rest, places, "0"))
    shown = str.upper if form.type == "F" else str.lower
    body = (
        f.when(f.isnan(number), shown("nan"))
        .when(f.abs(number) == math.inf, shown("inf"))
        .otherwise(digits)
    )
    if form.type == "%":
        body = f.concat(body, f.lit("%"))
    # Of numbers that are rounded to zero, and of -0.0, Python shows the sign.
    is_negative = number.cast("string").startswith("-")
    return _padded(_signed(is_negative, form), body, form)


def _divided(number: Column, places: int) -> tuple[Column, Column]:
    return units(number, places), f.lit(10**places).cast("decimal(9,0)")


_BITS = 30
_WORDS = 35
"""So many times so many bits are those of the integer part of the largest float."""

_LIMB, _DIGITS, _LIMBS = "decimal(38,0)", 27, 12
"""A limb, times 2**30, is a decimal of Spark's; so many times so many digits are those of the largest."""


def _large_digits(number: Column) -> Column:
    """The digits of a float of any size that is an integer.

    Its bits go one word after the other into a number of limbs, which is multiplied for each.
    """
    base = f.lit(Decimal(10**_DIGITS)).cast(_LIMB)

    def next_word(state: Column, _: Column) -> Column:
        word = f.floor(state["rest"])
        rest = (state["rest"] - word) * float(1 << _BITS)

        def next_limb(sum_: Column, limb: Column) -> Column:
            value = (limb * f.lit(1 << _BITS) + sum_["carry"]).cast(_LIMB)
            limbs = f.concat(sum_["limbs"], f.array((value % base).cast(_LIMB)))
            carry = f.call_function("div", value, base).cast(_LIMB)
            return f.struct(carry.alias("carry"), limbs.alias("limbs"))

        none = f.array().cast(f"array<{_LIMB}>")
        start = f.struct(word.cast(_LIMB).alias("carry"), none.alias("limbs"))
        limbs = f.aggregate(state["limbs"], start, next_limb, lambda sum_: sum_["limbs"])
        return f.struct(rest.alias("rest"), limbs.alias("limbs"))

    first = f.abs(number) * 2.0 ** -(_BITS * (_WORDS - 1))
    zeros = f.array_repeat(f.lit(0).cast(_LIMB), _LIMBS)
    limbs = f.aggregate(
        f.sequence(f.lit(1), f.lit(_WORDS)),
        f.struct(first.alias("rest"), zeros.alias("limbs")),
        next_word,
        lambda state: f.reverse(state["limbs"]),
    )
    texts = f.transform(limbs, lambda limb: f.lpad(limb.cast("string"), _DIGITS, "0"))
    return f.ltrim(f.array_join(texts, ""), f.lit("0"))


def _grouped(digits: Column, form: _Specification) -> Column:
    """Digits with a character between each three of them, if the specification has one."""
    if not form.group:
        return digits
    return f.regexp_replace(digits, r"(?<=\d)(?=(\d{3})+$)", form.group)


def _signed(is_negative: Column, form: _Specification) -> Column:
    return f.when(is_negative, "-").otherwise("" if form.sign == "-" else form.sign)


def _padded(sign: Column, body: Column, form: _Specification) -> Column:
    """A text of at least a width."""
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
"""How much of what is missing stands in front."""

RULES: Rules = {
    ("format", "(str, const) -> str"): Rule(_of_text),
    ("format", "(int, const) -> str"): Rule(_of_integer),
    ("format", "(float, const) -> str"): Rule(_of_float),
}
"""The rules of formats."""
