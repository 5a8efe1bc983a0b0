"""Arrays of numbers as DLPack tensors, both ways; not copied.

The capsules are NumPy's and CuPy's.

Python array API standard: "Data interchange mechanisms"; DLPack 1.0: `DLManagedTensorVersioned`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from colkern.arrays import Array
from colkern.cuda import memory
from colkern.cuda.foreign import held
from colkern.errors import UnsupportedError
from colkern.interchange.device_types import device_of_type
from colkern.interchange.tensors import array_over, numbers_of
from colkern.memory import HOST, dlpack_capsule

if TYPE_CHECKING:
    from typing_extensions import CapsuleType


def export_tensor(array: Array, **options: Any) -> CapsuleType:
    """The capsule of an array without nulls; see `colkern.memory.dlpack_capsule`.

    Raises:
        BufferError: If the array is not of integers or floats, or has nulls.
    """
    try:
        numbers = numbers_of(array)
    except UnsupportedError as error:
        raise BufferError(str(error)) from None
    return dlpack_capsule(numbers, **options)


def from_dlpack(tensor: Any) -> Array:
    """The array of a tensor of one dimension, in host or in device memory; not copied.

    The tensor must not be changed from then on. On a device, what the caller's current stream gets
    next waits for the producer.

    Args:
        tensor: An object with `__dlpack__` and `__dlpack_device__`: an array of NumPy, CuPy, PyTorch,
            JAX …

    Raises:
        TypeError: If it has no such methods.
        ValueError: If it has more or less than one dimension, or its values are not side by side.
        UnsupportedError: If they are not integers or floats, or on another device than a CPU or one of
            CUDA.
        DeviceUnavailableError: If they are on a CUDA device that this process does not have.
    """
    if not hasattr(tensor, "__dlpack__") or not hasattr(tensor, "__dlpack_device__"):
        raise TypeError(f"tensor: {type(tensor).__qualname__} has no methods of DLPack")
    device_type, device_id = tensor.__dlpack_device__()
    device = device_of_type(int(device_type), int(device_id))
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
