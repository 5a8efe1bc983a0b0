"""Device memory: allocation, the current device and stream, and copies to and from the host.

Colkern uses the pool, the current device and the current stream that the user has set in CuPy.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, NamedTuple, cast

from colkern.cuda import adapter, stand_in
from colkern.cuda.cupy_library import cupy_library
from colkern.cuda.device_library import ArrayLibrary, DeviceLibrary
from colkern.errors import DeviceUnavailableError, LimitExceededError
from colkern.memory import ALIGNMENT, HOST, Device

if TYPE_CHECKING:
    from colkern.targets import Items, ItemType


@dataclass
class Transfers:
    """Counts of copies between host and device.

    Args:
        bytes_to_device: Bytes that went to a device.
        copies_to_device: In how many copies.
        bytes_to_host: Bytes that came from a device.
        copies_to_host: In how many copies.
    """

    bytes_to_device: int = 0
    copies_to_device: int = 0
    bytes_to_host: int = 0
    copies_to_host: int = 0


_lock = threading.Lock()
_counting: list[Transfers] = []


@contextmanager
def count_transfers() -> Iterator[Transfers]:
    """Count the copies between host and device in all threads of this process.

    Only copies by colkern are counted: bodies of messages, moved arrays, results that operations fetch
    for decisions. A copy counts when it is started.
    """
    counted = Transfers()
    with _lock:
        _counting.append(counted)
    try:
        yield counted
    finally:
        with _lock:
            # By identity: two of them may have equal counts.
            _counting[:] = [other for other in _counting if other is not counted]


def count_to_device(size: int) -> None:
    """Count a copy of `size` bytes to a device."""
    if _counting:
        with _lock:
            for counted in _counting:
                counted.bytes_to_device += size
                counted.copies_to_device += 1


def count_to_host(size: int) -> None:
    """Count a copy of `size` bytes from a device."""
    if _counting:
        with _lock:
            for counted in _counting:
                counted.bytes_to_host += size
                counted.copies_to_host += 1


class Placement(NamedTuple):
    """Places of buffers in a block.

    Args:
        starts: The start of each buffer, a multiple of 64.
        size: The bytes of the block, a multiple of 64.
    """

    starts: list[int]
    size: int


def padded(size: int) -> int:
    """The size rounded up to a multiple of 64."""
    return size + -size % ALIGNMENT


def placed(sizes: Sequence[int]) -> Placement:
    """Places for buffers of those sizes, in order."""
    starts, end = [], 0
    for size in sizes:
        starts.append(end)
        end += padded(size)
    return Placement(starts, end)


def library() -> DeviceLibrary:
    """The manager of device memory: CuPy, or a stand-in (always in the simulator)."""
    return stand_in.installed_library() or _library_of_process()


@cache
def _library_of_process() -> DeviceLibrary:
    return stand_in.StandIn() if adapter.is_simulated() else cupy_library()


def is_available() -> bool:
    """Whether there is a CUDA device that colkern can use; nothing is raised."""
    try:
        require_device()
    except DeviceUnavailableError:
        return False
    return True


def require_device(device: Device | None = None) -> None:
    """Raise `DeviceUnavailableError`, saying what is missing, unless a device can be used."""
    library().require_device()
    array_library()
    if device is not None and not 0 <= device.ordinal < library().devices():
        raise DeviceUnavailableError(
            f"no device {device}: there are {library().devices()} CUDA devices"
        )


def array_library() -> ArrayLibrary:
    """The array library: CuPy, or NumPy for a stand-in, whose memory is host memory."""
    return library().arrays


def current(device: Device) -> AbstractContextManager[object]:
    """Within it, allocations and launches are on that device."""
    return library().current(device.ordinal)


def current_device() -> Device:
    """The device that the caller has made current."""
    return Device("cuda", library().current_ordinal())


def device_of(value: object) -> Device | None:
    """The device of a CuPy array; None for anything else, and for a stand-in's NumPy arrays."""
    ordinal = library().ordinal_of(value)
    return None if ordinal is None else Device("cuda", ordinal)


def finish(device: Device) -> None:
    """Wait for the work of the current stream of a device; do nothing for the host."""
    if device != HOST:
        with current(device):
            library().finish()


def current_stream() -> int:
    """The stream that the caller has made current, as an integer."""
    return library().current_stream()


def on_stream(stream: object) -> AbstractContextManager[object]:
    """Within it, a stream of the current device is CuPy's current one; None changes nothing."""
    if stream is None:
        return nullcontext()
    return library().on_stream(stream)


def current_state(device: Device) -> object:
    """The caller's stream and allocator, for `in_state`; None if other threads cannot use the stream."""
    with current(device):
        return library().current_state()


@contextmanager
def in_state(device: Device, state: object) -> Iterator[None]:
    """Within it, a device is current, with the stream and allocator of a `current_state`."""
    with current(device), library().in_state(state):
        yield


def multiprocessors(device: Device) -> int:
    """The number of multiprocessors of a device."""
    return library().multiprocessors(device.ordinal)


def on_host(array: Items) -> Items:
    """An array of the current device as a NumPy array; waits for the work there."""
    count_to_host(array.nbytes)
    return library().on_host(array)


def all_on_host(arrays: Sequence[Items]) -> list[Items]:
    """Contiguous arrays of the current device as NumPy arrays; waits once for the work there."""
    count_to_host(sum(array.nbytes for array in arrays))
    return library().all_on_host(arrays)


def on_device(array: Items) -> Items:
    """A NumPy array copied to the current device."""
    count_to_device(array.nbytes)
    return cast("Items", array_library().asarray(array))


def allocate(count: int, dtype: ItemType) -> Items:
    """A zeroed array in device memory."""
    return _allocated(array_library().zeros, count, dtype)


def allocate_for_overwrite(count: int, dtype: ItemType) -> Items:
    """As `allocate`, but not zeroed: for an output of which every byte will be written."""
    return _allocated(array_library().empty, count, dtype)


def _allocated(make: Callable[[int, ItemType], Items], count: int, dtype: ItemType) -> Items:
    # Errors of CuPy and RMM for lack of memory are MemoryErrors.
    try:
        return make(count, dtype)
    except MemoryError as error:
        raise LimitExceededError(f"device memory: {error}") from error


class InUse:
    """Keeps the owner of foreign memory alive until devices have finished all work that reads the memory.

    A kernel may still read an array when the last reference to it is dropped. So all streams of the
    device are waited for before the owner is released: a kernel runs on the stream that was current
    when it was started.
    """

    __slots__ = ("_ordinals", "_process", "_sharing", "owner")

    def __init__(self, owner: object, ordinals: Iterable[int]) -> None:
        self.owner = owner
        self._process = os.getpid()
        self._sharing = library().sharing
        self._ordinals = frozenset(ordinals)

    def __del__(self) -> None:
        if hasattr(self, "_ordinals") and can_release(self._process):
            # A lost device reads nothing any more.
            with contextlib.suppress(DeviceUnavailableError):
                for ordinal in self._ordinals:
                    self._sharing.finish_device(ordinal)


def held(owner: object, device: Device) -> InUse:
    """As `InUse`, for the memory of one device."""
    return InUse(owner, (device.ordinal,))


def can_release(process: int) -> bool:
    """Whether this process can still release memory through CUDA."""
    # A forked child cannot use CUDA, and its parent goes on; at the end of a process everything is
    # unmapped.
    return os.getpid() == process and not sys.is_finalizing()
