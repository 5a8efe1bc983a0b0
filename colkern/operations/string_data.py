"""Strings in the form for kernels, their order as bits, and sorting of them by their bytes.

Columnar format 1.5: "Variable-size Binary Layout", "Variable-size Binary View Layout".
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.bitmaps import bits_by
from colkern.kernels import keys, ordering
from colkern.layouts import LayoutKind, Role
from colkern.memory import Buffer
from colkern.operations.comparing import Order
from colkern.operations.convert import offsets_to_views, views_to_offsets
from colkern.operations.operands import validity_of, view_addresses
from colkern.operations.selection.words import take_items
from colkern.operations.validity import split_nulls, with_nulls_of
from colkern.targets import Items, Target, on_its_device, target_of

_WORD = 8


class Text(NamedTuple):
    """Values with offsets."""

    offsets: Items  #: The begin and end of each value.
    data: Items  #: Their bytes, at least a word of them.
    base: int  #: The address of `data`.

    @property
    def arguments(self) -> tuple[Items, int, int]:
        """The offsets, the address of the bytes, and the start of their last word."""
        return self.offsets, self.base, len(self.data) - _WORD


def text_of(array: Array, target: Target) -> Text:
    """The values of an array with offsets; a few bytes are copied to where a whole word can be read.

    Keep the result until the kernels that use its address have ended.
    """
    offsets, buffer = array.items(Role.OFFSETS), array.buffer(Role.BYTES)
    if buffer is not None and buffer.size >= _WORD:
        return Text(offsets, buffer.array, buffer.address)
    data = target.allocate(_WORD, np.uint8)
    if buffer is not None:
        target.copy(buffer.array, data)
    return Text(offsets, data, target.address(data))


def views_of(array: Array, target: Target) -> tuple[Items, Items, Items, int]:
    """The views of an array as words, the addresses of its data buffers and its views, its validity."""
    words = array.items(Role.VIEWS).view(np.uint64)
    return words, target.table(view_addresses(array), np.uint64), *validity_of(array, target)


def as_views(array: Array) -> Array:
    """An array of strings or of binary values with views."""
    return array if array.layout.variadic else offsets_to_views(array)


def pattern_of(value: bytes, target: Target) -> Items:
    """The bytes of a pattern for a kernel, followed by zeros (uint8[])."""
    return target.table(np.frombuffer(bytearray(value) + bytes(12), np.uint8), np.uint8)


# Order


def ordered_strings(left: Array, right: Array, order: Order) -> Buffer:
    """The bits of the slots in which two arrays of strings or of binary values are in an order.

    Args:
        left: A checked array.
        right: An array of the same kind and length; the layouts may differ.
    """
    target, rest = target_of(left.device), (left.length, order.flip)
    if not left.layout.variadic and left.type.storage == right.type.storage:
        less, greater = (text_of(side, target) for side in order.placed((left, right)))
        texts = (*less.arguments, *greater.arguments)
        return bits_by(target, ordering.less_texts, left.length, (*texts, *rest))
    views = (as_views(side) for side in order.placed((left, right)))
    less_views, greater_views = (views_of(side, target) for side in views)
    args = (*less_views, *greater_views, *rest)
    return bits_by(target, ordering.less_views, left.length, args)


def ordered_string(array: Array, value: bytes, order: Order) -> Buffer:
    """The bits of the slots of a checked array that are in an order with `value`."""
    target = target_of(array.device)
    pattern = pattern_of(value, target)
    # Greater is the opposite of less or equal.
    or_equal, flip = int(order.swapped), order.flip ^ (255 if order.swapped else 0)
    rest = (target.address(pattern), len(value), or_equal, array.length, flip)
    if array.layout.variadic:
        views = views_of(array, target)
        return bits_by(target, ordering.less_view, array.length, (*views, *rest))
    text = text_of(array, target)
    return bits_by(target, ordering.less_text, array.length, (*text.arguments, *rest))


@on_its_device
def as_strings(array: Array) -> Array:
    """Values of one size as an array with offsets; the bytes are not copied."""
    target = target_of(array.device)
    width = array.layout.spec(Role.DATA).dtype.itemsize
    ends = (target.positions(array.length + 1) + array.offset) * width
    buffers = (None, target.buffer(ends), array.buffers[1])
    return Array.of_valid(s.large_binary(), array.length, buffers, 0)


# Sorting: by the first seven bytes, then strings that are alike by the next seven, and so on


def text_positions(array: Array, chosen: Items | None) -> tuple[Items, Items]:
    """Positions (uint64[n]) in the order of their strings, and the number of each one's string.

    Equal strings have the same number (int64[n]), from 0 on in their order, and keep their order.

    Args:
        array: A checked array of text, or of values that are read as bytes.
        chosen: The positions to sort; all if None.
    """
    target = target_of(array.device)
    return _positions(target, _text(array, target), array.length, chosen)


def extreme_position(array: Array, chosen: Items | None, greatest: bool) -> int:
    """The position of the first of the least or the greatest strings, of which there is at least one.

    Args:
        array, chosen: As for `text_positions`.
        greatest: Whether the greatest string counts.
    """
    target = target_of(array.device)
    return _extreme_position(target, _text(array, target), array.length, chosen, greatest)


@on_its_device
def _extreme_position(
    target: Target, text: Text, count: int, chosen: Items | None, greatest: bool
) -> int:
    own = target.table([], np.uint64) if chosen is None else chosen
    words = _words(target, text, own, count if chosen is None else len(own), 0)
    depth = 0
    while True:
        extreme = words.max() if greatest else words.min()
        places = (words == extreme).nonzero()[0]
        own = places.astype(np.uint64) if chosen is None and depth == 0 else own[places]
        if len(own) == 1 or int(extreme) & 255 != keys.MORE:
            return int(own[0])
        depth += keys.PIECE
        words = _words(target, text, own, len(own), depth)


def _text(array: Array, target: Target) -> Text:
    if array.layout.kind is LayoutKind.FIXED_SIZE:
        array = as_strings(array)
    elif array.layout.variadic:
        array = views_to_offsets(array)
    return text_of(array, target)


@on_its_device
def _positions(target: Target, text: Text, count: int, chosen: Items | None) -> tuple[Items, Items]:
    words = _words(target, text, target.table([], np.uint64), count, 0)
    positions = target.sort_positions(words, chosen).copy()
    sorted_words = take_items(target, words, positions)
    begins = _changes(sorted_words)
    depth = 0
    while True:
        tied = ~begins
        tied[:-1] |= ~begins[1:]
        places = (tied & (sorted_words & np.uint64(255) == keys.MORE)).nonzero()[0]
        if len(places) == 0:
            return positions, begins.cumsum() - 1
        depth += keys.PIECE
        own = positions[places]
        words = _words(target, text, own, len(own), depth)
        runs = begins[places].cumsum(dtype=np.uint64)
        order = target.sort_positions(runs, target.sort_positions(words))
        ordered = take_items(target, words, order)
        positions[places] = take_items(target, own, order)
        sorted_words[places] = ordered
        begins[places] |= _changes(ordered)


def _words(target: Target, text: Text, positions: Items, count: int, depth: int) -> Items:
    out = target.output(count, np.uint64)
    target.map(keys.order_strings, count, *text.arguments, positions, depth, out)
    return out


def _changes(items: Items) -> Items:
    """Whether each item differs from the one before."""
    changes: Items = items == items
    changes[1:] = items[1:] != items[:-1]
    return changes


def byte_ranks(array: Array) -> Array:
    """The rank (uint32) of each value of a flat array among the distinct ones; see `_ranks`."""
    valid = array.length - array.null_count
    return _ranks(array, split_nulls(array)[:valid] if array.null_count else None)


@on_its_device
def _ranks(array: Array, split: Items | None) -> Array:
    """The rank (uint32) of each string among the distinct ones; null for nulls.

    Args:
        split: The positions of valid slots; None if all are valid.
    """
    target = target_of(array.device)
    positions, numbers = text_positions(array, split)
    ranks = target.allocate(array.length, np.uint32)
    ranks[positions] = numbers
    return with_nulls_of(array, s.uint32(), [target.buffer(ranks)])
