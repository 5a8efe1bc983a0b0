"""Positions, lengths and sizes that callers give, of whatever class: Python's integers and NumPy's."""

from __future__ import annotations

import operator
from typing import Any

from colkern.errors import shown


def integer(value: Any, name: str) -> int:
    """A caller's integer as Python's `int`, which no sum wraps; booleans are refused: they are masks."""
    if type(value) is int:
        return value
    if not isinstance(value, bool):
        try:
            return operator.index(value)
        except TypeError:
            pass
    got = "None" if value is None else f"{type(value).__name__} {shown(value)}"
    raise TypeError(f"{name}: expected an integer, got {got}")
