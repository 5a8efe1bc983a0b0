"""Cases of `colkern.kernels.hidden`."""

from __future__ import annotations

import itertools
import random
import struct
from collections.abc import Iterator

import numpy as np
from kernels.case import (
    LENGTHS,
    NOWHERE,
    Addresses,
    Case,
    bitmap,
    cases_of,
    limits,
    numbers,
    packed,
    random_bits,
    validities,
    words,
)

from colkern.kernels import hidden
from colkern.kernels.views import inline_masks


@cases_of(hidden.first_hidden_value)
def first_hidden_value(types: dict[str, str]) -> Iterator[Case]:
    _, high = limits(types["items"])
    rng = numbers("hidden value")
    for width in (1, 2, 3):
        for count in (*LENGTHS, 200):
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
                    args = (items, width, bytes_, offset, count)
                    label_ = f"{count} of {width}, {label}"
                    yield Case(label_, -(-count // 64), args, next(wrong, NOWHERE))


@cases_of(hidden.blank_hidden_values)
def blank_hidden_values(types: dict[str, str]) -> Iterator[Case]:
    low, high = limits(types["items"])
    rng = numbers("blank")
    for width in (1, 2, 3):
        for count in (*LENGTHS, 200):
            for label, bytes_, offset, seen in validities(rng, count):
                items = [rng.randint(low, high) for _ in range(count * width)]
                expected = [v if seen[k // width] else 0 for k, v in enumerate(items)]
                args = (items, width, bytes_, offset, count)
                yield Case(f"{count} of {width}, {label}", -(-count // 64), args, expected)


def some_lengths(seed: str) -> Iterator[tuple[str, list[int], object, int, list[bool]]]:
    rng = numbers(seed)
    for count in (*LENGTHS, 200):
        for label, bytes_, offset, seen in validities(rng, count):
            for share in (0, 0.2, 1):
                lengths = [rng.choice((0, 1, 9)) * (ok or rng.random() < share) for ok in seen]
                yield f"{count}, {label}, {share}", lengths, bytes_, offset, seen


@cases_of(hidden.first_hidden_length)
def first_hidden_length(types: dict[str, str]) -> Iterator[Case]:
    for label, lengths, bytes_, offset, seen in some_lengths("hidden length"):
        offsets = list(itertools.accumulate(lengths, initial=3))
        wrong = (i for i, length in enumerate(lengths) if length and not seen[i])
        args = (offsets, bytes_, offset, len(lengths))
        yield Case(label, -(-len(lengths) // 64), args, next(wrong, NOWHERE))


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
            result = [
                [rng.choice((0, 5, 12, 13, 100)), 7, rng.randrange(3), 8] for _ in range(count)
            ]
            yield f"{count}, {label}", result, bytes_, offset, seen


def view(value: bytes, buffer: int, begin: int) -> bytes:
    """A view as the format has it."""
    if len(value) <= 12:
        return struct.pack("<i12s", len(value), value)
    return struct.pack("<i4sii", len(value), value[:4], buffer, begin)


def foreign(rng: random.Random, result: bytes) -> bytes:
    """The view with other bytes behind an inline value, or as the prefix of a long one."""
    length = int.from_bytes(result[:4], "little")
    where = range(4 + length, 16) if length <= 12 else range(4, 8)
    return bytes(rng.randrange(256) if i in where else byte for i, byte in enumerate(result))


def words_in(outcome: list[bytes]) -> list[int]:
    result: list[int] = np.frombuffer(b"".join(outcome), np.int32).tolist()
    return result


def longs_in(outcome: list[bytes]) -> list[int]:
    """Views as words of 64 bits."""
    result: list[int] = np.frombuffer(b"".join(outcome), np.uint64).tolist()
    return result


def some_values(rng: random.Random, seen: list[bool]) -> list[bytes]:
    return [rng.randbytes(rng.choice((0, 1, 4, 5, 8, 11, 12, 13, 30))) for _ in seen]


@cases_of(hidden.show_views)
def show_views(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("show views")
    for count in LENGTHS:
        for label, bytes_, offset, seen in validities(rng, count):
            values, data = some_values(rng, seen), [b"begin", b""]
            results = []
            for value in values:
                buffer = rng.randrange(2)
                results.append(view(value, buffer, len(data[buffer])))
                data[buffer] += value if len(value) > 12 else b""
            expected = [v if ok else bytes(16) for v, ok in zip(results, seen, strict=True)]
            words = words_in([foreign(rng, v) for v in results])
            tables = Addresses([np.frombuffer(b, np.uint8) for b in data])
            args = (words, bytes_, offset, tables)
            yield Case(f"{count}, {label}", count, args, words_in(expected))


@cases_of(hidden.repoint_views)
def repoint_views(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("repoint")
    for count in LENGTHS:
        for label, bytes_, offset, seen in validities(rng, count):
            data, starts, words, expected = b"", [0], [], []
            for value, ok in zip(some_values(rng, seen), seen, strict=True):
                words.append(foreign(rng, view(value, rng.randrange(9), rng.randrange(99))))
                expected.append(view(value if ok else b"", len(data) // 16, len(data) % 16))
                data += value if ok and len(value) > 12 else b""
                starts.append(len(data))
            bytes_of_all = np.frombuffer(data, np.uint8)
            args = (longs_in(words), bytes_, offset, inline_masks(), starts, bytes_of_all, 4)
            yield Case(f"{count}, {label}", count, args, longs_in(expected))


@cases_of(hidden.covered_bits)
def covered_bits(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("covered")
    for count in LENGTHS:
        for ranges in (0, 1, 3, 20):
            spans = []
            for _ in range(ranges):
                begin = rng.randint(0, count)
                spans.append((begin, min(begin + rng.choice((0, 1, 5, 9)), count)))
            expected = packed([any(low <= i < high for low, high in spans) for i in range(count)])
            args = (sorted(low for low, _ in spans), sorted(high for _, high in spans), count)
            yield Case(f"{count} bits, {ranges} ranges", len(expected), args, expected)


@cases_of(hidden.runs_with_set_bits)
def runs_with_set_bits(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("set runs")
    for runs in LENGTHS:
        for share in (0, 0.2, 1):
            lengths = [rng.choice((1, 2, 9)) for _ in range(runs)]
            ends = list(itertools.accumulate(lengths))
            bits = [rng.random() < share for _ in range(sum(lengths))]
            expected = packed([any(bits[e - n : e]) for e, n in zip(ends, lengths, strict=True)])
            args = (ends, bitmap(bits, 0, rng))
            yield Case(f"{runs} runs, {share}", len(expected), args, expected)


@cases_of(hidden.repeat_bits)
def repeat_bits(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("repeat")
    for size in (1, 2, 3, 9, 70):
        for offset in (0, 5):
            for count in LENGTHS:
                bits = random_bits(rng, count)
                expected = words([bit for bit in bits for _ in range(size)])
                args = (bitmap(bits, offset, rng), offset, size, count * size)
                yield Case(f"{count} from {offset} times {size}", len(expected), args, expected)
