"""Dense tensors: a NumPy array, with names for its dimensions.

Format: "Tensor (Multi-dimensional Array) Message Format".
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TypeAlias

import numpy as np
from numpy.typing import DTypeLike

from colkern import schema as s
from colkern.errors import InvalidArrowError, UnsupportedError
from colkern.extensions.making import dimension_names
from colkern.extensions.metadata import MAX_DIMENSIONS
from colkern.layouts import Role, layout
from colkern.memory import DType, Items

Numbers: TypeAlias = Items
"""Integers or floats of 8 to 64 bits."""

_INTEGERS = (s.Int(width, signed) for width in (8, 16, 32, 64) for signed in (True, False))
_TYPES: dict[DType, s.DataType] = {
    layout(type_).spec(Role.DATA).dtype: type_
    for type_ in (*_INTEGERS, s.float16(), s.float32(), s.float64())
}


def type_of(array: Numbers) -> s.DataType:
    """The data type of an array's numbers; raises `TypeError` if there is none."""
    type_ = _TYPES.get(array.dtype.newbyteorder("<"))
    if type_ is None:
        raise TypeError(f"tensors hold integers or floats of Arrow's types, not {array.dtype}")
    return type_


def dtype_of(type_: s.DataType) -> DType:
    """The NumPy type of a tensor's numbers; raises `UnsupportedError` unless integers or floats."""
    if not isinstance(type_, s.Int | s.FloatingPoint):
        raise UnsupportedError(f"tensors of {type_}; colkern has tensors of integers and floats")
    return layout(type_).spec(Role.DATA).dtype


def check_shape(shape: tuple[int, ...]) -> None:
    """Raise unless a shape has no negative size, and no more dimensions than NumPy allows."""
    if len(shape) > MAX_DIMENSIONS:
        raise UnsupportedError(
            f"a tensor of {len(shape)} dimensions; NumPy has at most {MAX_DIMENSIONS}"
        )
    if any(size < 0 for size in shape):
        raise InvalidArrowError(f"shape {shape}: a size is negative")


def is_addressable(shape: tuple[int, ...], itemsize: int) -> bool:
    """Whether NumPy can have an array of that shape: 64 bits must count its bytes, ignoring sizes of 0."""
    return prod(size or 1 for size in shape) * itemsize < 1 << 63


def row_major(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """The strides, in bytes, of row-major order; without elements, one item each, as in Arrow C++."""
    if 0 in shape:
        return (itemsize,) * len(shape)
    return tuple(itemsize * prod(shape[d + 1 :]) for d in range(len(shape)))


def names_of(dim_names: object, dimensions: int) -> tuple[str, ...] | None:
    """The names of the dimensions, or None; raises `ValueError` unless there is one for each."""
    names = dimension_names(dim_names)
    if names is not None and len(names) != dimensions:
        raise ValueError(f"dim_names: {len(names)} names for {dimensions} dimensions")
    return names


def require_array(values: object) -> None:
    """Raise `TypeError` unless `values` is a NumPy array."""
    if not isinstance(values, np.ndarray):
        raise TypeError(f"values: expected a NumPy array, got {type(values).__name__}")


@dataclass(frozen=True, eq=False, repr=False)
class Tensor:
    """An array of numbers with any number of dimensions; `np.asarray` takes it as it is.

    Args:
        dim_names: A name for each dimension, or None for no names.

    Raises:
        TypeError: If `values` is not an array of integers or floats, or `dim_names` is not a sequence
            of strings.
        ValueError: If there is not one name for each dimension.
    """

    values: Numbers
    dim_names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        require_array(self.values)
        type_of(self.values)
        object.__setattr__(self, "dim_names", names_of(self.dim_names, self.values.ndim))

    @property
    def type(self) -> s.DataType:
        """The data type of the numbers."""
        return type_of(self.values)

    @property
    def shape(self) -> tuple[int, ...]:
        """The size of each dimension."""
        return self.values.shape

    @property
    def strides(self) -> tuple[int, ...]:
        """The bytes between neighbouring elements in each dimension."""
        return self.values.strides

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self.values.ndim

    @property
    def size(self) -> int:
        """The number of numbers."""
        return self.values.size

    def to_numpy(self) -> Numbers:
        """The array; not copied."""
        return self.values

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Numbers:
        return np.array(self.values, dtype, copy=copy)

    def equals(self, other: object) -> bool:
        """Whether both are dense, with equal types, names, shapes and numbers; NaN equals nothing."""
        return (
            isinstance(other, Tensor)
            and self.type == other.type
            and self.dim_names == other.dim_names
            and bool(np.array_equal(self.values, other.values))
        )

    def __repr__(self) -> str:
        names = f", dimensions {', '.join(map(repr, self.dim_names))}" if self.dim_names else ""
        return f"<colkern.ipc.Tensor of {self.type}, shape {self.shape}{names}>\n{self.values}"
