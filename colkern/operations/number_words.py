"""Numbers as unsigned words: one kernel handles all types of a width, and is told what the bits mean."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.bitmaps import expand
from colkern.cpu.radix import extremes
from colkern.layouts import Extent, LayoutKind, Role
from colkern.memory import HOST
from colkern.operations.operands import WORDS
from colkern.targets import Items, Target, on_its_device, target_of

_MANTISSA_BITS = {16: 10, 32: 23, 64: 52}


class NumberWords(NamedTuple):
    """The numbers in an array's slots, as words, lowest word first."""

    words: Items  #: Unsigned words of up to 8 bytes, `width` for each slot.
    width: int  #: The number of words in each number.
    bits: int  #: The bits of a word.
    minus: int  #: The sign bit of the last word; 0 for numbers without sign.
    infinity: int = 0  #: The bits of infinity for floating-point numbers, else 0.


def number_words(array: Array) -> NumberWords | None:
    """The words of an array of numbers, dates, times or booleans (0 and 1); None for other types."""
    storage = array.type.storage
    if isinstance(storage, s.Bool):
        return NumberWords(_expanded_bits(array), 1, 8, 0)
    if array.layout.kind is not LayoutKind.FIXED_SIZE or isinstance(storage, s.FixedSizeBinary):
        return None
    if isinstance(storage, s.Interval) and storage.unit != "year_month":
        return None
    items = array.items(Role.DATA)
    bits = min(items.dtype.itemsize * 8, 64)
    words = items.view(WORDS[bits // 8])
    minus = 1 << (bits - 1)
    if isinstance(storage, s.FloatingPoint):
        infinity = (minus - 1) >> _MANTISSA_BITS[bits] << _MANTISSA_BITS[bits]
        return NumberWords(words, 1, bits, minus, infinity)
    if isinstance(storage, s.Int) and not storage.signed:
        minus = 0
    return NumberWords(words, items.dtype.itemsize * 8 // bits, bits, minus)


@on_its_device
def word_range(target: Target, words: Items, minus: int) -> tuple[int, int]:
    """The least and the greatest of some integers with the sign bit flipped; 0 if there are none.

    Args:
        target: The target of the words.
        words: The integers, as unsigned words.
        minus: The sign bit; 0 for unsigned integers.
    """
    if len(words) == 0:
        return 0, 0
    items = words.view(f"i{words.dtype.itemsize}") if minus else words
    low, high = extremes(items) if target.device == HOST else (int(items.min()), int(items.max()))
    return low + minus, high + minus


def _expanded_bits(array: Array) -> Items:
    target = target_of(array.device)
    data = array.buffers[1]
    assert array.layout.buffers[1].extent is Extent.BITS
    if data is None:
        return target.output(array.length, np.uint8)
    return expand(target, data, array.offset, array.length).view(np.uint8)
