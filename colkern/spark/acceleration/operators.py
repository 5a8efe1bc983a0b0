"""The operators of traced columns."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Self

import numpy as np
import pandas as pd

from colkern.spark.acceleration import texts
from colkern.spark.acceleration.nodes import BOOL, FLOAT, TEXT, Fused, NumPyType, dtype_of, holds
from colkern.spark.acceleration.recorded import NOT_ELEMENT_WISE, Recorded, Witness, witness_of

ARITHMETIC = {"add": "+", "sub": "-", "mul": "*", "truediv": "/"}
"""Operators whose operands are converted to the dtype of the results."""

WHOLE = ("floordiv", "mod", "pow")
"""Operators for which NumPy has rules of its own."""

BITWISE = {"and_": "&", "or_": "|", "xor": "^"}

COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}

SYMBOLS = ARITHMETIC | BITWISE | COMPARISONS

OPERATORS = {
    "add": "add",
    "subtract": "sub",
    "multiply": "mul",
    "divide": "truediv",
    "floor_divide": "floordiv",
    "remainder": "mod",
    "power": "pow",
    "bitwise_and": "and_",
    "bitwise_or": "or_",
    "bitwise_xor": "xor",
    "equal": "eq",
    "not_equal": "ne",
    "less": "lt",
    "less_equal": "le",
    "greater": "gt",
    "greater_equal": "ge",
}
"""NumPy functions that pandas computes as operators."""

_EXACT = ("sqrt", "floor", "ceil", "trunc", "rint", "isnan", "isinf", "isfinite")

UNARY = {"negative": "-{0}", "positive": "{0}", "absolute": "abs({0})"}
UNARY |= {name: f"np.{name}({{0}})" for name in _EXACT}
"""NumPy's functions whose results are the same everywhere: IEEE 754 demands the exact ones."""


class Operators(Recorded):
    """The operators of Python, and the methods of `Series` by their names."""

    __hash__ = None  # type: ignore[assignment]

    def operate(self, name: str, left: object, right: object) -> Self:
        """A binary operator of two operands, one of them this column."""
        function: Callable[..., Witness] = getattr(operator, name)
        if name == "mul" and TEXT in (self.node_of(left).dtype, self.node_of(right).dtype):
            # `*` is meant for numbers; that many copies of a text might not fit into memory.
            raise self._tracer.refused("a column of text is multiplied")
        is_sure = name not in (*BITWISE, "floordiv", "mod")
        result: Self = self.instead(
            lambda: self._in_a_loop(name, function, left, right),
            lambda: self.in_pandas(
                f"`{name}`", function, *map(self.alone, (left, right)), is_sure=is_sure
            ),
        )
        return result

    def _in_a_loop(
        self, name: str, function: Callable[..., Witness], left: object, right: object
    ) -> Self:
        for side in (left, right):
            self.require_operand(side)
        witness = function(witness_of(left), witness_of(right))
        nodes = tuple(self.node_of(side) for side in (left, right))
        if TEXT in [node.dtype for node in nodes]:
            return self.result(texts.text_operation(self._tracer, name, nodes), witness)
        dtype = self.numbers_of(witness, f"`{name}`")
        symbol = SYMBOLS.get(name)
        if name in BITWISE and any(node.dtype != dtype for node in nodes):
            raise self._tracer.refused(f"`{name}` of {nodes[0].dtype} and {nodes[1].dtype}")
        if dtype == BOOL and (symbol is None or name in ARITHMETIC):
            raise self._tracer.refused(f"`{name}` of booleans")
        if symbol is not None:
            reads = _common_dtype(left, right) if name in COMPARISONS else dtype
            return self.result(Fused(dtype, f"{{0}} {symbol} {{1}}", nodes, (reads,) * 2), witness)
        by_zero = name in ("floordiv", "mod") and (isinstance(right, Recorded) or not right)
        if isinstance(witness, pd.Series) and by_zero and _common_dtype(left, right) != FLOAT:
            raise self._tracer.refused(
                f"`{name}` by a divisor that may be zero, where pandas' dtype depends on the values"
            )
        return self.whole(name, function, (left, right), witness)

    def __neg__(self) -> Self:
        return self._operator("-{0}", operator.neg)

    def __pos__(self) -> Self:
        return self._operator("{0}", operator.pos)

    def __abs__(self) -> Self:
        return self._operator("abs({0})", operator.abs)

    def __invert__(self) -> Self:
        return self._operator("not {0}" if self._node.dtype == BOOL else "~{0}", operator.invert)

    def _operator(self, expression: str, function: Callable[..., Witness]) -> Self:
        result: Self = self.instead(
            lambda: self.unary(expression, function),
            lambda: self.in_pandas(expression, function, self, is_sure=True),
        )
        return result

    def __round__(self, decimals: int = 0) -> Self:
        """`Series.round`."""
        return self.round(decimals)  # type: ignore[attr-defined, no-any-return]

    def times(self, name: str, function: Callable[..., Any], left: object, right: Any) -> Self:
        """The product of each row of a table and a constant vector or matrix."""
        is_by_row = isinstance(left, Recorded) and left._witness.ndim == 2
        if not is_by_row or isinstance(right, Recorded) or np.ndim(right) > 2:
            raise self._tracer.refused(NOT_ELEMENT_WISE.format(name))
        right = np.asarray(right) if isinstance(right, np.ndarray) else right
        return self.in_pandas(name, function, left, right, is_sure=True)

    def __matmul__(self, other: object) -> Self:
        return self.times("`@`", operator.matmul, self, other)

    def dot(self, other: object) -> Self:
        """`dot` of a table or an array."""
        return self.times("dot", lambda left, right: left.dot(right), self, other)

    def __divmod__(self, other: object) -> Self:
        raise self._tracer.refused("divmod gives two columns")

    __rdivmod__ = __divmod__


def _operator(name: str, *, reflected: bool, method: str = "") -> Callable[..., Operators]:
    def operate(self: Operators, other: object, **options: object) -> Operators:
        if options or (isinstance(self._witness, pd.DataFrame) and method):
            return self.__getattr__(method)(other, **options)  # type: ignore[attr-defined, no-any-return]
        left, right = (other, self) if reflected else (self, other)
        return self.operate(name, left, right)

    return operate


def _in_place(name: str) -> Callable[..., Operators]:
    def operate(self: Operators, other: object) -> Operators:
        result = self.operate(name, self, other)
        if not self.is_series and dtype_of(result._witness) != dtype_of(self._witness):
            raise self._tracer.refused(f"`{name}` that would change an array's dtype in place")
        self.become(result)
        return self

    return operate


for _name in (*ARITHMETIC, *WHOLE, *BITWISE):
    _plain = _name.rstrip("_")
    setattr(Operators, f"__i{_plain}__", _in_place(_name))
    setattr(Operators, f"__{_plain}__", _operator(_name, reflected=False))
    setattr(Operators, f"__r{_plain}__", _operator(_name, reflected=True))
for _name in COMPARISONS:
    setattr(Operators, f"__{_name}__", _operator(_name, reflected=False))
for _name in (*ARITHMETIC, *WHOLE, *COMPARISONS):
    setattr(Operators, _name, _operator(_name, reflected=False, method=_name))
for _name in (*ARITHMETIC, *WHOLE):
    setattr(Operators, f"r{_name}", _operator(_name, reflected=True, method=f"r{_name}"))
for _name in ("div", "divide"):
    setattr(Operators, _name, _operator("truediv", reflected=False, method=_name))


def _common_dtype(left: Any, right: Any) -> NumPyType:
    """Returns the dtype in which two operands are compared."""
    sides = [np.asarray(v._witness) if isinstance(v, Recorded) else v for v in (left, right)]
    dtype = np.result_type(*sides)
    fits = all(isinstance(v, np.ndarray) or dtype.kind == "f" or holds(dtype, v) for v in sides)
    return dtype if fits or dtype.kind != "i" else np.dtype(np.int64)
