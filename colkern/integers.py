"""Positions, lengths and sizes that callers give, of whatever class: Python's integers and NumPy's."""

from __future__ import annotations

import operator
from typing import Any

_LONGEST_SHOWN = 40


def integer(value: Any, name: str) -> int:
    """A caller's integer as Python's own `int`, which no sum makes wrap around.

    Args:
        value: Anything with `__index__`, but no boolean: that is a truth value, or a mask of one slot.
        name: What the caller knows it by, for the error.

    Raises:
        TypeError: If it is no integer.
    """
    if type(value) is int:
        return value
    if not isinstance(value, bool):
        try:
            return operator.index(value)
        except TypeError:
            pass
    text = repr(value)
    shown = "" if len(text) > _LONGEST_SHOWN or "\n" in text or value is None else f" {text}"
    got = "None" if value is None else type(value).__name__
    raise TypeError(f"{name}: expected an integer, got {got}{shown}")
