"""What generated loops name: needed once a loop must be compiled, and not before."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

# Imported for what it teaches Numba.
import colkern.jit.elements  # noqa: F401
from colkern.cpu.primitives import trailing_zeros
from colkern.jit.elements import types as elements
from colkern.jit.results.decimal_results import put_decimal
from colkern.jit.rows import support
from colkern.jit.rows.arguments import Value
from colkern.jit.values.tuples import field_of, is_none
from colkern.jit.views.column_types import value_type
from colkern.jit.views.elements import value_at

LOOP_NAMES: dict[str, Any] = {
    "u8": np.uint64,
    "int64": np.int64,
    "uint64": np.uint64,
    "float32": np.float32,
    "float64": np.float64,
    "field_of": field_of,
    "is_none": is_none,
    "put_decimal": put_decimal,
    "trailing_zeros": trailing_zeros,
    "value_at": value_at,
    **{
        name: getattr(support, name)
        for name in (
            "binary_at",
            "binary_between",
            "binary_viewed",
            "bit",
            "is_valid",
            "put",
            "put_binary",
            "put_text",
            "text_between",
            "text_viewed",
            "valid_bits",
            "valid_until",
            "wide",
        )
    },
}
"""What the text of every loop may name."""

_NUMBA_TYPES = {
    "boolean": numba.types.boolean,
    "int64": numba.types.int64,
    "uint64": numba.types.uint64,
    "float32": numba.types.float32,
    "float64": numba.types.float64,
    "text": elements.text,
    "binary": elements.binary,
    "none": numba.types.none,
}


def numba_type(value: Value) -> Any:
    """The Numba type of what a reader gives."""
    if isinstance(value, str):
        return _NUMBA_TYPES[value]
    # Teaches Numba, which takes a while.
    from colkern.jit.views.column_operations import column_type

    return value_type(column_type(value))
