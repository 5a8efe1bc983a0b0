"""Cases of `colkern.kernels.aggregates`."""

from __future__ import annotations

import math
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
    random_bits,
    validities,
)

from colkern.kernels import aggregates

# Past a block of 64 slots, and past one of 4096, which are looked at in other ways.
LONG = (*LENGTHS, 200)
LONGEST = (*LONG, 4200)


@cases_of(aggregates.sum_integers)
def sum_integers(types: dict[str, str]) -> Iterator[Case]:
    low, high = limits(types["values"])
    rng = numbers("sum")
    for count in LONGEST:
        for label, bytes_, offset, valid in validities(rng, count):
            items = [rng.choice((low, high, rng.randint(low, high))) for _ in range(count)]
            total = sum(item for item, ok in zip(items, valid, strict=True) if ok)
            # Shares are added by Python: what wraps around shows in each of them alone.
            if -(2**63) <= total < 2**63 and types["values"] != "i8":
                yield Case(f"{count}, {label}", count, (items, bytes_, offset), total)
    if types["values"] == "i8":
        for count in LONG:
            for label, bytes_, offset, valid in validities(rng, count):
                items = [rng.randint(-(2**50), 2**50) for _ in range(count)]
                total = sum(item for item, ok in zip(items, valid, strict=True) if ok)
                yield Case(f"{count}, {label}", count, (items, bytes_, offset), total)


@cases_of(aggregates.sum_floats)
def sum_floats(types: dict[str, str]) -> Iterator[Case]:
    lanes, rounds = aggregates.LANES, aggregates.ROUNDS
    rng = numbers("float sums")
    for count in (0, 1, 63, 64, 127, 130, 4200):
        for label, bytes_, offset, valid in validities(rng, count):
            # Whole numbers, of which every sum is exact; what stands under a null may be anything.
            items = [rng.randint(-99, 99) if ok else math.nan for ok in valid]
            pieces = -(-count // (lanes * rounds))
            sums = [0.0] * (pieces * lanes)
            for i, ok in enumerate(valid):
                if ok:
                    sums[i // (lanes * rounds) * lanes + i % lanes] += items[i]
            yield Case(f"{count}, {label}", len(sums), (items, bytes_, offset), sums)


def float_bits(value: float, code: str) -> int:
    """The bits of a float as an integer of the type with as many."""
    width = np.dtype(code).itemsize
    return int(np.array([value], f"f{width}").view(f"i{width}")[0])


def keyed(types: dict[str, str]) -> Iterator[tuple[str, list[int], tuple[int, ...]]]:
    """Kinds of values: what they are, some of them, and how they become keys."""
    low, high = limits(types["values"])
    yield "signed", [low, low + 1, -1, 0, 1, high], (0, 0, low, high, high)
    yield "reversed", [low, -1, 0, 5, high], (~0, 0, low, high, high)
    yield "unsigned", [low, -1, 0, 1, high], (low, 0, low, high, high)
    if types["values"] != "i1":
        infinite = float_bits(math.inf, types["values"])
        nan = float_bits(math.nan, types["values"])
        values = [float_bits(v, types["values"]) for v in (-math.inf, -1.5, -0.0, 0.0, 2.5)]
        # NaN with and without a sign.
        values += [nan, nan ^ low]
        yield "floats", values, (0, high, ~infinite, infinite, high)
        yield "nothing but NaN", [nan, nan ^ low], (0, high, ~infinite, infinite, high)


def key_of(value: int, flip: int, low: int) -> int:
    return (value ^ low if value < 0 else value) ^ flip


def counting_keys(
    items: list[int], valid: list[bool], given: tuple[int, ...]
) -> Iterator[int | None]:
    """The key of each slot, None for one that does not count."""
    flip, low, lowest, highest, _ = given
    for item, ok in zip(items, valid, strict=True):
        key = key_of(item, flip, low)
        yield key if ok and lowest <= key <= highest else None


@cases_of(aggregates.least_key)
def least_key(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("least")
    for what, values, given in keyed(types):
        for count in LONGEST if what in ("signed", "floats") else LONG:
            for label, bytes_, offset, valid in validities(rng, count):
                items = [rng.choice(values) for _ in range(count)]
                keys = [k for k in counting_keys(items, valid, given) if k is not None]
                args = (items, bytes_, offset, *given)
                yield Case(f"{what}, {count}, {label}", count, args, min(keys, default=given[-1]))


@cases_of(aggregates.extremes)
def extremes(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("extremes")
    size = 64
    for what, values, given in keyed(types):
        for count in LENGTHS:
            for label, bytes_, offset, valid in validities(rng, count):
                # One piece: of more, each has those before it too, as far as one thread has them.
                items = [rng.choice(values) for _ in range(min(count, size))]
                keys = [k for k in counting_keys(items, valid[:size], given) if k is not None]
                most = given[-1]
                expected = [min(keys, default=most), max(keys, default=~most)] if items else []
                args = (items, bytes_, offset, size, *given)
                yield Case(f"{what}, {count}, {label}", len(expected) // 2, args, expected)
    # Pieces with the same extremes: the same in any cut.
    low, high = limits(types["values"])
    items = [low, high, *[0] * 62] * 3
    args = (items, [], 0, size, 0, 0, low, high, high)
    yield Case("three pieces", 3, args, [low, high] * 3)


@cases_of(aggregates.sum_words)
def sum_words(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("words")
    for width in (1, 2, 4):
        for sign in (0, 2**63):
            for count in LONG:
                for label, bytes_, offset, valid in validities(rng, count):
                    words = [
                        rng.choice((0, 2**64 - 1, rng.getrandbits(64)))
                        for _ in range(count * width)
                    ]
                    sums = [0] * (2 * width * -(-count // 64))
                    for i in range(count):
                        for k in range(width if valid[i] else 0):
                            word = words[i * width + k] ^ (sign if k == width - 1 else 0)
                            place = i // 64 * 2 * width + 2 * k
                            sums[place] += word & 0xFFFFFFFF
                            sums[place + 1] += word >> 32
                    args = (words, width, bytes_, offset, 64, sign >> 63)
                    label = f"{count} of {width}, sign {sign}, {label}"
                    yield Case(label, -(-count // 64), args, sums)


@cases_of(aggregates.least_word)
def least_word(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("least words")
    for width in (1, 2, 4):
        for level in range(width):
            for flip in (0, 2**63, 2**64 - 1):
                for count in LENGTHS:
                    for label, bytes_, offset, valid in validities(rng, count):
                        words = [
                            rng.randrange(2) << rng.choice((0, 63)) for _ in range(count * width)
                        ]
                        above = [rng.randrange(2) for _ in range(width)]
                        numbers_ = [words[i * width : (i + 1) * width] for i in range(count)]
                        result = (
                            number[level] ^ flip
                            for number, ok in zip(numbers_, valid, strict=True)
                            if ok and number[level + 1 :] == above[level + 1 :]
                        )
                        args = (words, width, level, np.uint64(flip), above, bytes_, offset)
                        label = f"{count} of {width}, {level}, {label}"
                        yield Case(label, count, args, min(result, default=NOWHERE))


@cases_of(aggregates.count_common_bits)
def count_common_bits(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("common")
    for left_offset, right_offset in ((0, 0), (3, 0), (5, 62), (8, 7)):
        for count in LONG:
            left, right = random_bits(rng, count), random_bits(rng, count)
            both = sum(a and b for a, b in zip(left, right, strict=True))
            sources = (bitmap(left, left_offset, rng), left_offset)
            args = (*sources, bitmap(right, right_offset, rng), right_offset, count)
            words = -(-count // 64)
            yield Case(f"{count} from {left_offset} and {right_offset}", words, args, both)


@cases_of(aggregates.has_bit)
def has_bit(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("has")
    for count in (0, 65, 64 * 65 + 1):
        for place in (None, count - 1):
            for flip in (False, True):
                for offset, label, bytes_, first, valid in (
                    (offset, *validity) for offset in (0, 3) for validity in validities(rng, count)
                ):
                    bits = [(slot == place) != flip for slot in range(count)]
                    source = bitmap(bits, offset, rng)
                    args = (source, offset, bytes_, first, int(flip), count)
                    expected = place is not None and 0 <= place < count and valid[place]
                    label = f"{count}, {place}, {flip} from {offset}, {label}"
                    yield Case(label, -(-count // 64), args, int(expected))


@cases_of(aggregates.mark_used)
def mark_used(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("used")
    for count in LENGTHS:
        for label, bytes_, offset, valid in validities(rng, count):
            # What stands under a null may be out of bounds.
            items = [
                rng.randrange(0, 100, 7) if ok else limits(types["indices"])[1] for ok in valid
            ]
            used = {item for item, ok in zip(items, valid, strict=True) if ok}
            expected = [int(i in used) for i in range(100)]
            yield Case(f"{count}, {label}", count, (items, bytes_, offset), expected, [0] * 100)


@cases_of(aggregates.lengths_of_runs)
def lengths_of_runs(types: dict[str, str]) -> Iterator[Case]:
    ends = [2, 3, 7, 12]
    for offset, length in ((0, 12), (0, 1), (2, 1), (2, 6), (5, 2), (6, 6), (11, 1)):
        owners = [next(k for k, end in enumerate(ends) if i < end) for i in range(12)]
        own = owners[offset : offset + length]
        expected = [own.count(run) for run in range(own[0], own[-1] + 1)]
        args = (ends, own[0], offset, length)
        yield Case(f"{length} from {offset}", len(expected), args, expected)
    yield Case("none", 0, (ends, 0, 0, 0), [])


@cases_of(aggregates.weigh_integers)
def weigh_integers(types: dict[str, str]) -> Iterator[Case]:
    low, high = limits(types["values"])
    rng = numbers("weights")
    for count in LENGTHS:
        items = [rng.randint(low, high) for _ in range(count)]
        weights = [rng.randint(1, 2**31) for _ in range(count)]
        products = [a * b for a, b in zip(items, weights, strict=True)]
        expected = [(p + 2**63) % 2**64 - 2**63 for p in products]
        yield Case(f"{count}", count, (items, weights), expected)


@cases_of(aggregates.weigh_floats)
def weigh_floats(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("float weights")
    for count in LENGTHS:
        items = [rng.randint(-99, 99) / 4 for _ in range(count)]
        weights = [rng.randint(1, 2**31) for _ in range(count)]
        expected = [a * b for a, b in zip(items, weights, strict=True)]
        yield Case(f"{count}", count, (items, weights), expected)
