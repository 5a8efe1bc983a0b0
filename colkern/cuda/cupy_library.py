"""Device memory through CuPy, from the pool that the user has set (CuPy's own, or RMM's).

This is the only module that imports CuPy.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import accumulate, pairwise
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from colkern.cuda import adapter, device_library
from colkern.cuda.driver import DriverCalls, DriverError, loaded_driver
from colkern.cuda.failures import Explaining, explaining
from colkern.errors import DeviceUnavailableError
from colkern.forks import cached_property
from colkern.memory import Items
from colkern.names import why_missing

if TYPE_CHECKING:
    from colkern.cuda.staging import Staging


_UUID_BYTES = 16
_BUFFER_ID = 7
_IS_LEGACY_CUDA_IPC_CAPABLE = 10
"""The attributes of an address: its allocation's number, and whether there is a handle of it."""


@explaining
class CupySharing:
    """Shares the device memory of CuPy, or of the allocator behind it, with other processes."""

    def __init__(
        self, cupy: device_library.ArrayLibrary, driver: ctypes.CDLL | None = None
    ) -> None:
        self._cupy = cupy
        self._driver = driver

    def uuid(self, ordinal: int) -> bytes:
        device, uuid = ctypes.c_int(), ctypes.create_string_buffer(_UUID_BYTES)
        call = self._calls()
        call("cuDeviceGet", ctypes.byref(device), ordinal)
        call("cuDeviceGetUuid_v2", uuid, device)
        return uuid.raw

    def allocation_at(self, address: int, ordinal: int) -> device_library.Allocation | None:
        # Memory of asynchronous pools, managed memory and mapped memory have no handle.
        capable, identity = ctypes.c_int(), ctypes.c_ulonglong()
        pointer = ctypes.c_ulonglong(address)
        with self._context(ordinal):
            call = self._calls()
            try:
                call(
                    "cuPointerGetAttribute",
                    ctypes.byref(capable),
                    _IS_LEGACY_CUDA_IPC_CAPABLE,
                    pointer,
                )
            except DriverError:
                return None
            if not capable.value:
                return None
            call("cuPointerGetAttribute", ctypes.byref(identity), _BUFFER_ID, pointer)
            begin, size = self._range(address)
        return device_library.Allocation(begin, size, identity.value)

    def allocate(self, size: int, ordinal: int) -> Items:
        """A uint8 array over memory from `cudaMalloc`."""
        cuda = self._cupy.cuda
        try:
            with cuda.Device(ordinal):
                memory = cuda.Memory(size)
        except cuda.runtime.CUDARuntimeError as error:
            if error.status != cuda.runtime.errorMemoryAllocation:
                raise
            raise MemoryError(f"{size} bytes: {error}") from error
        pointer = cuda.MemoryPointer(memory, 0)
        return cast("Items", self._cupy.ndarray(size, np.uint8, pointer))

    def handle(self, allocation: device_library.Allocation, ordinal: int) -> bytes:
        """The `cudaIpcMemHandle_t` of an allocation."""
        with self._cupy.cuda.Device(ordinal):
            return bytes(self._cupy.cuda.runtime.ipcGetMemHandle(allocation.address))

    def open(self, handle: bytes, ordinal: int) -> device_library.Allocation:
        runtime = self._cupy.cuda.runtime
        with self._context(ordinal):
            try:
                address = int(runtime.ipcOpenMemHandle(handle))
            except runtime.CUDARuntimeError as error:
                raise OSError(f"cudaIpcOpenMemHandle: {error}") from error
            try:
                begin, size = self._range(address)
            except DriverError as error:
                runtime.ipcCloseMemHandle(address)
                raise OSError(str(error)) from error
        return device_library.Allocation(address, size - (address - begin), 0)

    def close(self, address: int, ordinal: int) -> None:
        with self._cupy.cuda.Device(ordinal):
            self._cupy.cuda.runtime.ipcCloseMemHandle(address)

    def finish_device(self, ordinal: int) -> None:
        with self._cupy.cuda.Device(ordinal):
            self._cupy.cuda.runtime.deviceSynchronize()

    @contextmanager
    def _context(self, ordinal: int) -> Iterator[None]:
        """Within it, the driver has a context: a thread has none until the runtime makes one."""
        with self._cupy.cuda.Device(ordinal):
            self._cupy.cuda.runtime.free(0)
            yield

    def _range(self, address: int) -> tuple[int, int]:
        begin, size = ctypes.c_ulonglong(), ctypes.c_size_t()
        self._calls()(
            "cuMemGetAddressRange_v2",
            ctypes.byref(begin),
            ctypes.byref(size),
            ctypes.c_ulonglong(address),
        )
        return begin.value, size.value

    def _calls(self) -> DriverCalls:
        if self._driver is None:
            self._driver = loaded_driver()
        return DriverCalls(self._driver)


def cupy_library() -> device_library.DeviceLibrary:
    """CuPy as the manager of device memory; imported when it is first needed."""
    return _CupyLibrary()


class _Numbers(threading.local):
    """The page-locked memory into which a thread's numbers are copied."""

    block: NDArray[np.uint8] | None = None


@explaining
class _CupyLibrary:
    # A copy of this size takes longer than Python needs to start it.
    slot_bytes = 8 << 20
    # Locked host memory cannot be used for anything else.
    most_slots = 16
    # Measured for Zstandard: 0.7e9, for LZ4: 2.4e9.
    core_decompresses = 1e9

    def __init__(self) -> None:
        self.staging: Staging | None = None
        self._numbers = _Numbers()

    @cached_property
    def arrays(self) -> device_library.ArrayLibrary:
        try:
            import cupy
        except ImportError as error:
            why = why_missing(error, "cupy")
            raise DeviceUnavailableError(f"no device memory: {why}") from error
        return cast("device_library.ArrayLibrary", cupy)

    @cached_property
    def sharing(self) -> device_library.DeviceSharing:
        return CupySharing(self.arrays)

    def require_device(self) -> None:
        adapter.require_device()

    def current(self, ordinal: int) -> AbstractContextManager[object]:
        return Explaining(self.arrays.cuda.Device(ordinal))

    def current_ordinal(self) -> int:
        return int(self.arrays.cuda.runtime.getDevice())

    def ordinal_of(self, value: object) -> int | None:
        return int(value.device.id) if isinstance(value, self.arrays.ndarray) else None

    def current_stream(self) -> int:
        return int(self.arrays.cuda.get_current_stream().ptr)

    def on_stream(self, stream: object) -> AbstractContextManager[object]:
        cuda = self.arrays.cuda
        if not isinstance(stream, cuda.Stream):
            if hasattr(cuda.Stream, "from_external"):
                stream = cuda.Stream.from_external(_ForeignStream(stream))
            else:
                # For CuPy 13; in 14 it is deprecated.
                stream = cuda.ExternalStream(handle_of_stream(stream))
        return cast("AbstractContextManager[object]", stream)

    def current_state(self) -> object:
        cuda = self.arrays.cuda
        stream = cuda.get_current_stream()
        return None if stream == cuda.Stream.ptds else (stream, cuda.get_allocator())

    @contextmanager
    def in_state(self, state: object) -> Iterator[None]:
        stream, allocator = cast("tuple[AbstractContextManager[object], object]", state)
        with stream, self.arrays.cuda.using_allocator(allocator):
            yield

    def finish(self) -> None:
        self.arrays.cuda.get_current_stream().synchronize()

    def devices(self) -> int:
        return int(self.arrays.cuda.runtime.getDeviceCount())

    def multiprocessors(self, ordinal: int) -> int:
        return int(self.arrays.cuda.Device(ordinal).attributes["MultiProcessorCount"])

    def on_host(self, array: Items) -> Items:
        return cast("Items", self.arrays.asnumpy(array))

    def all_on_host(self, arrays: Sequence[Items]) -> list[Items]:
        runtime, stream = self.arrays.cuda.runtime, self.arrays.cuda.get_current_stream()
        ends = list(accumulate([array.nbytes for array in arrays], initial=0))
        # A copy to memory that is not page-locked would wait by itself.
        if self._numbers.block is None or self._numbers.block.size < ends[-1]:
            self._numbers.block = self.page_locked(max(ends[-1], 1 << 16))
        places = [self._numbers.block[begin:end] for begin, end in pairwise(ends)]
        for array, place in zip(arrays, places, strict=True):
            to, size = place.ctypes.data, place.size
            kind = runtime.memcpyDeviceToHost
            runtime.memcpyAsync(to, _address(array), size, kind, stream.ptr)
        stream.synchronize()
        copied = zip(places, arrays, strict=True)
        return [at.view(like.dtype).reshape(like.shape).copy() for at, like in copied]

    def page_locked(self, size: int) -> NDArray[np.uint8]:
        runtime = self.arrays.cuda.runtime
        try:
            block = self.arrays.cuda.alloc_pinned_memory(size)
        except runtime.CUDARuntimeError as error:
            if error.status != runtime.errorMemoryAllocation:
                raise
            raise MemoryError(f"{size} bytes: {error}") from error
        # The array keeps the block alive, which returns to CuPy's pool of such memory.
        return np.frombuffer(block, np.uint8, size)

    def copy_stream(self, ordinal: int) -> device_library.CopyStream:
        with self.current(ordinal):
            return _Stream(self.arrays.cuda, ordinal)

    def place_of(self, array: Items) -> tuple[int, int]:
        pointer = cast("Any", array).data
        return id(pointer.mem), int(pointer.ptr)

    def array_at(self, address: int, size: int, ordinal: int, owner: object) -> Items:
        cuda = self.arrays.cuda
        memory = cuda.UnownedMemory(address, size, owner, ordinal)
        pointer = cuda.MemoryPointer(memory, 0)
        return cast("Items", self.arrays.ndarray(size, np.uint8, pointer))

    def ordinal_at(self, address: int) -> int | None:
        memory = self.arrays.cuda.runtime.pointerGetAttributes(address)
        return int(memory.device) if memory.type in _DEVICE_MEMORY else None

    def record_current(self, ordinal: int) -> device_library.SharedEvent:
        with self.current(ordinal):
            return _Event(self.arrays.cuda, ordinal, self.arrays.cuda.get_current_stream())

    def event_at(self, handle: int, ordinal: int) -> device_library.Event:
        return _ForeignEvent(self.arrays.cuda, ordinal, handle)

    def finish_stream(self, pointer: int) -> None:
        self.arrays.cuda.runtime.streamSynchronize(pointer)


def handle_of_stream(stream: object) -> int:
    """The `cudaStream_t` of a stream of CuPy, PyTorch, cuda.core or the compiler, or of an integer."""
    if hasattr(stream, "__cuda_stream__"):
        _, handle = stream.__cuda_stream__()
        return int(handle)
    # PyTorch's streams, before they supported the protocol.
    handle = getattr(stream, "cuda_stream", stream)
    if hasattr(handle, "__int__") and not isinstance(handle, float):
        return int(handle)
    raise TypeError(
        "stream: expected one of CuPy, PyTorch, cuda.core or Numba, or a cudaStream_t as an integer, "
        f"got {type(stream).__name__}"
    )


class _ForeignStream:
    """A stream of any library that has the stream protocol. CuPy keeps this, and this keeps the stream."""

    def __init__(self, stream: object) -> None:
        self._stream = stream
        self._handle = handle_of_stream(stream)

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self._handle


_DEVICE_MEMORY = (2, 3)
"""`cudaMemoryTypeDevice`, `cudaMemoryTypeManaged`."""


class CupyStream(Protocol):
    """A stream of CuPy's."""

    def wait_event(self, event: object) -> None:
        """Make further work wait for an event."""


def _address(array: Any) -> int:
    """The address of a CuPy array."""
    return int(array.data.ptr)


@explaining
class _Event:
    def __init__(self, cuda: ModuleType, ordinal: int, stream: CupyStream) -> None:
        self._cuda = cuda
        self.ordinal = ordinal
        with cuda.Device(ordinal):
            # A waiting thread sleeps, and so leaves its core to threads that fill the next slots.
            self._event = cuda.Event(block=True, disable_timing=True)
        self.record(stream)

    def record(self, stream: CupyStream) -> None:
        """Move the event behind all work that a stream of its device has now."""
        self._event.record(stream)

    @property
    def handle(self) -> int:
        return int(self._event.ptr)

    def is_over(self) -> bool:
        return bool(self._event.done)

    def wait(self) -> None:
        self._event.synchronize()

    def hold_current(self) -> None:
        with self._cuda.Device(self.ordinal):
            self.hold(self._cuda.get_current_stream())

    def hold(self, stream: CupyStream) -> None:
        """Make further work on a stream wait for the event."""
        stream.wait_event(self._event)


@explaining
class _ForeignEvent:
    def __init__(self, cuda: ModuleType, ordinal: int, handle: int) -> None:
        self._cuda = cuda
        self._ordinal = ordinal
        self._handle = handle

    def wait(self) -> None:
        self._cuda.runtime.eventSynchronize(self._handle)

    def hold_current(self) -> None:
        with self._cuda.Device(self._ordinal):
            stream = self._cuda.get_current_stream()
            self._cuda.runtime.streamWaitEvent(stream.ptr, self._handle)


@explaining
class _Stream:
    """A CUDA stream that does not implicitly wait for the default one."""

    def __init__(self, cuda: ModuleType, ordinal: int) -> None:
        self._cuda = cuda
        self._ordinal = ordinal
        self._stream = cuda.Stream(non_blocking=True)

    def to_device(self, source: NDArray[np.uint8], target: Items) -> None:
        self._copy(_address(target), source.ctypes.data, source.nbytes, "memcpyHostToDevice")

    def to_host(self, source: Items, target: NDArray[np.uint8]) -> None:
        self._copy(target.ctypes.data, _address(source), target.nbytes, "memcpyDeviceToHost")

    def _copy(self, to: int, start: int, size: int, kind: str) -> None:
        runtime = self._cuda.runtime
        with self._cuda.Device(self._ordinal):
            runtime.memcpyAsync(to, start, size, getattr(runtime, kind), self._stream.ptr)

    def record(self, event: device_library.CopyEvent | None = None) -> device_library.CopyEvent:
        # An event belongs to one device.
        if not isinstance(event, _Event) or event.ordinal != self._ordinal:
            return _Event(self._cuda, self._ordinal, self._stream)
        event.record(self._stream)
        return event

    def wait_for_current(self) -> None:
        with self._cuda.Device(self._ordinal):
            current = self._cuda.get_current_stream()
            _Event(self._cuda, self._ordinal, current).hold(self._stream)
