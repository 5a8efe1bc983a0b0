"""The operations that can be recorded: in Python for a row, by NumPy and Arrow for whole columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from colkern.spark.acceleration.nodes import BOOL, TEXT, Node, Whole

if TYPE_CHECKING:
    from colkern.spark.acceleration.recorded import Tracer

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
"""NumPy's functions for which pandas uses operators."""

_EXACT = ("sqrt", "floor", "ceil", "trunc", "rint", "isnan", "isinf", "isfinite")

UNARY = {"negative": "-{0}", "positive": "{0}", "absolute": "abs({0})"}
UNARY |= {name: f"np.{name}({{0}})" for name in _EXACT}
"""NumPy's functions whose results are the same everywhere: IEEE 754 demands the exact ones."""


# Text, which pandas leaves to Arrow


def text_fill(texts: pa.Array, value: str | pa.Array) -> pa.Array:
    """`Series.fillna` of texts; `value` is a text, or a column of them."""
    return pc.fill_null(texts, value) if isinstance(value, str) else pc.coalesce(texts, value)


def text_operation(tracer: Tracer, name: str, nodes: tuple[Node, ...]) -> Node:
    """Comparisons and `+` of texts."""
    if any(node.dtype != TEXT for node in nodes):
        raise tracer.refused(f"`{name}` of {nodes[0].dtype} and {nodes[1].dtype}")
    if name == "add":
        return Whole(TEXT, name, _joined, nodes)
    if name in _TEXT_COMPARISONS:
        return Whole(BOOL, name, _TEXT_COMPARISONS[name], nodes)
    raise tracer.refused(f"`{name}` of texts")


def _joined(left: str | pa.Array, right: str | pa.Array) -> pa.Array:
    return pc.binary_join_element_wise(left, right, "")


def _comparison(function: Callable[..., pa.Array], of_nulls: bool) -> Callable[..., pa.Array]:
    return lambda left, right: function(left, right).fill_null(of_nulls)


_TEXT_COMPARISONS = {
    "eq": _comparison(pc.equal, False),
    "ne": _comparison(pc.not_equal, True),
    "lt": _comparison(pc.less, False),
    "le": _comparison(pc.less_equal, False),
    "gt": _comparison(pc.greater, False),
    "ge": _comparison(pc.greater_equal, False),
}
