"""Races between threads of the PTX machine: two touch a byte, one writes it, and no barrier orders them.

The machine runs threads one after the other, so results alone would not show it. Each thread has a clock
for every thread of its block, which barriers bring together; blocks are never in any order. Operations that
a GPU does at once (`atom`) are not looked at.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable
from typing import Any

Place = Callable[[str, int], Any]

Thread = tuple[int, int]
"""A block and a thread of it."""


class Races:
    """Who has read and written which byte of a grid's memory, and what of it is a race.

    reports: The races, in words.
    """

    def __init__(self) -> None:
        self.reports: set[str] = set()
        self._block = 0
        self._clocks: list[dict[int, int]] = []
        self._writes: dict[int, tuple[Thread, int]] = {}
        self._reads: dict[int, dict[Thread, int]] = {}

    def begin(self, block: int, threads: int) -> None:
        """A block begins."""
        self._block, self._clocks = block, [{k: 1} for k in range(threads)]

    def forget(self, memory: Any) -> None:
        """Memory of a block or a thread that has ended may be another's later."""
        start = ctypes.addressof(memory)
        for address in range(start, start + ctypes.sizeof(memory)):
            self._writes.pop(address, None)
            self._reads.pop(address, None)

    def accesses(self, thread: int, place: Place) -> tuple[Place, Place]:
        """The way a thread finds what it reads, and what it writes."""

        def read(kind: str, address: int) -> Any:
            result = place(kind, address)
            self._read(thread, range(address, address + ctypes.sizeof(result)))
            return result

        def write(kind: str, address: int) -> Any:
            result = place(kind, address)
            self._write(thread, range(address, address + ctypes.sizeof(result)))
            return result

        return read, write

    def visits(self, thread: int) -> Callable[[int], None] | None:
        """The function that a thread tells each basic block it comes to, if its kernel is followed."""
        return None

    def join(self, threads: Iterable[int]) -> None:
        """These threads have waited for each other."""
        group = list(threads)
        latest: dict[int, int] = {}
        for clocks in (self._clocks[k] for k in group):
            for thread, clock in clocks.items():
                latest[thread] = max(latest.get(thread, 0), clock)
        for k in group:
            self._clocks[k] = latest | {k: latest[k] + 1}

    def _read(self, thread: int, addresses: range) -> None:
        me, clock = (self._block, thread), self._clocks[thread][thread]
        for address in addresses:
            self._require_after(thread, self._writes.get(address), "written and read")
            self._reads.setdefault(address, {})[me] = clock

    def _write(self, thread: int, addresses: range) -> None:
        me, clock = (self._block, thread), self._clocks[thread][thread]
        for address in addresses:
            self._require_after(thread, self._writes.get(address), "written twice")
            for reading in self._reads.pop(address, {}).items():
                self._require_after(thread, reading, "read and written")
            self._writes[address] = me, clock

    def _require_after(self, thread: int, other: tuple[Thread, int] | None, what: str) -> None:
        if other is None or other[0] == (self._block, thread):
            return
        (block, number), clock = other
        if block != self._block:
            self.reports.add(f"a byte is {what} by threads of two blocks")
        elif self._clocks[thread].get(number, 0) < clock:
            self.reports.add(f"a byte is {what} by two threads of a block without a barrier")
