"""Nulls among Python values: None, pandas' NA and NaT, and NumPy's NaT."""

from __future__ import annotations

from typing import Any

import numpy as np

from colkern.cpu.python_objects import classes_of

_NULL_CLASSES = {"NAType", "NaTType"}
"""Classes of pandas without any value but a null."""


def is_null(value: object) -> bool:
    """Whether a value is None, pandas' NA or NaT, or NumPy's NaT. NaN is a number, and no null."""
    if value is None:
        return True
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    return _holds_nulls_only(type(value))


def with_nulls(values: list[object]) -> tuple[list[object], set[type]]:
    """The values with None for each null, and the classes of the others."""
    classes = classes_of(values)
    nulls = {of_class for of_class in classes if _holds_nulls_only(of_class)}
    if nulls:
        values = [None if type(value) in nulls else value for value in values]
    for of_class in (np.datetime64, np.timedelta64):
        if of_class in classes:
            values = _without_nat(values, of_class)
            if not any(type(value) is of_class for value in values):
                nulls.add(of_class)
    return values, classes - nulls - {type(None)}


def _holds_nulls_only(of_class: type) -> bool:
    # By name: pandas is not imported for it.
    return of_class.__name__ in _NULL_CLASSES and of_class.__module__.startswith("pandas.")


def _without_nat(values: list[Any], of_class: type) -> list[Any]:
    """The values with None for each NaT of one of NumPy's two classes."""
    places = [index for index, value in enumerate(values) if type(value) is of_class]
    times = [values[index] for index in places]
    dtypes = {time.dtype for time in times}
    # Times of two units do not always fit one array.
    missing = np.isnat(np.array(times)) if len(dtypes) == 1 else list(map(np.isnat, times))
    if not np.any(missing):
        return values
    replaced = list(values)
    for place in np.flatnonzero(missing).tolist():
        replaced[places[place]] = None
    return replaced
