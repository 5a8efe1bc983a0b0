"""Cases of `colkern.kernels.dictionaries`."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import numpy as np
from kernels.case import (
    LENGTHS,
    NOWHERE,
    Addresses,
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
from kernels.value_cases import some_values, with_buffers

from colkern.kernels import dictionaries, hashing

FACTOR = 0x1E3779B185EBCA80
LOW = 2**32 - 1
MASKS = hashing.run_masks()


def slots_of(valid: list[bool], limit: int, high: int, seed: object) -> list[int]:
    """Indices below `limit` where valid; under a null may stand anything."""
    rng = numbers(("slots", seed))
    return [rng.randrange(limit) if ok else rng.choice((high, 0, limit)) for ok in valid]


@cases_of(dictionaries.decode_items)
def decode_items(types: dict[str, str]) -> Iterator[Case]:
    low, high = limits(types["values"])
    most = limits(types["items"])[1]
    rng = numbers("decode items")
    for width in (1, 2, 3):
        values = [rng.choice((low, high, rng.randint(low, high))) for _ in range(20 * width)]
        for count in LENGTHS:
            indices = slots_of(random_bits(rng, count), 20, most, count)
            picked = [min(i, 19) for i in indices]
            expected = [values[p * width + k] for p in picked for k in range(width)]
            yield Case(f"{count} of {width}", count, (indices, 20, values, width), expected)


@cases_of(dictionaries.decode_bits)
def decode_bits(types: dict[str, str]) -> Iterator[Case]:
    most = limits(types["items"])[1]
    rng = numbers("decode bits")
    bits = random_bits(rng, 20)
    for count in LENGTHS:
        for label, validity, offset, valid in validities(rng, count):
            indices = slots_of(valid, 20, most, count)
            expected = packed(
                [ok and bits[min(i, 19)] for i, ok in zip(indices, valid, strict=True)]
            )
            args = (indices, 20, bitmap(bits, 3, rng), 3, validity, offset)
            yield Case(f"{count}, {label}", len(expected), args, expected)


BLOCKS = (0, 1, 9, dictionaries.BLOCK, 2 * dictionaries.BLOCK + 5)


def some_strings(
    types: dict[str, str],
) -> Iterator[tuple[str, tuple[Any, ...], list[int], list[int]]]:
    """Indices into five strings with their validity, the lengths picked, and the strings' offsets."""
    most = limits(types["items"])[1]
    rng = numbers("strings")
    offsets = [3, 3, 4, 20, 22, 40]
    for count in BLOCKS:
        for label, validity, offset, valid in validities(rng, count):
            indices = slots_of(valid, 5, most, count)
            lengths = [
                offsets[i + 1] - offsets[i] if ok else 0
                for i, ok in zip(indices, valid, strict=True)
            ]
            yield f"{count}, {label}", (indices, 5, offsets, validity, offset), lengths, offsets


@cases_of(dictionaries.decoded_block_bytes)
def decoded_block_bytes(types: dict[str, str]) -> Iterator[Case]:
    for label, args, lengths, _ in some_strings(types):
        size = dictionaries.BLOCK
        expected = [sum(lengths[b : b + size]) for b in range(0, len(lengths), size)]
        yield Case(label, len(expected), args, expected)


@cases_of(dictionaries.decoded_offsets)
def decoded_offsets(types: dict[str, str]) -> Iterator[Case]:
    size = dictionaries.BLOCK
    for label, args, lengths, _ in some_strings(types):
        expected = list(itertools.accumulate(lengths, initial=0))
        if lengths:
            starts = [*expected[:-1:size], expected[-1]]
            yield Case(label, len(starts) - 1, (*args, starts), expected)
        else:
            yield Case(label, 0, (*args, [0]), [3], [3])


@cases_of(dictionaries.decode_strings)
def decode_strings(types: dict[str, str]) -> Iterator[Case]:
    data = numbers("data").randbytes(40)
    for label, args, lengths, offsets in some_strings(types):
        starts = list(itertools.accumulate(lengths, initial=0))
        pieces = [
            data[offsets[i] : offsets[i] + n] if n else b""
            for i, n in zip((min(i, 4) for i in args[0]), lengths, strict=True)
        ]
        given = (*args[:3], At(np.frombuffer(data, np.uint8)), len(data), starts)
        yield Case(label, len(lengths), given, list(b"".join(pieces)))


@cases_of(dictionaries.transpose_indices)
def transpose_indices(types: dict[str, str]) -> Iterator[Case]:
    most = limits(types["items"])[1]
    rng = numbers("transpose")
    moved = [rng.randrange(100) for _ in range(12)]
    for count in LENGTHS:
        indices = slots_of(random_bits(rng, count), 5, most, count)
        expected = [moved[7 + min(i, 4)] for i in indices]
        yield Case(f"{count}", count, (indices, 5, moved, 7), expected)


# Tables


class Numbers:
    """Values numbered in the order of their first slots, and a kernel's output before and after."""

    def __init__(
        self,
        values: Sequence[Hashable],
        valid: list[bool],
        counted: int,
        first: int,
    ) -> None:
        self.entries: dict[Hashable, int] = {}
        self.numbers = []
        for i, (value, ok) in enumerate(zip(values, valid, strict=True)):
            if ok or counted:
                key = value if ok else None
                if key not in self.entries:
                    self.entries[key] = (first + i) << 32 | len(self.entries) + 1
                self.numbers.append(self.entries[key] - 1)
            else:
                self.numbers.append(dictionaries.NO_VALUE - 1)
        self.count = len(self.entries)
        self.firsts = [entry >> 32 for entry in self.entries.values()]
        self.no_null = 0 if counted else dictionaries.NO_VALUE
        self.null = self.entries.pop(None, self.no_null)

    def output(self, codes: int, table: list[int]) -> list[int]:
        rest = [7] * (codes - len(self.numbers))
        firsts = [7] * codes
        firsts[: self.count] = self.firsts
        place = dictionaries.HEAD + codes + self.count
        return [self.count, place, 0, self.null, *self.numbers, *rest, *firsts, *table]

    def before(self, codes: int, table: int) -> list[int]:
        return [0, dictionaries.HEAD + codes, 0, self.no_null, *[7] * (2 * codes), *[0] * table]


def spread(bits: int) -> int:
    return FACTOR | 64 - bits


def pairs(entries: list[tuple[int, int]], bits: int) -> list[int]:
    """A table of 2^bits pairs, filled in that order."""
    table: list[int] = [0] * (2 << bits)
    for key, entry in entries:
        slot = ((key ^ key >> 32) * (spread(bits) | 1) & 2**64 - 1) >> (64 - bits)
        while table[2 * slot + 1]:
            slot = (slot + 1) % (1 << bits)
        table[2 * slot : 2 * slot + 2] = [key, entry]
    return table


def small_ranges(code: str) -> Iterator[tuple[str, list[int], int, int, Any, int, list[bool]]]:
    """Words of eleven integers, with a sign bit and without, and which slots are valid."""
    bits = np.dtype(code).itemsize * 8
    low = (1 << (bits - 1)) - 5
    rng = numbers(("small", code))
    for count, minus in itertools.product((0, 1, 65), (0, 1 << (bits - 1))):
        for label, validity, offset, valid in validities(rng, count):
            words = [(low + rng.randrange(11)) ^ minus for _ in valid]
            yield f"{count}, {label}, {minus}", words, minus, low, validity, offset, valid


@cases_of(dictionaries.list_small_values)
def list_small_values(types: dict[str, str]) -> Iterator[Case]:
    for label, words, minus, low, validity, offset, valid in small_ranges(types["words"]):
        for most, counted in itertools.product((3, 12), (True, False)):
            table = [0 if counted else 1, *[0] * 11]
            before = [0, *[7] * most, *table]
            firsts: list[int] = []
            for i, (word, ok) in enumerate(zip(words, valid, strict=True)):
                place = (word ^ minus) - low + 1 if ok else 0
                if table[place] == 0 and len(firsts) < most:
                    firsts.append(i)
                    table[place] = len(firsts)
            rest = [7] * (most - len(firsts))
            args = (words, minus, low, validity, offset, most)
            expected = [len(firsts), *firsts, *rest, *table]
            yield Case(f"{label}, {most}, {counted}", len(words), args, expected, before)


@cases_of(dictionaries.numbers_of_small_values)
def numbers_of_small_values(types: dict[str, str]) -> Iterator[Case]:
    table = [100, *range(11)]
    for label, words, minus, low, validity, offset, valid in small_ranges(types["words"]):
        places = [
            (word ^ minus) - low + 1 if ok else 0 for word, ok in zip(words, valid, strict=True)
        ]
        args = (words, minus, low, validity, offset, table)
        yield Case(label, len(words), args, [table[place] for place in places])


@cases_of(dictionaries.number_words)
def number_words(types: dict[str, str]) -> Iterator[Case]:
    _, high = limits(types["words"])
    rng = numbers(("words", types["words"]))
    for count, counted in itertools.product((0, 1, 65), (0, 1)):
        for label, validity, offset, valid in validities(rng, count):
            words = [rng.choice((0, 1, high, high - 1, 77)) for _ in valid]
            result = Numbers(words, valid, counted, 100)
            table = pairs([(word, e) for word, e in result.entries.items()], 5)  # type: ignore[misc]
            args = (words, validity, offset, 100, count + 3, spread(5), 0)
            expected = (count, result.output(count + 3, table))
            before = result.before(count + 3, 64)
            yield Case(f"{count}, {label}, {counted}", count, args, expected, before)
    words = list(range(9))
    result = Numbers(words[:4], [True] * 4, 0, 0)
    table = pairs(list(result.entries.items()), 4)  # type: ignore[arg-type]
    args = (words, [], 0, 0, 9, spread(4), 0)
    yield Case("full", 9, args, (4, result.output(9, table)), result.before(9, 32))


@cases_of(dictionaries.find_words)
def find_words(types: dict[str, str]) -> Iterator[Case]:
    _, high = limits(types["words"])
    rng = numbers(("find", types["words"]))
    # Three words and, if nulls are counted, null are known; 77 is not.
    known = [high, 0, 1, 0]
    for count, counted, null in itertools.product((0, 1, 65), (0, 1), (True, False)):
        result = Numbers(known, [True, True, True, null], counted, 100)
        table = pairs([(word, e) for word, e in result.entries.items()], 5)  # type: ignore[misc]
        numbered = result.output(7, table)
        for label, validity, offset, valid in validities(rng, count):
            words = [rng.choice((0, 1, high, 77)) for _ in valid]
            entries = [
                result.entries.get(word, 0) if ok else result.null
                for word, ok in zip(words, valid, strict=True)
            ]
            place = dictionaries.HEAD + 2 * 7
            args = (words, validity, offset, numbered, place, spread(5), 0)
            expected = [(entry - 1) % 2**64 for entry in entries]
            yield Case(f"{count}, {label}, {counted}, {null}", count, args, expected)


def keys_of(words: list[int], bits: int) -> list[int]:
    """A table of 2^bits keys, filled in that order."""
    table = pairs([(word, 1) for word in words if word], bits)
    return table[::2]


@cases_of(dictionaries.first_words)
def first_words(types: dict[str, str]) -> Iterator[Case]:
    _, high = limits(types["words"])
    rng = numbers(("first words", types["words"]))
    for count in (0, 1, 65):
        for label, validity, offset, valid in validities(rng, count):
            words = [rng.choice((0, 1, high, high - 1, 77)) for _ in valid]
            shown = [w if ok else None for w, ok in zip(words, valid, strict=True)]
            results = list(dict.fromkeys(shown))
            firsts = [100 + shown.index(word) for word in results]
            table = keys_of([word or 0 for word in results], 5)
            marks = [int(word not in results) for word in (None, 0)]
            after = [len(results), *marks, *firsts, *[7] * (8 - len(results)), *table]
            before = [0, 1, 1, *[7] * 8, *[0] * 32]
            args = (words, validity, offset, 100, 11, spread(5), 0)
            yield Case(f"{count}, {label}", count, args, (count, after), before)
    words = [5, 0, 5, 9, 0, 11, 0]
    after = [2, 1, 0, 0, 1, 7, *keys_of([5], 3)]
    yield Case(
        "full", 7, (words, [], 0, 0, 6, spread(3), 0), (3, after), [0, 1, 1, 7, 7, 7, *[0] * 8]
    )


@cases_of(dictionaries.grow_keys)
def grow_keys(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("grow keys")
    yield Case("nothing", 0, ([], 2, spread(6)), [5] * 66, [5] * 66)
    for count in (0, 1, 8):
        old = keys_of([rng.randrange(1, 2**64) for _ in range(count)], 4)
        expected = [9, 9, *keys_of(old, 6)]
        yield Case(f"{count}", 16, (old, 2, spread(6)), expected, [9, 9, *[0] * 64])


@cases_of(dictionaries.grow_table)
def grow_table(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("grow")
    yield Case("nothing", 0, ([], 3, spread(6), 0), [5] * 131, [5] * 131)
    for count in (0, 1, 8):
        entries = [(rng.randrange(2**64), k + 1) for k in range(count)]
        old = pairs(entries, 4)
        in_order = [(old[2 * k], old[2 * k + 1]) for k in range(16) if old[2 * k + 1]]
        expected = [9, 9, 9, *pairs(in_order, 6)]
        yield Case(f"{count}", 16, (old, 3, spread(6), 0), expected, [9, 9, 9, *[0] * 128])


@cases_of(dictionaries.place_numbers)
def place_numbers(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers(("place", types["moved"]))
    _, high = limits(types["moved"])
    for count in LENGTHS:
        positions = rng.sample(range(count), count)
        moved = [rng.randint(0, high) for _ in range(5)]
        own = [rng.randrange(5) for _ in range(count)]
        placed = dict(zip(positions, own, strict=True))
        expected = [moved[placed[i]] for i in range(count)]
        yield Case(f"{count}", count, (positions, own, moved), expected)


# Groups


def _groups(count: int) -> tuple[list[int], list[int], list[int], list[int]]:
    """Keys, their positions in order, marks of the first of each group, and the marks' running sum."""
    rng = numbers(("groups", count))
    keys = [rng.choice((0, 5, 2**64 - 1)) for _ in range(count)]
    positions = sorted(range(count), key=lambda i: keys[i])
    marks = [int(i == 0 or keys[p] != keys[positions[i - 1]]) for i, p in enumerate(positions)]
    return keys, positions, marks, list(itertools.accumulate(marks, initial=0))


@cases_of(dictionaries.mark_groups)
def mark_groups(types: dict[str, str]) -> Iterator[Case]:
    for count in LENGTHS:
        keys, positions, marks, _ = _groups(count)
        yield Case(f"{count}", count, (keys, positions), marks)


@cases_of(dictionaries.group_firsts)
def group_firsts(types: dict[str, str]) -> Iterator[Case]:
    for count in LENGTHS:
        _, positions, marks, groups = _groups(count)
        expected = [p for p, mark in zip(positions, marks, strict=True) if mark]
        yield Case(f"{count}", count, (positions, groups), expected)


@cases_of(dictionaries.rank)
def rank(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("rank")
    for count in LENGTHS:
        order = rng.sample(range(count), count)
        firsts = [rng.randrange(2**32) for _ in range(count)]
        ranks = [firsts[i] << 32 | order.index(i) for i in range(count)]
        yield Case(f"{count}", count, (order, firsts), ranks)


@cases_of(dictionaries.number_groups)
def number_groups(types: dict[str, str]) -> Iterator[Case]:
    for count in LENGTHS:
        keys, positions, _, groups = _groups(count)
        ranks = [7, 3, 9]
        distinct = sorted(set(keys))
        expected = [ranks[distinct.index(key)] for key in keys]
        yield Case(f"{count}", count, (positions, groups, ranks), expected)


def _unlike_cases(
    rng: Any, values: list[bytes], arguments: tuple[Any, ...], slot: int
) -> Iterator[Case]:
    """Cases for values at slots from `slot` on, which have a number by their length."""
    count = len(values)
    for label, validity, offset, valid in validities(rng, count):
        # Slot 0 is before those that are looked at; under a null, anything stands.
        firsts = {len(value): k for k, value in reversed(list(enumerate(values)))}
        like = [firsts[len(value)] for value in values]
        numbered = [(slot + k) << 32 | rng.randrange(9) for k in like]
        numbered = [
            n if ok else dictionaries.NO_VALUE - 1 for n, ok in zip(numbered, valid, strict=True)
        ]
        looked = [ok and rng.random() < 0.9 for ok in valid]
        numbered = [
            n if is_looked or not ok else NOWHERE
            for n, is_looked, ok in zip(numbered, looked, valid, strict=True)
        ]
        unlike = sum(
            ok and values[k] != value for value, k, ok in zip(values, like, looked, strict=True)
        )
        args = (numbered, *arguments, validity, offset, slot)
        yield Case(f"{count}, {label}", count, args, unlike)


@cases_of(dictionaries.count_unlike_strings)
def count_unlike_strings(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("unlike strings")
    for count, most in itertools.product((0, 1, 150), (16, 32, 70)):
        distinct = [*some_values(rng, 12), b"12345678x", b"12345678y", b"1234567", bytes(7)]
        distinct += [b"a" * 70, b"a" * 69 + b"b", b"b" + b"a" * 69, b"a" * 15 + b"b", b"a" * 16]
        distinct += [b"a" * 32, b"a" * 31 + b"b", b"a" * 8 + b"b" + b"a" * 23]
        distinct = [value[:most] for value in distinct]
        values = [rng.choice(distinct) for _ in range(count)]
        offsets = list(itertools.accumulate([5, *map(len, values)]))
        data = np.frombuffer(b"12345" + b"".join(values) + bytes(7), np.uint8)
        yield from _unlike_cases(rng, values, ([0, *offsets], At(data), len(data), 0, MASKS), 1)
    for width in (0, 3, 20):
        fixed = [rng.choice(distinct).ljust(20, b".")[:width] for _ in range(65)]
        data = np.frombuffer(b"?" * width + b"".join(fixed), np.uint8)
        yield from _unlike_cases(rng, fixed, ([], At(data), len(data), width, MASKS), 1)


@cases_of(dictionaries.count_unlike_views)
def count_unlike_views(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("unlike views")
    for count in (0, 1, 65):
        distinct = [*some_values(rng, 12), b"12345678x", b"12345678y", b"1234567", bytes(7)]
        distinct += [b"a" * 70, b"a" * 69 + b"b", b"b" + b"a" * 69]
        values = [rng.choice(distinct) for _ in range(count)]
        views, buffers = with_buffers(rng, values)
        # The bytes behind a short value may be any.
        dirty = [
            view[: 4 + len(v)] + rng.randbytes(12 - len(v)) if len(v) <= 12 else view
            for view, v in zip(views, values, strict=True)
        ]
        words = np.frombuffer(b"".join([bytes(16), *dirty]), np.uint64)
        addresses = Addresses([np.frombuffer(b, np.uint8) for b in buffers])
        yield from _unlike_cases(rng, values, (words, addresses, MASKS), 1)
