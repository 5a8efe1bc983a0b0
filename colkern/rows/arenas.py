"""The memory of compiled row functions: arenas, sinks, the list of rows left to Python, and constants."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colkern.kernels.row_results import HEADER, RESULTS
from colkern.kernels.row_values import LAST_IS_TEXT
from colkern.memory import allocate_for_overwrite
from colkern.rows.program import Program

ARENA = 1 << 16
"""The initial size of a thread's arena in bytes."""

LEFT_AT_ONCE = 1 << 10
"""The number of rows that a loop may leave to Python before it returns to report them."""

MOST_ARENA = 1 << 30
"""The largest number of bytes that a row may take; beyond, it is left to Python."""

NO_PAIRS = np.empty((0, 2), np.int64)
"""An empty list of rows left to Python."""


class Room:
    """Memory that compiled code fills, as an arena or a sink: a header, then the bytes.

    Args:
        size: The initial number of bytes.
    """

    def __init__(self, size: int) -> None:
        self._make(HEADER + size)

    def _make(self, size: int) -> None:
        self._bytes = allocate_for_overwrite(size + -size % 8, np.uint8)
        # Python's view: reading or writing a word takes a third of the time of NumPy's.
        header: Any = self._bytes[:HEADER]
        self._words = memoryview(header).cast("q")
        self.address = int(self._bytes.ctypes.data)
        self._words[1] = self.address + len(self._bytes)
        self.begin()

    def begin(self) -> Room:
        """Empties the room and returns it."""
        self._words[0] = self.address + HEADER
        return self

    def make_results_in(self, sink: Room) -> None:
        """Make bodies write their results to a sink."""
        self._words[RESULTS // 8] = sink.address

    def used(self) -> NDArray[np.uint8]:
        """Returns the bytes that were appended."""
        return self._bytes[HEADER : (self._words[0] & ~LAST_IS_TEXT) - self.address]

    def reserve(self, count: int) -> NDArray[np.int64] | None:
        """Appends words, and returns them; None if there is no room."""
        start = HEADER + len(self.used()) + 7 & -8
        words = self._bytes[start : start + 8 * count].view(np.int64)
        if len(words) < count:
            return None
        self._words[0] = self.address + start + 8 * count
        return words

    def taken(self) -> NDArray[np.int64]:
        """Returns the pairs of words that were appended, and empties the room."""
        if self._words[0] == self.address + HEADER:
            return NO_PAIRS
        words: NDArray[np.int64] = self.used().view(np.int64).reshape(-1, 2).copy()
        self.begin()
        return words

    def grow(self) -> bool:
        """Doubles the size; returns False if the free space is already enough for any row."""
        used = self.used()
        if len(self._bytes) - len(used) >= MOST_ARENA:
            return False
        self._make(2 * len(self._bytes))
        self._bytes[HEADER : HEADER + len(used)] = used
        self._words[0] += len(used)
        return True


class _Rooms:
    """The memory of a thread.

    Attributes:
        arena: Holds a row's values.
        left: Holds the rows that are left to Python, see `leave`.
    """

    def __init__(self) -> None:
        self.arena = Room(ARENA)
        self.left = Room(16 * LEFT_AT_ONCE)


_THREAD = threading.local()


def rooms_of_thread() -> _Rooms:
    """Returns the memory of this thread."""
    rooms: _Rooms | None = getattr(_THREAD, "rooms", None)
    if rooms is None:
        rooms = _THREAD.rooms = _Rooms()
    return rooms


def placed_pool(program: Program) -> NDArray[np.int64]:
    """Returns the constants, at an address that is a multiple of 8."""
    words = np.zeros(pool_words(program), np.int64)
    write_pool(program, words, words.ctypes.data)
    return words


def pool_words(program: Program) -> int:
    """Returns the number of words that the constants take."""
    return len(program.pool) // 8 + 2


def write_pool(program: Program, words: NDArray[np.int64], address: int) -> None:
    """Write the constants into `words`, for memory that starts at an address."""
    data = words.view(np.uint8)
    data[: len(program.pool)] = np.frombuffer(bytes(program.pool), np.uint8)
    for place, block in program.blocks.items():
        texts = np.frombuffer(block.at(address + place), np.uint8)
        data[place : place + len(texts)] = texts
