"""Functions as values that have values of the row, against Python: methods, partial objects, closures."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import colkern as ck

ROWS = [("ab", 3), ("", -1), ("é1a", 0), ("a,b,a", 2)]

SHARES = {"a": 1, "b": 2}
share = SHARES.get
label = "{}-{}".format
joined = "".join
PATTERN: re.Pattern[str] | None = None
CALLS = 0


def appended(s: str, n: int) -> tuple[str, list[int]]:
    parts: list[str] = []
    counts: dict[str, list[int]] = {}
    append, of = parts.append, counts.setdefault
    for c in s:
        append(c)
        append(c.upper())
        of(c, []).append(n)
    return joined(parts), [sum(each) for each in counts.values()]


def of_either(s: str, n: int) -> str:
    change = s.upper if n > 0 else functools.partial(lambda text, end: text + end, s, end="!")
    return change()


def of_constants(s: str, n: int) -> tuple[str, int]:
    return label(s, n), (share(s[:1]) or 0) + share("b", 0)


def of_functions(s: str, n: int) -> tuple[list[int], list[str]]:
    return list(map(s.find, ["a", "b"])), sorted("ba", key=s.find)


def of_partial_with_an_effect(s: str, n: int) -> tuple[int, str, list[int]]:
    numbers = [97, n]
    least = functools.partial(min, numbers.pop())
    return least(5), chr(numbers.pop()), numbers


def of_partial(s: str, n: int) -> tuple[float, float, int]:
    rounded, most = functools.partial(round, ndigits=n), functools.partial(max, n)
    return rounded(2.345), rounded(2.345, ndigits=1), most(most(1, 7), len(s))


def defaults_are_of_the_definition(s: str, n: int) -> tuple[list[int], int, int]:
    made = [lambda x, k=k: x * k + n for k in range(4)]

    def moved(x: int, m: int = n * 2) -> int:
        return x + m + n

    n += 100
    return [f(2) for f in made], moved(1), moved(1, m=5)


def maker(k: int, t: int = 3) -> Callable[..., int]:
    def inner(x: int, y: int = t * k) -> int:
        def deep(z: int) -> int:
            return z + k

        return deep(x) * y

    return inner


def pair(n: int) -> tuple[Callable[[], int], Callable[[], int]]:
    return lambda: n, lambda: n + 1


def made_elsewhere(s: str, n: int) -> tuple[int, list[int], int]:
    made, (first, second) = maker(n), pair(n + 5)
    n = 7
    return made(2) + made(2, 1), [maker(k)(2) for k in range(3)], first() * second()


def piped(*functions: Callable[[str], str]) -> Callable[[str], str]:
    def run(x: str) -> str:
        for function in functions:
            x = function(x)
        return x

    return run


def composed(s: str, n: int) -> str:
    return piped(str.strip, str.lower, lambda x: x.replace("a", "_"))(s)


def reads_on(s: str, n: int) -> tuple[str, list[str]]:
    parts = (part.strip() for part in ("x," + s).split(","))
    return parts.__next__(), list(parts)


@pytest.mark.parametrize(
    "function",
    [
        appended,
        of_either,
        of_constants,
        of_functions,
        of_partial,
        of_partial_with_an_effect,
        defaults_are_of_the_definition,
        made_elsewhere,
        composed,
        reads_on,
    ],
)
def test_functions_with_values_of_the_row_compile(function: Callable[..., Any]) -> None:
    compiled = ck.udf(function, strict=True)
    wanted = [function(*row) for row in ROWS]
    actual = compiled(*map(ck.array, zip(*ROWS, strict=True))).to_pylist()
    assert [tuple(a.values()) if isinstance(a, dict) else a for a in actual] == wanted


def test_a_method_of_a_constant_that_changes_compiles_anew() -> None:
    compiled = ck.udf(lambda s: share(s, 0))
    assert compiled(ck.array(["a", "c"])).to_pylist() == [1, 0]
    SHARES["c"] = 9
    assert compiled(ck.array(["a", "c"])).to_pylist() == [1, 9]
    del SHARES["c"]


def listed(n: int) -> list[Callable[[], int]]:
    return [lambda: n]


def one_of(n: int) -> Callable[[], int]:
    return (lambda: n) if n > 3 else (lambda: n + 1)


def given(n: int) -> Iterator[Callable[[], int]]:
    yield lambda: n


def twice(function: Callable[[int], int]) -> Callable[[int], int]:
    return lambda x: function(function(x))


def of_a_list(n: int) -> int:
    made = listed(n + 5)
    n = 7
    return made[0]()


def of_a_choice(n: int) -> int:
    made = one_of(n + 5)
    n = 7
    return made()


def of_a_generator(n: int) -> list[int]:
    return [each() for each in given(n + 5)]


def changed_later(n: int) -> int:
    k = 3
    made = twice(lambda x: x + k)
    k = 50
    return made(n)


def counted(n: int) -> int:
    def made() -> Callable[[], int]:
        k = 0

        def count() -> int:
            nonlocal k
            k += n
            return k

        return count

    count = made()
    return count() + count()


def adder(n: int) -> Callable[[int], int]:
    return lambda z: z + n


def of_a_call_with_an_effect(n: int) -> list[int]:
    numbers = [1, 2, n]
    return [*map(adder(numbers.pop()), [1, 2]), *numbers]


def of_a_default_with_an_effect(n: int) -> list[int]:
    numbers = [1, 2, n]
    ordered = sorted([2, 1], key=lambda z, k=numbers.pop(): z * k)  # type: ignore[misc]  # noqa: B008
    return [*ordered, *numbers]


def adder_at_the_end(n: int) -> Callable[[int], int]:
    try:
        return lambda z: z + n
    finally:
        n = 5


def changed_by_finally(n: int) -> int:
    return adder_at_the_end(n)(1)


def compared(n: int) -> bool:
    text = str(n)
    return text.upper == text.upper


PYTHONS = [
    of_a_list, of_a_choice, of_a_generator, changed_later, counted, compared,
    of_a_call_with_an_effect, of_a_default_with_an_effect, changed_by_finally,
]  # fmt: skip


@pytest.mark.parametrize("function", PYTHONS)
def test_functions_whose_variables_mean_something_else_where_they_are_called(
    function: Callable[[int], Any],
) -> None:
    with pytest.warns(UserWarning, match=f"{function.__name__} runs in Python"):
        compiled = ck.udf(function, fallback=True)
    assert compiled(ck.array([1, 2])).to_pylist() == [function(1), function(2)]


def split_once(s: str) -> list[str]:
    global PATTERN
    if PATTERN is None:
        PATTERN = re.compile("[,;]")
    return PATTERN.split(s)


def test_a_global_that_is_set_once_is_a_constant_from_then_on() -> None:
    with pytest.raises(ck.CompileError, match="an assignment to a global name"):
        ck.udf(split_once)
    wanted = [split_once("a,b;c")]
    assert ck.udf(split_once, strict=True)(ck.array(["a,b;c"])).to_pylist() == wanted


def count_calls() -> int:
    global CALLS
    CALLS += 1
    return CALLS


def counts_some(s: str) -> int:
    if s == "a":
        return count_calls()
    return CALLS


def test_no_row_is_left_to_python_for_a_global_that_others_read() -> None:
    with pytest.raises(ck.CompileError, match="an assignment to a global name"):
        ck.udf(counts_some)


def counts_after_another(s: str) -> int:
    global CALLS
    if s == "a":
        open("/dev/null").close()
        CALLS = 1
    return CALLS


def defines_a_global(s: str) -> str:
    global share

    def share() -> str:
        return s

    return s


@pytest.mark.parametrize("function", [counts_after_another, defines_a_global])
def test_a_global_may_be_assigned_to_anywhere(function: Callable[[str], Any]) -> None:
    with pytest.raises(ck.CompileError):
        ck.udf(function)
