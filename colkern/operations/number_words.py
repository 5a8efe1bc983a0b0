"""Numbers as unsigned words: one kernel handles all types of a width, and is told what the bits mean.

Keys of rows, from one or several columns, are packed into as few such words as possible: they sort like
the rows, and equal rows have equal words.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.bitmaps import expand
from colkern.cpu.radix import extremes
from colkern.kernels import keys as kernels
from colkern.layouts import Extent, LayoutKind, Role
from colkern.memory import HOST
from colkern.operations.operands import WORDS, validity_of
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


_ALL = (1 << 64) - 1


class KeyPart(NamedTuple):
    """Keys for slots: those of a column, or a part of them."""

    words: Items  #: A word for each slot (unsigned, read-only).
    flip: int  #: The bits to flip in it.
    addend: int  #: What is added then, modulo 2^64.
    validity: tuple[Items, int]  #: As kernels take it.
    null: int  #: The key of nulls.
    bits: int  #: How many bits a key has.


def key_parts(
    array: Array, numbers: NumberWords, descending: bool = False, nulls_first: bool = False
) -> list[KeyPart]:
    """The keys of an array of numbers, most significant first.

    Args:
        array: A checked array, for its nulls.
        numbers: Its words, which are integers.
        descending: Whether the greatest number has the least key.
        nulls_first: Whether the key of null is less than all others, not greater.
    """
    target = target_of(array.device)
    parts = []
    width = numbers.width
    for level in reversed(range(width)):
        words = numbers.words if width == 1 else _level(target, numbers.words, width, level)
        flip = numbers.minus if level == width - 1 else 0
        low, high = word_range(target, words, flip)
        if descending:
            every_bit = (1 << numbers.bits) - 1
            flip, low, high = flip ^ every_bit, every_bit - high, every_bit - low
        nulls = validity_of(array, target)
        span = high - low + 1
        counted = bool(array.null_count) and level == width - 1
        if counted and span > _ALL:
            parts.append(_null_part(array, nulls_first))
            counted = False
        first = int(counted and nulls_first)
        null = span if counted and not nulls_first else 0
        bits = (span - 1 + counted).bit_length()
        parts.append(KeyPart(words, flip, (first - low) & _ALL, nulls, null, bits))
    return parts


def packed_keys(target: Target, length: int, parts: Iterable[KeyPart]) -> list[Items]:
    """Words (uint64[length], read-only) of all keys, most significant first; at least one word."""
    packed: list[Items] = []
    room = 0
    for part in parts:
        if not packed or part.bits > room:
            packed.append(target.output(length, np.uint64))
            room = 64
        # A key of 64 bits has no room for more: any number of kept bits will do.
        kept = _ALL if room < 64 else 0
        room -= part.bits
        arguments = (
            part.words,
            part.flip,
            part.addend,
            *part.validity,
            part.null,
            min(part.bits, 63),
        )
        target.map(kernels.append_keys, length, *arguments, kept, packed[-1])
    return packed or [target.allocate(length, np.uint64)]


def _null_part(array: Array, nulls_first: bool) -> KeyPart:
    """A bit that is 0 for what sorts first: nulls or values."""
    target = target_of(array.device)
    bitmap = array.buffer(Role.VALIDITY)
    assert bitmap is not None
    valid = expand(target, bitmap, array.offset, array.length).view(np.uint8)
    return KeyPart(valid, int(not nulls_first), 0, (target.no_bits, 0), 0, 1)


@on_its_device
def _level(target: Target, words: Items, width: int, level: int) -> Items:
    """One word of each number: the one at `level`."""
    return words[level::width].copy()
