"""A CUDA driver with devices that are not there: the functions that `colkern.cuda.driver` calls."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from typing import Any

from colkern.cuda.driver import Driver, examine

SUCCESS, OUT_OF_MEMORY, NO_DEVICE, UNKNOWN = 0, 2, 100, 999
NAMES = {OUT_OF_MEMORY: b"CUDA_ERROR_OUT_OF_MEMORY"}


@dataclass
class FakeDevice:
    """A device of the driver.

    Args:
        name: What it is called.
        capability: Its compute capability.
        total: The bytes of its memory.
        free: How many are free.
        failures: What functions return for it; those that are not named succeed.
    """

    name: str = "NVIDIA H100"
    capability: tuple[int, int] = (9, 0)
    total: int = 80 << 30
    free: int = 79 << 30
    failures: dict[str, int] = field(default_factory=dict)


def examined(driver: FakeDriver) -> Driver | str:
    """The facts about a driver."""
    library: Any = driver
    return examine(library)


class FakeDriver:
    """The driver as `ctypes` would load it. Handles of devices are their ordinals plus 7.

    Args:
        devices: What it sees.
        version: As `cuDriverGetVersion` tells it.
        init: What `cuInit` returns.
    """

    def __init__(self, *devices: FakeDevice, version: int = 13000, init: int = SUCCESS) -> None:
        self._devices = devices
        self._version = version
        self._init = init
        self._current: FakeDevice | None = None
        self.contexts = 0
        self.pinned: dict[int, int] = {}

    def cuInit(self, flags: int) -> int:
        assert flags == 0
        return self._init

    def cuGetErrorName(self, code: int, text: Any) -> int:
        if code not in NAMES:
            return 1
        text._obj.value = NAMES[code]
        return SUCCESS

    def cuDriverGetVersion(self, number: Any) -> int:
        number._obj.value = self._version
        return SUCCESS

    def cuDeviceGetCount(self, count: Any) -> int:
        count._obj.value = len(self._devices)
        return SUCCESS

    def cuDeviceGet(self, handle: Any, ordinal: int) -> int:
        handle._obj.value = ordinal + 7
        return SUCCESS

    def cuDeviceGetName(self, name: Any, size: int, handle: ctypes.c_int) -> int:
        name.value = self._of(handle).name.encode()[: size - 1]
        return SUCCESS

    def cuDeviceGetAttribute(self, value: Any, attribute: int, handle: ctypes.c_int) -> int:
        value._obj.value = self._of(handle).capability[{75: 0, 76: 1}[attribute]]
        return SUCCESS

    def cuDeviceTotalMem_v2(self, total: Any, handle: ctypes.c_int) -> int:
        total._obj.value = self._of(handle).total
        return SUCCESS

    def cuDevicePrimaryCtxRetain(self, context: Any, handle: ctypes.c_int) -> int:
        code = self._of(handle).failures.get("cuDevicePrimaryCtxRetain", SUCCESS)
        if code == SUCCESS:
            context._obj.value = handle.value
            self.contexts += 1
        return code

    def cuCtxSetCurrent(self, context: ctypes.c_void_p) -> int:
        assert context.value is not None
        self._current = self._devices[context.value - 7]
        return SUCCESS

    def cuMemGetInfo_v2(self, free: Any, total: Any) -> int:
        assert self._current is not None
        code = self._current.failures.get("cuMemGetInfo_v2", SUCCESS)
        if code == SUCCESS:
            free._obj.value, total._obj.value = self._current.free, self._current.total
        return code

    def cuMemHostAlloc(self, memory: Any, size: ctypes.c_size_t, flags: int) -> int:
        assert self._current is not None
        assert flags == 0
        code = self._current.failures.get("cuMemHostAlloc", SUCCESS)
        if code == SUCCESS:
            memory._obj.value = 4096
            self.pinned[4096] = size.value
        return code

    def cuMemFreeHost(self, memory: ctypes.c_void_p) -> int:
        assert memory.value is not None
        del self.pinned[memory.value]
        return SUCCESS

    def cuDevicePrimaryCtxRelease_v2(self, handle: ctypes.c_int) -> int:
        self._of(handle)
        self.contexts -= 1
        return SUCCESS

    def _of(self, handle: ctypes.c_int) -> FakeDevice:
        return self._devices[handle.value - 7]
