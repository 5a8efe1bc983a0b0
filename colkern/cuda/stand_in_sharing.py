"""Memory of a stand-in that other processes map, as they open memory of a device by CUDA IPC.

Each block is an anonymous file. What is closed is unmapped: whoever goes on reading it ends as a kernel
does that reads unmapped memory.
"""

from __future__ import annotations

import itertools
import mmap
import os
import struct
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colkern.cuda.device_library import Allocation

_HANDLE = struct.Struct("<QQQ40x")
"""Process, descriptor, size."""


class StandInSharing:
    """The blocks that other processes can open; `opened` and `finished` count."""

    def __init__(self, allocate: Callable[[int, int], NDArray[np.uint8]]) -> None:
        self.opened: dict[int, int] = {}
        self.finished = 0
        self._allocate = allocate
        self._identities = itertools.count(1)
        self._blocks: dict[int, tuple[Allocation, int]] = {}
        self._mapped: dict[bytes, mmap.mmap] = {}

    def block(self, size: int) -> NDArray[np.uint8]:
        """Memory that others can open."""
        if not size:
            return np.empty(0, np.uint8)
        descriptor = os.memfd_create("colkern-stand-in", os.MFD_CLOEXEC)
        os.ftruncate(descriptor, size)
        block = np.frombuffer(mmap.mmap(descriptor, size), np.uint8)
        address = int(block.ctypes.data)
        self._blocks[address] = Allocation(address, size, next(self._identities)), descriptor
        weakref.finalize(block, self._freed, address)
        return block

    def uuid(self, ordinal: int) -> bytes:
        """The identity of the device of that number of every stand-in."""
        return b"colkern-stand-%02d" % ordinal

    def allocation_at(self, address: int, ordinal: int) -> Allocation | None:
        """The block that an address is in; None if it is in none that others can open."""
        # Copied: other threads allocate.
        for allocation, _ in list(self._blocks.values()):
            if allocation.address <= address < allocation.address + allocation.size:
                return allocation
        return None

    def allocate(self, size: int, ordinal: int) -> Any:
        """A block of the stand-in's memory."""
        return self._allocate(size, ordinal)

    def handle(self, allocation: Allocation, ordinal: int) -> bytes:
        """Who has the block, and under which descriptor."""
        _, descriptor = self._blocks[allocation.address]
        return _HANDLE.pack(os.getpid(), descriptor, allocation.size)

    def open(self, handle: bytes, ordinal: int) -> Allocation:
        """A block of another process, mapped here; a second time, at the same address."""
        process, descriptor, size = _HANDLE.unpack(handle)
        if process == os.getpid():
            raise OSError("the memory is this process's own")
        if handle not in self._mapped:
            opened = os.open(f"/proc/{process}/fd/{descriptor}", os.O_RDWR | os.O_CLOEXEC)
            try:
                self._mapped[handle] = mmap.mmap(opened, size)
            finally:
                os.close(opened)
        address = int(np.frombuffer(self._mapped[handle], np.uint8).ctypes.data)
        self.opened[address] = self.opened.get(address, 0) + 1
        return Allocation(address, size, 0)

    def close(self, address: int, ordinal: int) -> None:
        """Close a block; the last time, it is unmapped."""
        self.opened[address] -= 1
        if self.opened[address]:
            return
        del self.opened[address]
        for handle, mapped in list(self._mapped.items()):
            if int(np.frombuffer(mapped, np.uint8).ctypes.data) == address:
                del self._mapped[handle]

    def finish_device(self, ordinal: int) -> None:
        """Nothing to wait for: work is done when its call returns; the call is counted."""
        self.finished += 1

    def _freed(self, address: int) -> None:
        _, descriptor = self._blocks.pop(address)
        os.close(descriptor)
