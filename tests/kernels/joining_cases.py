"""Cases of `colkern.kernels.joining`."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterator
from typing import Any

from kernels.case import Case, bitmap, cases_of, numbers, random_bits

from colkern.kernels import joining

KNOWN = 4


def matches() -> Iterator[tuple[str, tuple[Any, ...], list[int], list[list[int]]]]:
    """Numbers of rows with and without nulls, the rows of the other side, and those that match."""
    rng = numbers("matches")
    of = [rng.randrange(KNOWN - 1) for _ in range(9)]
    order = sorted(range(9), key=lambda i: of[i])
    bounds = [sum(g < k for g in of) for k in range(KNOWN + 1)]
    for rows, label in itertools.product((0, 1, 40), ("some null", "none null")):
        own = [rng.randrange(KNOWN + 2) for _ in range(rows)]
        valid = random_bits(rng, rows) if label == "some null" else [True] * rows
        bits = bitmap(valid, 3, rng) if label == "some null" and rows else []
        result = [
            [i for i in order if of[i] == g] if v else [] for g, v in zip(own, valid, strict=True)
        ]
        yield f"{rows}, {label}", (own, bits, 3, bounds), order, result


@cases_of(joining.count_matches)
def count_matches(types: dict[str, str]) -> Iterator[Case]:
    for (label, given, _, item), least in itertools.product(matches(), (0, 1)):
        expected = [max(len(rows), least) for rows in item]
        yield Case(f"{label}, {least}", len(item), (*given, KNOWN, least), expected)


@cases_of(joining.left_of_matches)
def left_of_matches(types: dict[str, str]) -> Iterator[Case]:
    for label, _, _, item in matches():
        starts = list(itertools.accumulate(map(len, item), initial=0))
        expected = [i for i, rows in enumerate(item) for _ in rows]
        yield Case(label, len(item), (starts,), expected)


@cases_of(joining.right_of_matches)
def right_of_matches(types: dict[str, str]) -> Iterator[Case]:
    for (label, given, order, item), outer in itertools.product(matches(), (False, True)):
        expected = [rows or [joining.NO_MATCH] * outer for rows in item]
        starts = list(itertools.accumulate(map(len, expected), initial=0))
        args = (*given, order, KNOWN, starts)
        yield Case(f"{label}, {outer}", len(item), args, [i for rows in expected for i in rows])


def words_in_order() -> Iterator[tuple[str, list[int], list[int]]]:
    """The words of both sides, in order, of which many are equal."""
    rng = numbers("words in order")
    for left, right, most in itertools.product((0, 1, 70), (0, 1, 90), (2**64 - 1, 30)):
        words = sorted(rng.randint(0, most) for _ in range(left))
        others = sorted(rng.randint(0, most) for _ in range(right))
        yield f"{left}, {right}, up to {most}", words, others


@cases_of(joining.match_last)
def match_last(types: dict[str, str]) -> Iterator[Case]:
    for label, left, right in words_in_order():
        expected = [bisect.bisect_right(right, word) - 1 for word in left]
        result = [joining.NO_MATCH if row < 0 else row for row in expected]
        yield Case(label, len(left), (left, right), result)


@cases_of(joining.match_last_of_group)
def match_last_of_group(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("match groups")
    for label, left, right in words_in_order():
        own, others = ([rng.randrange(3) for _ in side] for side in (left, right))
        ends = [bisect.bisect_right(right, word) for word in left]

        def last(group: int, end: int, others: list[int] = others) -> int:
            return max((j for j in range(end) if others[j] == group), default=joining.NO_MATCH)

        result = [last(group, end) for group, end in zip(own, ends, strict=True)]
        table = [last(group, ends[-1] if ends else 0) for group in range(3)]
        # What is behind them takes the rows that are not looked at yet.
        spare = [end for end in ends if end < len(right)][-1:] or [joining.NO_MATCH]
        args = (left, right, own, others, 3)
        before = [7] * len(left) + [joining.NO_MATCH] * 4
        yield Case(label, len(left), args, [*result, *table, *spare], before)
