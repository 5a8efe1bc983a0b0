"""Which numbers are equal, and which of two is less, for bodies and for primitives."""

from __future__ import annotations

from typing import Any

from numpy import uint64

from colkern.kernels.arguments import In, T, Truth
from colkern.kernels.kernel import helper

LESS, LESS_OR_EQUAL, LESS_OR_NAN = 0, 1, 2
"""Relations of floats; the last one has NaN above all numbers, and all NaNs equal."""


@helper
def is_less_float(left: Any, right: Any, relation: uint64) -> Truth:
    """Whether two floats are in a relation, of `LESS` and so on."""
    if relation == LESS:
        return left < right
    if relation == LESS_OR_EQUAL:
        return left <= right
    return not (left >= right) and left == left


@helper
def eight_equal(left: In[T], i: uint64, right: In[T], j: uint64) -> uint64:
    """Bit `k` = whether left[i + k] equals right[j + k], for `k` up to 7."""
    bits = uint64(0)
    for k in range(uint64(0), uint64(8)):
        bits |= uint64(left[i + uint64(k)] == right[j + uint64(k)]) << uint64(k)
    return bits


@helper
def eight_equal_to(left: In[T], i: uint64, value: Any) -> uint64:
    """As `eight_equal`, with one value on the right."""
    bits = uint64(0)
    for k in range(uint64(0), uint64(8)):
        bits |= uint64(left[i + uint64(k)] == value) << uint64(k)
    return bits


@helper
def eight_less_integers(left: In[T], i: uint64, right: In[T], j: uint64, minus: uint64) -> uint64:
    """As `eight_equal`, whether one integer is less, as unsigned words; `minus` is the sign bit, or 0."""
    # Without the type, a GPU would compare 64 bits of each.
    kind = left.dtype.type
    turned = kind(minus)
    bits = uint64(0)
    for k in range(uint64(0), uint64(8)):
        less = kind(left[i + uint64(k)] ^ turned) < kind(right[j + uint64(k)] ^ turned)
        bits |= uint64(less) << uint64(k)
    return bits


@helper
def eight_less_floats(left: In[T], i: uint64, right: In[T], j: uint64, relation: uint64) -> uint64:
    """As `eight_equal`, whether two floats are in a relation."""
    bits = uint64(0)
    for k in range(uint64(0), uint64(8)):
        less = is_less_float(left[i + uint64(k)], right[j + uint64(k)], relation)
        bits |= uint64(less) << uint64(k)
    return bits
