"""Large blocks of host memory that are used again once the last array over them is gone.

A fresh block of many megabytes costs the operating system more, page by page, than most kernels need
to fill it. What is kept is bounded by `COLKERN_POOL_BYTES` (an eighth of the memory; 0 keeps nothing).
"""

from __future__ import annotations

import ctypes
import itertools
import os
from collections import deque
from functools import cache

import numpy as np

LEAST = 1 << 16
"""Smaller blocks are left to the C library, which is as quick. Of larger ones the library gives the pages
back as soon as several are freed at once: a block of 80,000 bytes, an int64 column of 10,000 rows, is then
filled in 39 µs, and in 6.6 µs out of the pool."""

ALIGNMENT = 64
"""The alignment of a block, in bytes."""

_DEFAULT_SHARE = 8
"""One of so many parts of the machine's memory is kept, if the user does not say how much."""


class _Block:
    """A block of memory, and when it was last used."""

    __slots__ = ("_memory", "address", "age", "leased", "size")

    def __init__(self, size: int) -> None:
        self._memory = np.empty(size + ALIGNMENT, np.uint8)
        address = self._memory.ctypes.data
        self.address: int = address + -address % ALIGNMENT
        self.size = size
        self.age = 0
        self.leased = _lease_of(size).from_address


class Lease(ctypes.Array):  # type: ignore[type-arg]
    """A block in use, as bytes that NumPy takes without a copy: half of the time of an array interface."""

    _type_ = ctypes.c_uint8
    _length_ = 0
    _block: _Block
    _pool: Pool

    def __del__(self) -> None:
        self._pool.give_back(self._block)


@cache
def _lease_of(size: int) -> type[Lease]:
    """The class of leases of so many bytes."""
    return type("Lease", (Lease,), {"_length_": size})


class Pool:
    """Blocks that are free, up to `most` bytes, by size, the longest unused first.

    No lock: arrays die wherever the garbage collector runs, also while their thread is in here. Each
    step is one operation of a deque, which is atomic.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        # So many bytes may return until those that are free are summed again.
        self._room = 0
        self._free: dict[int, deque[_Block]] = {}
        self._ages = itertools.count()

    def lease(self, size: int) -> Lease:
        """At least `size` bytes of any content; the block returns when the last array over it is gone."""
        rounded = rounded_size(size)
        try:
            block = self._free[rounded].pop()
        except (KeyError, IndexError):
            block = _Block(rounded)
        lease = block.leased(block.address)
        lease._pool, lease._block = self, block
        return lease

    def give_back(self, block: _Block) -> None:
        """Keep a block for the next one who asks, and drop the longest unused over the limit."""
        block.age = next(self._ages)
        blocks = self._free.get(block.size)
        if blocks is None:
            blocks = self._free.setdefault(block.size, deque())
        blocks.append(block)
        self._room -= block.size
        if self._room < 0:
            while (kept := self.kept()) > self.most:
                self._drop_oldest()
            self._room = self.most - kept

    def kept(self) -> int:
        """The number of free bytes."""
        return sum([size * len(blocks) for size, blocks in tuple(self._free.items())])

    def _drop_oldest(self) -> None:
        oldest: deque[_Block] = deque()
        least = None
        for blocks in tuple(self._free.values()):
            try:
                age = blocks[0].age
            except IndexError:
                continue
            if least is None or age < least:
                oldest, least = blocks, age
        try:
            oldest.popleft()
        except IndexError:
            return  # Another thread was faster.


def rounded_size(size: int) -> int:
    """The size with all but its three highest bits rounded up: memory of few sizes fits again."""
    step = (1 << size.bit_length()) >> 3 or 1
    return -(-size // step) * step


def _most() -> int:
    chosen = os.environ.get("COLKERN_POOL_BYTES", "")
    if chosen and not chosen.isdigit():
        raise ValueError(f"COLKERN_POOL_BYTES: expected a number of bytes, got {chosen!r}")
    if chosen:
        return int(chosen)
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // _DEFAULT_SHARE


POOL = Pool(_most())
