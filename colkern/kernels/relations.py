"""Which of two numbers is less, for bodies and for primitives."""

from __future__ import annotations

from typing import Any

from numpy import uint64

from colkern.kernels.arguments import Truth
from colkern.kernels.kernel import helper

LESS, LESS_OR_EQUAL, LESS_OR_NAN = 0, 1, 2
"""Relations of floats; the last one has NaN above all numbers, and all NaNs equal."""


@helper
def is_less_integer(left: Any, right: Any, minus: uint64) -> Truth:
    """Whether one integer is less than another, as unsigned words; `minus` is the sign bit, or 0."""
    return uint64(left) ^ minus < uint64(right) ^ minus


@helper
def is_less_float(left: Any, right: Any, relation: uint64) -> Truth:
    """Whether two floats are in a relation, of `LESS` and so on."""
    if relation == LESS:
        return left < right
    if relation == LESS_OR_EQUAL:
        return left <= right
    return not (left >= right) and left == left
