"""The graph of a function of columns: inputs, constants, and operations, with their dtypes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from colkern.errors import UnsupportedError

TEXT = "str"
"""The dtype of text columns that pandas keeps in Arrow's memory."""

OTHER = "other"
"""Any other pandas dtype; only pandas' own operations apply to it."""

NumPyType: TypeAlias = "np.dtype[Any]"
DType: TypeAlias = "NumPyType | str"

Form: TypeAlias = Literal["own", "pandas", "numpy", "column"]
"""The form in which a function takes a column: NumPy's or Arrow's, pandas', an array, or all forms."""

FULL = "full"
"""The name of nodes with one value in all rows, which is their only detail."""

BOOL = np.dtype(bool)
FLOAT = np.dtype(np.float64)

_NUMBERS = frozenset(["bool", "int8", "int16", "int32", "int64", "float32", "float64"])


def dtype_of(witness: object) -> DType | None:
    """Returns the node dtype of a witness; None if no graph has such columns."""
    dtype = getattr(witness, "dtype", None)
    if getattr(witness, "ndim", 1) != 1:
        return None
    if isinstance(dtype, pd.StringDtype) and dtype.na_value is np.nan:
        return TEXT if dtype.storage == "pyarrow" else None
    if isinstance(witness, np.ndarray) and witness.dtype.kind in "OU":
        # NumPy gives such arrays for texts; a Series made of one has pandas' string dtype again.
        is_text = pd.api.types.infer_dtype(witness, skipna=True) == "string"
        return TEXT if is_text else None
    return dtype if isinstance(dtype, np.dtype) and dtype.name in _NUMBERS else None


def is_float(dtype: DType) -> bool:
    """Whether a column may hold NaN."""
    return isinstance(dtype, np.dtype) and dtype.kind == "f"


def holds(dtype: NumPyType, value: object) -> bool:
    """Whether a column keeps its dtype when a constant is stored in it."""
    if dtype.kind == "b" or isinstance(value, bool | np.bool_):
        return dtype.kind == "b" and isinstance(value, bool)
    if dtype.kind == "i":
        bounds = np.iinfo(dtype)
        return isinstance(value, int) and bounds.min <= value <= bounds.max
    if isinstance(value, str):
        return False
    with np.errstate(over="ignore"):
        return bool(value != value or float(dtype.type(value)) == value)


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A column of the graph. Nodes that are made in the same way have the same identity."""

    dtype: DType
    identity: bytes = field(init=False, default=b"")
    #: The identity of the condition by which the body selected rows; empty for all rows. The graph computes
    #: all rows; the selection matters only when the body assigns to rows.
    rows: bytes = field(init=False, default=b"")
    #: Whether pandas or a row function computes it, or one of its operands, perhaps by a function of the
    #: user's.
    calls_python: bool = field(init=False, default=False)

    def _identify(self, *parts: object) -> None:
        text = repr((type(self).__name__, str(self.dtype), *parts))
        object.__setattr__(self, "identity", hashlib.sha256(text.encode()).digest())

    def _join(self, operands: tuple[Node, ...], calls_python: bool = False) -> None:
        rows = {each.rows for each in operands if not isinstance(each, Constant)}
        if len(rows) > 1:
            raise UnsupportedError("selected rows of a column are used beside others")
        object.__setattr__(self, "rows", *rows or (b"",))
        calls = calls_python or any(each.calls_python for each in operands)
        object.__setattr__(self, "calls_python", calls)


@dataclass(frozen=True, slots=True, eq=False)
class Input(Node):
    """A parameter of the function; its null floats and integers are NaN."""

    position: int

    def __post_init__(self) -> None:
        self._identify(self.position)


@dataclass(frozen=True, slots=True, eq=False)
class Constant(Node):
    """A number or a text of the function."""

    value: object

    def __post_init__(self) -> None:
        self._identify(type(self.value).__name__, repr(self.value))


@dataclass(frozen=True, slots=True, eq=False)
class Fused(Node):
    """An operation on the values of one row, to be compiled together with others."""

    expression: str  #: The operation in Python, with `{0}`, `{1}` … for the operands.
    operands: tuple[Node, ...]
    reads: tuple[NumPyType, ...]  #: The dtypes to which the operands are converted first.

    def __post_init__(self) -> None:
        self._identify(self.expression, [o.identity for o in self.operands], self.reads)
        self._join(self.operands)


@dataclass(frozen=True, slots=True, eq=False)
class Whole(Node):
    """An element-wise operation of NumPy, Arrow or pandas on whole columns."""

    name: str
    #: Takes NumPy arrays (Arrow arrays for texts) and plain constants; returns one.
    function: Callable[..., Any]
    operands: tuple[Node, ...]
    details: tuple[object, ...] = ()  #: Other values on which its results depend.
    #: For each operand, the form of `Column` that the function takes; "own" unless given.
    reads: tuple[Form, ...] = ()

    def __post_init__(self) -> None:
        operands = [o.identity for o in self.operands]
        self._identify(self.name, operands, self.details, self.reads)
        self._join(self.operands, calls_python=bool(self.reads))


def with_rows(node: Node, rows: bytes) -> Node:
    """Returns the same column, marked as rows that a condition selects."""
    if isinstance(node.dtype, str):
        same: Node = Whole(node.dtype, "same", lambda column: column, (node,))
    else:
        same = Fused(node.dtype, "{0}", (node,), (node.dtype,))
    object.__setattr__(same, "rows", rows)
    return same
