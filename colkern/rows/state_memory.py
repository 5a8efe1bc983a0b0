"""The memory of the texts and containers in a reducer's states, which outlive the rows that make them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from colkern.rows.arenas import ARENA, MOST_ARENA, Room
from colkern.rows.constants import Block

GROWTH = 16
"""The size of a new room, in sizes of all that was used before, up to `MOST_ARENA`. A container that is
full, and moves to where it has twice as much room, finds that in a half of it."""

MOST = 1 << 28
"""The number of bytes after which states are copied, to free what none of them holds any more."""


class StateMemory:
    """Rooms for what the states of a range of rows hold.

    A row begins where the row before it stopped, and nothing moves: if a room is full, rows go on in a
    larger one.

    Attributes:
        most: The number of bytes after which states are copied.
    """

    def __init__(self) -> None:
        self.most = MOST
        self._rooms = [Room(ARENA)]
        self._size = ARENA

    @property
    def address(self) -> int:
        """The address of the room that rows use now."""
        return self._rooms[-1].address

    @property
    def size(self) -> int:
        """The number of bytes that are used."""
        return sum(len(room.used()) for room in self._rooms)

    def grow(self) -> bool:
        """Go on in a larger room; returns False if the room is already large enough for any row."""
        if self._size >= MOST_ARENA:
            return False
        self._size = min(max(GROWTH * self.size, 2 * self._size), MOST_ARENA)
        self._rooms.append(Room(self._size))
        return True

    def placed(self, block: Block, count: int = 1) -> NDArray[np.int64]:
        """Copies a constant to this memory, and returns its words there: [count, words]."""
        once = np.frombuffer(block.words, np.int64)
        words = self._rooms[-1].reserve(count * len(once))
        if words is None:
            self._size = max(self._size, 16 * count * len(once))
            self._rooms.append(Room(self._size))
            return self.placed(block, count)
        copies = words.reshape(count, len(once))
        copies[:] = once
        addresses = words.ctypes.data + 8 * len(once) * np.arange(count)
        copies[:, list(block.relative)] += addresses[:, None]
        return copies

    def take_over(self, other: StateMemory) -> None:
        """Use the memory of another, and free the own."""
        self._rooms, self._size = other._rooms, other._size
        self.most = max(MOST, 2 * self.size)
