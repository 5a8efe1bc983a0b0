"""Validity by the word: what loops over 64 slots ask for, once, instead of a bit for each slot."""

from __future__ import annotations

from typing import Any

from numpy import uint64

from colkern.kernels.bitmaps import get_bit, whole_word, word_of
from colkern.kernels.kernel import helper


@helper
def bits_of_slots(validity: Any, position: Any, step: Any) -> Any:
    """Which of 64 slots are valid, as a uint64: those at bit `position` and on, `step` apart.

    Without a bitmap (zero bytes) all are.
    """
    if len(validity) == 0:
        return ~uint64(0)
    if step == 1:
        return whole_word(validity, position, uint64(0))
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
    return word_of(validity, position, uint64(0), count)
