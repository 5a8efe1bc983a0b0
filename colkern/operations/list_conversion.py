"""Between the layouts for lists: offsets of 32 and 64 bits, views, and lists of one size.

Columnar format 1.5: "Variable-size List Layout", "ListView Layout", "Fixed-Size List Layout".
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.bitmaps import bitmap_of
from colkern.errors import LimitExceededError
from colkern.kernels import lists, offsets
from colkern.memory import Buffer
from colkern.operations.arguments import operation
from colkern.operations.creation import nulls
from colkern.operations.list_slots import Lists, lists_of, most_of
from colkern.operations.nulling import null_outside
from colkern.operations.selection.list_elements import copy_elements
from colkern.operations.validity import compact_validity
from colkern.targets import NOWHERE, DType, Items

_VIEW_TYPES: dict[type[s.DataType], Callable[[s.Field], s.DataType]] = {
    s.List: s.list_view,
    s.LargeList: s.large_list_view,
}

_LIST_TYPES: dict[type[s.DataType], Callable[[s.Field], s.DataType]] = {
    s.ListView: s.list_,
    s.LargeListView: s.large_list,
}

_WIDTHS: dict[int, dict[type[s.DataType], Callable[[s.Field], s.DataType]]] = {
    32: {s.LargeList: s.list_, s.LargeListView: s.list_view},
    64: {s.List: s.large_list, s.ListView: s.large_list_view},
}


_OFFSETS = (np.dtype(np.int32), np.dtype(np.int64))
"""Those of lists, and of large ones."""


@operation
def list_to_list_view(array: Array) -> Array:
    """A list or large list array as list views or large list views; the elements are shared.

    Raises:
        TypeError: If the array is of another type.
        InvalidArrowError: If a list reaches outside the child.
    """
    kind = _result(_VIEW_TYPES, array, "list or large_list")
    found = lists_of(array)
    target = found.target
    sizes = target.output(array.length, found.offsets.dtype)
    target.map(lists.list_sizes, array.length, found.offsets, sizes)
    begins = found.offsets[: array.length] if array.length else sizes
    buffers = [compact_validity(array), target.buffer(begins), target.buffer(sizes)]
    return _made(kind, array, buffers, found.child)


@operation
def list_view_to_list(array: Array) -> Array:
    """A list view or large list view array as lists or large lists.

    The elements that valid slots show are copied in order, those that several show several times; they
    are a slice of the child if they are in order there and nothing else is between them.

    Raises:
        TypeError: If the array is of another type.
        LimitExceededError: If there are too many elements for the offsets.
        InvalidArrowError: If a list reaches outside the child.
    """
    kind = _result(_LIST_TYPES, array, "list_view or large_list_view")
    found = lists_of(array)
    target = found.target
    starts = found.starts_in_row()
    if starts is not None:
        first = target.item(found.offsets, 0)
        child = found.elements(first, first + target.item(starts, array.length))
        return _made(kind, array, [None, target.buffer(starts)], child)
    starts = found.starts(found.shown, found.offsets.dtype)
    row = found.row_from(starts)
    if row is not None:
        child = found.elements(*row)
    else:
        child = copy_elements(found.child, found.begins(starts.dtype), starts)
    return _made(kind, array, [compact_validity(array), target.buffer(starts)], child)


@operation
def list_to_fixed_size_list(array: Array, list_size: int) -> Array:
    """Lists that all have `list_size` elements as a fixed-size list array.

    The elements are shared if they are in order and there are `list_size` under each null too; else
    copied, and null under nulls.

    Args:
        array: A list, large list, list view or large list view array.
        list_size: How many elements each list that is not null has.

    Raises:
        TypeError: If the array is of another type.
        ValueError: If a list has another length.
        InvalidArrowError: If a list reaches outside the child.
    """
    _result(_VIEW_TYPES | _LIST_TYPES, array, "list, large_list or a view of them")
    kind = s.fixed_size_list(array.type.storage.fields[0], list_size)
    found = lists_of(array)
    _check_lengths(found, list_size)
    child = _elements_in_place(found, list_size)
    if child is None:
        child = _copied_evenly(found, list_size)
    return _made(kind, array, [compact_validity(array)], child)


@operation
def fixed_size_list_to_list(array: Array, *, large: bool = False) -> Array:
    """A fixed-size list array as lists, or as large lists; the elements are shared.

    Args:
        array: A fixed-size list array.
        large: Use offsets of 64 bits.

    Raises:
        TypeError: If the array is of another type.
        LimitExceededError: If there are too many elements for offsets of 32 bits.
        InvalidArrowError: If the child is too short.
    """
    if not isinstance(array.type.storage, s.FixedSizeList):
        raise TypeError(f"array: expected fixed_size_list, got {array.type}")
    found = lists_of(array)
    size = array.type.storage.list_size
    total = array.length * size
    dtype = _OFFSETS[large]
    if total > most_of(dtype):
        raise _too_many(total)
    out = found.target.output(array.length + 1, dtype)
    found.target.map(offsets.even_offsets, len(out), 0, size, out)
    kind = (s.large_list if large else s.list_)(array.type.storage.value_field)
    begin = array.offset * size
    child = found.elements(begin, begin + total)
    return _made(kind, array, [compact_validity(array), found.target.buffer(out)], child)


@operation
def list_with_offsets(array: Array, bit_width: int) -> Array:
    """The same lists with offsets (and sizes) of 32 or of 64 bits; the elements are shared.

    Args:
        array: A list, large list, list view or large list view array.
        bit_width: 32 or 64. An array that has such offsets is returned itself.

    Raises:
        TypeError: If the array is of another type.
        ValueError: If `bit_width` is another number.
        LimitExceededError: If there are too many elements for offsets of 32 bits.
        InvalidArrowError: If a list reaches outside the child.
    """
    if bit_width not in _WIDTHS:
        raise ValueError(f"bit_width: expected 32 or 64, got {bit_width}")
    make = _WIDTHS[bit_width].get(type(array.type.storage))
    if make is None:
        _result(_VIEW_TYPES | _LIST_TYPES, array, "list, large_list or a view of them")
        return array
    found = lists_of(array)
    dtype = _OFFSETS[bit_width == 64]
    resize = _resized_views if found.has_views else _resized_offsets
    buffers, child = resize(found, dtype)
    kind = make(array.type.storage.fields[0])
    return _made(kind, array, [compact_validity(array), *buffers], child)


def _result(
    kinds: dict[type[s.DataType], Callable[[s.Field], s.DataType]], array: Array, expected: str
) -> s.DataType:
    make = kinds.get(type(array.type.storage))
    if make is None:
        raise TypeError(f"array: expected {expected}, got {array.type}")
    return make(array.type.storage.fields[0])


def _made(kind: s.DataType, array: Array, buffers: list[Buffer | None], child: Array) -> Array:
    return Array.of_valid(kind, array.length, buffers, array.null_count, [child])


def _too_many(count: int) -> LimitExceededError:
    return LimitExceededError(f"{count} elements do not fit offsets of int32; use 64 bits")


def _check_lengths(found: Lists, size: int) -> None:
    slot = found.first_of_another_length(size)
    if slot != NOWHERE:
        length = found.length_of(slot)
        raise ValueError(f"list_size: {size}, the list in slot {slot} has length {length}")


def _even_starts(found: Lists, size: int) -> Items:
    """Where each list begins among lists of one size."""
    own = found.offsets.dtype
    fits = found.array.length * size <= most_of(own)
    out = found.target.output(found.array.length + 1, own if fits else np.int64)
    found.target.map(offsets.even_offsets, len(out), 0, size, out)
    return found.target.frozen(out)


def _elements_in_place(found: Lists, size: int) -> Array | None:
    """The elements where they are, if they are in order and each slot, null or not, has that many."""
    array, target = found.array, found.target
    if not array.length * size:
        return found.child.slice(0, 0)
    if array.null_count:
        if found.has_views:
            return None
        if found.first_slot_of_another_length(size) != NOWHERE:
            return None
    base = target.item(found.offsets, 0)
    if found.has_views:
        away = (*found.args, base, _even_starts(found, size))
        if found.first(lists.first_list_out_of_row, *away) != NOWHERE:
            return None
    return found.elements(base, base + array.length * size)


def _copied_evenly(found: Lists, size: int) -> Array:
    """As many elements for each slot, null under nulls."""
    array, target = found.array, found.target
    if array.null_count == array.length:
        return nulls(array.length * size, found.child.type, array.device)
    starts = _even_starts(found, size)
    # Under a null stand any elements, until they are made null.
    elements = copy_elements(found.child, found.begins(starts.dtype), starts, size)
    if not array.null_count:
        return elements
    bits = target.output((elements.length + 63) // 64, np.uint64)
    target.map(lists.repeat_list_bits, len(bits), starts, *found.validity, bits)
    return null_outside(elements, bitmap_of(target, bits, elements.length))


def _resized_offsets(found: Lists, dtype: DType) -> tuple[list[Buffer | None], Array]:
    target = found.target
    first = target.item(found.offsets, 0)
    last = target.item(found.offsets, found.array.length)
    most = most_of(dtype)
    if last - first > most:
        raise _too_many(last - first)
    base = first if last > most else 0
    out = target.output(len(found.offsets), dtype)
    target.map(offsets.rebase_offsets, len(out), found.offsets, base, out)
    return [target.buffer(out)], found.elements(base, last)


def _resized_views(found: Lists, dtype: DType) -> tuple[list[Buffer | None], Array]:
    target, child, count = found.target, found.child, found.array.length
    if child.length > most_of(dtype):
        raise _too_many(child.length)
    # Under nulls there may be numbers that do not fit.
    sizes = target.output(count, dtype)
    target.map(lists.list_lengths, count, *found.args, sizes)
    begins = target.output(count, dtype)
    target.map(lists.list_begins, count, *found.args, begins)
    return [target.buffer(begins), target.buffer(sizes)], child
