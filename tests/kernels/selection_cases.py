"""Cases of `colkern.kernels.selection`."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from kernels.case import (
    BIT_LENGTHS,
    LENGTHS,
    NOWHERE,
    Addresses,
    At,
    Case,
    bitmap,
    cases_of,
    limits,
    numbers,
    random_bits,
    validities,
    words,
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


@cases_of(selection.largest_index)
def largest_index(types: dict[str, str]) -> Iterator[Case]:
    _, high = limits(types["indices"])
    rng = numbers("largest")
    for count in LENGTHS:
        items = [rng.choice((0, 1, 99)) for _ in range(count)]
        yield Case(f"{count}", count, (items,), max(items, default=0))
        if count:
            place = rng.randrange(count)
            items = [*items[:place], high, *items[place + 1 :]]
            yield Case(f"{count}, one too large", count, (items,), high)


@cases_of(selection.take_items)
def take_items(types: dict[str, str]) -> Iterator[Case]:
    low, high = limits(types["values"])
    rng = numbers("take items")
    values = [rng.choice((low, high, rng.randint(low, high))) for _ in range(20)]
    for count in LENGTHS:
        picked = [rng.randrange(20) for _ in range(count)]
        expected = [values[p] for p in picked]
        yield Case(f"{count}", count, (picked, values), (NOWHERE, expected))
    for index in (20, limits(types["indices"])[1]):
        yield Case(f"index {index}", 1, ([index], values), (0, [7]), [7])
    yield Case("no values", 1, ([0], []), (0, [7]), [7])


@cases_of(selection.take_picked_items)
def take_picked_items(types: dict[str, str]) -> Iterator[Case]:
    low, high = limits(types["values"])
    rng = numbers("take picked items")
    values = [rng.choice((low, high, rng.randint(low, high))) for _ in range(20)]
    _, most = limits(types["indices"])
    for count in LENGTHS:
        for offset in (0, 5):
            known = random_bits(rng, count)
            picked = [rng.randrange(20) if k else rng.choice((3, 20, most)) for k in known]
            expected = [values[p if k else 0] for p, k in zip(picked, known, strict=True)]
            args = (picked, bitmap([*known, True], offset, rng), offset, values)
            yield Case(f"{count} from bit {offset}", count, args, (NOWHERE, expected))
    for index in (20, most):
        args = ([index], bitmap([True], 0, rng), 0, values)
        yield Case(f"index {index}", 1, args, (0, [7]), [7])


@cases_of(selection.choose_items)
def choose_items(types: dict[str, str]) -> Iterator[Case]:
    low, high = limits(types["left"])
    rng = numbers("choose items")
    for count, width, is_one in itertools.product(LENGTHS, (1, 2, 3), (False, True)):
        chosen = random_bits(rng, count)
        left, right = (
            [rng.randint(low, high) for _ in range(width * length)]
            for length in (count, 1 if is_one else count)
        )
        for offset, flip in ((0, False), (3, True)):
            expected = [
                left[k] if chosen[k // width] != flip else right[k % width if is_one else k]
                for k in range(width * count)
            ]
            flips = (1 << 64) - 1 if flip else 0
            args = (bitmap(chosen, offset, rng), offset, flips, left, right, width)
            label = f"{count} of {width} from bit {offset}, {is_one}, {flip}"
            yield Case(label, count, args, expected)


@cases_of(selection.copy_words)
def copy_words(_: dict[str, str]) -> Iterator[Case]:
    rng = numbers("copy words")
    for count in LENGTHS:
        items = rng.randbytes(8 * count + 3)
        expected = [int.from_bytes(items[3 + 8 * k : 11 + 8 * k], "little") for k in range(count)]
        yield Case(f"{count}", count, (At(np.frombuffer(items, np.uint8), 3),), expected)


@cases_of(selection.take_pairs)
def take_pairs(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("take pairs")
    values = [rng.getrandbits(64) for _ in range(40)]
    for count in LENGTHS:
        picked = [rng.randrange(20) for _ in range(count)]
        expected = [values[2 * p + k] for p in picked for k in (0, 1)]
        yield Case(f"{count}", count, (picked, values), expected)


@cases_of(selection.take_values)
def take_values(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("take values")
    for width in (1, 3, 12, 40):
        data = rng.randbytes(20 * width)
        for count in LENGTHS:
            picked = [rng.randrange(20) for _ in range(count)]
            expected = list(b"".join(data[p * width : (p + 1) * width] for p in picked))
            args = (picked, At(np.frombuffer(data, np.uint8)), width)
            yield Case(f"{count} of {width}", count, args, expected)


@cases_of(selection.take_bits)
def take_bits(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("take bits")
    for offset in range(9):
        bits = random_bits(rng, 50)
        for count in BIT_LENGTHS:
            picked = [rng.randrange(50) for _ in range(count)]
            for known in ([True] * count, random_bits(rng, count)):
                expected = [bits[p] and ok for p, ok in zip(picked, known, strict=True)]
                bitmap_of_known = [] if all(known) else bitmap(known, 0, rng)
                args = (picked, bitmap(bits, offset, rng), offset, 50, bitmap_of_known)
                label = f"{count} from bit {offset}, {sum(known)} known"
                yield Case(label, len(words(expected)), args, (sum(expected), words(expected)))
    for count in (1, 64):
        for index in (50, limits(types["indices"])[1]):
            args = ([0] * (count - 1) + [index], bitmap(bits, 0, rng), 0, 50, [])
            yield Case(f"{count}, one {index}", 1, args, (selection.OUTSIDE, [7]), [7])


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
    rng = numbers("take lengths")
    for label, picked, offsets, _ in some_lists("take lengths"):
        lengths = [offsets[p + 1] - offsets[p] for p in picked]
        bound = len(offsets) - 1
        yield Case(label, len(picked), (picked, offsets, bound, []), (0, lengths))
        known = random_bits(rng, len(picked))
        expected = [n * ok for n, ok in zip(lengths, known, strict=True)]
        args = (picked, offsets, bound, bitmap(known, 0, rng))
        yield Case(f"{label}, some null", len(picked), args, (0, expected))
    most = limits(types["offsets"])[1]
    yield Case("longest", 2, ([1, 0], [0, most, most], 2, []), (0, [0, most]))
    for index in (2, limits(types["indices"])[1]):
        yield Case(f"index {index}", 2, ([0, index], [0, 5, 7], 2, []), (1, [5, 2]))


@cases_of(selection.take_bytes)
def take_bytes(types: dict[str, str]) -> Iterator[Case]:
    for label, picked, offsets, starts in some_lists("take bytes"):
        for width in (1, 4):
            data = numbers("data").randbytes(offsets[-1] * width)
            pieces = [data[offsets[p] * width : offsets[p + 1] * width] for p in picked]
            expected = list(b"".join(pieces))
            args = (picked, offsets, At(np.frombuffer(data, np.uint8)), width, starts)
            yield Case(f"{label} of {width}", len(picked), args, expected)
    # Every length is moved in pieces of its own sizes, and from and to any alignment.
    for lengths in (range(70), range(70, 0, -1), (200, 7, 500, 61, 1000, 3, 64)):
        offsets = list(itertools.accumulate(lengths, initial=0))
        data = numbers("data").randbytes(offsets[-1] + 5)
        for skip in (0, 5):
            source = At(np.frombuffer(data, np.uint8), skip)
            args = (list(range(len(lengths))), offsets, source, 1, offsets)
            expected = list(data[skip : skip + offsets[-1]])
            yield Case(f"{lengths} from {skip}", len(lengths), args, expected)


@cases_of(selection.gather_bytes)
def gather_bytes(_: dict[str, str]) -> Iterator[Case]:
    rng = numbers("gather bytes")
    for lengths in ([], [0], [3], [0, 1, 8, 0, 33, 300, 2]):
        pieces = [rng.randbytes(length) for length in lengths]
        starts = list(itertools.accumulate(lengths, initial=0))
        addresses = Addresses([np.frombuffer(piece, np.uint8) for piece in pieces])
        expected = list(b"".join(pieces))
        yield Case(f"{lengths}", len(lengths), (addresses, starts), expected)


@cases_of(selection.join_bits)
def join_bits(_: dict[str, str]) -> Iterator[Case]:
    rng = numbers("join bits")
    for lengths in ([], [0], [1], [64], [5, 0, 70, 1, 1, 57, 200, 64, 63, 8], [3] * 50):
        pieces = [random_bits(rng, length) for length in lengths]
        firsts = [rng.randrange(9) for _ in lengths]
        held = [bitmap(piece, first, rng) for piece, first in zip(pieces, firsts, strict=True)]
        ends = list(itertools.accumulate(lengths))
        for absent in (None, 0, 2):
            bits = [[True] * len(p) if i == absent else p for i, p in enumerate(pieces)]
            addresses = Addresses([None if i == absent else h for i, h in enumerate(held)])
            expected = words([bit for piece in bits for bit in piece])
            label = f"{len(lengths)} of {sum(lengths)} bits, without {absent}"
            yield Case(label, len(expected), (addresses, firsts, ends), expected)


@cases_of(selection.take_ranges)
def take_ranges(types: dict[str, str]) -> Iterator[Case]:
    for label, picked, offsets, starts in some_lists("take ranges"):
        expected = [k for p in picked for k in range(offsets[p], offsets[p + 1])]
        yield Case(label, len(picked), (picked, offsets, starts), expected)


@cases_of(selection.take_fixed_ranges)
def take_fixed_ranges(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("fixed")
    for size in (0, 1, 2, 3, 64):
        for count in (0, 1, 2, 9):
            for offset in (0, 5):
                picked = [rng.randrange(50) for _ in range(count)]
                expected = [(p + offset) * size + k for p in picked for k in range(size)]
                args = (picked, size, offset)
                yield Case(f"{count} of {size} from {offset}", count, args, expected)
