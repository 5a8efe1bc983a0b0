"""Coordinates (COO): beside each value, its place in every dimension.

Format: `SparseTensor.fbs`, "SparseTensorIndexCOO".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from colkern.errors import InvalidArrowError
from colkern.ipc.tensors.numeric import Numbers, require_array
from colkern.ipc.tensors.sparse import Sparse, check_positions, from_scipy, scipy_sparse


@dataclass(frozen=True, eq=False, repr=False)
class SparseCOOTensor(Sparse):
    """A sparse tensor by coordinates.

    Args:
        data: The values.
        coords: Integers, a row for each value and a column for each dimension.
        shape: The size of each dimension.
        dim_names: A name for each dimension, or None for no names.
        has_canonical_format: Whether rows ascend in lexicographic order and none comes twice.

    Raises:
        TypeError: If an array is not of that kind.
        InvalidArrowError: If the arrays do not fit the shape, or each other, or are not canonical as
            said.
    """

    data: Numbers
    coords: Numbers
    shape: tuple[int, ...]
    dim_names: tuple[str, ...] | None = None
    has_canonical_format: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        self._check_values()
        coords = self.coords
        if not isinstance(coords, np.ndarray) or coords.ndim != 2 or coords.dtype.kind not in "iu":
            raise TypeError("coords: expected a two-dimensional NumPy array of integers")
        if coords.shape != (self.data.size, len(self.shape)):
            raise InvalidArrowError(
                f"coordinates of shape {coords.shape} for {self.data.size} values "
                f"in {len(self.shape)} dimensions"
            )
        for dimension, size in enumerate(self.shape):
            check_positions(coords[:, dimension], size, f"coordinates of dimension {dimension}")
        if self.has_canonical_format and not _ascend(coords):
            raise InvalidArrowError("coordinates are not in canonical order, which they should be")

    @classmethod
    def from_dense(cls, values: Numbers, dim_names: tuple[str, ...] | None = None) -> Self:
        """The values of an array that are not zero; canonical."""
        require_array(values, "values")
        coords = np.argwhere(values).astype(np.int64, copy=False)
        return cls(values[tuple(coords.T)], coords, values.shape, dim_names, True)

    @classmethod
    def from_scipy(cls, matrix: object, dim_names: tuple[str, ...] | None = None) -> Self:
        """A sparse array or matrix of SciPy's, of any format; coordinates are copied.

        Raises:
            TypeError: If `matrix` is none.
        """
        coo = from_scipy(matrix, "coo")
        return cls(coo.data, np.stack(coo.coords, axis=1), coo.shape, dim_names)

    def positions(self) -> Iterator[tuple[int, Numbers]]:
        """Each dimension with the place of every value in it."""
        return enumerate(self.coords.T)

    def to_numpy(self) -> tuple[Numbers, Numbers]:
        """Values and coordinates; not copied."""
        return self.data, self.coords

    def to_scipy(self) -> Any:
        """A `scipy.sparse.coo_array`; values are not copied.

        Raises:
            ImportError: If SciPy is not installed.
            ValueError: If there are not two dimensions.
        """
        if self.ndim != 2:
            raise ValueError(f"SciPy takes sparse arrays of two dimensions here, not {self.ndim}")
        array = scipy_sparse().coo_array((self.data, tuple(self.coords.T)), shape=self.shape)
        array.has_canonical_format = self.has_canonical_format
        return array


def _ascend(coords: Numbers) -> bool:
    """Whether each row stands behind the one before it in lexicographic order."""
    ascends = np.zeros(max(len(coords) - 1, 0), np.bool_)
    equal = ~ascends
    for column in coords.T:
        ascends |= equal & (column[1:] > column[:-1])
        equal &= column[1:] == column[:-1]
    return bool(ascends.all())
