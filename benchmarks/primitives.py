"""The gain of the CPU's primitives over plain bodies, and of second bodies over the first: timed in turn.

    python -m benchmarks.primitives [--json benchmarks/results/primitives.json] [NAME ...]

A primitive is kept if a kernel that uses it takes at least 1.15 times as long with the plain body; a
helper for narrow words, if one for wider words takes as much longer; a kernel over one value, if the kernel
over two arrays does, with that value in each slot.
Both are compiled in one process; each time is the least of many runs, which alternate.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy import uint64

from benchmarks import machine
from colkern.cpu import compiler
from colkern.kernels import (
    Kernel,
    arithmetic,
    comparison,
    dictionaries,
    filtering,
    helper,
    lists,
    ordering,
    primitives,
    selection,
    strings,
    views,
)
from colkern.kernels.primitives import copy_bytes, load_item, trailing_zeros, word_at
from colkern.kernels.relations import is_less_float

COUNT = 1 << 16
ROUNDS = 60


@helper
def put_word(out, place, word, flip):
    for k in range(uint64(0), uint64(8)):
        out[place + uint64(k)] = (word >> (uint64(k) << uint64(3))) ^ flip


@helper
def put_equal(out, place, left, i, right, j, flip):
    bits = uint64(0)
    for k in range(uint64(0), uint64(64)):
        bits |= uint64(left[i + uint64(k)] == right[j + uint64(k)]) << uint64(k)
    put_word(out, place, bits, flip)


@helper
def put_equal_to(out, place, left, i, value, flip):
    bits = uint64(0)
    for k in range(uint64(0), uint64(64)):
        bits |= uint64(left[i + uint64(k)] == value) << uint64(k)
    put_word(out, place, bits, flip)


@helper
def put_less_integers(out, place, left, i, right, j, minus, flip):
    bits = uint64(0)
    for k in range(uint64(0), uint64(64)):
        less = left[i + uint64(k)] ^ minus < right[j + uint64(k)] ^ minus
        bits |= uint64(less) << uint64(k)
    put_word(out, place, bits, flip)


@helper
def put_less_floats(out, place, left, i, right, j, relation, flip):
    bits = uint64(0)
    for k in range(uint64(0), uint64(64)):
        less = is_less_float(left[i + uint64(k)], right[j + uint64(k)], relation)
        bits |= uint64(less) << uint64(k)
    put_word(out, place, bits, flip)


@helper
def compress(out, place, values, first, kept):
    while kept != 0:
        out[place] = values[first + uint64(trailing_zeros(kept))]
        kept &= kept - uint64(1)
        place += uint64(1)


@helper
def extract(word, mask):
    bits = uint64(0)
    place = uint64(0)
    while mask != 0:
        bits |= ((word >> uint64(trailing_zeros(mask))) & uint64(1)) << place
        mask &= mask - uint64(1)
        place += uint64(1)
    return bits


@helper
def starts(address):
    bits = uint64(0)
    for k in range(uint64(0), uint64(32), uint64(8)):
        word = word_at(address + uint64(k))
        later = (word >> uint64(7)) & (~word >> uint64(6)) & uint64(0x0101010101010101)
        bits |= (((later * uint64(0x0102040810204080)) >> uint64(56)) ^ uint64(255)) << uint64(k)
    return bits


@helper
def copy(out, position, address, count):
    for k in range(uint64(0), count):
        out[position + uint64(k)] = load_item(out, address + uint64(k))


@helper
def copy_loosely(out, position, address, count, room):
    copy_bytes(out, position, address, count)


@helper
def fill(out, position, value, stride):
    for k in range(uint64(0), uint64(8)):
        out[position + uint64(k)] = value
        value += stride


@helper
def copy_8(out, position, values, source):
    for k in range(uint64(0), uint64(8)):
        out[position + uint64(k)] = values[source + uint64(k)]


@helper
def nothing(address):
    pass


Call = tuple[Kernel, int, tuple[Any, ...]]


def items(code: str, count: int = COUNT) -> Any:
    return np.random.default_rng(1).integers(0, 100, count).astype(code)


def comparisons(kernel: Kernel, codes: str, one: bool = False) -> Iterator[tuple[str, Call]]:
    out = np.zeros(COUNT // 8, np.uint8)
    for code in codes.split():
        other = np.array([7], code) if one else items(code)[::-1].copy()
        yield code, (kernel, len(out), (items(code), other, COUNT, 0, out))


def repeated(codes: str) -> Iterator[tuple[str, Call, Call]]:
    """One value beside an array, and the same value in each slot of another."""
    for code, (kernel, count, args) in comparisons(comparison.equal_item, codes, one=True):
        values, value, *rest = args
        other = (values.copy(), np.repeat(value, COUNT), *rest[:-1], rest[-1].copy())
        yield code, (kernel, count, args), (comparison.equal_items, count, other)


def divisions(kernel: Kernel, codes: str) -> Iterator[tuple[str, Call]]:
    for code in codes.split():
        dividend, divisor = items(code), items(code)[::-1] + np.ones(1, code)
        none = np.zeros(0, np.uint8)
        yield code, (kernel, COUNT, (dividend, divisor, 0, none, 0, np.zeros(COUNT, code)))


def orders(kernel: Kernel, codes: str) -> Iterator[tuple[str, Call]]:
    out = np.zeros(COUNT // 8, np.uint8)
    for code in codes.split():
        other = items(code)[::-1].copy()
        yield code, (kernel, len(out), (items(code), 1, other, 1, 0, COUNT, 0, out))


def filters(kernel: Kernel, codes: str, share: float) -> Iterator[tuple[str, Call]]:
    chosen = np.random.default_rng(2).random(COUNT) < share
    bits = np.concatenate([np.packbits(chosen, bitorder="little"), np.zeros(16, np.uint8)])
    words = 64
    sums = chosen.reshape(-1, 64 * words).sum(axis=1)
    starts = np.concatenate([[0], np.cumsum(sums)]).astype(np.int64)
    for code in codes.split():
        if kernel is filtering.filter_bits:
            count = -(-int(starts[-1]) // 64)
            args = (bits, 0, COUNT, words, starts, bits, 0, np.zeros(count, np.uint64))
            yield f"{share:.0%}", (kernel, count, args)
        else:
            out = np.zeros(int(starts[-1]), code)
            yield (
                f"{code}, {share:.0%}",
                (kernel, len(sums), (bits, 0, COUNT, words, starts, items(code), out)),
            )


def texts(length: int) -> tuple[Any, Any]:
    """Offsets and bytes of values of up to twice a length."""
    sizes = np.random.default_rng(3).integers(0, 2 * length, COUNT)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    return offsets, np.full(int(offsets[-1]) + 64, 97, np.uint8)


def characters() -> Iterator[tuple[str, Call]]:
    for length in (4, 12, 40):
        offsets, data = texts(length)
        args = (offsets, data.ctypes.data, len(data) - 8, np.zeros(COUNT, np.int32))
        yield f"about {length} bytes", (strings.count_characters, COUNT, args)
        KEPT.append(data)


def decoded() -> Iterator[tuple[str, Call]]:
    for length in (4, 12, 40):
        offsets, data = texts(length)
        indices = np.random.default_rng(4).permutation(COUNT).astype(np.uint32)
        sizes = np.diff(offsets)[indices]
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
        out = np.zeros(int(starts[-1]), np.uint8)
        args = (indices, COUNT, offsets, data.ctypes.data, len(data), starts, out)
        yield f"about {length} bytes", (dictionaries.decode_strings, COUNT, args)
        KEPT.append(data)


def exact() -> Iterator[tuple[str, Call]]:
    for width in (3, 12, 24, 48):
        data = np.zeros(COUNT * width, np.uint8)
        indices = np.random.default_rng(4).permutation(COUNT).astype(np.uint32)
        args = (indices, data.ctypes.data, width, np.zeros_like(data))
        yield f"{width} bytes", (selection.take_values, COUNT, args)
        KEPT.append(data)


def list_starts(length: int) -> Any:
    sizes = np.random.default_rng(5).integers(0, 2 * length, COUNT // length)
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)


def filled() -> Iterator[tuple[str, Call]]:
    for length in (4, 40):
        starts = list_starts(length)
        out = np.zeros(int(starts[-1]), np.int64)
        yield f"about {length} elements", (lists.list_of_each, len(out), (starts, out))


def copied() -> Iterator[tuple[str, Call]]:
    for length in (4, 20):
        for code in ("u1", "u4", "u8"):
            starts = list_starts(length)
            total = int(starts[-1])
            sizes = np.diff(starts)
            begins = np.random.default_rng(6).integers(0, total - sizes).astype(np.int32)
            args = (begins, total, starts, 1, items(code, total), np.zeros(total, code))
            yield f"{code}, about {length} elements", (lists.copy_lists, total, args)


def streamed() -> Iterator[tuple[str, Call, Call]]:
    of_words = arithmetic.add_words, arithmetic.multiply_words, arithmetic.subtract_words
    for kernel in of_words:
        plain = replace(kernel, streams=False)
        for count in (1_000_000, 10_000_000):
            words = np.ones(count, np.uint64)
            args = (words, words[::-1].copy(), np.zeros(count, np.uint64))
            yield f"{kernel.name}, {count:,} words", (kernel, count, args), (plain, count, args)


def far() -> Iterator[tuple[str, Call]]:
    for length in (40, 400):
        count = (1 << 27) // length
        offsets = (np.arange(count + 1) * length).astype(np.int32)
        data = np.ones(count * length + 64, np.uint8)
        masks = np.array(views.inline_masks(), np.uint64)
        none = np.zeros(0, np.uint8)
        args = (offsets, data, data.ctypes.data, none, 0, masks, np.zeros(2 * count, np.uint64))
        yield f"encode views of {length} bytes", (views.encode_views, count, args)
        order = np.random.default_rng(7).permutation(count)[: 1 << 17].astype(np.uint32)
        starts = (np.arange(len(order) + 1) * length).astype(np.int32)
        out = np.zeros(int(starts[-1]), np.uint8)
        taken = (order, offsets, data.ctypes.data, 1, starts, out)
        yield f"take {length} bytes", (selection.take_bytes, len(order), taken)
        KEPT.append(data)


KEPT: list[Any] = []
"""Arrays that kernels know by their addresses."""

CASES: dict[str, tuple[Callable[..., Any] | None, Callable[[], Iterator[Any]]]] = {
    "store_equal": (put_equal, lambda: comparisons(comparison.equal_items, "u1 u2 u4 u8 f4 f8")),
    "store_equal_to": (
        put_equal_to,
        lambda: comparisons(comparison.equal_item, "u1 u2 u4 u8 f4 f8", one=True),
    ),
    "equal_item": (None, lambda: repeated("u1 u2 u4 u8 f4 f8")),
    "divided_short_words": (
        arithmetic.divided_words,
        lambda: divisions(arithmetic.divide_words, "u1 u2"),
    ),
    "divided_words": (
        arithmetic.divided_long_words,
        lambda: divisions(arithmetic.divide_words, "u4"),
    ),
    "store_less_integers": (
        put_less_integers,
        lambda: orders(ordering.less_integers, "u1 u2 u4 u8"),
    ),
    "store_less_floats": (put_less_floats, lambda: orders(ordering.less_floats, "f4 f8")),
    "compress_items": (
        compress,
        lambda: chain.from_iterable(
            filters(filtering.filter_items, "u1 u2 u4 u8", share) for share in (0.3, 0.5, 0.9)
        ),
    ),
    "extract_bits": (
        extract,
        lambda: chain.from_iterable(
            filters(filtering.filter_bits, "u1", share) for share in (0.1, 0.5, 0.9)
        ),
    ),
    "character_starts": (starts, characters),
    "copy_bytes": (copy, exact),
    "copy_bytes_loosely": (copy_loosely, decoded),
    "fill_eight": (fill, filled),
    "copy_eight": (copy_8, copied),
    "streams": (None, streamed),
    "prefetch": (nothing, far),
}
"""A primitive, helper or kernel → what would do in its place, and calls, or pairs with the other kernel."""


def compiled(kernel: Kernel, name: str, plain: Callable[..., Any] | None) -> Any:
    """The loop of a kernel, with a plain body in the place of a primitive or a helper."""
    compiler.compiled.cache_clear()
    compiler.compile_kernel.cache_clear()
    if plain is None:
        return compiler.compile_kernel(kernel)
    original = getattr(primitives, name, None) or getattr(arithmetic, name)
    before = dict(compiler._PRIMITIVES)
    try:
        compiler._PRIMITIVES[original] = compiler.compiled(plain)
        return compiler.compile_kernel(kernel)
    finally:
        compiler._PRIMITIVES.clear()
        compiler._PRIMITIVES.update(before)


def least(loops: list[Any], calls: list[Call], rounds: int) -> list[float]:
    """The least seconds of each loop; they run in turn."""
    for loop, (kernel, count, args) in zip(loops, calls, strict=True):
        for argument, value in zip(kernel.arguments, args, strict=True):
            if argument.array:
                value.flags.writeable = argument.written
        loop(0, count, *args)
    best = [float("inf")] * len(loops)
    for _ in range(rounds):
        for k, (loop, (_kernel, count, args)) in enumerate(zip(loops, calls, strict=True)):
            begin = time.perf_counter()
            loop(0, count, *args)
            best[k] = min(best[k], time.perf_counter() - begin)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    report: dict[str, Any] = {**machine.facts(threads=1), "plain / primitive": {}}
    for name, (plain, cases) in CASES.items():
        if options.names and name not in options.names:
            continue
        ratios = {}
        for label, call, *other in cases():
            calls = [call, *(other or [call])]
            loops = [compiled(calls[0][0], name, None), compiled(calls[1][0], name, plain)]
            with_it, without = least(loops, calls, 12 if call[1] > 1 << 20 else ROUNDS)
            ratios[label] = round(without / with_it, 2)
        report["plain / primitive"][name] = ratios
        print(f"{name:22}", ", ".join(f"{label}: {ratio}" for label, ratio in ratios.items()))
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
