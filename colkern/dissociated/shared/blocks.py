"""Places bodies one after the other in large segments; a segment is reused when all of it is free.

Segments are large, since each takes a descriptor in both processes, and descriptors are few.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from colkern.pool import rounded_size

_SEGMENT_BYTES = 1 << 26
_MOST_FREE = 1 << 28
"""The bytes of free segments that are kept."""


class _Sized(Protocol):
    @property
    def size(self) -> int: ...


AnySegment = TypeVar("AnySegment", bound=_Sized)


class Blocks(Generic[AnySegment]):
    """The blocks of one connection, which only its client sees; some free segments are kept."""

    def __init__(self, make: Callable[[int], AnySegment]) -> None:
        self._make = make
        self._free: list[AnySegment] = []
        self._current: _Filling[AnySegment] | None = None
        # Blocks end in the garbage collector, also while their thread holds the lock.
        self._lock = threading.RLock()

    def take(self, size: int) -> Block[AnySegment]:
        """A block of `size` bytes, not zeroed; it starts at a multiple of 64 if all sizes are multiples."""
        with self._lock:
            current = self._current
            if current is None or current.left < size:
                # The previous segment is free once its blocks are gone.
                self._current = None
                current = self._current = _Filling(self, self._segment_for(size))
            return current.take(size)

    def give_back(self, segment: AnySegment) -> None:
        """Note that no block of a segment is in use any more."""
        with self._lock:
            self._free.append(segment)

    def drop(self) -> None:
        """Drop free segments over the limit, the longest unused ones first."""
        with self._lock:
            while sum(segment.size for segment in self._free) > _MOST_FREE:
                del self._free[0]

    def _segment_for(self, size: int) -> AnySegment:
        least = max(rounded_size(size), _SEGMENT_BYTES)
        fitting = [segment for segment in self._free if size <= segment.size <= 2 * least]
        if not fitting:
            return self._make(least)
        segment = min(fitting, key=lambda each: each.size)
        self._free.remove(segment)
        return segment


class _Filling(Generic[AnySegment]):
    """A segment that blocks are taken from; it is free when its blocks and this object are gone."""

    __slots__ = ("_blocks", "_taken", "segment")

    def __init__(self, blocks: Blocks[AnySegment], segment: AnySegment) -> None:
        # Without a reference cycle, the memory of a client that has gone is freed at once.
        self._blocks = weakref.ref(blocks)
        self._taken = 0
        self.segment = segment

    def __del__(self) -> None:
        blocks = self._blocks()
        if blocks is not None:
            blocks.give_back(self.segment)

    @property
    def left(self) -> int:
        return self.segment.size - self._taken

    def take(self, size: int) -> Block[AnySegment]:
        start, self._taken = self._taken, self._taken + size
        return Block(self, start)


class Block(Generic[AnySegment]):
    """A part of a segment."""

    __slots__ = ("_filling", "start")

    def __init__(self, filling: _Filling[AnySegment], start: int) -> None:
        self._filling = filling
        self.start = start

    @property
    def segment(self) -> AnySegment:
        """The segment that it is in."""
        return self._filling.segment
