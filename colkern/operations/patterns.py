"""Patterns that need several launches, built from the targets' map and scan.

*Two-pass*: measure the lengths of the values, scan them to offsets, write each value at its own.
*Compact*: count the kept items of each block, scan the counts, write the items of each block.
"""

from __future__ import annotations

import numpy as np

from colkern.errors import LimitExceededError
from colkern.kernels import Kernel
from colkern.targets import Argument, Items, ItemType, Target


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


def require_room(total: int, dtype: ItemType) -> None:
    """Raise `LimitExceededError` if a total does not fit offsets of a dtype."""
    offsets = np.dtype(dtype)
    if total.bit_length() >= 8 * offsets.itemsize:
        raise LimitExceededError(
            f"{total} bytes or elements do not fit offsets of {offsets}; "
            f"use the large form of the type"
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
