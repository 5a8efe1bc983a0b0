"""Row functions in the words of people's own code, against the plain function over the same rows."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest

import colkern as ck

NUMBERS = [0, 1, 2, -1, -3]


def outcome(function: Callable[..., Any], *row: Any) -> Any:
    """A function's result, or the exception that it raises."""
    try:
        return function(*row)
    except Exception as error:  # noqa: BLE001
        return type(error), str(error)


# Tuples whose items the row chooses

STEPS = ((0, 1, 2), (1, 5, 7))
NAMED = [(("a", 1), ("b", 2)), (("c", 3), ("d", 4))]


def of_constants(n: int) -> int:
    return STEPS[n][n] + NAMED[n][n][1]


def of_the_row(n: int) -> int:
    return (n, n * n, 7)[n]


def of_lists(n: int) -> list[int]:
    pair = ([n], [n, n])
    pair[n].append(3)
    return pair[n]


def that_is_lacked(n: int) -> str:
    try:
        return str((n, 5)[n])
    except IndexError as error:
        return str(error)


@pytest.mark.parametrize("function", [of_constants, of_the_row, of_lists, that_is_lacked])
def test_an_item_of_a_tuple_may_be_one_that_the_row_chooses(function: Callable[[int], Any]) -> None:
    compiled = ck.udf(function)
    for n in NUMBERS:
        assert outcome(lambda n: compiled(ck.array([n])).to_pylist()[0], n) == outcome(function, n)


# Classes


@dataclass
class Vector:
    x: float
    y: float

    def __abs__(self) -> float:
        return math.hypot(self.x, self.y)

    def __neg__(self) -> Vector:
        return Vector(-self.x, -self.y)

    def __pos__(self) -> float:
        return self.x

    def __invert__(self) -> float:
        return self.y

    def __matmul__(self, other: Vector) -> float:
        return self.x * other.x + self.y * other.y

    def __round__(self, digits: int = 0) -> Vector:
        return Vector(round(self.x, digits), round(self.y, digits))

    def __int__(self) -> int:
        return int(self.x)

    def __float__(self) -> float:
        return self.y / 2

    def __iter__(self) -> Iterator[float]:
        yield self.x
        yield self.y


class Steps:
    def __init__(self, n: int) -> None:
        self.items = [n, n + 1]

    def __iter__(self) -> Iterator[int]:
        return iter(self.items)

    def add(self, n: int) -> None:
        self.items.append(n)


class Shape:
    sides = 0

    def name(self) -> str:
        return f"shape of {self.sides}"


class Square(Shape):
    sides = 4


class Below(NamedTuple):
    n: int

    def __neg__(self) -> int:
        return -1 - self.n


def by_operators(n: int) -> float:
    v = Vector(n / 3, 2.0)
    return abs(-v) + (v @ round(v, 1)) + round(v).x + (+v) + (~v) + (-Below(n))


def by_conversions(n: int) -> float:
    return int(Vector(n * 1.5, 1.0)) + float(Vector(1.0, n * 1.0))


def gone_over(n: int) -> float:
    x, y = Vector(n * 1.0, 5.0)
    first, *rest = Steps(n)
    first, second = Steps(first)
    total = sum(Vector(x, 1.0)) + len(list(Steps(n))) + (n * 1.0 in Vector(1.0, 2.0)) + rest[-1]
    for step in Steps(n):
        total += step
    return total + x * 10 + y + first + second


def grown_while_gone_over(n: int) -> int:
    steps = Steps(n)
    for step in steps:
        if len(steps.items) > 5:
            break
        steps.add(step)
    return len(steps.items)


def without_a_constructor(n: int) -> str:
    shape = Square() if n > 0 else Shape()
    return shape.name() + {"a": Square, "b": Shape}["a" if n else "b"]().name()


@pytest.mark.parametrize(
    ("function", "most_left"),
    [
        *((function, 0) for function in (by_operators, by_conversions, gone_over)),
        *((without_a_constructor, 0), (grown_while_gone_over, len(NUMBERS))),
    ],
)
def test_special_methods_that_operators_loops_and_conversions_call(
    function: Callable[[int], Any], most_left: int
) -> None:
    compiled = ck.udf(function)
    assert compiled(ck.array(NUMBERS)).to_pylist() == [*map(function, NUMBERS)]
    assert sum(compiled.report().left.values()) <= most_left


# Sets, whose order is unknown

WORDS = [["a", "bb", "a"], [], ["ccc", ""], ["x", "yy", "zzz", "y"], ["bb", "cc"], ["wwww", ""]]


def in_sums(words: list[str]) -> int:
    counts, others = Counter(words), Counter(words[:2])
    keys = set(counts) | set(others)
    return sum(min(counts[k], others[k]) for k in keys) + sum([max(len(k), 1) for k in keys])


def in_extremes(words: list[str]) -> str:
    lengths = [len(w) for w in words]
    return f"{max((n * 2 for n in set(lengths)), default=0)} {min(w.upper() for w in set(words))}"


def in_order(words: list[str]) -> list[str]:
    return sorted(w.upper() for w in set(words) if w)


def in_sets(words: list[str]) -> int:
    return len({w[:1] for w in set(words)}) * 100 + len(set(w[1:] for w in set(words)))  # noqa: C401


def in_handlers(words: list[str]) -> str:
    try:
        return str(sum(10 // len(w) + [1, 2, 3][len(w)] for w in set(words)))
    except (ZeroDivisionError, IndexError) as error:
        return str(error)


def by_keys(words: list[str]) -> str:
    return max((w for w in set(words)), key=len, default="")


def in_tests(words: list[str]) -> bool:
    few = set(words)
    return any(10 // len(w) > 2 for w in few) or all(w in words[1:] for w in few)


@pytest.mark.parametrize(
    "function", [in_sums, in_extremes, in_order, in_sets, in_handlers, by_keys, in_tests]
)
def test_sets_are_gone_over_where_their_order_does_not_matter(
    function: Callable[[list[str]], Any],
) -> None:
    compiled = ck.udf(function)
    for words in WORDS:
        got = outcome(
            lambda row: compiled(ck.array([row], ck.list_(ck.utf8()))).to_pylist()[0], words
        )
        assert got == outcome(function, words)


def of_a_list(words: list[str]) -> list[str]:
    return [w for w in {*words}]  # noqa: C416


def of_floats(words: list[str]) -> float:
    return sum(len(w) / 3 for w in set(words))


def of_zeros(words: list[str]) -> float:
    return max(len(w) * -0.0 for w in set(words))


def of_effects(words: list[str]) -> list[str]:
    found: list[str] = []
    if sum(found.append(w) or 1 for w in set(words)):  # type: ignore[func-returns-value,misc]
        return found
    return words


def of_defaults(words: list[str]) -> list[str]:
    counts: dict[str, int] = defaultdict(int)
    return [*counts] if sum(counts[w] for w in set(words)) else words


def of_names(words: list[str]) -> int:
    last = 0
    return sum((last := len(w)) for w in set(words)) + last


def of_iterators(words: list[str]) -> int:
    rest = iter(words)
    return sum(w in rest for w in set(words))


@pytest.mark.parametrize(
    "function",
    [of_a_list, of_floats, of_zeros, of_effects, of_defaults, of_names, of_iterators],
)
def test_the_order_of_a_set_is_refused_where_it_matters(function: Callable[..., Any]) -> None:
    with pytest.raises(ck.CompileError, match="order"):
        ck.udf(function)
