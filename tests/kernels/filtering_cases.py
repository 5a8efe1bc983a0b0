"""Cases of `colkern.kernels.filtering`."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from kernels.case import At, Case, bitmap, cases_of, limits, numbers, random_bits, words

from colkern.kernels import filtering


@dataclass
class Mask:
    """A mask: which slots it keeps, and what kernels are given of it."""

    label: str
    rng: random.Random
    kept: list[bool]
    args: tuple[Any, ...]
    blocks: list[range]

    @property
    def slots(self) -> list[int]:
        return [i for i, bit in enumerate(self.kept) if bit]

    def sums(self, numbers: list[int]) -> list[int]:
        """The running sum over blocks of a number for each slot, of those kept."""
        each = [sum(numbers[i] for i in block if self.kept[i]) for block in self.blocks]
        return list(itertools.accumulate(each, initial=0))

    @property
    def starts(self) -> list[int]:
        return self.sums([1] * len(self.kept))


def masks(seed: str) -> Iterator[Mask]:
    """Masks of several lengths, from few to all bits set, cut into blocks of several words."""
    rng = numbers(seed)
    for length, block_words in ((0, 1), (1, 1), (63, 2), (64, 1), (65, 2), (200, 1), (600, 3)):
        for share in (0, 0.02, 0.5, 0.97, 1, *((0.06, 0.15) if length == 600 else ())):
            offset = rng.randrange(10)
            kept = [rng.random() < share for _ in range(length)]
            size = 64 * block_words
            blocks = [range(b, min(b + size, length)) for b in range(0, length, size)]
            args = (bitmap(kept, offset, rng), offset, length, block_words)
            label = f"{length} from {offset}, {share} kept, {block_words} words"
            yield Mask(label, rng, kept, args, blocks)


@cases_of(filtering.count_kept)
def count_kept(types: dict[str, str]) -> Iterator[Case]:
    for mask in masks("count kept"):
        expected = [sum(mask.kept[i] for i in block) for block in mask.blocks]
        yield Case(mask.label, len(mask.blocks), mask.args, expected)


@cases_of(filtering.filter_items)
def filter_items(types: dict[str, str]) -> Iterator[Case]:
    low, high = limits(types["values"])
    for mask in masks("filter items"):
        values = [mask.rng.randint(low, high) for _ in mask.kept]
        expected = [values[i] for i in mask.slots]
        yield Case(mask.label, len(mask.blocks), (*mask.args, mask.starts, values), expected)


@cases_of(filtering.filter_pairs)
def filter_pairs(types: dict[str, str]) -> Iterator[Case]:
    for mask in masks("filter pairs"):
        values = [mask.rng.getrandbits(64) for _ in range(2 * len(mask.kept))]
        expected = [values[2 * i + k] for i in mask.slots for k in (0, 1)]
        yield Case(mask.label, len(mask.blocks), (*mask.args, mask.starts, values), expected)


@cases_of(filtering.filter_values)
def filter_values(types: dict[str, str]) -> Iterator[Case]:
    for mask in masks("filter values"):
        for width in (3, 40):
            data = mask.rng.randbytes(len(mask.kept) * width)
            expected = [byte for i in mask.slots for byte in data[i * width : (i + 1) * width]]
            args = (*mask.args, mask.starts, At(np.frombuffer(data, np.uint8)), width)
            yield Case(f"{mask.label}, {width} bytes", len(mask.blocks), args, expected)


@cases_of(filtering.kept_positions)
def kept_positions(types: dict[str, str]) -> Iterator[Case]:
    for mask in masks("positions"):
        yield Case(mask.label, len(mask.blocks), (*mask.args, mask.starts), mask.slots)


@cases_of(filtering.filter_bits)
def filter_bits(types: dict[str, str]) -> Iterator[Case]:
    for mask in masks("filter bits"):
        for offset in (0, 3):
            bits = random_bits(mask.rng, len(mask.kept))
            chosen = [bits[i] for i in mask.slots]
            expected = words(chosen)
            args = (*mask.args, mask.starts, bitmap(bits, offset, mask.rng), offset)
            label = f"{mask.label}, values from {offset}"
            yield Case(label, len(expected), args, (sum(chosen), expected))


def lists_under(mask: Mask) -> tuple[list[int], list[int]]:
    """The lengths of as many lists as the mask has slots, and their offsets."""
    lengths = [mask.rng.choice((0, 0, 1, 3, 13)) for _ in mask.kept]
    return lengths, list(itertools.accumulate(lengths, initial=4))


@cases_of(filtering.sum_kept_lengths)
def sum_kept_lengths(types: dict[str, str]) -> Iterator[Case]:
    for mask in masks("sum lengths"):
        lengths, offsets = lists_under(mask)
        counts = [sum(mask.kept[i] for i in block) for block in mask.blocks]
        expected = [sum(lengths[i] for i in block if mask.kept[i]) for block in mask.blocks]
        yield Case(mask.label, len(mask.blocks), (*mask.args, offsets), counts + expected)


@cases_of(filtering.filter_offsets)
def filter_offsets(types: dict[str, str]) -> Iterator[Case]:
    for mask in masks("filter offsets"):
        lengths, offsets = lists_under(mask)
        expected = list(itertools.accumulate((lengths[i] for i in mask.slots), initial=0))
        sums = [5 + end for end in mask.sums(lengths)]
        args = (*mask.args, mask.starts, sums, offsets)
        # Without slots there is no block to write the first offset.
        before = None if mask.kept else [0]
        yield Case(mask.label, len(mask.blocks), args, expected, before)


@cases_of(filtering.filter_bytes)
def filter_bytes(types: dict[str, str]) -> Iterator[Case]:
    for mask in masks("filter bytes"):
        lengths, offsets = lists_under(mask)
        for width in (1, 4):
            data = mask.rng.randbytes(offsets[-1] * width)
            pieces = [data[offsets[i] * width : offsets[i + 1] * width] for i in mask.slots]
            expected = list(b"".join(pieces))
            where = (At(np.frombuffer(data, np.uint8)), width)
            sums = [5 + end for end in mask.sums(lengths)]
            args = (*mask.args, sums, offsets, *where)
            yield Case(f"{mask.label}, {width} bytes", len(mask.blocks), args, expected)


@cases_of(filtering.spread_to_elements)
def spread_to_elements(types: dict[str, str]) -> Iterator[Case]:
    for mask in masks("spread"):
        lengths, offsets = lists_under(mask)
        each = zip(mask.kept, lengths, strict=True)
        expected = words([bit for bit, length in each for _ in range(length)])
        args = (*mask.args[:2], offsets)
        yield Case(mask.label, len(expected), args, expected)
