"""Cases of `colkern.kernels.sorting`."""

from __future__ import annotations

import itertools
import math
import struct
from collections.abc import Iterator

import numpy as np
from kernels.case import LENGTHS, Case, bitmap, cases_of, limits, numbers, random_bits

from colkern.kernels import sorting

ALL = 2**64 - 1


@cases_of(sorting.order_integers)
def order_integers(types: dict[str, str]) -> Iterator[Case]:
    code = types["words"]
    bits = np.dtype(code).itemsize * 8
    low, high = limits(code)
    rng = numbers(("order", code))
    for count, width in itertools.product(LENGTHS, (1, 2)):
        words = [rng.choice((low, high, rng.randint(low, high))) for _ in range(count * width)]
        for minus, flip, part in ((1 << (bits - 1), 0, width - 1), (0, high, 0)):
            expected = [words[i * width + part] ^ minus ^ flip for i in range(count)]
            args = (words, width, part, minus, flip)
            yield Case(f"{count} of {width}, part {part}", count, args, expected)


@cases_of(sorting.order_floats)
def order_floats(types: dict[str, str]) -> Iterator[Case]:
    code = types["words"]
    bits = np.dtype(code).itemsize * 8
    pack = {16: "<e", 32: "<f", 64: "<d"}[bits]
    values = [-math.inf, -2.5, -1.0, -(2.0**-20), 0.0, 2.0**-20, 1.0, 2.5, math.inf]
    words = [int.from_bytes(struct.pack(pack, value), "little") for value in values]
    minus = 1 << (bits - 1)
    infinity = words[-1]
    most = (1 << bits) - 1
    # Bits of numbers, in order: those of negative ones are in reverse.
    keys = [minus - (w - minus) if w >= minus else minus + w for w in words]
    assert keys == sorted(keys)
    all_words = [*words, minus, infinity + 1, most]
    ascending = [*keys, minus, most, most]
    args = (all_words, minus, infinity, most, 0)
    yield Case("ascending, NaN last", len(all_words), args, ascending)
    descending = [*(most ^ k for k in keys), most ^ minus, 0, 0]
    args = (all_words, minus, infinity, 0, most)
    yield Case("descending, NaN first", len(all_words), args, descending)
    yield Case("nothing", 0, ([], *args[1:]), [])


@cases_of(sorting.count_valid)
def count_valid(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("count valid")
    size = sorting.NULL_BLOCK
    for count in (0, 1, size - 1, size, size + 1, 2 * size + 5):
        valid = random_bits(rng, count)
        expected = [sum(valid[b : b + size]) for b in range(0, count, size)]
        yield Case(f"{count}", len(expected), (bitmap(valid, 3, rng), 3, count), expected)


@cases_of(sorting.split_nulls)
def split_nulls(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("split")
    size = sorting.NULL_BLOCK
    for count in (0, 1, size, size + 1, 2 * size + 5):
        valid = random_bits(rng, count)
        counts = [sum(valid[b : b + size]) for b in range(0, count, size)]
        starts = list(itertools.accumulate(counts, initial=0))
        expected = sorted(range(count), key=lambda i: not valid[i])
        args = (bitmap(valid, 3, rng), 3, count, starts)
        yield Case(f"{count}", len(counts), args, expected)


@cases_of(sorting.pack_keys)
def pack_keys(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("pack")
    for count, low, shift in itertools.product(LENGTHS, (0, 1 << 63), (0, 5, 31)):
        keys = [rng.randint(low, ALL) for _ in range(count)]
        chosen = [i for i in range(count) if rng.random() < 0.5][::-1]
        for label, positions in (("all", []), ("some", chosen)):
            places = positions or list(range(count))
            if label == "some" and not positions:
                continue
            expected = [((keys[p] - low >> shift) & 0xFFFFFFFF) << 32 | p for p in places]
            args = (keys, positions, low, shift)
            yield Case(f"{label} of {count}", len(places), args, expected)


@cases_of(sorting.count_digits)
def count_digits(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("digits")
    for count, chunk, digits in ((0, 1, 1), (50, 50, 2), (50, 17, 3), (7, 3, 1)):
        words = [rng.randint(0, 2**44) for _ in range(count)]
        chunks = -(-count // chunk)
        expected = [0] * (chunks * digits * 8)
        for i, word in enumerate(words):
            for d in range(digits):
                value = word >> (32 + 3 * d) & 7
                expected[(i // chunk * digits + d) * 8 + value] += 1
        args = (words, chunk, 32, digits, 3)
        yield Case(f"{count} by {chunk}", chunks, args, expected, [0] * len(expected))


def _places(digits: list[int], chunk: int, values: int) -> tuple[list[int], list[int]]:
    """Where the first of each chunk goes by its digit, and where the one after the last would."""
    order = sorted(range(len(digits)), key=lambda i: digits[i])
    chunks = -(-len(digits) // chunk)
    before, after = [], []
    for c, value in itertools.product(range(chunks), range(values)):
        own = [i for i in range(len(digits)) if i // chunk == c and digits[i] == value]
        earlier = sum((digits[i], i // chunk) < (value, c) for i in order)
        before.append(earlier)
        after.append(earlier + len(own))
    return before, after


@cases_of(sorting.scatter_digits)
def scatter_digits(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("scatter")
    for count, chunk in ((0, 1), (50, 50), (50, 17), (7, 3)):
        words = [rng.randrange(2**40) << 20 | i for i in range(count)]
        digits = [word >> 33 & 7 for word in words]
        before, after = _places(digits, chunk, 8)
        chosen = sorted(range(count), key=lambda i: digits[i])
        for kept in (ALL, 2**20 - 1):
            expected = [*(words[i] & kept for i in chosen), *after]
            args = (words, chunk, 33, 3, kept)
            yield Case(
                f"{count} by {chunk}", -(-count // chunk), args, expected, [0] * count + before
            )


@cases_of(sorting.sort_buckets)
def sort_buckets(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("buckets")
    for bounds, digits, kept in itertools.product(
        ([0], [0, 0], [0, 5, 5, 30], [0, 1, 50]), (1, 2, 3), (ALL, 2**20 - 1)
    ):
        count = bounds[-1]
        words = [rng.randrange(2**40) << 20 | i for i in range(count)]
        front, room, places = [], [], []
        for begin, end in itertools.pairwise(bounds):
            own = words[begin:end]
            # All digits but the highest are in order in the room, where there is another digit.
            lower = sorted(own, key=lambda word: word >> 33 & (1 << 3 * (digits - 1)) - 1)
            room += lower if digits > 1 else [0] * len(own)
            front += [
                word & kept for word in sorted(lower, key=lambda word: _digit(word, digits - 1))
            ]
            for digit in range(digits):
                numbers_of = [_digit(word, digit) for word in own]
                after = [begin + sum(n <= value for n in numbers_of) for value in range(8)]
                places += after if own else [0] * 8
        args = (words, bounds, 33, digits, 3, kept)
        expected = [*front, *room, *places]
        yield Case(f"{bounds} by {digits}", len(bounds) - 1, args, expected, [0] * len(expected))


def _digit(word: int, digit: int) -> int:
    return word >> 33 + 3 * digit & 7


def _few_keys(code: str) -> Iterator[tuple[int, int, int, int, list[int]]]:
    """Chunks, what is flipped, the least key, and keys that differ in 3 bits."""
    high = 1 << 8 * np.dtype(code).itemsize - 1
    rng = numbers(("few keys", code))
    for count, chunk, low, flip in (
        (0, 1, 0, 0),
        (50, 50, high, high),
        (50, 17, 4, high),
        (7, 3, 0, 0),
        # Four chunks are counted together, of which the last may be shorter, or empty.
        (70, 16, 4, high),
        (30, 8, 0, 0),
        (9, 3, 0, 0),
    ):
        yield count, chunk, flip, low, [low + rng.randrange(8) for _ in range(count)]


@cases_of(sorting.count_few_keys)
def count_few_keys(types: dict[str, str]) -> Iterator[Case]:
    for count, chunk, flip, low, keys in _few_keys(types["words"]):
        chunks = -(-count // chunk)
        expected = [0] * (chunks * 8)
        for i, key in enumerate(keys):
            expected[i // chunk * 8 + key - low] += 1
        args = ([key ^ flip for key in keys], flip, low, chunk, 3)
        yield Case(f"{count} by {chunk}", chunks, args, expected, [0] * len(expected))


@cases_of(sorting.scatter_positions)
def scatter_positions(types: dict[str, str]) -> Iterator[Case]:
    for count, chunk, flip, low, keys in _few_keys(types["words"]):
        before, after = _places([key - low for key in keys], chunk, 8)
        expected = [*sorted(range(count), key=lambda i: keys[i]), *after]
        args = ([key ^ flip for key in keys], flip, low, chunk, 3)
        yield Case(f"{count} by {chunk}", -(-count // chunk), args, expected, [0] * count + before)


@cases_of(sorting.rank_few_keys)
def rank_few_keys(types: dict[str, str]) -> Iterator[Case]:
    for count, chunk, flip, low, keys in _few_keys(types["words"]):
        before, after = _places([key - low for key in keys], chunk, 8)
        order = sorted(range(count), key=lambda i: keys[i])
        expected = [*(1 + order.index(i) for i in range(count)), *after]
        args = ([key ^ flip for key in keys], flip, low, chunk, 3)
        yield Case(f"{count} by {chunk}", -(-count // chunk), args, expected, [0] * count + before)


@cases_of(sorting.rank_positions)
def rank_positions(types: dict[str, str]) -> Iterator[Case]:
    for count in (0, 1, 50):
        places = list(range(count))
        numbers("ranks").shuffle(places)
        yield Case(f"{count}", count, (places,), [1 + places.index(i) for i in range(count)])


def _packed(parts: list[int]) -> list[int]:
    """Sorted packed words of those parts of keys; positions are in order where parts are equal."""
    rng = numbers("packed")
    positions = list(range(len(parts)))
    rng.shuffle(positions)
    groups = [list(group) for _, group in itertools.groupby(range(len(parts)), lambda i: parts[i])]
    return [
        parts[i] << 32 | position
        for group in groups
        for i, position in zip(group, sorted(positions[i] for i in group), strict=True)
    ]


@cases_of(sorting.count_long_ties)
def count_long_ties(types: dict[str, str]) -> Iterator[Case]:
    parts = [1, 1, 2, 3, 3, 3, 3, 9, *[12] * 80]
    yield Case("nothing", 0, ([], 5), 0)
    for distance in (1, 3, 16):
        expected = sum(a == b for a, b in zip(parts, parts[distance:], strict=False))
        args = (_packed(parts), distance)
        yield Case(f"{distance} apart", len(parts) - distance, args, expected)


@cases_of(sorting.settle_ties)
def settle_ties(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("ties")
    for parts in ([], [5], [1, 1, 1, 1], sorted(rng.randrange(12) for _ in range(60))):
        words = _packed(parts)
        keys = [0] * len(parts)
        for word in words:
            keys[word & 0xFFFFFFFF] = (word >> 32) << 2 | rng.randrange(4)
        expected = sorted(range(len(keys)), key=lambda p: keys[p])
        yield Case(f"{parts}", len(parts), (words, keys), expected)


@cases_of(sorting.group_starts)
def group_starts(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("group starts")
    for count, groups in itertools.product((0, 1, 65), (0, 7, 70)):
        keys = [rng.randrange(5) for _ in range(count)]
        positions = sorted(range(count), key=lambda i: keys[i])
        expected = [sum(key < k for key in keys) for k in range(groups)]
        yield Case(f"{count} in {groups}", groups, (keys, positions), expected)
