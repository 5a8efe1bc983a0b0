"""Dense tensors: a NumPy array, and names for its dimensions.

Format: "Tensor (Multi-dimensional Array) Message Format".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike

from colkern.ipc.tensors.numeric import Numbers, names_of, require_array, type_of
from colkern.schema import DataType


@dataclass(frozen=True, eq=False, repr=False)
class Tensor:
    """An array of numbers with any number of dimensions; `np.asarray` takes it as it is.

    Args:
        values: The array.
        dim_names: A name for each dimension, or None for no names.

    Raises:
        TypeError: If `values` is not an array of integers or floats, `dim_names` no sequence of text.
        ValueError: If there is not one name for each dimension.
    """

    values: Numbers
    dim_names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        require_array(self.values, "values")
        type_of(self.values)
        object.__setattr__(self, "dim_names", names_of(self.dim_names, self.values.ndim))

    @property
    def type(self) -> DataType:
        """The data type of the numbers."""
        return type_of(self.values)

    @property
    def shape(self) -> tuple[int, ...]:
        """The size of each dimension."""
        return self.values.shape

    @property
    def strides(self) -> tuple[int, ...]:
        """The bytes between neighbours in each dimension."""
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
        """Whether both are dense, with the same type, names, shape and numbers; NaN equals nothing."""
        return (
            isinstance(other, Tensor)
            and self.type == other.type
            and self.dim_names == other.dim_names
            and bool(np.array_equal(self.values, other.values))
        )

    def __repr__(self) -> str:
        names = f", dimensions {', '.join(map(repr, self.dim_names))}" if self.dim_names else ""
        return f"<colkern.ipc.Tensor of {self.type}, shape {self.shape}{names}>\n{self.values}"
