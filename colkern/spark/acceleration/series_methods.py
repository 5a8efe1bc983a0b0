"""The operators, and the element-wise methods of `Series`, of traced columns."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any, Self

import numpy as np
import pandas as pd
import pyarrow.compute as pc

from colkern.spark.acceleration import graph as g
from colkern.spark.acceleration import texts
from colkern.spark.acceleration.forms import AnyArray
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


class SeriesMethods(Recorded):
    """The operators of Python, and members of `Series`, by their names."""

    __hash__ = None  # type: ignore[assignment]

    def of_dtype(self) -> Witness:
        """Returns the witness, for what follows from its dtype alone."""
        if self._node.dtype == g.OTHER and not isinstance(self._node, g.Input):
            raise self._tracer.refused("the dtype of a column that depends on the values")
        return self._witness

    @property
    def dtype(self) -> object:
        """The dtype that the column will have."""
        return self.of_dtype().dtype

    @property
    def values(self) -> Self:
        """The column as an array."""
        return self.to_numpy()

    def to_numpy(self) -> Self:
        """The column as an array."""
        if self._node.dtype == g.TEXT:
            raise self._tracer.refused("a column of text is made into Python objects")
        return type(self)(self._node, np.asarray(self._witness), self._tracer)

    def copy(self, deep: bool = True) -> Self:
        """The same column, which may then be changed independently."""
        return type(self)(self._node, self._witness, self._tracer)

    def pipe(self, func: Any, *arguments: Any, **options: Any) -> Any:
        """The result of a function for the column."""
        if not callable(func):
            raise self._tracer.refused("Series.pipe of anything but a function")
        return func(self.copy(), *arguments, **options)

    def rename(self, index: object = None) -> Self:
        """The column itself; names of results are not used."""
        if callable(index) or isinstance(index, dict):
            raise self._tracer.refused("Series.rename of the index")
        return self.copy()

    def abs(self) -> Self:
        """Absolute values."""
        return self.__abs__()

    def isna(self) -> Self:
        """True where values are null or NaN."""
        self.require_method("isna")
        node, dtype = self._node, self._node.dtype
        if isinstance(dtype, str):
            result: g.Node = g.Whole(g.BOOL, "isna", pc.is_null, (node,))
        else:
            expression = "{0} != {0}" if g.is_float(dtype) else "False"
            result = g.Fused(g.BOOL, expression, (node,), (dtype,))
        return self.result(result, self._witness.isna())

    isnull = isna

    def notna(self) -> Self:
        """True where values are neither null nor NaN."""
        return ~self.isna()

    notnull = notna

    def fillna(self, value: object) -> Self:
        """The column with a value of its own dtype in place of nulls."""
        self.require_method("fillna")
        other = self.of_own_dtype(value, "fillna")
        witness = self._witness.fillna(witness_of(value))
        node, dtype = self._node, self._node.dtype
        if isinstance(dtype, str):
            if np.any(pd.isna(witness_of(value))):
                raise self._tracer.refused("Series.fillna of texts with a column that has nulls")
            return self.result(g.Whole(g.TEXT, "fillna", texts.text_fill, (node, other)), witness)
        if not g.is_float(dtype):
            return self.copy()
        filled = g.Fused(dtype, "{1} if {0} != {0} else {0}", (node, other), (dtype, dtype))
        return self.result(filled, witness)

    def where(self, cond: object, other: object = np.nan) -> Self:
        """The column where a condition is true, and `other`, of its dtype, elsewhere."""
        return self._chosen("where", cond, other)

    def mask(self, cond: object, other: object = np.nan) -> Self:
        """The column where a condition is false, and `other`, of its dtype, elsewhere."""
        return self._chosen("mask", cond, other)

    def _chosen(self, name: str, condition: object, other: object) -> Self:
        """`Series.where` and `mask`; pandas keeps the dtype if `other` has it."""
        self.require_method(name)
        condition = condition(self) if callable(condition) else condition
        other = other(self) if callable(other) else other
        self.require_operand(condition)
        if other is not self:
            self.of_own_dtype(other, name)
        witness = getattr(self._witness, name)(witness_of(condition), witness_of(other))
        if g.dtype_of(witness) != self._node.dtype:
            raise self._tracer.refused(f"Series.{name} that changes the dtype")
        chosen, otherwise = (self, other) if name == "where" else (other, self)
        return self.result(self.choice(condition, chosen, otherwise, witness, name), witness)

    def clip(self, lower: Any = None, upper: Any = None) -> Self:
        """The column with values limited to two bounds of its dtype."""
        self.require_method("clip")
        node, dtype = self._node, self.require_numbers("clip")
        if not self.is_series:
            operands = (self, lower, upper)
            return self.whole("clip", np.clip, operands, np.clip(*map(witness_of, operands)))
        for bound in (lower, upper):
            if isinstance(bound, Recorded) or (bound is not None and bound != bound):
                raise self._tracer.refused("Series.clip with bounds that are no numbers")
        if lower is not None and upper is not None and lower > upper:
            lower, upper = upper, lower
        result = node
        for bound, sign in ((lower, "<"), (upper, ">")):
            if bound is not None:
                # As in pandas, both bounds are compared with the original values.
                parts = (result, node, self.of_own_dtype(bound, "clip"))
                expression = f"{{2}} if {{1}} {sign} {{2}} else {{0}}"
                result = g.Fused(dtype, expression, parts, (dtype,) * 3)
        return self.result(result, self._witness.clip(lower, upper))

    def between(self, left: object, right: object, inclusive: str = "both") -> Self:
        """True where values are between `left` and `right`."""
        self.require_method("between")
        if inclusive not in ("both", "left", "right", "neither"):
            raise self._tracer.refused(f"Series.between with inclusive={inclusive!r}")
        above = self.operate("ge" if inclusive in ("both", "left") else "gt", self, left)
        below = self.operate("le" if inclusive in ("both", "right") else "lt", self, right)
        return self.operate("and_", above, below)

    def isin(self, values: object) -> Self:
        """True where values are among some constants."""
        self.require_method("isin")
        among = list(values) if isinstance(values, list | tuple | set | frozenset) else None
        if self._node.dtype == g.TEXT and among and all(type(value) is str for value in among):
            return self.result(*texts.text_isin(self, sorted(among)))
        self.require_numbers("isin")
        if among is None or not all(isinstance(v, bool | int | float) for v in among):
            raise self._tracer.refused("Series.isin of anything but a list of numbers")

        def isin(array: AnyArray) -> pd.Series:
            return pd.Series(array).isin(among).to_numpy()

        witness = self._witness.isin(among)
        return self.whole("isin", isin, (self,), witness, tuple(among))

    def replace(self, to_replace: object, value: object = None) -> Self:
        """The column with some floats, such as infinities, replaced; texts are looked up in a table."""
        self.require_method("replace")
        table = {to_replace: value} if isinstance(to_replace, str) else to_replace
        if self._node.dtype == g.TEXT and texts.is_table(table):
            entries = texts.text_map(self, table).node, self._node
            witness = self._witness.replace(table)
            return self.result(g.Whole(g.TEXT, "fillna", texts.text_fill, entries), witness)
        values = to_replace if isinstance(to_replace, list) else [to_replace]
        if not g.is_float(self._node.dtype) or not all(
            type(v) in (int, float) and v == v for v in values
        ):
            raise self._tracer.refused("Series.replace of anything but some floats")
        conditions = [self.operate("eq", self, each) for each in values]
        return self.mask(functools.reduce(operator.or_, conditions), value)

    def round(self, decimals: int = 0) -> Self:
        """The column rounded to a number of decimals."""
        self.require_method("round")
        dtype = self.require_numbers("round")
        witness = self._witness.round(decimals)
        if not g.is_float(dtype) or not isinstance(decimals, int) or not 0 <= decimals <= 22:

            def rounded(array: AnyArray) -> AnyArray:
                return array.round(decimals)

            return self.whole("round", rounded, (self,), witness, (decimals,))
        # Three operations, each of which gives a number of the dtype.
        power, result = g.Constant(dtype, 10.0**decimals), self._node
        if decimals:
            result = g.Fused(dtype, "{0} * {1}", (result, power), (dtype, dtype))
        result = g.Fused(dtype, "np.rint({0})", (result,), (dtype,))
        if decimals:
            result = g.Fused(dtype, "{0} / {1}", (result, power), (dtype, dtype))
        return self.result(result, witness)

    def astype(self, dtype: object, copy: bool = True) -> Self:
        """The values in another dtype."""
        own = self.require_numbers("astype")
        witness = self._witness.astype(dtype)
        target = self.numbers_of(witness, f"astype({dtype!r})")
        if not (copy or self.is_series) and target == own:
            return self
        if g.is_float(own) and target.kind == "i":
            # Series refuse to convert NaN to integers; arrays convert it to some integer.
            kind: Callable[[AnyArray], Witness] = pd.Series if self.is_series else np.asarray

            def converted(array: AnyArray) -> AnyArray:
                return np.asarray(kind(array).astype(target))

            details = (str(target), self.is_series)
            return self.whole("astype", converted, (self,), witness, details)
        return self.result(g.Fused(target, "{0}", (self._node,), (target,)), witness)

    # Operators

    def operate(self, name: str, left: object, right: object) -> Self:
        """A binary operator of two operands, one of them this column."""
        function: Callable[..., Witness] = getattr(operator, name)
        if name == "mul" and g.TEXT in (self.node_of(left).dtype, self.node_of(right).dtype):
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
        if g.TEXT in [node.dtype for node in nodes]:
            return self.result(texts.text_operation(self._tracer, name, nodes), witness)
        dtype = self.numbers_of(witness, f"`{name}`")
        symbol = SYMBOLS.get(name)
        if name in BITWISE and any(node.dtype != dtype for node in nodes):
            raise self._tracer.refused(f"`{name}` of {nodes[0].dtype} and {nodes[1].dtype}")
        if dtype == g.BOOL and (symbol is None or name in ARITHMETIC):
            raise self._tracer.refused(f"`{name}` of booleans")
        if symbol is not None:
            reads = _common_dtype(left, right) if name in COMPARISONS else dtype
            return self.result(
                g.Fused(dtype, f"{{0}} {symbol} {{1}}", nodes, (reads,) * 2), witness
            )
        by_zero = name in ("floordiv", "mod") and (isinstance(right, Recorded) or not right)
        if isinstance(witness, pd.Series) and by_zero and _common_dtype(left, right) != g.FLOAT:
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
        return self._operator("not {0}" if self._node.dtype == g.BOOL else "~{0}", operator.invert)

    def _operator(self, expression: str, function: Callable[..., Witness]) -> Self:
        result: Self = self.instead(
            lambda: self.unary(expression, function),
            lambda: self.in_pandas(expression, function, self, is_sure=True),
        )
        return result

    def __round__(self, decimals: int = 0) -> Self:
        """`Series.round`."""
        return self.round(decimals)

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


def _operator(name: str, *, reflected: bool, method: str = "") -> Callable[..., SeriesMethods]:
    def operate(self: SeriesMethods, other: object, **options: object) -> SeriesMethods:
        if options or (isinstance(self._witness, pd.DataFrame) and method):
            return self.__getattr__(method)(other, **options)  # type: ignore[attr-defined, no-any-return]
        left, right = (other, self) if reflected else (self, other)
        return self.operate(name, left, right)

    return operate


def _in_place(name: str) -> Callable[..., SeriesMethods]:
    def operate(self: SeriesMethods, other: object) -> SeriesMethods:
        result = self.operate(name, self, other)
        if not self.is_series and g.dtype_of(result._witness) != g.dtype_of(self._witness):
            raise self._tracer.refused(f"`{name}` that would change an array's dtype in place")
        self.become(result)
        return self

    return operate


for _name in (*ARITHMETIC, *WHOLE, *BITWISE):
    _plain = _name.rstrip("_")
    setattr(SeriesMethods, f"__i{_plain}__", _in_place(_name))
    setattr(SeriesMethods, f"__{_plain}__", _operator(_name, reflected=False))
    setattr(SeriesMethods, f"__r{_plain}__", _operator(_name, reflected=True))
for _name in COMPARISONS:
    setattr(SeriesMethods, f"__{_name}__", _operator(_name, reflected=False))
for _name in (*ARITHMETIC, *WHOLE, *COMPARISONS):
    setattr(SeriesMethods, _name, _operator(_name, reflected=False, method=_name))
for _name in (*ARITHMETIC, *WHOLE):
    setattr(SeriesMethods, f"r{_name}", _operator(_name, reflected=True, method=f"r{_name}"))
for _name in ("div", "divide"):
    setattr(SeriesMethods, _name, _operator("truediv", reflected=False, method=_name))


def _common_dtype(left: Any, right: Any) -> g.NumPyType:
    """Returns the dtype in which two operands are compared."""
    sides = [np.asarray(v._witness) if isinstance(v, Recorded) else v for v in (left, right)]
    dtype = np.result_type(*sides)
    fits = all(isinstance(v, np.ndarray) or dtype.kind == "f" or g.holds(dtype, v) for v in sides)
    return dtype if fits or dtype.kind != "i" else np.dtype(np.int64)
