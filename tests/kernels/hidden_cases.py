"""Cases of `colkern.kernels.hidden`."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from kernels.case import (
    LENGTHS,
    NOWHERE,
    Case,
    bitmap,
    cases_of,
    limits,
    numbers,
    packed,
    random_bits,
    validities,
)

from colkern.kernels import hidden


@cases_of(hidden.first_hidden_value)
def first_hidden_value(types: dict[str, str]) -> Iterator[Case]:
    _, high = limits(types["items"])
    rng = numbers("hidden value")
    for width in (1, 2, 3):
        for count in LENGTHS:
            for label, bytes_, offset, seen in validities(rng, count):
                for share in (0, 0.2):
                    items = [
                        rng.choice((0, 1, high)) if ok else high * (rng.random() < share)
                        for ok in seen
                        for _ in range(width)
                    ]
                    wrong = (
                        i
                        for i in range(count)
                        if not seen[i] and any(items[i * width : (i + 1) * width])
                    )
                    args = (items, width, bytes_, offset)
                    yield Case(f"{count} of {width}, {label}", count, args, next(wrong, NOWHERE))


@cases_of(hidden.blank_hidden_values)
def blank_hidden_values(types: dict[str, str]) -> Iterator[Case]:
    low, high = limits(types["items"])
    rng = numbers("blank")
    for width in (1, 2, 3):
        for count in LENGTHS:
            for label, bytes_, offset, seen in validities(rng, count):
                items = [rng.randint(low, high) for _ in range(count * width)]
                expected = [v if seen[k // width] else 0 for k, v in enumerate(items)]
                args = (items, width, bytes_, offset)
                yield Case(f"{count} of {width}, {label}", count, args, expected)


def some_lengths(seed: str) -> Iterator[tuple[str, list[int], object, int, list[bool]]]:
    rng = numbers(seed)
    for count in LENGTHS:
        for label, bytes_, offset, seen in validities(rng, count):
            for share in (0, 0.2, 1):
                lengths = [rng.choice((0, 1, 9)) * (ok or rng.random() < share) for ok in seen]
                yield f"{count}, {label}, {share}", lengths, bytes_, offset, seen


@cases_of(hidden.first_hidden_length)
def first_hidden_length(types: dict[str, str]) -> Iterator[Case]:
    for label, lengths, bytes_, offset, seen in some_lengths("hidden length"):
        offsets = list(itertools.accumulate(lengths, initial=3))
        wrong = (i for i, length in enumerate(lengths) if length and not seen[i])
        yield Case(label, len(lengths), (offsets, bytes_, offset), next(wrong, NOWHERE))


@cases_of(hidden.visible_lengths)
def visible_lengths(types: dict[str, str]) -> Iterator[Case]:
    for label, lengths, bytes_, offset, seen in some_lengths("visible lengths"):
        offsets = list(itertools.accumulate(lengths, initial=3))
        expected = [length if ok else 0 for length, ok in zip(lengths, seen, strict=True)]
        yield Case(label, len(lengths), (offsets, bytes_, offset), expected)


def some_views(seed: str) -> Iterator[tuple[str, list[list[int]], object, int, list[bool]]]:
    rng = numbers(seed)
    for count in LENGTHS:
        for label, bytes_, offset, seen in validities(rng, count):
            made = [[rng.choice((0, 5, 12, 13, 100)), 7, rng.randrange(3), 8] for _ in range(count)]
            yield f"{count}, {label}", made, bytes_, offset, seen


@cases_of(hidden.visible_long_lengths)
def visible_long_lengths(types: dict[str, str]) -> Iterator[Case]:
    for label, views, bytes_, offset, seen in some_views("long lengths"):
        words = [word for view in views for word in view]
        expected = [v[0] if ok and v[0] > 12 else 0 for v, ok in zip(views, seen, strict=True)]
        yield Case(label, len(views), (words, bytes_, offset), expected)


@cases_of(hidden.repoint_views)
def repoint_views(types: dict[str, str]) -> Iterator[Case]:
    for label, views, bytes_, offset, seen in some_views("repoint"):
        words = [word for view in views for word in view]
        lengths = [v[0] if ok and v[0] > 12 else 0 for v, ok in zip(views, seen, strict=True)]
        starts = list(itertools.accumulate(lengths, initial=0))
        expected: list[int] = []
        for view, ok, begin in zip(views, seen, starts, strict=False):
            moved = [*view[:2], begin // 16, begin % 16] if view[0] > 12 else view
            expected += moved if ok else [0, 0, 0, 0]
        args = (words, bytes_, offset, starts, 4)
        yield Case(label, len(views), args, expected)
    far = (1 << 31) + 5
    views_far = np.array([50, 1, 0, 0], np.int32)
    args = (views_far, [], 0, [far, far + 50], 30)
    yield Case("beyond the first buffer", 1, args, [50, 1, 2, 5])


@cases_of(hidden.repeat_bits)
def repeat_bits(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("repeat")
    for size in (1, 2, 3, 9):
        for count in LENGTHS:
            bits = random_bits(rng, count)
            expected = packed([bit for bit in bits for _ in range(size)])
            args = (bitmap(bits, 0, rng), size, count * size)
            yield Case(f"{count} times {size}", len(expected), args, expected)
