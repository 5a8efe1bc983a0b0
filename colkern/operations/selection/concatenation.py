"""`concat`: arrays of one type, one after the other.

Columnar format 1.5: "Physical Memory Layout".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.bitmaps import bit_words, bitmap_of
from colkern.errors import LimitExceededError
from colkern.kernels import bitmaps, offsets, runs, unions, views
from colkern.layouts import Extent, LayoutKind, Role
from colkern.memory import Buffer
from colkern.operations.arguments import operation
from colkern.operations.run_search import own_runs
from colkern.operations.union_slots import child_numbers
from colkern.operations.validation import require_valid
from colkern.targets import on_its_device, target_of


@operation
def concat(arrays: Sequence[Array]) -> Array:
    """The values of all the arrays, in order; copied, unless a single one has any: that is returned.

    Dictionaries that are not in the same memory are put one after the other too, and the indices moved.

    Args:
        arrays: At least one, of one type (see `colkern.schema.same_type`) and on one device. The
            result has the type of the first that has values.

    Raises:
        ValueError: If there is none.
        TypeError: If the types differ.
        LimitExceededError: If offsets, run ends or dictionary indices become too large for the type.
        InvalidArrowError: If an array points outside its own memory.
    """
    if not arrays:
        raise ValueError("arrays: need at least one")
    type_ = arrays[0].type
    for position, array in enumerate(arrays):
        if array.type is not type_ and not s.same_type(array.type, type_):
            raise TypeError(f"arrays: number {position} is {array.type}, not {type_}")
        if not array._checked:
            require_valid(array)
    filled = [array for array in arrays if array.length] or arrays[:1]
    return filled[0] if len(filled) == 1 else join_arrays(filled)


def join_arrays(arrays: Sequence[Array]) -> Array:
    """Checked arrays of one type, copied one after the other."""
    first = arrays[0]
    length = sum([array.length for array in arrays])
    if length >> 63:
        raise LimitExceededError(f"{length} slots: the length of an array has at most 63 bits")
    buffers, children, dictionary = _CONCAT[first.layout.kind](arrays)
    if first.layout.has_validity:
        validity, nulls = _validity(arrays, length)
        buffers = [validity, *buffers]
    else:
        nulls = length if first.layout.kind is LayoutKind.NULL else 0
    made = Array(first.type, length, buffers, children, dictionary, null_count=nulls)
    made._checked = True
    return made


Parts = tuple[list[Buffer | None], list[Array], Array | None]


def _validity(arrays: Sequence[Array], length: int) -> tuple[Buffer | None, int]:
    nulls = sum([array.null_count for array in arrays])
    if nulls == 0:
        return None, 0
    bits = [array.buffer(Role.VALIDITY) if array.null_count else None for array in arrays]
    return _join_bits(arrays, bits, length), nulls


def _join_bits(arrays: Sequence[Array], bits: Sequence[Buffer | None], length: int) -> Buffer:
    """The bits of all the arrays' slots; ones for an array that has no buffer of them."""
    target = target_of(arrays[0].device)
    out = bit_words(target, length)
    whole = out.view(np.uint8)
    place = 0
    for array, buffer in zip(arrays, bits, strict=True):
        count = array.length
        if buffer is not None and not (place | array.offset | count) & 7:
            first, begin = place >> 3, array.offset >> 3
            size = count >> 3
            target.copy(buffer.array[begin : begin + size], whole[first : first + size])
        elif count:
            touched = bitmaps.words_for(place + count) - (place >> 6)
            if buffer is None:
                target.map(bitmaps.place_ones, touched, count, place, out)
            else:
                source = (buffer.array, array.offset, count)
                target.map(bitmaps.place_bits, touched, *source, place, out)
        place += count
    return bitmap_of(target, out, length)


def _join_items(arrays: Sequence[Array], role: Role) -> Any:
    """The items of a one-item-a-slot buffer of all the arrays, as one array that may be written."""
    target = target_of(arrays[0].device)
    position = arrays[0].layout.position(role)
    dtype = arrays[0].layout.buffers[position].dtype
    size = dtype.itemsize
    if size == 0:
        return target.allocate(0, np.uint8)
    # As bytes: an array of another type for each part takes longer than to copy many a part.
    out = target.output(sum([array.length for array in arrays]) * size, np.uint8)
    place = 0
    for array in arrays:
        buffer = array.buffers[position]
        if buffer is None:  # It has no slots.
            continue
        begin, count = array.offset * size, array.length * size
        target.copy(buffer.array[begin : begin + count], out[place : place + count])
        place += count
    return out.view(dtype)


def _join_null(arrays: Sequence[Array]) -> Parts:
    return [], [], None


def _join_fixed(arrays: Sequence[Array]) -> Parts:
    target = target_of(arrays[0].device)
    if arrays[0].layout.buffers[1].extent is Extent.BITS:
        bits = [array.buffers[1] for array in arrays]
        return [_join_bits(arrays, bits, sum([a.length for a in arrays]))], [], None
    return [target.buffer(_join_items(arrays, Role.DATA))], [], None


def _join_dictionary(arrays: Sequence[Array]) -> Parts:
    target = target_of(arrays[0].device)
    indices = _join_items(arrays, Role.DATA)
    dictionaries = [array.dictionary for array in arrays if array.dictionary is not None]
    # Those without values have only nulls for indices, and nowhere to begin.
    distinct = list({_memory(d): d for d in dictionaries if d.length}.values()) or dictionaries[:1]
    starts = _starts([d.length for d in distinct])
    if starts[-1] - 1 > np.iinfo(indices.dtype).max:
        raise LimitExceededError(f"dictionaries too long for indices of {indices.dtype}")
    bases = dict(zip(map(_memory, distinct), starts, strict=False))
    place = 0
    for array, dictionary in zip(arrays, dictionaries, strict=True):
        if base := bases.get(_memory(dictionary), 0):
            indices[place : place + array.length] += indices.dtype.type(base)
        place += array.length
    return [target.buffer(indices)], [], concat(distinct)


def _memory(array: Array) -> tuple[Any, ...]:
    """Where the values of an array are: two arrays of a type that have the same are the same."""
    return (
        array.offset,
        array.length,
        _places(array.buffers),
        tuple(_memory(child) for child in array.children),
        None if array.dictionary is None else _memory(array.dictionary),
    )


def _places(buffers: Sequence[Buffer | None]) -> tuple[tuple[int, int] | None, ...]:
    return tuple(None if b is None else (b.address, b.size) for b in buffers)


def _join_binary(arrays: Sequence[Array]) -> Parts:
    target = target_of(arrays[0].device)
    joined, spans = _join_offsets(arrays)
    data = target.output(sum(end - begin for begin, end in spans), np.uint8)
    place = 0
    for array, (begin, end) in zip(arrays, spans, strict=True):
        source = array.buffer(Role.BYTES)
        if source is not None:
            target.copy(source.array[begin:end], data[place : place + end - begin])
        place += end - begin
    return [target.buffer(joined), target.buffer(data)], [], None


def _join_list(arrays: Sequence[Array]) -> Parts:
    target = target_of(arrays[0].device)
    joined, spans = _join_offsets(arrays)
    elements = [
        array.children[0].slice(begin, end - begin)
        for array, (begin, end) in zip(arrays, spans, strict=True)
    ]
    return [target.buffer(joined)], [concat(elements)], None


def _join_offsets(arrays: Sequence[Array]) -> tuple[Any, list[tuple[int, int]]]:
    """One run of offsets from 0 on, and what each array's own offsets span."""
    target = target_of(arrays[0].device)
    items = [array.items(Role.OFFSETS) for array in arrays]
    spans = [(target.item(i, 0), target.item(i, len(i) - 1)) for i in items]
    total = sum(end - begin for begin, end in spans)
    dtype = items[0].dtype
    if total > np.iinfo(dtype).max:
        raise LimitExceededError(f"{total} bytes or elements do not fit offsets of {dtype}")
    joined = target.output(sum(array.length for array in arrays) + 1, dtype)
    place = base = 0
    for array, own, (begin, end) in zip(arrays, items, spans, strict=True):
        part = joined[place : place + array.length + 1]
        target.map(offsets.rebase_offsets, len(part), own, begin - base, part)
        place += array.length
        base += end - begin
    return joined, spans


def _join_views(arrays: Sequence[Array]) -> Parts:
    target = target_of(arrays[0].device)
    joined = _join_items(arrays, Role.VIEWS).view(np.int32)
    data: list[Buffer | None] = []
    # Slices of one array have the same data buffers: those are there once.
    firsts: dict[Any, int] = {}
    place = 0
    for array in arrays:
        part = joined[4 * place : 4 * (place + array.length)]
        first = firsts.setdefault(_places(array.data_buffers), len(data))
        if first == len(data):
            data += array.data_buffers
        if first:
            target.map(views.renumber_views, array.length, first, part)
        place += array.length
    return [target.buffer(joined), *data], [], None


@on_its_device
def _join_list_view(arrays: Sequence[Array]) -> Parts:
    target = target_of(arrays[0].device)
    begins = _join_items(arrays, Role.OFFSETS)
    sizes = _join_items(arrays, Role.SIZES)
    starts = _starts([array.children[0].length for array in arrays])
    if starts[-1] > np.iinfo(begins.dtype).max:
        raise LimitExceededError(f"{starts[-1]} elements do not fit offsets of {begins.dtype}")
    place = 0
    for array, base in zip(arrays, starts, strict=False):
        begins[place : place + array.length] += begins.dtype.type(base)
        place += array.length
    children = [concat([array.children[0] for array in arrays])]
    return [target.buffer(begins), target.buffer(sizes)], children, None


def _join_fixed_list(arrays: Sequence[Array]) -> Parts:
    storage = arrays[0].type.storage
    assert isinstance(storage, s.FixedSizeList)
    size = storage.list_size
    elements = [
        array.children[0].slice(array.offset * size, array.length * size) for array in arrays
    ]
    return [], [concat(elements)], None


def _own_children(arrays: Sequence[Array]) -> list[Array]:
    """Each child of all the arrays, where child and parent have the same slots."""
    return [
        concat([array.children[k].slice(array.offset, array.length) for array in arrays])
        for k in range(len(arrays[0].children))
    ]


def _join_struct(arrays: Sequence[Array]) -> Parts:
    return [], _own_children(arrays), None


def _join_sparse_union(arrays: Sequence[Array]) -> Parts:
    type_ids = target_of(arrays[0].device).buffer(_join_items(arrays, Role.TYPE_IDS))
    return [type_ids], _own_children(arrays), None


def _join_dense_union(arrays: Sequence[Array]) -> Parts:
    target = target_of(arrays[0].device)
    joined = target.output(sum(array.length for array in arrays), np.int32)
    numbers = target.table(child_numbers(arrays[0].type.storage), np.int64)
    width = len(arrays[0].children)
    bases = [0] * width
    place = 0
    for array in arrays:
        part = joined[place : place + array.length]
        own = (array.items(Role.TYPE_IDS), numbers, array.items(Role.OFFSETS))
        target.map(unions.rebase_slots, array.length, *own, target.table(bases, np.int64), part)
        bases = [base + child.length for base, child in zip(bases, array.children, strict=True)]
        place += array.length
    if max(bases, default=0) > np.iinfo(np.int32).max:
        raise LimitExceededError("the children of a dense union have more than 2**31 - 1 values")
    children = [concat([array.children[k] for array in arrays]) for k in range(width)]
    type_ids = target.buffer(_join_items(arrays, Role.TYPE_IDS))
    return [type_ids, target.buffer(joined)], children, None


def _join_runs(arrays: Sequence[Array]) -> Parts:
    target = target_of(arrays[0].device)
    total = sum(array.length for array in arrays)
    kind = arrays[0].children[0].layout.spec(Role.DATA).dtype
    if total > np.iinfo(kind).max:
        raise LimitExceededError(f"{total} slots do not fit run ends of {kind}")
    spans = [own_runs(array) for array in arrays]
    joined = target.output(sum(count for _, count in spans), kind)
    values = []
    place = base = 0
    for array, (first, count) in zip(arrays, spans, strict=True):
        ends = array.children[0].slice(first, count).items(Role.DATA)
        last = array.offset + array.length
        part = joined[place : place + count]
        target.map(runs.rebase_run_ends, count, ends, array.offset, last, base, part)
        values.append(array.children[1].slice(first, count))
        place += count
        base += array.length
    run_ends = Array(
        arrays[0].children[0].type, len(joined), [None, target.buffer(joined)], null_count=0
    )
    return [], [run_ends, concat(values)], None


def _starts(lengths: list[int]) -> list[int]:
    """Where each of several parts begins, and where the last one ends."""
    starts = [0]
    for length in lengths:
        starts.append(starts[-1] + length)
    return starts


_CONCAT: dict[LayoutKind, Callable[[Sequence[Array]], Parts]] = {
    LayoutKind.NULL: _join_null,
    LayoutKind.FIXED_SIZE: _join_fixed,
    LayoutKind.DICTIONARY: _join_dictionary,
    LayoutKind.BINARY: _join_binary,
    LayoutKind.BINARY_VIEW: _join_views,
    LayoutKind.LIST: _join_list,
    LayoutKind.LIST_VIEW: _join_list_view,
    LayoutKind.FIXED_SIZE_LIST: _join_fixed_list,
    LayoutKind.STRUCT: _join_struct,
    LayoutKind.SPARSE_UNION: _join_sparse_union,
    LayoutKind.DENSE_UNION: _join_dense_union,
    LayoutKind.RUN_END_ENCODED: _join_runs,
}
