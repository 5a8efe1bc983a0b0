"""Shared memory that a user writes columns into, so that they can be served without a copy."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from colkern.arrays import Array, RecordBatch
from colkern.dissociated.shared.segments import SEGMENTS, Segment
from colkern.errors import LimitExceededError
from colkern.memory import ALIGNMENT, EMPTY, HOST, Buffer
from colkern.targets import Items


class SharedMemory:
    """One block of anonymous shared memory; room in it is taken from its start on, and not given back.

    Batches in it are announced to clients of shared memory where they are. Every such client can read all
    of the block. The block goes when nobody has an array over it any more.

    Args:
        size: How many bytes; rounded up to whole pages.

    Raises:
        LimitExceededError: If there is not so much memory.
    """

    def __init__(self, size: int) -> None:
        if size < 1:
            raise ValueError(f"size: expected at least 1, got {size}")
        self._segment = SEGMENTS.add(Segment.anonymous(size))
        self._taken = 0

    @property
    def size(self) -> int:
        """The size in bytes."""
        return self._segment.size

    @property
    def free(self) -> int:
        """The number of bytes left."""
        return self.size - self._taken

    def allocate(self, count: int, dtype: DTypeLike) -> Items:
        """`count` zeroed items of `dtype` to be written to, aligned to 64 bytes.

        Raises:
            LimitExceededError: If there is no room for them.
        """
        dtype = np.dtype(dtype)
        size = count * dtype.itemsize
        if size > self.free:
            raise LimitExceededError(
                f"{size} bytes where shared memory of {self.size} has {self.free} left; make it larger"
            )
        start = self._taken
        self._taken = min(start + -(-size // ALIGNMENT) * ALIGNMENT, self.size)
        return self._segment.bytes(read_only=False)[start : start + size].view(dtype)

    def place(self, batch: RecordBatch) -> RecordBatch:
        """The same batch, with its bytes here; copied once. Of a slice, whole buffers are: trim it first.

        Raises:
            LimitExceededError: If there is no room for it.
            ValueError: If bytes of it are on a device.
        """
        placed: dict[int, Array] = {}
        columns = [self._placed(column, placed) for column in batch.columns]
        return RecordBatch(batch.schema, columns, batch.length, batch.metadata)

    def _placed(self, array: Array, placed: dict[int, Array]) -> Array:
        """An array here; columns go on sharing a dictionary."""
        if id(array) not in placed:
            dictionary = array.dictionary
            placed[id(array)] = Array(
                array.type,
                array.length,
                [None if buffer is None else self._copied(buffer) for buffer in array.buffers],
                [self._placed(child, placed) for child in array.children],
                None if dictionary is None else self._placed(dictionary, placed),
                array.offset,
                array.known_null_count,
            )
        return placed[id(array)]

    def _copied(self, buffer: Buffer) -> Buffer:
        if buffer.device != HOST:
            raise ValueError(f"batch: bytes of it are on {buffer.device}; copy them to_host first")
        if not buffer.size:
            return EMPTY
        room = self.allocate(buffer.size, np.uint8)
        room[:] = buffer.array
        return Buffer(room)
