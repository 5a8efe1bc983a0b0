"""The lists of an array of any list layout, in the form for kernels.

Columnar format 1.5: "Variable-size List Layout", "ListView Layout", "Fixed-Size List Layout".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.forks import cached_property
from colkern.kernels import Kernel, lists, offsets
from colkern.layouts import LayoutKind, Role
from colkern.operations.operands import offset_ends, validity_of
from colkern.operations.patterns import require_room
from colkern.operations.position_checks import require_valid
from colkern.targets import NOWHERE, Argument, DType, Items, target_of

_LISTS = (LayoutKind.LIST, LayoutKind.LIST_VIEW, LayoutKind.FIXED_SIZE_LIST)


class Lists:
    """The positions of an array's lists in its child; each is computed when it is first asked for.

    Args:
        array: A checked array of any layout with lists.
    """

    def __init__(self, array: Array) -> None:
        self.array = array
        self.child = array.children[0]
        self.target = target_of(array.device)
        # List views have sizes, and are in any order.
        self.has_views = array.layout.kind is LayoutKind.LIST_VIEW

    @cached_property
    def offsets(self) -> Items:
        """The start of each list (int32/int64) and, if there are no sizes, the end of the last one."""
        storage = self.array.type.storage
        if not isinstance(storage, s.FixedSizeList):
            return self.array.items(Role.OFFSETS)
        size, begin = storage.list_size, self.array.offset * storage.list_size
        out = self.target.output(self.array.length + 1, np.int64)
        self.target.map(offsets.even_offsets, len(out), begin, size, out)
        return out

    @cached_property
    def args(self) -> tuple[Items, Items, Items, int]:
        """Offsets, sizes and validity: the first arguments of most kernels."""
        offsets = self.offsets
        sizes = self.array.items(Role.SIZES) if self.has_views else offsets[:0]
        return (offsets, sizes, *validity_of(self.array, self.target))

    @property
    def sizes(self) -> Items:
        """The number of elements of each list view (int32/int64); no items for other lists."""
        return self.args[1]

    @property
    def validity(self) -> tuple[Items, int]:
        """The validity, as from `validity_of`."""
        return self.args[2:]

    def first(self, kernel: Kernel, *args: Argument) -> int:
        """The first list that a kernel searches for, or `NOWHERE`."""
        if not self.array.length:
            return NOWHERE
        return self.target.reduce(kernel, self.array.length, *args)

    def first_of_another_length(self, size: int, *, also_null: bool = False) -> int:
        """The first list without `size` elements, or `NOWHERE`; a null one only if `also_null`."""
        if not self._blocks:
            return NOWHERE
        validity = (self.target.no_bits, 0) if also_null else self.validity
        args = (self.offsets, self.sizes, *validity, self.array.length, size)
        return self.target.reduce(lists.first_list_of_another_length, self._blocks, *args)

    @property
    def _blocks(self) -> int:
        """The number of blocks in which lists are counted."""
        return (self.array.length + (1 << lists.BLOCK_BITS) - 1) >> lists.BLOCK_BITS

    def length_of(self, slot: int) -> int:
        """The number of elements of the list in a slot, null or not."""
        item = self.target.item
        if self.has_views:
            return item(self.sizes, slot)
        return item(self.offsets, slot + 1) - item(self.offsets, slot)

    def count(self, *, null: int = 0, empty: int = 0) -> Count:
        """Count the elements of the valid lists.

        Args:
            null: The number to count for a null list.
            empty: The number to count for an empty list.
        """
        blocks = self.target.output(self._blocks, np.int64)
        args = (*self.args, self.array.length, null, empty)
        self.target.map(lists.count_elements, len(blocks), *args, blocks)
        # The sum of several blocks may exceed 64 bits.
        return Count(args, *self.target.running_sum(blocks, np.int64))

    @cached_property
    def shown(self) -> Count:
        """The count of the elements of the valid lists."""
        return self.count()

    @property
    def total(self) -> int:
        """The number of the elements of the valid lists."""
        if self.has_views or self.array.null_count:
            return self.shown.total
        first, last = self._span()
        return last - first

    def starts(self, count: Count, dtype: DType | None = None) -> Items:
        """The running sum of the counted lengths (dtype[lists + 1]), read-only.

        Args:
            dtype: int32 or int64; None for that of the offsets, if the sum fits it, else int64.

        Raises:
            LimitExceededError: If the sum does not fit.
        """
        if dtype is None:
            own = self.offsets.dtype
            dtype = own if count.total <= most_of(own) else np.dtype(np.int64)
        require_room(count.total, dtype)
        target = self.target
        if not self.array.length:
            return target.allocate(1, dtype)
        out = target.output(self.array.length + 1, dtype)
        target.map(lists.element_starts, len(count.before) - 1, *count.args, count.before, out)
        return out

    def begins(self, dtype: DType) -> Items:
        """The start of each list in the child (dtype[lists], read-only); any number under nulls.

        Not copied if the offsets have that dtype.
        """
        own = self.offsets[: self.array.length]
        if own.dtype == dtype:
            return own
        out = self.target.output(self.array.length, dtype)
        self.target.map(offsets.rebase_offsets, self.array.length, own, 0, out)
        return out

    def element_starts(self) -> Items:
        """The start of each list among the elements of valid lists, counted from any number.

        int32 or int64, [lists + 1], read-only: the offsets themselves, if no elements are hidden.
        """
        return self.offsets if self.hides_nothing else self.starts(self.shown)

    @property
    def hides_nothing(self) -> bool:
        """Whether all elements between the first and the last offset belong to valid lists."""
        if self.has_views:
            return False
        if not self.array.null_count:
            return True
        first, last = self._span()
        return self.shown.total == last - first

    def _span(self) -> tuple[int, int]:
        if self.array.layout.kind is LayoutKind.LIST:
            # Known, if the offsets have been checked.
            return getattr(self.array, "_offset_ends", None) or offset_ends(self.array)[0]
        return self.target.ends(self.offsets)[0]

    def elements(self, first: int, last: int) -> Array:
        """The elements from `first` to `last` of the child, which is not copied."""
        child = self.child
        return child if last - first == child.length else child.slice(first, last - first)

    def row(self) -> tuple[int, int] | None:
        """The first element and the one past the last, if the lists follow each other in the child.

        Between them are only elements of valid lists. None if there are others, or if the lists are in
        another order.
        """
        if self.has_views:
            return self.row_from(self.starts(self.shown))
        return self._span() if self.hides_nothing else None

    def starts_in_row(self) -> Items | None:
        """The starts of list views, counted from 0, and the end of the last one (as `offsets`).

        None if one is null, or does not begin where the one before it ends.
        """
        array, target = self.array, self.target
        if array.length == 0 or array.null_count:
            return None
        out = target.output(array.length + 1, self.offsets.dtype)
        base = target.item(self.offsets, 0)
        args = (self.offsets, self.sizes, base, out)
        if target.reduce(lists.list_views_in_row, array.length, *args):
            return None
        return out

    def row_from(self, starts: Items) -> tuple[int, int] | None:
        """As `row`, for list views, if the running sum of the lengths of valid lists is known."""
        total = self.shown.total
        if not total:
            return 0, 0
        base = self.target.item(self.offsets, self.first_of_another_length(0))
        if self.first(lists.first_list_out_of_row, *self.args, base, starts) != NOWHERE:
            return None
        return base, base + total


@dataclass(eq=False, slots=True)
class Count:
    """A count of elements of lists. It has no reference to the lists, which keep it."""

    args: tuple[Argument, ...]  #: The first arguments of kernels that count.
    before: Items  #: The number before each block, and in all (int64[blocks + 1]).
    total: int  #: The number for all lists.


def has_lists(array: Array) -> bool:
    """Whether an array is a list, large list, list view, fixed-size list or map array."""
    return array.layout.kind in _LISTS


def lists_of(array: Array) -> Lists:
    """The checked lists of a list, large list, list view, fixed-size list or map array.

    Raises:
        TypeError: If the array has no lists.
        InvalidArrowError: If a list reaches outside the child.
    """
    require_lists(array)
    return Lists(array)


def require_lists(array: Array) -> None:
    """Raise unless an array has lists, and these lie within its child."""
    if not has_lists(array):
        raise TypeError(f"array: expected lists, got {array.type}")
    if not array._checked:
        require_valid(array)


def most_of(dtype: DType) -> int:
    """The largest number of a signed integer dtype; several times as fast as `np.iinfo`."""
    return (1 << 8 * dtype.itemsize - 1) - 1


def list_size(array: Array) -> int:
    """The length of each list of a fixed-size list array."""
    assert isinstance(array.type.storage, s.FixedSizeList)
    return array.type.storage.list_size
