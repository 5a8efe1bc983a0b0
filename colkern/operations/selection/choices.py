"""The values of one of two arrays, chosen by a bit for each slot.

Columnar format 1.5: "Physical Memory Layout".
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from colkern.arrays import Array
from colkern.bitmaps import expand, written_bits
from colkern.forks import cached_property
from colkern.kernels import bitmaps, selection
from colkern.layouts import Extent, LayoutKind, Role
from colkern.memory import EMPTY, HOST, Buffer
from colkern.operations.own_slots import own_children
from colkern.operations.selection.gathering import Places, gather, gather_bytes
from colkern.operations.selection.repeating import repeat
from colkern.operations.selection.words import own_words
from colkern.operations.validity import compact_validity, null_outside
from colkern.targets import Items, Target, on_its_device, target_of


class _Choice:
    """The choice between two arrays, for each slot.

    Args:
        condition: Booleans; true chooses the left array.

    Attributes:
        device: Where they are, and the bytes of the arrays.
        target: The same.
        bits: They, and the first bit.
        length: The number of slots.
    """

    def __init__(self, condition: Array) -> None:
        self.device = condition.device
        self.target: Target = target_of(self.device)
        bits = condition.buffers[1]
        self.bits = EMPTY if bits is None else bits, condition.offset
        self.length = condition.length

    @cached_property
    def flags(self) -> Items:
        """The condition as bytes (uint8[length]), 0 or 1."""
        return expand(self.target, *self.bits, self.length).view(np.uint8)


_NUMBERS = np.array([1, 0, *[-1] * 126], np.int64)
"""Flag → number of the array. Kept, since making an array from a list is slow."""

_Bits: TypeAlias = tuple[Buffer, int] | bool
"""A bitmap and its first bit, or a bit that is the same for all slots."""


def choose(condition: Array, left: Array, right: Array) -> Array:
    """The values of `left` where a condition is true, else those of `right`; null where it is null; copied.

    Args:
        condition: Booleans.
        left: A checked array of the same length, or of one value that is used for every slot.
        right: As `left`, of the same type, and on the device of the condition, or without bytes.
    """
    length = condition.length
    if not left.length == right.length == length:
        both_one = left.length == right.length
        # Positions of the one value that stands for many have 32 bits.
        left = repeat(left, length) if both_one or (length >> 31 and left.length == 1) else left
        right = repeat(right, length) if length >> 31 and right.length == 1 else right
    return _chosen(_Choice(condition), left, right, condition)


def _chosen(choice: _Choice, left: Array, right: Array, above: Array | None) -> Array:
    """The chosen values, null also where `above` is."""
    layout, length = left.layout, choice.length
    kind = layout.kind
    if kind is LayoutKind.FIXED_SIZE and layout.buffers[1].slot_bits:
        if choice.device is HOST:
            return _fixed(choice, left, right, above)
        with choice.target.together:
            return _fixed(choice, left, right, above)
    if kind is LayoutKind.STRUCT:
        pairs = zip(own_children(left), own_children(right), strict=True)
        children = [_chosen(choice, *pair, None) for pair in pairs]
        validity, nulls = _validity(choice, left, right, above)
        return Array.of_valid(left.type, length, (validity,), nulls, children)
    places = _places(choice, left, right)
    if kind is LayoutKind.BINARY:
        offsets, data = gather_bytes([left, right], places)
        validity, nulls = _validity(choice, left, right, above)
        return Array.of_valid(left.type, length, (validity, offsets, data), nulls)
    result = gather([left, right], places)
    if above is None or (visible := compact_validity(above)) is None:
        return result
    return null_outside(result, visible, above.null_count)


def _fixed(choice: _Choice, left: Array, right: Array, above: Array | None) -> Array:
    length = choice.length
    if left.layout.buffers[1].extent is Extent.BITS:
        data, _ = _bits(choice, True, _values(left, length), _values(right, length))
    else:
        data = _items(choice, left, right)
    validity, nulls = None, 0
    if left._null_count or right._null_count or (above is not None and above._null_count):
        validity, nulls = _validity(choice, left, right, above)
    return Array.of_valid(left.type, length, (validity, data), nulls)


@on_its_device
def _places(choice: _Choice, left: Array, right: Array) -> Places:
    target, flags = choice.target, choice.flags
    numbers = target.table(_NUMBERS, np.int64)
    offsets = target.table([], np.int32)
    if left.length != right.length:
        own = flags if right.length == 1 else 1 - flags
        offsets = target.positions(choice.length).astype(np.int32) * own
    return Places(target, flags.view(np.int8), numbers, offsets)


def _items(choice: _Choice, left: Array, right: Array) -> Buffer:
    target, flip = choice.target, _NONE
    if left.length != choice.length:
        left, right, flip = right, left, _ALL
    words, width = own_words(left, Role.DATA)
    out = target.output(choice.length * width, words.dtype)
    given = (choice.bits[0].array, choice.bits[1], flip, words, own_words(right, Role.DATA)[0])
    target.map(selection.choose_items, choice.length, *given, width, out)
    return target.buffer(out)


def _validity(
    choice: _Choice, left: Array, right: Array, above: Array | None
) -> tuple[Buffer | None, int]:
    """The slots where the chosen value is valid, and `above`; the null count."""
    hidden = 0 if above is None else above._null_count
    if not left._null_count and not right._null_count and not hidden:
        return None, 0
    own, other = _valid(left, choice.length), _valid(right, choice.length)
    visible = above is None or _valid(above, choice.length)
    if other is True and (own is True or own == choice.bits):
        # Or: the left value is taken exactly where it is valid.
        return (None, 0) if above is None or visible is True else (compact_validity(above), hidden)
    bits, nulls = _bits(choice, visible, own, other)
    return (bits, nulls) if nulls else (None, 0)


def _valid(array: Array, length: int) -> _Bits:
    if array.length != length:
        return not array._null_count or not array.null_count
    if not array._null_count or not array.may_have_nulls:
        return True
    bits = array.buffers[0]
    return EMPTY if bits is None else bits, array.offset


def _values(array: Array, length: int) -> _Bits:
    bits = array.buffers[1]
    if bits is None:
        bits = EMPTY
    if array.length == length:
        return bits, array.offset
    byte = target_of(array.device).item(bits.array, array.offset >> 3)
    return bool(byte >> (array.offset & 7) & 1)


_NONE, _ALL = np.uint64(0), np.uint64((1 << 64) - 1)


def _bits(choice: _Choice, visible: _Bits, left: _Bits, right: _Bits) -> tuple[Buffer, int]:
    """The chosen bits that are visible, from bit 0 on; and the number of clear ones, or `UNKNOWN`."""
    target, length, own = choice.target, choice.length, choice.bits
    # A side without a bitmap has some other one, which does not count.
    if isinstance(left, bool):
        sides, left = bitmaps.LEFT_SET * left, own
    else:
        sides = bitmaps.OF_LEFT
    if isinstance(right, bool):
        sides, right = sides | bitmaps.RIGHT_SET * right, own
    else:
        sides |= bitmaps.OF_RIGHT
    shown = (target.no_bits, 0) if isinstance(visible, bool) else (visible[0].array, visible[1])
    given = own[0].array, own[1], *shown, left[0].array, left[1], right[0].array, right[1]
    return written_bits(target, bitmaps.choose_bits, length, *given, length, sides)
