"""Slices that callers give, checked; and what callers choose slots or rows by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from colkern.integers import integer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from colkern.arrays.column import Column

    Chosen: TypeAlias = slice | Column | Sequence[Any] | NDArray[Any]
    """A slice, a mask or positions; columns of other libraries are taken too."""


def slice_bounds(offset: int, length: int | None, count: int, what: str) -> tuple[int, int]:
    """The offset and length of `slice(offset, length)` of `count` values; a length past the end is cut."""
    if offset.__class__ is not int:
        offset = integer(offset, "offset")
    if length.__class__ is not int and length is not None:
        length = integer(length, "length")
    if not 0 <= offset <= count or (length is not None and length < 0):
        raise IndexError(f"slice({offset}, {length}) of {count} {what}")
    rest = count - offset
    return offset, rest if length is None or length > rest else length
