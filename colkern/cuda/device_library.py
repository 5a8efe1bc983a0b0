"""The interface to the manager of device memory: CuPy, or the stand-in over host memory."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from colkern.memory import Items

if TYPE_CHECKING:
    from colkern.cuda.staging import Staging


class Event(Protocol):
    """A point in the work of a stream."""

    def wait(self) -> None:
        """Wait, on the host, until the stream has reached the event."""

    def hold_current(self) -> None:
        """Make further work on the caller's current stream wait for the event."""


class CopyEvent(Event, Protocol):
    """A point in the work of a copy stream."""

    def is_over(self) -> bool:
        """Whether the stream has reached the event."""


class SharedEvent(Event, Protocol):
    """A point in a stream's work, for other libraries; destroyed with this object."""

    @property
    def handle(self) -> int:
        """Its `cudaEvent_t`."""


class CopyStream(Protocol):
    """Copies of contiguous uint8 arrays, in order; both ends must live until a later event is reached."""

    def to_device(self, source: NDArray[np.uint8], target: Items) -> None:
        """Start to copy host memory to the device."""

    def to_host(self, source: Items, target: NDArray[np.uint8]) -> None:
        """Start to copy device memory to the host."""

    def record(self, event: CopyEvent | None = None) -> CopyEvent:
        """The point after all copies so far; an event that is over may be reused for it."""

    def wait_for_current(self) -> None:
        """Make further copies wait for the present work of the caller's current stream."""


class Allocation(NamedTuple):
    """Device memory as it was allocated; an array may be a part of it."""

    address: int
    size: int
    identity: int  #: A number of this allocation alone: none at the same address has it later.


class DeviceSharing(Protocol):
    """Sharing of device memory between processes of one machine: CUDA IPC."""

    def uuid(self, ordinal: int) -> bytes:
        """The 16 bytes that identify a device in every process, whatever its ordinal is there."""

    def allocation_at(self, address: int, ordinal: int) -> Allocation | None:
        """The allocation that contains an address; None if other processes cannot open it."""

    def allocate(self, size: int, ordinal: int) -> Items:
        """A uint8 array over its own allocation, which others can open; not zeroed."""

    def handle(self, allocation: Allocation, ordinal: int) -> bytes:
        """The handle with which another process opens an allocation: 64 bytes."""

    def open(self, handle: bytes, ordinal: int) -> Allocation:
        """Open another process's allocation (`OSError` for one of this process); close it as often."""

    def close(self, address: int, ordinal: int) -> None:
        """Unmap memory that was opened at an address, after all work that uses it has ended."""

    def finish_device(self, ordinal: int) -> None:
        """Wait for the work on all streams of a device."""


class ArrayLibrary(Protocol):
    """A module of arrays with NumPy's functions: CuPy, or that of the stand-in."""

    def __getattr__(self, name: str) -> Any:
        """A function or a class of the module."""


class DeviceLibrary(Protocol):
    """Arrays in device memory, streams, and copies. Lack of memory raises `MemoryError`."""

    slot_bytes: int
    """The bytes that are copied at a time; see `colkern.cuda.staging`."""

    most_slots: int
    """The most slots of that size in page-locked host memory."""

    core_decompresses: float
    """The estimated compressed bytes that a host core decompresses in a second; see `DeviceCodec`."""

    staging: Staging | None
    """The slots that `colkern.cuda.staging` keeps with it; None at first."""

    @property
    def sharing(self) -> DeviceSharing:
        """Shares memory with other processes."""

    @property
    def arrays(self) -> ArrayLibrary:
        """The module for its arrays, with NumPy's functions."""

    def require_device(self) -> None:
        """Raise `DeviceUnavailableError` unless there is a device, saying what is missing."""

    def current(self, ordinal: int) -> AbstractContextManager[object]:
        """Within it, allocations and launches are on that device."""

    def current_ordinal(self) -> int:
        """The device that the caller has made current."""

    def ordinal_of(self, value: object) -> int | None:
        """The device of one of its arrays; None for anything else."""

    def current_stream(self) -> int:
        """The stream that the caller has made current, as a `cudaStream_t`."""

    def on_stream(self, stream: object) -> AbstractContextManager[object]:
        """Within it, that stream of the current device is current; see `memory.on_stream`."""

    def current_state(self) -> object:
        """The caller's own stream and allocator on the current device, for `in_state`."""
        # States are equal if stream and allocator are the same; the stream must still live. None if
        # other threads cannot use the stream: the default stream that each thread has for itself.

    def in_state(self, state: object) -> AbstractContextManager[object]:
        """Within it, this thread has another thread's stream and allocator on the current device."""

    def finish(self) -> None:
        """Wait for the work of the current stream."""

    def devices(self) -> int:
        """The number of devices."""

    def multiprocessors(self, ordinal: int) -> int:
        """The number of multiprocessors of a device."""

    def on_host(self, array: Items) -> Items:
        """A copy of an array in host memory; waits for the work of the current stream."""

    def all_on_host(self, arrays: Sequence[Items]) -> list[Items]:
        """Copies of contiguous arrays in host memory; waits once for the work of the current stream."""

    def page_locked(self, size: int) -> NDArray[np.uint8]:
        """Page-locked host memory, which the device can copy from and to by itself; not zeroed."""

    def copy_stream(self, ordinal: int) -> CopyStream:
        """A stream only for copies, which run beside kernels on other streams."""

    def place_of(self, array: Items) -> tuple[int, int]:
        """The identity of the memory that contains one of its arrays, and the array's address."""
        ...

    def array_at(self, address: int, size: int, ordinal: int, owner: object) -> Items:
        """`size` bytes of a device from an address on, as a uint8 array that keeps `owner` alive."""

    def ordinal_at(self, address: int) -> int | None:
        """The device that memory belongs to; None for host memory."""

    def record_current(self, ordinal: int) -> SharedEvent:
        """An event after the present work of the caller's current stream on a device."""

    def event_at(self, handle: int, ordinal: int) -> Event:
        """Another library's event, for streams of a device; its owner must be kept alive."""

    def finish_stream(self, pointer: int) -> None:
        """Wait for the work of a stream of another library, a `cudaStream_t`."""
