"""Segments that bodies are placed in, one each; used again once the client has freed all of it."""

from __future__ import annotations

import threading

from colkern.dissociated.shared.segments import Segment

_LEAST = 1 << 16


class Blocks:
    """The blocks of one connection. No other connection's client ever sees them.

    Args:
        most_free: How many bytes to keep that are not in use.
    """

    def __init__(self, most_free: int) -> None:
        self._most_free = most_free
        self._free: list[Segment] = []
        # Blocks come back wherever the garbage collector runs, also while their thread is in here.
        self._lock = threading.RLock()

    def take(self, size: int) -> Block:
        """A block of at least so many bytes, of any content."""
        with self._lock:
            fitting = [each for each in self._free if size <= each.size <= 2 * max(size, _LEAST)]
            if fitting:
                segment = min(fitting, key=lambda each: each.size)
                self._free.remove(segment)
                return Block(self, segment)
        return Block(self, Segment.anonymous(_rounded(size)))

    def give_back(self, segment: Segment) -> None:
        """A block that nobody uses any more."""
        with self._lock:
            self._free.append(segment)

    def dropped(self) -> list[Segment]:
        """What is free over the limit, the longest unused first; it is not used again."""
        with self._lock:
            dropped = []
            while sum(segment.size for segment in self._free) > self._most_free:
                dropped.append(self._free.pop(0))
            return dropped


class Block:
    """A segment in use; it is free again when this is gone."""

    __slots__ = ("_blocks", "segment")

    def __init__(self, blocks: Blocks, segment: Segment) -> None:
        self._blocks = blocks
        self.segment = segment

    def __del__(self) -> None:
        self._blocks.give_back(self.segment)


def _rounded(size: int) -> int:
    """The size with all but its three highest bits rounded up: blocks of few sizes fit again."""
    size = max(size, _LEAST)
    step = (1 << size.bit_length()) >> 3
    return -(-size // step) * step
