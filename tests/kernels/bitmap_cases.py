"""Cases of `colkern.kernels.bitmaps`."""

from __future__ import annotations

from collections.abc import Iterator

from kernels.case import (
    LENGTHS,
    POISON,
    Case,
    bitmap,
    cases_of,
    numbers,
    packed,
    random_bits,
)

from colkern.kernels import bitmaps

OFFSETS = range(9)


@cases_of(bitmaps.count_set_bits)
def count_set_bits(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("count")
    for offset in OFFSETS:
        for length in (*LENGTHS, 71, 72, 127, 128, 129, 200):
            bits = random_bits(rng, length)
            words = max(offset + length - (offset + 7) // 8 * 8, 0) // 64
            args = (bitmap(bits, offset, rng), offset, offset + length)
            yield Case(f"{length} bits from {offset}", words, args, sum(bits))
    for bit in (False, True):
        args = (bitmap([bit] * 150, 5, rng), 5, 155)
        yield Case(f"all {bit}", 2, args, 150 * bit)
    yield Case("far bits of a long bitmap", 1, (bitmap([True] * 300, 0, rng), 211, 288), 77)


@cases_of(bitmaps.copy_bits)
def copy_bits(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("copy")
    for offset in (*OFFSETS, 21):
        for length in LENGTHS:
            bits = random_bits(rng, length)
            expected = packed(bits)
            args = (bitmap(bits, offset, rng), offset, length)
            yield Case(f"{length} bits from {offset}", len(expected), args, expected)


@cases_of(bitmaps.expand_bits)
def expand_bits(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("expand")
    for offset in OFFSETS:
        for length in LENGTHS:
            bits = random_bits(rng, length)
            args = (bitmap(bits, offset, rng), offset)
            yield Case(f"{length} bits from {offset}", length, args, [int(b) for b in bits])


@cases_of(bitmaps.pack_bits)
def pack_bits(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("pack")
    for length in LENGTHS:
        values = [rng.choice((0, 0, 1, 2, 128, 255)) for _ in range(length)]
        expected = packed([value != 0 for value in values])
        yield Case(f"{length} bytes", len(expected), (values, length), expected)


@cases_of(bitmaps.and_bits)
def and_bits(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("and")
    for offset in OFFSETS:
        for length in LENGTHS:
            left, right = random_bits(rng, length), random_bits(rng, length)
            expected = packed([a and b for a, b in zip(left, right, strict=True)])
            other = (offset * 5 + 3) % 11
            args = (bitmap(left, offset, rng), offset, bitmap(right, other, rng), other, length)
            yield Case(f"{length} bits from {offset}, {other}", len(expected), args, expected)


@cases_of(bitmaps.place_bits)
def place_bits(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("place")
    for place in (*OFFSETS, 19):
        for length in LENGTHS:
            offset = (place * 3 + length) % 10
            bits = random_bits(rng, length)
            kept = random_bits(rng, place)
            # Whole bytes past the bits belong to others; bits of the last byte are zero before.
            before = [*packed(kept), *[0] * ((place + length + 7) // 8 - (place + 7) // 8), POISON]
            expected = [*packed(kept + bits), POISON]
            touched = (place + length + 7) // 8 - place // 8 if length else 0
            args = (bitmap(bits, offset, rng), offset, length, place)
            yield Case(f"{length} bits from {offset} to {place}", touched, args, expected, before)
