"""Which slots of a union select which child.

Columnar format 1.5: "Union Layout".
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from colkern import schema as s
from colkern.bitmaps import bytes_equal_to
from colkern.operations.patterns import Kept
from colkern.targets import Items, Target


def child_numbers(union: s.DataType) -> NDArray[np.int64]:
    """For each type id from 0 to 127, the number of its child, or -1."""
    assert isinstance(union, s.Union)
    numbers = np.full(128, -1, np.int64)
    numbers[list(union.type_codes)] = range(len(union.type_codes))
    return numbers


def slots_of(target: Target, type_ids: Items, code: int) -> Items:
    """The slots with a type id (uint64, read-only), increasing."""
    bits = bytes_equal_to(target, type_ids, code)
    return Kept.of(target, bits.array, 0, len(type_ids)).positions()
