"""Blocks of host memory that are used again once no array refers to them any more.

A fresh block of many megabytes costs the operating system more, page by page, than most kernels need
to fill it, and finding where it is aligned takes longer than a kernel of some thousand values. What is
kept is bounded by `COLKERN_POOL_BYTES` (an eighth of the memory; 0 keeps nothing).
"""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable
from ctypes import addressof, c_char
from functools import lru_cache
from sys import getrefcount
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

ALIGNMENT = 64
"""The alignment of a block, in bytes."""

_DEFAULT_SHARE = 8
"""One of so many parts of the machine's memory is kept, if the user does not say how much."""

_TRIES = range(8)
"""So many blocks are looked at for one that is free. Those in use go to the other end, out of the way."""

_BYTE = np.dtype(np.uint8)

_Block: TypeAlias = tuple[NDArray[np.uint8], int, memoryview]
"""Memory, where its first aligned byte is, and its bytes: writing few through an array takes longer."""


def _references_of_unused() -> int:
    memory = np.empty(1, np.uint8)
    block: _Block = memory, 0, memory.data
    del memory
    return getrefcount(block[0])


_UNUSED = _references_of_unused()
"""References to the memory of a free block: those of its tuple and its bytes, and that of who counts.

Arrays over the memory refer to it, and so do their views: of views of views, NumPy keeps the owner alone.
Counted here, as other versions of Python may count another one for who asks.
"""

_PADDING = [bytes(count) for count in range(ALIGNMENT)]


class Pool:
    """Blocks by size, up to `most` bytes, the last used one at the end; those in use are among them.

    No lock: each step is one operation of a deque, which is atomic, and the thread that has taken a block
    out is the only one that looks at it.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._held = 0
        self._blocks: dict[int, deque[_Block]] = {}

    def lease(self, size: int) -> tuple[NDArray[np.uint8], int]:
        """Memory of any content, and where `size` bytes begin in it; zeros follow up to a multiple of 64.

        The block is free again when the last array over the memory is gone.
        """
        blocks = self._blocks.get(rounded_size(size))
        for _ in _TRIES if blocks else ():
            try:
                block = blocks.pop()  # type: ignore[union-attr]
            except IndexError:
                continue  # Another thread was faster.
            if getrefcount(block[0]) == _UNUSED:
                # From here on it is in use, also for other threads.
                memory, start, bytes_ = block
                blocks.append(block)  # type: ignore[union-attr]
                break
            blocks.appendleft(block)  # type: ignore[union-attr]
        else:
            memory, start, bytes_ = self._fresh(rounded_size(size))
        if padding := -size % ALIGNMENT:
            bytes_[start + size : start + size + padding] = _PADDING[padding]
        return memory, start

    def _fresh(self, size: int) -> _Block:
        memory: Any
        memory, start = with_room(np.empty, size)
        block = memory, start, memory.data
        if size <= self.most < self._held + size:
            self._forget()
        if self._held + size <= self.most:
            self._held += size
            self._blocks.setdefault(size, deque()).append(block)
        return block

    def _forget(self) -> None:
        """Forget that half of the blocks of each size which was used longest ago."""
        for blocks in tuple(self._blocks.values()):
            for _ in range(len(blocks) + 1 >> 1):
                try:
                    blocks.popleft()
                except IndexError:
                    break  # Another thread was faster.
        self._held = sum([size * len(blocks) for size, blocks in tuple(self._blocks.items())])

    def kept(self) -> int:
        """The number of free bytes."""
        blocks = [(size, tuple(blocks)) for size, blocks in tuple(self._blocks.items())]
        return sum([size for size, own in blocks for b in own if getrefcount(b[0]) == _UNUSED])


def with_room(make: Callable[..., NDArray[np.uint8]], size: int) -> tuple[NDArray[np.uint8], int]:
    """Memory with room up to the end of the last 64 of its bytes, and where the first of them begin."""
    memory: Any = make(size + -size % ALIGNMENT + ALIGNMENT, _BYTE)
    # A sixth of the time of `memory.ctypes.data`.
    return memory, -addressof(c_char.from_buffer(memory)) % ALIGNMENT


@lru_cache(1 << 12)
def rounded_size(size: int) -> int:
    """The size with all but its three highest bits rounded up: memory of few sizes fits again."""
    step = (1 << size.bit_length()) >> 3 or 1
    return -(-size // step) * step


def _most() -> int:
    chosen = os.environ.get("COLKERN_POOL_BYTES", "")
    if chosen and not chosen.isdigit():
        raise ValueError(f"COLKERN_POOL_BYTES: expected a number of bytes, got {chosen!r}")
    # Without the GIL, references are counted in two places.
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        return 0
    if chosen:
        return int(chosen)
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // _DEFAULT_SHARE


POOL = Pool(_most())
