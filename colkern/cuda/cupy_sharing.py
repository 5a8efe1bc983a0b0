"""CUDA IPC through CuPy; what CuPy does not ask the driver is asked of it here."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

import numpy as np

from colkern.cuda.device_library import Allocation, ArrayLibrary
from colkern.cuda.driver import DriverCalls, DriverError, loaded_driver
from colkern.cuda.failures import explaining

if TYPE_CHECKING:
    from colkern.targets import Items

_UUID_BYTES = 16
_BUFFER_ID = 7
_IS_LEGACY_CUDA_IPC_CAPABLE = 10
"""The attributes of an address: its allocation's number, and whether there is a handle of it."""


@explaining
class CupySharing:
    """The memory that CuPy, or whoever allocates for it, has on devices."""

    def __init__(self, cupy: ArrayLibrary, driver: ctypes.CDLL | None = None) -> None:
        self._cupy = cupy
        self._driver = driver

    def uuid(self, ordinal: int) -> bytes:
        """The 16 bytes by which every process knows a device."""
        device, uuid = ctypes.c_int(), ctypes.create_string_buffer(_UUID_BYTES)
        call = self._calls()
        call("cuDeviceGet", ctypes.byref(device), ordinal)
        call("cuDeviceGetUuid_v2", uuid, device)
        return uuid.raw

    def allocation_at(self, address: int, ordinal: int) -> Allocation | None:
        """The allocation that an address is in; None if there is no handle of it."""
        # There is none of memory of asynchronous pools, of managed and of mapped memory.
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
        return Allocation(begin, size, identity.value)

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

    def handle(self, allocation: Allocation, ordinal: int) -> bytes:
        """The `cudaIpcMemHandle_t` of an allocation."""
        with self._cupy.cuda.Device(ordinal):
            return bytes(self._cupy.cuda.runtime.ipcGetMemHandle(allocation.address))

    def open(self, handle: bytes, ordinal: int) -> Allocation:
        """An allocation of another process, mapped here."""
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
        return Allocation(address, size - (address - begin), 0)

    def close(self, address: int, ordinal: int) -> None:
        """Unmap what was opened at an address."""
        with self._cupy.cuda.Device(ordinal):
            self._cupy.cuda.runtime.ipcCloseMemHandle(address)

    def finish_device(self, ordinal: int) -> None:
        """Wait for what has been started on all streams of a device."""
        with self._cupy.cuda.Device(ordinal):
            self._cupy.cuda.runtime.deviceSynchronize()

    @contextmanager
    def _context(self, ordinal: int) -> Iterator[None]:
        """Within it, the driver has a context: a thread has none before the runtime makes it."""
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
