"""Functions of texts, byte strings, dates and times: loops and kernels do what Python does with them.

Each has tuples of arguments, of which every one stands in a column. What compiled code leaves to Python in
row functions raises `UnsupportedError`.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from colkern.errors import UnsupportedError

# Few letters, so that something is found; characters of one to four bytes.
letters = st.sampled_from(["a", "b", " ", "\t", "é", "€", "😀", "\0"])
texts = st.text(letters, max_size=12)
short = st.text(letters, max_size=3)
positions = st.integers(-15, 15)
numeric = st.text(st.sampled_from("0123456789+-. eEinfa_\t"), max_size=12)


def outcome(function: Callable[..., Any], *args: Any) -> Any:
    """A function's result, or the type of its exception."""
    try:
        return function(*args)
    except Exception as error:  # noqa: BLE001  # any that Python raises
        return ValueError if isinstance(error, UnicodeError) else type(error)


def agree(actual: Any, function: Callable[..., Any], arguments: Sequence[Any]) -> None:
    """Make sure that an outcome is Python's, or that of what compiled code does not cover."""
    if actual is not UnsupportedError:
        expected = plain(outcome(function, *arguments))
        assert actual == expected
        assert type(actual) is type(expected)


def plain(value: Any) -> Any:
    """Named tuples of Python are tuples in compiled code."""
    return tuple(map(plain, value)) if isinstance(value, tuple) else value


@dataclass(frozen=True)
class Case:
    """A function.

    Args:
        function: It.
        arguments: Tuples of what it is called with.
        examples: Some of them that are always among those.
        makes_lists: Whether its results have lists, which kernels do not compare.
    """

    function: Callable[..., Any]
    arguments: SearchStrategy[tuple[Any, ...]]
    examples: tuple[tuple[Any, ...], ...] = ()
    makes_lists: bool = False


def as_bytes(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arguments, with byte strings for texts."""
    return tuple(value.encode() if isinstance(value, str) else value for value in arguments)


# Texts, and byte strings


def compare(a, b):
    return a == b, a != b, a < b, a <= b, a > b, a >= b, min(a, b), max(a, b)


def find(s, sub, start, end):
    return (
        sub in s,
        s.startswith(sub),
        s.endswith(sub),
        s.find(sub),
        s.find(sub, start),
        s.find(sub, start, end),
        s.rfind(sub),
        s.rfind(sub, start, end),
        s.count(sub),
        s.count(sub, start, end),
    )


def cut(s, start, end):
    return s[start:], s[:end], s[start:end], s[:], s[::2], s[::-1], s[start:end:-2]


def strip(s, chars):
    return (
        s.strip(),
        s.lstrip(),
        s.rstrip(),
        s.strip(None),
        s.strip(chars),
        s.lstrip(chars),
        s.rstrip(chars),
        s.removeprefix(chars),
        s.removesuffix(chars),
    )


def made(s, t, n):
    whole = s[:]
    whole += t
    whole *= n
    return whole, s + t, n * s, s.replace(t, s), s.replace(t, s, 1), s.zfill(n), s.center(n)


def cased(s):
    return s.upper(), s.lower(), s.title(), s.capitalize(), s.swapcase()


def is_of_kind(s):
    return s.isdigit(), s.isalpha(), s.isalnum(), s.isspace(), s.islower(), s.isupper(), s.isascii()


def pieces(s, t):
    return (
        s.split(),
        s.split(t),
        s.split(t, 1),
        s.rsplit(maxsplit=1),
        s.splitlines(),
        s.partition(t),
    )


def size(s):
    return len(s), bool(s), not s


def item(s, i):
    return s[i]


def each(s):
    actual = []
    for part in s:
        actual.append(part)  # Numba has no list() of it
    return actual


# With what the source says


def literals(s):
    return (
        s == "é",
        "é" == s,  # noqa: SIM300  the literal on the left is the point
        s < "b",
        "b" > s,  # noqa: SIM300
        "é" in s,
        s in "abé",
        s in ("ab", "é"),
        s.find("b"),
        s.strip("ab"),
        "<" + s + ">",
        f"{s}!",
        s.startswith("é"),
    )


def literal_bytes(s, byte):
    return s == b"ab", b"b" in s, 97 in s, byte in s, s + b"!", s.startswith(b"b"), s.strip(b"ab")


def any_of(s):
    return s.startswith(("b", "é")), s.endswith(("b", "é"))


def pick(s):
    if len(s) == 0:
        return "empty"
    word = "one"
    if len(s) == 2:
        word = "two"
    elif len(s) > 2:
        word = s[:1]
    return word


# Numbers in text


def to_int(s):
    return int(s)


def to_float(s):
    return float(s)


def _is_number(arguments: tuple[str]) -> tuple[str]:
    actual = outcome(float, *arguments)
    assume(not (isinstance(actual, float) and math.isnan(actual)))
    return arguments


# Dates and times


def of_a_day(d):
    return (
        (d.year, d.month, d.day, d.weekday(), d.isoweekday(), d.toordinal(), d.isocalendar()),
        (d.isoformat(), str(d), d.strftime("%d/%m/%Y")),
        d.replace(day=1),
    )


def of_an_instant(t):
    return (
        (t.year, t.hour, t.minute, t.second, t.microsecond, t.weekday()),
        (t.isoformat(), str(t), t.strftime("%H:%M")),
        (t.date(), t.time(), t.replace(microsecond=0)),
    )


def of_a_span(d):
    return d.days, d.seconds, d.microseconds, d.total_seconds(), str(d), -d, abs(d), d * 2, d // 2


def of_a_time(t):
    return t.hour, t.minute, t.second, t.microsecond, str(t), t.replace(minute=0)


def worked(d, span):
    later = d + span
    result = datetime.datetime(2020, 1, 31, hour=5) - datetime.timedelta(days=31)
    return later, later - d, result, datetime.date(d.year, 1, 1) <= d, bool(span)


# Shortest first, so that each is an example with its neighbours.
_ASCII = st.text(st.sampled_from("aB1 _é"), max_size=8)
_INTEGERS = numeric | st.integers(-(2**63), 2**63 - 1).map(lambda n: f" {n}\n")
_FLOATS = numeric | st.floats(allow_nan=False).map(repr)
_SPANS = st.timedeltas(datetime.timedelta(-9999), datetime.timedelta(9999))

OF_BOTH = [
    Case(compare, st.tuples(texts, texts)),
    Case(
        find,
        st.tuples(texts, short, positions, positions),
        (("", "", 0, 0), ("abab", "ab", 1, -1), ("a" * 400 + "b", "ab", 0, 400)),
    ),
    Case(cut, st.tuples(texts, positions, positions)),
    Case(strip, st.tuples(texts, short)),
    Case(made, st.tuples(texts, short, positions)),
    Case(cased, st.tuples(_ASCII)),
    Case(is_of_kind, st.tuples(_ASCII)),
    Case(size, st.tuples(_ASCII)),
    Case(pieces, st.tuples(texts, short), makes_lists=True),
    Case(item, st.tuples(texts, positions)),
    Case(each, st.tuples(texts), makes_lists=True),
]
"""Of texts, and the same of byte strings."""

CASES = [
    *OF_BOTH,
    *(
        Case(
            case.function,
            case.arguments.map(as_bytes),
            tuple(map(as_bytes, case.examples)),
            case.makes_lists,
        )
        for case in OF_BOTH
    ),
    Case(literals, st.tuples(texts)),
    Case(literal_bytes, st.tuples(texts.map(str.encode), st.sampled_from([97, 32, 255, 256, -1]))),
    Case(any_of, st.sampled_from([("",), ("be",), ("né",), ("x",)])),
    Case(pick, st.sampled_from([("",), ("a",), ("ab",), ("xyz",)])),
    Case(to_int, st.tuples(_INTEGERS), (("9223372036854775807",), ("-9223372036854775808",))),
    Case(to_float, st.tuples(_FLOATS).map(_is_number), (("-Infinity",),)),
    Case(of_a_day, st.tuples(st.dates()), ((datetime.date(2020, 2, 29),),)),
    Case(of_an_instant, st.tuples(st.datetimes())),
    Case(of_a_span, st.tuples(_SPANS)),
    Case(of_a_time, st.tuples(st.times())),
    Case(compare, st.tuples(st.dates(), st.dates())),
    Case(compare, st.tuples(_SPANS, _SPANS)),
    Case(worked, st.tuples(st.dates(), _SPANS)),
]
