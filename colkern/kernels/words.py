"""Bitmaps by the word: what loops over 64 slots ask for, once, instead of a bit for each slot."""

from __future__ import annotations

from typing import Any

from numpy import uint64

from colkern.kernels.bitmaps import get_bit
from colkern.kernels.kernel import helper
from colkern.kernels.primitives import load_word

WORD = 64
"""The slots that a word has bits for."""


@helper
def word_at(bitmap: Any, position: Any) -> Any:
    """The 64 bits of `bitmap` (uint8[]) from bit `position` on, lowest first, as a uint64.

    No byte past the last bit's is read.
    """
    shift = position & uint64(7)
    last = uint64(bitmap[(position + uint64(63)) >> uint64(3)])
    # Of a word that begins with a byte, the last byte is part of the word, and is shifted out here.
    high = (last << uint64(1)) << (uint64(63) - shift)
    return (load_word(bitmap, position >> uint64(3), uint64(0)) >> shift) | high


@helper
def bits_of_slots(validity: Any, position: Any, step: Any) -> Any:
    """Which of 64 slots are valid, as a uint64: those at bit `position` and on, `step` apart.

    Without a bitmap (zero bytes) all are.
    """
    if len(validity) == 0:
        return ~uint64(0)
    if step == 1:
        return word_at(validity, position)
    bits = uint64(0)
    for k in range(uint64(0), uint64(64)):
        bits |= uint64(get_bit(validity, position + uint64(k) * step)) << uint64(k)
    return bits


@helper
def bits_of_next(validity: Any, position: Any, count: Any) -> Any:
    """Which of the `count` (1 to 64) slots from bit `position` on are valid, as a uint64.

    Without a bitmap (zero bytes) all are. Bits past `count` are 0, or 1 without a bitmap.
    """
    if len(validity) == 0:
        return ~uint64(0)
    if count == 64:
        return word_at(validity, position)
    bits = uint64(0)
    for k in range(uint64(0), count):
        bits |= uint64(get_bit(validity, position + uint64(k))) << uint64(k)
    return bits
