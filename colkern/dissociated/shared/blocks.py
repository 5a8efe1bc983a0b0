"""Where bodies are placed: one after the other in large segments, each used again once it is all free.

Segments are large as each takes descriptors of both processes, of which there are few.
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
    """The blocks of one connection, whose client alone sees them; some free segments are kept."""

    def __init__(self, make: Callable[[int], AnySegment]) -> None:
        self._make = make
        self._free: list[AnySegment] = []
        self._current: _Filling[AnySegment] | None = None
        # Blocks end wherever the garbage collector runs, also while their thread is in here.
        self._lock = threading.RLock()

    def take(self, size: int) -> Block[AnySegment]:
        """A block of so many bytes, of any content; its start is a multiple of 64 if all sizes are."""
        with self._lock:
            current = self._current
            if current is None or current.left < size:
                # The one before is free once the blocks in it are gone.
                self._current = None
                current = self._current = _Filling(self, self._segment_for(size))
            return current.take(size)

    def give_back(self, segment: AnySegment) -> None:
        """No block of a segment is used any more."""
        with self._lock:
            self._free.append(segment)

    def drop(self) -> None:
        """Drop free segments over the limit, the longest unused first."""
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
    """A segment that blocks are taken from; it is free again when they are gone, and this is."""

    __slots__ = ("_blocks", "_taken", "segment")

    def __init__(self, blocks: Blocks[AnySegment], segment: AnySegment) -> None:
        # No cycle: when the client has gone, its memory goes at once, and not when garbage is collected.
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
