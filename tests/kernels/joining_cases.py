"""Cases of `colkern.kernels.joining`."""

from __future__ import annotations

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
        found = [
            [i for i in order if of[i] == g] if v else [] for g, v in zip(own, valid, strict=True)
        ]
        yield f"{rows}, {label}", (own, bits, 3, bounds), order, found


@cases_of(joining.count_matches)
def count_matches(types: dict[str, str]) -> Iterator[Case]:
    for (label, given, _, found), least in itertools.product(matches(), (0, 1)):
        expected = [max(len(rows), least) for rows in found]
        yield Case(f"{label}, {least}", len(found), (*given, KNOWN, least), expected)


@cases_of(joining.left_of_matches)
def left_of_matches(types: dict[str, str]) -> Iterator[Case]:
    for label, _, _, found in matches():
        starts = list(itertools.accumulate(map(len, found), initial=0))
        expected = [i for i, rows in enumerate(found) for _ in rows]
        yield Case(label, len(found), (starts,), expected)


@cases_of(joining.right_of_matches)
def right_of_matches(types: dict[str, str]) -> Iterator[Case]:
    for (label, given, order, found), outer in itertools.product(matches(), (False, True)):
        expected = [rows or [joining.NO_MATCH] * outer for rows in found]
        starts = list(itertools.accumulate(map(len, expected), initial=0))
        args = (*given, order, KNOWN, starts)
        yield Case(f"{label}, {outer}", len(found), args, [i for rows in expected for i in rows])
