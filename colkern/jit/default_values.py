"""The value that results have where an argument is null and the function is not called."""

from __future__ import annotations

from typing import Any

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.builders import array
from colkern.layouts import Role, layout
from colkern.memory import Buffer, allocate
from colkern.operations import concat, take

_ITEMS = (s.Int, s.FloatingPoint, s.Date, s.Time, s.Timestamp, s.Duration)
_BYTES = (s.Binary, s.LargeBinary)


def default_array(name: str, value: Any, returns: s.DataType) -> Array:
    """A default value as an array of one slot.

    Args:
        name: The function's name, for messages.
        value: The value. Bytes are taken for text too, so that a text may be "propagate" or "pass".
        returns: The type of the results.

    Raises:
        ValueError: If the type does not hold it.
    """
    found = value
    if isinstance(returns, s.Struct) and isinstance(value, tuple):
        found = dict(zip((field.name for field in returns.fields), value, strict=False))
        found = found if len(value) == len(returns.fields) else value
    elif isinstance(value, bytes) and not isinstance(returns, _BYTES):
        found = value.decode(errors="replace")
    try:
        return array([found], returns)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(
            f"{name}: nulls: expected 'propagate', 'pass' or a value of {returns}, got {value!r}"
        ) from error


def filled(results: Array, called: Buffer | None, default: Array) -> Array:
    """Results with a default value where the function was not called.

    Args:
        results: What was made where it was called; null elsewhere.
        called: The bitmap of the slots that the function was called for; None for all.
        default: One slot of the type of the results.
    """
    if called is None:
        return results
    length = results.length
    missing = _unpacked(called, length) == 0
    if isinstance(results.type, _ITEMS):
        items = allocate(length, layout(results.type).spec(Role.DATA).dtype)
        items[:] = np.where(missing, default.items(Role.DATA)[0], results.items(Role.DATA))
        data = Buffer(items.view(np.uint8))
        validity = results.buffer(Role.VALIDITY)
        if validity is called or validity is None:
            return Array(results.type, length, [None, data], null_count=0)
        valid = _unpacked(validity, length) | missing
        made = allocate((length + 7) // 8, np.uint8)
        made[:] = np.packbits(valid, bitorder="little")
        return Array(results.type, length, [Buffer(made), data])
    picked = np.arange(length, dtype=np.int64)
    picked[missing] = length
    return take(concat([results, default]), array(picked))


def _unpacked(bitmap: Buffer, length: int) -> Any:
    return np.unpackbits(bitmap.array, bitorder="little", count=length)
