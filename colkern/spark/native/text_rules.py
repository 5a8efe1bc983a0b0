"""Rules for text and formats. Spark counts code points from 1, and compares UTF-8 bytes: the same order.

Methods that depend on Unicode tables of another release than Python's have no rule, such as `upper`. Tests
of characters use Python's own table as a regular expression.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from pyspark.sql import Column
from pyspark.sql import functions as f

from colkern.spark.native.rule import Operand, Rule, Rules, as_index, of_columns, order

_FAR = (1 << 31) - 1
"""A number of characters that exceeds any text."""

_WIDEST = 1 << 16
"""The largest width to which text is padded or repeated: a larger one might need too much memory."""


# Characters


@cache
def _characters(test: str) -> str:
    """Returns the characters for which a method of `str` is true, as a class of a regular expression."""
    codes = [
        code
        for code in range(sys.maxunicode + 1)
        if not 0xD800 <= code < 0xE000 and getattr(chr(code), test)()
    ]
    ranges: list[list[int]] = []
    for code in codes:
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(rf"\x{{{first:x}}}-\x{{{last:x}}}" for first, last in ranges)


@cache
def white_space() -> str:
    """Returns the characters that `str.strip` removes."""
    return "".join(chr(code) for code in range(0x3001) if chr(code).isspace())


def is_ascii(text: Column) -> Column:
    """`str.isascii`."""
    return f.octet_length(text) == f.char_length(text)


def _all(test: str) -> Rule:
    """A test that is true if it is true for each character, and false for an empty text.

    The class of all characters is long; most texts are ASCII.
    """
    narrow = "".join(re.escape(c) for c in map(chr, range(128)) if getattr(c, test)())

    def value(text: Operand) -> Column:
        wide = text.column.rlike(rf"\A[{_characters(test)}]+\z")
        return f.when(is_ascii(text.column), text.column.rlike(rf"\A[{narrow}]+\z")).otherwise(wide)

    return Rule(value)


# Search


def _text(operand: Operand) -> str | None:
    """Returns a constant text that is not empty, else None."""
    return operand.constant if isinstance(operand.constant, str) and operand.constant else None


def _find(text: Operand, part: Operand) -> Column:
    return (f.instr(text.column, part.column) - 1).cast("bigint")


def _rfind(text: Operand, part: Operand) -> Column:
    """`rfind`, from the length of the text after the last occurrence."""
    behind = f.char_length(f.call_function("substring_index", text.column, part.column, f.lit(-1)))
    place = f.char_length(text.column) - behind - f.char_length(part.column)
    position = f.when(~text.column.contains(part.column), -1).otherwise(place)
    if _text(part) is None:
        position = f.when(part.column == "", f.char_length(text.column)).otherwise(position)
    return position.cast("bigint")


def _count(text: Operand, part: Operand) -> Column | None:
    """`count`, from the difference in length when all occurrences are removed."""
    if not (constant := _text(part)):
        return None
    size = len(constant.encode())
    gone = f.octet_length(text.column) - f.octet_length(
        f.replace(text.column, part.column, f.lit(""))
    )
    return gone.cast("bigint") if size == 1 else f.call_function("div", gone, f.lit(size))


def _index(find: Callable[[Operand, Operand], Column]) -> Rule:
    return Rule(find, lambda text, part: ~text.column.contains(part.column))


def _bounds(start: Operand, end: Operand) -> bool:
    """Whether the start is a constant that is not negative, and the end is the end of the text."""
    return isinstance(start.constant, int) and start.constant >= 0 and end.constant == (1 << 63) - 1


def _find_from(text: Operand, part: Operand, start: Operand, end: Operand) -> Column | None:
    if not _text(part) or not _bounds(start, end):
        return None
    first = min(start.constant, _FAR - 1) + 1
    return (f.position(part.column, text.column, f.lit(first)) - 1).cast("bigint")


def _starts_at(text: Operand, part: Operand, start: Operand, end: Operand) -> Column | None:
    if not _text(part) or not _bounds(start, end):
        return None
    return sliced(text.column, start.constant, None).startswith(part.column)


# Parts


def sliced(text: Column, start: int | None, stop: int | None) -> Column:
    """`text[start:stop]` with constant bounds."""
    first = 0 if start is None else max(min(start, _FAR >> 1), -_FAR >> 1)
    if stop is None:
        return text if first == 0 else f.substring(text, first + (first >= 0), _FAR)
    last = max(min(stop, _FAR >> 1), -_FAR >> 1)
    if (first >= 0) == (last >= 0):
        return f.substring(text, first + (first >= 0), max(last - first, 0))
    length = f.char_length(text)
    if last < 0:
        return f.substring(text, f.lit(first + 1), length + (last - first))
    begin = f.greatest(length + first, f.lit(0))
    return f.substring(text, begin + 1, f.lit(last) - begin)


def _slice(text: Operand, start: Operand | None, stop: Operand | None) -> Column:
    bounds = [None if o is None else o.constant for o in (start, stop)]
    if all(bound is None or isinstance(bound, int) for bound in bounds):
        return sliced(text.column, *bounds)
    length = f.char_length(text.column)

    def place(bound: Operand) -> Column:
        index = as_index(bound.column)
        return f.when(index < 0, f.greatest(length + index, f.lit(0))).otherwise(index)

    first = f.lit(0) if start is None else place(start)
    size = f.lit(_FAR) if stop is None else place(stop) - first
    return f.substring(text.column, first + 1, size)


def _character(text: Operand, place: Operand) -> Column:
    if isinstance(place.constant, int):
        at = max(min(place.constant, _FAR >> 1), -_FAR >> 1)
        return f.substring(text.column, at + (at >= 0), 1)
    index = as_index(place.column)
    return f.substring(text.column, f.when(index < 0, index).otherwise(index + 1), f.lit(1))


def _no_character(text: Operand, place: Operand) -> Column:
    length = f.char_length(text.column)
    if isinstance(place.constant, int):
        return length < (place.constant + 1 if place.constant >= 0 else -place.constant)
    return (place.column >= length) | (place.column < -length)


_STRIP = {"strip": f.trim, "lstrip": f.ltrim, "rstrip": f.rtrim}


def _stripped(name: str) -> dict[str, Rule]:
    strip = _STRIP[name]

    def of_space(text: Operand, none: None = None) -> Column:
        return strip(text.column, f.lit(white_space()))

    def of_characters(text: Operand, characters: Operand) -> Column:
        # Spark trims spaces faster than a list of characters.
        return (
            strip(text.column)
            if characters.constant == " "
            else strip(text.column, characters.column)
        )

    return {
        "(str) -> str": Rule(of_space),
        "(str, None) -> str": Rule(of_space),
        "(str, str) -> str": Rule(of_characters),
    }


def _without_prefix(text: Column, prefix: Column) -> Column:
    rest = f.substring(text, f.char_length(prefix) + 1, f.lit(_FAR))
    return f.when(text.startswith(prefix), rest).otherwise(text)


def _without_suffix(text: Column, suffix: Column) -> Column:
    rest = f.substring(text, f.lit(1), f.char_length(text) - f.char_length(suffix))
    return f.when(text.endswith(suffix), rest).otherwise(text)


# Text from text


def _replaced(
    text: Operand, old: Operand, new: Operand, count: Operand | None = None
) -> Column | None:
    if not _text(old) or (count is not None and not _is_unlimited(count)):
        return None
    return f.replace(text.column, old.column, new.column)


def _is_unlimited(count: Operand) -> bool:
    return isinstance(count.constant, int) and count.constant < 0


def _repeated(text: Operand, times: Operand) -> Column | None:
    if not isinstance(times.constant, int) or times.constant > _WIDEST:
        return None
    return f.repeat(text.column, max(times.constant, 0))


def _padded(left: Callable[[int, Column], Column | int]) -> Callable[..., Column | None]:
    """A method that fills a text up to a constant width.

    Args:
        left: Returns the number of characters in front, from the width and the number of added ones.
    """

    def value(text: Operand, width: Operand, fill: Operand | None = None) -> Column | None:
        size = width.constant
        if not isinstance(size, int) or size > _WIDEST:
            return None
        if fill is not None and (not isinstance(fill.constant, str) or len(fill.constant) != 1):
            return None
        character = f.lit(" ") if fill is None else fill.column
        missing = f.greatest(f.lit(max(size, 0)) - f.char_length(text.column), f.lit(0))
        before = left(max(size, 0), missing)
        parts = [text.column]
        if not isinstance(before, int):
            parts.insert(0, f.repeat(character, before))
        if before is not missing:
            parts.append(f.repeat(character, missing - before))
        return f.concat(*parts)

    return value


_JUSTIFIED = {
    "str.ljust": _padded(lambda width, missing: 0),
    "str.rjust": _padded(lambda width, missing: missing),
    # An odd number puts the extra character in front if the width is odd.
    "str.center": _padded(
        lambda width, missing: f.shiftright(missing, 1) + missing.bitwiseAND(f.lit(width & 1))
    ),
}


def _zero_filled(text: Operand, width: Operand) -> Column | None:
    if not isinstance(width.constant, int) or width.constant > _WIDEST:
        return None
    zeros = f.repeat(f.lit("0"), f.lit(max(width.constant, 0)) - f.char_length(text.column))
    signed = f.concat(f.substring(text.column, 1, 1), zeros, f.substring(text.column, 2, _FAR))
    has_sign = text.column.startswith("-") | text.column.startswith("+")
    return f.when(has_sign, signed).otherwise(f.concat(zeros, text.column))


# Splitting


def quoted(text: str) -> str:
    """Returns a Java regular expression that matches a text."""
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text)


def _split(text: Operand, separator: Operand, most: Operand) -> Column | None:
    if not (constant := _text(separator)) or not isinstance(most.constant, int):
        return None
    limit = -1 if most.constant < 0 else min(most.constant, _FAR - 1) + 1
    return f.split(text.column, quoted(constant), limit)


def part_of_split(
    place: int, text: Operand, separator: Operand, most: Operand
) -> Callable[[], Column] | None:
    """Returns a part of a split text, for separators that cannot overlap: both ends then count alike."""
    constant, limit = _text(separator), most.constant
    if not constant or any(constant.endswith(constant[:k]) for k in range(1, len(constant))):
        return None
    is_known = isinstance(limit, int) and (limit < 0 or 0 <= place <= limit)
    if not is_known or not -_FAR < place < _FAR - 1:
        return None
    # The part is counted from the nearer end of the text; `before` separators stand before it.
    step, before = (1, place) if place >= 0 else (-1, -1 - place)

    def value() -> Column:
        whole = text.column
        until = f.substring_index(whole, constant, step * (before + 1))
        if before == 0:
            return whole if limit == 0 else until
        passed = f.substring_index(whole, constant, step * before)
        if 0 <= limit == place:
            part = f.substring(whole, f.char_length(passed) + (len(constant) + 1), f.lit(_FAR))
        else:
            part = f.substring_index(until, constant, -step)
        is_there = whole.contains(separator.column) if before == 1 else passed != whole
        return f.when(is_there, part)

    return value


def _split_at_space(text: Operand, separator: None, most: Operand) -> Column | None:
    if not _is_unlimited(most):
        return None
    stripped = f.btrim(text.column, f.lit(white_space()))
    parts = f.split(stripped, f"[{quoted(white_space())}]+", -1)
    return f.when(stripped == "", f.array().cast("array<string>")).otherwise(parts)


def _head_and_tail(text: Column, separator: Operand, last: bool) -> tuple[Column, Column, Column]:
    """Returns the text before the first or last separator, whether there is one, and the text after it."""
    size = len(separator.constant)
    is_there = text.contains(separator.column)
    if last:
        tail = f.substring_index(text, separator.constant, -1)
        head = f.substring(text, f.lit(1), f.char_length(text) - f.char_length(tail) - size)
    else:
        head = f.substring_index(text, separator.constant, 1)
        tail = f.substring(text, f.char_length(head) + (size + 1), f.lit(_FAR))
    return head, is_there, tail


def _partitioned(last: bool) -> Callable[..., tuple[Column, ...] | None]:
    def value(text: Operand, separator: Operand) -> tuple[Column, ...] | None:
        if not _text(separator):
            return None
        head, is_there, tail = _head_and_tail(text.column, separator, last)
        return head, f.when(is_there, separator.column).otherwise(""), tail

    return value


def _split_from_behind(text: Operand, separator: Operand, most: Operand) -> Column | None:
    if _is_unlimited(most):
        return _split(text, separator, most)
    if not _text(separator) or most.constant != 1:
        return None
    head, is_there, tail = _head_and_tail(text.column, separator, True)
    return f.when(is_there, f.array(head, tail)).otherwise(f.array(text.column))


_TEXT = "(str) -> str"
_TEST = "(str) -> bool"
_COMPARISON = "(str, str) -> bool"
_PLACE = "(str, str) -> int"
_BETWEEN = "(str, str, int, int = 9223372036854775807)"
_WITH_SPACE = "(str, sep: None = None, maxsplit: int = -1) -> list[str]"
_WITH_SEPARATOR = "(str, sep: str, maxsplit: int = -1) -> list[str]"


def _same(text: Operand, *bounds: None) -> Column:
    return text.column


# Formats of integers and text by a constant specification, as in f-strings and `%`. Floats have no rules:
# their exact digits take Spark several times as long as a worker over Arrow.

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


def _form_of(text: object, types: str, align: str) -> _Specification | None:
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


def _text_in_form(value: Operand, text: Operand) -> Column | None:
    form = _form_of(text.constant, "s", "<")
    if form is None or form.align == "=" or form.sign != "-" or form.group:
        return None
    column = value.column
    if form.places is not None:
        column = f.substring(column, 1, form.places)
    return _to_width(f.lit(""), column, form)


def _integer_in_form(value: Operand, text: Operand) -> Column | None:
    form = _form_of(text.constant, "d", ">")
    if form is None or form.places is not None:
        return None
    digits = f.replace(value.column.cast("string"), f.lit("-"), f.lit(""))
    sign = f.when(value.column < 0, "-").otherwise("" if form.sign == "-" else form.sign)
    return _to_width(sign, _grouped(digits, form), form)


def _grouped(digits: Column, form: _Specification) -> Column:
    """Returns digits in groups of three, with the separator of the specification, if it has one."""
    if not form.group:
        return digits
    return f.regexp_replace(digits, r"(?<=\d)(?=(\d{3})+$)", form.group)


def _to_width(sign: Column, body: Column, form: _Specification) -> Column:
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
    ("len", "(str) -> int"): Rule(of_columns(lambda text: f.char_length(text).cast("bigint"))),
    ("bool", _TEST): Rule(of_columns(lambda text: text != "")),
    ("str", _TEXT): Rule(_same),
    ("format", _TEXT): Rule(_same),
    **order("str"),
    ("in", _COMPARISON): Rule(of_columns(lambda part, text: text.contains(part))),
    ("str.find", _PLACE): Rule(_find),
    ("str.find", f"{_BETWEEN} -> int"): Rule(_find_from),
    ("str.rfind", _PLACE): Rule(_rfind),
    ("str.index", _PLACE): _index(_find),
    ("str.rindex", _PLACE): _index(_rfind),
    ("str.count", _PLACE): Rule(_count),
    ("str.startswith", _COMPARISON): Rule(of_columns(lambda x, y: x.startswith(y))),
    ("str.endswith", _COMPARISON): Rule(of_columns(lambda x, y: x.endswith(y))),
    ("str.startswith", f"{_BETWEEN} -> bool"): Rule(_starts_at),
    ("[]", "(str, int) -> str"): Rule(_character, _no_character),
    ("[:]", "(str, int, int) -> str"): Rule(_slice),
    ("[:]", "(str, int, None) -> str"): Rule(_slice),
    ("[:]", "(str, None, int) -> str"): Rule(_slice),
    ("[:]", "(str, None, None) -> str"): Rule(_same),
    ("[::]", "(str, None, None, int) -> str"): Rule(
        lambda text, start, stop, step: f.reverse(text.column) if step.constant == -1 else None
    ),
    **{(f"str.{name}", form): rule for name in _STRIP for form, rule in _stripped(name).items()},
    ("str.removeprefix", "(str, str) -> str"): Rule(of_columns(_without_prefix)),
    ("str.removesuffix", "(str, str) -> str"): Rule(of_columns(_without_suffix)),
    ("+", "(str, str) -> str"): Rule(of_columns(f.concat)),
    ("*", "(str, int) -> str"): Rule(_repeated),
    ("*", "(int, str) -> str"): Rule(lambda times, text: _repeated(text, times)),
    ("str.join", "(str, list[str]) -> str"): Rule(
        of_columns(lambda separator, parts: f.call_function("array_join", parts, separator))
    ),
    ("str.replace", "(str, str, str) -> str"): Rule(_replaced),
    ("str.replace", "(str, str, str, int) -> str"): Rule(_replaced),
    ("str.zfill", "(str, int) -> str"): Rule(_zero_filled),
    **{(name, "(str, int) -> str"): Rule(value) for name, value in _JUSTIFIED.items()},
    **{(name, "(str, int, str) -> str"): Rule(value) for name, value in _JUSTIFIED.items()},
    **{
        (f"str.{name}", _TEST): _all(name)
        for name in ("isdigit", "isdecimal", "isnumeric", "isalpha", "isalnum", "isspace")
    },
    ("str.isascii", _TEST): Rule(of_columns(is_ascii)),
    ("str.split", _WITH_SEPARATOR): Rule(_split, is_slow=True, item=part_of_split),
    ("str.split", _WITH_SPACE): Rule(_split_at_space, is_slow=True),
    ("str.rsplit", _WITH_SEPARATOR): Rule(_split_from_behind, is_slow=True),
    ("str.rsplit", _WITH_SPACE): Rule(_split_at_space, is_slow=True),
    ("str.partition", "(str, str) -> tuple[str, str, str]"): Rule(_partitioned(False)),
    ("str.rpartition", "(str, str) -> tuple[str, str, str]"): Rule(_partitioned(True)),
    ("format", "(str, const) -> str"): Rule(_text_in_form),
    ("format", "(int, const) -> str"): Rule(_integer_in_form),
}
"""The rules for text."""
