"""Comparisons of texts. The order of the bytes of UTF-8 is that of the code points."""

from __future__ import annotations

from numpy import int64

from colkern.kernels.kernel import helper
from colkern.kernels.primitives import shifted_right
from colkern.kernels.row_values import Text
from colkern.kernels.text_words import are_same, first_place, near_word


@helper
def equal(left: Text, right: Text) -> bool:
    """`left == right`."""
    return left.size == right.size and are_same(left.address, right.address, left.size)


@helper
def unequal(left: Text, right: Text) -> bool:
    """`left != right`."""
    return not equal(left, right)


@helper
def order(left: Text, right: Text) -> int64:
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


@helper
def less(left: Text, right: Text) -> bool:
    """`left < right`."""
    return order(left, right) < 0


@helper
def at_most(left: Text, right: Text) -> bool:
    """`left <= right`."""
    return order(left, right) <= 0


@helper
def greater(left: Text, right: Text) -> bool:
    """`left > right`."""
    return order(left, right) > 0


@helper
def at_least(left: Text, right: Text) -> bool:
    """`left >= right`."""
    return order(left, right) >= 0


@helper
def smaller(left: Text, right: Text) -> Text:
    """`min(left, right)`."""
    return right if order(right, left) < 0 else left


@helper
def larger(left: Text, right: Text) -> Text:
    """`max(left, right)`."""
    return right if order(right, left) > 0 else left
