"""Validation: what must hold before a kernel may follow offsets, views, run ends and indices.

Two depths. The cheap one looks at counts and sizes. The full one looks at every slot; part of it,
`require_valid`, runs before any kernel that follows positions read from outside, once an array.

Columnar format 1.5: the rules under each layout.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import add
from typing import Any

import numpy as np

from colkern import schema as s
from colkern.arrays import Array, RecordBatch
from colkern.errors import InvalidArrowError
from colkern.kernels import Kernel, lists, offsets, runs, selection, unions, views
from colkern.layouts import VIEW_INLINE_BYTES, Role
from colkern.operations.targets import NOWHERE, buffer_addresses, target_of, validity_of
from colkern.operations.validity import null_count


def validate(data: Array | RecordBatch, *, full: bool = False) -> None:
    """Check an array, or every column of a batch, against the format.

    Args:
        data: What to check; nothing is copied.
        full: Look at every slot (offsets, views, run ends, type ids, dictionary indices, map keys,
            UTF-8, null counts); else at counts and sizes alone, in time that does not grow with the
            length.

    Raises:
        InvalidArrowError: With the column's path, the slot, and what was found there.
    """
    if isinstance(data, RecordBatch):
        for position, field in enumerate(data.schema):
            _validate(data.column(position), field.name, full)
    else:
        _validate(data, "", full)


def require_valid(array: Array, place: str = "") -> None:
    """Make sure that every position in the array leads to memory of the array's own.

    Runs once an array (and its slices); whatever passes may be given to any kernel.

    Raises:
        InvalidArrowError: As `validate`.
    """
    if array._checked:
        return
    _check_children(array, place)
    check = _POSITIONS.get(array.layout.name)
    if check is not None and array.length:
        check(array, place)
    for name, part in _parts(array):
        require_valid(part, _inside(place, name))
    array._checked = True


def _validate(array: Array, place: str, full: bool) -> None:
    if full:
        require_valid(array, place)
        _check_null_count(array, place)
        _check_null_list_views(array, place)
        _check_union_order(array, place)
        _check_view_bytes(array, place)
        _check_map(array, place)
        _check_text(array, place)
    else:
        _check_children(array, place)
    for name, part in _parts(array):
        _validate(part, _inside(place, name), full)


def _parts(array: Array) -> list[tuple[str, Array]]:
    """The children with their names, and the dictionary."""
    if not array.children and array.dictionary is None:
        return []
    named = [(f.name, c) for f, c in zip(array.type.fields, array.children, strict=True)]
    if array.dictionary is not None:
        named.append(("dictionary", array.dictionary))
    return named


def _inside(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


def _check_children(array: Array, place: str) -> None:
    """The lengths of children where the parent's length sets them."""
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
    if array.layout.name in ("struct", "sparse union"):
        return slots
    if isinstance(storage, s.FixedSizeList):
        return slots * storage.list_size
    return None


def _check_null_count(array: Array, place: str) -> None:
    if array.known_null_count >= 0 and array.known_null_count != null_count(array):
        raise InvalidArrowError(
            f"null count {array.known_null_count}, the bitmap has {null_count(array)}", place=place
        )


def _first(array: Array, kernel: Kernel, count: int, *args: Any) -> int:
    """The first slot that a kernel objects to, or `NOWHERE`."""
    return int(target_of(array.device).reduce(kernel, min, count, *args))


def _check_offsets(array: Array, limit: int, place: str) -> None:
    """Offsets begin at 0 or later, never descend, and end at `limit` or earlier."""
    target = target_of(array.device)
    items = array.items(Role.OFFSETS)
    first, last = target.item(items, 0), target.item(items, array.length)
    if first < 0:
        raise InvalidArrowError(f"slot 0: the first offset is {first}", place=place)
    if target.reduce(offsets.count_descents, add, array.length, items):
        slot = _first(array, offsets.first_descent, array.length, items)
        begin, end = target.item(items, slot), target.item(items, slot + 1)
        raise InvalidArrowError(f"slot {slot}: begins at {begin} and ends at {end}", place=place)
    if last > limit:
        raise InvalidArrowError(f"the last offset is {last}, past the end at {limit}", place=place)


def _check_binary(array: Array, place: str) -> None:
    data = array.buffer(Role.BYTES)
    _check_offsets(array, 0 if data is None else data.size, place)


def _check_list(array: Array, place: str) -> None:
    _check_offsets(array, array.children[0].length, place)


def _check_list_view(array: Array, place: str) -> None:
    _check_list_views_in(array, validity_of(array, target_of(array.device)), place)


def _check_null_list_views(array: Array, place: str) -> None:
    """Null list-views stay within the child too: other layouts leave open what stands under a null."""
    if array.layout.name == "variable-size list-view" and array.length and array.null_count:
        every_slot = target_of(array.device).table([], np.uint8), 0
        _check_list_views_in(array, every_slot, place)


def _check_list_views_in(array: Array, validity: tuple[Any, int], place: str) -> None:
    """The valid slots by that bitmap begin and end within the child."""
    begins, sizes = array.items(Role.OFFSETS), array.items(Role.SIZES)
    limit = array.children[0].length
    slot = _first(
        array,
        lists.first_list_view_out_of_bounds,
        array.length,
        begins,
        sizes,
        *validity,
        limit,
    )
    if slot != NOWHERE:
        item = target_of(array.device).item
        raise InvalidArrowError(
            f"slot {slot}: offset {item(begins, slot)} and size {item(sizes, slot)} "
            f"in {limit} values",
            place=place,
        )


def _check_views(array: Array, place: str) -> None:
    target = target_of(array.device)
    sizes = target.table([0 if b is None else b.size for b in array.data_buffers], np.int64)
    words = array.items(Role.VIEWS).view(np.int32)
    validity = validity_of(array, target)
    kernel = views.first_view_out_of_bounds
    slot = _first(array, kernel, array.length, words, *validity, sizes)
    if slot != NOWHERE:
        length, _, buffer, offset = (target.item(words, 4 * slot + k) for k in range(4))
        raise InvalidArrowError(
            f"slot {slot}: {length} bytes at {offset} of data buffer {buffer}; "
            f"there are {len(array.data_buffers)}",
            place=place,
        )


def _check_dictionary(array: Array, place: str) -> None:
    assert array.dictionary is not None
    indices = array.items(Role.DATA)
    validity = validity_of(array, target_of(array.device))
    limit = array.dictionary.length
    kernel = selection.first_index_out_of_bounds
    slot = _first(array, kernel, array.length, indices, *validity, limit)
    if slot != NOWHERE:
        index = target_of(array.device).item(indices, slot)
        raise InvalidArrowError(
            f"slot {slot}: index {index} into a dictionary of {limit} values", place=place
        )


def _check_dense_union(array: Array, place: str) -> None:
    _check_type_ids(array, array.items(Role.OFFSETS), place)


def _check_sparse_union(array: Array, place: str) -> None:
    none = target_of(array.device).table([], np.int32)
    # Children of a sparse union are as long as their parent: the children were checked.
    _check_type_ids(array, none, place)


def _check_type_ids(array: Array, slot_offsets: Any, place: str) -> None:
    target = target_of(array.device)
    type_ids = array.items(Role.TYPE_IDS)
    lengths = target.table([child.length for child in array.children], np.int64)
    numbers = target.table(child_numbers(array.type.storage), np.int64)
    kernel = unions.first_slot_out_of_bounds
    slot = _first(array, kernel, array.length, type_ids, numbers, slot_offsets, lengths)
    if slot != NOWHERE:
        found = f"type id {target.item(type_ids, slot)}"
        if len(slot_offsets):
            found += f", offset {target.item(slot_offsets, slot)}"
        raise InvalidArrowError(f"slot {slot}: {found} leads to no value", place=place)


def _check_union_order(array: Array, place: str) -> None:
    """The offsets of a dense union into each child do not descend."""
    if array.layout.name != "dense union" or not array.length:
        return
    storage = array.type.storage
    assert isinstance(storage, s.Union)
    type_ids, offsets_ = array.items(Role.TYPE_IDS), array.items(Role.OFFSETS)
    for code, field in zip(storage.type_codes, storage.fields, strict=True):
        slots = (type_ids == code).nonzero()[0]
        own = offsets_[slots]
        descents = own[1:] < own[:-1]
        if descents.any():
            later = int(descents.argmax()) + 1
            raise InvalidArrowError(
                f"slot {int(slots[later])}: offset {int(own[later])} into child {field.name!r} "
                f"after offset {int(own[later - 1])}",
                place=place,
            )


def child_numbers(union: s.DataType) -> list[int]:
    """For each type id from 0 to 127 the number of the child that it stands for, or -1."""
    assert isinstance(union, s.Union)
    numbers = [-1] * 128
    for number, code in enumerate(union.type_codes):
        numbers[code] = number
    return numbers


def _check_runs(array: Array, place: str) -> None:
    run_ends, values = array.children
    if run_ends.null_count:
        raise InvalidArrowError("run ends contain nulls", place=place)
    ends = run_ends.items(Role.DATA)
    run = _first(run_ends, runs.first_bad_run_end, run_ends.length, ends)
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


_POSITIONS: dict[str, Callable[[Array, str], None]] = {
    "variable-size binary": _check_binary,
    "variable-size binary view": _check_views,
    "variable-size list": _check_list,
    "variable-size list-view": _check_list_view,
    "sparse union": _check_sparse_union,
    "dense union": _check_dense_union,
    "dictionary-encoded": _check_dictionary,
    "run-end encoded": _check_runs,
}


def _check_view_bytes(array: Array, place: str) -> None:
    """Views repeat the first bytes of their value, and are filled up with zeros after a short one."""
    if array.layout.name != "variable-size binary view" or not array.length:
        return
    target = target_of(array.device)
    words = array.items(Role.VIEWS).view(np.int32)
    addresses = target.table(buffer_addresses(array), np.uint64)
    kernel = views.first_view_unlike_its_value
    slot = _first(array, kernel, array.length, words, *validity_of(array, target), addresses)
    if slot != NOWHERE:
        what = "prefix" if target.item(words, 4 * slot) > VIEW_INLINE_BYTES else "padding"
        raise InvalidArrowError(f"slot {slot}: the view's {what} is not its value's", place=place)


def _check_map(array: Array, place: str) -> None:
    """Entries and keys of maps are not null."""
    if not isinstance(array.type.storage, s.Map):
        return
    entries = array.children[0]
    if entries.null_count:
        raise InvalidArrowError(f"{entries.null_count} map entries are null", place=place)
    keys = entries.children[0].slice(entries.offset, entries.length)
    if keys.null_count:
        raise InvalidArrowError(f"{keys.null_count} map keys are null", place=place)


_TEXT = (s.Utf8, s.LargeUtf8, s.Utf8View)


def _check_text(array: Array, place: str) -> None:
    """UTF-8: of a valid slot of a string type."""
    from colkern.operations.text import first_invalid_utf8

    if isinstance(array.type.storage, _TEXT) and array.length:
        slot = first_invalid_utf8(array)
        if slot is not None:
            raise InvalidArrowError(f"slot {slot}: not UTF-8", place=place)
