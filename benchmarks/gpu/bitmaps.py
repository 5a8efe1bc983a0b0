"""Bitmaps."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.gpu.case import Data, Launch, launches
from colkern.kernels import bitmaps as kernels


@launches
def count_set_bits(data: Data) -> Iterator[Launch]:
    bits = data.bits(8 * data.size)
    for offset in (0, 3):
        end = 8 * len(bits) - 8 + offset
        words = kernels.whole_words(offset, end)
        yield Launch(kernels.count_set_bits, f"from bit {offset}", words, bits, offset, end)


@launches
def moved_bits(data: Data) -> Iterator[Launch]:
    size = data.slots(2)
    bits = data.bits(8 * size + 64)
    for offset in (0, 3):
        out = data.out(size, "u1")
        args = (bits, offset, 8 * size, out)
        yield Launch(kernels.copy_bits, f"from bit {offset}", size, *args)
        args = (bits, 0, 8 * size - 8, offset, out)
        yield Launch(kernels.place_bits, f"to bit {offset}", size - 1, *args)


@launches
def bits_and_bytes(data: Data) -> Iterator[Launch]:
    count = 8 * data.slots(9)
    size = count // 8
    bits, values = data.bits(count), data.bits(8 * count) & 1
    yield Launch(kernels.expand_bits, "", count, bits, 0, data.out(count, "u1"))
    yield Launch(kernels.pack_bits, "", size, values, count, data.out(size, "u1"))


@launches
def and_bits(data: Data) -> Iterator[Launch]:
    size = data.slots(3)
    left, right = data.bits(8 * size + 64), data.bits(8 * size + 64)
    args = (left, 0, right, 3, 8 * size)
    yield Launch(kernels.and_bits, "from bits 0 and 3", size, *args, data.out(size, "u1"))
