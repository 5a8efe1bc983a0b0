"""Stand-ins for devices, over host memory, for code that uses device memory without a GPU.

Within `installed`, `Device("cuda")` is such a device, and kernels run on the CPU over its memory. In
the simulator it is always installed, and kernels run in the simulator; kernels of users' functions run
only there. All other code is the same as for CuPy, and many errors on a GPU show here, too: fresh
memory is not zero, and copies are made as late as a stream allows, so that memory used before its copy
has ended is noticed. With several devices, each refuses the memory of the others.

It is for tests: copies are counted, memory can be limited, and nothing is faster.
"""

from __future__ import annotations

import itertools
import mmap
import os
import struct
import threading
import weakref
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from colkern.cuda import device_library
from colkern.memory import Items, array_at

if TYPE_CHECKING:
    from colkern.cuda.staging import Staging

_HANDLE = struct.Struct("<QQQ40x")
"""Process, descriptor, size."""


class StandInSharing:
    """The blocks that other processes can open; `opened` and `finished` count calls."""

    def __init__(self, allocate: Callable[[int, int], NDArray[np.uint8]]) -> None:
        self.opened: dict[int, int] = {}
        self.finished = 0
        self._allocate = allocate
        self._identities = itertools.count(1)
        self._blocks: dict[int, tuple[device_library.Allocation, int]] = {}
        self._mapped: dict[bytes, mmap.mmap] = {}

    def block(self, size: int) -> NDArray[np.uint8]:
        """Memory that other processes can open."""
        if not size:
            return np.empty(0, np.uint8)
        descriptor = os.memfd_create("colkern-stand-in", os.MFD_CLOEXEC)
        os.ftruncate(descriptor, size)
        block = np.frombuffer(mmap.mmap(descriptor, size), np.uint8)
        address = int(block.ctypes.data)
        self._blocks[address] = (
            device_library.Allocation(address, size, next(self._identities)),
            descriptor,
        )
        weakref.finalize(block, self._freed, address)
        return block

    def uuid(self, ordinal: int) -> bytes:
        """The identity of the device with that number, the same for every stand-in."""
        return b"colkern-stand-%02d" % ordinal

    def allocation_at(self, address: int, ordinal: int) -> device_library.Allocation | None:
        # A copy of the list, since other threads allocate.
        for allocation, _ in list(self._blocks.values()):
            if allocation.address <= address < allocation.address + allocation.size:
                return allocation
        return None

    def allocate(self, size: int, ordinal: int) -> NDArray[np.uint8]:
        """A block of the stand-in's memory."""
        return self._allocate(size, ordinal)

    def handle(self, allocation: device_library.Allocation, ordinal: int) -> bytes:
        """The process that has the block, and its descriptor there."""
        _, descriptor = self._blocks[allocation.address]
        return _HANDLE.pack(os.getpid(), descriptor, allocation.size)

    def open(self, handle: bytes, ordinal: int) -> device_library.Allocation:
        """A block of another process, mapped here; a second time at the same address."""
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
        return device_library.Allocation(address, size, 0)

    def close(self, address: int, ordinal: int) -> None:
        """Close a block; it is unmapped at the last time."""
        self.opened[address] -= 1
        if self.opened[address]:
            return
        del self.opened[address]
        for handle, mapped in list(self._mapped.items()):
            if int(np.frombuffer(mapped, np.uint8).ctypes.data) == address:
                del self._mapped[handle]

    def finish_device(self, ordinal: int) -> None:
        """Count the call; work is done when its call returns, so there is nothing to wait for."""
        self.finished += 1

    def _freed(self, address: int) -> None:
        _, descriptor = self._blocks.pop(address)
        os.close(descriptor)


FRESH = 0xA5
"""The value of each byte of fresh memory."""


class Copy(NamedTuple):
    """A copy that was made."""

    to_device: bool  #: Whether it went to the device, or to the host.
    address: int  #: The address of its end on the device.
    size: int


class StandIn:
    """Host memory as a `colkern.cuda.device_library.DeviceLibrary`.

    Args:
        memory_bytes: The size of each device's memory; None for no limit.
        shareable: Whether other processes can open allocated blocks, which then have a descriptor each.

    Attributes:
        sharing: The interface through which they do.
        copies: The copies of its streams that were carried out, in that order.
        used: The bytes in use, by device.
        allocations: The number of allocated blocks.
        waits: The number of times that a copy stream has waited for the current stream.
        events: The events that were recorded on the current stream, by their handles, while they live.
        waited_for: The handles of events that the host waited for.
        held_by: The handles of events that the current stream has waited for.
        finished_streams: The streams of other libraries that the host waited for.
    """

    # Few and small slots, so that they are soon reused.
    slot_bytes = 4096
    most_slots = 3
    # So slow that everything is decompressed on the device.
    core_decompresses = 1e-9

    def __init__(
        self, memory_bytes: int | None = None, *, shareable: bool = False, devices: int = 1
    ) -> None:
        self.memory_bytes = memory_bytes
        self.shareable = shareable
        self.sharing = StandInSharing(self._shareable)
        self.copies: list[Copy] = []
        self.used: Counter[int] = Counter()
        self.allocations = 0
        self.waits = 0
        self.events: weakref.WeakValueDictionary[int, _CurrentEvent]
        self.events = weakref.WeakValueDictionary()
        self.waited_for: list[int] = []
        self.held_by: list[int] = []
        self.finished_streams: list[int] = []
        self.staging: Staging | None = None
        self._devices = devices
        self._thread = threading.local()
        self._blocks: dict[int, tuple[int, int]] = {}
        self._handles = count(0xE0)
        self._arrays = _Arrays(self)

    @property
    def arrays(self) -> device_library.ArrayLibrary:
        """NumPy, with the device's `empty` and `zeros`."""
        return self._arrays

    def require_device(self) -> None:
        """Do nothing: the device is there."""

    @contextmanager
    def current(self, ordinal: int) -> Iterator[None]:
        before, self._thread.ordinal = self.current_ordinal(), ordinal
        try:
            yield
        finally:
            self._thread.ordinal = before

    def current_ordinal(self) -> int:
        """The device chosen by this thread; 0 if it has chosen none."""
        return getattr(self._thread, "ordinal", 0)

    def ordinal_of(self, value: object) -> int | None:
        """None, since its arrays are NumPy's, and those are in host memory."""
        return None

    def current_stream(self) -> int:
        return 0

    def on_stream(self, stream: object) -> AbstractContextManager[None]:
        """Do nothing: there is only one stream for kernels."""
        return nullcontext()

    def current_state(self) -> int:
        """The same state for all threads."""
        return 0

    def in_state(self, state: object) -> AbstractContextManager[None]:
        """Do nothing: all threads have the same state."""
        return nullcontext()

    def finish(self) -> None:
        """Do nothing: work on the current stream is done when its call returns."""

    def devices(self) -> int:
        return self._devices

    @property
    def used_bytes(self) -> int:
        """The bytes in use on all devices."""
        return self.used.total()

    def multiprocessors(self, ordinal: int) -> int:
        """Return 1."""
        return 1

    def on_host(self, array: object) -> Items:
        return np.array(array)

    def all_on_host(self, arrays: Sequence[object]) -> list[Items]:
        return list(map(np.array, arrays))

    def page_locked(self, size: int) -> NDArray[np.uint8]:
        """Fresh memory; nothing is locked."""
        return np.full(size, FRESH, np.uint8)

    def copy_stream(self, ordinal: int) -> device_library.CopyStream:
        """A stream that makes its copies late."""
        return _LateStream(self, ordinal)

    def place_of(self, array: Items) -> tuple[int, int]:
        return id(array if array.base is None else array.base), _address(array)

    def array_at(self, address: int, size: int, ordinal: int, owner: object) -> NDArray[np.uint8]:
        """Memory of another owner; as on a device, all of it can be written to."""
        return array_at(address, size, owner, read_only=False)

    def ordinal_at(self, address: int) -> int | None:
        # A copy of the list, since other threads allocate.
        blocks = list(self._blocks.items())
        there = (at for begin, (size, at) in blocks if begin <= address < begin + size)
        return next(there, None)

    def require_own(self, array: Items, ordinal: int) -> None:
        """Raise `ValueError` for memory of another device, which kernels and streams cannot reach."""
        if self._devices > 1 and array.size:
            at = self.ordinal_at(_address(array))
            if at not in (None, ordinal):
                raise ValueError(f"memory of cuda:{at} in work of cuda:{ordinal}")

    def record_current(self, ordinal: int) -> device_library.SharedEvent:
        """An event that lives as long as the returned object."""
        event = _CurrentEvent(self, next(self._handles))
        self.events[event.handle] = event
        return event

    def event_at(self, handle: int, ordinal: int) -> device_library.Event:
        """The event with a handle; raises `ValueError` if it was destroyed, where CUDA may crash."""
        if handle not in self.events:
            raise ValueError(f"event {handle:#x} was destroyed, or never recorded")
        return self.events[handle]

    def finish_stream(self, pointer: int) -> None:
        """Note that the stream was waited for."""
        self.finished_streams.append(pointer)

    def allocated(self, size: int, *, shareable: bool | None = None) -> NDArray[np.uint8]:
        """A block of fresh memory; `shareable` overrides the setting for all blocks."""
        ordinal = self.current_ordinal()
        used = self.used[ordinal]
        if self.memory_bytes is not None and used + size > self.memory_bytes:
            raise MemoryError(f"{size} bytes asked for, {used} in use")
        shareable = self.shareable if shareable is None else shareable
        block = self.sharing.block(size) if shareable else np.empty(size, np.uint8)
        block[:] = FRESH
        self.used[ordinal] += size
        self.allocations += 1
        self._blocks[_address(block)] = size, ordinal
        weakref.finalize(block, self._freed, _address(block), size, ordinal)
        return block

    def _shareable(self, size: int, ordinal: int) -> NDArray[np.uint8]:
        with self.current(ordinal):
            return self.allocated(size, shareable=True)

    def _freed(self, address: int, size: int, ordinal: int) -> None:
        self.used[ordinal] -= size
        self._blocks.pop(address, None)


class _Arrays:
    """NumPy, except `empty` and `zeros`, which allocate the device's memory."""

    def __init__(self, device: StandIn) -> None:
        self._device = device

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    def empty(self, count: int, dtype: DTypeLike = np.float64) -> Items:
        dtype = np.dtype(dtype)
        return self._device.allocated(count * dtype.itemsize).view(dtype)

    def zeros(self, count: int, dtype: DTypeLike = np.float64) -> Items:
        items = self.empty(count, dtype)
        items.view(np.uint8)[:] = 0
        return items


class _LateStream:
    """A stream that makes copies only when somebody waits for them."""

    def __init__(self, device: StandIn, ordinal: int) -> None:
        self._device = device
        self._ordinal = ordinal
        self._waiting: deque[Callable[[], None]] = deque()
        self._lock = threading.RLock()
        self.asked = 0
        self.done = 0

    def to_device(self, source: NDArray[np.uint8], target: NDArray[np.uint8]) -> None:
        self._device.require_own(target, self._ordinal)
        self._ask(partial(self._copy, source, target, Copy(True, _address(target), target.size)))

    def to_host(self, source: NDArray[np.uint8], target: NDArray[np.uint8]) -> None:
        self._device.require_own(source, self._ordinal)
        self._ask(partial(self._copy, source, target, Copy(False, _address(source), source.size)))

    def _ask(self, copy: Callable[[], None]) -> None:
        with self._lock:
            self._waiting.append(copy)
            self.asked += 1

    def _copy(self, source: NDArray[np.uint8], target: NDArray[np.uint8], copy: Copy) -> None:
        if source.shape != target.shape:
            raise ValueError(f"a copy of {source.size} bytes into {target.size}")
        target[:] = source
        self._device.copies.append(copy)

    def run_until(self, number: int) -> None:
        """Make all copies before copy `number`."""
        with self._lock:
            while self.done < number:
                self._waiting.popleft()()
                self.done += 1

    def record(self, event: device_library.CopyEvent | None = None) -> device_library.CopyEvent:
        if event is not None and not event.is_over():
            raise ValueError("an event is used again that is not over")
        return _LateEvent(self, self.asked)

    def wait_for_current(self) -> None:
        self._device.waits += 1


class _LateEvent:
    def __init__(self, stream: _LateStream, number: int) -> None:
        self._stream = stream
        self._number = number

    def is_over(self) -> bool:
        return self._stream.done >= self._number

    def wait(self) -> None:
        self._stream.run_until(self._number)

    def hold_current(self) -> None:
        """Wait here, since work on the current stream is done at once."""
        self.wait()


class _CurrentEvent:
    """An event after all work on the current stream, which is over at once."""

    def __init__(self, device: StandIn, handle: int) -> None:
        self._device = device
        self.handle = handle

    def wait(self) -> None:
        self._device.waited_for.append(self.handle)

    def hold_current(self) -> None:
        self._device.held_by.append(self.handle)


def _address(array: NDArray[np.uint8]) -> int:
    return int(array.ctypes.data)


_installed: StandIn | None = None

when_changed: set[Callable[[], None]] = set()
"""Functions that are called when a stand-in is installed or removed."""


def installed_library() -> device_library.DeviceLibrary | None:
    """The stand-in that is installed, or None."""
    return _installed


@contextmanager
def installed(
    memory_bytes: int | None = None, *, shareable: bool = False, devices: int = 1
) -> Iterator[StandIn]:
    """Within it, the devices of this process are stand-ins, for all threads; see `StandIn`."""
    before = _installed
    device = StandIn(memory_bytes, shareable=shareable, devices=devices)
    _install(device)
    try:
        yield device
    finally:
        _install(before)


def _install(device: StandIn | None) -> None:
    global _installed
    _installed = device
    for call in when_changed:
        call()
