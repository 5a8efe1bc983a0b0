"""The calls of CuPy and of the driver for CUDA IPC: their names, arguments and order."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from colkern.cuda.cupy_library import CupySharing
from colkern.cuda.device_library import Allocation

HANDLE = bytes(range(64))
BEGIN, SIZE = 0x7F00_0000_0000, 1 << 21
NOT_CAPABLE, UNKNOWN = BEGIN + 2 * SIZE, 0x10
INVALID_VALUE = 1


class CUDARuntimeError(RuntimeError):
    def __init__(self, status: int) -> None:
        super().__init__(f"error {status}")
        self.status = status


class Cupy:
    """Notes what is called; the names and arguments are those of CuPy 13 and 14."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.fails: int | None = None
        self.cuda = SimpleNamespace(
            runtime=SimpleNamespace(
                CUDARuntimeError=CUDARuntimeError,
                errorMemoryAllocation=2,
                ipcGetMemHandle=self._noting("ipcGetMemHandle", HANDLE),
                ipcOpenMemHandle=self._noting("ipcOpenMemHandle", BEGIN),
                ipcCloseMemHandle=self._noting("ipcCloseMemHandle"),
                free=self._free,
                deviceSynchronize=self._noting("deviceSynchronize"),
            ),
            Device=self._device,
            Memory=self._noting("Memory", "memory"),
            MemoryPointer=self._noting("MemoryPointer", "pointer"),
        )
        self.ndarray = self._noting("ndarray", "array")

    def _free(self, address: int) -> None:
        assert address == 0
        self.calls.append(("a context",))

    def _noting(self, name: str, result: Any = None) -> Any:
        def called(*args: Any) -> Any:
            self.calls.append((name, *args))
            if self.fails is not None:
                raise CUDARuntimeError(self.fails)
            return result

        return called

    def _device(self, ordinal: int) -> Any:
        self.calls.append(("Device", ordinal))
        return nullcontext()


class Driver:
    """One allocation that can be opened, and one that cannot; the numbers are those of cuda.h."""

    def cuGetErrorName(self, code: int, text: Any) -> int:
        text._obj.value = b"CUDA_ERROR_INVALID_VALUE"
        return 0

    def cuDeviceGet(self, device: Any, ordinal: int) -> int:
        device._obj.value = ordinal + 7
        return 0

    def cuDeviceGetUuid_v2(self, uuid: Any, device: Any) -> int:
        uuid[:] = bytes([device.value]) * 16
        return 0

    def cuPointerGetAttribute(self, data: Any, attribute: int, pointer: Any) -> int:
        if pointer.value == UNKNOWN:
            return INVALID_VALUE
        data._obj.value = {10: int(pointer.value != NOT_CAPABLE), 7: 99}[attribute]
        return 0

    def cuMemGetAddressRange_v2(self, begin: Any, size: Any, pointer: Any) -> int:
        if not BEGIN <= pointer.value < BEGIN + SIZE:
            return INVALID_VALUE
        begin._obj.value, size._obj.value = BEGIN, SIZE
        return 0


@pytest.fixture
def cupy() -> Cupy:
    return Cupy()


@pytest.fixture
def sharing(cupy: Cupy) -> CupySharing:
    library: Any = cupy
    driver: Any = Driver()
    return CupySharing(library, driver)


def test_a_device_is_known_by_its_uuid(sharing: CupySharing) -> None:
    assert sharing.uuid(1) == b"\x08" * 16


def test_an_address_belongs_to_an_allocation(cupy: Cupy, sharing: CupySharing) -> None:
    assert sharing.allocation_at(BEGIN + 4096, 1) == Allocation(BEGIN, SIZE, 99)
    # The driver knows of no device in a thread that has none.
    assert cupy.calls == [("Device", 1), ("a context",)]


@pytest.mark.parametrize("address", [NOT_CAPABLE, UNKNOWN])
def test_memory_without_a_handle(sharing: CupySharing, address: int) -> None:
    assert sharing.allocation_at(address, 0) is None


def test_a_handle_is_that_of_the_whole_allocation(cupy: Cupy, sharing: CupySharing) -> None:
    assert sharing.handle(Allocation(BEGIN, SIZE, 99), 1) == HANDLE
    assert cupy.calls == [("Device", 1), ("ipcGetMemHandle", BEGIN)]


def test_an_allocation_of_another_process(cupy: Cupy, sharing: CupySharing) -> None:
    assert sharing.open(HANDLE, 1)[:2] == (BEGIN, SIZE)
    sharing.finish_device(1)
    sharing.close(BEGIN, 1)
    assert cupy.calls == [
        ("Device", 1),
        ("a context",),
        ("ipcOpenMemHandle", HANDLE),
        ("Device", 1),
        ("deviceSynchronize",),
        ("Device", 1),
        ("ipcCloseMemHandle", BEGIN),
    ]


def test_one_that_cannot_be_opened(cupy: Cupy, sharing: CupySharing) -> None:
    cupy.fails = INVALID_VALUE
    with pytest.raises(OSError, match="cudaIpcOpenMemHandle: error 1"):
        sharing.open(HANDLE, 0)


def test_own_memory_is_no_part_of_a_pool(cupy: Cupy, sharing: CupySharing) -> None:
    assert sharing.allocate(1 << 26, 1) == "array"
    assert cupy.calls[:3] == [
        ("Device", 1),
        ("Memory", 1 << 26),
        ("MemoryPointer", "memory", 0),
    ]


def test_a_device_that_is_full(cupy: Cupy, sharing: CupySharing) -> None:
    cupy.fails = 2
    with pytest.raises(MemoryError):
        sharing.allocate(1 << 26, 0)
