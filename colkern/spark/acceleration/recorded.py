"""Columns that are not there yet, and the recording of what is done to them.

Each has a witness, a real column of two rows with the same dtype, on which everything is done as well: what
dtype a result has, and what pandas refuses, is found out from pandas.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
import pandas as pd

from colkern.spark.acceleration.dtypes import BOOL, dtype_of, holds, is_float
from colkern.spark.acceleration.nodes import TEXT, Constant, Fused, Node, Whole
from colkern.spark.acceleration.tracer import Tracer


class Recorded:
    """A column that is not there yet: pandas' Series, or NumPy's array.

    Args:
        node: What it is made by.
        witness: The same of two rows: a `pandas.Series` or an array.
        tracer: What is told of everything that cannot be compiled.
    """

    def __init__(self, node: Node, witness: Any, tracer: Tracer) -> None:
        self._node = node
        self._witness = witness
        self._tracer = tracer

    @property
    def node(self) -> Node:
        """What the column is made by."""
        return self._node

    @property
    def identity(self) -> bytes:
        """Equal for columns that are made in the same way."""
        return self._node.identity

    @property
    def is_series(self) -> bool:
        """Whether it stands for a `pandas.Series`, and not for an array."""
        return isinstance(self._witness, pd.Series)

    # Recording

    def made(self, node: Node, witness: Any) -> Self:
        """The column of a node; `witness` is the same of two rows."""
        self._tracer.steps += 1
        if dtype_of(witness) != node.dtype:
            raise self._tracer.refused(f"a result of dtype {witness.dtype}")
        return type(self)(node, witness, self._tracer)

    def whole(
        self,
        name: str,
        function: Callable[..., Any],
        operands: Sequence[Any],
        witness: Any,
        details: tuple[Any, ...] = (),
    ) -> Self:
        """The column that NumPy or Arrow makes of whole columns; as `Whole` has it."""
        for operand in operands:
            if isinstance(operand, Recorded):
                operand.require_numbers(name)
        nodes = tuple(self.node_of(operand) for operand in operands)
        made = Whole(self.numbers_of(witness, name), name, function, nodes, details)
        return self.made(made, witness)

    def unary(self, expression: str, function: Callable[..., Any]) -> Self:
        """An operation on one value; whole columns of integers go to NumPy, where it has its own."""
        reads = self.require_numbers(getattr(function, "__name__", "operation"))
        witness = function(self._witness)
        dtype = self.numbers_of(witness, expression)
        if expression.startswith("np.") and dtype != BOOL and not is_float(reads):
            return self.whole(expression, function, (self,), witness)
        return self.made(Fused(dtype, expression, (self._node,), (reads,)), witness)

    def choice(self, condition: Any, chosen: Any, other: Any, witness: Any, name: str) -> Node:
        """A choice between two by a condition."""
        dtype = self.numbers_of(witness, name)
        parts = (self.condition(condition), self.node_of(chosen), self.node_of(other))
        return Fused(dtype, "{1} if {0} else {2}", parts, (BOOL, dtype, dtype))

    def condition(self, value: Any) -> Node:
        """The node of a condition."""
        if isinstance(value, Recorded) and value._node.dtype == BOOL:
            return value._node
        raise self._tracer.refused("a condition that is no column of booleans")

    def node_of(self, value: Any) -> Node:
        """The node of an operand."""
        if isinstance(value, Recorded):
            return value._node
        if value is None:
            return Constant(np.dtype(object), None)
        return Constant(TEXT if isinstance(value, str) else np.asarray(value).dtype, value)

    # What can be recorded

    def require_operand(self, value: Any) -> None:
        """Check that something is a column of the trace, or a constant."""
        if isinstance(value, Recorded | bool | int | float | str | np.bool_ | np.float32):
            if isinstance(value, int) and not -(2**63) <= value < 2**63:
                raise self._tracer.refused("a number beyond 64 bits")
            return
        if isinstance(value, np.signedinteger):
            return
        raise self._tracer.refused(f"an operand of type {type(value).__name__}")

    def require_numbers(self, name: str) -> np.dtype[Any]:
        """The dtype of this column; refused for one of text."""
        if isinstance(self._node.dtype, str):
            raise self._tracer.refused(f"{name} of a column of text")
        return self._node.dtype

    def require_method(self, name: str) -> None:
        """Check that real columns have a method, too; AttributeError if not."""
        getattr(self._witness, name)

    def of_own_dtype(self, value: Any, name: str) -> Node:
        """The node of a value that fits the dtype of this column, so that pandas keeps the dtype."""
        self.require_operand(value)
        own = self._node.dtype
        if isinstance(value, Recorded):
            fits = value._node.dtype == own
        elif isinstance(own, str):
            fits = isinstance(value, str)
        else:
            fits = holds(own, value)
        if not fits:
            raise self._tracer.refused(
                f"Series.{name} of {own} with values of another type, where pandas' dtype depends "
                f"on the values"
            )
        return self.node_of(value)

    def numbers_of(self, witness: Any, name: str) -> np.dtype[Any]:
        """The dtype of a witness of numbers."""
        dtype = dtype_of(witness)
        if dtype is None or isinstance(dtype, str):
            found = getattr(witness, "dtype", type(witness).__name__)
            raise self._tracer.refused(f"{name} gives {found}, no column of numbers")
        return dtype


def witness_of(value: Any) -> Any:
    """The two rows of an operand."""
    return value._witness if isinstance(value, Recorded) else value
