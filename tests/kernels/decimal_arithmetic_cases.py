"""Cases of `colkern.kernels.decimal_arithmetic`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

import numpy as np
from kernels.case import NOWHERE, Case, cases_of, numbers, validities

from colkern.kernels import decimal_arithmetic as kernels

COUNTS = (0, 1, 5, 40)
ALL = 2**64 - 1


def words(values: list[int], width: int) -> list[int]:
    return [value >> 64 * k & ALL for value in values for k in range(width)]


def some(rng: Random, bits: int) -> int:
    """A number of any length, of either sign."""
    return rng.choice((1, -1)) * rng.getrandbits(rng.randint(1, bits - 1))


def operands(seed: str) -> Iterator[tuple[str, int, int, list[int], list[int], tuple[object, ...]]]:
    """Numbers of both sides, and how they are passed; one number may stand for all of a side."""
    rng = numbers(seed)
    for width in (2, 4):
        for count in COUNTS:
            for single in ("", "left", "right"):
                sides: list[list[int]] = []
                passed: list[object] = []
                for side in ("left", "right"):
                    own = 1 if side == single else count
                    values = [some(rng, 64 * width) for _ in range(own)]
                    sides.append(values * count if side == single else values)
                    passed += [words(values, width), 0 if side == single else width]
                yield (
                    f"{width} words, {count}, {single}",
                    width,
                    count,
                    sides[0],
                    sides[1],
                    tuple(passed),
                )


def cut(
    function: Callable[[int, int], int], left: list[int], right: list[int], width: int
) -> list[int]:
    return words([function(a, b) for a, b in zip(left, right, strict=True)], width)


@cases_of(kernels.add_decimals)
def add_decimals(types: dict[str, str]) -> Iterator[Case]:
    for label, width, count, left, right, passed in operands("add decimals"):
        for flip, function in ((0, int.__add__), (ALL, int.__sub__)):
            expected = cut(function, left, right, width)
            yield Case(label, count, (*passed, np.uint64(flip), width), expected)


@cases_of(kernels.multiply_decimals)
def multiply_decimals(types: dict[str, str]) -> Iterator[Case]:
    for label, width, count, left, right, passed in operands("multiply decimals"):
        yield Case(label, count, (*passed, width), cut(int.__mul__, left, right, width))


def towards_zero(left: int, right: int) -> int:
    quotient = abs(left) // abs(right or 1)
    return quotient if (left < 0) == (right < 0) else -quotient


def hard_pairs(rng: Random, bits: int) -> Iterator[tuple[int, int]]:
    """Quotients next to the step from one number to the next, and numbers next to powers of two."""
    most, least = 2 ** (bits - 1) - 1, -(2 ** (bits - 1))
    for divisor in (1, -1, 2, 3, 2**63, 2**64 - 1, 2**64, most, least + 1, least):
        yield from ((number, divisor) for number in (0, 1, most, least + 1, least))
    for size in range(2, bits - 1, 7):
        divisor = rng.choice((2**size - 1, 2**size, 2**size + 1, rng.getrandbits(size) or 1))
        product = divisor * (rng.getrandbits(bits - 1 - size) // 4)
        yield from ((product + more, divisor) for more in (-1, 0, 1))
        yield -product, divisor


@cases_of(kernels.divide_decimals)
def divide_decimals(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("divide decimals")
    for label, width, count, left, right, passed in operands("divide decimals"):
        if 0 not in right:
            expected = cut(towards_zero, left, right, width)
            yield Case(label, count, (*passed, [], 0, width), (NOWHERE, expected))
    for width in (2, 4):
        pairs = [*hard_pairs(rng, 64 * width)]
        left, right = ([pair[side] for pair in pairs] for side in (0, 1))
        given = (words(left, width), width, words(right, width), width)
        expected = cut(towards_zero, left, right, width)
        label, count = f"{width} words, hard", len(pairs)
        yield Case(label, count, (*given, [], 0, width), (NOWHERE, expected))
    for label, bytes_, offset, valid in validities(rng, 9):
        left, right = [some(rng, 128) for _ in range(9)], [some(rng, 60) or 1 for _ in range(9)]
        zeros = [slot for slot in range(9) if not valid[slot]]
        for slot in zeros:
            right[slot] = 0
        head = (words(left, 2), 2, words(right, 2), 2, bytes_, offset, 2)
        expected = [towards_zero(a, b) for a, b in zip(left, right, strict=True)]
        for slot in zeros:
            expected[slot] = left[slot]
        yield Case(f"nulls, {label}", 9, head, (NOWHERE, words(expected, 2)))
