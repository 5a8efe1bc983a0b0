"""The base of sparse tensors: their values, their shape, and the dense array that they stand for.

Each class checks its index in its constructor. So tensors of messages and of callers follow the same
rules, and need no further checks.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import fields
from math import prod
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from colkern.errors import InvalidArrowError, LimitExceededError, shown
from colkern.ipc.tensors.numeric import (
    Numbers,
    check_shape,
    is_addressable,
    names_of,
    row_major,
    type_of,
)
from colkern.names import why_missing
from colkern.schema import DataType

MAX_DENSE_BYTES = 1 << 32
"""The default limit of the result of `to_dense`."""


class Sparse(ABC):
    """A tensor with only some values kept, by `data`, `shape`, `dim_names` and arrays for the index."""

    data: Numbers
    shape: tuple[int, ...]
    dim_names: tuple[str, ...] | None

    def _check_values(self) -> None:
        """Raise unless data, shape and names are well-formed."""
        try:
            shape = tuple(operator.index(size) for size in self.shape)
        except TypeError:
            raise TypeError(f"shape: expected integers, got {shown(self.shape)}") from None
        object.__setattr__(self, "shape", shape)
        if not isinstance(self.data, np.ndarray) or self.data.ndim != 1:
            raise TypeError("data: expected a one-dimensional NumPy array")
        type_of(self.data)
        check_shape(self.shape)
        if not self.shape:
            raise InvalidArrowError("a sparse tensor needs a dimension")
        object.__setattr__(self, "dim_names", names_of(self.dim_names, len(self.shape)))

    @property
    def type(self) -> DataType:
        """The data type of the numbers."""
        return type_of(self.data)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of numbers, zeros included."""
        return prod(self.shape)

    @property
    def non_zero_length(self) -> int:
        """The number of values that are kept."""
        return self.data.size

    @abstractmethod
    def positions(self) -> Iterator[tuple[int, Numbers]]:
        """Each dimension, in any order, with the place of every value in it."""

    def coordinates(self) -> NDArray[np.int64]:
        """Where the values stand: a new matrix, a row for each value and a column a dimension."""
        coords = np.empty((self.data.size, self.ndim), np.int64)
        for dimension, positions in self.positions():
            coords[:, dimension] = positions
        return coords

    def to_dense(self, *, max_bytes: int = MAX_DENSE_BYTES) -> Numbers:
        """A new array with the values in place and zeros elsewhere; values of one place are added up.

        Args:
            max_bytes: How large the array may be: a short message may claim any shape.

        Raises:
            LimitExceededError: If it would be larger.
        """
        itemsize = self.data.dtype.itemsize
        if self.size * itemsize > max_bytes or not is_addressable(self.shape, itemsize):
            raise LimitExceededError(
                f"shape {self.shape} of {self.type} is {self.size * itemsize} bytes, "
                f"over the limit of {max_bytes}; raise max_bytes to have it"
            )
        # One number a value, not one for each dimension: of those there may be many.
        places = np.zeros(self.data.size, np.int64)
        steps = row_major(self.shape, 1)
        for dimension, positions in self.positions():
            places += positions.astype(np.int64, copy=False) * steps[dimension]
        dense = np.zeros(prod(self.shape), self.data.dtype)
        with np.errstate(invalid="ignore", over="ignore"):
            np.add.at(dense, places, self.data)
        return dense.reshape(self.shape)

    def equals(self, other: object) -> bool:
        """Whether both are of one class and agree in type, shape, names, values and index."""
        if not isinstance(other, type(self)) or self.type != other.type:
            return False
        return all(
            _same(getattr(self, field.name), getattr(other, field.name))
            for field in fields(self)  # type: ignore[arg-type]
            if field.compare
        )

    def __repr__(self) -> str:
        names = f", dimensions {', '.join(map(repr, self.dim_names))}" if self.dim_names else ""
        count = self.non_zero_length
        return (
            f"<colkern.ipc.{type(self).__name__} of {self.type}, shape {self.shape}{names}: "
            f"{count} value{'' if count == 1 else 's'}>\n{self.data}"
        )


def _same(a: object, b: object) -> bool:
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return bool(np.array_equal(a, b))
    return bool(a == b)


def check_index(array: object, what: str) -> None:
    """Raise `TypeError` unless that is a one-dimensional NumPy array of integers."""
    if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype.kind not in "iu":
        raise TypeError(f"{what}: expected a one-dimensional NumPy array of integers")


def check_positions(positions: Numbers, size: int, what: str) -> None:
    """Raise `InvalidArrowError` unless all positions lie in a dimension of that size."""
    if not positions.size:
        return
    low, high = int(positions.min()), int(positions.max())
    if low < 0 or high >= size:
        outside = low if low < 0 else high
        raise InvalidArrowError(f"{what}: position {outside} in a dimension of {size}")


def check_pointers(pointers: Numbers, ranges: int, end: int, what: str) -> None:
    """Raise unless the pointers cut `end` entries into that many ranges, one after the other."""
    if pointers.size != ranges + 1:
        raise InvalidArrowError(f"{what}: {pointers.size} pointers for {ranges} ranges")
    if pointers[0] != 0 or pointers[-1] != end:
        raise InvalidArrowError(
            f"{what}: from {pointers[0]} to {pointers[-1]}, not from 0 to {end}"
        )
    descents = pointers[1:] < pointers[:-1]
    if descents.any():
        place = int(descents.argmax())
        raise InvalidArrowError(
            f"{what}: range {place} goes from {pointers[place]} to {pointers[place + 1]}"
        )


def sizes_of(pointers: Numbers) -> NDArray[np.int64]:
    """The lengths of the ranges between pointers, which have been checked."""
    ends = pointers.astype(np.int64, copy=False)
    return ends[1:] - ends[:-1]


def scipy_sparse() -> Any:
    """The module `scipy.sparse`."""
    try:
        import scipy.sparse
    except ImportError as error:
        raise ImportError(why_missing(error, "scipy"), name=error.name) from None
    return scipy.sparse


def from_scipy(matrix: object, wanted: str) -> Any:
    """A sparse array of SciPy's in a format; itself if it has it. Raises `TypeError` if it is none."""
    if not scipy_sparse().issparse(matrix):
        raise TypeError(f"matrix: expected a sparse array of SciPy's, got {type(matrix).__name__}")
    return cast("Any", matrix).asformat(wanted)
