"""Cases of `colkern.kernels.offsets`, `lists` and `views`."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
from kernels.case import (
    LENGTHS,
    NOWHERE,
    Addresses,
    At,
    Case,
    cases_of,
    limits,
    numbers,
    validities,
)

from colkern.kernels import lists, offsets, views


def running(lengths: list[int], first: int = 0) -> list[int]:
    """Offsets of values of those lengths."""
    return list(itertools.accumulate(lengths, initial=first))


def some_offsets(code: str) -> Iterator[tuple[str, list[int]]]:
    """Valid offsets and others, each with at least one entry."""
    rng = numbers(("offsets", code))
    low, high = limits(code)
    for count in LENGTHS:
        yield f"{count} values", running([rng.randrange(5) for _ in range(count)], 7)
    yield "all empty", [9] * 10
    yield "descending", list(range(70, 0, -1))
    yield "descends at the end", [*range(64), 3]
    yield "descends at the start", [5, *range(70)]
    yield "extremes", [low, high, low, low + 1, 0, high, high]
    yield "negative", [-3, -2, -1, 0]


@cases_of(offsets.count_bad_offsets)
def count_bad_offsets(types: dict[str, str]) -> Iterator[Case]:
    for label, items in some_offsets(types["offsets"]):
        bad = sum(b < a for a, b in itertools.pairwise(items)) + (items[0] < 0)
        for limit in (items[-1], items[-1] - 1):
            if limit >= -(1 << 63):
                expected = bad + (items[-1] > limit)
                yield Case(f"{label}, up to {limit}", len(items) - 1, (items, limit), expected)


@cases_of(offsets.first_descent)
def first_descent(types: dict[str, str]) -> Iterator[Case]:
    for label, items in some_offsets(types["offsets"]):
        slots = (i for i, (a, b) in enumerate(itertools.pairwise(items)) if b < a)
        yield Case(label, len(items) - 1, (items,), next(slots, NOWHERE))


@cases_of(offsets.running_sum)
def running_sum(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("running sum")
    for count in LENGTHS:
        lengths = [rng.choice((0, 1, 30)) for _ in range(count)]
        sums = running(lengths)
        yield Case(f"{count}", count, (lengths,), (sums[-1], sums))
    most = limits(types["out"])[1]
    yield Case("as much as fits", 2, ([most - 1, 1],), (most, [0, most - 1, most]))
    if types["out"] == "i8":
        # As 64 bits show them.
        yield Case("more than 63 bits", 2, ([most, most],), (NOWHERE, [0, most, -2]))


@cases_of(offsets.sum_in_place)
def sum_in_place(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("sum in place")
    for count in LENGTHS:
        lengths = [rng.choice((0, 1, 30)) for _ in range(count)]
        after = running(lengths) if count else [9]
        yield Case(f"{count}", count, (), after, before=[9, *lengths])
    most = limits(types["sums"])[1]
    yield Case("as much as fits", 2, (), [0, most - 1, most], before=[9, most - 1, 1])


@cases_of(offsets.rebase_offsets)
def rebase_offsets(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("rebase")
    for count in LENGTHS:
        items = running([rng.randrange(9) for _ in range(count)], 100)
        for base in (0, 100, -1000):
            expected = [item - base for item in items]
            yield Case(f"{count + 1} from {base}", count + 1, (items, base), expected)
    most = min(limits(types["offsets"])[1], limits(types["out"])[1])
    yield Case("nothing", 0, ([], 0), [])
    yield Case("largest", 2, ([most - 1, most], most - 1), [0, 1])
    yield Case("to the largest", 2, ([0, 1], 1 - most), [most - 1, most])


@cases_of(offsets.join_offsets)
def join_offsets(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("join offsets")
    yield Case("nothing", 0, ([], [], []), [])
    for counts in ([1], [3, 1, 70], [1] * 20):
        lengths = [[rng.randrange(9) for _ in range(count)] for count in counts]
        own = [running(each, rng.randrange(50)) for each in lengths]
        sums = list(itertools.accumulate(map(sum, lengths), initial=0))
        bases = [total - items[0] for total, items in zip(sums, own, strict=False)]
        ends = list(itertools.accumulate(counts))
        ends[-1] += 1
        expected = running(list(itertools.chain(*lengths)))
        args = (list(itertools.chain(*own)), ends, bases)
        yield Case(f"{counts}", len(expected), args, expected)


@cases_of(offsets.lengths_of)
def lengths_of(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("lengths")
    for count in LENGTHS:
        lengths = [rng.choice((0, 1, 2, 1000)) for _ in range(count)]
        yield Case(f"{count}", count, (running(lengths, 11),), lengths)
    most = limits(types["offsets"])[1]
    yield Case("longest", 1, ([0, most],), [most])


@cases_of(lists.first_list_view_out_of_bounds)
def first_list_view_out_of_bounds(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("list views")
    low, high = limits(types["sizes"])
    length = 20
    bad = [
        (-1, 1),
        (0, 21),
        (20, 1),
        (21, 0),
        (3, -1),
        (high, high),
        (low, high),
        (high, 1),
        (1, low),
    ]
    good = [(0, 0), (20, 0), (0, 20), (19, 1), (5, 3)]
    for count in LENGTHS:
        for label, bytes_, offset, valid in validities(rng, count):
            for share in (0, 0.1, 1):
                pairs = [rng.choice(bad if rng.random() < share else good) for _ in range(count)]
                wrong = (
                    i
                    for i, (begin, size) in enumerate(pairs)
                    if valid[i] and not (begin >= 0 and size >= 0 and begin + size <= length)
                )
                args = ([p[0] for p in pairs], [p[1] for p in pairs], bytes_, offset, length)
                yield Case(f"{count}, {label}, {share} bad", count, args, next(wrong, NOWHERE))
    for begin, size in bad:
        yield Case(f"{begin}, {size}", 2, ([0, begin], [0, size], [], 0, length), 1)
    yield Case("no child values", 1, ([0], [0], [], 0, 0), NOWHERE)


# Views by hand: 16 bytes, little-endian.


def inline_view(value: bytes) -> bytes:
    return len(value).to_bytes(4, "little") + value.ljust(12, b"\0")


def long_view(value: bytes, buffer: int, offset: int) -> bytes:
    head = len(value).to_bytes(4, "little") + value[:4]
    return head + buffer.to_bytes(4, "little") + offset.to_bytes(4, "little")


def view_words(result: list[bytes]) -> Any:
    return np.frombuffer(b"".join(result), "<i4")


def halves(outcome: list[bytes]) -> list[int]:
    result: list[int] = np.frombuffer(b"".join(outcome), "<u8").tolist()
    return result


def raw_view(length: int, buffer: int, offset: int) -> bytes:
    return np.array([length, 0x41414141, buffer, offset], "<i4").tobytes()


def some_values(rng: random.Random, count: int) -> list[bytes]:
    lengths = (0, 1, 3, 4, 5, 11, 12, 13, 16, 40)
    return [rng.randbytes(rng.choice(lengths)) for _ in range(count)]


def with_buffers(rng: random.Random, values: list[bytes]) -> tuple[list[bytes], list[bytes]]:
    """Views of the values, and the three data buffers (the second one empty) that they point into."""
    buffers = [rng.randbytes(5), b"", rng.randbytes(2)]
    results = []
    for value in values:
        if len(value) <= 12:
            results.append(inline_view(value))
        else:
            chosen = rng.choice((0, 2))
            results.append(long_view(value, chosen, len(buffers[chosen])))
            buffers[chosen] += value
    return results, buffers


@cases_of(views.first_view_out_of_bounds)
def first_view_out_of_bounds(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("view bounds")
    sizes = [100, 0, 13]
    high = 2**31 - 1
    good = [
        inline_view(b""),
        inline_view(b"twelve bytes"),
        raw_view(12, -1, -1),
        raw_view(13, 2, 0),
        raw_view(100, 0, 0),
        raw_view(13, 0, 87),
    ]
    bad = [
        raw_view(-1, 0, 0),
        raw_view(-(2**31), 0, 0),
        raw_view(13, 2, 1),
        raw_view(14, 2, 0),
        raw_view(13, 1, 0),
        raw_view(13, 3, 0),
        raw_view(13, -1, 0),
        raw_view(13, 0, -1),
        raw_view(13, 0, 88),
        raw_view(high, 0, high),
        raw_view(13, high, 0),
    ]
    for count in LENGTHS:
        for label, bytes_, offset, valid in validities(rng, count):
            for share in (0, 0.1, 1):
                is_bad = [rng.random() < share for _ in range(count)]
                words = view_words([rng.choice(bad if b else good) for b in is_bad])
                wrong = (i for i in range(count) if is_bad[i] and valid[i])
                args = (words, bytes_, offset, sizes)
                yield Case(f"{count}, {label}, {share} bad", count, args, next(wrong, NOWHERE))
    for view in bad:
        yield Case(f"{view_words([view])}", 2, (view_words([good[1], view]), [], 0, sizes), 1)
    no_buffers: tuple[Any, ...] = (view_words([good[1], raw_view(13, 0, 0)]), [], 0, [])
    yield Case("no data buffers", 2, no_buffers, 1)


@cases_of(views.first_view_unlike_its_value)
def first_view_unlike_its_value(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("view bytes")
    for count in LENGTHS:
        for label, bytes_, offset, valid in validities(rng, count):
            for share in (0, 0.1, 1):
                result, buffers = with_buffers(rng, some_values(rng, count))
                tables = Addresses([np.frombuffer(b, np.uint8) for b in buffers])
                wrong = []
                for i, view in enumerate(result):
                    length = int.from_bytes(view[:4], "little")
                    # Bytes that the value has somewhere else, or that nothing has.
                    where = range(4 + length, 16) if length <= 12 else range(4, 8)
                    if where and rng.random() < share:
                        place = rng.choice(where)
                        result[i] = view[:place] + bytes([view[place] ^ 0x80]) + view[place + 1 :]
                        wrong.append(i)
                args = (view_words(result), bytes_, offset, tables)
                expected = next((i for i in wrong if valid[i]), NOWHERE)
                yield Case(f"{count}, {label}, {share} bad", count, args, expected)


@cases_of(views.first_odd_view)
def first_odd_view(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("odd views")
    bytes_of = [rng.randbytes(40), rng.randbytes(13)]
    tables = (Addresses([np.frombuffer(b, np.uint8) for b in bytes_of]), [40, 13])

    def long(length: int, buffer: int, offset: int) -> bytes:
        prefix = bytes_of[buffer][offset : offset + 4] if buffer in (0, 1) and offset >= 0 else b""
        return (
            length.to_bytes(4, "little") + prefix.ljust(4, b"\0") + raw_view(13, buffer, offset)[8:]
        )

    plain = [b"\0" * 16, b"\3\0\0\0abc" + b"\0" * 9, long(13, 1, 0), long(30, 0, 10)]
    # Out of bounds; an end that is no zero; another prefix.
    odd = [long(31, 0, 10), long(13, 1, 1), long(13, 2, 0), long(13, 0, -1), raw_view(-1, 0, 0)]
    odd += [b"\3\0\0\0abcd" + b"\0" * 8, plain[2][:4] + b"\0\0\0\0" + plain[2][8:]]
    high = b"\2\0\0\0\xc3\xa9" + b"\0" * 10
    for bits, wrong, right in ((0x80808080, [*odd, high], plain), (0, odd, [*plain, high])):
        for count in LENGTHS:
            for label, bytes_, offset, valid in validities(rng, count):
                is_odd = [rng.random() < 0.1 for _ in range(count)]
                words = view_words([rng.choice(wrong if o else right) for o in is_odd])
                first = next((i for i in range(count) if is_odd[i] and valid[i]), NOWHERE)
                args = (words, bytes_, offset, *tables, bits)
                yield Case(f"{count}, {label}, {bits:x}", count, args, first)
        for k, view in enumerate(wrong):
            args = (view_words([right[-1], view]), [], 0, *tables, bits)
            yield Case(f"{k}, {bits:x}", 2, args, 1)


@cases_of(views.view_lengths)
def view_lengths(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("view lengths")
    for count in LENGTHS:
        for label, bytes_, offset, valid in validities(rng, count):
            lengths = [rng.choice((0, 1, 12, 13, 2**31 - 1)) for _ in range(count)]
            words = view_words([raw_view(length, 7, 7) for length in lengths])
            expected = [length * ok for length, ok in zip(lengths, valid, strict=True)]
            result = (sum(expected), expected)
            poison = [-1] * count
            yield Case(f"{count}, {label}", count, (words, bytes_, offset), result, poison)


@cases_of(views.decode_views)
def decode_views(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("decode views")
    for count in LENGTHS:
        values = some_values(rng, count)
        result, buffers = with_buffers(rng, values)
        words = view_words(result)
        arrays = [*(np.frombuffer(b, np.uint8) for b in buffers), words]
        tables = (Addresses(arrays), [a.nbytes for a in arrays])
        # Where the offsets leave no room, under a null, a view may be anything.
        shown = [value if rng.random() < 0.8 else b"" for value in values]
        expected = list(b"".join(shown))
        ends = running([len(value) for value in shown])
        yield Case(f"{count}", count, (words, *tables, ends), expected)
    garbage = view_words([raw_view(-5, 99, -1), inline_view(b"ab"), raw_view(2**31 - 1, -7, 5)])
    args = (garbage, Addresses([garbage]), [48], [0, 0, 2, 2])
    yield Case("garbage under nulls, no data buffers", 3, args, list(b"ab"))


@cases_of(views.encode_views)
def encode_views(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("encode views")
    for count in LENGTHS:
        for label, bytes_, offset, valid in validities(rng, count):
            values = some_values(rng, count)
            ends = running([len(value) for value in values], 6)
            data = rng.randbytes(6) + b"".join(values) + rng.randbytes(rng.choice((0, 2, 20)))
            result = [
                bytes(16)
                if not ok
                else inline_view(value)
                if len(value) <= 12
                else long_view(value, 0, begin)
                for value, begin, ok in zip(values, ends, valid, strict=False)
            ]
            given = np.frombuffer(data, np.uint8)
            args = (ends, given, At(given), bytes_, offset, views.inline_masks())
            yield Case(f"{count}, {label}", count, args, halves(result))


@cases_of(views.long_lengths)
def long_lengths(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("long lengths")
    for count in LENGTHS:
        for label, bytes_, offset, valid in validities(rng, count):
            lengths = [rng.choice((0, 1, 12, 13, 2**31 - 1)) for _ in range(count)]
            outcome = halves([raw_view(length, 7, 7) for length in lengths])
            kept = [n * (n > 12 and ok) for n, ok in zip(lengths, valid, strict=True)]
            args, result, poison = (outcome, bytes_, offset), (sum(kept), kept), [-1] * count
            yield Case(f"{count}, {label}", count, args, result, poison)


@cases_of(views.move_views)
def move_views(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("move views")
    window = 1 << views.WINDOW_BITS
    for count in LENGTHS:
        for label, bytes_, offset, valid in validities(rng, count):
            values = some_values(rng, count)
            starts = sorted(rng.choice((0, 17, window - 1, window, 5 * window + 9)) for _ in values)
            before, _ = with_buffers(rng, values)
            after = [
                bytes(16)
                if not ok
                else inline_view(value)
                if len(value) <= 12
                else long_view(value, start // window, start % window)
                for value, start, ok in zip(values, starts, valid, strict=True)
            ]
            args = (halves(before), bytes_, offset, [*starts, 6 * window])
            yield Case(f"{count}, {label}", count, args, halves(after))


@cases_of(views.renumber_views)
def renumber_views(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("renumber")
    for count in LENGTHS:
        lengths = [rng.choice((0, 12, 13, 500, -4)) for _ in range(count)]
        numbers_ = [rng.randrange(9) for _ in range(count)]
        before = [raw_view(n, k, 77) for n, k in zip(lengths, numbers_, strict=True)]
        after = [raw_view(n, k + 6 * (n > 12), 77) for n, k in zip(lengths, numbers_, strict=True)]
        words = view_words(before).tolist()
        yield Case(f"{count}", count, (6,), view_words(after).tolist(), words)


@cases_of(offsets.even_offsets)
def even_offsets(types: dict[str, str]) -> Iterator[Case]:
    for count in LENGTHS:
        for base, size in ((0, 3), (12, 0), (5, 1)):
            expected = [base + i * size for i in range(count)]
            yield Case(f"{count} of {size} from {base}", count, (base, size), expected)
