"""Trimming of binary views: the views, and the bytes that they point at."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from colkern.kernels import hidden, views
from colkern.kernels.bitmaps import words_for
from colkern.layouts import Role
from colkern.memory import Buffer
from colkern.operations.convert import gather_views
from colkern.operations.operands import buffer_addresses
from colkern.operations.trimming.slots import ALL_VISIBLE, Parts, Slots, bits_reached
from colkern.operations.view_compaction import windows
from colkern.targets import NOWHERE, Target

_WINDOW_BITS = views.WINDOW_BITS


def trim_views(slots: Slots) -> Parts:
    """The views, and the bytes that visible ones point at."""
    array, target = slots.array, slots.target
    items = array.items(Role.VIEWS)
    starts = target.output(array.length + 1, np.int64)
    shown = (items.view(np.uint64), slots.bitmap, 0)
    used = target.reduce(views.long_lengths, array.length, *shown, starts[1:])
    there = sum(b.size for b in array.data_buffers if b is not None)
    # More than is there: values share bytes, and would be written once each.
    if used >= there:
        words = items.view(np.int32)
        return [_shown_views(slots, words), *_shown_data(slots, words, starts[1:])], []
    target.accumulate(starts)
    starts = target.frozen(starts)
    data = gather_views(array, target, starts, used)
    masks = target.table(views.inline_masks(), np.uint64)
    moved = target.output(2 * array.length, np.uint64)
    args = (*shown, masks, starts, target.frozen(data), _WINDOW_BITS, moved)
    target.map(hidden.repoint_views, array.length, *args)
    return [target.buffer(moved), *windows(target.buffer(data), starts)], []


def _shown_views(slots: Slots, words: Any) -> Buffer:
    """The views without anything that is not their value's; shared if they are so already."""
    array, target = slots.array, slots.target
    if not array.length:
        return slots.empty_buffer()
    args = (slots.bitmap, 0, target.table(buffer_addresses(array), np.uint64))
    unlike = target.reduce(views.first_view_unlike_its_value, array.length, words, *args)
    hides = slots.visible is not ALL_VISIBLE and slots.finds_hidden(
        hidden.first_hidden_value, words.view(np.uint64), 2
    )
    if unlike != NOWHERE or hides:
        out = target.output(4 * array.length, np.int32)
        target.map(hidden.show_views, array.length, words, *args, out)
        words = out
    made: Buffer = target.buffer(words)
    return made


def _shown_data(slots: Slots, words: Any, lengths: Any) -> list[Buffer | None]:
    """The data buffers, with zeros where no view points.

    Args:
        slots: The slots.
        words: Their views (int32[4 n]).
        lengths: The bytes of each slot in the data buffers (int64[n]), 0 if it has none.
    """
    target, buffers = slots.target, slots.array.data_buffers
    begins = [0, *itertools.accumulate(0 if b is None else b.size for b in buffers)]
    if not begins[-1]:
        return list(buffers)
    long = lengths > 0
    numbers, places = words[2::4][long], words[3::4][long].astype(np.int64)
    starts = target.table(begins, np.int64)[numbers] + places
    reached = bits_reached(target, starts, starts + lengths[long], begins[-1])
    if reached is ALL_VISIBLE:
        return list(buffers)
    return [
        b if b is None else _blanked(target, b, reached, begin)
        for b, begin in zip(buffers, begins, strict=False)
    ]


def _blanked(target: Target, data: Buffer, reached: Buffer, offset: int) -> Buffer:
    """The bytes with zeros where the bits from `offset` on are not set; shared if they are so already."""
    args = (data.array, 1, reached.array, offset, data.size)
    if target.reduce(hidden.first_hidden_value, words_for(data.size), *args) == NOWHERE:
        return data
    out = target.output(data.size, np.uint8)
    target.map(hidden.blank_hidden_values, words_for(data.size), *args, out)
    made: Buffer = target.buffer(out)
    return made
