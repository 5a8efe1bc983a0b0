"""Cases of `colkern.kernels.selection`."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

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
    packed,
    random_bits,
    validities,
)

from colkern.kernels import selection


@cases_of(selection.first_index_out_of_bounds)
def first_index_out_of_bounds(types: dict[str, str]) -> Iterator[Case]:
    low, high = limits(types["indices"])
    length = 100
    bad = [i for i in (low, -1, length, high) if low <= i <= high and not 0 <= i < length]
    rng = numbers("bounds")
    for count in LENGTHS:
        for label, bytes_, offset, valid in validities(rng, count):
            for share in (0, 0.1, 1):
                items = [
                    rng.choice(bad if bad and rng.random() < share else (0, 1, length - 1))
                    for _ in range(count)
                ]
                wrong = (i for i in range(count) if valid[i] and not 0 <= items[i] < length)
                args = (items, bytes_, offset, length)
                yield Case(f"{count}, {label}, {share} bad", count, args, next(wrong, NOWHERE))
    for index in bad:
        yield Case(f"index {index}", 2, ([0, index], [], 0, length), 1)
    yield Case("nothing to pick from", 1, ([0], [], 0, 0), 0)
    most = 2**63 - 1
    fits = NOWHERE if high < most else 0
    yield Case("as much as there can be", 1, ([high], [], 0, most), fits)


@cases_of(selection.plain_indices)
def plain_indices(types: dict[str, str]) -> Iterator[Case]:
    low, high = limits(types["indices"])
    rng = numbers("plain")
    for count in LENGTHS:
        for label, bytes_, offset, valid in validities(rng, count):
            # Valid ones are in bounds, so they fit; under a null there may be anything.
            items = [rng.choice((0, 1, min(high, 2**62)) if ok else (low, high, 5)) for ok in valid]
            expected = [item if ok else 0 for item, ok in zip(items, valid, strict=True)]
            yield Case(f"{count}, {label}", count, (items, bytes_, offset), expected)


@cases_of(selection.take_items)
def take_items(types: dict[str, str]) -> Iterator[Case]:
    low, high = limits(types["values"])
    rng = numbers("take items")
    for width in (1, 2, 3, 5):
        values = [rng.choice((low, high, rng.randint(low, high))) for _ in range(20 * width)]
        for count in LENGTHS:
            picked = [rng.randrange(20) for _ in range(count)]
            expected = [values[p * width + k] for p in picked for k in range(width)]
            yield Case(f"{count} of {width}", count, (picked, values, width), expected)


@cases_of(selection.take_bits)
def take_bits(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("take bits")
    for offset in range(9):
        bits = random_bits(rng, 50)
        for count in LENGTHS:
            picked = [rng.randrange(50) for _ in range(count)]
            expected = packed([bits[p] for p in picked])
            args = (picked, bitmap(bits, offset, rng), offset)
            yield Case(f"{count} from bit {offset}", len(expected), args, expected)


def some_lists(seed: str) -> Iterator[tuple[str, list[int], list[int], list[int]]]:
    """Positions, the offsets that they pick from, and the offsets of what is picked."""
    rng = numbers(seed)
    lengths = [rng.choice((0, 0, 1, 3, 13)) for _ in range(30)]
    offsets = list(itertools.accumulate(lengths, initial=4))
    for count in LENGTHS:
        picked = [rng.randrange(30) for _ in range(count)]
        starts = list(itertools.accumulate((lengths[p] for p in picked), initial=0))
        yield f"{count}", picked, offsets, starts


@cases_of(selection.take_lengths)
def take_lengths(types: dict[str, str]) -> Iterator[Case]:
    for label, picked, offsets, _ in some_lists("take lengths"):
        expected = [offsets[p + 1] - offsets[p] for p in picked]
        yield Case(label, len(picked), (picked, offsets), expected)
    most = limits(types["offsets"])[1]
    yield Case("longest", 2, ([1, 0], [0, most, most]), [0, most])


@cases_of(selection.take_bytes)
def take_bytes(types: dict[str, str]) -> Iterator[Case]:
    for label, picked, offsets, starts in some_lists("take bytes"):
        data = numbers("data").randbytes(offsets[-1])
        expected = list(b"".join(data[offsets[p] : offsets[p + 1]] for p in picked))
        args = (picked, offsets, At(np.frombuffer(data, np.uint8)), starts)
        yield Case(label, len(picked), args, expected)
    # Every length is moved in pieces of its own sizes, and from and to any alignment.
    for lengths in (range(70), range(70, 0, -1), (200, 7, 500, 61, 1000, 3, 64)):
        offsets = list(itertools.accumulate(lengths, initial=0))
        data = numbers("data").randbytes(offsets[-1] + 5)
        for skip in (0, 5):
            args = (range(len(lengths)), offsets, At(np.frombuffer(data, np.uint8), skip), offsets)
            expected = list(data[skip : skip + offsets[-1]])
            yield Case(f"{lengths} from {skip}", len(lengths), args, expected)


@cases_of(selection.take_ranges)
def take_ranges(types: dict[str, str]) -> Iterator[Case]:
    for label, picked, offsets, starts in some_lists("take ranges"):
        expected = [k for p in picked for k in range(offsets[p], offsets[p + 1])]
        yield Case(label, len(picked), (picked, offsets, starts), expected)
