"""Sorting of strings and binary values by their bytes.

Strings are sorted by their first seven bytes, then those that are alike by the next seven, and so on.
"""

from __future__ import annotations

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.kernels import keys
from colkern.layouts import LayoutKind
from colkern.operations.convert import views_to_offsets
from colkern.operations.selection.words import take_items
from colkern.operations.string_data import Text, as_strings, text_of
from colkern.operations.validity import compact_validity, split_nulls
from colkern.targets import Items, Target, on_its_device, target_of


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
        array: As for `text_positions`.
        split: The positions of valid slots; None if all are valid.
    """
    target = target_of(array.device)
    positions, numbers = text_positions(array, split)
    ranks = target.allocate(array.length, np.uint32)
    ranks[positions] = numbers
    buffers = (compact_validity(array), target.buffer(ranks))
    return Array.of_valid(s.uint32(), array.length, buffers, array.null_count)
