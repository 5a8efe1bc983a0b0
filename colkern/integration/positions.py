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


def check_positions(array: Array) -> None:
    """Make sure that what leads to another buffer or array leads to a value there; not below.

    Raises:
        InvalidArrowError: If an offset, a view, an index, a type id, a run end or the length of a
            child is bad, with the slot.
    """
    check = _CHECKS.get(array.layout.name)
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


_CHECKS: dict[str, Callable[[Array], object]] = {
    "variable-size binary": lambda array: byte_ranges(array, all_slots(array)),
    "variable-size binary view": lambda array: views_at(array, _valid_slots(array)),
    "variable-size list": lambda array: element_ranges(array, all_slots(array)),
    "variable-size list-view": lambda array: element_ranges(array, _valid_slots(array)),
    "fixed-size list": lambda array: element_ranges(array, all_slots(array)),
    "struct": _check_children,
    "sparse union": lambda array: list(union_members(array, all_slots(array))),
    "dense union": lambda array: list(union_members(array, all_slots(array))),
    "dictionary-encoded": lambda array: dictionary_slots(array, _valid_slots(array)),
    "run-end encoded": _check_runs,
}
