"""Cases of `colkern.kernels.arithmetic`."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from kernels.case import LENGTHS, NOWHERE, Case, cases_of, limits, numbers, validities

from colkern.kernels import Kernel, arithmetic

Operator = Callable[[Any, Any], Any]


def operands(
    seed: str, some: list[Any], *, left_number: bool, right_number: bool = True
) -> Iterator[tuple[str, list[Any], list[Any]]]:
    """Two arrays of a length, and with a single item in the place of either, where that is allowed."""
    rng = numbers(seed)
    for count in LENGTHS:
        left, right = ([rng.choice(some) for _ in range(count)] for _ in range(2))
        yield f"{count}", left, right
    for number in some:
        if right_number:
            yield f"right {number}", some, [number]
        if left_number:
            yield f"left {number}", [number], some


def wrapped(number: int, bits: int) -> int:
    return number & ((1 << bits) - 1)


def some_words(code: str) -> list[int]:
    low, high = limits(code)
    return [low, 1, 2, 3, 10, high // 3, high // 2, high // 2 + 1, high - 1, high]


def word_cases(kernel: Kernel, apply: Operator, *, left_number: bool) -> None:
    @cases_of(kernel)
    def make(types: dict[str, str]) -> Iterator[Case]:
        bits = np.dtype(types["left"]).itemsize * 8
        some = some_words(types["left"])
        for label, left, right in operands(kernel.name, some, left_number=left_number):
            count = max(len(left), len(right))
            shown = zip(spread(left, count), spread(right, count), strict=True)
            expected = [wrapped(apply(a, b), bits) for a, b in shown]
            yield Case(label, count, (left, right), expected)


def spread(items: list[Any], count: int) -> list[Any]:
    return items * count if len(items) == 1 else items


word_cases(arithmetic.add_words, operator.add, left_number=False)
word_cases(arithmetic.subtract_words, operator.sub, left_number=True)
word_cases(arithmetic.multiply_words, operator.mul, left_number=False)


def float_cases(kernel: Kernel, apply: Operator, *, left_number: bool) -> None:
    @cases_of(kernel)
    def make(types: dict[str, str]) -> Iterator[Case]:
        # Nothing that overflows or divides by zero: in plain Python, NumPy would warn.
        some = [1.0, -1.5, 3.0, 2.0**60, -(2.0**-60), 7.25, math.inf]
        if kernel is not arithmetic.divide_floats:
            some += [0.0, -0.0]
        for label, left, right in operands(kernel.name, some, left_number=left_number):
            count = max(len(left), len(right))
            shown = list(zip(spread(left, count), spread(right, count), strict=True))
            # NaN is for the tests of operations.
            if not any(math.isnan(apply_float(apply, a, b)) for a, b in shown):
                dtype = np.dtype(types["left"])
                expected = [rounded(apply, a, b, dtype) for a, b in shown]
                yield Case(label, count, (left, right), expected)


def apply_float(apply: Operator, left: float, right: float) -> float:
    return float(apply(left, right))


def rounded(apply: Operator, left: float, right: float, dtype: Any) -> float:
    """By exact fractions, where there are any."""
    if math.inf in (abs(left), abs(right)) or 0 in (left, right):
        return apply_float(apply, left, right)
    exact = apply(Fraction(left), Fraction(right))
    if dtype.itemsize == 8 or exact == 0:
        return float(exact)
    # A binary fraction of 24 bits nearest to it: `float` would round twice.
    return _nearest(exact)


def _nearest(exact: Fraction) -> float:
    scale = 23 - (math.frexp(float(abs(exact)))[1] - 1)
    return float(round(exact * Fraction(2) ** scale) / Fraction(2) ** scale)


float_cases(arithmetic.add_floats, operator.add, left_number=False)
float_cases(arithmetic.subtract_floats, operator.sub, left_number=True)
float_cases(arithmetic.multiply_floats, operator.mul, left_number=False)
float_cases(arithmetic.divide_floats, operator.truediv, left_number=True)


@cases_of(arithmetic.running_means)
def running_means(types: dict[str, str]) -> Iterator[Case]:
    some = [0.5, -0.0, math.inf, -math.inf, math.nan, 1e308, 5e-324] * 10
    for count in LENGTHS:
        sums = some[:count]
        yield Case(f"{count}", count, (sums,), [item / (i + 1) for i, item in enumerate(sums)])


@cases_of(arithmetic.abs_floats)
def abs_floats(types: dict[str, str]) -> Iterator[Case]:
    some = [0.0, -0.0, 1.5, -1.5, math.inf, -math.inf]
    for count in LENGTHS:
        values = (some * 11)[:count]
        yield Case(f"{count}", count, (values,), [abs(value) for value in values])


def signs(code: str) -> list[int]:
    """The sign of the words of signed numbers, and that of unsigned ones."""
    return [(limits(code)[1] + 1) // 2, 0]


def number_of(word: int, sign: int) -> int:
    return word - 2 * sign if word & sign else word


def quotient(left: int, right: int, sign: int, bits: int) -> int:
    """Of words, as a word; what does not fit is 0. By 0 it is as by 1."""
    a, b = number_of(left, sign), number_of(right, sign)
    if b == 0:
        b = 1
    towards_zero = abs(a) // abs(b) * (-1 if (a < 0) != (b < 0) else 1)
    return 0 if sign and towards_zero == sign else wrapped(towards_zero, bits)


@cases_of(arithmetic.abs_words)
def abs_words(types: dict[str, str]) -> Iterator[Case]:
    bits = np.dtype(types["values"]).itemsize * 8
    sign = signs(types["values"])[0]
    some = some_words(types["values"])
    for count in LENGTHS:
        values = (some * 7)[:count]
        expected = [wrapped(abs(number_of(value, sign)), bits) for value in values]
        yield Case(f"{count}", count, (values, [sign]), expected)


@cases_of(arithmetic.divide_words)
def divide_words(types: dict[str, str]) -> Iterator[Case]:
    bits = np.dtype(types["left"]).itemsize * 8
    some = [*some_words(types["left"]), 0]
    for sign in signs(types["left"]):
        pairs = operands("divide_words", some, left_number=True, right_number=False)
        for label, left, right in pairs:
            count = max(len(left), len(right))
            shown = zip(spread(left, count), spread(right, count), strict=True)
            expected = [quotient(a, b, sign, bits) for a, b in shown]
            rng = numbers(f"{label} {sign}")
            for nulls, bytes_, offset, valid in validities(rng, count):
                divisors = zip(spread(right, count), valid, strict=True)
                zeros = (i for i, (each, known) in enumerate(divisors) if known and each == 0)
                result = (next(zeros, NOWHERE), expected)
                args = (left, right, sign >> max(bits - 32, 0), bytes_, offset)
                what = f"{label}, sign {sign}, {nulls}"
                yield Case(what, count, args, result, before=[7] * count)


@cases_of(arithmetic.divide_words_by)
def divide_words_by(types: dict[str, str]) -> Iterator[Case]:
    bits = np.dtype(types["values"]).itemsize * 8
    some = some_words(types["values"])
    rng = numbers("by")
    high = limits(types["values"])[1]
    for sign in signs(types["values"]):
        for divisor in [*some[1:], 5, 7, 11, 100, high - 5]:
            size = abs(number_of(divisor, sign))
            shift = (size - 1).bit_length()
            wide = max(bits, 32)
            multiplier = -(-(1 << (wide + shift)) // size) - (1 << wide)
            values = some + [rng.randint(0, high) for _ in range(10)]
            # Where a quotient changes.
            values += [k for k in (size - 1, size, high // size * size) if k <= high]
            words = map(np.uint64, (multiplier, shift, sign, divisor & sign))
            args = (values, *words)
            expected = [quotient(value, divisor, sign, bits) for value in values]
            yield Case(f"by {divisor}, sign {sign}", len(values), args, expected)
    yield Case("none", 0, ([], *map(np.uint64, (0, 0, 0, 0))), [])
