"""Trimming of layouts with one item a slot."""

from __future__ import annotations

from colkern.bitmaps import and_bits
from colkern.kernels import hidden
from colkern.kernels.bitmaps import words_for
from colkern.layouts import Extent, Role
from colkern.memory import Buffer
from colkern.operations.selection import words_of
from colkern.operations.trimming.slots import ALL_VISIBLE, Parts, Slots, clean_bits


def trim_null(slots: Slots) -> Parts:
    """Nothing is stored."""
    return [], []


def trim_fixed(slots: Slots) -> Parts:
    """Values, or bits, with zeros where they are hidden."""
    array, spec = slots.array, slots.array.layout.buffers[1]
    if spec.extent is not Extent.BITS:
        return [visible_items(slots, Role.DATA)], []
    if array.length == 0:
        return [slots.empty_buffer()], []
    data = array.buffers[1]
    assert data is not None
    bits = clean_bits(slots.target, data, array.offset, array.length)
    if slots.visible is not ALL_VISIBLE:
        bits, _ = and_bits(bits, 0, slots.visible, 0, array.length)
    return [bits], []


def visible_items(slots: Slots, role: Role) -> Buffer:
    """The items of a one-item-a-slot buffer, zeros in hidden slots."""
    target, items = slots.target, slots.array.items(role)
    words, width = words_of(items)
    if not len(words):
        return slots.empty_buffer()
    if slots.visible is not ALL_VISIBLE and slots.finds_hidden(
        hidden.first_hidden_value, words, width
    ):
        out = target.output(len(words), words.dtype)
        bits = (slots.visible.array, 0, slots.array.length)
        count = words_for(slots.array.length)
        target.map(hidden.blank_hidden_values, count, words, width, *bits, out)
        words = out
    made: Buffer = target.buffer(words)
    return made
