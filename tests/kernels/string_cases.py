"""Cases of `colkern.kernels.strings`; Python's own bytes say what they should be."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from kernels.case import LENGTHS, Addresses, At, Case, cases_of, numbers, packed, validities
from kernels.value_cases import raw_view, running, view_words, with_buffers

from colkern.kernels import strings

PATTERNS = [b"", b"a", b"abc", b"abcd", b"abcdefgh", b"abcdefghi", b"abcdefghijkl", b"a" * 13]
PATTERNS += ["漢字かな混じり文".encode(), b"abcdefghijklmnopqrstuvwxyz"]


def some_values(rng: random.Random, count: int) -> list[bytes]:
    """Patterns, and such that differ from one in a byte, or begin or end with one."""
    results = []
    for _ in range(count):
        value = rng.choice(PATTERNS)
        kind = rng.randrange(5)
        if kind == 0 and value:
            place = rng.randrange(len(value))
            value = value[:place] + b"\xff" + value[place + 1 :]
        results.append({1: b"x" + value, 2: value + b"\0", 3: value * 2}.get(kind, value))
    return results


def some_texts(seed: str) -> Iterator[tuple[str, list[bytes], tuple[Any, Any, int]]]:
    """Values, and their offsets, address, and the place of the last word."""
    rng = numbers(seed)
    for count in LENGTHS:
        values = some_values(rng, count)
        data = b"??" + b"".join(values)
        data += bytes(rng.choice((0, 3, 20))) + bytes(max(8 - len(data), 0))
        text = np.frombuffer(data, np.uint8)
        offsets = running([len(value) for value in values], 2)
        yield f"{count}", values, (offsets, At(text), len(data) - 8)


def some_views(seed: str) -> Iterator[tuple[str, list[bytes], list[bool], tuple[Any, ...]]]:
    """Values, which of them are valid, and their views, addresses, bitmap; garbage under nulls."""
    rng = numbers(seed)
    for count in LENGTHS:
        for label, bytes_, offset, valid in validities(rng, count):
            values = some_values(rng, count)
            shown = shown_views(rng, values, valid)
            yield f"{count}, {label}", values, valid, (*shown, bytes_, offset)


def shown_views(rng: random.Random, values: list[bytes], valid: list[bool]) -> tuple[Any, ...]:
    """The views of values, and the addresses of what they point into; garbage under nulls."""
    views, buffers = with_buffers(rng, values)
    garbage = raw_view(2**31 - 1, 77, -5)
    shown = [v if ok else garbage for v, ok in zip(views, valid, strict=True)]
    words = view_words(shown).view("<u8")
    return words, Addresses([*(np.frombuffer(b, np.uint8) for b in buffers), words])


def pattern_at(pattern: bytes) -> tuple[At, int]:
    return At(np.frombuffer(pattern + bytes(12), np.uint8)), len(pattern)


def answers(result: Sequence[bool], flip: int) -> list[int]:
    return packed([bit != bool(flip) for bit in result])


def as_words(bits: list[int]) -> list[int]:
    whole = bytes(bits) + bytes(-len(bits) % 8)
    result: list[int] = np.frombuffer(whole, "<u8").tolist()
    return result


Match = Callable[[bytes, bytes], bool]
MATCHES: list[tuple[int, Match]] = [(0, bytes.startswith), (1, bytes.endswith)]


@cases_of(strings.equal_text)
def equal_text(types: dict[str, str]) -> Iterator[Case]:
    for label, values, text in some_texts("equal text"):
        for pattern in PATTERNS:
            for flip in (0, 255):
                expected = as_words(answers([v == pattern for v in values], flip))
                args = (*text, *pattern_at(pattern), len(values), flip)
                yield Case(f"{label}, {pattern!r}", len(expected), args, expected)


@cases_of(strings.match_text)
def match_text(types: dict[str, str]) -> Iterator[Case]:
    for label, values, text in some_texts("match text"):
        for pattern in PATTERNS:
            for at_end, match in MATCHES:
                expected = answers([match(v, pattern) for v in values], 0)
                args = (*text, *pattern_at(pattern), at_end, len(values))
                yield Case(f"{label}, {pattern!r} {at_end}", len(expected), args, expected)


@cases_of(strings.equal_texts)
def equal_texts(types: dict[str, str]) -> Iterator[Case]:
    pairs = zip(some_texts("left"), some_texts("right"), strict=True)
    for (label, left, text), (_, right, other) in pairs:
        for flip in (0, 255):
            expected = as_words(answers([a == b for a, b in zip(left, right, strict=True)], flip))
            args = (*text, *other, len(left), flip)
            yield Case(f"{label}, flip {flip}", len(expected), args, expected)
        expected = as_words(answers([True] * len(left), 0))
        yield Case(f"{label}, the same", len(expected), (*text, *text, len(left), 0), expected)


def where_valid(result: Sequence[bool], valid: list[bool]) -> list[bool]:
    """The results, where they count."""
    return [bit and ok for bit, ok in zip(result, valid, strict=True)]


@cases_of(strings.equal_view)
def equal_view(types: dict[str, str]) -> Iterator[Case]:
    for label, values, valid, views in some_views("equal view"):
        for pattern in PATTERNS:
            # What is under a null here is no pattern.
            expected = answers(where_valid([v == pattern for v in values], valid), 0)
            args = (*views, *pattern_at(pattern), len(values), 0)
            yield Case(f"{label}, {pattern!r}", len(expected), args, expected)


def matched_views(seed: str, match: Match) -> Iterator[Case]:
    for label, values, valid, views in some_views(seed):
        for pattern in PATTERNS:
            # Nothing is what a null is taken for.
            seen = [v if ok else b"" for v, ok in zip(values, valid, strict=True)]
            expected = answers([match(v, pattern) for v in seen], 0)
            args = (*views, *pattern_at(pattern), len(values))
            yield Case(f"{label}, {pattern!r}", len(expected), args, expected)


@cases_of(strings.match_view_start)
def match_view_start(types: dict[str, str]) -> Iterator[Case]:
    yield from matched_views("starts of views", bytes.startswith)


@cases_of(strings.match_view_end)
def match_view_end(types: dict[str, str]) -> Iterator[Case]:
    yield from matched_views("ends of views", bytes.endswith)


@cases_of(strings.has_inline_high_bit)
def has_inline_high_bit(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("inline high bits")
    for count in LENGTHS:
        for label, bytes_, offset, valid in validities(rng, count):
            for share in (0, 0.1):
                values = [
                    b"x" * rng.randrange(20) + b"\xff" * (rng.random() < share)
                    for _ in range(count)
                ]
                outcome, _ = with_buffers(rng, values)
                high = [len(v) <= 12 and not v.isascii() for v in values]
                args = (view_words(outcome).view("<u8"), bytes_, offset)
                result = int(any(where_valid(high, valid)))
                yield Case(f"{count}, {label}, {share}", count, args, result)


@cases_of(strings.equal_views)
def equal_views(types: dict[str, str]) -> Iterator[Case]:
    pairs = zip(some_views("left"), some_views("right"), strict=True)
    for (label, left, valid, views), (_, right, other_valid, others) in pairs:
        # Garbage is the same as nothing.
        same = [
            a == b and ok and other_ok
            for a, b, ok, other_ok in zip(left, right, valid, other_valid, strict=True)
        ]
        expected = answers(same, 0)
        yield Case(label, len(expected), (*views, *others, len(left), 0), expected)


@cases_of(strings.has_high_bit)
def has_high_bit(types: dict[str, str]) -> Iterator[Case]:
    for count in (0, 1, 2, 511, 512, 513, 1200):
        data = np.full(8 * count, 0x7F, np.uint8)
        yield Case(f"{count} words", count, (data,), 0)
        for place in {0, 4 * count, 8 * count - 1} if count else ():
            high = data.copy()
            high[place] = 0x80
            yield Case(f"{count} words, {place}", count, (high,), 1)


@cases_of(strings.ascii_texts)
def ascii_texts(types: dict[str, str]) -> Iterator[Case]:
    for label, values, text in some_texts("ascii"):
        expected = packed([v.isascii() for v in values])
        yield Case(label, len(expected), (*text, len(values)), expected)


@cases_of(strings.ascii_views)
def ascii_views(types: dict[str, str]) -> Iterator[Case]:
    for label, values, valid, views in some_views("ascii views"):
        # Garbage has a high bit in its second half, as nothing has.
        expected = packed(where_valid([v.isascii() for v in values], valid))
        yield Case(label, len(expected), (*views, len(values)), expected)


def characters(value: bytes) -> int:
    """The bytes that begin a character, which is how many there are, if the value is UTF-8."""
    return sum(byte & 0xC0 != 0x80 for byte in value)


@cases_of(strings.count_characters)
def count_characters(types: dict[str, str]) -> Iterator[Case]:
    for label, values, text in some_texts("characters"):
        yield Case(label, len(values), text, [characters(v) for v in values])


@cases_of(strings.count_characters_of_views)
def count_characters_of_views(types: dict[str, str]) -> Iterator[Case]:
    for label, values, valid, views in some_views("characters of views"):
        expected = [characters(v) * ok for v, ok in zip(values, valid, strict=True)]
        words, addresses, *validity = views
        sizes = [array.nbytes for array in addresses.arrays]
        yield Case(label, len(values), (words, addresses, sizes, *validity), expected)
