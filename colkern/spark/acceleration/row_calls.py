"""`Series.apply` and `map` of a plain function of one value, compiled as a row function where possible."""

from __future__ import annotations

import types
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from colkern import schema as s
from colkern.errors import CompileError, UnsupportedError
from colkern.jit import Udf, udf
from colkern.rows.terms import NoTermError
from colkern.spark.acceleration.forms import Column
from colkern.spark.acceleration.nodes import OTHER
from colkern.spark.native.functions import Typed, term_of

_REFUSED = (CompileError, UnsupportedError)


class RowFunction:
    """Calls a function for the values of a column, as pandas does.

    Args:
        function: Takes one value.
        names: The globals of the function, as they were before the trace.
        skips_nulls: Whether nulls stay nulls without a call, as with `na_action="ignore"`.
    """

    def __init__(
        self, function: types.FunctionType, names: dict[str, Any], *, skips_nulls: bool
    ) -> None:
        self._plain = _with(function, names)
        self._skips_nulls = skips_nulls
        rows = {name: _OF_A_ROW for name, value in names.items() if value is pd}
        # Hints convert nothing here, as they convert nothing in pandas.
        self._compiled: Udf | None = udf(_with(function, names | rows))

    def __call__(self, column: Column) -> Column:
        """Returns the results in Arrow's memory; they become pandas when pandas reads them."""
        values = self._values(column)
        if self._compiled is not None and values is not None:
            present = values.drop_null() if values.null_count else values
            try:
                results = pa.array(self._compiled(present))
            except _REFUSED:
                self._compiled = None
            else:
                return self._with_nulls(column, values, results)
        action = "ignore" if self._skips_nulls else None
        return Column(column.pandas.map(self._plain, na_action=action), OTHER)

    def term(self, column: s.DataType) -> Typed:
        """Returns the function of a value that is not null, as a term.

        Raises:
            NoTermError: If the function has no term.
        """
        try:
            if self._compiled is None:
                raise NoTermError("it is not compiled", 0)
            return term_of(self._compiled, [column])
        except _REFUSED as error:
            raise NoTermError(str(error), 0) from error

    def of_null(self, null: Any) -> Any:
        """Returns the function's result for a null, which pandas represents by `null`."""
        return null if self._skips_nulls else self._plain(null)

    def _values(self, column: Column) -> pa.Array | None:
        """Returns the values that the function gets; None if the values of pandas differ from Arrow's."""
        series = column.pandas
        if series.dtype.kind in "ifb" and isinstance(series.dtype, np.dtype):
            return pa.array(series.to_numpy(), from_pandas=self._skips_nulls)
        if series.dtype.kind == "M" and series.dt.tz is None:
            return pa.array(series).cast(pa.timestamp("us"))
        values = column.value
        if not isinstance(values, pa.Array) or pa.types.is_nested(values.type):
            return None
        return values

    def _with_nulls(self, column: Column, values: pa.Array, results: pa.Array) -> Column:
        """Returns the results; rows that are null in pandas get the function's result for null."""
        if not values.null_count:
            return Column(results, OTHER, _as_pandas)
        row = values.is_null().index(True).as_py()
        null = column.pandas.iloc[row]
        of_null = self.of_null(null)
        places = values.is_valid().to_numpy(zero_copy_only=False)
        is_nullable = pa.types.is_string(results.type) or pa.types.is_floating(results.type)
        if is_nullable and pd.isna(of_null):
            indices = pa.array(np.cumsum(places) - 1, mask=~places)
            return Column(results.take(indices), OTHER, _as_pandas)
        if isinstance(of_null, str) and pa.types.is_string(results.type):
            filled = pc.replace_with_mask(
                pa.array([of_null]).take(pa.array(np.zeros(len(values), np.int64))),
                pa.array(places),
                results,
            )
            return Column(filled, OTHER, _as_pandas)
        objects = np.full(len(values), of_null, dtype=object)
        objects[places] = results.to_pylist()
        return Column(pd.Series(objects).map(_itself), OTHER)


def _with(function: types.FunctionType, names: dict[str, Any]) -> types.FunctionType:
    copy = types.FunctionType(
        function.__code__, names, function.__name__, function.__defaults__, function.__closure__
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__qualname__ = function.__qualname__
    return copy


def _as_pandas(results: pa.Array) -> pd.Series:
    """Returns results as pandas makes a column of a function's results."""
    if results.type in (pa.int64(), pa.float64()) and not results.null_count:
        return pd.Series(results.to_numpy())
    return pd.Series(results.to_pylist(), dtype=object).map(_itself)


def _itself(value: Any) -> Any:
    return value


def _isna(value: Any) -> bool:
    return value is None or value != value


def _notna(value: Any) -> bool:
    return not (value is None or value != value)


_OF_A_ROW = types.ModuleType("pandas")
"""The part of pandas that functions of one value use."""

for _name, _function in (
    ("isna", _isna),
    ("isnull", _isna),
    ("notna", _notna),
    ("notnull", _notna),
):
    setattr(_OF_A_ROW, _name, _function)
