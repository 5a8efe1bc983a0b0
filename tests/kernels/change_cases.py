"""Cases of `colkern.kernels.changes`."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from kernels.case import (
    LENGTHS,
    Addresses,
    Case,
    bitmap,
    cases_of,
    limits,
    numbers,
    validities,
    words,
)

from colkern.kernels import changes

COUNTS = (*LENGTHS, 127, 128, 200)


def marked(values: Sequence[Any]) -> list[int]:
    """The changes of the values, in words."""
    return words([i == 0 or values[i] != values[i - 1] for i in range(len(values))])


@cases_of(changes.mark_changes)
def mark_changes(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("changes")
    low, high = limits(types["values"])
    for count in COUNTS:
        for width in (1, 2, 3):
            # Values that differ in a single place.
            some = [[low] * width, [high] * width, [low] * (width - 1) + [high]]
            for kinds in (1, 2, 3):
                values = [rng.choice(some[:kinds]) for _ in range(count)]
                args = ([word for value in values for word in value], width, count)
                expected = marked(values)
                yield Case(f"{count} of {width}, {kinds} kinds", len(expected), args, expected)


@cases_of(changes.mark_bit_changes)
def mark_bit_changes(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("bit changes")
    for count in COUNTS:
        for offset in (0, 3, 8, 61):
            for share in (0, 0.1, 0.5, 1):
                bits = [rng.random() < share for _ in range(count)]
                expected = marked(bits)
                args = (bitmap(bits, offset, rng), offset, count)
                yield Case(f"{count} from bit {offset}, {share}", len(expected), args, expected)


@cases_of(changes.merge_validity_changes)
def merge_validity_changes(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("merged")
    for count in COUNTS:
        values = [rng.random() < 0.3 for _ in range(count)]
        for label, bytes_, offset, valid in validities(rng, count):
            if len(bytes_) or not count:
                shown = [v if ok else None for v, ok in zip(values, valid, strict=True)]
                expected = marked(shown)
                args = (bytes_, offset, count, marked(values))
                yield Case(f"{count}, {label}", len(expected), args, expected)


TEXTS = (
    *(b"", b"a", b"b", b"seven77", b"seven78", b"eight888", b"nine99999", b"nine99998"),
    *(b"sixteen 16161616", b"sixteen 16161617", b"seventeen 1717171", b"Seventeen 1717171"),
    *(b"x" * 40, b"x" * 39 + b"y", b"x" * 20 + b"y" + b"x" * 19),
)


def texts(seed: str) -> Iterator[tuple[str, list[bytes]]]:
    rng = numbers(seed)
    for text in TEXTS:
        yield f"two of {text!r}", [text, text]
    for one, other in itertools.pairwise(TEXTS):
        yield f"{one!r} and {other!r}", [one, one, other, other]
    for count in COUNTS:
        yield f"{count}", [rng.choice(TEXTS[rng.choice((0, 6)) :]) for _ in range(count)]


@cases_of(changes.mark_binary_changes)
def mark_binary_changes(types: dict[str, str]) -> Iterator[Case]:
    for before in (b"", b"???"):
        for label, values in texts("binary"):
            offsets = list(itertools.accumulate(map(len, values), initial=len(before)))
            data = np.frombuffer(before + b"".join(values), np.uint8)
            expected = marked(values)
            args = (offsets, data, len(values))
            yield Case(f"{label}, {len(before)} before", len(expected), args, expected)


@cases_of(changes.mark_view_changes)
def mark_view_changes(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("views")
    for shared in (True, False):
        for label, values in texts("views"):
            buffers = [b"".join(values), b"??" + b"".join(values)]
            for what, bytes_, offset, valid in validities(rng, len(values)):
                views = b"".join(_views(values, valid, shared, rng))
                shown = [v if ok else None for v, ok in zip(values, valid, strict=True)]
                # Where a null is, the values' changes are not asked for.
                expected = words(
                    [
                        i == 0 or (None not in shown[i - 1 : i + 1] and shown[i] != shown[i - 1])
                        for i in range(len(values))
                    ]
                )
                data = [np.frombuffer(buffer, np.uint8) for buffer in buffers]
                args = (
                    np.frombuffer(views, np.uint8),
                    Addresses(data),
                    *(bytes_, offset, len(values)),
                )
                yield Case(f"{label}, {what}", len(expected), args, expected)


def _views(values: list[bytes], valid: list[bool], shared: bool, rng: Any) -> Iterator[bytes]:
    """A view each, into either buffer; at its own bytes, or at those of the first of its kind."""
    starts = list(itertools.accumulate(map(len, values), initial=0))
    for i, value in enumerate(values):
        if not valid[i]:
            yield rng.randbytes(16)
        elif len(value) <= 12:
            yield len(value).to_bytes(4, "little") + value.ljust(12, b"\0")
        else:
            buffer = 0 if shared else rng.randrange(2)
            place = starts[values.index(value) if shared else i] + 2 * buffer
            yield b"".join(
                [
                    len(value).to_bytes(4, "little"),
                    value[:4],
                    buffer.to_bytes(4, "little"),
                    place.to_bytes(4, "little"),
                ]
            )
