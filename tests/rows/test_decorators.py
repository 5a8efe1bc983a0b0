"""Decorated functions within row functions, and functions with a cache, against the plain functions."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

import colkern as ck

LIMIT = 3
NUMBERS = [0, 1, 2, 5, None, 40]


@functools.cache
def ways(n: int, step: int) -> int:
    if n < LIMIT:
        return int(n >= 0)
    return ways(n - 1, step) + ways(n - step, step)


def of_a_cached_function(n: int) -> int:
    return ways(n, 2) + ways(n, 3)


def of_one_whose_global_it_hides(n: int) -> int:
    LIMIT = 20
    return ways(n, 2) + LIMIT


def inner(n: int) -> int:
    @functools.lru_cache(maxsize=500)
    def fibonacci(k: int) -> int:
        return k if k < 2 else fibonacci(k - 1) + fibonacci(k - 2)

    return fibonacci(n)


def of_several_arguments(n: int) -> int:
    coins = (1, 5, 10, 25)

    @functools.cache
    def change(rest: int, *, first: int) -> int:
        if rest == 0:
            return 1
        if rest < 0 or first == len(coins):
            return 0
        return change(rest - coins[first], first=first) + change(rest, first=first + 1)

    return change(n, first=0)


def calls_counted(n: int) -> int:
    calls = 0

    @functools.cache
    def square(k: int) -> int:
        nonlocal calls
        calls += 1
        return k * k

    @functools.cache
    def two() -> int:
        nonlocal calls
        calls += 100
        return 2

    return sum(square(k % two()) for k in range(n)) * 1000 + calls


def nothing_kept(n: int) -> int:
    calls = 0

    @functools.lru_cache(maxsize=0)
    def square(k: int) -> int:
        nonlocal calls
        calls += 1
        return k * k

    return sum(square(k % 2) for k in range(n)) * 1000 + calls


def results_shared(n: int) -> list[int]:
    @functools.cache
    def below(k: int) -> list[int]:
        return list(range(k))

    below(n).append(-1)
    return below(n)


def named_for_another(n: int) -> int:
    def other(k: int) -> int:
        return k

    @functools.wraps(other)
    def twice(k: int) -> int:
        return 2 * other(k)

    return twice(n)


def doubled(function: Callable[[int], int]) -> Callable[[int], int]:
    return lambda k: 2 * function(k)


def decorated_within(n: int) -> int:
    @doubled
    def more(k: int) -> int:
        return k + 1

    return more(n)


@pytest.mark.parametrize(
    "function",
    [
        of_a_cached_function,
        of_one_whose_global_it_hides,
        inner,
        of_several_arguments,
        calls_counted,
        nothing_kept,
        results_shared,
        named_for_another,
        decorated_within,
    ],
)
def test_a_decorated_function(function: Callable[[int], Any]) -> None:
    got = ck.udf(function, strict=True)(ck.array(NUMBERS))
    assert got.to_pylist() == [None if n is None else function(n) for n in NUMBERS]


def test_a_row_for_which_a_cache_is_too_small_is_pythons() -> None:
    def misses(n: int) -> int:
        calls = 0

        @functools.lru_cache(maxsize=2)
        def square(k: int) -> int:
            nonlocal calls
            calls += 1
            return k * k

        return sum(square(k % 4) for k in range(n)) * 1000 + calls

    compiled = ck.udf(misses)
    assert compiled(ck.array([1, 2, 9])).to_pylist() == [misses(n) for n in (1, 2, 9)]
    assert [site.reason for site in compiled.report().sites if site] == [
        "a cache that drops results"
    ]


@functools.cache
def head(items: list[int]) -> int:
    return items[0]


def of_a_list(n: int) -> int:
    return head([n])


def generator_kept(n: int) -> int:
    @functools.cache
    def numbers(k: int) -> Any:
        yield k

    return sum(numbers(n)) + sum(numbers(n))


@functools.cache
def even(n: int) -> bool:
    return n == 0 or odd(n - 1)


@functools.cache
def odd(n: int) -> bool:
    return n != 0 and even(n - 1)


def in_turn(n: int) -> bool:
    return even(n)


def spelled_in_two_ways(n: int) -> list[int]:
    @functools.cache
    def pair(a: int, b: int = 1) -> list[int]:
        return [a, b]

    pair(n).append(9)
    return pair(n, 1)


@functools.cache
def steps(n: int) -> list[int]:
    return [*steps(n - 1), n] if n > 0 else [0]


def changes_steps(n: int) -> list[int]:
    steps(n).append(-1)
    return steps(n)


@functools.cache
def single(n: int) -> list[int]:
    return [n]


def changes_single(n: int) -> list[int]:
    single(n).append(-1)
    return single(n)


class Counter:
    def __init__(self, n: int) -> None:
        self.n = n


@functools.cache
def counter(n: int) -> Counter:
    return Counter(n)


def changes_counter(n: int) -> int:
    counted = counter(n)
    counted.n += 1
    return counted.n


def of_a_broken_size(n: int) -> int:
    @functools.lru_cache(maxsize=2.5)  # type: ignore[call-overload]
    def same(k: int) -> int:
        return k

    return same(n)


CHANGES = "a constant that changes has no compiled form"


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (spelled_in_two_ways, "spell its arguments in several ways"),
        (changes_steps, CHANGES),
        (changes_single, CHANGES),
        (changes_counter, "an instance that a cache keeps"),
        (of_a_broken_size, "maxsize is an integer or None"),
        (of_a_list, r"head has a cache, and list\[int\] is not hashable"),
        (generator_kept, "a cache of a generator"),
        (in_turn, "even calls itself through a cache"),
    ],
)
def test_other_decorated_functions_are_refused(function: Any, reason: str) -> None:
    with pytest.raises(ck.CompileError, match=reason):
        ck.udf(function)(ck.array(NUMBERS))
