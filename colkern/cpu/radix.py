"""Sorting on the CPU, by the kernels of `colkern.kernels.sorting`.

A radix sort of words that have 32 bits of the key, and the position. Longer keys are sorted by their
upper bits, and then the few with equal upper bits are put in order; if these are many, keys are sorted
by their lower bits first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from colkern.cpu.threads import GRAIN, num_threads, run_ranges
from colkern.kernels import Kernel, sorting

if TYPE_CHECKING:
    from colkern.targets import Items, Target

FEW = 1 << 11
"""NumPy sorts so few keys faster than this module prepares to."""

_MOST = 1 << 32
_POSITION = _MOST - 1
_ALL = 2**64 - 1
_DIGIT_BITS = 8
"""More bits mean fewer passes over the data, but more places that each pass writes to."""

FEW_BITS = 11
"""Keys of up to this many bits are counted, not packed and sorted by digits."""

_LONG = 16
"""Putting this many keys with equal upper bits in order one by one takes longer than another sort."""

_SAMPLE = 1 << 10

_WORTH_SAMPLE = 1 << 17
"""The least number of keys of which a sample takes little of the time."""


def sorted_positions(
    target: Target, keys: NDArray[np.uint64], positions: NDArray[np.uint64] | None
) -> Items:
    """`positions` (None for all) in the order of their keys; stable (uint64[])."""
    if not FEW < len(keys) <= _MOST:
        chosen = keys if positions is None else keys[positions]
        order = np.argsort(chosen, kind="stable").astype(np.uint64)
        return order if positions is None else positions[order]
    low, high = extremes(keys) if len(keys) else (0, 0)
    bits = (high - low).bit_length()
    if bits <= FEW_BITS and positions is None:
        return counted_positions(target, FewKeys(keys, 0, low, bits))
    if bits <= 32:
        return _sorted(target, _packed(target, keys, positions, low, 0), bits, _POSITION)
    upper = bits - 32
    if not _seem_equal(keys, positions, low, upper):
        words = _sorted(target, _packed(target, keys, positions, low, upper), 32, _ALL)
        count = len(words) - _LONG
        if count <= 0 or not target.reduce(sorting.count_long_ties, count, words, _LONG):
            out = target.output(len(words), np.uint64)
            target.map(sorting.settle_ties, len(words), words, keys, out)
            return out
    lower = _sorted(target, _packed(target, keys, positions, low, 0), upper, _POSITION)
    return _sorted(target, _packed(target, keys, lower, low, upper), 32, _POSITION)


def _seem_equal(keys: Items, positions: Items | None, low: int, shift: int) -> bool:
    """Whether `_LONG` keys or more are likely to have the same upper bits, by a sample."""
    count = len(keys) if positions is None else len(positions)
    if count < _WORTH_SAMPLE:
        return False
    places = np.arange(0, count, count // _SAMPLE)
    sample = keys[places if positions is None else positions[places]]
    repeated = len(places) - len(np.unique((sample - np.uint64(low)) >> np.uint64(shift)))
    return repeated > _LONG * len(places) ** 2 / (2 * count)


def extremes(items: Items) -> tuple[int, int]:
    """The least and the greatest of some integers, at least one."""
    if len(items) < GRAIN:
        return _extremes(items)
    parts = [each for part in run_ranges(_by_blocks, len(items), (items,)) for each in part]
    return min([low for low, _ in parts]), max([high for _, high in parts])


def _by_blocks(start: int, stop: int, items: Items) -> list[tuple[int, int]]:
    # Small ones, so that the greatest is looked for in caches.
    size = GRAIN // 4
    return [_extremes(items[k : min(k + size, stop)]) for k in range(start, stop, size)]


def _extremes(items: Items) -> tuple[int, int]:
    # Not by methods: these are functions of Python's.
    return int(np.minimum.reduce(items)), int(np.maximum.reduce(items))


def _packed(target: Target, keys: Items, positions: Items | None, low: int, shift: int) -> Items:
    chosen = target.table([], np.uint64) if positions is None else positions
    count = len(keys) if positions is None else len(positions)
    packed = target.output(count, np.uint64)
    target.map(sorting.pack_keys, count, keys, chosen, low, shift, packed)
    return packed


def _sorted(target: Target, words: Items, bits: int, kept: int) -> Items:
    """Packed words, sorted by the lowest `bits` of their keys; the bits `kept` of each word."""
    count = len(words)
    passes = max(-(-bits // _DIGIT_BITS), 1)
    digit = max(-(-bits // passes), 1)
    chunks, chunk = _chunks(count)
    if chunks > 1 and passes > 1:
        by_buckets = _sorted_by_buckets(target, words, passes, digit, kept)
        if by_buckets is not None:
            return by_buckets
    # The last pass writes to one of them; the others are for the passes before.
    spare = [target.output(count + (chunks << digit), np.uint64) for _ in range(min(passes, 2))]
    # If there are several chunks, the words of a chunk change with every pass.
    counts = _counts(target, words, chunk, chunks, 32, passes, digit) if chunks == 1 else None
    for number in range(passes):
        first = 32 + number * digit
        if counts is None:
            own = _counts(target, words, chunk, chunks, first, 1, digit)[:, 0]
        else:
            own = counts[:, number]
        out = spare[number % 2]
        out[count:] = _next_places(own)
        last = number == passes - 1
        arguments = (words, chunk, first, digit, kept if last else _ALL)
        target.map(sorting.scatter_digits, chunks, *arguments, out, work=chunk)
        words = out[:count]
    return words


_UNEVEN = 1.25
"""A thread may have this many times as many words as the mean."""


def _sorted_by_buckets(
    target: Target, words: Items, digits: int, bits: int, kept: int
) -> Items | None:
    """As `_sorted`, by the highest digit first; None if a thread would have most of the words."""
    count, buckets, first = len(words), 1 << bits, 32 + (digits - 1) * bits
    chunks, chunk = _chunks(count)
    counts = _counts(target, words, chunk, chunks, first, 1, bits)[:, 0]
    sizes = counts.sum(axis=0)
    if int(sizes.max()) * chunks > _UNEVEN * count:
        return None
    divided = target.output(count + chunks * buckets, np.uint64)
    divided[count:] = _next_places(counts)
    target.map(sorting.scatter_digits, chunks, words, chunk, first, bits, _ALL, divided, work=chunk)
    bounds = target.scan(sizes, np.int64)
    out = target.output(2 * count + buckets * (digits - 1) * buckets, np.uint64)
    own = (divided[:count], bounds, 32, digits - 1, bits, kept)
    target.map(sorting.sort_buckets, buckets, *own, out, balance=bounds)
    return out[:count]


class FewKeys(NamedTuple):
    """Keys of few bits: each is a word with the bits of `flip` flipped, less `low`."""

    words: Items
    flip: int
    low: int
    bits: int


def counted_positions(
    target: Target, keys: FewKeys, kernel: Kernel = sorting.scatter_positions
) -> Items:
    """All positions (uint64[n]) in the order of keys of few bits; stable. Or other results of a kernel."""
    words, flip, low, bits = keys
    chunks, chunk = _chunks(len(words))
    counts = _few_counts(target, keys, chunks, chunk)
    out = target.output(len(words) + (chunks << bits), np.uint64)
    out[len(words) :] = _next_places(counts)
    target.map(kernel, chunks, words, flip, low, chunk, bits, out, work=chunk)
    return out[: len(words)]


def key_counts(target: Target, keys: FewKeys) -> Items:
    """The number of times that each key of few bits occurs (int64[2^bits])."""
    chunks = max(_STREAMS * _chunks(len(keys.words))[0], 1)
    counts: Items = _few_counts(target, keys, chunks, -(-len(keys.words) // chunks)).sum(axis=0)
    return counts


_STREAMS = 4
"""A thread counts so many chunks at a time."""


def _few_counts(target: Target, keys: FewKeys, chunks: int, chunk: int) -> Items:
    """The number of times that each key occurs in each chunk (int64[chunks, 2^bits])."""
    words, flip, low, bits = keys
    counts = target.allocate(chunks << bits, np.int64)
    target.map(sorting.count_few_keys, chunks, words, flip, low, chunk, bits, counts, work=chunk)
    return counts.reshape(chunks, 1 << bits)


def _chunks(count: int) -> tuple[int, int]:
    """The number of chunks and their length: one chunk for each thread that has enough to do."""
    # Several chunks need more passes than one.
    chunks = max(min(num_threads(), count // (4 * GRAIN)), 1)
    return chunks, max(-(-count // chunks), 1)


def _counts(
    target: Target, words: Items, chunk: int, chunks: int, first: int, digits: int, bits: int
) -> Items:
    counts = target.allocate((chunks * digits) << bits, np.int64)
    arguments = (chunk, first, digits, bits)
    target.map(sorting.count_digits, chunks, words, *arguments, counts, work=chunk)
    return counts.reshape(chunks, digits, 1 << bits)


def _next_places(counts: Items) -> Items:
    """The place of each chunk's first word of each digit: after lower digits, and chunks before."""
    by_digit = counts.T.reshape(-1)
    places = np.cumsum(by_digit) - by_digit
    return places.reshape(counts.shape[1], counts.shape[0]).T.reshape(-1).view(np.uint64)
