"""Texts and byte strings in compiled loops do what Python's `str` and `bytes` do, by code points and bytes.

The functions run compiled over a column of one slot, and as plain Python on the slot's object. What
compiled code leaves to Python in row functions raises `UnsupportedError` here.
"""

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

import colkern as ck
from colkern.arrays import Array
from colkern.errors import UnsupportedError
from colkern.memory import Buffer

# Few letters, so that something is found; characters of one to four bytes.
letters = st.sampled_from(["a", "b", " ", "\t", "é", "€", "😀", "\0"])
texts = st.text(letters, max_size=12)
short = st.text(letters, max_size=3)
positions = st.integers(-15, 15)

_COMPILED: dict[Callable[..., Any], Any] = {}


def outcome(function: Callable[..., Any], *args: Any) -> Any:
    """What a function returns, or the type of what it raises."""
    try:
        return function(*args)
    except Exception as error:  # noqa: BLE001  # any that Python raises
        return type(error)


def check(function: Callable[..., Any], *values: Any, others: tuple[Any, ...] = ()) -> None:
    """Compare a compiled function of columns' values with plain Python.

    Args:
        function: Of the values, and others.
        values: Each is made a column of one slot.
        others: Passed as they are.
    """
    compiled = _COMPILED.get(function)
    if compiled is None:
        inner = numba.njit(function)
        names = ", ".join(f"c{k}" for k in range(len(values)))
        rest = "".join(f", o{k}" for k in range(len(others)))
        taken = ", ".join(f"c{k}.value(0)" for k in range(len(values)))
        namespace: dict[str, Any] = {"inner": inner}
        exec(f"def of_columns({names}{rest}):\n    return inner({taken}{rest})\n", namespace)
        compiled = _COMPILED[function] = numba.njit(namespace["of_columns"])
    columns = [ck.array([value]) for value in values]
    found = outcome(compiled, *columns, *others)
    if found is not UnsupportedError:
        expected = outcome(function, *values, *others)
        if isinstance(expected, type) and issubclass(expected, UnicodeError):
            expected = ValueError
        assert found == expected
        assert type(found) is type(expected)


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
    return s + t, s * n, n * s, s.replace(t, s), s.replace(t, s, 1), s.zfill(n), s.center(n)


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


@given(texts, texts)
def test_comparisons(a: str, b: str) -> None:
    check(compare, a, b)
    check(compare, a.encode(), b.encode())


@given(texts, short, positions, positions)
@example("", "", 0, 0)
@example("abab", "ab", 1, -1)
@example("a" * 400 + "b", "ab", 0, 400)
def test_searches(text: str, sub: str, start: int, end: int) -> None:
    check(find, text, sub, others=(start, end))
    check(find, text.encode(), sub.encode(), others=(start, end))


@given(texts, positions, positions)
def test_slices(text: str, start: int, end: int) -> None:
    check(cut, text, others=(start, end))
    check(cut, text.encode(), others=(start, end))


@given(texts, short)
def test_strips(text: str, chars: str) -> None:
    check(strip, text, chars)
    check(strip, text.encode(), chars.encode())


@given(texts, short, positions)
def test_what_is_made_of_texts(text: str, other: str, count: int) -> None:
    check(made, text, other, others=(count,))
    check(made, text.encode(), other.encode(), others=(count,))


@given(st.text(st.sampled_from("aB1 _é"), max_size=8))
def test_case_and_tests(text: str) -> None:
    for function in (cased, is_of_kind, size):
        check(function, text)
        check(function, text.encode())


@given(texts, short)
def test_pieces(text: str, separator: str) -> None:
    check(pieces, text, separator)
    check(pieces, text.encode(), separator.encode())


def item(s, i):
    return s[i]


@given(texts, positions)
def test_an_index_gives_the_character_or_an_index_error(text: str, index: int) -> None:
    check(item, text, others=(index,))
    check(item, text.encode(), others=(index,))


def each(s):
    found = []
    for part in s:
        found.append(part)  # Numba has no list() of it
    return found


@given(texts)
def test_iteration_gives_characters_or_numbers(text: str) -> None:
    check(each, text)
    check(each, text.encode())


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


def literal_bytes(s):
    return s == b"ab", b"b" in s, 97 in s, s + b"!", s.startswith(b"b"), s.strip(b"ab")


@given(texts)
def test_literals(text: str) -> None:
    check(literals, text)
    check(literal_bytes, text.encode())


def any_of(s):
    return s.startswith(("b", "é")), s.endswith(("b", "é"))


def test_one_of_several_affixes() -> None:
    for text in ("", "be", "né", "x"):
        check(any_of, text)


@numba.njit
def searches_of_nothing(column):
    s = column.value(0)
    return "" in s, s.find(""), s.rfind(""), s.count(""), s.startswith(""), s.find("", 1)


def test_nothing_is_found_where_there_is_no_memory() -> None:
    # The buffer of bytes may be absent where all strings are empty.
    offsets = Buffer(np.zeros(2, np.int32).view(np.uint8))
    nothing = Array(ck.utf8(), 1, [None, offsets, None])
    assert searches_of_nothing(nothing) == (True, 0, 0, 1, True, -1)


def test_a_variable_may_be_an_element_or_a_literal_in_any_order() -> None:
    def pick(s):
        if len(s) == 0:
            return "empty"
        word = "one"
        if len(s) == 2:
            word = "two"
        elif len(s) > 2:
            word = s[:1]
        return word

    for text in ("", "a", "ab", "xyz"):
        check(pick, text)


@pytest.mark.parametrize(
    "function",
    [lambda s: s == b"abcdef"[::2], lambda s: s.find(b"abcdef"[::-1])],
    ids=["compared", "searched for"],
)
def test_bytes_that_do_not_stand_side_by_side_are_refused(function: Callable[..., Any]) -> None:
    # Numba's slice of `bytes` with a step is a view whose bytes are apart.
    with pytest.raises(NumbaError, match="with a step of 1"):
        numba.njit(lambda column: function(column.value(0)))(ck.array([b"ace"]))


def test_what_a_row_function_leaves_to_python_is_an_error() -> None:
    with pytest.raises(UnsupportedError, match=r"str\.upper"):
        numba.njit(lambda column: column.value(0).upper())(ck.array(["ß"]))


def test_a_null_has_no_methods_and_is_equal_to_none_alone() -> None:
    @numba.njit
    def equal(column, i):
        return column[i] == "a", column[i] == column[1], column[i] is None

    column = ck.array(["a", None])
    assert equal(column, 0) == (True, False, False)
    assert equal(column, 1) == (False, True, True)
    with pytest.raises(TypeError, match="None"):
        numba.njit(lambda column: len(column[1]))(column)


def test_text_as_bytes() -> None:
    @numba.njit
    def first(column):
        return [value[0] for value in column.as_bytes() if len(value) > 1]

    for type_ in (ck.utf8(), ck.large_utf8(), ck.utf8_view()):
        column = ck.array(["é", "", "ab", "a longer text than in views"], type_)
        assert first(column) == [0xC3, 97, 97]


# Who owns what a method makes


def test_what_is_made_lives_as_long_as_a_value_that_needs_it() -> None:
    @numba.njit
    def longest(column):
        kept = ""
        seen = {column.value(0): 0}
        parts = [column.value(0)]
        for text in column:
            if text is not None:
                made = (text + "/" + text).upper()
                for part in made.split("/"):
                    if len(part) > len(kept):
                        kept = part[1:].strip()
                    seen[part] = len(seen)
                    parts.append(part)
        return kept, len(seen), seen["KEY 7"], parts

    values = [f"key {k}" for k in range(300)]
    kept, count, place, parts = longest(ck.array(values))
    assert (kept, count, place) == ("EY 299", 301, 9)
    assert parts == ["key 0", *(value.upper() for value in values for _ in range(2))]


def test_nothing_is_left_behind() -> None:
    from numba.core.runtime import _nrt_python, rtsys

    @numba.njit
    def work(column):
        total = 0
        for text in column:
            for word in (text + " x").replace("a", "bb").split():
                total += len(word * 2)
        return total

    column = ck.array(["ab cd", "é", ""])
    work(column)
    _nrt_python.memsys_enable_stats()
    before = rtsys.get_allocation_stats()
    work(column)
    after = rtsys.get_allocation_stats()
    _nrt_python.memsys_disable_stats()
    assert after.alloc - before.alloc == after.free - before.free > 0


# Numbers in text


def to_int(s):
    return int(s)


def to_float(s):
    return float(s)


numeric = st.text(st.sampled_from("0123456789+-. eEinfa_\t"), max_size=12)


@given(numeric | st.integers(-(2**63), 2**63 - 1).map(lambda n: f" {n}\n"))
@example("9223372036854775807")
@example("-9223372036854775808")
def test_int_is_pythons(text: str) -> None:
    check(to_int, text)


@given(numeric | st.floats(allow_nan=False).map(repr))
@example("-Infinity")
def test_float_is_pythons(text: str) -> None:
    if not math.isnan(outcome_of_float(text)):
        check(to_float, text)


def outcome_of_float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0
