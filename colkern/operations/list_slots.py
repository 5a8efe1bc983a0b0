"""The lists of an array, whichever layout they have, as kernels take them.

Columnar format 1.5: "Variable-size List Layout", "ListView Layout", "Fixed-Size List Layout".
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.kernels import hidden, lists
from colkern.layouts import Role
from colkern.operations.patterns import measure
from colkern.operations.targets import NOWHERE, target_of, validity_of
from colkern.operations.validation import require_valid


class Lists:
    """Where the lists of an array are in its child; nothing is computed before it is asked for.

    Args:
        array: A checked array of any layout with lists.
    """

    def __init__(self, array: Array) -> None:
        self.array = array
        self.child = array.children[0]
        self.target = target_of(array.device)

    @property
    def has_views(self) -> bool:
        """Whether the lists are views, which have sizes and come in any order."""
        return self.array.layout.name == "variable-size list-view"

    @cached_property
    def offsets(self) -> Any:
        """Where each list begins (int32/int64), and, if there are no sizes, where the last one ends."""
        return _OFFSETS[self.array.layout.name](self)

    @cached_property
    def sizes(self) -> Any:
        """How many elements each list view has (int32/int64); no items for other lists."""
        if self.has_views:
            return self.array.items(Role.SIZES)
        return self.target.table([], self.offsets.dtype)

    @cached_property
    def validity(self) -> tuple[Any, int]:
        """The bitmap as kernels take it, and the bit of list 0."""
        return validity_of(self.array, self.target)

    @property
    def args(self) -> tuple[Any, ...]:
        """What most kernels take first."""
        return (self.offsets, self.sizes, *self.validity)

    def first(self, kernel: Any, *args: Any) -> int:
        """The first list that a kernel looks for, or `NOWHERE`."""
        if not self.array.length:
            return NOWHERE
        return int(self.target.reduce(kernel, self.array.length, *args))

    def length_of(self, slot: int) -> int:
        """How many elements the list in a slot has, null or not."""
        item = self.target.item
        if self.has_views:
            return int(item(self.sizes, slot))
        return int(item(self.offsets, slot + 1) - item(self.offsets, slot))

    def starts(self, dtype: Any = np.int64, *, null: int = 0, empty: int = 0) -> Any:
        """The running sum of the lengths of the valid lists (dtype[lists + 1]), read-only.

        Args:
            dtype: int32 or int64.
            null: What counts for the length of a null list.
            empty: What counts for the length of an empty list.

        Raises:
            LimitExceededError: If the sum does not fit.
        """
        lengths = (*self.args, null, empty)
        made = measure(self.target, lists.list_lengths, self.array.length, dtype, *lengths)
        return self.target.frozen(made)

    def begins(self, dtype: Any) -> Any:
        """Where each list begins (dtype[lists]), 0 for one without elements; read-only."""
        out = self.target.output(self.array.length, dtype)
        self.target.map(lists.list_begins, self.array.length, *self.args, out)
        return self.target.frozen(out)

    def element_starts(self) -> Any:
        """Where each list begins among the elements of the valid ones, from any number on.

        int32 or int64, [lists + 1], read-only: the offsets themselves if they say so.
        """
        return self.starts() if self.has_views or self.row() is None else self.offsets

    def row(self) -> tuple[int, int] | None:
        """The first element and the one past the last, if the lists follow each other in the child.

        Nothing but the elements of valid lists is between these. None if there is more, or if the
        lists come in another order.
        """
        return _ROWS[self.array.layout.name](self)

    def row_from(self, starts: Any) -> tuple[int, int] | None:
        """As `row`, if the running sum of the lengths is known."""
        total = self.target.item(starts, self.array.length)
        if not total:
            return 0, 0
        some = self.first(lists.first_list_of_another_length, *self.args, 0)
        base = self.target.item(self.offsets, some)
        if self.first(lists.first_list_out_of_row, *self.args, base, starts) != NOWHERE:
            return None
        return base, base + total


def lists_of(array: Array) -> Lists:
    """The lists of a list, large list, list view, fixed-size list or map array, checked.

    Raises:
        TypeError: If the array has no lists.
        InvalidArrowError: If a list reaches outside the child.
    """
    if array.layout.name not in _OFFSETS:
        raise TypeError(f"array: expected lists, got {array.type}")
    require_valid(array)
    return Lists(array)


def list_size(array: Array) -> int:
    """How many elements each list of a fixed-size list array has."""
    assert isinstance(array.type.storage, s.FixedSizeList)
    return array.type.storage.list_size


def _own_offsets(found: Lists) -> Any:
    return found.array.items(Role.OFFSETS)


def _even_offsets(found: Lists) -> Any:
    size = list_size(found.array)
    out = found.target.output(found.array.length + 1, np.int64)
    found.target.map(lists.even_offsets, len(out), found.array.offset * size, size, out)
    return found.target.frozen(out)


def _row_of_lists(found: Lists) -> tuple[int, int] | None:
    nullable = len(found.validity[0]) > 0
    hides = (found.offsets, *found.validity)
    if nullable and found.first(hidden.first_hidden_length, *hides) != NOWHERE:
        return None
    item = found.target.item
    return item(found.offsets, 0), item(found.offsets, found.array.length)


def _row_of_views(found: Lists) -> tuple[int, int] | None:
    return found.row_from(found.starts())


def _row_of_fixed(found: Lists) -> tuple[int, int] | None:
    array, size = found.array, list_size(found.array)
    if size and array.null_count:
        return None
    return array.offset * size, (array.offset + array.length) * size


_OFFSETS: dict[str, Callable[[Lists], Any]] = {
    "variable-size list": _own_offsets,
    "variable-size list-view": _own_offsets,
    "fixed-size list": _even_offsets,
}

_ROWS: dict[str, Callable[[Lists], tuple[int, int] | None]] = {
    "variable-size list": _row_of_lists,
    "variable-size list-view": _row_of_views,
    "fixed-size list": _row_of_fixed,
}
