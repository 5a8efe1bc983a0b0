"""What is known of operations: those of a row as Python, those of whole columns as NumPy and Arrow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from colkern.spark.acceleration.nodes import TEXT, Node, Whole
from colkern.spark.acceleration.tracer import Tracer

ARITHMETIC = {
    "add": "{0} + {1}",
    "sub": "{0} - {1}",
    "mul": "{0} * {1}",
    "truediv": "{0} / {1}",
}
"""Operators whose operands are converted to the dtype of the results."""

WHOLE = ("floordiv", "mod", "pow")
"""Operators that NumPy has rules of its own for."""

BITWISE = {"and_": "{0} & {1}", "or_": "{0} | {1}", "xor": "{0} ^ {1}"}

COMPARISONS = {
    "eq": "{0} == {1}",
    "ne": "{0} != {1}",
    "lt": "{0} < {1}",
    "le": "{0} <= {1}",
    "gt": "{0} > {1}",
    "ge": "{0} >= {1}",
}

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
"""NumPy's functions that pandas makes into operators."""

UNARY = {
    "negative": "-{0}",
    "positive": "{0}",
    "absolute": "abs({0})",
    "sqrt": "np.sqrt({0})",
    "floor": "np.floor({0})",
    "ceil": "np.ceil({0})",
    "trunc": "np.trunc({0})",
    "rint": "np.rint({0})",
    "isnan": "np.isnan({0})",
    "isinf": "np.isinf({0})",
    "isfinite": "np.isfinite({0})",
}
"""NumPy's functions whose results are the same wherever they are computed: IEEE 754 has them exact."""


def rounded(decimals: Any) -> Callable[[Any], Any]:
    """As `Series.round`, of an array."""
    return lambda array: array.round(decimals)


def series_as(dtype: Any) -> Callable[[Any], Any]:
    """As `Series.astype`, which refuses NaN for integers."""
    return lambda array: pd.Series(array).astype(dtype).to_numpy()


def array_as(dtype: Any) -> Callable[[Any], Any]:
    """As `ndarray.astype`, which makes any integer of NaN."""
    return lambda array: array.astype(dtype)


# Text, as pandas' arrays of it have Arrow do it


def text_is_null(texts: pa.Array) -> pa.Array:
    """As `Series.isna`, of texts."""
    return texts.is_null()


def text_fill(texts: pa.Array, value: Any) -> pa.Array:
    """As `Series.fillna`, of texts; `value` is a text, or a column of them."""
    return pc.fill_null(texts, value) if isinstance(value, str) else pc.coalesce(texts, value)


def text_operation(tracer: Tracer, name: str, nodes: tuple[Node, ...]) -> Node:
    """Comparisons and `+` of texts."""
    if any(node.dtype != TEXT for node in nodes):
        raise tracer.refused(f"`{name}` of {nodes[0].dtype} and {nodes[1].dtype}")
    if name == "add":
        return Whole(TEXT, name, _joined, nodes)
    if name in _TEXT_COMPARISONS:
        return Whole(np.dtype(bool), name, _TEXT_COMPARISONS[name], nodes)
    raise tracer.refused(f"`{name}` of texts")


def _joined(left: Any, right: Any) -> pa.Array:
    return pc.binary_join_element_wise(left, right, "")


def _comparison(function: Callable[..., Any], of_nulls: bool) -> Callable[..., Any]:
    return lambda left, right: function(left, right).fill_null(of_nulls)


_TEXT_COMPARISONS = {
    "eq": _comparison(pc.equal, False),
    "ne": _comparison(pc.not_equal, True),
    "lt": _comparison(pc.less, False),
    "le": _comparison(pc.less_equal, False),
    "gt": _comparison(pc.greater, False),
    "ge": _comparison(pc.greater_equal, False),
}
