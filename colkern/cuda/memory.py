"""Device memory through CuPy, and through NumPy in the simulator.

CuPy's pool, its current device and its current stream are the user's: colkern follows them.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

import numpy as np

from colkern.arrays import Array
from colkern.cuda import adapter
from colkern.errors import DeviceUnavailableError, LimitExceededError
from colkern.memory import HOST, Buffer, Device


@cache
def array_library() -> Any:
    """CuPy; NumPy in the simulator, where device memory is host memory.

    Raises:
        DeviceUnavailableError: If CuPy is not installed or does not load.
    """
    if adapter.is_simulated():
        return np
    try:
        import cupy
    except ImportError as error:
        raise DeviceUnavailableError(f"no device memory: {error}; {adapter.hint()}") from error
    return cupy


def current(device: Device) -> AbstractContextManager[Any]:
    """Within it, what is allocated and launched is on that device."""
    if adapter.is_simulated():
        return nullcontext()
    chosen: AbstractContextManager[Any] = array_library().cuda.Device(device.ordinal)
    return chosen


def current_device() -> Device:
    """The device that the caller has made current."""
    if adapter.is_simulated():
        return Device("cuda")
    return Device("cuda", int(array_library().cuda.runtime.getDevice()))


def device_of(value: Any) -> Device | None:
    """Where an array of CuPy is; None for all else, and in the simulator, whose arrays are on none."""
    if adapter.is_simulated() or not isinstance(value, array_library().ndarray):
        return None
    return Device("cuda", int(value.device.id))


def finish(device: Device) -> None:
    """Wait for what has been started on the current stream; in host memory there is nothing to."""
    if device != HOST and not adapter.is_simulated():
        with current(device):
            array_library().cuda.get_current_stream().synchronize()


def current_stream() -> int:
    """The stream that the caller has made current, as an integer; 0 in the simulator."""
    if adapter.is_simulated():
        return 0
    return int(array_library().cuda.get_current_stream().ptr)


def on_stream(stream: Any) -> AbstractContextManager[Any]:
    """Within it, a stream of the current device is CuPy's current one.

    Args:
        stream: CuPy's, the compiler's, or a `cudaStream_t` as an integer; None for the one that is.
    """
    if stream is None or adapter.is_simulated():
        return nullcontext()
    # CuPy's streams have a `ptr`; those of the compiler are integers, too.
    pointer = int(getattr(stream, "ptr", stream))
    chosen: AbstractContextManager[Any] = array_library().cuda.ExternalStream(pointer)
    return chosen


def multiprocessors(device: Device) -> int:
    """How many multiprocessors a device has."""
    return int(array_library().cuda.Device(device.ordinal).attributes["MultiProcessorCount"])


def on_host(array: Any) -> Any:
    """An array of the current device as a NumPy array; waits for what has been started there."""
    return array if adapter.is_simulated() else array_library().asnumpy(array)


def allocate(count: int, dtype: Any) -> Any:
    """A zeroed array in device memory.

    Raises:
        LimitExceededError: If the device is out of memory.
    """
    return _made(array_library().zeros, count, dtype)


def allocate_for_overwrite(count: int, dtype: Any) -> Any:
    """As `allocate`, but not zeroed: for an output of which every byte will be written."""
    return _made(array_library().empty, count, dtype)


def _made(make: Any, count: int, dtype: Any) -> Any:
    if adapter.is_simulated():
        return make(count, dtype)
    try:
        return make(count, dtype)
    except array_library().cuda.memory.OutOfMemoryError as error:
        raise LimitExceededError(f"device memory: {error}") from error


def to_device(array: Array, ordinal: int = 0) -> Array:
    """The same array with its bytes in the memory of a CUDA device; copied.

    Raises:
        DeviceUnavailableError: If there is no such device.
    """
    adapter.require_device()
    device = Device("cuda", ordinal)
    library = array_library()

    def moved(buffer: Buffer) -> Buffer:
        with current(device):
            return Buffer(library.array(buffer.array), device)

    return _with_buffers(array, moved)


def to_host(array: Array) -> Array:
    """The same array with its bytes in host memory; copied, unless it is there already."""

    def moved(buffer: Buffer) -> Buffer:
        if buffer.device == HOST:
            return buffer
        if adapter.is_simulated():
            return Buffer(buffer.array.copy(), HOST)
        with current(buffer.device):
            return Buffer(array_library().asnumpy(buffer.array), HOST)

    return _with_buffers(array, moved)


def _with_buffers(array: Array, moved: Any) -> Array:
    """The array over other memory: its parts, and what is known of it, stay."""
    made = Array(
        array.type,
        array.length,
        [None if buffer is None else moved(buffer) for buffer in array.buffers],
        [_with_buffers(child, moved) for child in array.children],
        None if array.dictionary is None else _with_buffers(array.dictionary, moved),
        array.offset,
        array.known_null_count,
    )
    made._checked = array._checked
    return made
