"""Arrays of numbers as tensors, by DLPack and the CUDA array interface, both ways; not copied.

Tensors are contiguous numbers without nulls. NumPy and CuPy make the DLPack capsules.

Python array API standard: "Data interchange mechanisms"; DLPack 1.0: `DLManagedTensorVersioned`.
CUDA array interface, version 3: "Python Interface Specification", "Synchronization".
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.cuda import memory
from colkern.cuda.memory import held
from colkern.errors import UnsupportedError
from colkern.interchange import abi
from colkern.layouts import Role, layout
from colkern.memory import HOST, Buffer, Device, DType, Items, dlpack_capsule

if TYPE_CHECKING:
    from typing_extensions import CapsuleType


_NUMBERS: list[s.DataType] = [
    *(s.Int(bits, signed) for bits in (8, 16, 32, 64) for signed in (True, False)),
    *(s.FloatingPoint(bits) for bits in (16, 32, 64)),
]

_TYPES = {layout(number).spec(Role.DATA).dtype: number for number in _NUMBERS}


def numbers_of(array: Array) -> Items:
    """The values of an array as an array of NumPy or CuPy, on their device; not copied."""
    if not isinstance(array.type, s.Int | s.FloatingPoint):
        raise UnsupportedError(
            f"an array of {array.type} cannot be a tensor, which has integers or floats"
        )
    if array.null_count:
        raise UnsupportedError(f"{array.null_count} values are null, and a tensor has no nulls")
    return array.items(Role.DATA)


def type_of_numbers(dtype: DType) -> s.DataType:
    """The data type for numbers of a dtype; raises `UnsupportedError` if there is none."""
    if dtype not in _TYPES:
        why = "; Arrow's booleans are bits" if dtype.kind == "b" else ""
        raise UnsupportedError(f"a tensor of {dtype}: only integers and floats are supported{why}")
    return _TYPES[dtype]


def array_over(numbers: Items, device: Device) -> Array:
    """An array over a one-dimensional tensor, not copied; its numbers must not change afterwards."""
    data_type = type_of_numbers(numbers.dtype)
    require_row(numbers.shape, numbers.flags.c_contiguous)
    data = Buffer(numbers.view(np.uint8), device)
    return Array(data_type, len(numbers), (None, data), null_count=0)


def require_row(shape: tuple[int, ...], contiguous: bool) -> None:
    """Raise `ValueError` unless a tensor has one dimension and is contiguous."""
    if len(shape) != 1:
        raise ValueError(f"expected a tensor of one dimension, got shape {shape}")
    if not contiguous:
        raise ValueError("the tensor is not contiguous: make it contiguous first")


def export_tensor(array: Array, **options: Any) -> CapsuleType:
    """The DLPack capsule of an array without nulls; see `colkern.memory.dlpack_capsule`.

    Raises:
        BufferError: If the array is not of integers or floats, or has nulls.
    """
    try:
        numbers = numbers_of(array)
    except UnsupportedError as error:
        raise BufferError(str(error)) from None
    return dlpack_capsule(numbers, **options)


def from_dlpack(tensor: object) -> Array:
    """An array over a tensor of one dimension, in host or in device memory; not copied.

    The tensor must not be changed afterwards. On a device, later work on the caller's current stream
    waits for the producer.

    Args:
        tensor: An object with `__dlpack__` and `__dlpack_device__`: an array of NumPy, CuPy, PyTorch,
            JAX …

    Raises:
        TypeError: If it has no such methods.
        ValueError: If it does not have one dimension, or is not contiguous.
        UnsupportedError: If its values are not integers or floats, or on another device than a CPU or
            CUDA device.
        DeviceUnavailableError: If it is on a CUDA device that this process does not have.
    """
    if not hasattr(tensor, "__dlpack__") or not hasattr(tensor, "__dlpack_device__"):
        raise TypeError(f"tensor: {type(tensor).__qualname__} has no DLPack methods")
    device_type, device_id = tensor.__dlpack_device__()
    device = abi.device_of_type(int(device_type), int(device_id))
    if device == HOST:
        return array_over(np.from_dlpack(tensor), HOST)
    memory.require_device(device)
    with memory.current(device):
        items = memory.array_library().from_dlpack(tensor)
        array = array_over(items, device)
        if not len(array) or memory.device_of(tensor) is not None:
            return array
        buffer = array.buffers[1]
        assert buffer is not None
        bytes_ = memory.library().array_at(
            buffer.address, buffer.size, device.ordinal, held(items, device)
        )
        return array_over(bytes_.view(items.dtype), device)


_VERSION = 3
_LEGACY_DEFAULT_STREAM = 1


def cuda_array_interface(array: Array) -> dict[str, object]:
    """The CUDA array interface of an array without nulls; its stream is the caller's current one.

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
        # The data is read-only, but PyTorch refuses arrays that say so.
        "data": (address, False),
        "strides": None,
        "stream": stream,
    }


def from_cuda_array(obj: Any) -> Array:
    """An array over an object of one dimension with `__cuda_array_interface__`; not copied.

    The object must not be changed afterwards. Its stream is waited for, unless it is CuPy's, whose
    streams are the caller's.

    Raises:
        TypeError: If it has no such attribute.
        ValueError: If it does not have one dimension, is not contiguous, or its stream is 0, which the
            interface leaves undefined.
        UnsupportedError: If its values are not integers or floats, are masked, or are not in device
            memory.
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
        raise UnsupportedError("a CUDA array with a mask is not supported")
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
    """Wait for the producer's stream, as the interface requires of a consumer."""
    if stream == 0:
        raise ValueError(
            "the stream of the CUDA array interface is 0, which the interface does not allow"
        )
    if stream is not None:
        memory.library().finish_stream(stream)


def _device_at(address: int) -> Device:
    ordinal = memory.library().ordinal_at(address)
    if ordinal is None:
        raise UnsupportedError(f"the array's address {address:#x} is not in device memory")
    return Device("cuda", ordinal)
