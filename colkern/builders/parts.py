"""Parts of all builders: errors with their place, bitmaps, buffers.

A builder takes the values of an array as a list with None for nulls. It raises `BadValue`; the builders of
nested types add the place, and `colkern.builders.entry` turns it into a `TypeError` or `ValueError`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from colkern.arrays import Array
from colkern.arrays.slots import Values
from colkern.bitmaps import packed
from colkern.cpu.python_objects import classes_of, flags_of
from colkern.errors import LimitExceededError, shown
from colkern.memory import Buffer, DType, Items, allocate
from colkern.type_trees import DataType

T = TypeVar("T")


class BadValue(Exception):
    """A value at `index` that does not fit; `inside` is its place within; `kind` is the caller's error."""

    def __init__(self, kind: type[Exception], message: str, index: int, inside: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.index = index
        self.inside = inside

    def public(self, name: str) -> Exception:
        """The error for the caller, who knows the values by that name."""
        return self.kind(f"{name}[{self.index}]{self.inside}: {self.message}")


def within_elements(starts: NDArray[np.int64], make: Callable[[], T]) -> T:
    """`make()` over the elements of lists that start at `starts`; errors name the list."""
    try:
        return make()
    except BadValue as error:
        slot = int(np.searchsorted(starts, error.index, "right")) - 1
        inside = f"[{error.index - starts[slot]}]{error.inside}"
        raise BadValue(error.kind, error.message, slot, inside) from None


def within_field(name: str, make: Callable[[], T]) -> T:
    """`make()` over one field of structs; errors name the field."""
    try:
        return make()
    except BadValue as error:
        inside = f"[{name!r}]{error.inside}"
        raise BadValue(error.kind, error.message, error.index, inside) from None


def within_chosen(chosen: Sequence[int], make: Callable[[], T]) -> T:
    """`make()` over the values at the places `chosen`; errors name their place among all."""
    try:
        return make()
    except BadValue as error:
        raise BadValue(error.kind, error.message, chosen[error.index], error.inside) from None


def each(
    values: Values, convert: Callable[[object], T], missing: T, as_is: type | None = None
) -> list[T]:
    """Every value converted, `missing` for nulls; `convert` would give those of the class `as_is` back."""
    if as_is is not None and classes_of(values) <= {as_is, type(None)}:
        return [missing if value is None else value for value in values]
    converted: list[T] = []
    for value in values:
        if value is None:
            converted.append(missing)
            continue
        try:
            converted.append(convert(value))
        except TypeError as error:
            raise BadValue(TypeError, str(error), len(converted)) from None
        except (ValueError, OverflowError) as error:
            raise BadValue(ValueError, str(error), len(converted)) from None
    return converted


def filler(values: Values, size: int, limit: int, what: str) -> int:
    """The size of what stands under a null: `size` of `what`, 0 without nulls; checks the limit."""
    _, nulls = flags_of(values, None)
    if nulls * size > limit:
        raise LimitExceededError(
            f"{nulls} nulls take up {nulls * size} {what}, over the limit of {limit}, which cannot be "
            "raised"
        )
    return size if nulls else 0


def wrong(expected: str, value: object) -> TypeError:
    """The error for a value of the wrong class."""
    return TypeError(f"expected {expected}, got {type(value).__name__} {shown(value)}")


def first_where(values: Sequence[T], test: Callable[[T], bool]) -> int:
    """The place of the first value that passes the test."""
    return next(i for i, value in enumerate(values) if test(value))


def with_validity(
    type_: DataType, values: Values, buffers: Sequence[Buffer], children: Sequence[Array] = ()
) -> Array:
    """The array of some values: of a validity bitmap, unless nothing is null, and buffers behind it."""
    is_null, nulls = flags_of(values, None)
    valid = Buffer(packed(is_null == 0)) if nulls else None
    return Array(type_, len(values), [valid, *buffers], children, null_count=nulls)


def filled(dtype: DTypeLike, items: Sequence[object] | Items) -> Buffer:
    """An aligned buffer with those items."""
    room = allocate(len(items), dtype)
    room[:] = items
    return Buffer(room.view(np.uint8))


def joined(pieces: Sequence[bytes]) -> Buffer:
    """An aligned buffer with those bytes, one piece after the other."""
    return filled(np.uint8, np.frombuffer(b"".join(pieces), np.uint8))


def starts_of(sizes: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each of the ranges of those sizes starts, and where the last one ends."""
    starts = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(np.asarray(sizes, np.int64), out=starts[1:])
    return starts


def offsets(dtype: DType, starts: NDArray[np.int64]) -> Buffer:
    """The offsets buffer for those starts; `BadValue` where they do not fit its type."""
    limit = np.iinfo(dtype).max
    if starts[-1] > limit:
        slot = int(np.searchsorted(starts, limit, "right")) - 1
        raise BadValue(
            ValueError,
            f"the values up to here need offsets over {limit}: too much for {dtype}",
            slot,
        )
    return filled(dtype, starts)
