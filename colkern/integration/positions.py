"""Whether an array's slots lead to values: checked with NumPy, so that no kernel is compiled.

`colkern.operations.validate` looks at more, through kernels; conversions that run once a process
would wait longer for those than for their data.
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
from colkern.layouts import LayoutKind


def check_positions(array: Array) -> None:
    """Make sure that what leads to another buffer or array leads to a value there; not below.

    Raises:
        InvalidArrowError: If an offset, a view, an index, a type id, a run end or the length of a
            child is bad, with the slot.
    """
    check = _CHECKS.get(array.layout.kind)
    if check is not None and array.length:
        check(array)


def _valid_slots(array: Array) -> Slots:
    slots = all_slots(array)
    valid = valid_at(array, slots)
    return slots if valid is None else slots[valid]


def _check_children(array: Array) -> None:
    for child in range(len(array.children)):
        same_slots(array, child, np.zeros(1, np.int64))


def _check_runs(array: Array) -> None:
    # The first and the last slot span all runs in use, however many slots there are.
    run_slots(array, np.array([0, array.length - 1], np.int64))


_CHECKS: dict[LayoutKind, Callable[[Array], object]] = {
    LayoutKind.BINARY: lambda array: byte_ranges(array, all_slots(array)),
    LayoutKind.BINARY_VIEW: lambda array: views_at(array, _valid_slots(array)),
    LayoutKind.LIST: lambda array: element_ranges(array, all_slots(array)),
    LayoutKind.LIST_VIEW: lambda array: element_ranges(array, _valid_slots(array)),
    LayoutKind.FIXED_SIZE_LIST: lambda array: element_ranges(array, all_slots(array)),
    LayoutKind.STRUCT: _check_children,
    LayoutKind.SPARSE_UNION: lambda array: list(union_members(array, all_slots(array))),
    LayoutKind.DENSE_UNION: lambda array: list(union_members(array, all_slots(array))),
    LayoutKind.DICTIONARY: lambda array: dictionary_slots(array, _valid_slots(array)),
    LayoutKind.RUN_END_ENCODED: _check_runs,
}
