"""Blocks of host memory that are used again once no array refers to them any more.

The operating system takes longer to provide the pages of a fresh block of many megabytes than most
kernels take to fill them. Finding its aligned start takes longer than a kernel over a thousand values.
`COLKERN_POOL_BYTES` limits the memory kept (by default an eighth of the machine's; 0 keeps nothing).
"""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable
from ctypes import addressof, c_char
from functools import lru_cache
from sys import getrefcount
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from colkern.errors import LimitExceededError

if TYPE_CHECKING:
    from colkern.memory import DType, Items

ALIGNMENT = 64
"""The alignment of a block, in bytes."""

_DEFAULT_SHARE = 8
"""The pool keeps 1 / `_DEFAULT_SHARE` of the machine's memory, unless the user sets a limit."""

_TRIES = range(5)
"""The number of blocks looked at for a free one. Those in use move to the other end of the deque."""

_MOST_ZEROED = 1 << 20
"""The most bytes of a `bytearray` block: NumPy makes an array over one in two thirds of the time."""

Memory: TypeAlias = bytearray | NDArray[np.uint8]

_Block: TypeAlias = tuple[NDArray[Any], Memory, int, memoryview]
"""The last array over memory, the memory, where its first aligned byte is, and its bytes.

Making an array takes longer than asking whether that one will do, and writing few bytes through it longer
than through a view of Python's.
"""


def _references_of_unused() -> tuple[int, int]:
    memory = bytearray(1)
    block: _Block = np.ndarray(1, np.uint8, memory), memory, 0, memoryview(memory)
    del memory
    return getrefcount(block[0]), getrefcount(block[1])


_OF_ARRAY, _OF_MEMORY = _references_of_unused()
"""References to the array and to the memory of a free block.

Views refer to the array; where its memory is NumPy's, to the memory. Counted here, as other versions of
Python may count another one for who asks.
"""

_PADDING = [bytes(count) for count in range(ALIGNMENT)]


class Pool:
    """Blocks by size, up to `most` bytes in all, the last used one at the end; blocks in use stay listed.

    No lock: each step is one operation of a deque, which is atomic, and the thread that has taken a block
    out is the only one that looks at it.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._held = 0
        self._blocks: dict[int, deque[_Block]] = {}

    def array(self, count: int, dtype: DType, size: int) -> Items:
        """An array of `size` bytes, not zeroed; zeros follow up to a multiple of 64 bytes.

        Its block is free again when the array and its views are gone. It may be the same array object
        as at the last use, so flags and the like may be changed on views only.
        """
        memory: Any
        most = rounded_size(size)
        blocks: Any = self._blocks.get(most)
        other = None
        for _ in _TRIES if blocks else ():
            # Asked for first, as an exception takes longer than the rest.
            if not blocks:
                break
            try:
                block = blocks.pop()
            except IndexError:
                break  # Another thread was faster.
            if getrefcount(block[0]) != _OF_ARRAY or getrefcount(block[1]) != _OF_MEMORY:
                blocks.appendleft(block)
                continue
            array: Items = block[0]
            if array.dtype is dtype and array.shape == (count,):
                if other is not None:
                    blocks.append(other)
                # In use from here on, also for other threads: `array` refers to it. Its padding is still
                # zero: nobody writes behind the items.
                blocks.append(block)
                return array
            # An operation takes several blocks of like size: the next one may be the right one.
            if other is not None:
                blocks.appendleft(block)
            else:
                other = block
        if other is not None:
            memory, start, bytes_ = other[1:]
            array = np.ndarray(count, dtype, memory, start)
            blocks.append((array, memory, start, bytes_))
        else:
            memory, start = with_room(bytearray if most <= _MOST_ZEROED else np.empty, most)
            array, bytes_ = np.ndarray(count, dtype, memory, start), memoryview(memory)
            self._keep(most, (array, memory, start, bytes_))
        if padding := -size % ALIGNMENT:
            bytes_[start + size : start + size + padding] = _PADDING[padding]
        return array

    def _keep(self, size: int, block: _Block) -> None:
        """Add a block of that size to the pool, if there is room for it."""
        if size <= self.most < self._held + size:
            self._forget()
        if self._held + size <= self.most:
            self._held += size
            self._blocks.setdefault(size, deque()).append(block)

    def _forget(self) -> None:
        """Drop that half of the blocks of each size which was used longest ago."""
        for blocks in tuple(self._blocks.values()):
            for _ in range(len(blocks) + 1 >> 1):
                try:
                    blocks.popleft()
                except IndexError:
                    break  # Another thread was faster.
        self._held = sum([size * len(blocks) for size, blocks in tuple(self._blocks.items())])

    def kept(self) -> int:
        """The number of free bytes in the pool."""
        blocks = [(size, tuple(own)) for size, own in tuple(self._blocks.items())]
        every = [(size, block) for size, own in blocks for block in own]
        unused = _OF_ARRAY, _OF_MEMORY
        return sum([size for size, b in every if (getrefcount(b[0]), getrefcount(b[1])) == unused])


def with_room(make: Callable[..., Memory], size: int) -> tuple[Memory, int]:
    """Memory for `size` bytes, padded to 64, and the offset in it at which they are aligned.

    Raises:
        LimitExceededError: If the machine does not give that much.
    """
    room = size + -size % ALIGNMENT + ALIGNMENT
    try:
        memory: Any = make(room) if make is bytearray else make(room, np.uint8)
    except (MemoryError, OverflowError, ValueError):  # NumPy's for sizes over 63 bits.
        raise LimitExceededError(f"no memory for {size} bytes") from None
    # A sixth of the time of `memory.ctypes.data`.
    return memory, -addressof(c_char.from_buffer(memory)) % ALIGNMENT


@lru_cache(1 << 12)
def rounded_size(size: int) -> int:
    """The size rounded up to its three highest bits: with few different sizes, blocks fit again."""
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
