"""The element-wise methods of `Series`, of traced columns."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any, Self

import numpy as np
import pandas as pd
import pyarrow.compute as pc

from colkern.spark.acceleration import texts
from colkern.spark.acceleration.forms import AnyArray
from colkern.spark.acceleration.nodes import (
    BOOL,
    OTHER,
    TEXT,
    Constant,
    Fused,
    Input,
    Node,
    Whole,
    dtype_of,
    is_float,
)
from colkern.spark.acceleration.operators import Operators
from colkern.spark.acceleration.recorded import Recorded, Witness, witness_of


class SeriesMethods(Operators):
    """The members of `Series` besides operators."""

    def of_dtype(self) -> Witness:
        """Returns the witness, for what follows from its dtype alone."""
        if self._node.dtype == OTHER and not isinstance(self._node, Input):
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
        if self._node.dtype == TEXT:
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
            result: Node = Whole(BOOL, "isna", pc.is_null, (node,))
        else:
            expression = "{0} != {0}" if is_float(dtype) else "False"
            result = Fused(BOOL, expression, (node,), (dtype,))
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
            return self.result(Whole(TEXT, "fillna", texts.text_fill, (node, other)), witness)
        if not is_float(dtype):
            return self.copy()
        filled = Fused(dtype, "{1} if {0} != {0} else {0}", (node, other), (dtype, dtype))
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
        if dtype_of(witness) != self._node.dtype:
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
                result = Fused(dtype, expression, parts, (dtype,) * 3)
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
        if self._node.dtype == TEXT and among and all(type(value) is str for value in among):
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
        if self._node.dtype == TEXT and texts.is_table(table):
            entries = texts.text_map(self, table).node, self._node
            witness = self._witness.replace(table)
            return self.result(Whole(TEXT, "fillna", texts.text_fill, entries), witness)
        values = to_replace if isinstance(to_replace, list) else [to_replace]
        if not is_float(self._node.dtype) or not all(
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
        if not is_float(dtype) or not isinstance(decimals, int) or not 0 <= decimals <= 22:

            def rounded(array: AnyArray) -> AnyArray:
                return array.round(decimals)

            return self.whole("round", rounded, (self,), witness, (decimals,))
        # Three operations, each of which gives a number of the dtype.
        power, result = Constant(dtype, 10.0**decimals), self._node
        if decimals:
            result = Fused(dtype, "{0} * {1}", (result, power), (dtype, dtype))
        result = Fused(dtype, "np.rint({0})", (result,), (dtype,))
        if decimals:
            result = Fused(dtype, "{0} / {1}", (result, power), (dtype, dtype))
        return self.result(result, witness)

    def astype(self, dtype: object, copy: bool = True) -> Self:
        """The values in another dtype."""
        own = self.require_numbers("astype")
        witness = self._witness.astype(dtype)
        target = self.numbers_of(witness, f"astype({dtype!r})")
        if not (copy or self.is_series) and target == own:
            return self
        if is_float(own) and target.kind == "i":
            # Series refuse to convert NaN to integers; arrays convert it to some integer.
            kind: Callable[[AnyArray], Witness] = pd.Series if self.is_series else np.asarray

            def converted(array: AnyArray) -> AnyArray:
                return np.asarray(kind(array).astype(target))

            details = (str(target), self.is_series)
            return self.whole("astype", converted, (self,), witness, details)
        return self.result(Fused(target, "{0}", (self._node,), (target,)), witness)
