"""Compressed fibres (CSF): a tree with a level for each dimension, whose leaves are the values.

Format: `SparseTensor.fbs`, "SparseTensorIndexCSF".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from colkern.errors import InvalidArrowError
from colkern.ipc.tensors.numeric import Numbers, require_array
from colkern.ipc.tensors.sparse import (
    Sparse,
    check_index,
    check_pointers,
    check_positions,
    sizes_of,
)


@dataclass(frozen=True, eq=False, repr=False)
class SparseCSFTensor(Sparse):
    """A sparse tensor as a tree: a node is a position in the dimension of its level.

    Args:
        data: The values, one a leaf.
        indptr: For each level but the last, where the children of each node begin, and where the
            last one's end.
        indices: For each level, the position that each node stands for.
        axis_order: The dimension of each level, from the root on.
        shape: The size of each dimension.
        dim_names: A name for each dimension, or None for no names.

    Raises:
        TypeError: If an array is not one-dimensional, or an index not of integers.
        InvalidArrowError: If the levels do not fit the shape, or each other.
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
        require_array(values, "values")
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
        """Each dimension, from the leaves up, with the place of every value in it."""
        # For each value, the node of the level that it hangs under.
        nodes = np.arange(self.data.size)
        yield self.axis_order[-1], self.indices[-1]
        for level in reversed(range(self.ndim - 1)):
            sizes = sizes_of(self.indptr[level])
            nodes = np.repeat(np.arange(sizes.size), sizes)[nodes]
            yield self.axis_order[level], self.indices[level][nodes]

    def to_numpy(
        self,
    ) -> tuple[Numbers, tuple[Numbers, ...], tuple[Numbers, ...]]:
        """Values, pointers and indices, the latter by level; not copied."""
        return self.data, self.indptr, self.indices


def check_levels(axis_order: tuple[int, ...], pointers: int, indices: int, ndim: int) -> None:
    """Raise `InvalidArrowError` unless there is a level for each dimension, with its arrays."""
    if sorted(axis_order) != list(range(ndim)):
        raise InvalidArrowError(f"axis order {axis_order[:100]} of {ndim} dimensions")
    if indices != ndim or pointers != ndim - 1:
        raise InvalidArrowError(
            f"{indices} index and {pointers} pointer buffers for {ndim} dimensions, "
            f"which have {ndim} and {ndim - 1}"
        )


def _first_of_each(rows: NDArray[np.int64]) -> NDArray[np.intp]:
    """Where the rows that differ from the row before stand."""
    new = np.ones(len(rows), np.bool_)
    new[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    return np.flatnonzero(new)
