"""Addresses of a connection: offsets in a space in which each piece of shared memory has its place."""

from __future__ import annotations

import mmap
from bisect import bisect_right, insort
from typing import Generic, NamedTuple, TypeVar

from colkern.dissociated.body_locations import Location
from colkern.errors import InvalidArrowError, LimitExceededError

Memory = TypeVar("Memory")

_MOST_PIECES = 1 << 14


class Places:
    """Gives pieces of memory their places in the space of a server; none is given again."""

    def __init__(self) -> None:
        # No buffer with bytes is at 0, which stands for those without.
        self._next = mmap.PAGESIZE

    def take(self, size: int) -> int:
        """The base of a piece of so many bytes."""
        base = self._next
        self._next += size + mmap.PAGESIZE
        return base


class _Piece(NamedTuple, Generic[Memory]):
    size: int
    memory: Memory


class Space(Generic[Memory]):
    """The pieces of memory that a server has announced, as its client knows them."""

    def __init__(self) -> None:
        self._bases: list[int] = []
        self._pieces: dict[int, _Piece[Memory]] = {}

    def check_free(self, base: int, size: int) -> None:
        """Raise unless a piece may be at a place."""
        if len(self._bases) >= _MOST_PIECES:
            raise LimitExceededError(f"more than {_MOST_PIECES} segments of one server")
        number = bisect_right(self._bases, base)
        before, behind = self._bases[max(number - 1, 0) : number], self._bases[number : number + 1]
        overlaps = any(each + self._pieces[each].size > base for each in before)
        if overlaps or any(base + size > each for each in behind):
            raise InvalidArrowError(f"segment of {size} bytes at {base:#x} overlaps another one")

    def add(self, base: int, size: int, memory: Memory) -> None:
        """There is memory at a place, which is free."""
        self._pieces[base] = _Piece(size, memory)
        insort(self._bases, base)

    def forget(self, base: int) -> None:
        """The server does not use a piece any more; raises `InvalidArrowError` if there is none."""
        if self._pieces.pop(base, None) is None:
            raise InvalidArrowError(f"no segment at {base:#x} has been announced")
        self._bases.remove(base)

    def find(self, location: Location) -> tuple[Memory, int]:
        """The memory that all of a location is in, and where in it; raises `InvalidArrowError`."""
        address, length = location
        number = bisect_right(self._bases, address) - 1
        if number >= 0:
            base = self._bases[number]
            piece = self._pieces[base]
            if address + length <= base + piece.size:
                return piece.memory, address - base
        raise InvalidArrowError(
            f"{length} bytes at offset {address:#x} are in no segment that has been announced"
        )
