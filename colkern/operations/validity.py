"""Null counts and validity bitmaps.

Columnar format 1.5: "Null count", "Validity bitmaps".
"""

from __future__ import annotations

from collections.abc import Sequence

from colkern.arrays import Array
from colkern.kernels import bitmaps
from colkern.layouts import Role
from colkern.memory import Buffer
from colkern.operations.arguments import operation
from colkern.operations.patterns import bit_words, bitmap_of
from colkern.operations.targets import target_of


def count_set_bits(bitmap: Buffer, offset: int, length: int) -> int:
    """The number of set bits among `length` bits from bit `offset` on.

    Raises:
        ValueError: If the bitmap is too small.
    """
    if offset < 0 or length < 0 or (offset + length + 7) // 8 > bitmap.size:
        raise ValueError(f"bits {offset} to {offset + length} of {bitmap.size} bytes")
    if length == 0:
        return 0
    end = offset + length
    words = bitmaps.whole_words(offset, end)
    target = target_of(bitmap.device)
    return int(target.reduce(bitmaps.count_set_bits, words, bitmap.array, offset, end))


@operation
def null_count(array: Array) -> int:
    """How many slots are null by the array's own bitmap; all of them for type null.

    Union and run-end encoded arrays have none: their children do. Counted anew each time;
    `array.null_count` remembers.
    """
    if array.layout.name == "null":
        return array.length
    if not array.layout.has_validity:
        return 0
    bitmap = array.buffer(Role.VALIDITY)
    if bitmap is None:
        return 0
    return array.length - count_set_bits(bitmap, array.offset, array.length)


def compact_validity(array: Array) -> Buffer | None:
    """The validity bitmap of the array's own slots from bit 0 on; None if no slot is null.

    Copied only if the array does not start at a byte.
    """
    if not array.layout.has_validity or array.null_count == 0:
        return None
    bitmap = array.buffer(Role.VALIDITY)
    assert bitmap is not None
    return own_bits(bitmap, array.offset, array.length)


def own_bits(bitmap: Buffer, offset: int, length: int) -> Buffer:
    """Bits `[offset, offset + length)` from bit 0 on; copied if they do not start at a byte.

    Behind the last one there may be others, if they are not copied.
    """
    if offset % 8 == 0:
        return bitmap[offset // 8 : (offset + length + 7) // 8]
    return move_bits(bitmap, offset, length)


def move_bits(bitmap: Buffer, offset: int, length: int) -> Buffer:
    """Bits `[offset, offset + length)` from bit 0 on, zeros behind; copied."""
    target = target_of(bitmap.device)
    words = bit_words(target, length)
    target.map(bitmaps.copy_bits, len(words), bitmap.array, offset, length, words)
    return bitmap_of(target, words, length)


def combine_validity(arrays: Sequence[Array]) -> tuple[Buffer | None, int]:
    """The slots that are valid in all the arrays, as a bitmap from bit 0 on, and their null count.

    Arrays of one length. Without nulls there is no bitmap.
    """
    nullable = [array for array in arrays if array.layout.has_validity and array.null_count]
    if not nullable:
        return None, 0
    first, *others = nullable
    if not others:
        return compact_validity(first), first.null_count
    bitmap, offset, count = first.buffer(Role.VALIDITY), first.offset, 0
    for array in others:
        right = array.buffer(Role.VALIDITY)
        assert bitmap is not None
        assert right is not None
        bitmap, count = and_bits(bitmap, offset, right, array.offset, array.length)
        offset = 0
    return bitmap, first.length - count


def and_bits(
    left: Buffer, left_offset: int, right: Buffer, right_offset: int, length: int
) -> tuple[Buffer, int]:
    """The bits that are set on both sides, from bit 0 on, and how many they are."""
    target = target_of(left.device)
    words = bit_words(target, length)
    sides = (left.array, left_offset, right.array, right_offset)
    count = target.reduce(bitmaps.and_bits, len(words), *sides, length, words)
    return bitmap_of(target, words, length), count
