"""Checks of positions, before kernels follow offsets, views, run ends, type ids and indices.

There is one check for each layout, for arrays whose children are long enough; it reads every slot once.

`require_valid` runs them once for each array, before any kernel follows positions from untrusted input.

Columnar format 1.5: the rules under each layout.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.dispatch import TEXT, Dispatch, by_layout
from colkern.errors import InvalidArrowError
from colkern.kernels import Kernel, lists, offsets, runs, selection, unions, views
from colkern.layouts import ChildLength, LayoutKind, Role
from colkern.memory import HOST
from colkern.operations.operands import buffer_addresses, buffer_sizes, validity_of
from colkern.operations.union_slots import child_numbers
from colkern.targets import NOWHERE, Argument, Items, target_of

Check: TypeAlias = Callable[[Array, str], None]
"""Checks an array at a place; raises `InvalidArrowError`."""

_OFFSET = 1 / 8
"""The work for an offset: it takes less than 0.1 ns."""


POSITION_CHECKS: Dispatch[LayoutKind, Check] = by_layout(
    "positions of validate",
    LayoutKind.NULL,
    LayoutKind.FIXED_SIZE,
    LayoutKind.FIXED_SIZE_LIST,
    LayoutKind.STRUCT,
)
"""The check of each layout that has positions."""


def require_valid(array: Array, place: str = "") -> None:
    """Check that every position in the array leads to the array's own memory.

    It runs once for an array and its slices. Arrays that pass may be given to any kernel.

    Raises:
        InvalidArrowError: As `validate`.
    """
    if array._checked:
        return
    check_child_lengths(array, place)
    check = POSITION_CHECKS.get(array.layout.kind)
    if check is not None:
        check(array, place)
    for name, part in parts_of(array):
        require_valid(part, inside(place, name))
    array._checked = True


def parts_of(array: Array) -> list[tuple[str, Array]]:
    """The children with their names, and the dictionary."""
    if not array.children and array.dictionary is None:
        return []
    parts = [(f.name, c) for f, c in zip(array.type.fields, array.children, strict=True)]
    if array.dictionary is not None:
        parts.append(("dictionary", array.dictionary))
    return parts


def inside(place: str, name: str) -> str:
    """The path of a child, for an array at `place`."""
    return f"{place}.{name}" if place else name


def check_child_lengths(array: Array, place: str) -> None:
    """Check the lengths of children, where the parent's length determines them."""
    if not array.children:
        return
    need = _least_child_length(array)
    for field, child in zip(array.type.fields, array.children, strict=True):
        if need is not None and child.length < need:
            raise InvalidArrowError(
                f"child {field.name!r} has {child.length} values, its parent needs {need}",
                place=place,
            )


def _least_child_length(array: Array) -> int | None:
    storage = array.type.storage
    slots = array.offset + array.length
    if array.layout.child_length is ChildLength.SAME:
        return slots
    if isinstance(storage, s.FixedSizeList):
        return slots * storage.list_size
    return None


def first_slot(array: Array, kernel: Kernel, count: int, *args: Argument) -> int:
    """The first slot that a kernel rejects, or `NOWHERE`."""
    return target_of(array.device).reduce(kernel, count, *args) if count else NOWHERE


def _check_offsets(array: Array, limit: int, place: str) -> None:
    """Check that offsets begin at 0 or later, never decrease, and end at `limit` or earlier."""
    target = target_of(array.device)
    items = _offsets(array)
    count = array.length
    bad = target.later(offsets.count_bad_offsets, count, items, limit, work=_OFFSET)
    ends = target.later_item(items, 0), target.later_item(items, count)
    is_bad, first, last = bad(), ends[0](), ends[1]()
    if not is_bad:
        if count:
            array._offset_ends = first, last
        return
    if first < 0:
        raise InvalidArrowError(f"slot 0: the first offset is {first}", place=place)
    slot = first_slot(array, offsets.first_descent, count, items)
    if slot != NOWHERE:
        begin, end = target.item(items, slot), target.item(items, slot + 1)
        raise InvalidArrowError(f"slot {slot}: begins at {begin} and ends at {end}", place=place)
    raise InvalidArrowError(f"the last offset is {last}, past the end at {limit}", place=place)


def _offsets(array: Array) -> Items:
    """The offsets; an empty array has one, if its buffer has it, since others may read it, or else 0."""
    if array.length == 0 and (buffer := array.buffer(Role.OFFSETS)) is not None:
        dtype = array.layout.spec(Role.OFFSETS).dtype
        begin = array.offset * dtype.itemsize
        if begin + dtype.itemsize <= buffer.size:
            return buffer.view(dtype, 1, begin)
    return array.items(Role.OFFSETS)


@POSITION_CHECKS.of(LayoutKind.BINARY)
def _check_binary(array: Array, place: str) -> None:
    data = array.buffer(Role.BYTES)
    _check_offsets(array, 0 if data is None else data.size, place)


@POSITION_CHECKS.of(LayoutKind.LIST)
def _check_list(array: Array, place: str) -> None:
    _check_offsets(array, array.children[0].length, place)


@POSITION_CHECKS.of(LayoutKind.LIST_VIEW)
def _check_list_view(array: Array, place: str) -> None:
    check_list_views_in(array, validity_of(array, target_of(array.device)), place)


def check_list_views_in(array: Array, validity: tuple[Items, int], place: str) -> None:
    """Check that the slots that are valid by a bitmap begin and end within the child."""
    begins, sizes = array.items(Role.OFFSETS), array.items(Role.SIZES)
    limit = array.children[0].length
    kernel = lists.first_list_view_out_of_bounds
    slot = first_slot(array, kernel, array.length, begins, sizes, *validity, limit)
    if slot != NOWHERE:
        item = target_of(array.device).item
        raise InvalidArrowError(
            f"slot {slot}: offset {item(begins, slot)} and size {item(sizes, slot)} "
            f"in {limit} values",
            place=place,
        )


_NOT_ASCII = 0x80808080
"""The bits of four bytes that no byte of ASCII has."""


def ask_views(array: Array) -> None:
    """Start to check views on a device, all their rules in one pass; see `are_plain`."""
    if array.device != HOST and array.length:
        target = target_of(array.device)
        words = array.items(Role.VIEWS).view(np.int32)
        addresses = target.table(buffer_addresses(array), np.uint64)
        buffers = addresses, target.table(buffer_sizes(array), np.int64)
        high = _NOT_ASCII if isinstance(array.type.storage, TEXT) else 0
        arguments = words, *validity_of(array, target), *buffers, high
        array._odd_view = target.later(views.first_odd_view, array.length, *arguments)


def are_plain(array: Array) -> bool:
    """Whether views are known to keep all rules, and inline text to be ASCII; False if nobody has asked."""
    asked = getattr(array, "_odd_view", None)
    return asked is not None and asked() == NOWHERE


@POSITION_CHECKS.of(LayoutKind.BINARY_VIEW)
def _check_views(array: Array, place: str) -> None:
    if are_plain(array):
        return
    target = target_of(array.device)
    sizes = target.table(buffer_sizes(array), np.int64)
    words = array.items(Role.VIEWS).view(np.int32)
    validity = validity_of(array, target)
    kernel = views.first_view_out_of_bounds
    slot = first_slot(array, kernel, array.length, words, *validity, sizes)
    if slot != NOWHERE:
        length, _, buffer, offset = (target.item(words, 4 * slot + k) for k in range(4))
        raise InvalidArrowError(
            f"slot {slot}: {length} bytes at {offset} of data buffer {buffer}; "
            f"there are {len(array.data_buffers)}",
            place=place,
        )


@POSITION_CHECKS.of(LayoutKind.DICTIONARY)
def _check_dictionary(array: Array, place: str) -> None:
    assert array.dictionary is not None
    indices = array.items(Role.DATA)
    validity = validity_of(array, target_of(array.device))
    limit = array.dictionary.length
    kernel = selection.first_index_out_of_bounds
    slot = first_slot(array, kernel, array.length, indices, *validity, limit)
    if slot != NOWHERE:
        index = target_of(array.device).item(indices, slot)
        raise InvalidArrowError(
            f"slot {slot}: index {index} into a dictionary of {limit} values", place=place
        )


@POSITION_CHECKS.of(LayoutKind.DENSE_UNION)
def _check_dense_union(array: Array, place: str) -> None:
    _check_type_ids(array, array.items(Role.OFFSETS), place)


@POSITION_CHECKS.of(LayoutKind.SPARSE_UNION)
def _check_sparse_union(array: Array, place: str) -> None:
    none = target_of(array.device).table([], np.int32)
    # A sparse union's children were checked to be as long as their parent.
    _check_type_ids(array, none, place)


def _check_type_ids(array: Array, slot_offsets: Items, place: str) -> None:
    target = target_of(array.device)
    type_ids = array.items(Role.TYPE_IDS)
    numbers = child_numbers(array.type.storage)
    ends = target.table([array.children[k].length if k >= 0 else 0 for k in numbers], np.int64)
    kernel = unions.first_slot_out_of_bounds
    slot = first_slot(array, kernel, array.length, type_ids, slot_offsets, ends)
    if slot != NOWHERE:
        shown = f"type id {target.item(type_ids, slot)}"
        if len(slot_offsets):
            shown += f", offset {target.item(slot_offsets, slot)}"
        raise InvalidArrowError(f"slot {slot}: {shown} leads to no value", place=place)


@POSITION_CHECKS.of(LayoutKind.RUN_END_ENCODED)
def _check_runs(array: Array, place: str) -> None:
    run_ends, values = array.children
    if run_ends.null_count:
        raise InvalidArrowError("run ends contain nulls", place=place)
    ends = run_ends.items(Role.DATA)
    run = first_slot(run_ends, runs.first_bad_run_end, run_ends.length, ends)
    item = target_of(array.device).item
    if run != NOWHERE:
        before = item(ends, run - 1) if run else 0
        raise InvalidArrowError(
            f"run {run}: ends at {item(ends, run)}, the one before at {before}", place=place
        )
    last = item(ends, run_ends.length - 1) if run_ends.length else 0
    if last < array.offset + array.length:
        raise InvalidArrowError(
            f"run ends cover {last} of {array.offset + array.length} slots", place=place
        )
    if values.length < run_ends.length:
        raise InvalidArrowError(f"{values.length} values for {run_ends.length} runs", place=place)
