"""Trimming of layouts with offsets: what lies between them."""

from __future__ import annotations

from typing import Any

import numpy as np

from colkern.kernels import hidden, offsets, selection
from colkern.layouts import Role
from colkern.operations.trimming.slots import ALL_VISIBLE, Parts, Slots, own_positions


def rebased_offsets(slots: Slots) -> tuple[Any, int, int]:
    """Offsets from 0 on, and where the first value begins and the last one ends."""
    target, items = slots.target, slots.array.items(Role.OFFSETS)
    first, last = target.item(items, 0), target.item(items, slots.array.length)
    if first:
        out = target.output(len(items), items.dtype)
        target.map(offsets.rebase_offsets, len(items), items, first, out)
        items = out
    return items, first, last


def hides_values(slots: Slots) -> bool:
    """Whether a hidden slot has a value that is not empty."""
    return slots.visible is not ALL_VISIBLE and slots.finds_hidden(
        hidden.first_hidden_length, slots.array.items(Role.OFFSETS)
    )


def visible_offsets(slots: Slots) -> Any:
    """Offsets from 0 on that leave no room for hidden values."""
    target, items, count = slots.target, slots.array.items(Role.OFFSETS), slots.array.length
    lengths = target.output(count, np.int64)
    target.map(hidden.visible_lengths, count, items, slots.bitmap, 0, lengths)
    return target.scan(lengths, items.dtype)


def trim_binary(slots: Slots) -> Parts:
    """The bytes of visible values."""
    array, target = slots.array, slots.target
    source = array.buffer(Role.BYTES) or slots.empty_buffer()
    if not hides_values(slots):
        rebased, first, last = rebased_offsets(slots)
        return [target.buffer(rebased), source[first:last]], []
    starts = visible_offsets(slots)
    data = target.output(target.item(starts, array.length), np.uint8)
    own = array.items(Role.OFFSETS)
    args = (own_positions(slots), own, source.address, 1, target.frozen(starts), data)
    target.map(selection.take_bytes, array.length, *args, balance=starts)
    return [target.buffer(starts), target.buffer(data)], []
