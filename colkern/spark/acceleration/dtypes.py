"""The dtypes that columns of a graph have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from colkern.spark.acceleration.nodes import TEXT, DType

BOOL = np.dtype(bool)
FLOAT = np.dtype(np.float64)

_NUMBERS = frozenset(["bool", "int8", "int16", "int32", "int64", "float32", "float64"])


def dtype_of(witness: Any) -> DType | None:
    """What nodes have as the dtype of a witness; None if no graph has such columns."""
    dtype = getattr(witness, "dtype", None)
    if isinstance(dtype, pd.StringDtype) and dtype.na_value is np.nan:
        return TEXT if dtype.storage == "pyarrow" else None
    return dtype if isinstance(dtype, np.dtype) and dtype.name in _NUMBERS else None


def is_float(dtype: DType) -> bool:
    """Whether a column may hold NaN."""
    return isinstance(dtype, np.dtype) and dtype.kind == "f"


def holds(dtype: np.dtype[Any], value: Any) -> bool:
    """Whether a column keeps its dtype when a constant is put into it."""
    if dtype.kind == "b" or isinstance(value, bool | np.bool_):
        return dtype.kind == "b" and isinstance(value, bool)
    if dtype.kind == "i":
        bounds = np.iinfo(dtype)
        return isinstance(value, int) and bounds.min <= value <= bounds.max
    if isinstance(value, str):
        return False
    with np.errstate(over="ignore"):
        return bool(value != value or float(dtype.type(value)) == value)
