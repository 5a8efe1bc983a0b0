"""Cases of `colkern.kernels.lists`, but for those that take and validate lists."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

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
    words,
)

from colkern.kernels import lists

# Lengths of lists: none, one, empty ones alone, short ones, one with most of the elements, mixtures.
SHAPES: tuple[list[int], ...] = (
    [],
    [1],
    [0, 0, 0],
    [4] * 20,
    [0, 2, 8, 7, 0, 0, 9, 1, 3, 0],
    [1, 0, 70, 0, 2],
    [17, 0, 16, 1],
    [*[0] * 40, 3, *[0] * 40, 1],
)


def starts_of(lengths: list[int], base: int = 0) -> list[int]:
    return list(itertools.accumulate(lengths, initial=base))


def slots() -> Iterator[tuple[str, list[int], list[int], list[int], tuple[Any, int], list[bool]]]:
    """Lists with offsets, and as views: label, offsets, sizes, lengths, bitmap, which are valid."""
    rng = numbers("lists")
    for count in LENGTHS:
        lengths = [rng.choice((0, 0, 1, 3, 13)) for _ in range(count)]
        begins = [rng.randrange(100) for _ in lengths]
        for what, bytes_, offset, valid in validities(rng, count):
            label = f"{count}, {what}"
            yield label, starts_of(lengths, 5), [], lengths, (bytes_, offset), valid
            if count:
                yield f"{label}, views", begins, lengths, lengths, (bytes_, offset), valid


def most_of(types: dict[str, str]) -> int:
    """The largest offset; half of it, so that a sum of two fits 64 bits."""
    return limits(types["offsets"])[1] // 2


@cases_of(lists.list_sizes)
def list_sizes(types: dict[str, str]) -> Iterator[Case]:
    for lengths in SHAPES:
        yield Case(f"{len(lengths)}", len(lengths), (starts_of(lengths, 3),), lengths)
    most = most_of(types)
    yield Case("longest", 2, ([0, most, 2 * most],), [most, most])


@cases_of(lists.list_lengths)
def list_lengths(types: dict[str, str]) -> Iterator[Case]:
    for label, offsets, sizes, lengths, bits, valid in slots():
        expected = [n if ok else 0 for n, ok in zip(lengths, valid, strict=True)]
        yield Case(label, len(lengths), (offsets, sizes, *bits), expected)


def blocks_of(items: list[int]) -> list[int]:
    """The sums of blocks of lists."""
    size = 1 << lists.BLOCK_BITS
    return [sum(items[b : b + size]) for b in range(0, len(items), size)]


def counted(what: str) -> Iterator[tuple[str, int, tuple[Any, ...], list[int]]]:
    """Lists of which some stand for others: label, blocks, arguments, their lengths."""
    for null, empty in ((0, 0), (1, 0), (0, 1), (1, 1)):
        for label, offsets, sizes, lengths, bits, valid in slots():
            shown = [n or empty if ok else null for n, ok in zip(lengths, valid, strict=True)]
            args = (offsets, sizes, *bits, len(lengths), null, empty)
            yield f"{label}, {null}, {empty}", len(blocks_of(lengths)), args, shown


@cases_of(lists.count_elements)
def count_elements(types: dict[str, str]) -> Iterator[Case]:
    for label, blocks, args, shown in counted("count"):
        yield Case(label, blocks, args, blocks_of(shown))


@cases_of(lists.element_starts)
def element_starts(types: dict[str, str]) -> Iterator[Case]:
    for label, blocks, args, shown in counted("starts"):
        expected = starts_of(shown)
        if blocks:
            yield Case(label, blocks, (*args, starts_of(blocks_of(shown))), expected)
        else:
            # Nobody has a block, and nothing is written.
            yield Case(label, 0, (*args, [0]), [7], [7])


@cases_of(lists.list_views_in_row)
def list_views_in_row(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("views in row")
    yield Case("none", 0, ([], [], 0), (0, [7]), [7])
    for base, count in ((0, 1), (5, 2), (3, 40), (0, 3000)):
        sizes = [rng.randint(0, 4) for _ in range(count)]
        starts = starts_of(sizes)
        begins = [base + start for start in starts[:-1]]
        yield Case(f"{count} from {base}", count, (begins, sizes, base), (0, starts))
        if count > 2:
            begins, starts = ([*x[:2], x[2] + 1, *x[3:]] for x in (begins, starts))
            yield Case(f"{count}, one elsewhere", count, (begins, sizes, base), (1, starts))


@cases_of(lists.list_begins)
def list_begins(types: dict[str, str]) -> Iterator[Case]:
    for label, offsets, sizes, lengths, bits, valid in slots():
        rows = zip(offsets, lengths, valid, strict=False)
        expected = [begin if n and ok else 0 for begin, n, ok in rows]
        yield Case(label, len(lengths), (offsets, sizes, *bits), expected)


@cases_of(lists.first_list_of_another_length)
def first_list_of_another_length(types: dict[str, str]) -> Iterator[Case]:
    for size in (0, 3):
        for label, offsets, sizes, lengths, bits, valid in slots():
            wrong = (i for i, n in enumerate(lengths) if n != size and valid[i])
            args = (offsets, sizes, *bits, len(lengths), size)
            blocks = len(blocks_of(lengths))
            yield Case(f"{label}, not {size}", blocks, args, next(wrong, NOWHERE))
    for count in LENGTHS:
        args = (starts_of([4] * count), [], [], 0, count, 4)
        yield Case("none", len(blocks_of([4] * count)), args, NOWHERE)


@cases_of(lists.first_list_out_of_row)
def first_list_out_of_row(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("row")
    for lengths in SHAPES:
        for what, bytes_, offset, valid in validities(rng, len(lengths)):
            shown = [n if ok else 0 for n, ok in zip(lengths, valid, strict=True)]
            starts = starts_of(shown)
            # A null list is anywhere, and so is one without elements.
            begins = [7 + start if n else 2 for start, n in zip(starts, shown, strict=False)]
            for moved in range(-1, len(lengths), 3):
                some = [b + (i == moved) for i, b in enumerate(begins)]
                result = moved if moved >= 0 and shown[moved] else NOWHERE
                args = (some, lengths, bytes_, offset, 7, starts)
                yield Case(f"{len(lengths)}, {what}, {moved}", len(lengths), args, result)


@cases_of(lists.place_in_lists)
def place_in_lists(types: dict[str, str]) -> Iterator[Case]:
    for index in (0, 2):
        for label, offsets, sizes, lengths, bits, valid in slots():
            rows = list(zip(offsets, lengths, valid, strict=False))
            places = [begin + index if ok and index < n else 0 for begin, n, ok in rows]
            short = (i for i, (_, n, ok) in enumerate(rows) if ok and index >= n)
            args = (offsets, sizes, *bits, index)
            expected = (next(short, NOWHERE), places)
            before = [-1] * len(lengths)
            yield Case(f"{label}, {index}", len(lengths), args, expected, before)


@cases_of(lists.list_of_each)
def list_of_each(types: dict[str, str]) -> Iterator[Case]:
    for base in (0, 11):
        for lengths in SHAPES:
            owners = [i for i, n in enumerate(lengths) for _ in range(n)]
            label = f"{len(lengths)} from {base}"
            yield Case(label, len(owners), (starts_of(lengths, base),), owners)


def placed_lists(seed: str) -> Iterator[tuple[str, list[int], list[int], list[list[int]]]]:
    """Lists anywhere in a child of 100: label, begins, starts, the places of each one's elements."""
    rng = numbers(seed)
    for base in (0, 11):
        for lengths in SHAPES:
            # Also at the very end, beyond which nothing can be read.
            begins = [rng.choice((0, 100 - n, rng.randrange(101 - n))) for n in lengths]
            places = [list(range(b, b + n)) for b, n in zip(begins, lengths, strict=True)]
            # A list without elements may say that it begins anywhere.
            message = [
                b if n else rng.choice((100, 2**31 - 1, -5))
                for b, n in zip(begins, lengths, strict=True)
            ]
            yield f"{len(lengths)} from {base}", message, starts_of(lengths, base), places


@cases_of(lists.elements_of_lists)
def elements_of_lists(types: dict[str, str]) -> Iterator[Case]:
    for label, begins, starts, places in placed_lists("elements"):
        expected = list(itertools.chain(*places))
        yield Case(label, len(expected), (begins, 99, starts), expected)
    late = ([7, 9, 20], 9, [0, 2, 3, 4])
    yield Case("stand-ins", 4, late, [7, 8, 9, 9])


@cases_of(lists.copy_lists)
def copy_lists(types: dict[str, str]) -> Iterator[Case]:
    low, high = limits(types["values"])
    rng = numbers("copy lists")
    for width in (1, 3):
        values = [rng.choice((low, high, rng.randint(low, high))) for _ in range(100 * width)]
        for label, begins, starts, places in placed_lists("copied"):
            expected = [
                value for p in itertools.chain(*places) for value in values[p * width :][:width]
            ]
            args = (begins, 99, starts, width, values)
            yield Case(f"{label}, width {width}", len(expected), args, expected)
    # Lists that follow each other, with a gap, up to where one may begin at the latest.
    begins = [7 + 2 * i + (5 if i > 20 else 0) for i in range(40)]
    starts = [3 + 2 * i for i in range(41)]
    values = [rng.randint(low, high) for _ in range(92)]
    expected = [values[begin + k] for begin in begins for k in range(2)]
    yield Case("in a row", 80, (begins, 90, starts, 1, values), expected)
    begins = [*range(20), *range(20, 40)]
    expected = [values[min(begin, 29)] for begin in begins]
    yield Case("past the latest", 40, (begins, 29, list(range(41)), 1, values[:30]), expected)
    # Fewer values than are copied at once.
    yield Case("short child", 5, ([0, 1], 3, [0, 2, 5], 1, [1, 2, 3, 4]), [1, 2, 2, 3, 4])
    yield Case("stand-in", 3, ([0, 4], 3, [0, 2, 3], 1, [1, 2, 3, 4]), [1, 2, 4])


@cases_of(lists.copy_list_bits)
def copy_list_bits(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("copy bits")
    bits = random_bits(rng, 100)
    for offset in (0, 3, 9):
        for label, begins, starts, places in placed_lists("copied"):
            expected = words([bits[p] for p in itertools.chain(*places)])
            args = (begins, 99, starts, bitmap(bits, offset, rng), offset)
            yield Case(f"{label}, bit {offset}", len(expected), args, expected)


@cases_of(lists.repeat_values)
def repeat_values(types: dict[str, str]) -> Iterator[Case]:
    low, high = limits(types["values"])
    rng = numbers("repeat")
    for width in (1, 2, 3):
        for lengths in SHAPES:
            values = [rng.choice((low, high, 5)) for _ in range(width * len(lengths))]
            expected = [
                value for i, n in enumerate(lengths) for value in values[i * width :][:width] * n
            ]
            for base in (0, 11):
                args = (starts_of(lengths, base), width, values)
                label = f"{len(lengths)} of width {width} from {base}"
                yield Case(label, len(expected), args, expected)


@cases_of(lists.repeat_list_bits)
def repeat_list_bits(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("repeat bits")
    for offset in (0, 3, 9):
        for lengths in SHAPES:
            bits = random_bits(rng, len(lengths))
            repeated = [bit for bit, n in zip(bits, lengths, strict=True) for _ in range(n)]
            expected = words(repeated)
            for base in (0, 11):
                args = (starts_of(lengths, base), bitmap(bits, offset, rng), offset)
                label = f"{len(lengths)} from {base}, bit {offset}"
                yield Case(label, len(expected), args, expected)


def with_stand_ins() -> Iterator[tuple[str, tuple[Any, ...], list[int], list[bool]]]:
    """Lists, where their places begin, and which of them stand in for an element."""
    for null, empty in ((0, 0), (1, 0), (0, 1), (1, 1)):
        for label, offsets, sizes, lengths, bits, valid in slots():
            rows = list(zip(lengths, valid, strict=True))
            places = [n or empty if ok else null for n, ok in rows]
            result = [p > 0 and not (n > 0 and ok) for p, (n, ok) in zip(places, rows, strict=True)]
            args = (offsets, sizes, *bits)
            yield f"{label}, {null}, {empty}", args, places, result


@cases_of(lists.find_stand_ins)
def find_stand_ins(types: dict[str, str]) -> Iterator[Case]:
    for label, args, places, item in with_stand_ins():
        expected = words(item)
        yield Case(label, len(expected), (*args, starts_of(places, 9)), expected)


@cases_of(lists.bits_of_elements)
def bits_of_elements(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("stand-ins")
    for label, _, places, result in with_stand_ins():
        shown = [not bit for bit, n in zip(result, places, strict=True) for _ in range(n)]
        expected = words(shown)
        args = (starts_of(places, 9), bitmap(result, 0, rng))
        yield Case(label, len(expected), args, expected)
    # More lists without a place in one word than it has bits.
    places = [3, *[0] * 200, 1, *[0] * 70, 2]
    result = [i == 201 for i in range(len(places))]
    yield Case("many", 1, (starts_of(places), bitmap(result, 0, rng)), [0b110111])
