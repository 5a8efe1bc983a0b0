"""Python numbers as items of an array.

Columnar format 1.5: "Fixed-Size Primitive Layout".
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from colkern import schema as s
from colkern.layouts import layout

_FLOATS = (float, np.floating)

_TEXT = (str, bytes, bytearray, memoryview, np.flexible)
"""Values that Python's `float` reads although they are no numbers."""

_MOST = float(np.finfo(np.float32).max)


def number_of(value: Any, type_: s.Int | s.FloatingPoint, name: str) -> np.number[Any]:
    """A Python number as an item of that type.

    Args:
        value: The number.
        type_: The type.
        name: The name of the number, for errors.

    Raises:
        TypeError: If it is no number of that kind.
        ValueError: If it does not fit.
    """
    dtype = layout(type_).buffers[1].dtype
    item: Callable[[float], np.number[Any]] = dtype.type
    if isinstance(value, (bool, np.bool_)):
        raise _no_number(value, "a number", type_, name)
    try:
        if isinstance(type_, s.Int):
            whole = value if value.__class__ is int else operator.index(value)
            bits = whole.bit_length() if whole >= 0 else (~whole).bit_length()
            if bits > type_.bit_width - type_.signed or (whole < 0 and not type_.signed):
                raise ValueError(f"{name}: {whole} does not fit {type_}")
            return item(whole)
        if isinstance(value, _TEXT) or (
            isinstance(value, np.ndarray) and value.dtype.kind not in "iuf"
        ):
            raise _no_number(value, "a number", type_, name)
        number = float(value)
    except OverflowError:
        raise ValueError(f"{name}: {value} does not fit {type_}") from None
    except TypeError:
        kind = "an integer" if isinstance(type_, s.Int) else "a number"
        raise _no_number(value, kind, type_, name) from None
    if dtype.itemsize == 4 and math.isfinite(number) and not -_MOST <= number <= _MOST:
        raise ValueError(f"{name}: {value} does not fit {type_}")
    return item(number)


def _no_number(
    value: object, expected: str, type_: s.Int | s.FloatingPoint, name: str
) -> TypeError:
    """The error for a value that is no number of the type."""
    from colkern.builders.parts import wrong

    cast = "; cast the array to double first" if isinstance(value, _FLOATS) else ""
    return TypeError(f"{name}: {wrong(f'{expected} for {type_}', value)}{cast}")
