"""Equality of arrays, by their values.

Offsets, absent bitmaps, the order of views and list-views, and values under nulls play no part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from colkern.arrays import Array, ChunkedArray
from colkern.arrays.chunked import chunks_of, cut_alike
from colkern.arrays.slots import (
    INLINE,
    Slots,
    all_slots,
    bits_at,
    byte_ranges,
    concatenated,
    dictionary_slots,
    element_ranges,
    items_at,
    require_host,
    run_slots,
    same_slots,
    union_members,
    valid_at,
    views_at,
)
from colkern.dispatch import Dispatch, by_layout
from colkern.layouts import VIEW_INLINE_BYTES, Extent, LayoutKind, Role
from colkern.memory import EMPTY
from colkern.schema import Map, same_type

_BLOCK_BYTES = 1 << 20


_Comparer: TypeAlias = Callable[[Array, Slots, Array, Slots, bool], bool]

_compare: Dispatch[LayoutKind, _Comparer] = by_layout("equality")
"""Layout → a comparer of valid slots; its arguments are those of `equal_slots`."""


def equals(a: Array | ChunkedArray, b: Array | ChunkedArray) -> bool:
    """Whether both columns have the same type and the same values, as in pyarrow, in whatever chunks.

    Types are compared by `colkern.schema.same_type`. Nulls equal nulls. NaN equals nothing, 0.0 equals
    -0.0. Dictionary arrays are equal if both their indices and their dictionaries are: the same values
    through another dictionary differ. Runs may be cut differently.

    Raises:
        InvalidArrowError: If an offset, an index, a type id or a run end is bad, with the slot.
        ValueError: If the bytes are not in host memory.
    """
    if isinstance(a, Array):
        require_host(a, "a")
    if isinstance(b, Array):
        require_host(b, "b")
    if a.length != b.length or not same_type(a.type, b.type):
        return False
    if isinstance(a, Array) and isinstance(b, Array):
        return equal_slots(a, all_slots(a), b, all_slots(b))
    sides = cut_alike([chunks_of(a), chunks_of(b)])
    return all(equals(left, right) for left, right in zip(*sides, strict=True))


def equal_slots(a: Array, a_slots: Slots, b: Array, b_slots: Slots, by_value: bool = False) -> bool:
    """Whether slot `a_slots[i]` of `a` equals slot `b_slots[i]` of `b`, for every i. With `by_value`, NaN
    equals NaN, and dictionaries are compared by the values pointed at.
    """
    a_valid, b_valid = valid_at(a, a_slots), valid_at(b, b_slots)
    if a_valid is not None or b_valid is not None:
        everything = np.ones(a_slots.size, np.bool_)
        valid = everything if a_valid is None else a_valid
        if not np.array_equal(valid, everything if b_valid is None else b_valid):
            return False
        if not valid.all():
            a_slots, b_slots = a_slots[valid], b_slots[valid]
    return _compare[a.layout.kind](a, a_slots, b, b_slots, by_value)


@_compare.of(LayoutKind.NULL)
def _nulls(a: Array, a_slots: Slots, b: Array, b_slots: Slots, by_value: bool) -> bool:
    return True


@_compare.of(LayoutKind.FIXED_SIZE)
def _items(a: Array, a_slots: Slots, b: Array, b_slots: Slots, by_value: bool) -> bool:
    spec = a.layout.spec(Role.DATA)
    at = bits_at if spec.extent is Extent.BITS else items_at
    a_items, b_items = at(a, Role.DATA, a_slots), at(b, Role.DATA, b_slots)
    return np.array_equal(a_items, b_items, equal_nan=by_value and spec.dtype.kind == "f")


@_compare.of(LayoutKind.BINARY)
def _variable(a: Array, a_slots: Slots, b: Array, b_slots: Slots, by_value: bool) -> bool:
    a_starts, sizes = byte_ranges(a, a_slots)
    b_starts, b_sizes = byte_ranges(b, b_slots)
    if not np.array_equal(sizes, b_sizes):
        return False
    a_bytes, b_bytes = ((array.buffer(Role.BYTES) or EMPTY).array for array in (a, b))
    return _same_bytes(a_bytes, a_starts, b_bytes, b_starts, sizes)


def _same_bytes(
    a: NDArray[np.uint8], a_starts: Slots, b: NDArray[np.uint8], b_starts: Slots, sizes: Slots
) -> bool:
    """Whether the ranges of `sizes` bytes are equal; adjacent ranges are compared as one."""
    filled = sizes > 0
    if not filled.any():
        return True
    a_starts, b_starts, sizes = a_starts[filled], b_starts[filled], sizes[filled]
    joined = (a_starts[1:] == (a_starts + sizes)[:-1]) & (b_starts[1:] == (b_starts + sizes)[:-1])
    heads = np.concatenate([[0], np.flatnonzero(~joined) + 1])
    spans = np.add.reduceat(sizes, heads).tolist()
    a_heads, b_heads = a_starts[heads].tolist(), b_starts[heads].tolist()
    return all(
        a[x : x + size].tobytes() == b[y : y + size].tobytes()
        for a_head, b_head, span in zip(a_heads, b_heads, spans, strict=True)
        for x, y, size in _blocks(a_head, b_head, span)
    )


def _blocks(a_start: int, b_start: int, size: int) -> Iterator[tuple[int, int, int]]:
    """A pair of ranges cut into blocks, so that comparing a large column needs little memory."""
    for done in range(0, size, _BLOCK_BYTES):
        yield a_start + done, b_start + done, min(_BLOCK_BYTES, size - done)


@_compare.of(LayoutKind.BINARY_VIEW)
def _views(a: Array, a_slots: Slots, b: Array, b_slots: Slots, by_value: bool) -> bool:
    a_views, b_views = views_at(a, a_slots), views_at(b, b_slots)
    sizes = a_views.sizes
    if not np.array_equal(sizes, b_views.sizes):
        return False
    inline = a_views.sources == INLINE
    # A short value has padding behind it in its view.
    own = np.arange(VIEW_INLINE_BYTES) < sizes[inline, None]
    if ((a_views.raw[inline, 4:] != b_views.raw[inline, 4:]) & own).any():
        return False
    # One number for a pair of data buffers, since sorting numbers is far quicker than sorting
    # pairs.
    count = max(len(b.data_buffers), 1)
    pairs = (a_views.sources * count + b_views.sources)[~inline]
    for a_source, b_source in (divmod(pair, count) for pair in np.unique(pairs).tolist()):
        at = (a_views.sources == a_source) & (b_views.sources == b_source)
        a_bytes = (a.data_buffers[a_source] or EMPTY).array
        b_bytes = (b.data_buffers[b_source] or EMPTY).array
        if not _same_bytes(a_bytes, a_views.starts[at], b_bytes, b_views.starts[at], sizes[at]):
            return False
    return True


# Values with parts


class Pair(NamedTuple):
    """Slots of two arrays that are compared one by one: of the children of two others, or their like."""

    path: tuple[str, ...]  #: The names that lead there.
    a: Array
    a_slots: Slots
    b: Array
    b_slots: Slots


_Parts: TypeAlias = Callable[[Array, Slots, Array, Slots], "Iterable[Pair] | None"]

parts_of: Dispatch[LayoutKind, _Parts] = by_layout(
    "parts of values that are compared",
    *(LayoutKind.NULL, LayoutKind.FIXED_SIZE, LayoutKind.BINARY, LayoutKind.BINARY_VIEW),
)
"""Layout → the parts of valid slots, which are equal if these are; None if the slots differ anyway."""


@_compare.of(*parts_of.keys_needed)
def _nested(a: Array, a_slots: Slots, b: Array, b_slots: Slots, by_value: bool) -> bool:
    if a.dictionary is not None and not by_value:
        assert b.dictionary is not None
        a_places, b_places = dictionary_slots(a, a_slots), dictionary_slots(b, b_slots)
        return np.array_equal(a_places, b_places) and equals(a.dictionary, b.dictionary)
    parts = parts_of[a.layout.kind](a, a_slots, b, b_slots)
    return parts is not None and all(
        equal_slots(part.a, part.a_slots, part.b, part.b_slots, by_value) for part in parts
    )


@parts_of.of(LayoutKind.LIST, LayoutKind.LIST_VIEW, LayoutKind.FIXED_SIZE_LIST)
def _elements(a: Array, a_slots: Slots, b: Array, b_slots: Slots) -> Iterable[Pair] | None:
    a_starts, sizes = element_ranges(a, a_slots)
    b_starts, b_sizes = element_ranges(b, b_slots)
    if not np.array_equal(sizes, b_sizes):
        return None
    a_child, b_child = a.children[0], b.children[0]
    a_places, b_places = concatenated(a_starts, sizes), concatenated(b_starts, sizes)
    if a_places.size > a_child.length:
        # Repeated elements are compared once: lists that overlap would multiply with each level of
        # nesting.
        a_places, b_places = np.unique(np.stack([a_places, b_places]), axis=1)
    path = (a.type.storage.fields[0].name,)
    if isinstance(a.type.storage, Map):
        pairs = _fields(a_child, a_places, b_child, b_places)
        return [pair._replace(path=path + pair.path) for pair in pairs or ()]
    return [Pair(path, a_child, a_places, b_child, b_places)]


@parts_of.of(LayoutKind.STRUCT)
def _fields(a: Array, a_slots: Slots, b: Array, b_slots: Slots) -> Iterable[Pair]:
    for k, field in enumerate(a.type.storage.fields):
        places = same_slots(a, k, a_slots), same_slots(b, k, b_slots)
        yield Pair((field.name,), a.children[k], places[0], b.children[k], places[1])


@parts_of.of(LayoutKind.SPARSE_UNION, LayoutKind.DENSE_UNION)
def _members(a: Array, a_slots: Slots, b: Array, b_slots: Slots) -> Iterable[Pair] | None:
    sides = (a, a_slots), (b, b_slots)
    a_ids, b_ids = (items_at(array, Role.TYPE_IDS, slots) for array, slots in sides)
    if not np.array_equal(a_ids, b_ids):
        return None
    # The type ids are equal, so both sides visit the same children in the same order.
    names = [(field.name,) for field in a.type.storage.fields]
    members = zip(*(union_members(array, slots) for array, slots in sides), strict=True)
    return (
        Pair(names[k], a.children[k], a_places, b.children[k], b_places)
        for (k, _, a_places), (_, _, b_places) in members
    )


@parts_of.of(LayoutKind.DICTIONARY)
def _encoded(a: Array, a_slots: Slots, b: Array, b_slots: Slots) -> Iterable[Pair]:
    assert a.dictionary is not None
    assert b.dictionary is not None
    places = dictionary_slots(a, a_slots), dictionary_slots(b, b_slots)
    return [Pair(("dictionary",), a.dictionary, places[0], b.dictionary, places[1])]


@parts_of.of(LayoutKind.RUN_END_ENCODED)
def _runs(a: Array, a_slots: Slots, b: Array, b_slots: Slots) -> Iterable[Pair]:
    a_runs, b_runs = run_slots(a, a_slots), run_slots(b, b_slots)
    # One comparison for each stretch in which both sides stay in one run.
    new = np.ones(a_runs.size, np.bool_)
    new[1:] = (np.diff(a_runs) != 0) | (np.diff(b_runs) != 0)
    path = (a.type.storage.fields[1].name,)
    return [Pair(path, a.children[1], a_runs[new], b.children[1], b_runs[new])]
