"""The values of one of two arrays, chosen by a bit for each slot.

Columnar format 1.5: "Physical Memory Layout".
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from colkern.arrays import UNKNOWN, Array
from colkern.bitmaps import combine_bits, count_clear_bits, expand, written_bits
from colkern.forks import cached_property
from colkern.kernels import bitmaps, selection
from colkern.layouts import Extent, LayoutKind, Role
from colkern.memory import EMPTY, HOST, Buffer
from colkern.operations.own_slots import own_children
from colkern.operations.selection.gathering import Places, gather, gather_bytes
from colkern.operations.selection.repeating import repeat
from colkern.operations.selection.words import own_words
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
    """The values of `left` where a condition is true, else those of `right`; copied.

    Args:
        condition: Booleans. The values under their nulls count, too.
        left: A checked array of the same length, or of one value that is used for every slot.
        right: As `left`, of the same type, and on the device of the condition, or without bytes.
    """
    length = condition.length
    both_one = left.length == right.length == 1 != length
    # Positions of the one value that stands for many have 32 bits.
    left = repeat(left, length) if both_one or (length >> 31 and left.length == 1) else left
    right = repeat(right, length) if length >> 31 and right.length == 1 else right
    return _chosen(_Choice(condition), left, right)


def are_items(array: Array) -> bool:
    """Whether values are chosen by one kernel, which reads nothing but the condition and them."""
    kind = array.layout.kind
    return kind is LayoutKind.FIXED_SIZE and array.layout.buffers[1].extent is not Extent.BITS


def _chosen(choice: _Choice, left: Array, right: Array) -> Array:
    kind, length = left.layout.kind, choice.length
    if kind is LayoutKind.FIXED_SIZE and left.layout.buffers[1].slot_bits:
        if left.layout.buffers[1].extent is Extent.BITS:
            data, _ = _bits(choice, _values(left, length), _values(right, length))
            validity, nulls = _validity(choice, left, right)
        elif choice.device is HOST:
            data = _items(choice, left, right)
            validity, nulls = _validity(choice, left, right)
        else:
            with choice.target.together:
                _ = choice.flags
                validity, nulls = _validity(choice, left, right)
            data = _items(choice, left, right)
        return Array.of_valid(left.type, length, (validity, data), nulls)
    if kind is LayoutKind.STRUCT:
        pairs = zip(own_children(left), own_children(right), strict=True)
        children = [_chosen(choice, *pair) for pair in pairs]
        validity, nulls = _validity(choice, left, right)
        return Array.of_valid(left.type, length, (validity,), nulls, children)
    places = _places(choice, left, right)
    if kind is LayoutKind.BINARY:
        offsets, data = gather_bytes([left, right], places)
        validity, nulls = _validity(choice, left, right)
        return Array.of_valid(left.type, length, (validity, offsets, data), nulls)
    return gather([left, right], places)


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
    target, other = choice.target, 0
    if left.length != choice.length:
        left, right, other = right, left, 1
    words, width = own_words(left, Role.DATA)
    out = target.output(choice.length * width, words.dtype)
    given = (choice.flags, other, words, own_words(right, Role.DATA)[0], width)
    target.map(selection.choose_items, choice.length, *given, out)
    return target.buffer(out)


def _validity(choice: _Choice, left: Array, right: Array) -> tuple[Buffer | None, int]:
    if not left._null_count and not right._null_count:
        return None, 0
    own, other = _valid(left, choice.length), _valid(right, choice.length)
    if other is True and (own is True or own == choice.bits):
        # Or: the left value is taken exactly where it is valid.
        return None, 0
    bits, nulls = _bits(choice, own, other)
    if nulls == UNKNOWN:
        nulls = count_clear_bits(bits, choice.length)
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
    target = target_of(array.device)
    return bool(target.item(expand(target, bits, array.offset, 1).view(np.uint8), 0))


def _bits(choice: _Choice, left: _Bits, right: _Bits) -> tuple[Buffer, int]:
    """The chosen bits, from bit 0 on; and the number of clear ones, or `UNKNOWN`."""
    own, length = choice.bits, choice.length
    if isinstance(right, bool):
        if isinstance(left, bool):
            table = bitmaps.NEVER if left == right else bitmaps.SAME if left else bitmaps.NOT
            return combine_bits(*own, *own, length, table), UNKNOWN
        table = bitmaps.OR_NOT if right else bitmaps.AND
        return combine_bits(*left, *own, length, table), UNKNOWN
    if isinstance(left, bool):
        table = bitmaps.OR if left else bitmaps.AND_NOT
        return combine_bits(*right, *own, length, table), UNKNOWN
    sides = own[0].array, own[1], left[0].array, left[1], right[0].array, right[1]
    return written_bits(choice.target, bitmaps.choose_bits, length, *sides, length)
