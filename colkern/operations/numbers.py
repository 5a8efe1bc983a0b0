"""Python numbers as items of an array.

Columnar format 1.5: "Fixed-Size Primitive Layout".
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from colkern import schema as s
from colkern.layouts import Role, layout

_FLOATS = (float, np.floating)

_MOST = float(np.finfo(np.float32).max)


def number_of(value: Any, type_: s.Int | s.FloatingPoint, name: str) -> Any:
    """A Python number as an item of that type.

    Args:
        value: The number.
        type_: The type.
        name: What the number is called where it came from, for errors.

    Raises:
        TypeError: If it is no number of that kind.
        ValueError: If it does not fit.
    """
    dtype = layout(type_).spec(Role.DATA).dtype
    if isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name}: expected a number for {type_}, got {value!r}")
    try:
        if isinstance(type_, s.Int):
            whole = operator.index(value)
            bits = whole.bit_length() if whole >= 0 else (~whole).bit_length()
            if bits > type_.bit_width - type_.signed or (whole < 0 and not type_.signed):
                raise ValueError(f"{name}: {whole} does not fit {type_}")
            return dtype.type(whole)
        number = float(value)
    except OverflowError:
        raise ValueError(f"{name}: {value} does not fit {type_}") from None
    except TypeError:
        kind = "an integer" if isinstance(type_, s.Int) else "a number"
        cast = "; cast the array to double first" if isinstance(value, _FLOATS) else ""
        raise TypeError(f"{name}: expected {kind} for {type_}, got {value!r}{cast}") from None
    if dtype.itemsize == 4 and math.isfinite(number) and not -_MOST <= number <= _MOST:
        raise ValueError(f"{name}: {value} does not fit {type_}")
    return dtype.type(number)
