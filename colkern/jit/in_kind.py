"""Results as another library has them: the one that the columns of a call are of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from colkern.arrays import Array, ChunkedArray


def _of_pyarrow(results: Array | ChunkedArray, like: Any) -> Any:
    import pyarrow as pa

    column = results.to_pyarrow()
    is_whole = isinstance(like, pa.ChunkedArray) and isinstance(column, pa.Array)
    return pa.chunked_array([column]) if is_whole else column


def _of_pandas(results: Array | ChunkedArray, like: Any) -> Any:
    import pandas as pd

    series = results.to_pandas(arrow=isinstance(like.dtype, pd.ArrowDtype))
    return series.set_axis(like.index).rename(like.name)


_LIBRARIES: dict[str, Callable[[Array | ChunkedArray, Any], Any]] = {
    "pyarrow": _of_pyarrow,
    "polars": lambda results, like: results.to_polars().alias(like.name),
    "pandas": _of_pandas,
    "numpy": lambda results, _: np.asarray(results),
}


def in_kind_of(like: object, results: Array | ChunkedArray) -> Any:
    """The results as a column of the library that a column is of; themselves, if that is none of those.

    Args:
        like: A column of pyarrow, polars, pandas or NumPy; of a series, the results have name and index.
        results: As many as it has values.
    """
    library = type(like).__module__.partition(".")[0]
    make = _LIBRARIES.get(library)
    return results if make is None else make(results, like)
