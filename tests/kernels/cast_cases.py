"""Cases of `colkern.kernels.casts`."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from kernels.case import (
    LENGTHS,
    NOWHERE,
    At,
    Case,
    bitmap,
    cases_of,
    limits,
    numbers,
    random_bits,
    validities,
)

from colkern.kernels import casts

LONG = (*LENGTHS, 200)


def bits_of(code: str) -> int:
    return 8 * np.dtype(code).itemsize


def words_of(values: list[int], bits: int) -> list[int]:
    """Integers as words without a sign."""
    return [value % 2**bits for value in values]


def checked(label: str, count: int, args: tuple[Any, ...], slot: int, out: list[Any]) -> Case:
    """A case of a kernel that returns the first wrong slot, and writes."""
    return Case(label, count, args, (slot, out), before=[1] * len(out))


def first_wrong(wrong: list[bool], valid: list[bool]) -> int:
    """The first valid slot that is wrong."""
    return next((i for i, bad in enumerate(wrong) if bad and valid[i]), NOWHERE)


def integer_pairs(types: dict[str, str]) -> Iterator[tuple[str, str]]:
    """The integer types that words may stand for."""
    source, result = types["values"], types["out"]
    for a, b in itertools.product("iu", repeat=2):
        yield a + source[1], b + result[1]


def sign_of(code: str) -> Any:
    # As a NumPy number, as large ones are: Numba takes small integers for others than large ones.
    return np.uint64(2 ** (bits_of(code) - 1) if code[0] == "i" else 0)


@cases_of(casts.resize_integers)
def resize_integers(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("resize")
    for source, result in integer_pairs(types):
        low, high = limits(source)
        for count in LENGTHS:
            items = [rng.choice((low, high, 0, rng.randint(low, high))) for _ in range(count)]
            args = (words_of(items, bits_of(source)), sign_of(source))
            yield Case(f"{source} {result} {count}", count, args, words_of(items, bits_of(result)))


@cases_of(casts.fit_integers)
def fit_integers(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("fit")
    for source, result in integer_pairs(types):
        low, high = (
            choose(a, b)
            for choose, a, b in zip((max, min), limits(source), limits(result), strict=True)
        )
        outside = 2 ** bits_of(source) - 1 - (high - low)
        bad = [
            v
            for v in (*limits(source), low - 1, high + 1)
            if limits(source)[0] <= v <= limits(source)[1]
        ]
        bad = [v for v in bad if not low <= v <= high]
        for count in LENGTHS:
            for label, bytes_, offset, valid in validities(rng, count):
                for share in (0, 0.1):
                    items = [
                        rng.choice(bad)
                        if bad and (rng.random() < share or not ok)
                        else rng.choice((low, high, rng.randint(low, high)))
                        for ok in valid
                    ]
                    slot = first_wrong([not low <= v <= high for v in items], valid)
                    bias = np.uint64(-low % 2**64)
                    head = (words_of(items, bits_of(source)), bytes_, offset)
                    args = (*head, sign_of(source), bias, np.uint64(outside))
                    name = f"{source} {result} {count}, {label}, {share}"
                    yield checked(name, count, args, slot, words_of(items, bits_of(result)))


def exact_floats(types: dict[str, str], exact: int, seen: str) -> Iterator[Case]:
    """Integers around those up to which each is a float; of others, the lowest bits are."""
    rng = numbers("to floats")
    low, high = limits(types["values"])
    some = [
        v for v in (-exact - 1, -exact, -1, 0, 1, exact, exact + 1, low, high) if low <= v <= high
    ]
    for count in LENGTHS:
        for label, bytes_, offset, valid in validities(rng, count):
            for few in (some, [v for v in some if abs(v) <= exact]):
                items = [rng.choice(few) for _ in range(count)]
                slot = first_wrong([abs(v) > exact for v in items], valid)
                expected = np.array([wrapped(v, seen) for v in items]).astype(types["out"]).tolist()
                bias = exact if low < 0 else 0
                args = (items, bytes_, offset, bias, bias + exact)
                yield checked(f"{count}, {label}", count, args, slot, expected)


@cases_of(casts.integers_to_floats)
def integers_to_floats(types: dict[str, str]) -> Iterator[Case]:
    yield from exact_floats(types, 2**24, "i4")


@cases_of(casts.integers_to_doubles)
def integers_to_doubles(types: dict[str, str]) -> Iterator[Case]:
    yield from exact_floats(types, 2**53, "i8")


@cases_of(casts.round_to_floats)
def round_to_floats(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("round")
    floats = types["values"][0] == "f"
    some = (0.1, -2.5, math.inf, 1e-30) if floats else (0, 1, *limits(types["values"]))
    for count in LENGTHS:
        items = np.array([rng.choice(some) for _ in range(count)], types["values"])
        yield Case(f"{count}", count, (items,), items.astype(types["out"]).tolist())


@cases_of(casts.floats_to_integers)
def floats_to_integers(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("to integers")
    bits = bits_of(types["out"])
    values = [0.0, -0.0, 1.0, -1.0, 100.0, 127.0, 1.5, -0.25, 1e30, -1e30, math.nan, math.inf]
    for code in ("i" + types["out"][1], "u" + types["out"][1]):
        low, high = limits(code)
        values += [float(low), float(high + 1)]
        for strict in (0, 1):
            least, end = (low, high + 1) if strict else (-(2**63), max(high + 1, 2**63))
            for count in LENGTHS:
                for label, bytes_, offset, valid in validities(rng, count):
                    few = values if rng.random() < 0.5 else values[:6:2]
                    items = np.array(
                        [rng.choice(few) for _ in range(count)], types["values"]
                    ).tolist()
                    fit = [math.isfinite(v) and least <= v < end for v in items]
                    whole = [int(v) if ok else 0 for v, ok in zip(items, fit, strict=True)]
                    wrong = [
                        bool(strict) and (not ok or n != v)
                        for n, v, ok in zip(whole, items, fit, strict=True)
                    ]
                    args = (items, bytes_, offset, float(least), float(end), strict)
                    slot, out = first_wrong(wrong, valid), words_of(whole, bits)
                    yield checked(f"{code}, {strict}, {count}, {label}", count, args, slot, out)


@cases_of(casts.bits_to_words)
def bits_to_words(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("bits to words")
    one = 0x3C if types["out"] == "u1" else 0x3C00
    for offset in (0, 3, 8):
        for count in LONG:
            bits = random_bits(rng, count)
            # Zero bytes would stand for a bitmap that is not there.
            result = bitmap([*bits, True], offset, rng)
            expected = [one if bit else 0 for bit in bits]
            yield Case(f"{count} from {offset}", count, (result, offset, one), expected)


def wrapped(value: int, code: str) -> int:
    bits = bits_of(code)
    result: int = (value + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)
    return result


@cases_of(casts.multiply_numbers)
def multiply_numbers(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("multiply")
    low, high = limits(types["values"])
    least, most = limits(types["out"])
    for factor in (1, 1000, 86_400_000_000):
        first, last = max(-(-least // factor), low), min(most // factor, high)
        ends = [v for v in (first - 1, last + 1, low, high) if low <= v <= high]
        for count in LENGTHS:
            for label, bytes_, offset, valid in validities(rng, count):
                few = [first, last, 0, 1, -1] + (ends if rng.random() < 0.5 else [])
                items = [rng.choice(few) for _ in range(count)]
                slot = first_wrong([not first <= v <= last for v in items], valid)
                out = [wrapped(v * factor, types["out"]) for v in items]
                args = (items, bytes_, offset, factor, first, last)
                yield checked(f"{count} by {factor}, {label}", count, args, slot, out)


def magic_of(divisor: int) -> tuple[Any, int]:
    length = (divisor - 1).bit_length()
    return np.uint64(-(-(2 ** (63 + length)) // divisor)), length - 1


@cases_of(casts.divide_numbers)
def divide_numbers(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("divide")
    low, high = limits(types["values"])
    least, most = limits(types["out"])
    rules: dict[int, Callable[[int, int], int]] = {
        0: lambda value, divisor: value // divisor,
        1: lambda value, divisor: abs(value) // divisor * (1 if value >= 0 else -1),
    }
    for divisor in (2, 7, 1000, 86_400_000, 10**9, 86_400 * 10**9):
        magic, shift = magic_of(divisor)
        first = max(least * divisor, low)
        last = min((most + 1) * divisor - 1, high)
        for rounding, whole in ((0, 0), (1, 0), (1, 2**64 - 1)):
            divide = rules[rounding]
            for count in LENGTHS:
                for label, bytes_, offset, valid in validities(rng, count):
                    some = [rng.randint(low, high) // divisor * divisor for _ in range(count)]
                    others = [low, low + 1, -1, 0, 1, high, first, last]
                    items = [
                        rng.choice(others) if rng.random() < 0.3 else max(item, low)
                        for item in some
                    ]
                    quotients = [divide(v, divisor) for v in items]
                    wrong = [
                        not first <= v <= last or (bool(whole) and q * divisor != v)
                        for v, q in zip(items, quotients, strict=True)
                    ]
                    rest: Any = (divisor, magic, shift, rounding, np.uint64(whole), first, last)
                    args = (items, bytes_, offset, *rest)
                    slot = first_wrong(wrong, valid)
                    out = [wrapped(q, types["out"]) for q in quotients]
                    name = f"{count} by {divisor}, {rounding}, {whole}, {label}"
                    yield checked(name, count, args, slot, out)


@cases_of(casts.remainders)
def remainders(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("remainders")
    low, high = limits("i8")
    for divisor in (7, 86_400, 86_400 * 10**9):
        for count in LENGTHS:
            items = [
                rng.choice((low, high, 0, -1, 1, rng.randint(low, high))) for _ in range(count)
            ]
            args = (items, divisor, *magic_of(divisor))
            yield Case(f"{count} by {divisor}", count, args, [v % divisor for v in items])


@cases_of(casts.first_other_length)
def first_other_length(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("other lengths")
    for count in LENGTHS:
        for label, bytes_, offset, valid in validities(rng, count):
            for share in (0, 0.1):
                lengths = [
                    rng.choice((0, 5)) if rng.random() < share or not ok else 3 for ok in valid
                ]
                offsets = list(itertools.accumulate(lengths, initial=2))
                slot = first_wrong([length != 3 for length in lengths], valid)
                yield Case(f"{count}, {label}, {share}", count, (offsets, bytes_, offset, 3), slot)


@cases_of(casts.place_evenly)
def place_evenly(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("evenly")
    for width in (1, 3):
        for count in LENGTHS:
            for label, bytes_, offset, valid in validities(rng, count):
                lengths = [width if ok else rng.choice((0, 5)) for ok in valid]
                offsets = list(itertools.accumulate(lengths, initial=4))
                data = rng.randbytes(offsets[-1] + 1)
                values = [
                    data[at : at + width] if ok else bytes(width)
                    for at, ok in zip(offsets, valid, strict=False)
                ]
                base = At(np.frombuffer(data, np.uint8))
                args = (offsets[:-1], base, bytes_, offset, width)
                yield Case(f"{count} of {width}, {label}", count, args, list(b"".join(values)))
