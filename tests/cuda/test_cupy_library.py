"""The calls of CuPy for the memory, events and streams of other libraries: their names and order."""

from __future__ import annotations

import ctypes
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from colkern.cuda.cupy_library import cupy_library
from colkern.cuda.device_library import DeviceLibrary


class Cupy:
    """Notes what is called; the names and arguments are those of CuPy 13 and 14."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        runtime = SimpleNamespace(
            eventSynchronize=self._noting("eventSynchronize"),
            streamSynchronize=self._noting("streamSynchronize"),
            streamWaitEvent=self._noting("streamWaitEvent"),
            pointerGetAttributes=self._attributes,
            memcpyAsync=self._copy,
            memcpyDeviceToHost=2,
        )
        self.cuda = SimpleNamespace(
            runtime=runtime,
            Device=self._device,
            Event=self._event,
            UnownedMemory=self._noting("UnownedMemory", "memory"),
            MemoryPointer=self._noting("MemoryPointer", "pointer"),
            get_current_stream=lambda: SimpleNamespace(
                ptr=0x57, synchronize=self._noting("synchronize")
            ),
            alloc_pinned_memory=bytearray,
        )
        self.ndarray = self._noting("ndarray", "array")

    def _noting(self, name: str, result: Any = None) -> Any:
        def called(*args: Any) -> Any:
            self.calls.append((name, *args))
            return result

        return called

    def _device(self, ordinal: int) -> Any:
        self.calls.append(("Device", ordinal))
        return nullcontext()

    def _event(self, block: bool, disable_timing: bool) -> Any:
        record = self._noting("record")
        return SimpleNamespace(ptr=0xE7, record=lambda stream: record(stream.ptr))

    def _copy(self, to: int, start: int, size: int, kind: int, stream: int) -> None:
        self.calls.append(("memcpyAsync", size, kind, stream))
        ctypes.memmove(to, start, size)

    def _attributes(self, address: int) -> Any:
        kind = {0x10: 0, 0x20: 1, 0x30: 2, 0x40: 3}[address]
        return SimpleNamespace(type=kind, device=1)


@pytest.fixture
def cupy() -> Cupy:
    return Cupy()


@pytest.fixture
def library(cupy: Cupy) -> DeviceLibrary:
    result = cupy_library()
    # In the place where it keeps the module once that is imported.
    result.__dict__["arrays"] = cupy
    return result


def test_memory_of_others(cupy: Cupy, library: DeviceLibrary) -> None:
    owner = object()
    assert library.array_at(0x30, 8, 1, owner) == "array"
    memory, pointer, array = cupy.calls
    assert memory == ("UnownedMemory", 0x30, 8, owner, 1)
    assert pointer == ("MemoryPointer", "memory", 0)
    assert (array[1], array[3]) == (8, "pointer")


def test_parts_of_one_allocation_have_one_owner(library: DeviceLibrary) -> None:
    memory = object()
    parts: list[Any] = [
        SimpleNamespace(data=SimpleNamespace(mem=of, ptr=ptr))
        for of, ptr in ((memory, 0x100), (memory, 0x140), (object(), 0x180))
    ]
    first, second, other = map(library.place_of, parts)
    assert [address for _, address in (first, second, other)] == [0x100, 0x140, 0x180]
    assert first[0] == second[0] != other[0]


def test_several_arrays_come_to_the_host_with_one_wait(cupy: Cupy, library: DeviceLibrary) -> None:
    values = [np.array([1, 2, 3], "i8"), np.array(7, "u1"), np.array([-4], "i8")]
    arrays: Any = [
        SimpleNamespace(
            nbytes=a.nbytes, dtype=a.dtype, shape=a.shape, data=SimpleNamespace(ptr=a.ctypes.data)
        )
        for a in values
    ]
    for _ in range(2):
        cupy.calls.clear()
        result = library.all_on_host(arrays)
        assert [(a.tolist(), a.dtype) for a in result] == [(a.tolist(), a.dtype) for a in values]
        copies = [("memcpyAsync", size, 2, 0x57) for size in (24, 1, 8)]
        assert cupy.calls == [*copies, ("synchronize",)]


def test_where_an_address_is(library: DeviceLibrary) -> None:
    """Unregistered and page-locked memory are the host's; managed memory is the device's."""
    actual = [library.ordinal_at(address) for address in (0x10, 0x20, 0x30, 0x40)]
    assert actual == [None, None, 1, 1]


def test_an_event_for_others_is_recorded_on_the_current_stream_of_the_device(
    cupy: Cupy, library: DeviceLibrary
) -> None:
    assert library.record_current(1).handle == 0xE7
    assert cupy.calls[0] == ("Device", 1)
    assert cupy.calls[-1] == ("record", 0x57)


def test_an_event_of_others(cupy: Cupy, library: DeviceLibrary) -> None:
    event = library.event_at(0xEE, 1)
    event.wait()
    event.hold_current()
    assert cupy.calls == [
        ("eventSynchronize", 0xEE),
        ("Device", 1),
        ("streamWaitEvent", 0x57, 0xEE),
    ]


def test_a_stream_of_others(cupy: Cupy, library: DeviceLibrary) -> None:
    library.finish_stream(2)
    assert cupy.calls == [("streamSynchronize", 2)]
