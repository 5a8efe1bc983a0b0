"""Large blocks of host memory that are used again once the last array over them is gone.

A fresh block of many megabytes costs the operating system more, page by page, than most kernels need
to fill it. What is kept is bounded by `COLKERN_POOL_BYTES` (an eighth of the memory; 0 keeps nothing).
"""

from __future__ import annotations

import os
from collections import deque

import numpy as np
from numpy.typing import NDArray

LEAST = 1 << 17
"""Smaller blocks are left to the C library, which reuses them itself. From here on glibc asks the system
for each, whose pages must be zeroed anew."""

_DEFAULT_SHARE = 8
"""One of so many parts of the machine's memory is kept, if the user does not say how much."""


class _Block:
    """A block of memory, equal to itself alone."""

    __slots__ = ("memory",)

    def __init__(self, size: int) -> None:
        self.memory: NDArray[np.uint8] = np.empty(size, np.uint8)


class _Lease:
    """A block in use, in the shape `np.asarray` takes without a copy."""

    __slots__ = ("__array_interface__", "_block", "_pool")

    def __init__(self, pool: Pool, block: _Block) -> None:
        self._pool = pool
        self._block = block
        self.__array_interface__ = block.memory.__array_interface__

    def __del__(self) -> None:
        self._pool.give_back(self._block)


class Pool:
    """Blocks that are free, the longest unused first.

    No lock: arrays die wherever the garbage collector runs, also while their thread is in here. Each
    step is one operation of a deque, which is atomic.

    Args:
        most: How many bytes to keep.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._free: deque[_Block] = deque()

    def lease(self, size: int) -> NDArray[np.uint8]:
        """At least `size` bytes of any content; the block returns when the last view of it is gone."""
        return np.asarray(_Lease(self, self._fitting(size) or _Block(size)))

    def give_back(self, block: _Block) -> None:
        """Keep a block for the next one who asks, and drop the longest unused over the limit."""
        self._free.append(block)
        while sum(kept.memory.size for kept in tuple(self._free)) > self.most:
            try:
                self._free.popleft()
            except IndexError:
                return

    def _fitting(self, size: int) -> _Block | None:
        for block in reversed(tuple(self._free)):
            # A much larger block would be kept from who needs it.
            if size <= block.memory.size <= size + size // 4:
                try:
                    self._free.remove(block)
                except ValueError:
                    continue  # Another thread was faster.
                return block
        return None


def _most() -> int:
    chosen = os.environ.get("COLKERN_POOL_BYTES", "")
    if chosen and not chosen.isdigit():
        raise ValueError(f"COLKERN_POOL_BYTES: expected a number of bytes, got {chosen!r}")
    if chosen:
        return int(chosen)
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // _DEFAULT_SHARE


POOL = Pool(_most())
