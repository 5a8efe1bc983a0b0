"""Byte strings in compiled code do what Python's `bytes` do."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numba.core.errors import NumbaError

# Two of them teach Numba.
import colkern as ck
import colkern.jit.values.parsing
import colkern.jit.values.strings
from colkern.arrays import Array
from colkern.jit import ByteString
from colkern.memory import Buffer

# Few letters, so that something is found; characters of one to four bytes.
letters = st.sampled_from(["a", "b", " ", "\t", "é", "€", "😀", "\0"])
texts = st.text(letters, max_size=12)
short = st.text(letters, max_size=3)
positions = st.integers(-15, 15)


def both(function: Callable[..., Any], *args: Any) -> tuple[Any, Any]:
    """What plain Python does with `ByteString`, and what the compiled function does."""
    return function(*args), compiled(function)(*args)


_COMPILED: dict[Callable[..., Any], Any] = {}


def compiled(function: Callable[..., Any]) -> Any:
    if function not in _COMPILED:
        _COMPILED[function] = numba.njit(function)
    return _COMPILED[function]


def compare(a, b):
    return a == b, a != b, a < b, a <= b, a > b, a >= b


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
    return s[start:], s[:end], s[start:end], s[:]


def strip(s, chars):
    return s.strip(), s.lstrip(), s.rstrip(), s.strip(chars), s.lstrip(chars), s.rstrip(chars)


@given(texts, texts)
def test_comparisons_are_those_of_bytes(a: str, b: str) -> None:
    expected = compare(a.encode(), b.encode())
    assert both(compare, ByteString(a), ByteString(b)) == (expected, expected)
    assert both(compare, ByteString(a), b) == (expected, expected)
    assert compiled(compare)(b.encode(), ByteString(a)) == compare(b.encode(), a.encode())


@given(texts, short, positions, positions)
@example("", "", 0, 0)
@example("abab", "ab", 1, -1)
@example("a" * 400 + "b", "ab", 0, 400)
def test_searches_are_those_of_bytes(text: str, sub: str, start: int, end: int) -> None:
    expected = find(text.encode(), sub.encode(), start, end)
    assert both(find, ByteString(text), ByteString(sub), start, end) == (expected, expected)
    assert both(find, ByteString(text), sub, start, end) == (expected, expected)


@numba.njit
def searches_of_nothing(column):
    s = column.value(0)
    return "" in s, s.find(""), s.rfind(""), s.count(""), s.startswith(""), s.find("", 1)


def test_nothing_is_found_where_there_is_no_memory() -> None:
    # The buffer of bytes may be absent where all strings are empty.
    offsets = Buffer(np.zeros(2, np.int32).view(np.uint8))
    nothing = Array(ck.utf8(), 1, [None, offsets, None])
    assert searches_of_nothing(nothing) == (True, 0, 0, 1, True, -1)


@pytest.mark.parametrize("bound", [0, 1, 3, 4, 5, 2**63 + 1, 2**64 - 1])
def test_unsigned_bounds_count_from_the_start(bound: int) -> None:
    # As a signed number 2**64 - 1 would be the last position.
    text = b"abcb"
    expected = text.find(b"b", bound), text.rfind(b"b", 0, bound), text.count(b"", bound)
    found = compiled(search_from)(ByteString(text), np.uint64(bound))
    assert found == expected
    assert all(isinstance(position, int) for position in found)


def search_from(s, bound):
    return s.find("b", bound), s.rfind("b", 0, bound), s.count("", bound)


@given(texts, positions, positions)
def test_slices_are_those_of_bytes(text: str, start: int, end: int) -> None:
    expected = cut(text.encode(), start, end)
    assert both(cut, ByteString(text), start, end) == (expected, expected)


@given(texts, short)
def test_strips_are_those_of_bytes(text: str, chars: str) -> None:
    expected = strip(text.encode(), chars.encode())
    assert both(strip, ByteString(text), chars) == (expected, expected)


def test_a_slice_is_a_view_of_the_same_memory() -> None:
    @numba.njit
    def addresses(s):
        return colkern.jit.values.strings.address_of(s[2:]) - colkern.jit.values.strings.address_of(
            s
        )

    assert addresses(ByteString("abcdef")) == 2


@given(texts, positions)
def test_an_index_gives_the_byte_or_an_index_error(text: str, index: int) -> None:
    function = compiled(item)
    try:
        expected = item(text.encode(), index)
    except IndexError:
        with pytest.raises(IndexError):
            function(ByteString(text), index)
    else:
        assert function(ByteString(text), index) == expected


def item(s, i):
    return s[i]


def literals(s):
    return (
        s == "é",
        "é" == s,  # noqa: SIM300  the literal on the left is the point
        s != b"ab",
        s < "b",
        "b" > s,  # noqa: SIM300
        "é" in s,
        97 in s,
        s.find(98),
        s.count(97),
        s in ("ab", "é"),
        s.startswith(("b", "é")),
        s.endswith(("b", "é")),
        s.strip("ab"),
        len(s),
        bool(s),
        not s,
        s.isdigit(),
    )


@given(texts)
def test_literals_stand_for_their_utf8(text: str) -> None:
    plain = text.encode()
    é = "é".encode()
    expected = (
        plain == é,
        plain == é,
        plain != b"ab",
        plain < b"b",
        plain < b"b",
        é in plain,
        97 in plain,
        plain.find(98),
        plain.count(97),
        plain in (b"ab", é),
        plain.startswith((b"b", é)),
        plain.endswith((b"b", é)),
        plain.strip(b"ab"),
        len(plain),
        bool(plain),
        not plain,
        plain.isdigit(),
    )
    assert both(literals, ByteString(text)) == (expected, expected)


def total(s):
    result = 0
    for byte in s:
        result = result * 31 + byte
    return result


def vowels(s):
    count = 0
    for byte in s:
        if byte in b"aeiou":
            count += 1
    return count


@given(st.text(st.sampled_from("abcdeiou"), max_size=12))
def test_bytes_are_looked_up_in_a_literal(text: str) -> None:
    assert both(vowels, ByteString(text)) == (vowels(text.encode()),) * 2


@given(texts)
def test_iteration_gives_the_bytes_as_integers(text: str) -> None:
    expected = total(text.encode())
    assert total(ByteString(text)) == expected
    assert (compiled(total)(ByteString(text)) - expected) % 2**64 == 0


def through_str(s):
    return str(s), str(s).upper(), len(str(s)), s == str(s), str(s)[:1] == s[:1]


@given(st.text(max_size=12))
@example("abc")
@example("naïve")
@example("€uro")
@example("\U0010ffff")
def test_str_gives_pythons_text(text: str) -> None:
    function = compiled(through_str)
    same = text.encode()[:1] == text[:1].encode()
    assert function(ByteString(text)) == (text, text.upper(), len(text), True, same)


@pytest.mark.parametrize(
    "malformed",
    [
        b"\xff",
        b"\xc3",
        b"a\x80",
        b"\xc0\x80",
        b"\xe0\x80\x80",
        b"\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
    ],
)
def test_str_of_what_is_no_utf8_is_a_value_error(malformed: bytes) -> None:
    def text(s):
        return str(s)

    for function in (text, numba.njit(text)):
        with pytest.raises(ValueError, match=r"UTF-8|utf-8"):
            function(ByteString(malformed))


def test_a_variable_may_be_a_slice_or_a_literal_in_any_order() -> None:
    def pick(s):
        if len(s) == 0:
            return "empty"
        word = "one"
        if len(s) == 2:
            word = "two"
        elif len(s) > 2:
            word = s[:1]
        return word

    function = numba.njit(pick)
    for text in ("", "a", "ab", "xyz"):
        assert ByteString(pick(ByteString(text))) == str(function(ByteString(text)))


def test_a_step_other_than_one_is_refused() -> None:
    with pytest.raises(ValueError, match="step"):
        ByteString("abc")[::2]
    with pytest.raises(numba.TypingError, match="step of 1"):
        numba.njit(lambda s: s[::2])(ByteString("abc"))


@pytest.mark.parametrize(
    "function",
    [
        lambda s: s == b"abcdef"[::2],
        lambda s: b"ace"[::-1] if len(s) == 1 else s,
        lambda s: s.find(b"abcdef"[::-1]),
    ],
    ids=["compared", "beside a view", "searched for"],
)
def test_bytes_that_do_not_stand_side_by_side_are_refused(function: Callable[..., Any]) -> None:
    # Numba's slice of `bytes` with a step is a view whose bytes are apart.
    with pytest.raises(NumbaError, match="with a step of 1"):
        numba.njit(function)(ByteString("ace"))


# Numbers in text


def parsed(kind: Callable[[bytes], Any], text: bytes) -> Any:
    """What Python makes of ASCII text without underscores; the exception's type if it refuses."""
    if b"_" in text:
        return ValueError
    try:
        value = kind(text)
    except ValueError:
        return ValueError
    if kind is int and not -(2**63) <= value < 2**63:
        return OverflowError
    return value


def outcome(function: Callable[..., Any], argument: ByteString) -> Any:
    try:
        return function(argument)
    except (ValueError, OverflowError) as error:
        return type(error)


def to_int(s):
    return int(s)


def to_float(s):
    return float(s)


numeric = st.text(st.sampled_from("0123456789+-. eEinfa_\t"), max_size=12).map(str.encode)


@given(numeric | st.integers(-(2**65), 2**65).map(lambda n: f" {n}\n".encode()))
@example(b"9223372036854775807")
@example(b"9223372036854775808")
@example(b"-9223372036854775808")
@example(b"-9223372036854775809")
@example(b"99999999999999999999x")
@example(b"000000000000000000000000000001")
@example(b"18446744073709551617")
def test_int_is_pythons(text: bytes) -> None:
    expected = parsed(int, text)
    assert outcome(to_int, ByteString(text)) == expected
    assert outcome(compiled(to_int), ByteString(text)) == expected


def halfway(x: float) -> str:
    """The number exactly between a float and the next one, in all its digits."""
    from fractions import Fraction

    middle = (Fraction(x) + Fraction(math.nextafter(x, math.inf))) / 2
    digits = 0
    while middle.denominator != 1:
        middle *= 10
        digits += 1
    return f"{middle.numerator}e-{digits}"


finite = st.floats(allow_nan=False, allow_infinity=False, max_value=1e308)
spelled = (
    finite.map(repr)
    | finite.map(halfway)
    | finite.map(lambda x: halfway(x) + "1")
    | st.tuples(st.integers(0, 10**30), st.integers(-400, 400)).map(lambda p: f"{p[0]}e{p[1]}")
    | st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)).map(lambda p: f"-{p[0]}.{p[1]}")
)


@given(numeric | spelled.map(str.encode))
@example(b"inf")
@example(b"-Infinity")
@example(b"nan")
@example(b"1e400")
@example(b"-1e-400")
@example(b"0e99999999999999999999999")
@example(b"1e-99999999999999999999999")
@example(b"2.2250738585072011e-308")
@example(b"2.4703282292062327e-324")
@example(b"2.4703282292062328e-324")
@example(b"1.7976931348623158e308")
@example(b"1.7976931348623159e308")
@example(b"9007199254740993")
@example(b"8.98846567431157953864652595394501288904e307")
@example(b"0." + b"0" * 400 + b"1e401")
@example(b"1" * 800)
def test_float_is_rounded_as_python_rounds(text: bytes) -> None:
    expected = parsed(float, text)
    for found in (
        outcome(to_float, ByteString(text)),
        outcome(compiled(to_float), ByteString(text)),
    ):
        if isinstance(expected, float):
            assert math.isnan(found) if math.isnan(expected) else found == expected
            assert math.copysign(1, found) == math.copysign(1, expected) or math.isnan(expected)
        else:
            assert found is expected
