"""Stand-ins for columns, and the recording of the operations on them.

Each has a witness, a real column of two rows with the same dtype, on which every operation is done as well:
pandas itself tells the dtypes of results, and refuses what it does not support.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from colkern.errors import UnsupportedError
from colkern.spark.acceleration.nodes import (
    BOOL,
    TEXT,
    Constant,
    Fused,
    Node,
    NumPyType,
    Whole,
    dtype_of,
    holds,
    is_float,
)

AnyArray: TypeAlias = npt.NDArray[Any]

Witness: TypeAlias = pd.Series
"""Two rows of a column: a Series, or an array of NumPy's."""


class Tracer:
    """Counts the steps of a trace, and keeps its first refusal if the traced body goes on after it."""

    def __init__(self) -> None:
        self.refusal: UnsupportedError | None = None
        self.steps = 0

    def refused(self, reason: str) -> UnsupportedError:
        """An exception to raise for an operation that cannot be compiled."""
        error = UnsupportedError(reason)
        if self.refusal is None:
            self.refusal = error
        return error


class Recorded:
    """A stand-in for a pandas Series, or for an array of NumPy's: its node, and two rows of it."""

    def __init__(self, node: Node, witness: Witness, tracer: Tracer) -> None:
        self._node = node
        self._witness = witness
        self._tracer = tracer

    @property
    def node(self) -> Node:
        """The column in the graph."""
        return self._node

    @property
    def is_series(self) -> bool:
        """Whether it stands for a `pandas.Series`, and not for an array."""
        return isinstance(self._witness, pd.Series)

    # Recording

    def result(self, node: Node, witness: Witness) -> Self:
        """The stand-in for a node's column; `witness` is two rows of it."""
        self._tracer.steps += 1
        if dtype_of(witness) != node.dtype:
            raise self._tracer.refused(f"a result of dtype {witness.dtype}")
        return type(self)(node, witness, self._tracer)

    def whole(
        self,
        name: str,
        function: Callable[..., Witness],
        operands: Sequence[object],
        witness: Witness,
        details: tuple[object, ...] = (),
    ) -> Self:
        """The result of NumPy or Arrow for whole columns; see `Whole`."""
        for operand in operands:
            if isinstance(operand, Recorded):
                operand.require_numbers(name)
        nodes = tuple(self.node_of(operand) for operand in operands)
        dtype = self.numbers_of(witness, name)
        return self.result(Whole(dtype, name, function, nodes, details), witness)

    def unary(self, expression: str, function: Callable[..., Witness]) -> Self:
        """An operation on one value; NumPy does its own functions of integers on whole columns."""
        reads = self.require_numbers(getattr(function, "__name__", "operation"))
        witness = function(self._witness)
        dtype = self.numbers_of(witness, expression)
        if expression.startswith("np.") and dtype != BOOL and not is_float(reads):
            return self.whole(expression, function, (self,), witness)
        return self.result(Fused(dtype, expression, (self._node,), (reads,)), witness)

    def choice(
        self, condition: object, chosen: object, other: object, witness: Witness, name: str
    ) -> Node:
        """A choice between two by a condition."""
        dtype = self.numbers_of(witness, name)
        parts = (self.condition(condition), self.node_of(chosen), self.node_of(other))
        return Fused(dtype, "{1} if {0} else {2}", parts, (BOOL, dtype, dtype))

    def condition(self, value: object) -> Node:
        """The node of a condition."""
        if isinstance(value, Recorded) and value._node.dtype == BOOL:
            return value._node
        raise self._tracer.refused("a condition that is no column of booleans")

    def node_of(self, value: object) -> Node:
        """The node of an operand."""
        if isinstance(value, Recorded):
            return value._node
        if value is None:
            return Constant(np.dtype(object), None)
        return Constant(TEXT if isinstance(value, str) else np.asarray(value).dtype, value)

    # Checks

    def require_operand(self, value: object) -> None:
        """Check that something is a column of the trace, or a constant."""
        if isinstance(value, Recorded | bool | int | float | str | np.bool_ | np.float32):
            if isinstance(value, int) and not -(2**63) <= value < 2**63:
                raise self._tracer.refused("a number beyond 64 bits")
            return
        if isinstance(value, np.signedinteger):
            return
        raise self._tracer.refused(f"an operand of type {type(value).__name__}")

    def require_numbers(self, name: str) -> NumPyType:
        """The dtype of this column; refused for one of text."""
        if isinstance(self._node.dtype, str):
            raise self._tracer.refused(f"{name} of a column of text")
        return self._node.dtype

    def require_method(self, name: str) -> None:
        """Check that real columns have a method too; raises AttributeError if not."""
        getattr(self._witness, name)

    def of_own_dtype(self, value: object, name: str) -> Node:
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

    def numbers_of(self, witness: Witness, name: str) -> NumPyType:
        """The dtype of a witness of numbers."""
        dtype = dtype_of(witness)
        if dtype is None or isinstance(dtype, str):
            given = getattr(witness, "dtype", type(witness).__name__)
            raise self._tracer.refused(f"{name} gives {given}, no column of numbers")
        return dtype


def witness_of(value: object) -> Witness:
    """The witness of a stand-in; a constant itself."""
    return value._witness if isinstance(value, Recorded) else value
