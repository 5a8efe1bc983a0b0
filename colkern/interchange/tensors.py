"""The tensors of DLPack and the CUDA array interface: contiguous numbers, none of them null."""

from __future__ import annotations

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.errors import UnsupportedError
from colkern.layouts import Role, layout
from colkern.memory import Buffer, Device, DType, Items

_NUMBERS: list[s.DataType] = [
    *(s.Int(bits, signed) for bits in (8, 16, 32, 64) for signed in (True, False)),
    *(s.FloatingPoint(bits) for bits in (16, 32, 64)),
]

_TYPES = {layout(number).spec(Role.DATA).dtype: number for number in _NUMBERS}


def numbers_of(array: Array) -> Items:
    """The values of an array, where they are, as an array of NumPy or CuPy; not copied."""
    if not isinstance(array.type, s.Int | s.FloatingPoint):
        raise UnsupportedError(f"an array of {array.type} is no tensor of integers or floats")
    if array.null_count:
        raise UnsupportedError(f"{array.null_count} values are null, and a tensor has no nulls")
    return array.items(Role.DATA)


def type_of_numbers(dtype: DType) -> s.DataType:
    """The data type whose values are stored like that; raises `UnsupportedError` if there is none."""
    if dtype not in _TYPES:
        why = "; Arrow's booleans are bits" if dtype.kind == "b" else ""
        raise UnsupportedError(f"a tensor of {dtype}, where integers and floats are taken{why}")
    return _TYPES[dtype]


def array_over(numbers: Items, device: Device) -> Array:
    """The array of a one-dimensional tensor, not copied: its numbers must not be changed after."""
    data_type = type_of_numbers(numbers.dtype)
    require_row(numbers.shape, numbers.flags.c_contiguous)
    data = Buffer(numbers.view(np.uint8), device)
    return Array(data_type, len(numbers), (None, data), null_count=0)


def require_row(shape: tuple[int, ...], contiguous: bool) -> None:
    """Raise `ValueError` for a tensor that is not values side by side."""
    if len(shape) != 1:
        raise ValueError(f"expected a tensor of one dimension, got shape {shape}")
    if not contiguous:
        raise ValueError("the values of the tensor are not side by side: make it contiguous first")
