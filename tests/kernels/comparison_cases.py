"""Cases of `colkern.kernels.comparison`; NumPy says what is equal."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
from kernels.case import LENGTHS, Case, cases_of, limits, numbers, packed

from colkern.kernels import comparison

FLIPS = (0, 255)


def some_items(code: str, rng: random.Random, count: int) -> Any:
    """Few different numbers, so that some are equal."""
    if code[0] == "f":
        choices: list[Any] = [0.0, -0.0, 1.5, float("nan"), float("inf"), -1e30]
    else:
        low, high = limits(code)
        choices = [low, high, 1, high // 2 + 1]
    return np.array([rng.choice(choices) for _ in range(count)], code)


def answers(same: Any, flip: int) -> list[int]:
    return packed([bool(bit) != bool(flip) for bit in same])


@cases_of(comparison.equal_items)
def equal_items(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("equal items")
    for count in LENGTHS:
        for flip in FLIPS:
            left, right = (some_items(types["left"], rng, count) for _ in range(2))
            expected = answers(left == right, flip)
            args = (left, right, count, flip)
            yield Case(f"{count}, flip {flip}", len(expected), args, expected)


@cases_of(comparison.equal_item)
def equal_item(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("equal item")
    for count in LENGTHS:
        for flip in FLIPS:
            left, value = (some_items(types["left"], rng, n) for n in (count, 1))
            expected = answers(left == value[0], flip)
            args = (left, value, count, flip)
            yield Case(f"{count} {value}, flip {flip}", len(expected), args, expected)


@cases_of(comparison.equal_wide)
def equal_wide(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("equal wide")
    low, high = limits(types["left"])
    for width in (0, 1, 2, 5):
        pieces = [[rng.choice((low, high)) for _ in range(width)] for _ in range(3)]
        for count in LENGTHS:
            for stride in (0, width):
                left = [rng.choice(pieces) for _ in range(count)]
                right = [rng.choice(pieces) for _ in range(count if stride else 1)]
                same = [v == right[i if stride else 0] for i, v in enumerate(left)]
                expected = answers(same, 0)
                flat = [[item for value in side for item in value] for side in (left, right)]
                label = f"{count} of {width}, stride {stride}"
                args = (*flat, width, stride, count, 0)
                yield Case(label, len(expected), args, expected)
    yield Case("flipped", 1, ([1, 2], [1, 1], 1, 1, 2, 255), [2])


@cases_of(comparison.equal_halves)
def equal_halves(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("equal halves")
    choices = np.array([0.0, -0.0, 1.5, -1.5, np.nan, np.inf, -np.inf, 6e-8], np.float16)
    for count in LENGTHS:
        for flip in FLIPS:
            for stride in (0, 1):
                left = choices[[rng.randrange(8) for _ in range(count)]]
                right = choices[[rng.randrange(8) for _ in range(count if stride else 1)]]
                same = left == (right if stride else right[0])
                expected = answers(same, flip)
                args = (left.view(np.uint16), right.view(np.uint16), stride, count, flip)
                yield Case(f"{count}, {stride}, flip {flip}", len(expected), args, expected)
