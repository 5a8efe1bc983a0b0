"""A body whose buffers are in several places, as the readers of IPC take it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from colkern.errors import InvalidArrowError
from colkern.memory import EMPTY, HOST, Buffer


class ScatteredBody:
    """Access to buffers by where they would stand in the packed body; `read` copies none."""

    def __init__(self, offsets: Sequence[int], buffers: Sequence[Buffer], size: int) -> None:
        self._offsets = offsets
        self._buffers = buffers
        self.size = size
        self.device = buffers[0].device if buffers else HOST

    def read(self, offset: int, length: int) -> Buffer:
        """A slice of a buffer, on whatever device it is."""
        if not length:
            return EMPTY
        number = bisect_right(self._offsets, offset) - 1
        begin = offset - self._offsets[number] if number >= 0 else -1
        if begin < 0 or begin + length > self._buffers[number].size:
            raise InvalidArrowError(
                f"{length} bytes at {offset}: they are in no buffer of the body"
            )
        buffer = self._buffers[number]
        return buffer if length == buffer.size else buffer[begin : begin + length]

    def read_into(self, offset: int, view: NDArray[np.uint8]) -> None:
        """Copy a range of host memory; between buffers stands padding, of zeros."""
        view[:] = 0
        end = offset + view.size
        number = max(bisect_right(self._offsets, offset) - 1, 0)
        while number < len(self._buffers) and self._offsets[number] < end:
            begin, buffer = self._offsets[number], self._buffers[number]
            low, high = max(begin, offset), min(begin + buffer.size, end)
            if low < high:
                view[low - offset : high - offset] = buffer.array[low - begin : high - begin]
            number += 1
