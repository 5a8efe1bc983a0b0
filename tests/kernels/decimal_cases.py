"""Cases of `colkern.kernels.decimals`."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np
from kernels.case import Case, cases_of, numbers, validities
from kernels.cast_cases import checked, first_wrong, magic_of

from colkern.kernels import decimals

COUNTS = (0, 1, 9, 40)
WORD = 2**64


def widths(code: str) -> tuple[int, ...]:
    """The number of words of that type that a number may have."""
    return (1, 2, 4) if code == "u8" else (1,)


def range_of(bits: int, signed: bool) -> tuple[int, int]:
    return (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)


def words(values: list[int], code: str, width: int) -> list[int]:
    bits = 8 * np.dtype(code).itemsize
    return [value >> bits * k & (2**bits - 1) for value in values for k in range(width)]


def four(value: int) -> list[int]:
    return [value >> 64 * k & (WORD - 1) for k in range(4)]


def shapes(types: dict[str, str]) -> Iterator[tuple[int, int, bool, int, int]]:
    """Widths of source and result, whether the source has a sign, and the bits of both."""
    for width in widths(types["words"]):
        for out_width in widths(types["out"]):
            for signed in (True, False) if width == 1 else (True,):
                bits = 8 * np.dtype(types["words"]).itemsize * width
                yield (
                    width,
                    out_width,
                    signed,
                    bits,
                    8 * np.dtype(types["out"]).itemsize * out_width,
                )


def head(values: list[int], types: dict[str, str], width: int, signed: bool, bits: int) -> Any:
    sign = 2 ** (bits - 1) if signed and bits < 64 else 0
    filling = np.uint64(WORD - 1 if signed else 0)
    return words(values, types["words"], width), width, sign, filling


def some(rng: Random, low: int, high: int) -> int:
    """A number of any length from `low` to `high`."""
    return max(low, min(high, rng.randint(-(2 ** rng.randint(0, 255)), 2 ** rng.randint(0, 255))))


@cases_of(decimals.scale_up)
def scale_up(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("up")
    for width, out_width, signed, bits, out_bits in shapes(types):
        low, high = range_of(bits, signed)
        for factors in ([], [10], [10**19, 10**3]):
            product = 1
            for factor in factors:
                product *= factor
            for limit in (high, 10):
                least, most = max(low, -limit), min(high, limit)
                for count in COUNTS:
                    for label, bytes_, offset, valid in validities(rng, count):
                        values = [
                            some(rng, low, high)
                            if rng.random() < 0.02 or not ok
                            else some(rng, least, most)
                            for ok in valid
                        ]
                        slot = first_wrong([not least <= v <= most for v in values], valid)
                        if slot < count:
                            # What is written from there on depends on the cut.
                            continue
                        expected = words([v * product for v in values], types["out"], out_width)
                        bounds = four(least) + four(most)
                        start = head(values, types, width, signed, bits)
                        args = (*start, bytes_, offset, bounds, factors, out_width)
                        name = f"{count}, {bits} to {out_bits} bits, by {factors}, {label}"
                        yield checked(name, count, args, slot, expected)
        for wrong in {low, high, 11} - {0}:
            start = head([wrong], types, width, signed, bits)
            args = (*start, [], 0, four(max(low, -10)) + four(10), [], out_width)
            if abs(wrong) > 10:
                untouched = words([0], types["out"], out_width)
                yield Case(f"{wrong} of {bits} bits", 1, args, (0, untouched), before=untouched)


@cases_of(decimals.scale_down)
def scale_down(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("down")
    for width, out_width, signed, bits, out_bits in shapes(types):
        low, high = range_of(bits, signed)
        for powers in ([1], [9, 3], [9, 9, 5]):
            exponent = sum(powers)
            divisor = 10**exponent
            table = [divisor, *magic_of(divisor)] if exponent <= 18 else [0, 0, 0]
            for power in powers:
                table += [10**power, *magic_of(10**power)]
            for whole in (0, 1):
                for count in COUNTS:
                    for label, bytes_, offset, valid in validities(rng, count):
                        values = [some(rng, low, high) for _ in valid]
                        if whole:
                            values = [
                                abs(v) // divisor * divisor * (1 if v >= 0 else -1) if ok else v
                                for v, ok in zip(values, valid, strict=True)
                            ]
                        quotients = [abs(v) // divisor * (1 if v >= 0 else -1) for v in values]
                        expected = words(quotients, types["out"], out_width)
                        if whole:
                            # Nulls are not divided evenly, and what they become may be anything.
                            wrong = [
                                q * divisor != v for q, v in zip(quotients, values, strict=True)
                            ]
                            assert first_wrong(wrong, valid) > count
                        start = head(values, types, width, signed, bits)
                        bounds = four(low) + four(high)
                        args = (*start, bytes_, offset, bounds, table, whole, out_width)
                        name = f"{count}, {bits} to {out_bits} bits, by {divisor}, {label}"
                        yield checked(name, count, args, WORD - 1, expected)
        ten = [10, *magic_of(10)] * 2
        for value, limit, whole in ((11, high, 1), (20, 19, 0), (20, 19, 1)):
            start = head([value], types, width, signed, bits)
            args = (*start, [], 0, four(low) + four(limit), ten, whole, out_width)
            untouched = words([0], types["out"], out_width)
            yield Case(f"{value} of {bits} bits", 1, args, (0, untouched), before=untouched)
        start = head([20], types, width, signed, bits)
        args = (*start, [], 0, four(low) + four(high), ten, 1, out_width)
        expected = words([2], types["out"], out_width)
        yield checked(f"20 of {bits} bits, evenly", 1, args, WORD - 1, expected)


@cases_of(decimals.decimals_to_floats)
def decimals_to_floats(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("decimals to floats")
    for width in widths(types["words"]):
        bits = 8 * np.dtype(types["words"]).itemsize * width
        # Few enough digits for each step to be exact.
        least, most = (
            max(-(2**31), range_of(bits, True)[0]),
            min(2**31 - 1, range_of(bits, True)[1]),
        )
        for factor, scale in ((1.0, 0), (1.0, 2), (1000.0, 0)):
            divisor = 10.0**scale
            for count in COUNTS:
                values = [
                    rng.choice((0, least, most, rng.randint(least, most))) for _ in range(count)
                ]
                start = head(values, types, width, True, bits)[:3]
                expected = np.array([v * factor / divisor for v in values], types["out"]).tolist()
                args = (*start, factor, scale, divisor)
                yield Case(f"{count} of {bits} bits", count, args, expected)
        if bits == 128:
            # Blocks of numbers that floats are; the second has one that no float is.
            for odd in (2**53 + 1, -(2**53) - 1, 2**64, -(2**64)):
                values = [rng.randrange(-(2**53), 2**53) for _ in range(130)]
                values[100], values[:2] = odd, (-(2**53), 2**53 - 1)
                start = head(values, types, width, True, bits)[:3]
                expected = np.array([v / 100 for v in values], types["out"]).tolist()
                yield Case(f"{odd} among 130", 130, (*start, 1.0, 2, 100.0), expected)
        if width > 1:
            large = [2 ** (bits - 2), -(2 ** (bits - 2))]
            start = head(large, types, width, True, bits)[:3]
            expected = [float(v) for v in large]
            if bits < 256 or types["out"] == "f8":
                yield Case(f"large, {bits} bits", 2, (*start, 1.0, 0, 1.0), expected)
            large = [
                rng.choice((1, -1)) * rng.getrandbits(rng.randrange(2, bits)) for _ in range(50)
            ]
            start = head(large, types, width, True, bits)[:3]
            for scale in (1, 13, 25, 76):
                expected = [n / 10**scale for n in large]
                if types["out"] == "f8":
                    args = (*start, 1.0, scale, float(10**scale))
                    yield Case(f"{bits} bits, scale {scale}", len(large), args, expected)
