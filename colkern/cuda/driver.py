"""The CUDA driver and the devices that it sees, by ctypes, without any package.

To test a device, a context is made on it, since that fails on broken ones, and some host memory is
pinned.
"""

from __future__ import annotations

import ctypes
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PINNED = 1 << 26
"""The bytes of host memory that are pinned, as a trial."""

_LIBRARY = "libcuda.so.1"
_MODULE = Path("/proc/driver/nvidia/version")
_RELEASE = re.compile(r"\b(\d{3,}\.\d+(?:\.\d+)?)\b")

_SUCCESS, _NO_DEVICE = 0, 100
_MAJOR, _MINOR = 75, 76
"""The attributes of a device that are its compute capability."""


class DriverError(Exception):
    """A call of the driver that failed; the message names the function and the error."""


@dataclass(frozen=True, slots=True)
class Driver:
    """A driver and its devices."""

    cuda: tuple[int, int]  #: The CUDA release that it serves, such as (13, 0).
    release: str  #: Its own release, such as `580.65.06`; empty if the system does not say.
    devices: list[DriverDevice]  #: The devices that it sees, in the order of their ordinals.


@dataclass(frozen=True, slots=True)
class DriverDevice:
    """A device, as the driver reports it."""

    ordinal: int
    name: str
    capability: tuple[int, int]
    total: int  #: The bytes of its memory.
    free: int | None  #: How many of them are free; None if no context can be made.
    pinned: bool  #: Whether host memory can be pinned for it.
    error: str  #: Which call failed; empty if none did.


def find_driver() -> Driver | str:
    """The driver, or the reason why there is none; raises `DriverError` for one that does not work."""
    try:
        library = loaded_driver()
    except OSError as error:
        return str(error)
    return examine(library)


@cache
def has_device() -> bool:
    """Whether there is a driver that sees a device."""
    count = ctypes.c_int()
    try:
        library = loaded_driver()
    except OSError:
        return False
    codes = library.cuInit(0), library.cuDeviceGetCount(ctypes.byref(count))
    return codes == (_SUCCESS, _SUCCESS) and count.value > 0


def loaded_driver() -> ctypes.CDLL:
    """The driver's library; raises `OSError` if there is none."""
    return ctypes.CDLL(_LIBRARY)


def examine(library: ctypes.CDLL) -> Driver | str:
    """As `find_driver`, for a library with the functions of the driver."""
    code = library.cuInit(0)
    if code == _NO_DEVICE:
        return "the driver sees no device"
    call = DriverCalls(library)
    call.check("cuInit", code)
    number, count = ctypes.c_int(), ctypes.c_int()
    call("cuDriverGetVersion", ctypes.byref(number))
    call("cuDeviceGetCount", ctypes.byref(count))
    devices = [_device(call, ordinal) for ordinal in range(count.value)]
    # 13020 is 13.2.
    return Driver((number.value // 1000, number.value % 1000 // 10), _release(), devices)


class DriverCalls:
    """Calls functions of a driver by name; raises `DriverError` if one fails."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library

    def __call__(self, name: str, *arguments: object) -> None:
        """Call a function."""
        self.check(name, getattr(self._library, name)(*arguments))

    def check(self, name: str, code: int) -> None:
        """Raise `DriverError` unless the code of a function stands for success."""
        if code == _SUCCESS:
            return
        text = ctypes.c_char_p()
        known = self._library.cuGetErrorName(code, ctypes.byref(text)) == _SUCCESS
        error = text.value.decode() if known and text.value else f"error {code}"
        raise DriverError(f"{name}: {error}")


def _device(call: DriverCalls, ordinal: int) -> DriverDevice:
    handle, major, minor = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    name, total = ctypes.create_string_buffer(256), ctypes.c_size_t()
    call("cuDeviceGet", ctypes.byref(handle), ordinal)
    call("cuDeviceGetName", name, len(name), handle)
    call("cuDeviceGetAttribute", ctypes.byref(major), _MAJOR, handle)
    call("cuDeviceGetAttribute", ctypes.byref(minor), _MINOR, handle)
    call("cuDeviceTotalMem_v2", ctypes.byref(total), handle)
    free, pinned, error = _tried(call, handle)
    capability = (major.value, minor.value)
    text = name.value.decode(errors="replace")
    return DriverDevice(ordinal, text, capability, total.value, free, pinned, error)


def _tried(call: DriverCalls, handle: ctypes.c_int) -> tuple[int | None, bool, str]:
    """A test of a device: its free memory, whether host memory can be pinned, and the error, if any."""
    context, memory = ctypes.c_void_p(), ctypes.c_void_p()
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    try:
        call("cuDevicePrimaryCtxRetain", ctypes.byref(context), handle)
    except DriverError as error:
        return None, False, str(error)
    try:
        call("cuCtxSetCurrent", context)
        call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
        call("cuMemHostAlloc", ctypes.byref(memory), ctypes.c_size_t(PINNED), 0)
        call("cuMemFreeHost", memory)
    except DriverError as error:
        return free.value or None, False, str(error)
    finally:
        call("cuDevicePrimaryCtxRelease_v2", handle)
    return free.value, True, ""


def _release() -> str:
    try:
        release = _RELEASE.search(_MODULE.read_text())
    except OSError:
        return ""
    return release[1] if release else ""
