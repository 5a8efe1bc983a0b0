"""Cases of `colkern.kernels.keys`."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from kernels.case import LENGTHS, At, Case, bitmap, cases_of, limits, numbers, random_bits

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
            expected = [(b << bits | k) & ALL for b, k in zip(before, shown, strict=True)]
            args: tuple[Any, ...] = (words, high, addend, nulls, 3, 9, bits)
            yield Case(f"{count} by {addend}, {bits} bits, {label}", count, args, expected, before)


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
