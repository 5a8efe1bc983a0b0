"""`filter`: the slots that a mask chooses, for every layout.

Columnar format 1.5: "Physical Memory Layout".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, overload

import numpy as np

from colkern import schema as s
from colkern.arrays import Array, RecordBatch
from colkern.bitmaps import bit_words, bitmap_of
from colkern.kernels import bitmaps, filtering
from colkern.layouts import Extent, LayoutKind, Role
from colkern.memory import EMPTY, HOST, Buffer
from colkern.operations.arguments import operation
from colkern.operations.compaction import Kept, compact
from colkern.operations.creation import nulls
from colkern.operations.selection import (
    Picks,
    is_plain,
    null_where,
    own_words,
    repeat_bits,
    take_picks,
    words_of,
)
from colkern.operations.validation import require_valid
from colkern.targets import target_of

NullSelection = Literal["drop", "emit_null"]


@overload
def filter(data: Array, mask: Array, *, null_selection: NullSelection = "drop") -> Array: ...
@overload
def filter(
    data: RecordBatch, mask: Array, *, null_selection: NullSelection = "drop"
) -> RecordBatch: ...
@operation
def filter(
    data: Array | RecordBatch, mask: Array, *, null_selection: NullSelection = "drop"
) -> Array | RecordBatch:
    """The values where the mask is true, in order.

    They are copied (views: the views alone; dictionaries: the indices alone; list-views: offsets and
    sizes alone; dense unions: type ids and offsets alone), unless all are kept: that is `data` itself.

    Args:
        data: Any array, or a batch, of which rows are chosen.
        mask: As many booleans, on the same device; or nulls without a type, as of `array([])`.
        null_selection: What a null in the mask does: "drop" the value, or "emit_null" in its place.

    Raises:
        TypeError: If the mask is not of booleans.
        ValueError: If its length is another one, or `null_selection` is neither of the two.
        InvalidArrowError: If an array points outside its own memory.
    """
    columns = data.columns if isinstance(data, RecordBatch) else [data]
    if isinstance(mask.type, s.Null):
        # As of `array([])`, whose values have no type.
        mask = nulls(mask.length, s.bool_(), columns[0].device if columns else HOST)
    if not isinstance(mask.type.storage, s.Bool):
        raise TypeError(f"mask: expected booleans, got {mask.type}")
    if mask.length != data.length:
        raise ValueError(f"mask: {mask.length} booleans for {data.length} values")
    if null_selection not in ("drop", "emit_null"):
        raise ValueError(f"null_selection: expected 'drop' or 'emit_null', got {null_selection!r}")
    for column in columns:
        if not column._checked:
            require_valid(column)
    emits = null_selection == "emit_null" and mask.null_count > 0
    kept = _kept(mask, emits)
    if kept.count == data.length and not emits:
        return data
    if len(columns) > 1 and kept.is_sparse:
        # Found once, for all columns.
        kept.positions()
    chosen = [keep(column, kept) for column in columns]
    if emits:
        validity, valid = _kept_bits(kept, mask.buffer(Role.VALIDITY), mask.offset)
        chosen = [null_where(column, validity, kept.count - valid) for column in chosen]
    if isinstance(data, RecordBatch):
        return RecordBatch(data.schema, chosen, kept.count)
    return chosen[0]


def _kept(mask: Array, emits: bool) -> Kept:
    """The slots that are true, and those that are null too if `emits`."""
    target = target_of(mask.device)
    values = mask.buffers[1] or EMPTY
    if mask.null_count == 0:
        return compact(target, values.array, mask.offset, mask.length)
    valid = mask.buffer(Role.VALIDITY)
    assert valid is not None
    words = bit_words(target, mask.length)
    sides = (values.array, mask.offset, valid.array, mask.offset)
    table = bitmaps.OR_NOT if emits else bitmaps.AND
    target.map(bitmaps.combine_bits, len(words), *sides, mask.length, table, words)
    return compact(target, target.frozen(words.view(np.uint8)), 0, mask.length)


def keep(array: Array, kept: Kept) -> Array:
    """The slots of a checked array that are kept, of as many."""
    name = array.layout.kind
    if name in _BY_POSITION and (kept.has_positions or (kept.is_sparse and _BY_POSITION[name])):
        return take_picks(array, Picks(kept.positions()))
    made = _FILTER[name](array, kept)
    made._checked = True
    return made


def _kept_bits(kept: Kept, bits: Buffer | None, offset: int) -> tuple[Buffer, int]:
    """The bits kept of those from bit `offset` on, and how many of them are set."""
    words = bit_words(kept.target, kept.count)
    count = 0
    if len(words):
        assert bits is not None
        args = (*kept.mask, kept.starts, bits.array, offset, words)
        count = kept.target.reduce(filtering.filter_bits, len(words), *args)
    return bitmap_of(kept.target, words, kept.count), count


def _validity(array: Array, kept: Kept) -> tuple[Buffer | None, int]:
    """The validity of the slots that are kept, and their null count."""
    if array.null_count == 0:
        return None, 0
    bits, valid = _kept_bits(kept, array.buffer(Role.VALIDITY), array.offset)
    return (bits, kept.count - valid) if valid < kept.count else (None, 0)


def keep_words(words: Any, width: int, kept: Kept) -> Any:
    """The items that are kept, of `width` words each and one a slot."""
    target = kept.target
    out = target.output(kept.count * width, words.dtype)
    if width == 1:
        kept.map(filtering.filter_items, kept.starts, words, out)
    elif width == 2 and words.dtype.itemsize == 8:
        kept.map(filtering.filter_pairs, kept.starts, words, out)
    elif kept.count and width:
        where = (target.address(words), width * words.dtype.itemsize)
        kept.map(filtering.filter_values, kept.starts, *where, out.view(np.uint8))
    return out


def _keep_buffer(array: Array, role: Role, kept: Kept) -> Buffer:
    made: Buffer = kept.target.buffer(keep_words(*own_words(array, role), kept))
    return made


def _keep_null(array: Array, kept: Kept) -> Array:
    return Array(array.type, kept.count, [], null_count=kept.count)


def _keep_fixed(array: Array, kept: Kept) -> Array:
    validity, count = _validity(array, kept)
    spec = array.layout.buffers[1]
    if spec.extent is Extent.BITS:
        values, _ = _kept_bits(kept, array.buffers[1], array.offset)
    else:
        values = _keep_buffer(array, spec.role, kept)
    buffers = (validity, values, *array.data_buffers)
    if array.dictionary is None:
        return Array.of_valid(array.type, kept.count, buffers, count)
    return Array(array.type, kept.count, buffers, dictionary=array.dictionary, null_count=count)


def _keep_offsets(items: Any, kept: Kept) -> tuple[Any, Any, int]:
    """The offsets of the values that are kept, where those of each block begin, and the last one."""
    target = kept.target
    starts = target.output(kept.count + 1, items.dtype)
    if kept.blocks == 1:
        # It begins at 0: what all of it comes to is known afterwards.
        kept.map(
            filtering.filter_offsets, kept.starts, target.table([0, 0], np.int64), items, starts
        )
        total = target.item(starts, kept.count)
        return starts, target.table([0, total], np.int64), total
    sums = kept.sums(filtering.sum_kept_lengths, items)
    if kept.blocks == 0:
        starts[:] = 0
    kept.map(filtering.filter_offsets, kept.starts, sums, items, starts)
    return starts, sums, target.item(sums, kept.blocks)


def _keep_bytes(items: Any, kept: Kept, sums: Any, base: int, width: int, out: Any) -> None:
    """The bytes of the values that are kept; one step of the offsets is `width` of them."""
    args = (sums, items, base, width, out.view(np.uint8))
    kept.map(filtering.filter_bytes, *args, balance=sums)


def _keep_binary(array: Array, kept: Kept) -> Array:
    target = kept.target
    validity, count = _validity(array, kept)
    items = array.items(Role.OFFSETS)
    starts, sums, total = _keep_offsets(items, kept)
    source = array.buffer(Role.BYTES)
    data = target.output(total, np.uint8)
    if source is not None and total:
        _keep_bytes(items, kept, sums, source.address, 1, data)
    buffers = [validity, target.buffer(starts), target.buffer(data)]
    return Array(array.type, kept.count, buffers, null_count=count)


def _keep_list(array: Array, kept: Kept) -> Array:
    target = kept.target
    validity, count = _validity(array, kept)
    items = array.items(Role.OFFSETS)
    starts, sums, total = _keep_offsets(items, kept)
    child = array.children[0]
    if is_plain(child):
        values = child.items(Role.DATA)
        data = target.output(total, values.dtype)
        if total:
            where = (target.address(values), values.dtype.itemsize)
            _keep_bytes(items, kept, sums, *where, data)
        chosen = Array(child.type, total, [None, target.buffer(data)], null_count=0)
        chosen._checked = True
    else:
        first, last = target.item(items, 0), target.item(items, len(items) - 1)
        own = child.slice(first, last - first)
        bits = bit_words(target, own.length)
        spread = (kept.bits, kept.offset, items, bits)
        target.map(filtering.spread_to_elements, len(bits), *spread)
        elements = compact(target, target.frozen(bits.view(np.uint8)), 0, own.length)
        chosen = keep(own, elements)
    buffers = [validity, target.buffer(starts)]
    return Array(array.type, kept.count, buffers, [chosen], null_count=count)


def _keep_list_view(array: Array, kept: Kept) -> Array:
    validity, count = _validity(array, kept)
    offsets = _keep_buffer(array, Role.OFFSETS, kept)
    sizes = _keep_buffer(array, Role.SIZES, kept)
    buffers = [validity, offsets, sizes]
    return Array(array.type, kept.count, buffers, array.children, null_count=count)


def _keep_fixed_list(array: Array, kept: Kept) -> Array:
    storage = array.type.storage
    assert isinstance(storage, s.FixedSizeList)
    validity, count = _validity(array, kept)
    size = storage.list_size
    own = array.children[0].slice(array.offset * size, array.length * size)
    if size and is_plain(own):
        values = own.items(Role.DATA)
        lists = values.view(np.dtype(f"V{values.dtype.itemsize * size}"))
        data = kept.target.buffer(keep_words(*words_of(lists), kept))
        child = Array(own.type, kept.count * size, [None, data], null_count=0)
        child._checked = True
    elif size:
        bits = Buffer(kept.bits, kept.target.device)
        repeated = repeat_bits(kept.target, bits, kept.offset, array.length, size)
        child = keep(own, compact(kept.target, repeated.array, 0, own.length))
    else:
        child = own
    return Array(array.type, kept.count, [validity], [child], null_count=count)


def _keep_children(array: Array, kept: Kept) -> list[Array]:
    """The children, where both have the same slots."""
    return [keep(child.slice(array.offset, array.length), kept) for child in array.children]


def _keep_struct(array: Array, kept: Kept) -> Array:
    validity, count = _validity(array, kept)
    children = _keep_children(array, kept)
    return Array(array.type, kept.count, [validity], children, null_count=count)


def _keep_sparse_union(array: Array, kept: Kept) -> Array:
    type_ids = _keep_buffer(array, Role.TYPE_IDS, kept)
    return Array(array.type, kept.count, [type_ids], _keep_children(array, kept))


def _keep_dense_union(array: Array, kept: Kept) -> Array:
    # What is left of increasing offsets increases too.
    type_ids = _keep_buffer(array, Role.TYPE_IDS, kept)
    offsets = _keep_buffer(array, Role.OFFSETS, kept)
    return Array(array.type, kept.count, [type_ids, offsets], array.children)


def _keep_runs(array: Array, kept: Kept) -> Array:
    # Imported late: it takes the values of runs, as here.
    from colkern.operations.run_selection import filter_runs

    return filter_runs(array, kept.target.buffer(kept.bits), kept.offset)


_BY_POSITION = {
    LayoutKind.FIXED_SIZE: False,
    LayoutKind.DICTIONARY: False,
    LayoutKind.BINARY_VIEW: False,
    LayoutKind.BINARY: True,
}
"""The layouts whose kept slots are taken by position where there are positions; whether to find those,
where few slots are kept."""

_FILTER: dict[LayoutKind, Callable[[Array, Kept], Array]] = {
    LayoutKind.NULL: _keep_null,
    LayoutKind.FIXED_SIZE: _keep_fixed,
    LayoutKind.DICTIONARY: _keep_fixed,
    LayoutKind.BINARY_VIEW: _keep_fixed,
    LayoutKind.BINARY: _keep_binary,
    LayoutKind.LIST: _keep_list,
    LayoutKind.LIST_VIEW: _keep_list_view,
    LayoutKind.FIXED_SIZE_LIST: _keep_fixed_list,
    LayoutKind.STRUCT: _keep_struct,
    LayoutKind.SPARSE_UNION: _keep_sparse_union,
    LayoutKind.DENSE_UNION: _keep_dense_union,
    LayoutKind.RUN_END_ENCODED: _keep_runs,
}
