"""A column of a batch in the forms that operations take: Arrow, NumPy or pandas."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from colkern.arrays import Array
from colkern.errors import UnsupportedError
from colkern.forks import cached_property
from colkern.spark.acceleration import graph as g

AnyArray: TypeAlias = npt.NDArray[Any]


class ValuesDecideError(UnsupportedError):
    """A column has another dtype than in the batch that was traced."""


@dataclass(eq=False)
class Column:
    """A column that exists in one form; the other forms are made when they are first used."""

    value: Any  #: The column in Arrow, colkern, NumPy or pandas.
    dtype: g.DType  #: The dtype of its node.
    #: Makes the pandas form; None where that follows from the dtype.
    as_pandas: Callable[[Any], Any] | None = None
    #: Whether the values in Arrow, read as Python's, are those of the pandas form.
    is_exact: bool = field(kw_only=True, default=True)

    @cached_property
    def arrow(self) -> pa.Array:
        """The column as an Arrow array; NaN stays NaN."""
        value = self.value
        column = value if isinstance(value, pa.Array | pa.ChunkedArray) else pa.array(value)
        if isinstance(column, pa.ChunkedArray):
            column = column.combine_chunks()
        return column.cast(pa.string()) if self.dtype == g.TEXT else column

    @cached_property
    def pandas(self) -> Any:
        """The Series or DataFrame that the traced body has."""
        if self.as_pandas is not None:
            return self.as_pandas(self.value)
        if self.dtype == g.TEXT:
            return pd.Series(self.arrow, dtype="str")
        return self.value if self.dtype == g.OTHER else pd.Series(self.numpy)

    def rows(self, places: AnyArray) -> Any:
        """Returns some rows of the pandas form, of lists without the others."""
        if isinstance(self.value, pa.ListArray):
            return Column(self.value.take(pa.array(places)), self.dtype, self.as_pandas).pandas
        return self.pandas.iloc[places]

    @cached_property
    def numpy(self) -> AnyArray:
        """The column as a NumPy array in which nulls are NaN."""
        if not isinstance(self.dtype, np.dtype):
            return np.asarray(self.pandas)
        value: Any = self.value
        if isinstance(value, Array):
            value = self.arrow
        if isinstance(value, pa.Array | pa.ChunkedArray):
            value = value.to_numpy(zero_copy_only=False)
        return np.asarray(value).astype(self.dtype, copy=False)

    def form(self, form: g.Form) -> Any:
        """Returns the column in the form that an operation takes."""
        if form == "column":
            return self
        if form == "own":
            form = "numpy" if isinstance(self.dtype, np.dtype) else "arrow"  # type: ignore[assignment]
        return getattr(self, form)


def column_of(value: Any, dtype: g.DType) -> Column:
    """Returns pandas' result for a node as a column; raises ValuesDecideError if it has another dtype."""
    if isinstance(value, Column):
        return value
    if isinstance(value, pa.Array) and value.null_count and dtype not in (g.TEXT, g.OTHER):
        if not g.is_float(dtype):
            raise ValuesDecideError(f"float64, not {dtype}")
    elif isinstance(value, pd.Series | pd.DataFrame | np.ndarray):
        if dtype != g.OTHER and g.dtype_of(value) != dtype:
            raise ValuesDecideError(f"{getattr(value, 'dtype', 'a table')}, not {dtype}")
        if dtype == g.TEXT:
            if isinstance(value, np.ndarray):
                # Arrow ends the texts of NumPy's own type at a NUL.
                value = pd.Series(value, dtype=object)
            return Column(Column(value, g.TEXT).arrow, g.TEXT)
        if dtype != g.OTHER:
            return Column(np.asarray(value), dtype)
    return Column(value, dtype)
