"""Positions and slices that callers give, checked."""

from __future__ import annotations

from colkern.integers import integer


def slice_bounds(offset: int, length: int | None, count: int, what: str) -> tuple[int, int]:
    """The offset and length of `slice(offset, length)` of `count` values; a length past the end is cut.

    Raises:
        TypeError: If one of them is no integer.
        IndexError: If `offset` is negative or past the end, or `length` negative.
    """
    offset = integer(offset, "offset")
    length = None if length is None else integer(length, "length")
    if not 0 <= offset <= count or (length is not None and length < 0):
        raise IndexError(f"slice({offset}, {length}) of {count} {what}")
    return offset, count - offset if length is None else min(length, count - offset)


def part_of(key: slice, count: int, what: str) -> tuple[int, int]:
    """The offset and length of a Python slice of `count` values; `ValueError` if its step is not 1."""
    start, stop, step = key.indices(count)
    if step != 1:
        raise ValueError(f"key: {what} are sliced with a step of 1; use take for others")
    return start, max(stop - start, 0)


def position_of(key: object, expected: str, what: str) -> int:
    """A key that is an integer; the `TypeError` for others names what masks and positions are for."""
    try:
        return integer(key, "key")
    except TypeError:
        raise TypeError(
            f"key: expected {expected}, got {type(key).__name__}; colkern.filter({what}, mask) keeps what "
            f"a mask has True for, colkern.take({what}, positions) what stands at positions"
        ) from None
