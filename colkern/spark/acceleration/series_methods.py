"""The element-wise methods of `Series`, of columns that are traced."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import pandas as pd

from colkern.spark.acceleration import operations
from colkern.spark.acceleration.dtypes import BOOL, dtype_of, is_float
from colkern.spark.acceleration.nodes import TEXT, Constant, Fused, Node, Whole
from colkern.spark.acceleration.operators import Operators
from colkern.spark.acceleration.recorded import Recorded, witness_of


class SeriesMethods(Operators):
    """What `Series` have besides operators."""

    @property
    def dtype(self) -> Any:
        """The dtype that the column will have."""
        return self._witness.dtype

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
        """The column itself, since it cannot be changed."""
        return self

    def rename(self, index: Any = None) -> Self:
        """The column itself; names of results are not used."""
        if callable(index) or isinstance(index, dict):
            raise self._tracer.refused("Series.rename of the index")
        return self

    def abs(self) -> Self:
        """Absolute values."""
        return self.__abs__()

    def isna(self) -> Self:
        """Where values are null or NaN."""
        self.require_method("isna")
        node, dtype = self._node, self._node.dtype
        if isinstance(dtype, str):
            made: Node = Whole(BOOL, "isna", operations.text_is_null, (node,))
        else:
            expression = "{0} != {0}" if is_float(dtype) else "False"
            made = Fused(BOOL, expression, (node,), (dtype,))
        return self.made(made, self._witness.isna())

    isnull = isna

    def notna(self) -> Self:
        """Where values are neither null nor NaN."""
        return ~self.isna()

    notnull = notna

    def fillna(self, value: Any) -> Self:
        """The column with a value of its own dtype in the place of nulls."""
        self.require_method("fillna")
        other = self.of_own_dtype(value, "fillna")
        witness = self._witness.fillna(witness_of(value))
        node, dtype = self._node, self._node.dtype
        if isinstance(dtype, str):
            if np.any(pd.isna(witness_of(value))):
                raise self._tracer.refused("Series.fillna of texts with a column that has nulls")
            return self.made(Whole(TEXT, "fillna", operations.text_fill, (node, other)), witness)
        if not is_float(dtype):
            return self
        made = Fused(dtype, "{1} if {0} != {0} else {0}", (node, other), (dtype, dtype))
        return self.made(made, witness)

    def where(self, cond: Any, other: Any = np.nan) -> Self:
        """The column where a condition is true, else others of its dtype."""
        self.require_method("where")
        cond = cond(self) if callable(cond) else cond
        other = other(self) if callable(other) else other
        return self._chosen(cond, self, other, "where")

    def mask(self, cond: Any, other: Any = np.nan) -> Self:
        """The column where a condition is false, else others of its dtype."""
        self.require_method("mask")
        cond = cond(self) if callable(cond) else cond
        other = other(self) if callable(other) else other
        return self._chosen(cond, other, self, "mask")

    def _chosen(self, condition: Any, chosen: Any, other: Any, name: str) -> Self:
        """`Series.where` and `mask`; pandas keeps the dtype if the others have it."""
        self.require_operand(condition)
        for side in (chosen, other):
            if side is not self:
                self.of_own_dtype(side, name)
        witness = getattr(self._witness, name)(
            witness_of(condition), witness_of(other if chosen is self else chosen)
        )
        if dtype_of(witness) != self._node.dtype:
            raise self._tracer.refused(f"Series.{name} that changes the dtype")
        return self.made(self.choice(condition, chosen, other, witness, name), witness)

    def clip(self, lower: Any = None, upper: Any = None) -> Self:
        """The column between two bounds of its dtype."""
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
        made = node
        for bound, sign in ((lower, "<"), (upper, ">")):
            if bound is not None:
                # Both bounds are held against the column as it was, as in pandas.
                parts = (made, node, self.of_own_dtype(bound, "clip"))
                expression = f"{{2}} if {{1}} {sign} {{2}} else {{0}}"
                made = Fused(dtype, expression, parts, (dtype,) * 3)
        return self.made(made, self._witness.clip(lower, upper))

    def between(self, left: Any, right: Any, inclusive: str = "both") -> Self:
        """Where values are between two others."""
        self.require_method("between")
        if inclusive not in ("both", "left", "right", "neither"):
            raise self._tracer.refused(f"Series.between with inclusive={inclusive!r}")
        above = self.operate("ge" if inclusive in ("both", "left") else "gt", self, left)
        below = self.operate("le" if inclusive in ("both", "right") else "lt", self, right)
        return self.operate("and_", above, below)

    def isin(self, values: Any) -> Self:
        """Where values are among some constants."""
        self.require_method("isin")
        self.require_numbers("isin")
        among = list(values) if isinstance(values, list | tuple | set | frozenset) else None
        if among is None or not all(isinstance(v, bool | int | float) for v in among):
            raise self._tracer.refused("Series.isin of anything but a list of numbers")

        def isin(array: Any) -> Any:
            return pd.Series(array).isin(among).to_numpy()

        witness = self._witness.isin(among)
        return self.whole("isin", isin, (self,), witness, tuple(map(repr, among)))

    def round(self, decimals: int = 0) -> Self:
        """Rounded to some decimals."""
        self.require_method("round")
        dtype = self.require_numbers("round")
        witness = self._witness.round(decimals)
        if not is_float(dtype) or not isinstance(decimals, int) or not 0 <= decimals <= 22:
            function = operations.rounded(decimals)
            return self.whole("round", function, (self,), witness, (decimals,))
        parts = (self._node, Constant(dtype, 10.0**decimals))
        expression = "np.rint({0} * {1}) / {1}" if decimals else "np.rint({0})"
        return self.made(Fused(dtype, expression, parts, (dtype, dtype)), witness)

    def astype(self, dtype: Any, copy: bool = True) -> Self:
        """The values in another dtype."""
        own = self.require_numbers("astype")
        witness = self._witness.astype(dtype)
        target = self.numbers_of(witness, f"astype({dtype!r})")
        if is_float(own) and target.kind == "i":
            convert = operations.series_as if self.is_series else operations.array_as
            details = (str(target), self.is_series)
            return self.whole("astype", convert(target), (self,), witness, details)
        return self.made(Fused(target, "{0}", (self._node,), (target,)), witness)
