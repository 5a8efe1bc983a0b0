"""Cases of `colkern.kernels.keys`."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from kernels.case import LENGTHS, POISON, At, Case, bitmap, cases_of, limits, numbers, random_bits

from colkern.kernels import keys

ALL = 2**64 - 1


@cases_of(keys.append_keys)
def append_keys(types: dict[str, str]) -> Iterator[Case]:
    code = types["words"]
    _, high = limits(code)
    rng = numbers(("append", code))
    for count, addend, bits in itertools.product(LENGTHS, (0, 5, ALL), (3, 40)):
        words = [rng.randint(0, high) for _ in range(count)]
        before = [rng.randrange(2**20) for _ in range(count)]
        valid = random_bits(rng, count)
        for label, nulls in (("some null", bitmap(valid, 3, rng)), ("none null", [])):
            own = [(word ^ high) + addend & ALL for word in words]
            shown = [k if v or not len(nulls) else 9 for k, v in zip(own, valid, strict=True)]
            kept = rng.choice((ALL, 0, 255))
            pairs = zip(before, shown, strict=True)
            expected = [((b & kept) << bits | k) & ALL for b, k in pairs]
            args: tuple[Any, ...] = (words, high, addend, nulls, 3, 9, bits, kept)
            yield Case(f"{count} by {addend}, {bits} bits, {label}", count, args, expected, before)


@cases_of(keys.short_view_keys)
def short_view_keys(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("short views")
    for count in LENGTHS:
        texts = [rng.choice((b"", b"a", b"a\0", b"bc", b"wxyz")) for _ in range(count)]
        # Behind the bytes of a value may be anything.
        views = b"".join(
            len(t).to_bytes(4, "little") + t + rng.randbytes(12 - len(t)) for t in texts
        )
        keys_of = [len(t) << 32 | int.from_bytes(t, "little") for t in texts]
        longest = max(map(len, texts), default=0)
        args = (np.frombuffer(views, np.int32), [], 0)
        yield Case(f"{count}", count, args, (longest, keys_of))
    long = np.array([5, 0, 0, 0, 1, 65, 0, 0], np.int32)
    yield Case("a long null", 2, (long, [0b10], 0), (1, [5 << 32, 1 << 32 | 65]))
    yield Case("a long value", 1, (long[:4], [], 0), (5, [POISON * 0x0101010101010101]))


@cases_of(keys.order_strings)
def order_strings(types: dict[str, str]) -> Iterator[Case]:
    texts = [b"", b"a", b"a\0", b"abcdefg", b"abcdefgh", b"\xff" * 20, b"zyxwvut" * 2]
    data = np.frombuffer(b"".join(texts), np.uint8)
    offsets = list(itertools.accumulate(map(len, texts), initial=0))
    for depth, positions in itertools.product((0, 7, 14), ([], [4, 4, 0, 6])):
        chosen = positions or list(range(len(texts)))
        parts = [texts[p][depth:] for p in chosen]
        expected = [int.from_bytes(t[:7].ljust(7, b"\0") + bytes([min(len(t), 8)])) for t in parts]
        args = (offsets, At(data), len(data) - 8, positions, depth)
        yield Case(f"{len(chosen)} from {depth}", len(chosen), args, expected)
    yield Case("nothing", 0, ([0], At(data), len(data) - 8, [], 0), [])
