"""Cases of `colkern.kernels.hashing`."""

from __future__ import annotations

import itertools
import math
import struct
from collections.abc import Iterator
from typing import Any

import hash_oracle as oracle
import numpy as np
from kernels.case import Addresses, At, Case, bitmap, cases_of, limits, numbers, validities
from kernels.value_cases import some_values, with_buffers

from colkern.kernels import hashing

LENGTHS = (0, 1, 9, 65)
STATE = oracle.state_of(7)
MASKS = hashing.run_masks()


def shown(hashes: list[int], valid: list[bool]) -> list[int]:
    """The hashes of the values that are valid, and of nulls."""
    null = oracle.hash_null(STATE)
    return [h if ok else null for h, ok in zip(hashes, valid, strict=True)]


@cases_of(hashing.hash_integers)
def hash_integers(types: dict[str, str]) -> Iterator[Case]:
    code = types["words"]
    bits = np.dtype(code).itemsize * 8
    rng = numbers(("integers", code))
    for kind, minus in (("i", 1 << (bits - 1)), ("u", 0)):
        low, high = limits(f"{kind}{bits // 8}")
        for count in LENGTHS:
            for label, validity, offset, valid in validities(rng, count):
                values = [rng.choice((low, high, 0, 1, rng.randint(low, high))) for _ in valid]
                words = [value & (1 << bits) - 1 for value in values]
                above = 2**64 - (1 << bits)
                args = (words, minus, above, validity, offset, STATE)
                hashes = [oracle.hash_number(value, STATE) for value in values]
                yield Case(f"{kind} {count}, {label}", count, args, shown(hashes, valid))


@cases_of(hashing.hash_floats)
def hash_floats(types: dict[str, str]) -> Iterator[Case]:
    code = types["words"]
    bits = np.dtype(code).itemsize * 8
    pack = {16: "<e", 32: "<f", 64: "<d"}[bits]
    special = [0.0, -0.0, 1.5, -1.5, math.inf, -math.inf, math.nan, -math.nan, 2.0**-20]
    words = [int.from_bytes(struct.pack(pack, value), "little") for value in special]
    minus = 1 << (bits - 1)
    infinity = words[4]
    words += [infinity + 1, minus + infinity + 1, (1 << bits) - 1, 1, minus + 1]
    rng = numbers(("floats", code))
    for count in LENGTHS:
        for label, validity, offset, valid in validities(rng, count):
            values = [rng.choice(words) for _ in valid]
            args = (values, minus, infinity, validity, offset, STATE)
            hashes = [oracle.hash_float(value, bits, STATE) for value in values]
            yield Case(f"{count}, {label}", count, args, shown(hashes, valid))


@cases_of(hashing.hash_fixed_bytes)
def hash_fixed_bytes(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("fixed bytes")
    for width, count in itertools.product((0, 1, 7, 8, 9, 16, 17, 32, 33), (0, 9, 65)):
        for label, validity, offset, valid in validities(rng, count):
            values = [rng.randbytes(width) for _ in valid]
            data = np.frombuffer(b"".join(values), np.uint8)
            args = (At(data), width, len(data), MASKS, validity, offset, STATE)
            hashes = [oracle.hash_bytes(value, STATE) for value in values]
            yield Case(f"{count} of {width} bytes, {label}", count, args, shown(hashes, valid))


@cases_of(hashing.hash_strings)
def hash_strings(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("strings")
    blocks = [lengths * 30 for lengths in ((7, 3, 0), (3, 15, 0), (20, 3, 31), (40, 3, 70))]
    for lengths in (range(70), (0,) * 9, *blocks, (200, 3, 15, 16, 17), (1,), ()):
        values = [rng.randbytes(length) for length in lengths]
        data = np.frombuffer(b"".join([b"before", *values]), np.uint8)
        offsets = list(itertools.accumulate(lengths, initial=6))
        hashes = [oracle.hash_bytes(value, STATE) for value in values]
        for label, validity, offset, valid in validities(rng, len(values)):
            args = (offsets, At(data), len(data), MASKS, validity, offset, STATE)
            yield Case(f"{lengths}, {label}", len(values), args, shown(hashes, valid))


@cases_of(hashing.hash_views)
def hash_views(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("views")
    for count in LENGTHS:
        for label, validity, offset, valid in validities(rng, count):
            values = some_values(rng, count)
            result, buffers = with_buffers(rng, values)
            # What stands behind an inline value need not be zeros.
            dirty = [
                view[: 4 + len(value)].ljust(16, b"\xee") if len(value) <= 12 else view
                for view, value in zip(result, values, strict=True)
            ]
            sizes = [len(b) for b in buffers]
            addresses = Addresses([np.frombuffer(b, np.uint8) for b in buffers])
            hashes = [oracle.hash_bytes(value, STATE) for value in values]
            for what, views in (("as is", result), ("dirty", dirty)):
                words = np.frombuffer(b"".join(views), np.uint64)
                args = (words, addresses, sizes, MASKS, validity, offset, STATE)
                yield Case(f"{count}, {label}, {what}", count, args, shown(hashes, valid))


@cases_of(hashing.hash_lists)
def hash_lists(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("lists")
    elements = [rng.randrange(2**64) for _ in range(40)]

    def of(begin: int, length: int) -> int:
        return oracle.hash_sequence(elements[begin : begin + length], STATE)

    for count in (0, 1, 9):
        for label, validity, offset, valid in validities(rng, count):
            lengths = [rng.randrange(4) for _ in valid]
            begins = list(itertools.accumulate(lengths, initial=5))
            slots = (elements, validity, offset, STATE)
            hashes = [of(b - 5, n) for b, n in zip(begins, lengths, strict=False)]
            args: tuple[Any, ...] = (begins, [], 0, 5, *slots)
            yield Case(f"{count}, {label}", count, args, shown(hashes, valid))
            views = [rng.randrange(30) for _ in valid]
            hashes = [of(b, n) for b, n in zip(views, lengths, strict=True)]
            args = (views, lengths, 0, 0, *slots)
            yield Case(f"{count} views, {label}", count, args, shown(hashes, valid))
            hashes = [of(4 * i, 4) for i in range(count)]
            args = ([], [], 4, 0, *slots)
            yield Case(f"{count} of 4, {label}", count, args, shown(hashes, valid))


@cases_of(hashing.combine_hashes)
def combine_hashes(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("combine")
    for count in LENGTHS:
        before = [rng.randrange(2**64) for _ in range(count)]
        following = [rng.randrange(2**64) for _ in range(count)]
        expected = [oracle.combined(a, b) for a, b in zip(before, following, strict=True)]
        yield Case(f"{count}", count, (following,), expected, before)


@cases_of(hashing.hash_nulls)
def hash_nulls(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("nulls")
    for count in LENGTHS:
        before = [rng.randrange(2**64) for _ in range(count)]
        valid = [rng.random() < 0.5 for _ in before]
        args = (bitmap(valid, 3, rng), 3, STATE)
        yield Case(f"{count}", count, args, shown(before, valid), before)


@cases_of(hashing.pick_hashes)
def pick_hashes(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("pick")
    for count in LENGTHS:
        ids = [rng.choice((3, 5)) for _ in range(count)]
        hashes = [rng.randrange(2**64) for _ in range(max(count, 1))]
        slots = [rng.randrange(len(hashes)) for _ in ids]
        before = [1] * count
        sparse = [hashes[i] if code == 5 else 1 for i, code in enumerate(ids)]
        dense = [hashes[slot] if code == 5 else 1 for slot, code in zip(slots, ids, strict=True)]
        yield Case(f"{count} sparse", count, (ids, [], 5, hashes), sparse, before)
        yield Case(f"{count} dense", count, (ids, slots, 5, hashes), dense, before)


@cases_of(hashing.hash_indices)
def hash_indices(types: dict[str, str]) -> Iterator[Case]:
    _, high = limits(types["indices"])
    rng = numbers("indices")
    hashes = [rng.randrange(2**64) for _ in range(5)]
    for count in LENGTHS:
        for label, validity, offset, valid in validities(rng, count):
            # Under a null there may be anything.
            indices = [rng.randrange(5) if ok else high for ok in valid]
            expected = [hashes[i] if ok else 0 for i, ok in zip(indices, valid, strict=True)]
            args = (indices, hashes, validity, offset, STATE)
            yield Case(f"{count}, {label}", count, args, shown(expected, valid))


@cases_of(hashing.number_partitions)
def number_partitions(types: dict[str, str]) -> Iterator[Case]:
    rng = numbers("partitions")
    for count, partitions in itertools.product(LENGTHS, (1, 7, 2**32 - 1)):
        hashes = [rng.choice((0, 2**64 - 1, rng.randrange(2**64))) for _ in range(count)]
        expected = [(h >> 32) * partitions >> 32 for h in hashes]
        yield Case(f"{count} in {partitions}", count, (hashes, partitions), expected)
