"""Trimming of binary views: the views, and the bytes that they refer to.

Columnar format 1.5: "Variable-size Binary View Layout".
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from colkern.arrays import Array
from colkern.kernels import hidden, views
from colkern.kernels.bitmaps import words_for
from colkern.layouts import Role
from colkern.memory import Buffer
from colkern.operations.convert import INLINE_MASKS, gather_views, windows
from colkern.operations.operands import buffer_addresses
from colkern.targets import NOWHERE, Items, Target, target_of


def trimmed_views(array: Array, visible: Items) -> Sequence[Buffer | None]:
    """The views of visible slots, and data buffers with only the bytes that these refer to.

    Args:
        array: A checked array of views.
        visible: The visible slots as a bitmap from bit 0 on; zero bytes if all are.
    """
    target = target_of(array.device)
    items = array.items(Role.VIEWS)
    starts = target.output(array.length + 1, np.int64)
    shown = (items.view(np.uint64), visible, 0)
    used = target.reduce(views.long_lengths, array.length, *shown, starts[1:])
    # If it is as much or more, values share bytes, and would be written once each.
    if used >= sum(b.size for b in array.data_buffers if b is not None):
        words = items.view(np.int32)
        return [_shown_views(array, words, visible), *_shown_data(array, words, starts[1:])]
    target.accumulate(starts)
    data = gather_views(array, target, starts, used)
    masks = target.table(INLINE_MASKS, np.uint64)
    moved = target.output(2 * array.length, np.uint64)
    args = (*shown, masks, starts, data, views.WINDOW_BITS, moved)
    target.map(hidden.repoint_views, array.length, *args)
    return [target.buffer(moved), *windows(target.buffer(data), starts)]


def bits_reached(target: Target, starts: Items, stops: Items, length: int) -> Buffer | None:
    """Which of `length` items are in one of the ranges (int64[n], in bounds); None if all are."""
    if int((stops - starts).sum()) == length and bool((starts[1:] == stops[:-1]).all()):
        return None
    starts.sort()
    stops.sort()
    size = (length + 7) // 8
    bits = target.output(size, np.uint8)
    ranges = (starts, stops)
    target.map(hidden.covered_bits, size, *ranges, length, bits)
    return target.buffer(bits)


def _shown_views(array: Array, words: Items, visible: Items) -> Buffer:
    """The views without bytes that do not belong to their values; shared if that is so already."""
    target, length = target_of(array.device), array.length
    if not length:
        return target.buffer(target.allocate(0, np.uint8))
    args = (visible, 0, target.table(buffer_addresses(array), np.uint64))
    unlike = target.reduce(views.first_view_unlike_its_value, length, words, *args)
    if unlike == NOWHERE and len(visible):
        pairs = (words.view(np.uint64), 2, visible, 0, length)
        unlike = target.reduce(hidden.first_hidden_value, words_for(length), *pairs)
    if unlike != NOWHERE:
        out = target.output(4 * length, np.int32)
        target.map(hidden.show_views, length, words, *args, out)
        words = out
    return target.buffer(words)


def _shown_data(array: Array, words: Items, lengths: Items) -> Sequence[Buffer | None]:
    """The data buffers, with zeros where no view refers.

    Args:
        array: The array.
        words: Its views (int32[4 n]).
        lengths: The number of bytes of each slot in the data buffers (int64[n]); 0 for inline values.
    """
    target, buffers = target_of(array.device), array.data_buffers
    begins = list(accumulate([0 if b is None else b.size for b in buffers], initial=0))
    if not begins[-1]:
        return buffers
    long = lengths > 0
    numbers, places = words[2::4][long], words[3::4][long].astype(np.int64)
    starts = target.table(begins, np.int64)[numbers] + places
    reached = bits_reached(target, starts, starts + lengths[long], begins[-1])
    if reached is None:
        return buffers
    return [
        b if b is None else _blanked(target, b, reached, begin)
        for b, begin in zip(buffers, begins, strict=False)
    ]


def _blanked(target: Target, data: Buffer, reached: Buffer, offset: int) -> Buffer:
    """The bytes, with zeros where bits from `offset` on are clear; shared if that is so already."""
    args = (data.array, 1, reached.array, offset, data.size)
    if target.reduce(hidden.first_hidden_value, words_for(data.size), *args) == NOWHERE:
        return data
    out = target.output(data.size, np.uint8)
    target.map(hidden.blank_hidden_values, words_for(data.size), *args, out)
    return target.buffer(out)
