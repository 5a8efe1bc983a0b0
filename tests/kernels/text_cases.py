"""Cases of `colkern.kernels.text`; Python's own decoder says what is UTF-8."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
from kernels.case import LENGTHS, NOWHERE, Addresses, At, Case, cases_of, numbers, validities
from kernels.value_cases import raw_view, running, view_words, with_buffers

from colkern.kernels import text

NEITHER, UTF8, ASCII = 0, 1, 2

GOOD = [
    b"",
    b"a",
    b"\x00\x7f",
    "\u0080".encode(),
    "\u07ff".encode(),
    "\u0800".encode(),
    "\ud7ff".encode(),
    "\ue000".encode(),
    "\uffff".encode(),
    "\U00010000".encode(),
    "\U0010ffff".encode(),
    "aé√\U0001f600z".encode(),
]
"""The first and last character of every length, and on either side of the surrogates."""

BAD = [
    b"\x80",
    b"\xbf",
    b"a\x80",
    b"\xc0\x80",
    b"\xc1\xbf",
    b"\xc2",
    b"\xc2a",
    b"\xc2\xc2\x80",
    b"\xc2\x80\x80",
    b"\xe0\x80\x80",
    b"\xe0\x9f\xbf",
    b"\xe0\xa0",
    b"\xe1\x80a",
    b"\xe1a\x80",
    b"\xed\xa0\x80",
    b"\xed\xbf\xbf",
    b"\xef\xbf\xbf\xbf",
    b"\xf0\x80\x80\x80",
    b"\xf0\x8f\xbf\xbf",
    b"\xf0\x90\x80",
    b"\xf0\x90\x80a",
    b"\xf1\x80a\x80",
    b"\xf1a\x80\x80",
    b"\xf4\x8f\xbf\xbf\xbf",
    b"\xf4\x90\x80\x80",
    b"\xf5\x80\x80\x80",
    b"\xf8\x88\x80\x80\x80",
    b"\xfe",
    b"\xff",
]
"""Each rule of RFC 3629, broken."""


def encoding(data: bytes) -> int:
    """The code points that Python's decoder reads in `data`."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return NEITHER
    return ASCII if data.isascii() else UTF8


def some_texts() -> Iterator[tuple[str, bytes]]:
    """Good and bad sequences: alone, after and before others, and far from either end."""
    for piece in (*GOOD, *BAD):
        yield f"{piece!r}", piece
        for fill in (1, 2, 3, 61):
            yield f"{piece!r} after {fill}", b"x" * fill + piece
            yield f"{piece!r} between {fill}", b"x" * fill + piece + "é".encode() * fill
    rng = numbers("texts")
    for count in LENGTHS:
        yield f"{count} good pieces", b"".join(rng.choices(GOOD, k=count))
        yield f"{count} pieces", b"".join(rng.choice(GOOD + BAD) for _ in range(count))
        yield f"{count} bytes", rng.randbytes(count)


@cases_of(text.encoding_of)
def encoding_of(types: dict[str, str]) -> Iterator[Case]:
    for label, data in some_texts():
        yield Case(label, max(len(data) - 3, 0), (list(data),), encoding(data))
    stretch = text.STRETCH
    for end in (stretch - 1, stretch, stretch + 1, stretch + 2, stretch + 3):
        for bad in (b"\xc2", b"\xff", b"\xf0\x90\x80"):
            data = b"x" * end + bad + b"x" * 9
            yield Case(f"{bad!r} at {end}", len(data) - 3, (list(data),), NEITHER)
        data = b"x" * end + "é√".encode() + b"x" * 9
        yield Case(f"not ASCII at {end}", len(data) - 3, (list(data),), UTF8)


def misplaced(data: bytes) -> int:
    """Where the first byte is that no UTF-8 begins with, together with all before it."""
    for end in range(1, len(data) + 1):
        try:
            data[:end].decode()
        except UnicodeDecodeError as error:
            # Cut within a character: more bytes might have made it good.
            if error.reason != "unexpected end of data":
                return end - 1
    return len(data) if encoding(data) == NEITHER else NOWHERE


@cases_of(text.first_misplaced_byte)
def first_misplaced_byte(types: dict[str, str]) -> Iterator[Case]:
    for label, data in some_texts():
        yield Case(label, len(data) + 3, (list(data),), misplaced(data))
    yield Case("nothing to look at", 0, ([],), NOWHERE)


@cases_of(text.first_begin_within_a_character)
def first_begin_within_a_character(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("begins")
    for count in LENGTHS:
        characters = [rng.choice("aé√\U0001f600").encode() for _ in range(count)]
        data = b"".join(characters)
        starts = running([len(c) for c in characters])
        for _ in range(3):
            begins = sorted(rng.choice(starts) for _ in range(count))
            yield Case(f"{count}", count, (begins, list(data), len(data)), NOWHERE)
            begins = sorted(rng.randrange(len(data) + 1) for _ in range(count))
            expected = next((i for i, begin in enumerate(begins) if begin not in starts), NOWHERE)
            yield Case(f"{count} anywhere", count, (begins, list(data), len(data)), expected)
    # Where the last value ends, no value has bytes, whatever is there.
    yield Case("empty at the end", 2, ([0, 1], [0x61, 0x80], 1), NOWHERE)


def some_values(rng: random.Random, count: int, share: float) -> list[bytes]:
    return [rng.choice(BAD if rng.random() < share else GOOD) for _ in range(count)]


@cases_of(text.first_slot_not_utf8)
def first_slot_not_utf8(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("slots of text")
    for count in LENGTHS:
        for label, bytes_, offset, valid in validities(rng, count):
            for share in (0, 0.1, 1):
                values = some_values(rng, count, share)
                data = np.frombuffer(b"\xff" + b"".join(values) + b"\x80", np.uint8)
                ends = running([len(value) for value in values], 1)
                wrong = (i for i, v in enumerate(values) if valid[i] and not encoding(v))
                args = (ends, At(data), bytes_, offset)
                yield Case(f"{count}, {label}, {share} bad", count, args, next(wrong, NOWHERE))
    split = np.frombuffer("é".encode(), np.uint8)
    yield Case("a character cut in two", 2, ([0, 1, 2], At(split), [], 0), 0)


@cases_of(text.count_bytes_in_buffers)
def count_bytes_in_buffers(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("bytes in buffers")
    for count in LENGTHS:
        for label, bytes_, offset, valid in validities(rng, count):
            lengths = [rng.choice((0, 12, 13, 2**31 - 1)) for _ in range(count)]
            words = view_words([raw_view(length, 7, 7) for length in lengths])
            expected = sum(n for n, ok in zip(lengths, valid, strict=True) if ok and n > 12)
            yield Case(f"{count}, {label}", count, (words, bytes_, offset), expected)
    garbage = view_words([raw_view(-1, 7, 7), raw_view(-(2**31), 7, 7)])
    yield Case("negative lengths under nulls", 2, (garbage, [0], 0), 0)


@cases_of(text.first_view_not_utf8)
def first_view_not_utf8(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("views of text")
    for count in LENGTHS:
        for label, bytes_, offset, valid in validities(rng, count):
            for share in (0, 0.1, 1):
                values = [
                    b"x" * rng.choice((0, 0, 1, 12)) + value
                    for value in some_values(rng, count, share)
                ]
                result, buffers = with_buffers(rng, values)
                args = (
                    (words := view_words(result)),
                    At(words),
                    bytes_,
                    offset,
                    Addresses([np.frombuffer(b, np.uint8) for b in buffers]),
                    [len(b) for b in buffers],
                    [encoding(b) for b in buffers] if rng.random() < 0.5 else [NEITHER] * 3,
                )
                wrong = (i for i, v in enumerate(values) if valid[i] and not encoding(v))
                yield Case(f"{count}, {label}, {share} bad", count, args, next(wrong, NOWHERE))
    yield from _views_of_good_buffers()


def _views_of_good_buffers() -> Iterator[Case]:
    """Any piece of a buffer that is UTF-8 as a whole is as good as its ends."""
    for buffer in ("é√\U0001f600".encode() * 3, b"ASCII, as ever and ever"):
        data = np.frombuffer(buffer, np.uint8)
        pieces = [(a, b) for a, b in itertools.combinations(range(len(data) + 1), 2) if b - a > 12]
        for begin, end in pieces:
            words = view_words([raw_view(end - begin, 0, begin)])
            args: tuple[Any, ...] = (
                words,
                At(words),
                [],
                0,
                Addresses([data]),
                [len(data)],
                [encoding(buffer)],
            )
            expected = NOWHERE if encoding(buffer[begin:end]) else 0
            yield Case(f"{begin} to {end} of {buffer!r}", 1, args, expected)
