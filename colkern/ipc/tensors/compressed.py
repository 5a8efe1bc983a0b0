"""Compressed rows or columns (CSR, CSC): the places of one dimension shrink to pointers.

Format: `SparseTensor.fbs`, "SparseMatrixIndexCSX".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from colkern.errors import InvalidArrowError
from colkern.ipc.tensors.numeric import Numbers, require_array
from colkern.ipc.tensors.sparse import (
    Sparse,
    check_index,
    check_pointers,
    check_positions,
    from_scipy,
    scipy_sparse,
    sizes_of,
)


@dataclass(frozen=True, eq=False, repr=False)
class CompressedMatrix(Sparse):
    """A sparse matrix, compressed along its `axis`.

    Args:
        data: The values, row by row (CSR) or column by column (CSC).
        indptr: Where the values of each row (or column) begin, and where the last one's end.
        indices: The column (or row) of each value.
        shape: The numbers of rows and columns.
        dim_names: A name for each dimension, or None for no names.

    Raises:
        TypeError: If an array is not one-dimensional, or an index not of integers.
        InvalidArrowError: If the arrays do not fit the shape, or each other.
    """

    axis: ClassVar[int]
    """The dimension that is compressed: 0 for rows, 1 for columns."""

    _scipy_format: ClassVar[str]

    data: Numbers
    indptr: Numbers
    indices: Numbers
    shape: tuple[int, ...]
    dim_names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        self._check_values()
        check_index(self.indptr, "indptr")
        check_index(self.indices, "indices")
        if len(self.shape) != 2:
            raise InvalidArrowError(f"a sparse matrix of shape {self.shape}")
        if self.indices.size != self.data.size:
            raise InvalidArrowError(f"{self.indices.size} indices for {self.data.size} values")
        check_pointers(self.indptr, self.shape[self.axis], self.data.size, "indptr")
        check_positions(self.indices, self.shape[1 - self.axis], "indices")

    @classmethod
    def from_dense(cls, values: Numbers, dim_names: tuple[str, ...] | None = None) -> Self:
        """The values of a matrix that are not zero.

        Raises:
            TypeError: If `values` is no NumPy array.
            ValueError: If `values` has not two dimensions.
        """
        require_array(values, "values")
        if values.ndim != 2:
            raise ValueError(f"values: expected two dimensions, got shape {values.shape}")
        lines = values if cls.axis == 0 else values.T
        line, place = lines.nonzero()
        indptr = np.zeros(lines.shape[0] + 1, np.int64)
        np.cumsum(np.bincount(line, minlength=lines.shape[0]), out=indptr[1:])
        indices = place.astype(np.int64, copy=False)
        return cls(lines[line, place], indptr, indices, values.shape, dim_names)

    @classmethod
    def from_scipy(cls, matrix: object, dim_names: tuple[str, ...] | None = None) -> Self:
        """A sparse array or matrix of SciPy's; not copied if it has this format.

        Raises:
            TypeError: If `matrix` is none.
        """
        same = from_scipy(matrix, cls._scipy_format)
        return cls(same.data, same.indptr, same.indices, same.shape, dim_names)

    def positions(self) -> Iterator[tuple[int, Numbers]]:
        """Both dimensions with the place of every value in them."""
        lines = np.arange(self.shape[self.axis], dtype=np.int64)
        yield self.axis, np.repeat(lines, sizes_of(self.indptr))
        yield 1 - self.axis, self.indices

    def to_numpy(self) -> tuple[Numbers, Numbers, Numbers]:
        """Values, pointers and indices; not copied."""
        return self.data, self.indptr, self.indices

    def to_scipy(self) -> Any:
        """A `scipy.sparse.csr_array` or `csc_array`; not copied, where SciPy takes the index type.

        Raises:
            ImportError: If SciPy is not installed.
        """
        make = getattr(scipy_sparse(), f"{self._scipy_format}_array")
        return make((self.data, self.indices, self.indptr), shape=self.shape)


class SparseCSRMatrix(CompressedMatrix):
    """A sparse matrix in compressed rows; see `CompressedMatrix` for the arguments."""

    axis = 0
    _scipy_format = "csr"


class SparseCSCMatrix(CompressedMatrix):
    """A sparse matrix in compressed columns; see `CompressedMatrix` for the arguments."""

    axis = 1
    _scipy_format = "csc"
