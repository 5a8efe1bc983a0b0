"""Ranges in row functions."""

from __future__ import annotations

from numpy import int64

from colkern.kernels.kernel import helper
from colkern.kernels.primitives import difference_overflows
from colkern.kernels.row_lists import GREATEST
from colkern.kernels.row_values import DONE, LEFT, VALUE_ERROR, Code


@helper
def range_size(start: int64, stop: int64, step: int64) -> tuple[int64, Code]:
    """How many numbers `range(start, stop, step)` has; a step of 0 is a ValueError.

    More than an int64 holds are left to Python.
    """
    if step == 0:
        return int64(0), VALUE_ERROR
    if step < 0:
        # The least int64 has no opposite; a step that is less by one leads as far.
        start, stop, step = stop, start, -max(step, int64(-GREATEST))
    if start >= stop:
        return int64(0), DONE
    if difference_overflows(stop, start):
        return int64(0), LEFT
    return (stop - start - 1) // step + 1, DONE
