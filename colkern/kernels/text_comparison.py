"""Comparisons of two texts, or two byte strings: the order of UTF-8 is that of the code points."""

from __future__ import annotations

from typing import TypeVar

from numpy import int64

from colkern.kernels.arguments import Truth
from colkern.kernels.kernel import helper
from colkern.kernels.primitives import get_byte, shifted_right
from colkern.kernels.row_values import Bytes, Text
from colkern.kernels.text_words import are_same, first_place, near_word

Value = TypeVar("Value", Text, Bytes)


@helper
def equal(left: Value, right: Value) -> Truth:
    """`left == right`. For one character, loading words takes a quarter more time."""
    if left.size != right.size:
        return False
    if right.size == 1:
        return get_byte(left.address) == get_byte(right.address)
    return are_same(left.address, right.address, right.size)


@helper
def order(left: Value, right: Value) -> int64:
    """Negative, zero or positive, as the left text stands before, with or behind the right."""
    size = min(left.size, right.size)
    k = int64(0)
    while k < size:
        a = near_word(left.address + k, size - k)
        b = near_word(right.address + k, size - k)
        if a != b:
            shift = first_place(a ^ b) << 3
            return (shifted_right(a, shift) & 255) - (shifted_right(b, shift) & 255)
        k += 8
    return left.size - right.size
