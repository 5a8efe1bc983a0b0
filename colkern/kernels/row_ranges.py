"""Ranges in row functions."""

from __future__ import annotations

from numpy import int64

from colkern.kernels.kernel import helper
from colkern.kernels.row_values import DONE, VALUE_ERROR, Code


@helper
def range_size(start: int64, stop: int64, step: int64) -> tuple[int64, Code]:
    """How many numbers `range(start, stop, step)` has; a step of 0 is a ValueError."""
    if step == 0:
        return int64(0), VALUE_ERROR
    if step > 0:
        return int64((stop - start + step - 1) // step if stop > start else 0), DONE
    return int64((start - stop - step - 1) // -step if start > stop else 0), DONE
