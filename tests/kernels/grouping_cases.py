"""Cases of `colkern.kernels.grouping`."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import Any

from kernels.case import Case, bitmap, cases_of, limits, numbers, random_bits

from colkern.kernels import grouping

ALL = 2**64 - 1
GROUPS = 3

Rows = list[tuple[int, int]]
"""The place of each row, and the row, in the order in which they are gone through."""


def shares() -> Iterator[tuple[str, int, tuple[Any, ...], int, Rows, list[bool]]]:
    """Shares as a CPU's threads have them, and as a device's; with nulls and without."""
    rng = numbers("shares")
    yield "no shares", 0, ([], [0], [], 1, GROUPS, [], 3), GROUPS, [], []
    for rows in (0, 1, 40):
        of = [rng.randrange(GROUPS) for _ in range(rows)]
        order = sorted(range(rows), key=lambda i: of[i])
        starts = [sum(g < k for g in of) for k in range(GROUPS + 1)]
        half = [0, rows // 2, rows]
        by_range = [(GROUPS * (i >= rows // 2) + of[i], i) for i in range(rows)]
        by_group = [(of[i], i) for i in order]
        for label, valid in (("some null", random_bits(rng, rows)), ("none null", [True] * rows)):
            bits = bitmap(valid, 3, rng) if label == "some null" and rows else []
            given = (of, 1, GROUPS, bits, 3)
            yield f"{rows} by range, {label}", 2, ([], half, *given), 2 * GROUPS, by_range, valid
            in_turn = [
                (GROUPS * (4 * (place // GROUPS) + i % 4) + of[i], i) for place, i in by_range
            ]
            given = (of, 4, GROUPS, bits, 3)
            yield f"{rows} in turn, {label}", 2, ([], half, *given), 8 * GROUPS, in_turn, valid
            given = (of, 1, 0, bits, 3)
            yield (
                f"{rows} by group, {label}",
                GROUPS,
                (order, starts, *given),
                GROUPS,
                by_group,
                valid,
            )


def summed(
    width: int, add: Callable[[list[Any], int, int], None], zero: Any, *values: Any
) -> Iterator[Case]:
    """Cases whose output begins with zeros; `values` stand before the validity, or after it."""
    for label, count, given, places, rows, valid in shares():
        out = [zero] * places * width
        for place, i in rows:
            if valid[i]:
                add(out, place * width, i)
        *before, bits, offset = given
        args = (*before, *values, bits, offset)
        yield Case(label, count, args, out, [zero] * places * width)


@cases_of(grouping.count_group_rows)
def count_group_rows(types: dict[str, str]) -> Iterator[Case]:
    def add(out: list[int], place: int, i: int) -> None:
        out[place] += 1

    yield from summed(1, add, 0)


@cases_of(grouping.sum_group_integers)
def sum_group_integers(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers(("sums", types["values"]))
    low, high = limits(types["values"])
    values = [rng.choice((low, high, rng.randint(low, high))) for _ in range(40)]

    def add(out: list[int], place: int, i: int) -> None:
        out[place] = out[place] + values[i] & ALL

    yield from summed(1, add, 0, values)


@cases_of(grouping.sum_group_floats)
def sum_group_floats(types: dict[str, str]) -> Iterator[Case]:
    values = [k / 4 - 3 for k in range(40)]

    def add(out: list[float], place: int, i: int) -> None:
        out[place] += values[i]

    yield from summed(1, add, 0.0, values)


@cases_of(grouping.sum_group_squares)
def sum_group_squares(types: dict[str, str]) -> Iterator[Case]:
    values = [k / 4 - 3 for k in range(40)]
    means = [0.5, -1.0, 2.0]
    for label, count, given, places, rows, valid in shares():
        out = [0.0] * places
        for place, i in rows:
            if valid[i]:
                out[place] += (values[i] - means[place % GROUPS]) ** 2
        *before, bits, offset = given
        args = (*before, values, bits, offset, means)
        yield Case(label, count, args, out, [0.0] * places)


@cases_of(grouping.sum_group_words)
def sum_group_words(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("words")
    for width in (1, 2, 4):
        bits = 64 * width
        values = [rng.choice((2**bits - 1, rng.getrandbits(bits))) for _ in range(40)]
        words = [
            w for v in values for w in struct.unpack(f"<{width}Q", v.to_bytes(8 * width, "little"))
        ]

        def add(
            out: list[int], place: int, i: int, width: int = width, values: Any = values
        ) -> None:
            whole = sum(out[place + k] << 64 * k for k in range(width)) + values[i]
            for k in range(width):
                out[place + k] = whole >> 64 * k & ALL

        for case in summed(width, add, 0, words, width):
            yield Case(
                f"{case.label}, {width} words", case.count, case.args, case.expected, case.before
            )


@cases_of(grouping.least_group_keys)
def least_group_keys(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("least")
    keys = [rng.choice((0, 5, ALL, rng.randint(0, ALL))) for _ in range(40)]
    for label, count, given, places, rows, valid in shares():
        out = [ALL] * 2 * places
        for place in range(places):
            own = [(keys[i], i) for p, i in rows if p == place and valid[i]]
            if own:
                out[2 * place : 2 * place + 2] = min(own)
        *before, bits, offset = given
        yield Case(label, count, (*before, keys, bits, offset), out, [ALL] * 2 * places)
