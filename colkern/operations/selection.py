"""`take`: values by position, for every layout.

Columnar format 1.5: "Physical Memory Layout".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.errors import UnsupportedError
from colkern.kernels import lists, selection
from colkern.layouts import Extent, Role
from colkern.memory import EMPTY, Buffer
from colkern.operations.creation import nulls
from colkern.operations.patterns import measure
from colkern.operations.targets import NOWHERE, target_of, validity_of
from colkern.operations.validation import require_valid
from colkern.operations.validity import combine_validity, null_count


def take(array: Array, indices: Array) -> Array:
    """The values of `array` at `indices`, which may repeat and come in any order; null for a null index.

    The values are copied (views: the views alone; dictionaries: the indices alone).

    Args:
        array: Any array.
        indices: An integer array on the same device.

    Raises:
        TypeError: If `indices` are not integers.
        IndexError: If an index is negative or not less than `len(array)`.
        InvalidArrowError: If `array` points outside its own memory.
    """
    if not isinstance(indices.type, s.Int):
        raise TypeError(f"indices: expected integers, got {indices.type}")
    require_valid(array)
    target = target_of(array.device)
    items = indices.items(Role.DATA)
    validity = validity_of(indices, target)
    kernel = selection.first_index_out_of_bounds
    slot = target.reduce(kernel, indices.length, items, *validity, array.length)
    if slot != NOWHERE:
        raise IndexError(
            f"indices: slot {slot} has {target.item(items, slot)}, there are {array.length} values"
        )
    if array.length == 0:
        return nulls(indices.length, array.type, array.device)
    plain = target.output(indices.length, np.int64)
    target.map(selection.plain_indices, indices.length, items, *validity, plain)
    taken = take_positions(array, target.frozen(plain))
    return taken if indices.null_count == 0 else _with_nulls_of(taken, indices)


def take_positions(array: Array, positions: Any) -> Array:
    """The values of a checked array at `positions` (int64[n], read-only, on its device, in bounds)."""
    made = _TAKE[array.layout.name](array, positions)
    made._checked = True
    return made


def _validity(array: Array, positions: Any) -> tuple[Buffer | None, int]:
    """The validity of the picked slots and their null count."""
    if not array.layout.has_validity or array.null_count == 0:
        return None, 0
    bitmap = array.buffer(Role.VALIDITY)
    assert bitmap is not None
    picked = _take_bits(array, bitmap, positions)
    probe = Array(s.bool_(), len(positions), [picked, picked])
    return picked, null_count(probe)


def _take_bits(array: Array, bits: Buffer, positions: Any) -> Buffer:
    target = target_of(array.device)
    size = (len(positions) + 7) // 8
    out = target.output(size, np.uint8)
    target.map(selection.take_bits, size, positions, bits.array, array.offset, out)
    made: Buffer = target.buffer(out)
    return made


def _take_null(array: Array, positions: Any) -> Array:
    return Array(array.type, len(positions), [], null_count=len(positions))


def _take_fixed(array: Array, positions: Any) -> Array:
    validity, count = _validity(array, positions)
    spec = array.layout.buffers[1]
    data = array.buffers[1]
    if spec.extent is Extent.BITS:
        # Only an array without values goes without them, and only no position is in its bounds.
        values = _take_bits(array, data or EMPTY, positions)
    else:
        values = _take_buffer(array, spec.role, positions)
    buffers = [validity, values, *array.data_buffers]
    return Array(array.type, len(positions), buffers, dictionary=array.dictionary, null_count=count)


def words_of(items: Any) -> tuple[Any, int]:
    """Items as words of up to 8 bytes, whatever they mean, and how many words make an item.

    Not copied. Items of no bytes have no words.
    """
    itemsize = items.dtype.itemsize
    if itemsize == 0:
        return items[:0].view(np.uint8), 0
    word = np.dtype(f"u{next((w for w in (8, 4, 2) if itemsize % w == 0), 1)}")
    return items.view(word), itemsize // word.itemsize


def take_items(target: Any, items: Any, positions: Any) -> Any:
    """The items at `positions`, moved in words; same dtype."""
    words, width = words_of(items)
    if width == 0:
        return items[:0].repeat(0)
    out = target.output(len(positions) * width, words.dtype)
    target.map(selection.take_items, len(positions), positions, words, width, out)
    return out.view(items.dtype)


def _take_buffer(array: Array, role: Role, positions: Any) -> Buffer:
    target = target_of(array.device)
    made: Buffer = target.buffer(take_items(target, array.items(role), positions))
    return made


def _measure(array: Array, positions: Any) -> tuple[Any, Any]:
    """The offsets of the picked slots, and of the array's own."""
    target = target_of(array.device)
    items = array.items(Role.OFFSETS)
    kernel = selection.take_lengths
    return measure(target, kernel, len(positions), items.dtype, positions, items), items


def _take_binary(array: Array, positions: Any) -> Array:
    target = target_of(array.device)
    validity, count = _validity(array, positions)
    starts, items = _measure(array, positions)
    source = array.buffer(Role.BYTES)
    data = target.output(target.item(starts, len(positions)), np.uint8)
    if source is not None and len(data):
        target.map(
            selection.take_bytes,
            len(positions),
            positions,
            items,
            source.address,
            target.frozen(starts),
            data,
        )
    buffers = [validity, target.buffer(starts), target.buffer(data)]
    return Array(array.type, len(positions), buffers, null_count=count)


def _take_list(array: Array, positions: Any) -> Array:
    target = target_of(array.device)
    validity, count = _validity(array, positions)
    starts, items = _measure(array, positions)
    elements = target.output(target.item(starts, len(positions)), np.int64)
    target.map(
        selection.take_ranges, len(positions), positions, items, target.frozen(starts), elements
    )
    child = take_positions(array.children[0], target.frozen(elements))
    buffers = [validity, target.buffer(starts)]
    return Array(array.type, len(positions), buffers, [child], null_count=count)


def _take_list_view(array: Array, positions: Any) -> Array:
    validity, count = _validity(array, positions)
    offsets = _take_buffer(array, Role.OFFSETS, positions)
    sizes = _take_buffer(array, Role.SIZES, positions)
    buffers = [validity, offsets, sizes]
    return Array(array.type, len(positions), buffers, array.children, null_count=count)


def _take_fixed_list(array: Array, positions: Any) -> Array:
    assert isinstance(array.type.storage, s.FixedSizeList)
    target = target_of(array.device)
    validity, count = _validity(array, positions)
    size = array.type.storage.list_size
    elements = target.output(len(positions) * size, np.int64)
    target.map(lists.take_fixed_ranges, len(elements), positions, size, array.offset, elements)
    child = take_positions(array.children[0], target.frozen(elements))
    return Array(array.type, len(positions), [validity], [child], null_count=count)


def _own_children(array: Array) -> list[Array]:
    """The children cut to the array's own slots, where both have the same slots."""
    return [child.slice(array.offset, array.length) for child in array.children]


def _take_struct(array: Array, positions: Any) -> Array:
    validity, count = _validity(array, positions)
    children = [take_positions(child, positions) for child in _own_children(array)]
    return Array(array.type, len(positions), [validity], children, null_count=count)


def _take_sparse_union(array: Array, positions: Any) -> Array:
    type_ids = _take_buffer(array, Role.TYPE_IDS, positions)
    children = [take_positions(child, positions) for child in _own_children(array)]
    return Array(array.type, len(positions), [type_ids], children)


def _take_dense_union(array: Array, positions: Any) -> Array:
    from colkern.operations.unions import take_dense_union

    return take_dense_union(array, positions)


def _take_runs(array: Array, positions: Any) -> Array:
    from colkern.operations.runs import encode_taken_runs

    return encode_taken_runs(array, positions)


def _with_nulls_of(taken: Array, indices: Array) -> Array:
    """`taken`, and null wherever an index is."""
    if taken.layout.name == "null":
        return taken
    if not taken.layout.has_validity:
        raise UnsupportedError(f"null indices into {taken.type}, which has no nulls of its own")
    validity, count = combine_validity([taken, indices])
    return Array(
        taken.type,
        taken.length,
        [validity, *taken.buffers[1:]],
        taken.children,
        taken.dictionary,
        null_count=count,
    )


_TAKE: dict[str, Callable[[Array, Any], Array]] = {
    "null": _take_null,
    "fixed-size primitive": _take_fixed,
    "dictionary-encoded": _take_fixed,
    "variable-size binary view": _take_fixed,
    "variable-size binary": _take_binary,
    "variable-size list": _take_list,
    "variable-size list-view": _take_list_view,
    "fixed-size list": _take_fixed_list,
    "struct": _take_struct,
    "sparse union": _take_sparse_union,
    "dense union": _take_dense_union,
    "run-end encoded": _take_runs,
}
