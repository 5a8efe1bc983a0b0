"""Patterns of more than one launch, in terms of the targets' map and scan.

*Two-pass*: measure the lengths of the values, scan them to offsets, write each value at its own.
*Compact*: count by block what is kept, scan the counts, write each block's from its own start on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from colkern.errors import LimitExceededError
from colkern.kernels import Kernel, bitmaps, filtering
from colkern.memory import Buffer

_GRAIN = 1 << 17
"""The least number of slots that a thread is worth waking for."""


def measure(target: Any, kernel: Kernel, count: int, dtype: Any, *args: Any) -> Any:
    """The first pass of two: the offsets (dtype[count + 1]) of values whose lengths a kernel tells.

    Args:
        target: Where to run.
        kernel: Writes the length of each value to its last argument, int64[count].
        count: The number of values.
        dtype: int32 or int64.
        args: What the kernel takes before that.

    Raises:
        LimitExceededError: If `dtype` is too small for the sum of the lengths.
    """
    lengths = target.output(count, np.int64)
    target.map(kernel, count, *args, lengths)
    offsets, total = target.running_sum(target.frozen(lengths), dtype)
    require_room(total, dtype)
    return offsets


def require_room(total: int, dtype: Any) -> None:
    """Raise `LimitExceededError` if offsets of a type cannot go as far as that."""
    if total > np.iinfo(dtype).max:
        raise LimitExceededError(
            f"{total} bytes or elements do not fit offsets of {np.dtype(dtype)}; "
            f"use the large form of the type"
        )


def measure_in_place(
    target: Any, kernel: Kernel, count: int, dtype: Any, *args: Any
) -> tuple[Any, int]:
    """As `measure`, with less memory moved: the offsets, and the last of them.

    Args:
        target: Where to run.
        kernel: Writes the length of each value to its last argument, dtype[count], and returns their
            sum; no length is too large for `dtype`.
        count: The number of values.
        dtype: int32 or int64.
        args: What the kernel takes before that.

    Raises:
        LimitExceededError: If `dtype` is too small for the sum of the lengths.
    """
    offsets = target.output(count + 1, dtype)
    total = target.reduce(kernel, count, *args, offsets[1:])
    require_room(total, dtype)
    target.accumulate(offsets)
    return offsets, total


def compact_blocks(target: Any, count: Kernel, write: Kernel, blocks: int, *args: Any) -> Any:
    """What is kept of each block of anything, one after the other (int64).

    Args:
        target: Where to run.
        count: Writes how many each block keeps to its last argument, int64[blocks].
        write: Writes them; its last arguments are where each block starts, int64[blocks + 1], and the
            output.
        blocks: The number of blocks.
        args: What both kernels take before that.
    """
    counts = target.output(blocks, np.int64)
    target.map(count, blocks, *args, counts)
    starts = target.scan(counts, np.int64)
    kept = target.output(target.item(starts, blocks), np.int64)
    target.map(write, blocks, *args, target.frozen(starts), kept)
    return kept


@dataclass(frozen=True, slots=True)
class Kept:
    """Which slots are kept: bits, and how many there are before each block of them.

    Args:
        target: Where the bits are.
        bits: uint8[], the bitmap.
        offset: The bit of slot 0.
        length: The number of slots.
        starts: int64[blocks + 1], the running sum of the bits that are set in each block.
        count: How many bits are set.
    """

    target: Any
    bits: Any
    offset: int
    length: int
    starts: Any
    count: int

    @property
    def blocks(self) -> int:
        """The number of blocks: the range of most kernels that are given `mask`."""
        return len(self.starts) - 1

    @property
    def mask(self) -> tuple[Any, int, int, int]:
        """What kernels take first: bits, offset, length and the words of a block."""
        return self.bits, self.offset, self.length, self.target.block_words

    def map(self, kernel: Kernel, *args: Any, balance: Any = None) -> None:
        """Run a kernel of `colkern.kernels.filtering` over the blocks."""
        slots = 64 * self.target.block_words
        grain = _GRAIN if balance is not None else max(_GRAIN // slots, 1)
        self.target.map(kernel, self.blocks, *self.mask, *args, grain=grain, balance=balance)

    def sums(self, kernel: Kernel, *args: Any) -> Any:
        """The running sum (int64[blocks + 1]) of a number that a kernel writes for each block."""
        sums = self.target.output(self.blocks + 1, np.int64)
        self.map(kernel, *args, sums[1:])
        self.target.accumulate(sums)
        return self.target.frozen(sums)

    def positions(self) -> Any:
        """The slots that are kept (uint64, read-only)."""
        out = self.target.output(self.count, np.uint64)
        self.map(filtering.kept_positions, self.starts, out)
        return self.target.frozen(out)


def compact(target: Any, bits: Any, offset: int, length: int) -> Kept:
    """What is kept where bits `[offset, offset + length)` of a bitmap (uint8[]) are set."""
    words = target.block_words
    blocks = -(-bitmaps.words_for(length) // words)
    starts = target.output(blocks + 1, np.int64)
    counting = (bits, offset, length, words, starts[1:])
    target.map(filtering.count_kept, blocks, *counting, grain=max(_GRAIN // (64 * words), 1))
    target.accumulate(starts)
    count = target.item(starts, blocks)
    return Kept(target, bits, offset, length, target.frozen(starts), count)


def bit_words(target: Any, length: int) -> Any:
    """Words (uint64[]) for a bitmap of that many bits, not zeroed: kernels write bitmaps as words."""
    return target.output(bitmaps.words_for(length), np.uint64)


def bitmap_of(target: Any, words: Any, length: int) -> Buffer:
    """The buffer of a bitmap that was written as words; not copied."""
    made: Buffer = target.buffer(words.view(np.uint8)[: (length + 7) // 8])
    return made
