"""Generates bodies for single formats of `strftime` and `strptime` when a row function is compiled.

Formats are those of the C library in the locale `C`, in which Python starts; rows with anything else are
left to Python.
"""

from __future__ import annotations

import locale
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

from colkern.errors import CompileError
from colkern.generated import function_of_text
from colkern.kernels import calendar, clock, date_text, row_values
from colkern.kernels.kernel import helper
from colkern.kernels.primitives import get_byte

Body = Callable[..., Any]

_NAMESPACE: dict[str, Any] = {
    name: value
    for module in (row_values, calendar, clock, date_text)
    for name, value in vars(module).items()
    if not name.startswith("__")
} | {"__name__": __name__, "get_byte": get_byte}

# Splits a value of each kind into days and time; a time is on 1900-01-01.
_PARTS = {
    "date": "days, time = value, int64(0)",
    "time": "days, time = int64(-25567), value",
    "datetime": "days, time = date_of(value), time_of(value)",
}

_SHORT_FORMS = {
    "c": "%a %b %e %H:%M:%S %Y",
    "D": "%m/%d/%y",
    "F": "%Y-%m-%d",
    "h": "%b",
    "n": "\n",
    "r": "%I:%M:%S %p",
    "R": "%H:%M",
    "t": "\t",
    "T": "%H:%M:%S",
    "x": "%m/%d/%y",
    "X": "%H:%M:%S",
}


class _Written(NamedTuple):
    """The code that writes a directive: its largest size in bytes, and a call with `{}` for the place."""

    size: int
    call: str


_WRITTEN = {
    "a": _Written(3, "put_text({}, weekday_name(weekday(days))[0], int64(3))"),
    "A": _Written(9, "put_weekday({}, weekday(days))"),
    "b": _Written(3, "put_text({}, month_name(month)[0], int64(3))"),
    "B": _Written(9, "put_month({}, month)"),
    "C": _Written(2, "put_two({}, year // 100)"),
    "d": _Written(2, "put_two({}, day)"),
    "e": _Written(2, "put_padded({}, day)"),
    "f": _Written(6, "put_six({}, microsecond)"),
    "G": _Written(4, "put_four({}, isocalendar(days)[0])"),
    "H": _Written(2, "put_two({}, hour)"),
    "I": _Written(2, "put_two({}, (hour + 11) % 12 + 1)"),
    "j": _Written(3, "put_three({}, day_of_year(days))"),
    "m": _Written(2, "put_two({}, month)"),
    "M": _Written(2, "put_two({}, minute)"),
    "p": _Written(2, "put_text({}, int64(0x4D50) if hour >= 12 else int64(0x4D41), int64(2))"),
    "S": _Written(2, "put_two({}, second)"),
    "u": _Written(1, "put_text({}, weekday(days) + 49, int64(1))"),
    "U": _Written(2, "put_two({}, (day_of_year(days) + 6 - isoweekday(days) % 7) // 7)"),
    "V": _Written(2, "put_two({}, isocalendar(days)[1])"),
    "w": _Written(1, "put_text({}, isoweekday(days) % 7 + 48, int64(1))"),
    "W": _Written(2, "put_two({}, (day_of_year(days) + 6 - weekday(days)) // 7)"),
    "y": _Written(2, "put_two({}, year % 100)"),
    "Y": _Written(4, "put_four({}, year)"),
}
_OF_YEARS = "CGyY"
_OF_ZONES = "zZ"
"""Directives that are empty for a value without a zone."""


@cache
def strftime(kind: str, format: str) -> Body:
    """Returns the body of `strftime` for a kind and a format.

    The C library's `%Y` of years before 1000 differs by system and by Python: they are left to Python.

    Args:
        kind: `date`, `time` or `datetime`.
    """
    if (written := expanded(format)) is None:
        return date_text.leave_text
    directives = re.findall("%(.?)", written, re.DOTALL)
    if not {*directives} <= {*_WRITTEN, *_OF_ZONES, "%"}:
        return date_text.leave_text
    steps, size = [], 0
    for literal, directive in pieces(written):
        try:
            data = literal.encode()
        except UnicodeEncodeError:
            return date_text.leave_text
        for k in range(0, len(data), 7):
            part = data[k : k + 7]
            word = int.from_bytes(part, "little")
            steps.append(f"put_text(place, int64({word}), int64({len(part)}))")
        size += len(data)
        if directive:
            steps.append(_WRITTEN[directive].call.format("place"))
            size += _WRITTEN[directive].size
    of_years = any(directive in _OF_YEARS for directive in directives if directive)
    lines = [
        _PARTS[kind],
        "year, month, day = civil(days)",
        "hour, minute, second, microsecond = clock(time)",
        *(["if year < 1001: return Text(int64(0), int64(0), True), LEFT"] if of_years else []),
        f"start = text_room(arena, int64({size}))",
        "if start == 0: return Text(int64(0), int64(0), True), NO_ROOM",
        "place = start",
        *(f"place = {step}" for step in steps),
        "text = text_between(arena, start, place)",
        f"return Text(start, text.size, {format.isascii()}), DONE",
    ]
    return _body("arena: Arena, value: int64", "Text", lines, f"strftime {kind}")


def expanded(format: object) -> str | None:
    """Returns a format without short forms such as `%T`; None if Python must format, outside locale `C`."""
    if not isinstance(format, str) or "\0" in format or not _in_locale_c():
        return None
    return re.sub("%([cDFhnrRtTxX%])", lambda m: _SHORT_FORMS.get(m[1], "%%"), format)


def pieces(format: str) -> Iterator[tuple[str, str]]:
    """Yields the literals of a format, each with the directive after it, or an empty one."""
    literal = ""
    for text, directive in re.findall("([^%]*)(?:%(.))?", format, re.DOTALL):
        literal += text
        if directive == "%" or directive in _OF_ZONES:
            literal += "%" if directive == "%" else ""
        elif directive or literal:
            yield literal, directive
            literal = ""
    if literal:
        yield literal, ""


# Numbers of one or two digits: the variable, the smallest and the largest value.
_NUMBERS = {
    "d": ("day", 1, 31),
    "H": ("hour", 0, 23),
    "I": ("hour", 1, 12),
    "m": ("month", 1, 12),
    "M": ("minute", 0, 59),
    "S": ("second", 0, 61),
}
_READ = {
    "Y": (
        "if place + 4 > end: break",
        "year = digits_at(place, int64(4))",
        "if year < 0: break",
        "place += 4",
    ),
    "y": (
        "if place + 2 > end: break",
        "year = digits_at(place, int64(2))",
        "if year < 0: break",
        "year += int64(2000) if year <= 68 else int64(1900)",
        "place += 2",
    ),
    "f": ("microsecond, place = fraction_at(place, end)", "if microsecond < 0: break"),
    "p": ("half, place = half_at(place, end)", "if half < 0: break"),
    "a": ("place = weekday_at(place, end, False)", "if place < 0: break"),
    "A": ("place = weekday_at(place, end, True)", "if place < 0: break"),
    "b": ("month, place = month_at(place, end, False)", "if month < 0: break"),
    "B": ("month, place = month_at(place, end, True)", "if month < 0: break"),
}
# Groups of directives with the same meaning: no supported format has two of a group.
_RIVALS = ("Yy", "mbB", "HI")


@cache
def strptime(format: str) -> Body:
    """Returns the body of `datetime.datetime.strptime` for a format.

    Python matches a regular expression. At each place, the body tries the first choice of the expression:
    if that succeeds, it is Python's result. If it fails, there is no other choice, provided that each
    number is followed by a character that cannot be a digit; otherwise the row is left to Python.

    Raises:
        CompileError: If the format has a zone, as the result then has one.
    """
    if not isinstance(format, str) or not _in_locale_c():
        return date_text.leave_datetime
    directives = re.findall("%(.?)", re.sub("%%", "", format), re.DOTALL)
    if "z" in directives:
        raise CompileError(f"strptime: {format!r} has %z, and datetimes with zones are not read")
    if (
        not {*directives} <= {*_NUMBERS, *_READ}
        or len({*directives}) < len(directives)
        or any(len({*rivals} & {*directives}) > 1 for rivals in _RIVALS)
    ):
        return date_text.leave_datetime
    elements = [*_elements(format)]
    lines = [
        "place = text.address",
        "end = place + text.size",
        "year, month, day, hour = int64(1900), int64(1), int64(1), int64(0)",
        "minute, second, microsecond, half = int64(0), int64(0), int64(0), int64(0)",
        "surely = True",
        "matched = False",
        "while not matched:",
    ]
    for (kind, what), following in zip(elements, [*elements[1:], ("end", "")], strict=True):
        steps = _STEPS[kind](what)
        if steps is None:
            return date_text.leave_datetime
        lines += [f"    {step}" for step in steps]
        if kind == "directive" and what in {*_NUMBERS, "f"} and _may_be_digit(following):
            lines.append("    surely = False")
    lines += ["    surely = True", "    if place != end: break", "    matched = True"]
    if "I" in directives:
        lines.append("hour = hour % 12 + half")
    lines += [
        # Text beyond ASCII may have digits and letters that Python recognises.
        "if not matched: return int64(0), VALUE_ERROR if surely and text.ascii else LEFT",
        "return new_datetime(year, month, day, hour, minute, second, microsecond)",
    ]
    return _body("text: Text", "int64", lines, "strptime")


def _elements(format: str) -> Iterator[tuple[str, str]]:
    """Yields the parts of a format: spaces, directives, and other characters."""
    for spaces, directive, character in re.findall(r"(\s+)|%([^%])|(%%|.)", format, re.DOTALL):
        if spaces:
            yield "spaces", spaces
        elif directive:
            yield "directive", directive
        else:
            yield "character", character[-1]


def _may_be_digit(element: tuple[str, str]) -> bool:
    kind, what = element
    if kind == "directive":
        return what not in "aAbBp"
    return kind == "character" and what.isdigit()


def _read_directive(what: str) -> tuple[str, ...]:
    if what in _READ:
        return _READ[what]
    name, least, most = _NUMBERS[what]
    number = f"{name}, place = number_at(place, end, int64({least}), int64({most}))"
    if what == "d":
        # A space may stand for a leading digit.
        number = (
            "if place < end and get_byte(place) == 32: return int64(0), LEFT\n        " + number
        )
    return *number.split("\n        "), f"if {name} < 0: break"


def _read_character(what: str) -> tuple[str, ...] | None:
    """Returns code that matches a letter in any case; None for a character beyond ASCII that has a case."""
    if not what.isascii() and (what.swapcase() != what or what.casefold() != what):
        return None
    try:
        data = what.encode()
    except UnicodeEncodeError:
        return None
    cases = " | 32" if what.isascii() and what.isalpha() else ""
    checks = (
        f"get_byte(place + {k}){cases} != {byte | 32 if cases else byte}"
        for k, byte in enumerate(data)
    )
    return (
        f"if place + {len(data)} > end or {' or '.join(checks)}: break",
        f"place += {len(data)}",
    )


_STEPS: dict[str, Callable[[str], tuple[str, ...] | None]] = {
    "spaces": lambda _: (
        "place = spaces_end(place, end)",
        "surely = surely and place != -2",
        "if place < 0: break",
    ),
    "directive": _read_directive,
    "character": _read_character,
}


@cache
def isoformat(kind: str, separator: str, timespec: str) -> Body:
    """Returns the body of `isoformat` with a separator and a precision.

    Args:
        kind: `time` or `datetime`.
        separator: The character between date and time; unused for a time.
        timespec: As in Python.
    """
    sizes = {"hours": 2, "minutes": 5, "seconds": 8, "milliseconds": 12, "microseconds": 15}
    size = date_text.AUTO if timespec == "auto" else sizes.get(timespec)
    if size is None or (kind != "time" and not (len(separator) == 1 and separator.isascii())):
        return date_text.leave_text
    if kind == "time":
        call = f"isoformat_time(arena, value, int64({size}))"
    else:
        size += 11 if size else 0
        call = f"isoformat_{kind}(arena, value, int64({ord(separator)}), int64({size}))"
    return _body("arena: Arena, value: int64", "Text", [f"return {call}"], f"isoformat {kind}")


def _body(parameters: str, result: str, lines: list[str], title: str) -> Body:
    """Returns a generated body, with the names that it uses."""
    head = f"def generated({parameters}) -> tuple[{result}, Code]:\n"
    source = head + "".join(f"    {line}\n" for line in lines)
    return helper(function_of_text("generated", source, dict(_NAMESPACE), title))


def _in_locale_c() -> bool:
    return locale.setlocale(locale.LC_TIME) in ("C", "POSIX")
