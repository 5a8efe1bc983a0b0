"""Conversions between list layouts: offsets of 32 and 64 bits, views, and fixed-size lists.

Columnar format 1.5: "Variable-size List Layout", "ListView Layout", "Fixed-Size List Layout".
"""

from __future__ import annotations

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.bitmaps import bits_by
from colkern.kernels import lists, offsets
from colkern.layouts import Role
from colkern.memory import Buffer
from colkern.operations.arguments import Kind, operation
from colkern.operations.creation import nulls
from colkern.operations.list_slots import Lists, lists_of, most_of
from colkern.operations.operands import kept_type
from colkern.operations.patterns import require_room
from colkern.operations.selection.list_elements import copy_elements
from colkern.operations.validity import null_outside, with_nulls_of
from colkern.targets import NOWHERE, DType, Items

_LISTS = (s.List, s.LargeList)
_VIEWS = (s.ListView, s.LargeListView)

_OFFSETS = (np.dtype(np.int32), np.dtype(np.int64))
"""The offsets of lists, and of large lists."""


@operation(kind=Kind.ELEMENT_WISE)
def list_to_list_view(array: Array) -> Array:
    """A list or large list array as list views or large list views; the elements are shared.

    Raises:
        TypeError: If the array is of another type.
        InvalidArrowError: If a list reaches outside the child.
    """
    type_ = _accepted(array, _LISTS, "list or large_list")
    make = s.list_view if isinstance(type_, s.List) else s.large_list_view
    slots = lists_of(array)
    target = slots.target
    sizes = target.output(array.length, slots.offsets.dtype)
    target.map(lists.list_sizes, array.length, slots.offsets, sizes)
    begins = slots.offsets[: array.length] if array.length else sizes
    buffers = [target.buffer(begins), target.buffer(sizes)]
    return with_nulls_of(array, kept_type(make, type_.fields[0]), buffers, [slots.child])


@operation(kind=Kind.ELEMENT_WISE)
def list_view_to_list(array: Array) -> Array:
    """A list view or large list view array as lists or large lists.

    The elements of valid slots are copied in order, also several times if slots overlap. If they are in
    order in the child, with nothing between them, they are a slice of it.

    Raises:
        TypeError: If the array is of another type.
        LimitExceededError: If there are too many elements for the offsets.
        InvalidArrowError: If a list reaches outside the child.
    """
    type_ = _accepted(array, _VIEWS, "list_view or large_list_view")
    make = s.list_ if isinstance(type_, s.ListView) else s.large_list
    kind = make(type_.fields[0])
    slots = lists_of(array)
    target = slots.target
    starts = slots.starts_in_row()
    if starts is not None:
        first = target.item(slots.offsets, 0)
        child = slots.elements(first, first + target.item(starts, array.length))
        return with_nulls_of(array, kind, [target.buffer(starts)], [child])
    starts = slots.starts(slots.shown, slots.offsets.dtype)
    row = slots.row_from(starts)
    if row is not None:
        child = slots.elements(*row)
    else:
        child = copy_elements(target, slots.child, slots.begins(starts.dtype), starts)
    return with_nulls_of(array, kind, [target.buffer(starts)], [child])


@operation(kind=Kind.ELEMENT_WISE)
def list_to_fixed_size_list(array: Array, list_size: int) -> Array:
    """Lists that all have `list_size` elements as fixed-size lists.

    The elements are shared if they are in order, with `list_size` of them under each null, too; else
    they are copied, and are null under nulls.

    Args:
        array: A list, large list, list view or large list view array.
        list_size: The length of each list that is not null.

    Raises:
        TypeError: If the array is of another type.
        ValueError: If a list has another length.
        InvalidArrowError: If a list reaches outside the child.
    """
    type_ = _accepted(array, (*_LISTS, *_VIEWS), "list, large_list or a view of them")
    kind = kept_type(s.fixed_size_list, type_.fields[0], list_size)
    slots = lists_of(array)
    slot = slots.first_of_another_length(list_size)
    if slot != NOWHERE:
        length = slots.length_of(slot)
        raise ValueError(f"list_size: {list_size}, the list in slot {slot} has length {length}")
    child = _elements_in_place(slots, list_size)
    if child is None:
        child = _copied_evenly(slots, list_size)
    return with_nulls_of(array, kind, [], [child])


@operation(kind=Kind.ELEMENT_WISE)
def fixed_size_list_to_list(array: Array, *, large: bool = False) -> Array:
    """A fixed-size list array as lists, or as large lists; the elements are shared.

    Args:
        large: Use offsets of 64 bits.

    Raises:
        TypeError: If the array is of another type.
        LimitExceededError: If there are too many elements for offsets of 32 bits.
        InvalidArrowError: If the child is too short.
    """
    if not isinstance(array.type.storage, s.FixedSizeList):
        raise TypeError(f"array: expected fixed_size_list, got {array.type}")
    slots = lists_of(array)
    size = array.type.storage.list_size
    total = array.length * size
    dtype = _OFFSETS[large]
    require_room(total, dtype, "elements")
    out = slots.target.output(array.length + 1, dtype)
    slots.target.map(offsets.even_offsets, len(out), 0, size, out)
    kind = kept_type(s.large_list if large else s.list_, array.type.storage.value_field)
    begin = array.offset * size
    child = slots.elements(begin, begin + total)
    return with_nulls_of(array, kind, [slots.target.buffer(out)], [child])


@operation(kind=Kind.ELEMENT_WISE)
def list_with_offsets(array: Array, bit_width: int) -> Array:
    """The same lists with offsets (and sizes) of 32 or of 64 bits; the elements are shared.

    Args:
        array: A list, large list, list view or large list view array.
        bit_width: 32 or 64. An array that already has such offsets is returned as it is.

    Raises:
        TypeError: If the array is of another type.
        ValueError: If `bit_width` is another number.
        LimitExceededError: If there are too many elements for offsets of 32 bits.
        InvalidArrowError: If a list reaches outside the child.
    """
    if bit_width not in (32, 64):
        raise ValueError(f"bit_width: expected 32 or 64, got {bit_width}")
    type_ = _accepted(array, (*_LISTS, *_VIEWS), "list, large_list or a view of them")
    dtype = _OFFSETS[bit_width == 64]
    if array.layout.spec(Role.OFFSETS).dtype == dtype:
        return array
    slots = lists_of(array)
    field = type_.fields[0]
    kind: s.DataType
    if slots.has_views:
        buffers, child = _resized_views(slots, dtype)
        kind = kept_type(s.large_list_view if bit_width == 64 else s.list_view, field)
    else:
        buffers, child = _resized_offsets(slots, dtype)
        kind = kept_type(s.large_list if bit_width == 64 else s.list_, field)
    return with_nulls_of(array, kind, buffers, [child])


def _accepted(array: Array, types: tuple[type[s.DataType], ...], names: str) -> s.DataType:
    """The storage type of an array; raises `TypeError` unless it is one of `types`."""
    type_ = array.type.storage
    if not isinstance(type_, types):
        raise TypeError(f"array: expected {names}, got {array.type}")
    return type_


def _even_starts(slots: Lists, size: int) -> Items:
    """The offsets of lists that all have `size` elements."""
    own = slots.offsets.dtype
    fits = slots.array.length * size <= most_of(own)
    out = slots.target.output(slots.array.length + 1, own if fits else np.int64)
    slots.target.map(offsets.even_offsets, len(out), 0, size, out)
    return out


def _elements_in_place(slots: Lists, size: int) -> Array | None:
    """The child's elements, if they are in order and each slot, null or not, has `size`; else None."""
    array, target = slots.array, slots.target
    if not array.length * size:
        return slots.child.slice(0, 0)
    if array.null_count and (
        slots.has_views or slots.first_of_another_length(size, also_null=True) != NOWHERE
    ):
        return None
    base = target.item(slots.offsets, 0)
    if slots.has_views:
        away = (*slots.args, base, _even_starts(slots, size))
        if slots.first(lists.first_list_out_of_row, *away) != NOWHERE:
            return None
    return slots.elements(base, base + array.length * size)


def _copied_evenly(slots: Lists, size: int) -> Array:
    """`size` elements for each slot, copied; null under nulls."""
    array, target = slots.array, slots.target
    if array.null_count == array.length:
        return nulls(array.length * size, slots.child.type, array.device)
    starts = _even_starts(slots, size)
    # Under a null are arbitrary elements, until they are made null.
    elements = copy_elements(target, slots.child, slots.begins(starts.dtype), starts, size)
    if not array.null_count:
        return elements
    args = (starts, *slots.validity)
    visible = bits_by(target, lists.repeat_list_bits, elements.length, args)
    return null_outside(elements, visible)


def _resized_offsets(slots: Lists, dtype: DType) -> tuple[list[Buffer | None], Array]:
    target = slots.target
    ((first, last),) = target.ends(slots.offsets)
    require_room(last - first, dtype, "elements")
    base = first if last > most_of(dtype) else 0
    out = target.output(len(slots.offsets), dtype)
    target.map(offsets.rebase_offsets, len(out), slots.offsets, base, out)
    return [target.buffer(out)], slots.elements(base, last)


def _resized_views(slots: Lists, dtype: DType) -> tuple[list[Buffer | None], Array]:
    target, child, count = slots.target, slots.child, slots.array.length
    require_room(child.length, dtype, "elements")
    # Under nulls there may be numbers that do not fit.
    sizes = target.output(count, dtype)
    target.map(lists.list_lengths, count, *slots.args, sizes)
    begins = target.output(count, dtype)
    target.map(lists.list_begins, count, *slots.args, begins)
    return [target.buffer(begins), target.buffer(sizes)], child
