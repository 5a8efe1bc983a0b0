"""Indexing: `column[key]` and `table[key]`."""

from __future__ import annotations

from typing import Any

import numpy as np

from colkern import schema as s
from colkern.arrays import Array, ChunkedArray, Tabular
from colkern.integers import integer
from colkern.operations.chunks import as_columns
from colkern.operations.moving import there
from colkern.operations.selection.filtering import filter
from colkern.operations.selection.repeating import reverse
from colkern.operations.selection.taking import take
from colkern.operations.structs import struct_field


def chosen(data: Any, key: Any) -> Any:
    """The values of a column, or the rows of a table, that a key selects.

    Args:
        data: A column, a batch or a table.
        key: A slice (not copied if its step is 1); a mask, as `filter` takes it; or positions, as
            `take` takes them. Positions in lists, ranges and NumPy arrays may be negative. For structs,
            also the name of a field; for a batch or a table, also the position of a column, or a list
            of column names.

    Raises:
        TypeError: If the key is none of these.
        IndexError: If there is no such position.
    """
    if isinstance(key, slice):
        return _sliced(data, key)
    if isinstance(key, str) and isinstance(data.type.storage, s.Struct):
        return struct_field(data, key)
    if isinstance(data, Tabular) and hasattr(key, "__index__") and not hasattr(key, "__len__"):
        return data.column(integer(key, "key"))
    is_list = isinstance(key, list | tuple)
    if is_list and key and isinstance(data, Tabular) and all(isinstance(k, str) for k in key):
        return data.select(key)
    if is_list or isinstance(key, range | np.ndarray):
        key = _positions_or_mask(key, data)
    key = as_columns(key)
    if not isinstance(key, Array | ChunkedArray):
        kinds = "a position, a slice, a mask or positions"
        names = ", a name or names" if isinstance(data, Tabular) else ""
        raise TypeError(f"key: expected {kinds}{names}, got {type(key).__name__}")
    is_mask = isinstance(key.type.storage, s.Bool)
    return filter(data, key) if is_mask else take(data, key)


def _sliced(data: Any, key: slice) -> Any:
    start, stop, step = key.indices(data.length)
    places = range(start, stop, step)
    if step == 1:
        return data.slice(start, len(places))
    if step == -1:
        return reverse(data.slice(stop + 1 if places else 0, len(places)))
    return take(data, there(np.arange(start, stop, step), data))


def _positions_or_mask(key: Any, data: Any) -> Array:
    items = np.asarray(key)
    if items.ndim == 1 and items.dtype.kind in "iu" and items.size and items.min() < 0:
        least = int(items.min())
        if least < -data.length:
            raise IndexError(f"index {least} of {data.length} values")
        items = np.where(items < 0, items + data.length, items)
    # A list may contain None, for which NumPy has no dtype.
    return there(items if items.dtype.kind in "iub" else key, data)
