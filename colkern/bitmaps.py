"""Bits of buffers: counting, copying and combining them, where the bytes live.

Columnar format 1.5: "Validity bitmaps".
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from colkern.kernels import Kernel, bitmaps, comparison
from colkern.memory import HOST, UNKNOWN, Argument, Buffer, DType, Items, allocate
from colkern.targets import Target, target_of

_WORD = np.dtype(np.uint64)


def count_set_bits(bitmap: Buffer, offset: int, length: int) -> int:
    """The number of set bits among `length` bits from bit `offset` on.

    Raises:
        ValueError: If the bitmap is too small.
    """
    if offset < 0 or length < 0 or (offset + length + 7) // 8 > bitmap.size:
        raise ValueError(f"bits {offset} to {offset + length} of a bitmap of {bitmap.size} bytes")
    if length == 0:
        return 0
    end = offset + length
    words = bitmaps.whole_words(offset, end)
    target = target_of(bitmap.device)
    return target.reduce(bitmaps.count_set_bits, words, bitmap.array, offset, end)


def count_clear_bits(bitmap: Buffer, length: int) -> int:
    """The number of clear bits among the first `length`; `UNKNOWN` on a device, without waiting for it."""
    return UNKNOWN if bitmap.device != HOST else length - count_set_bits(bitmap, 0, length)


def packed(bits: Items) -> NDArray[np.uint8]:
    """A bitmap in host memory, padded as Arrow's are, of booleans or of bytes that are 0 or 1."""
    bytes_ = np.packbits(bits, bitorder="little")
    bitmap = allocate(len(bytes_), np.uint8)
    bitmap[:] = bytes_
    return bitmap


def packed_bits(target: Target, flags: Items) -> Buffer:
    """A bitmap with a bit for each byte (bool, uint8 or int8) of `flags`, set where the byte is not 0."""
    return bytes_equal_to(target, flags, 0, flip=255)


def expand(target: Target, bits: Buffer, offset: int, length: int) -> Items:
    """Bits `[offset, offset + length)`, which must exist, as an array of bools."""
    words = target.output((length + 7) // 8, np.uint64)
    target.map(bitmaps.expand_bits, len(words), bits.array, offset, length, words)
    return words.view(np.bool_)[:length]


def bytes_equal_to(target: Target, bytes: Items, value: int, *, flip: int = 0) -> Buffer:
    """A bitmap with a bit for each byte, set where it equals `value`; with `flip=255`, where it differs."""
    count = len(bytes)
    out = target.output(count + 7 >> 3, _BYTE)
    item = target.table(_BYTES[value], _BYTE)
    target.map(comparison.equal_item, len(out), bytes.view(_BYTE), item, count, flip, out)
    return target.buffer(out)


_BYTE = np.dtype(np.uint8)

_BYTES = [*np.arange(256, dtype=_BYTE).reshape(-1, 1)]
"""Each byte as an item."""


def own_bits(bitmap: Buffer, offset: int, length: int) -> Buffer:
    """Bits `[offset, offset + length)`, moved to bit 0; copied unless they start at a byte."""
    if offset % 8 == 0:
        end = (offset + length + 7) // 8
        return bitmap[offset // 8 : end] if offset or end != bitmap.size else bitmap
    return move_bits(bitmap, offset, length)


def move_bits(bitmap: Buffer, offset: int, length: int) -> Buffer:
    """A copy of bits `[offset, offset + length)` that starts at bit 0, with zeros behind them."""
    target = target_of(bitmap.device)
    return bits_by(target, bitmaps.copy_bits, length, (bitmap.array, offset, length))


def and_bits(
    left: Buffer, left_offset: int, right: Buffer, right_offset: int, length: int
) -> tuple[Buffer, int]:
    """The bits set on both sides, from bit 0 on, and the number of clear ones, or `UNKNOWN`."""
    own, other, target = left.array, right.array, target_of(left.device)
    kernel = bitmaps.and_bits
    return written_bits(target, kernel, length, own, left_offset, other, right_offset, length)


def combine_bits(
    left: Buffer, left_offset: int, right: Buffer, right_offset: int, length: int, table: int
) -> Buffer:
    """The bits that a truth table of `colkern.kernels.bitmaps` gives for both sides, from bit 0 on."""
    target = target_of(left.device)
    count = length + 63 >> 6
    words = target.output(count, _WORD)
    # Without a tuple of arguments, whose parts would be copied three times.
    own, other = left.array, right.array
    kernel = bitmaps.combine_bits
    target.map(kernel, count, own, left_offset, other, right_offset, length, table, words)
    return target.buffer(words, length + 7 >> 3)


def written_bits(
    target: Target, kernel: Kernel, length: int, *args: Argument
) -> tuple[Buffer, int]:
    """The bitmap that a kernel writes as its last argument, and its clear bits; `UNKNOWN` on a device."""
    words = target.output(length + 63 >> 6, _WORD)
    count = target.start(kernel, len(words), *args, words) if length else 0
    nulls = count if count == UNKNOWN else length - count
    return target.buffer(words, length + 7 >> 3), nulls


def bits_by(target: Target, kernel: Kernel, length: int, args: tuple[Argument, ...]) -> Buffer:
    """The bitmap of `length` bits that a kernel writes, by bytes or words, to an output behind `args`."""
    unit, shift = _UNITS[kernel.arguments[-1].item]
    out = target.output(-(-length >> shift), unit)
    target.map(kernel, len(out), *args, out)
    return target.buffer(out, length + 7 >> 3)


_UNITS: dict[str, tuple[DType, int]] = {"u1": (_BYTE, 3), "u8": (_WORD, 6)}
"""Type code → dtype, and the power of two of its bits."""


def bit_words(target: Target, length: int) -> Items:
    """Words (uint64[]) for a bitmap of `length` bits, not zeroed: kernels write bitmaps as words."""
    return target.output(length + 63 >> 6, _WORD)


def bitmap_of(target: Target, words: Items, length: int) -> Buffer:
    """The buffer of a bitmap that was written as words; not copied."""
    return target.buffer(words, (length + 7) // 8)
