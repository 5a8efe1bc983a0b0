"""Validity by the word: what loops over 64 slots ask for, once, instead of a bit for each slot."""

from __future__ import annotations

from numpy import uint64

from colkern.kernels.arguments import Bitmap
from colkern.kernels.bitmaps import bit_at, whole_word_from, word_from
from colkern.kernels.kernel import helper


@helper
def bits_of_slots(validity: Bitmap, first: uint64, step: uint64) -> uint64:
    """Which of 64 slots are valid, as a uint64: those from slot `first` on, `step` apart."""
    if len(validity.bits) == 0:
        return ~uint64(0)
    if step == 1:
        return whole_word_from(validity.bits, validity.offset + first, uint64(0))
    bits = uint64(0)
    for k in range(uint64(0), uint64(64)):
        bits |= uint64(bit_at(validity, first + uint64(k) * step)) << uint64(k)
    return bits


@helper
def bits_of_next(validity: Bitmap, first: uint64, count: uint64) -> uint64:
    """Which of the `count` (1 to 64) slots from `first` on are valid, as a uint64.

    Bits past `count` are 0, or 1 without a bitmap.
    """
    if len(validity.bits) == 0:
        return ~uint64(0)
    return word_from(validity.bits, validity.offset + first, uint64(0), count)
