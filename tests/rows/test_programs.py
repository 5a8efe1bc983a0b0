"""Row functions that random programs, or what they led to, showed to differ from Python."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from typing import Any

import numba
import pytest

import colkern as ck
from colkern.errors import CompileError
from colkern.rows.plan import Plan

NUMBERS = [1, 2, -3, 0, 5, 7, 12]
WORDS = ["ab", "", "é", "longer"]
LISTS = [[1, 2], [1], [], [1, 2, 3], [2]]
INSIDE = range(-3, 12, 5)


def written_again(a: str) -> str:
    def inner(x: str) -> str:
        return x + "zzz"

    start = "qqq" if len(a) > 3 else "ppp"
    total = 0
    result = inner(a)
    for _ in a:
        total += 0.5
    return result + "abc" + start


def items_of_nothing(a: str) -> int:
    actual = [len(x) + 1 for x in []]
    for x in []:
        if x == 3 or not x:
            actual.append(x + x[0] + len(f"{x:>3}{x}"))
        for y in x:
            actual.append(max(y, 3) + (y or 2))
    return len(actual) + sum(x * 2 for x in []) + len(a)


def zero_and_its_negative(a: int) -> float:
    if a > 0:
        x = 0.0
    else:
        x = -0.0
    return x


def bound_anew_in_a_test(a: int | None) -> int:
    if a is not None and (a := a - 1) > 0:
        return a
    return 0


def bound_in_a_comprehension(a: str) -> int:
    last = 0
    total = sum((last := ord(c)) for c in a)
    return total + last


def sequences(a: list[int]) -> int:
    match a:
        case [1, 2]:
            return 1
        case [1]:
            return 2
        case []:
            return 3
    return 4


def guarded(a: str) -> int:
    n = len(a)
    match a[:1]:
        case "a" if n > 3:
            return 1
        case "a" | "" if n == 0:
            return 2
        case "l" if n < 3:
            return 3
        case "l" if n > 4:
            return 4
        case "a" if n == 2:
            return 5
    return 6


def no_sequence(a: str) -> int:
    match a, len(a):
        case ("a",):
            return 1
        case ("ab", 2):
            return 2
    match a:
        case ["a", "b"]:
            return 3
    return 4


def among_others(a: float) -> bool:
    return a in (a, 1.0)


def in_a_range(a: int) -> bool:
    return a in INSIDE


@pytest.mark.parametrize(
    ("function", "values"),
    [
        (written_again, WORDS),
        (items_of_nothing, WORDS),
        (zero_and_its_negative, NUMBERS),
        (bound_anew_in_a_test, [*NUMBERS, None]),
        (bound_in_a_comprehension, WORDS),
        (sequences, LISTS),
        (guarded, WORDS),
        (no_sequence, WORDS),
        (in_a_range, NUMBERS),
        (among_others, [1.0, math.nan, 2.0]),
    ],
)
def test_programs_give_what_python_gives(function: Callable[[Any], Any], values: list[Any]) -> None:
    actual = ck.udf(function)
    results = actual(ck.array(values)).to_pylist()
    assert repr(results) == repr([function(value) for value in values])


def has_many_tests(a: str) -> int:
    if (
        a.find("a") < 0 and a.find("b") < 1 and a.find("c") < 2 and a.find("d") < 3
        and a.find("e") < 4 and a.find("f") < 5 and a.find("g") < 6 and a.find("h") < 7
        and a.find("i") < 8 and a.find("j") < 9 and a.find("k") < 10 and a.find("l") < 1
        and a.find("m") < 12 and a.find("n") < 13 and a.find("o") < 4 and a.find("p") < 15
        and a.find("q") < 16 and a.find("r") < 17 and a.find("s") < 18 and a.find("t") < 19
        and a.find("u") < 20 and a.find("v") < 21 and a.find("w") < 22 and a.find("x") < 23
    ):  # fmt: skip
        return 1
    return 0


def test_a_test_of_many_parts_is_written_once() -> None:
    actual = ck.udf(has_many_tests)
    assert actual(ck.array(WORDS)).to_pylist() == list(map(has_many_tests, WORDS))
    assert actual.source().count("find(") == 24


def digested(a: str) -> str:
    return hashlib.sha512(a.encode()).hexdigest()


def no_row_has_a_result(a: str) -> str:
    words = [word.title() for word in a.split(",")]
    return digested(a)[:4] + "".join(words)


def some_rows_have_a_result(a: str) -> str:
    if "a" in a:
        start = digested(a)[:4]
        for letter in a:
            start += letter.title()
        return start
    return a + "."


def raises_in_any_case(a: str) -> str:
    raise ValueError(a)


def goes_on_behind_an_exception(a: str) -> str:
    try:
        raises_in_any_case(a)
        return a.title()
    except ValueError:
        return a + "?"


@pytest.mark.parametrize(
    ("function", "left"),
    [
        (no_row_has_a_result, len(WORDS)),
        (some_rows_have_a_result, 1),
        (goes_on_behind_an_exception, 0),
    ],
)
def test_code_that_no_row_comes_to_is_not_compiled(function: Any, left: int) -> None:
    actual = ck.udf(function)
    assert actual(ck.array(WORDS)).to_pylist() == list(map(function, WORDS))
    assert "title" not in actual.source()
    assert sum(actual.report().left.values()) == left


def test_a_row_that_all_leave_is_left_at_the_part_that_all_come_to() -> None:
    actual = ck.udf(no_row_has_a_result)
    actual(ck.array(WORDS))
    assert "split" not in actual.source()
    assert "hashlib.sha512" in str(actual.report())


def compares_kinds(a: int) -> bool:
    return a > 0 and 3 in "abc"  # type: ignore[operator]


def measures_a_number(a: int) -> int:
    return a if a < 100 else len(5)  # type: ignore[arg-type]


def formats_wrongly(a: int) -> str:
    return str(a) if a < 100 else f"{3:q}"


@pytest.mark.parametrize("function", [compares_kinds, measures_a_number, formats_wrongly])
def test_constants_that_raise_are_refused_with_their_line(function: Callable[..., Any]) -> None:
    line = function.__code__.co_firstlineno + 1
    with pytest.raises(
        ck.CompileError, match=rf"does not compile: \w+Error[^\n]*\n.*line {line}\n"
    ):
        ck.udf(function)


class Held:
    """A class with an `__index__` of its own, which has no compiled form."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return 1


def pairs(a):  # type: ignore[no-untyped-def]
    return Held(a).value, str(a)


def test_tuples_of_functions_that_run_in_python_are_structs() -> None:
    with pytest.warns(UserWarning, match="pairs runs in Python"):
        results = ck.udf(pairs, fallback=True)(ck.array([1, None, 3]))
    want = [{"f0": 1, "f1": "1"}, None, {"f0": 3, "f1": "3"}]
    assert results.to_pylist() == want


def doubled(a: int) -> int:
    return a * 2


def test_a_mistake_in_generated_source_names_the_function(monkeypatch: pytest.MonkeyPatch) -> None:
    from colkern.rows import plan

    def broken(*_: object) -> Callable[..., Any]:
        return numba.njit(lambda *arguments: arguments.nothing)

    monkeypatch.setattr(plan, "compiled_loop", broken)
    with pytest.raises(CompileError, match="doubled does not compile"):
        ck.udf(doubled)(ck.array(NUMBERS))


def _half(x: int) -> float:
    return x / 2


def _widening(x: int) -> float:
    total = 0
    for _ in range(x):
        total = total + _half(x)
    return total


def test_a_function_written_again_leaves_nothing_of_the_first_time() -> None:
    plan = ck.udf(_widening).plan(ck.int64())
    assert isinstance(plan, Plan)
    assert plan.program.written.keys() == plan.program.sources.keys()
