"""Patterns that need several launches, built from the targets' map and scan.

*Two-pass*: measure the lengths of the values, scan them to offsets, write each value at its own.
*Compact*: count the kept items of each block, scan the counts, write the items of each block.
"""

from __future__ import annotations

from typing import Self

import numpy as np

from colkern.errors import LimitExceededError
from colkern.kernels import Kernel, bitmaps, filtering
from colkern.targets import Argument, Items, ItemType, Later, Target


def measure(
    target: Target, kernel: Kernel, count: int, dtype: ItemType, *args: Argument
) -> tuple[Items, int]:
    """The first of two passes: offsets (dtype[count + 1], int32 or int64) of values, and the last offset.

    `kernel` writes the length of each value to its last argument (int64[count]), behind `args`. Raises
    `LimitExceededError` if the sum does not fit `dtype`.
    """
    lengths = target.output(count, np.int64)
    target.map(kernel, count, *args, lengths)
    offsets, total = target.running_sum(lengths, dtype)
    require_room(total, dtype)
    return offsets, total


def require_room(total: int, dtype: ItemType, what: str = "bytes or elements") -> None:
    """Raise `LimitExceededError` if a total does not fit offsets of a dtype."""
    offsets = np.dtype(dtype)
    if total.bit_length() >= 8 * offsets.itemsize:
        raise LimitExceededError(
            f"{total} {what} do not fit offsets of {offsets}; use the large form of the type"
        )


def measure_in_place(
    target: Target, kernel: Kernel, count: int, dtype: ItemType, *args: Argument
) -> tuple[Items, int]:
    """As `measure`, with less memory traffic: the kernel writes to dtype[count], and returns the sum.

    Each single length must fit `dtype`.
    """
    offsets = target.output(count + 1, dtype)
    total = target.reduce(kernel, count, *args, offsets[1:])
    require_room(total, dtype)
    target.accumulate(offsets)
    return offsets, total


def compact_blocks(
    target: Target, count: Kernel, write: Kernel, blocks: int, *args: Argument
) -> Items:
    """The items that two kernels keep of each block, one block after the other (int64).

    `count` writes how many items each block keeps to its last argument (int64[blocks]); the last
    arguments of `write` are the start of each block (int64[blocks + 1]) and the output. Both take
    `args` first.
    """
    starts = target.output(blocks + 1, np.int64)
    target.map(count, blocks, *args, starts[1:])
    target.accumulate(starts)
    kept = target.output(target.item(starts, blocks), np.int64)
    target.map(write, blocks, *args, starts, kept)
    return kept


_COUNT = np.dtype(np.int64)


class Kept:
    """The slots that are kept, as bits, with the number of kept slots before each block.

    Args:
        target: The target of the bits.
        bits: uint8[], the bitmap.
        offset: The bit of slot 0.
        words: The words of the bitmap in a block.
        starts: int64[blocks + 1], the running sum of the bits that are set in each block.
        count: The number of set bits; it is waited for when first needed.
    """

    __slots__ = (
        "_later_count",
        "_positions",
        "_sums",
        "blocks",
        "count",
        "length",
        "mask",
        "offset",
        "starts",
        "target",
    )

    def __init__(
        self,
        target: Target,
        bits: Items,
        offset: int,
        length: int,
        words: int,
        starts: Items,
        count: int | Later,
    ) -> None:
        self.target = target
        self.offset = offset
        self.length = length
        self.starts = starts
        if isinstance(count, int):
            self.count = count
        else:
            self._later_count = count
        self.blocks = len(starts) - 1
        """The number of blocks: the range of most kernels that take `mask`."""
        self.mask = bits, offset, length, words
        """Bits, offset, length, words of a block: the first arguments of these kernels."""
        self._positions: Items | None = None
        self._sums: tuple[Items, Items, Later] | None = None

    def __getattr__(self, name: str) -> int:
        """Computes `count` when it is first asked for."""
        if name != "count":
            raise AttributeError(name)
        self.count = self._later_count()
        return self.count

    @classmethod
    def of(
        cls, target: Target, bits: Items, offset: int, length: int, offsets: Items | None = None
    ) -> Self:
        """The slots whose bits are set in `[offset, offset + length)` of a bitmap (uint8[]).

        If `offsets` are given, and there are several blocks, their `lengths` are computed along with
        the count.
        """
        words = target.block_words(length + 63 >> 6)
        if length and length <= 64 * words:
            end = offset + length
            whole = bitmaps.whole_words(offset, end)
            few = target.reduce(bitmaps.count_set_bits, whole, bits, offset, end)
            starts = target.table((0, few), _COUNT)
            return cls(target, bits, offset, length, words, starts, few)
        blocks = -(-bitmaps.words_for(length) // words)
        mask = bits, offset, length, words
        if offsets is not None:
            sums = _sums(target, blocks, mask, offsets)
            starts = sums[: blocks + 1]
        else:
            starts = target.output(blocks + 1, np.int64)
            target.map(filtering.count_kept, blocks, *mask, starts[1:], work=64 * words)
            target.accumulate(starts)
        kept = cls(target, *mask, starts, target.later_item(starts, blocks))
        if offsets is not None:
            kept._sums = offsets, sums[blocks:], target.later_item(sums, 2 * blocks)
        return kept

    def map(self, kernel: Kernel, *args: Argument, balance: Items | None = None) -> None:
        """Run a kernel of `colkern.kernels.filtering` over the blocks."""
        work = 64 * self.mask[3] if balance is None else 1
        self.target.map(kernel, self.blocks, *self.mask, *args, work=work, balance=balance)

    def lengths(self, offsets: Items) -> tuple[Items, Later]:
        """The running sum (int64[blocks + 1]) of the lengths of kept values by block, and its last item.

        It begins with `count`.
        """
        if self._sums is None or self._sums[0] is not offsets:
            sums = _sums(self.target, self.blocks, self.mask, offsets)[self.blocks :]
            self._sums = offsets, sums, self.target.later_item(sums, self.blocks)
        return self._sums[1:]

    @property
    def is_sparse(self) -> bool:
        """Whether few enough slots are kept to list them."""
        return 32 * self.count < self.length

    def positions(self) -> Items:
        """The kept slots (uint64, read-only), which are listed once."""
        if self._positions is None:
            out = self.target.output(self.count, np.uint64)
            self.map(filtering.kept_positions, self.starts, out)
            self._positions = out
        return self._positions


def _sums(target: Target, blocks: int, mask: tuple[Items, int, int, int], offsets: Items) -> Items:
    """Running sums (int64[2 blocks + 1]): of the kept slots of each block, then also of their lengths."""
    sums = target.output(2 * blocks + 1, np.int64)
    work = 64 * mask[3]
    target.map(filtering.sum_kept_lengths, blocks, *mask, offsets, sums[1:], work=work)
    target.accumulate(sums)
    return sums
