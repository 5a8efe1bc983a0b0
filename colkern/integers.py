"""Checks of positions, lengths and sizes that callers give as integers of Python or NumPy."""

from __future__ import annotations

import operator
from typing import Any

from colkern.errors import shown


def integer(value: Any, name: str) -> int:
    """A caller's integer as Python's `int`, whose sums do not wrap; booleans, being masks, are refused."""
    if type(value) is int:
        return value
    if not isinstance(value, bool):
        try:
            return operator.index(value)
        except TypeError:
            pass
    got = "None" if value is None else f"{type(value).__name__} {shown(value)}"
    raise TypeError(f"{name}: expected an integer, got {got}")


def slice_bounds(offset: int, length: int | None, count: int, what: str) -> tuple[int, int]:
    """The offset and length of `slice(offset, length)` of `count` values; a length past the end is cut."""
    if offset.__class__ is not int:
        offset = integer(offset, "offset")
    if length.__class__ is not int and length is not None:
        length = integer(length, "length")
    if not 0 <= offset <= count or (length is not None and length < 0):
        raise IndexError(f"slice({offset}, {length}) is out of range for {count} {what}")
    rest = count - offset
    return offset, rest if length is None or length > rest else length
