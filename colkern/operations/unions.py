"""Union arrays: the slots of each child, and all values in one output.

Columnar format 1.5: "Union Layout".
"""

from __future__ import annotations

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.kernels import unions
from colkern.layouts import Extent, LayoutKind, Role
from colkern.memory import Buffer
from colkern.operations.arguments import operation
from colkern.operations.concatenation import concat
from colkern.operations.patterns import measure
from colkern.operations.selection import (
    Picks,
    take_items,
    take_picks,
    take_positions,
    words_of,
)
from colkern.operations.union_slots import child_numbers, slots_of
from colkern.operations.validation import require_valid
from colkern.operations.validity import null_count
from colkern.targets import Items, Target, target_of


@operation
def select_child(array: Array, child: int) -> tuple[Array, Array]:
    """The slots of a union that show one child, and their values.

    Args:
        array: A sparse or dense union.
        child: The child's number (not its type code).

    Returns:
        The slots, increasing, as int64; and as many values, copied, of the child's type.

    Raises:
        TypeError: If the array is not a union.
        IndexError: If there is no such child.
        InvalidArrowError: If a slot has an unknown type id or an offset out of bounds.
    """
    union = _union(array)
    if not 0 <= child < len(union.fields):
        raise IndexError(f"child {child} of a union of {len(union.fields)}")
    target = target_of(array.device)
    slots = slots_of(target, array.items(Role.TYPE_IDS), union.type_codes[child])
    found = Array(s.int64(), len(slots), [None, target.buffer(slots)], null_count=0)
    places, values = slots, array.children[child]
    if union.mode == "dense":
        places = _picked(target, array.items(Role.OFFSETS), slots)
    else:
        values = values.slice(array.offset, array.length)
    return found, take_picks(values, Picks(places))


@operation
def gather_union(array: Array) -> Array:
    """The values of a union whose children all have one type, in one array of that type; copied.

    Raises:
        TypeError: If the array is not a union, or its children are not of one type.
        InvalidArrowError: If a slot has an unknown type id or an offset out of bounds.
    """
    union = _union(array)
    if len({field.type for field in union.fields}) != 1:
        raise TypeError(f"array: its children must be of one type, they are {array.type}")
    if _is_words(array.children[0]):
        return _gather_words(array)
    if array.children[0].layout.kind is LayoutKind.BINARY:
        return _gather_binary(array)
    return take_positions(concat(array.children), _places_in_all(array))


def take_dense_union(array: Array, picks: Picks) -> Array:
    """The picked slots, with children that hold these alone; where the pick is null, its child is.

    The children are picked too, as the offsets into one child must not descend.
    """
    union = _union(array)
    target = target_of(array.device)
    type_ids = take_items(target, array.items(Role.TYPE_IDS), picks.words)
    places = _picked(target, array.items(Role.OFFSETS), picks.words)
    offsets = target.output(picks.count, np.int32)
    children = []
    for code, child in zip(union.type_codes, array.children, strict=True):
        slots = slots_of(target, type_ids, code)
        target.map(unions.number_slots, len(slots), slots, offsets)
        own = Picks(_picked(target, places, slots), *picks.validity_at(target, slots))
        children.append(take_picks(child, own))
    buffers = [target.buffer(type_ids), target.buffer(offsets)]
    return Array(array.type, picks.count, buffers, children)


def _union(array: Array) -> s.Union:
    storage = array.type.storage
    if not isinstance(storage, s.Union):
        raise TypeError(f"array: expected a union, got {array.type}")
    require_valid(array)
    return storage


def _picked(target: Target, offsets: Items, words: Items) -> Items:
    """The offsets (int32, none negative) at positions, as positions (uint32, read-only)."""
    return target.frozen(take_items(target, offsets, words).view(np.uint32))


def _slot_offsets(array: Array, target: Target) -> Items:
    """The offsets of a dense union; none for a sparse one, whose children are then cut to its slots."""
    if array.layout.kind is LayoutKind.DENSE_UNION:
        return array.items(Role.OFFSETS)
    return target.table([], np.int32)


def _cut_children(array: Array) -> list[Array]:
    if array.layout.kind is LayoutKind.DENSE_UNION:
        return list(array.children)
    return [child.slice(array.offset, array.length) for child in array.children]


def _places_in_all(array: Array) -> Items:
    """Where the value of each slot stands in the children put one after the other."""
    target = target_of(array.device)
    starts = np.cumsum([0, *(child.length for child in array.children)])
    first = 0 if array.layout.kind is LayoutKind.DENSE_UNION else array.offset
    bases = target.table([int(start) + first for start in starts[:-1]], np.int64)
    out = target.output(array.length, np.int64)
    target.map(unions.rebase_slots, array.length, *_slots(array, target), bases, out)
    return target.frozen(out)


def _is_words(values: Array) -> bool:
    """Whether a value is a whole number of bytes in the array's one data buffer."""
    if values.layout.kind is not LayoutKind.FIXED_SIZE:
        return False
    data = values.layout.buffers[1]
    return data.extent is Extent.SLOTS and data.dtype.itemsize > 0


def _gather_words(array: Array) -> Array:
    target = target_of(array.device)
    children = _cut_children(array)
    items = [child.items(Role.DATA) for child in children]
    words, width = words_of(items[0])
    out = target.output(array.length * width, words.dtype)
    addresses = target.table([target.address(i) if len(i) else 0 for i in items], np.uint64)
    slots = _slots(array, target)
    target.map(unions.gather_union, array.length, *slots, addresses, width, out)
    validity, nulls = _gather_validity(array, children, slots)
    kind = children[0].type
    made = Array(kind, array.length, [validity, target.buffer(out)], null_count=nulls)
    made._checked = True
    return made


def _gather_binary(array: Array) -> Array:
    target = target_of(array.device)
    children = _cut_children(array)
    # Held on to: the kernels read them by their addresses.
    own = [child.items(Role.OFFSETS) for child in children]
    addresses = target.table([target.address(i) if len(i) > 1 else 0 for i in own], np.uint64)
    sources = [child.buffer(Role.BYTES) for child in children]
    bases = [b.address if b is not None and b.size else 0 for b in sources]
    slots = (*_slots(array, target), addresses)
    kind = own[0].dtype
    like = target.table([], kind)
    starts = measure(target, unions.gather_union_lengths, array.length, kind, *slots, like)
    data = target.output(target.item(starts, array.length), np.uint8)
    if len(data):
        starts = target.frozen(starts)
        kernel = unions.gather_union_bytes
        tables = (target.table(bases, np.uint64), starts)
        target.map(kernel, array.length, *slots, *tables, data, balance=starts)
    validity, nulls = _gather_validity(array, children, slots[:3])
    buffers = [validity, target.buffer(starts), target.buffer(data)]
    made = Array(children[0].type, array.length, buffers, null_count=nulls)
    made._checked = True
    return made


def _slots(array: Array, target: Target) -> tuple[Items, Items, Items]:
    """Type ids, child numbers and offsets, as the kernels take them."""
    numbers = target.table(child_numbers(array.type.storage), np.int64)
    return array.items(Role.TYPE_IDS), numbers, _slot_offsets(array, target)


def _gather_validity(
    array: Array, children: list[Array], slots: tuple[Items, Items, Items]
) -> tuple[Buffer | None, int]:
    if not any(child.null_count for child in children):
        return None, 0
    target = target_of(array.device)
    bitmaps = [child.buffer(Role.VALIDITY) if child.null_count else None for child in children]
    addresses = target.table([b.address if b is not None else 0 for b in bitmaps], np.uint64)
    first_bits = target.table([child.offset for child in children], np.uint64)
    size = (array.length + 7) // 8
    out = target.output(size, np.uint8)
    kernel = unions.gather_union_bits
    target.map(kernel, size, *slots, addresses, first_bits, array.length, out)
    made = target.buffer(out)
    return made, null_count(Array(s.bool_(), array.length, [made, made]))
