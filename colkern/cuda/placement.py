"""Where buffers stand in one block of device memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from colkern.memory import ALIGNMENT


class Placement(NamedTuple):
    """Places in a block.

    Args:
        starts: Where each buffer begins, a multiple of 64.
        size: The bytes of the block, a multiple of 64.
    """

    starts: list[int]
    size: int


def padded(size: int) -> int:
    """The next multiple of 64."""
    return size + -size % ALIGNMENT


def placed(sizes: Sequence[int]) -> Placement:
    """Places for buffers of those sizes, one after the other."""
    starts, end = [], 0
    for size in sizes:
        starts.append(end)
        end += padded(size)
    return Placement(starts, end)
