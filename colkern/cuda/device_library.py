"""The interface of whoever manages device memory: CuPy, or the stand-in over host memory."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from colkern.memory import Items

if TYPE_CHECKING:
    from colkern.cuda.staging import Staging
    from colkern.targets import Items


class Event(Protocol):
    """A point in the work of a stream."""

    def wait(self) -> None:
        """Wait, on the host, until the stream has come there."""

    def hold_current(self) -> None:
        """Further work of the caller's current stream waits for that point."""


class CopyEvent(Event, Protocol):
    """A point in the work of a stream for copies."""

    def is_over(self) -> bool:
        """Whether the stream has come there."""


class SharedEvent(Event, Protocol):
    """A point in the work of a stream, for other libraries; it is destroyed with this object."""

    @property
    def handle(self) -> int:
        """Its `cudaEvent_t`."""


class CopyStream(Protocol):
    """Copies of contiguous uint8 arrays, in order; both ends stay until an event behind was waited for."""

    def to_device(self, source: NDArray[np.uint8], target: Items) -> None:
        """Start to copy host memory to the device."""

    def to_host(self, source: Items, target: NDArray[np.uint8]) -> None:
        """Start to copy device memory to the host."""

    def record(self, event: CopyEvent | None = None) -> CopyEvent:
        """The point behind all copies so far; an event that is over may be used again for it."""

    def wait_for_current(self) -> None:
        """Further copies wait for the work that the caller's current stream has now."""


class Allocation(NamedTuple):
    """Device memory as it was allocated, of which an array may be a part."""

    address: int
    size: int
    identity: int  #: A number of this allocation alone: none at the same address has it later.


class DeviceSharing(Protocol):
    """Memory of devices between the processes of one machine: CUDA IPC."""

    def uuid(self, ordinal: int) -> bytes:
        """The 16 bytes by which every process knows a device, whatever its ordinal is there."""

    def allocation_at(self, address: int, ordinal: int) -> Allocation | None:
        """The allocation that an address is in; None if other processes cannot open it."""

    def allocate(self, size: int, ordinal: int) -> Items:
        """A uint8 array over an allocation of its own, which others can open; not zeroed."""

    def handle(self, allocation: Allocation, ordinal: int) -> bytes:
        """The handle by which another process opens an allocation: 64 bytes."""

    def open(self, handle: bytes, ordinal: int) -> Allocation:
        """Another process's allocation (`OSError` if of this one); close it as often as it was opened."""

    def close(self, address: int, ordinal: int) -> None:
        """Unmap memory that was opened at an address. Work that uses it has ended."""

    def finish_device(self, ordinal: int) -> None:
        """Wait for the work of all streams of a device."""


class ArrayLibrary(Protocol):
    """A module of arrays with NumPy's functions: CuPy's, or the stand-in's."""

    def __getattr__(self, name: str) -> Any:
        """A function or a class of the module."""


class DeviceLibrary(Protocol):
    """Arrays in device memory, streams, and copies. Errors for lack of memory are `MemoryError`."""

    slot_bytes: int
    """The bytes of a copy: see `colkern.cuda.staging`."""

    most_slots: int
    """The most blocks of as many bytes that are locked in the host's memory."""

    core_decompresses: float
    """The compressed bytes a second that a core of the host is taken to decompress; see `DeviceCodec`."""

    staging: Staging | None
    """The slots that `colkern.cuda.staging` keeps with it; None at first."""

    @property
    def sharing(self) -> DeviceSharing:
        """The way of other processes to its memory."""

    @property
    def arrays(self) -> ArrayLibrary:
        """The module of its arrays, with NumPy's functions."""

    def require_device(self) -> None:
        """Raise `DeviceUnavailableError` unless there is a device, saying what is missing."""

    def current(self, ordinal: int) -> AbstractContextManager[object]:
        """Within it, allocations and launches are on that device."""

    def current_ordinal(self) -> int:
        """The device that the caller has made current."""

    def ordinal_of(self, value: object) -> int | None:
        """The device of one of its arrays; None for all else."""

    def current_stream(self) -> int:
        """The stream that the caller has made current, as a `cudaStream_t`."""

    def on_stream(self, stream: object) -> AbstractContextManager[object]:
        """Within it, that stream of the current device is the current one; see `memory.on_stream`."""

    def current_state(self) -> object:
        """The caller's own stream and allocator on the current device, for `in_state`."""
        # Two states are equal where both are the same, and the stream lives as long. None if other threads
        # cannot use that stream: the default one that each thread has for itself.

    def in_state(self, state: object) -> AbstractContextManager[object]:
        """Within it, another thread's stream and allocator of the current device are this one's, too."""

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
        """Host memory that the device copies from and to by itself; not zeroed."""

    def copy_stream(self, ordinal: int) -> CopyStream:
        """A stream for copies alone, beside those that kernels run on."""

    def place_of(self, array: Items) -> tuple[int, int]:
        """The identity of the memory that one of its arrays is a part of, and the array's address."""
        ...

    def array_at(self, address: int, size: int, ordinal: int, owner: object) -> Items:
        """The `size` bytes of a device from an address on, as a uint8 array that keeps their owner."""

    def ordinal_at(self, address: int) -> int | None:
        """The device that memory belongs to; None for host memory."""

    def record_current(self, ordinal: int) -> SharedEvent:
        """The point behind the work that the caller's current stream of a device has now."""

    def event_at(self, handle: int, ordinal: int) -> Event:
        """The event of another library, for streams of a device; its owner must be kept alive."""

    def finish_stream(self, pointer: int) -> None:
        """Wait for the work of a stream of another library, a `cudaStream_t`."""
