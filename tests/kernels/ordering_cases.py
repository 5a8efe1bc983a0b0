"""Cases of `colkern.kernels.ordering`; Python's own numbers and bytes say what is less."""

from __future__ import annotations

import functools
import itertools
import math
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
from kernels.case import LENGTHS, At, Case, cases_of, limits, numbers, packed, validities
from kernels.string_cases import PATTERNS, pattern_at, shown_views, some_values
from kernels.value_cases import running

from colkern.kernels import ordering, relations

FLIPS = (0, 255)
STRIDES = ((1, 1), (1, 0), (0, 1))
VECTORS = (*LENGTHS, 130)
"""Lengths with more than one vector."""

T = TypeVar("T")


def answers(left: Sequence[T], right: Sequence[T], less: Callable[[T, T], bool], flip: int) -> Any:
    return packed([less(a, b) != bool(flip) for a, b in zip(left, right, strict=True)])


def below(left: Any, right: Any) -> bool:
    return bool(left < right)


def beside(values: list[T], stride: int, count: int) -> list[T]:
    """The values that each of `count` slots has on a side."""
    return values if stride else values[:1] * count


def sides(
    count: int, strides: tuple[int, int], draw: Callable[[int], list[T]]
) -> tuple[tuple[list[T], list[T]], tuple[list[T], list[T]]]:
    """The values of each slot on either side, and the stored ones: all values, or one of them."""
    left, right = (draw(count if stride else 1) for stride in strides)
    return (beside(left, strides[0], count), beside(right, strides[1], count)), (left, right)


def drawn_from(rng: random.Random, choices: Sequence[T], count: int) -> list[T]:
    return rng.choices(choices, k=count)


def side_by_side(values: list[Any], stride: int) -> list[Any]:
    """A number that is beside all others stands there for a whole vector."""
    return values if stride else values * ordering.SIDE_BY_SIDE


@cases_of(ordering.less_integers)
def less_integers(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("less integers")
    code = types["items"]
    bits = 8 * np.dtype(code).itemsize
    for count, strides, flip in itertools.product(VECTORS, STRIDES, FLIPS):
        for signed in (False, True):
            low, high = limits(code.replace("u", "i") if signed else code)
            choices = (low, low + 1, 0, 1, high // 2 + 1, high - 1, high)
            given, drawn = sides(count, strides, functools.partial(drawn_from, rng, choices))
            expected = answers(*given, below, flip)
            stored = [
                [value % 2**bits for value in side_by_side(values, stride)]
                for values, stride in zip(drawn, strides, strict=True)
            ]
            sign = bits - 1 if signed else 0
            args = (stored[0], strides[0], stored[1], strides[1], sign, count, flip)
            yield Case(f"{count} {strides}, {signed=} {flip=}", len(expected), args, expected)


def or_equal(left: Any, right: Any) -> bool:
    return bool(left <= right)


def or_nan(left: float, right: float) -> bool:
    """Whether one is less, where NaN is more than any number."""
    return not math.isnan(left) and (math.isnan(right) or left < right)


OR_EQUAL = ((0, below), (1, or_equal))

RELATIONS: dict[int, Callable[[float, float], bool]] = {
    relations.LESS: below,
    relations.LESS_OR_EQUAL: or_equal,
    relations.LESS_OR_NAN: or_nan,
}


@cases_of(ordering.less_floats)
def less_floats(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("less floats")
    choices = (0.0, -0.0, 1.5, -1.5, math.nan, math.inf, -math.inf, 1e-40)
    for count, strides, relation in itertools.product(VECTORS, STRIDES, RELATIONS):
        for flip in FLIPS:
            given, drawn = sides(count, strides, lambda n: rng.choices(choices, k=n))
            expected = answers(*given, RELATIONS[relation], flip)
            left, right = map(side_by_side, drawn, strides)
            args = (left, strides[0], right, strides[1], relation, count, flip)
            label = f"{count} {strides}, relation {relation}, flip {flip}"
            yield Case(label, len(expected), args, expected)


@cases_of(ordering.less_decimals)
def less_decimals(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("less decimals")
    for count, strides, width in itertools.product(LENGTHS, STRIDES, (2, 4)):
        top = 2 ** (64 * width - 1)
        choices = [-top, -1, 0, 1, top - 1, top >> 3, (top >> 3) + 1, -(top >> 3), 2**63]
        choices = [value for value in choices if -top <= value < top]
        for flip in FLIPS:
            given, drawn = sides(count, strides, functools.partial(drawn_from, rng, choices))
            expected = answers(*given, below, flip)
            left, right = (
                [v >> 64 * k & 2**64 - 1 for v in side_by_side(d, stride) for k in range(width)]
                for d, stride in zip(drawn, strides, strict=True)
            )
            args = (left, strides[0], right, strides[1], width, count, flip)
            yield Case(f"{count} {strides} {width} {flip}", len(expected), args, expected)


def stored_text(values: list[bytes], room: int) -> tuple[Any, Any, int]:
    """Offsets, the address of the bytes, and the place of the last word; with no byte behind them."""
    data = b"??" + b"".join(values)
    data += bytes(max(8 - len(data), 0) + room)
    return running([len(v) for v in values], 2), At(np.frombuffer(data, np.uint8)), len(data) - 8


@cases_of(ordering.less_text)
def less_text(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("less text")
    for count, pattern, (or_equal, less) in itertools.product(LENGTHS, PATTERNS, OR_EQUAL):
        values = some_values(rng, count)
        flip = rng.choice(FLIPS)
        expected = answers(values, [pattern] * count, less, flip)
        text = stored_text(values, rng.choice((0, 3)))
        args = (*text, *pattern_at(pattern), or_equal, count, flip)
        yield Case(f"{count} {pattern!r} {or_equal} {flip}", len(expected), args, expected)


@cases_of(ordering.less_texts)
def less_texts(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("less texts")
    for count, flip in itertools.product((*LENGTHS, 81, 200), FLIPS):
        left, right = (some_values(rng, count) for _ in range(2))
        expected = answers(left, right, below, flip)
        texts = (stored_text(values, rng.choice((0, 3))) for values in (left, right))
        args = (*itertools.chain(*texts), count, flip)
        yield Case(f"{count}, flip {flip}", len(expected), args, expected)
    # Far ones are asked for where values are long.
    long = [rng.randbytes(1) * rng.randrange(80, 90) for _ in range(100)]
    expected = answers(long, long[::-1], below, 0)
    args = (*stored_text(long, 0), *stored_text(long[::-1], 0), 100, 0)
    yield Case("long", len(expected), args, expected)


View = tuple[list[bytes | None], tuple[Any, ...]]


def some_views(count: int, rng: random.Random) -> Iterator[View]:
    """Values, and what a kernel takes of their views; garbage under nulls."""
    for _, bytes_, offset, valid in validities(rng, count):
        values = some_values(rng, count)
        values_or_none = [v if ok else None for v, ok in zip(values, valid, strict=True)]
        yield values_or_none, (*shown_views(rng, values, valid), bytes_, offset)


@cases_of(ordering.less_view)
def less_view(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("less view")
    for count, pattern in itertools.product(LENGTHS, PATTERNS):
        for values, views in some_views(count, rng):
            flip, (or_equal, less) = rng.choice(FLIPS), rng.choice(OR_EQUAL)
            # Nothing is what a null is taken for.
            expected = answers([v or b"" for v in values], [pattern] * count, less, flip)
            args = (*views, *pattern_at(pattern), or_equal, count, flip)
            yield Case(f"{count} {pattern!r} {or_equal} {flip}", len(expected), args, expected)


def both_and_below(left: bytes | None, right: bytes | None) -> bool:
    return left is not None and right is not None and left < right


@cases_of(ordering.less_views)
def less_views(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("less views")
    for count, flip in itertools.product((*LENGTHS, 200), FLIPS):
        pairs = zip(some_views(count, rng), some_views(count, rng), strict=True)
        for (left, views), (right, others) in pairs:
            expected = answers(left, right, both_and_below, flip)
            args = (*views, *others, count, flip)
            yield Case(f"{count}, flip {flip}", len(expected), args, expected)
