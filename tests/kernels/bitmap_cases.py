"""Cases of `colkern.kernels.bitmaps`."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from kernels.case import BIT_LENGTHS, LENGTHS, Case, bitmap, cases_of, numbers, random_bits, words

from colkern.kernels import bitmaps

OFFSETS = range(9)


@cases_of(bitmaps.count_set_bits)
def count_set_bits(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("count")
    for offset in OFFSETS:
        for length in BIT_LENGTHS:
            bits = random_bits(rng, length)
            whole = max(offset + length - (offset + 7) // 8 * 8, 0) // 64
            args = (bitmap(bits, offset, rng), offset, offset + length)
            yield Case(f"{length} bits from {offset}", whole, args, sum(bits))
    for bit in (False, True):
        args = (bitmap([bit] * 150, 5, rng), 5, 155)
        yield Case(f"all {bit}", 2, args, 150 * bit)
    yield Case("far bits of a long bitmap", 1, (bitmap([True] * 300, 0, rng), 211, 288), 77)


@cases_of(bitmaps.copy_bits)
def copy_bits(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("copy")
    for offset in (*OFFSETS, 21):
        for length in BIT_LENGTHS:
            bits = random_bits(rng, length)
            expected = words(bits)
            args = (bitmap(bits, offset, rng), offset, length)
            yield Case(f"{length} bits from {offset}", len(expected), args, expected)


def two_bitmaps(seed: str) -> Iterator[tuple[str, tuple[Any, ...], list[bool], list[bool]]]:
    """The bits of two bitmaps, and what kernels are given of them."""
    rng = numbers(seed)
    for offset in OFFSETS:
        for length in BIT_LENGTHS:
            left, right = random_bits(rng, length), random_bits(rng, length)
            other = (offset * 5 + 3) % 11
            args = (bitmap(left, offset, rng), offset, bitmap(right, other, rng), other, length)
            yield f"{length} bits from {offset}, {other}", args, left, right


TABLES: dict[int, Callable[[bool, bool], bool]] = {
    bitmaps.AND: lambda a, b: a and b,
    bitmaps.OR: lambda a, b: a or b,
    bitmaps.XOR: lambda a, b: a != b,
    bitmaps.AND_NOT: lambda a, b: a and not b,
    bitmaps.OR_NOT: lambda a, b: a or not b,
    bitmaps.SAME: lambda a, b: a,
    bitmaps.NOT: lambda a, b: not a,
    bitmaps.EQUAL: lambda a, b: a == b,
}


@cases_of(bitmaps.combine_bits)
def combine_bits(types: dict[str, str]) -> Iterator[Case]:
    for number, (label, args, left, right) in enumerate(two_bitmaps("combine")):
        table = list(TABLES)[number % len(TABLES)]
        expected = words([TABLES[table](a, b) for a, b in zip(left, right, strict=True)])
        yield Case(f"{label}, table {table:04b}", len(expected), (*args, table), expected)


@cases_of(bitmaps.and_bits)
def and_bits(types: dict[str, str]) -> Iterator[Case]:
    for label, args, left, right in two_bitmaps("and"):
        both = [a and b for a, b in zip(left, right, strict=True)]
        yield Case(label, len(words(both)), args, (sum(both), words(both)))


SIDES = [*itertools.product((None, False, True), repeat=2)]
"""The bits of both sides: those of a bitmap, or the same for every slot."""


@cases_of(bitmaps.choose_bits)
def choose_bits(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("choose")
    for number, (label, (*given, length), *columns) in enumerate(two_bitmaps("choose")):
        condition, visible = (random_bits(rng, length) for _ in range(2))
        shown: tuple[Any, int] = (bitmap(visible, 1, rng), 1)
        if number % 2:
            visible, shown = [True] * length, ([], 0)
        kinds = SIDES[number % len(SIDES)]
        sides = 0
        for k, same in enumerate(kinds):
            sides |= (bitmaps.OF_LEFT if same is None else bitmaps.LEFT_SET * same) << k
            columns[k] = columns[k] if same is None else [same] * length
        chosen = [
            (a if c else b) and v for c, v, a, b in zip(condition, visible, *columns, strict=True)
        ]
        args = (bitmap(condition, 6, rng), 6, *shown, *given, length, sides)
        expected = (sum(chosen), words(chosen))
        yield Case(f"{label}, {kinds}", len(expected[1]), args, expected)


@cases_of(bitmaps.kleene_bits)
def kleene_bits(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("kleene")
    for offset in (0, 3):
        for length in BIT_LENGTHS:
            columns = [random_bits(rng, length) for _ in range(4)]
            args = [
                part
                for k, bits in enumerate(columns)
                for part in (bitmap(bits, offset + k, rng), offset + k)
            ]
            for decides in ((0, 0), (1, 1), (0, 1)):
                known = [
                    (a_known and b_known)
                    or (a_known and a == decides[0])
                    or (b_known and b == decides[1])
                    for a, a_known, b, b_known in zip(*columns, strict=True)
                ]
                expected = words(known)
                label = f"{length} bits from {offset}, {decides} decide"
                yield Case(label, len(expected), (*args, length, *decides), expected)


@cases_of(bitmaps.expand_bits)
def expand_bits(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("expand")
    for offset in OFFSETS:
        for length in LENGTHS:
            bits = random_bits(rng, length)
            each = np.zeros((length + 7) // 8 * 8, np.uint8)
            each[:length] = bits
            expected = each.view("<u8").tolist()
            args = (bitmap(bits, offset, rng), offset, length)
            yield Case(f"{length} bits from {offset}", len(expected), args, expected)
