"""Checks the positions in an array with NumPy, so that no kernel is compiled.

`colkern.operations.validate` checks more, with kernels. A conversion that runs once a process would wait
longer for their compilation than for its data.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from colkern.arrays import Array
from colkern.arrays.slots import (
    Slots,
    all_slots,
    byte_ranges,
    dictionary_slots,
    element_ranges,
    run_slots,
    same_slots,
    union_members,
    valid_at,
    views_at,
)
from colkern.dispatch import Dispatch, by_layout
from colkern.layouts import LayoutKind


def check_positions(array: Array) -> None:
    """Check that offsets, views and indices lead to values of this array; its children are not checked."""
    check = _CHECKS.get(array.layout.kind)
    if check is not None and array.length:
        check(array)


def _valid_slots(array: Array) -> Slots:
    slots = all_slots(array)
    valid = valid_at(array, slots)
    return slots if valid is None else slots[valid]


_CHECKS: Dispatch[LayoutKind, Callable[[Array], object]] = by_layout(
    "positions of integration JSON", LayoutKind.NULL, LayoutKind.FIXED_SIZE
)
_CHECKS |= {
    LayoutKind.BINARY: lambda array: byte_ranges(array, all_slots(array)),
    LayoutKind.BINARY_VIEW: lambda array: views_at(array, _valid_slots(array)),
    LayoutKind.LIST: lambda array: element_ranges(array, all_slots(array)),
    LayoutKind.LIST_VIEW: lambda array: element_ranges(array, _valid_slots(array)),
    LayoutKind.FIXED_SIZE_LIST: lambda array: element_ranges(array, all_slots(array)),
    LayoutKind.STRUCT: lambda array: [
        same_slots(array, child, np.zeros(1, np.int64)) for child in range(len(array.children))
    ],
    LayoutKind.SPARSE_UNION: lambda array: list(union_members(array, all_slots(array))),
    LayoutKind.DENSE_UNION: lambda array: list(union_members(array, all_slots(array))),
    LayoutKind.DICTIONARY: lambda array: dictionary_slots(array, _valid_slots(array)),
    # The first and the last slot span all runs in use, however many slots there are.
    LayoutKind.RUN_END_ENCODED: lambda array: run_slots(
        array, np.array([0, array.length - 1], np.int64)
    ),
}
