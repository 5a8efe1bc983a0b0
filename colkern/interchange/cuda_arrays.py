"""Arrays of numbers by the CUDA array interface, both ways; not copied.

CUDA array interface, version 3: "Python Interface Specification", "Synchronization".
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

from colkern.arrays import Array
from colkern.cuda import memory
from colkern.cuda.foreign import held
from colkern.errors import UnsupportedError
from colkern.interchange.tensors import array_over, numbers_of, require_row, type_of_numbers
from colkern.layouts import Role
from colkern.memory import Device

_VERSION = 3
_LEGACY_DEFAULT_STREAM = 1


def cuda_array_interface(array: Array) -> dict[str, object]:
    """The interface of an array without nulls; its stream is the caller's current one.

    Raises:
        UnsupportedError: If the bytes are not on a CUDA device, the array is not of integers or
            floats, or it has nulls.
    """
    if array.device.kind != "cuda":
        raise UnsupportedError(f"the bytes live on {array.device}, not on a CUDA device")
    numbers = numbers_of(array)
    spec = array.layout.spec(Role.DATA)
    data = array.buffer(Role.DATA)
    address = 0
    if data is not None and array.length:
        address = data.address + array.offset * spec.dtype.itemsize
    with memory.current(array.device):
        stream = memory.current_stream() or _LEGACY_DEFAULT_STREAM
    return {
        "version": _VERSION,
        "shape": numbers.shape,
        "typestr": spec.dtype.str,
        # It is read-only. PyTorch refuses what says so.
        "data": (address, False),
        "strides": None,
        "stream": stream,
    }


def from_cuda_array(obj: Any) -> Array:
    """The array of an object with `__cuda_array_interface__`, which has one dimension; not copied.

    It must not be changed from then on. Unless it is CuPy's, whose streams are the caller's, its stream
    is waited for.

    Raises:
        TypeError: If it has no such attribute.
        ValueError: If it has more or less than one dimension, its values are not side by side, or its
            stream is 0, which the interface leaves undefined.
        UnsupportedError: If they are not integers or floats, are masked, or not in device memory.
        DeviceUnavailableError: If this process has no CUDA device.
    """
    interface = getattr(obj, "__cuda_array_interface__", None)
    if interface is None:
        raise TypeError(f"obj: {type(obj).__qualname__} has no __cuda_array_interface__")
    memory.require_device()
    device = memory.device_of(obj)
    if device is not None:
        return array_over(obj, device)
    return _array_of(interface, obj)


def _array_of(interface: Mapping[str, Any], owner: object) -> Array:
    if interface.get("mask") is not None:
        raise UnsupportedError("an array of CUDA with a mask")
    dtype = np.dtype(interface["typestr"])
    type_of_numbers(dtype)
    shape = tuple(interface["shape"])
    require_row(shape, interface.get("strides") in (None, (dtype.itemsize,)) or prod(shape) < 2)
    _finish(interface.get("stream"))
    address, _ = interface["data"]
    size = shape[0] * dtype.itemsize
    device = memory.current_device() if size == 0 else _device_at(address)
    with memory.current(device):
        if size == 0:
            return array_over(memory.allocate(0, dtype), device)
        bytes_ = memory.library().array_at(address, size, device.ordinal, held(owner, device))
        return array_over(bytes_.view(dtype), device)


def _finish(stream: int | None) -> None:
    """Wait for the producer, as the interface asks of a consumer."""
    if stream == 0:
        raise ValueError(
            "the stream of the CUDA array interface is 0, which is none of its streams"
        )
    if stream is not None:
        memory.library().finish_stream(stream)


def _device_at(address: int) -> Device:
    ordinal = memory.library().ordinal_at(address)
    if ordinal is None:
        raise UnsupportedError(f"the array's address {address:#x} is not in device memory")
    return Device("cuda", ordinal)
