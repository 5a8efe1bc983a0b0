"""The base of sparse tensors: their values, their shape, and conversion to a dense array.

Each class checks its index in its constructor. So tensors from messages and from callers follow the
same rules, and need no further checks.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from math import prod
from types import ModuleType
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray

from colkern.errors import InvalidArrowError, LimitExceededError, shown
from colkern.ipc.tensors.dense import (
    Numbers,
    check_shape,
    is_addressable,
    names_of,
    require_array,
    row_major,
    type_of,
)
from colkern.names import why_missing
from colkern.schema import DataType

MAX_DENSE_BYTES = 1 << 32
"""The default limit of the result of `to_dense`."""


class Sparse(ABC):
    """A tensor that stores some of its values, with `data`, `shape`, `dim_names` and index arrays.

    Args:
        data: The values.
        shape: The size of each dimension.
        dim_names: A name for each dimension, or None for no names.

    Raises:
        TypeError: If an array has another kind or number of dimensions than it should have.
        InvalidArrowError: If the arrays do not fit the shape, or each other.
    """

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
        """The number of elements, including zeros."""
        return prod(self.shape)

    @property
    def non_zero_length(self) -> int:
        """The number of values that are stored."""
        return self.data.size

    @abstractmethod
    def positions(self) -> Iterator[tuple[int, Numbers]]:
        """Each dimension, in any order, with the position of every value in it."""

    def coordinates(self) -> NDArray[np.int64]:
        """The positions of the values: a new matrix, a row for each value, a column for each dimension."""
        coords = np.empty((self.data.size, self.ndim), np.int64)
        for dimension, positions in self.positions():
            coords[:, dimension] = positions
        return coords

    def to_dense(self, *, max_bytes: int = MAX_DENSE_BYTES) -> Numbers:
        """A new array of the values, with zeros elsewhere; values at one position are added up.

        Args:
            max_bytes: The most bytes of the array: a short message may claim any shape.

        Raises:
            LimitExceededError: If it would be larger.
        """
        itemsize = self.data.dtype.itemsize
        if self.size * itemsize > max_bytes or not is_addressable(self.shape, itemsize):
            raise LimitExceededError(
                f"shape {self.shape} of {self.type} is {self.size * itemsize} bytes, "
                f"over the limit of {max_bytes}; raise max_bytes to have it"
            )
        # One number for each value, not one for each dimension, of which there may be many.
        places = np.zeros(self.data.size, np.int64)
        steps = row_major(self.shape, 1)
        for dimension, positions in self.positions():
            places += positions.astype(np.int64, copy=False) * steps[dimension]
        dense = np.zeros(prod(self.shape), self.data.dtype)
        with np.errstate(invalid="ignore", over="ignore"):
            np.add.at(dense, places, self.data)
        return dense.reshape(self.shape)

    def equals(self, other: object) -> bool:
        """Whether both are of one class and have equal types, shapes, names, values and indices."""
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
    """Raise `TypeError` unless an index is a one-dimensional NumPy array of integers."""
    if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype.kind not in "iu":
        raise TypeError(f"{what}: expected a one-dimensional NumPy array of integers")


def check_positions(positions: Numbers, size: int, what: str) -> None:
    """Raise `InvalidArrowError` unless all positions are within a dimension of that size."""
    if not positions.size:
        return
    low, high = int(positions.min()), int(positions.max())
    if low < 0 or high >= size:
        outside = low if low < 0 else high
        raise InvalidArrowError(f"{what}: position {outside} in a dimension of {size}")


def check_pointers(pointers: Numbers, ranges: int, end: int, what: str) -> None:
    """Raise unless the pointers divide `end` entries into that many consecutive ranges."""
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
    """The lengths of the ranges between checked pointers."""
    ends = pointers.astype(np.int64, copy=False)
    return ends[1:] - ends[:-1]


def scipy_sparse() -> ModuleType:
    """The module `scipy.sparse`; raises `ImportError` if it is not installed."""
    try:
        import scipy.sparse
    except ImportError as error:
        raise ImportError(why_missing(error, "scipy"), name=error.name) from None
    module: ModuleType = scipy.sparse
    return module


def from_scipy(matrix: object, wanted: str) -> Any:
    """A SciPy sparse array, converted to a format if need be; raises `TypeError` for other objects."""
    if not scipy_sparse().issparse(matrix):
        raise TypeError(f"matrix: expected a sparse array of SciPy's, got {type(matrix).__name__}")
    return cast("Any", matrix).asformat(wanted)


@dataclass(frozen=True, eq=False, repr=False)
class SparseCOOTensor(Sparse):
    """A sparse tensor by coordinates.

    Args:
        data, shape, dim_names: See `Sparse`, also for errors.
        coords: Integers, a row for each value and a column for each dimension.
        has_canonical_format: Whether rows are in lexicographic order without repetitions; if they are
            said to be and are not, that is an `InvalidArrowError`.
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
        """The values of an array that are not zero, in canonical order."""
        require_array(values)
        coords = np.argwhere(values).astype(np.int64, copy=False)
        return cls(values[tuple(coords.T)], coords, values.shape, dim_names, True)

    @classmethod
    def from_scipy(cls, matrix: object, dim_names: tuple[str, ...] | None = None) -> Self:
        """A SciPy sparse array or matrix of any format; coordinates are copied.

        Raises:
            TypeError: If `matrix` is no sparse array or matrix.
        """
        coo = from_scipy(matrix, "coo")
        return cls(coo.data, np.stack(coo.coords, axis=1), coo.shape, dim_names)

    def positions(self) -> Iterator[tuple[int, Numbers]]:
        """Each dimension with the position of every value in it."""
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
    """Whether each row comes after the one before it in lexicographic order."""
    ascends = np.zeros(max(len(coords) - 1, 0), np.bool_)
    equal = ~ascends
    for column in coords.T:
        ascends |= equal & (column[1:] > column[:-1])
        equal &= column[1:] == column[:-1]
    return bool(ascends.all())


@dataclass(frozen=True, eq=False, repr=False)
class CompressedMatrix(Sparse):
    """A sparse matrix, compressed along its `axis`.

    Args:
        data: The values, row by row (CSR) or column by column (CSC).
        indptr: The start of each row's (or column's) values, and the end of the last one's.
        indices: The column (or row) of each value.
        shape, dim_names: See `Sparse`, also for errors.
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
            ValueError: If `values` does not have two dimensions.
        """
        require_array(values)
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
        """A SciPy sparse array or matrix; not copied if it has this format.

        Raises:
            TypeError: If `matrix` is no sparse array or matrix.
        """
        same = from_scipy(matrix, cls._scipy_format)
        return cls(same.data, same.indptr, same.indices, same.shape, dim_names)

    def positions(self) -> Iterator[tuple[int, Numbers]]:
        """Both dimensions, with the position of every value in them."""
        lines = np.arange(self.shape[self.axis], dtype=np.int64)
        yield self.axis, np.repeat(lines, sizes_of(self.indptr))
        yield 1 - self.axis, self.indices

    def to_numpy(self) -> tuple[Numbers, Numbers, Numbers]:
        """Values, pointers and indices; not copied."""
        return self.data, self.indptr, self.indices

    def to_scipy(self) -> Any:
        """A `scipy.sparse.csr_array` or `csc_array`; not copied if SciPy accepts the index type.

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


@dataclass(frozen=True, eq=False, repr=False)
class SparseCSFTensor(Sparse):
    """A sparse tensor as a tree; a node is a position in the dimension of its level.

    Args:
        data: The values, one for each leaf.
        indptr: For each level but the last, the start of each node's children, and the end of the last
            one's.
        indices: For each level, the position of each node.
        axis_order: The dimension of each level, from the root on.
        shape, dim_names: See `Sparse`, also for errors.
    """

    data: Numbers
    indptr: tuple[Numbers, ...]
    indices: tuple[Numbers, ...]
    axis_order: tuple[int, ...]
    shape: tuple[int, ...]
    dim_names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        self._check_values()
        for name in ("indptr", "indices"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
            for level, array in enumerate(getattr(self, name)):
                check_index(array, f"{name} of level {level}")
                if array.dtype != getattr(self, name)[0].dtype:
                    raise TypeError(f"{name}: the levels have different types")
        object.__setattr__(self, "axis_order", tuple(int(axis) for axis in self.axis_order))
        check_levels(self.axis_order, len(self.indptr), len(self.indices), len(self.shape))
        for level, (pointers, nodes) in enumerate(zip(self.indptr, self.indices, strict=False)):
            children = self.indices[level + 1].size
            check_pointers(pointers, nodes.size, children, f"indptr of level {level}")
        for level, (axis, nodes) in enumerate(zip(self.axis_order, self.indices, strict=True)):
            check_positions(nodes, self.shape[axis], f"indices of level {level}")
        if self.indices[-1].size != self.data.size:
            raise InvalidArrowError(f"{self.indices[-1].size} leaves for {self.data.size} values")

    @classmethod
    def from_dense(cls, values: Numbers, dim_names: tuple[str, ...] | None = None) -> Self:
        """The values of an array that are not zero; the shortest dimension is the root's.

        Raises:
            TypeError: If `values` is no NumPy array.
            ValueError: If `values` has no dimensions.
        """
        require_array(values)
        if values.ndim == 0:
            raise ValueError("values: expected at least one dimension")
        axis_order = tuple(np.argsort(values.shape, kind="stable").tolist())
        ordered = values.transpose(axis_order)
        coords = np.argwhere(ordered).astype(np.int64, copy=False)
        indices, indptr = [], []
        before = np.zeros(0, np.intp)
        for level in range(values.ndim):
            firsts = _first_of_each(coords[:, : level + 1])
            indices.append(coords[firsts, level])
            if level:
                indptr.append(np.append(np.searchsorted(firsts, before), firsts.size))
            before = firsts
        return cls(
            ordered[tuple(coords.T)],
            tuple(indptr),
            tuple(indices),
            axis_order,
            values.shape,
            dim_names,
        )

    def positions(self) -> Iterator[tuple[int, Numbers]]:
        """Each dimension, from the leaves up, with the position of every value in it."""
        # For each value, its ancestor in the level.
        nodes = np.arange(self.data.size)
        yield self.axis_order[-1], self.indices[-1]
        for level in reversed(range(self.ndim - 1)):
            sizes = sizes_of(self.indptr[level])
            nodes = np.repeat(np.arange(sizes.size), sizes)[nodes]
            yield self.axis_order[level], self.indices[level][nodes]

    def to_numpy(self) -> tuple[Numbers, tuple[Numbers, ...], tuple[Numbers, ...]]:
        """Values, pointers and indices, the latter by level; not copied."""
        return self.data, self.indptr, self.indices


def check_levels(axis_order: tuple[int, ...], pointers: int, indices: int, ndim: int) -> None:
    """Raise `InvalidArrowError` unless there is one level, with its arrays, for each dimension."""
    if sorted(axis_order) != list(range(ndim)):
        raise InvalidArrowError(f"axis order {axis_order[:100]} of {ndim} dimensions")
    if indices != ndim or pointers != ndim - 1:
        raise InvalidArrowError(
            f"{indices} index and {pointers} pointer buffers for {ndim} dimensions, "
            f"which have {ndim} and {ndim - 1}"
        )


def _first_of_each(rows: NDArray[np.int64]) -> NDArray[np.intp]:
    """The positions of rows that differ from the row before."""
    new = np.ones(len(rows), np.bool_)
    new[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    return np.flatnonzero(new)
