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
