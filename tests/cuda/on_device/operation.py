"""Operations, and the other arrays that take an array's place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from operations.samples import ints

from colkern.arrays import Array
from colkern.operations.moving import to_device

Operation = Callable[..., Any]


def beside(array: Array, result: Array) -> Array:
    """Values of the host, moved to where the array is."""
    return result if array.device.kind == "cpu" else to_device(result, array.device)


def mirrored(array: Array) -> Array:
    """The positions of an array's slots from the last to the first, where the array is."""
    return beside(array, ints(list(range(len(array)))[::-1]))
