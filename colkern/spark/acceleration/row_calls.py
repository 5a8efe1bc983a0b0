"""Functions of values, as of `Series.apply`, `map` and loops: row functions where they compile."""

from __future__ import annotations

import ast
import functools
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from colkern import schema as s
from colkern.errors import CompileError, UnsupportedError
from colkern.jit import Udf, udf
from colkern.rows.front import node_of
from colkern.rows.terms import NoTermError
from colkern.spark.acceleration import graph as g
from colkern.spark.acceleration.forms import AnyArray, Column
from colkern.spark.native.functions import Typed, term_of

_REFUSED = (CompileError, UnsupportedError)


class RowFunction:
    """Calls a function for the values of columns, as pandas or a loop does.

    Args:
        function: Takes a value of each column.
        names: The globals of the function, as they were before the trace.
        skips_nulls: Whether nulls stay nulls without a call, as with `na_action="ignore"`.
        as_pandas: Makes the pandas form of a list of results; None for a column as `Series.map` makes it.
    """

    def __init__(
        self,
        function: types.FunctionType,
        names: dict[str, Any],
        *,
        skips_nulls: bool = False,
        as_pandas: Callable[[list[Any]], Any] | None = None,
    ) -> None:
        self._plain = _with(function, names)
        self._lists = _read_alike(function, names)
        self._skips_nulls = skips_nulls
        self._as_pandas = as_pandas
        rows = {name: _OF_A_ROW for name, value in names.items() if value is pd}
        # Hints convert nothing here, as they convert nothing in pandas.
        self._compiled: Udf | None = None
        self._refusal: Exception = UnsupportedError("a column of another type")
        try:
            self._compiled = udf(_with(function, names | rows))
        except (TypeError, *_REFUSED) as error:
            # A library's function may have parameters that no row function has.
            self._refusal = error

    def __call__(self, *columns: Column) -> Column:
        """Returns the results in Arrow's memory; they become pandas when pandas reads them."""
        places = enumerate(columns)
        values = [v for v in (self._values(column, k) for k, column in places) if v is not None]
        if self._compiled is not None and len(values) == len(columns):
            is_valid = functools.reduce(pc.and_, [each.is_valid() for each in values])
            has_nulls = any(each.null_count for each in values)
            present = [each.filter(is_valid) for each in values] if has_nulls else values
            try:
                results = pa.array(self._compiled(*present))
            except _REFUSED as error:
                self._compiled, self._refusal = None, error
            else:
                if has_nulls:
                    return self._with_nulls(columns, is_valid.to_numpy(False), results)
                return self._column(results, columns)
        if self._as_pandas is not None:
            # The loop itself may keep state from row to row.
            raise UnsupportedError(f"a loop over values: {self._refusal}")
        return Column(self._in_python(columns), g.OTHER)

    def term(self, columns: list[s.DataType]) -> Typed:
        """Returns the function of values that are not null, as a term; raises NoTermError if the function
        has no term."""
        try:
            if self._compiled is None:
                raise NoTermError("it is not compiled")
            return term_of(self._compiled, columns)
        except _REFUSED as error:
            raise NoTermError(str(error)) from error

    def of_null(self, null: Any) -> Any:
        """Returns the function's result for a null, which pandas represents by `null`."""
        return null if self._skips_nulls else self._plain(null)

    def _values(self, column: Column, place: int) -> pa.Array | None:
        """Returns the values that the function gets; None if the values of pandas differ from Arrow's."""
        values = column.value
        if isinstance(values, pa.ListArray):
            is_any = self._lists.get(place, False) or pa.types.is_string(values.type.value_type)
            return values if is_any and place in self._lists and column.is_exact else None
        series = column.pandas
        if series.dtype.kind in "ifb" and isinstance(series.dtype, np.dtype):
            return pa.array(series.to_numpy(), from_pandas=self._skips_nulls)
        if series.dtype.kind == "M" and series.dt.tz is None:
            return pa.array(series).cast(pa.timestamp("us"))
        is_taken = isinstance(values, pa.Array) and not pa.types.is_nested(values.type)
        return values if is_taken and column.is_exact else None

    def _with_nulls(
        self, columns: Sequence[Column], is_valid: AnyArray, results: pa.Array
    ) -> Column:
        """Returns the results of all rows; Python computes those of rows that are null in pandas."""
        rows = np.flatnonzero(~is_valid)
        if len(columns) == 1:
            others = [self.of_null(columns[0].rows(rows[:1]).iloc[0])] * len(rows)
        else:
            others = list(map(self._plain, *(column.rows(rows) for column in columns)))
        is_nullable = any(test(results.type) for test in _NULLABLE)
        if is_nullable and all(map(pd.isna, others)):
            added = pa.nulls(len(others), results.type)
        elif {*map(type, others)} == {_VALUES.get(results.type)}:
            added = pa.array(others, results.type)
        elif not _is_exact(results.type):
            return Column(self._in_python(columns), g.OTHER)
        else:
            known, called = iter(_values_of(results)), iter(others)
            mixed = [next(known if each else called) for each in is_valid]
            return Column((self._as_pandas or _mapped)(mixed), g.OTHER)
        order = np.empty(len(is_valid), np.int64)
        order[is_valid] = np.arange(len(results))
        order[rows] = np.arange(len(results), len(is_valid))
        every = pa.concat_arrays([results, added]).take(pa.array(order))
        return self._column(every, columns)

    def _column(self, results: pa.Array, columns: Sequence[Column]) -> Column:
        """Returns results as a column; pandas gets what Python gives, where Arrow's values are others."""
        if _is_exact(results.type):
            return Column(results, g.OTHER, self._made)
        return Column(results, g.OTHER, lambda _: self._in_python(columns), is_exact=False)

    def _in_python(self, columns: Sequence[Column]) -> Any:
        """Returns the results of the plain function, as pandas makes a column of them."""
        if self._as_pandas is not None:
            return self._as_pandas(list(map(self._plain, *(each.pandas for each in columns))))
        action = "ignore" if self._skips_nulls else None
        return columns[0].pandas.map(self._plain, na_action=action)

    def _made(self, results: pa.Array) -> Any:
        """Returns results as pandas makes a column of them, or as the list that a loop makes."""
        is_plain = results.type in (pa.int64(), pa.float64()) and not results.null_count
        if is_plain and self._as_pandas is not list:
            return pd.Series(results.to_numpy())
        return (self._as_pandas or _mapped)(_values_of(results))


_VALUES = {pa.string(): str, pa.float64(): float, pa.int64(): int, pa.bool_(): bool}
"""The types of the values of some results."""


_NULLABLE = (pa.types.is_string, pa.types.is_floating, pa.types.is_decimal)
"""The types of results that are the same where other rows are null."""

_INEXACT = (pa.types.is_map, pa.types.is_decimal)
"""Types whose values are other objects than those of the function: its decimals may have another number of
zeros at the end."""


def _is_exact(type_: pa.DataType) -> bool:
    """Whether `_values_of` gives the values that the function itself gives."""
    fields = [type_.field(place) for place in range(type_.num_fields)]
    parts = [field.type for field in fields]
    if pa.types.is_struct(type_) and any(f"f{k}" != each.name for k, each in enumerate(fields)):
        # Its values are no tuples.
        return False
    if any(map(pa.types.is_struct, parts)) or any(test(type_) for test in _INEXACT):
        return False
    return all(map(_is_exact, parts))


def _values_of(results: pa.Array) -> list[Any]:
    """Returns results as Python's values; structs are tuples."""
    values: list[Any] = results.to_pylist()
    if not pa.types.is_struct(results.type):
        return values
    return [None if value is None else (*value.values(),) for value in values]


def _mapped(values: list[Any]) -> pd.Series:
    """Returns the column that `Series.map` makes of a function's results."""
    return pd.Series(values, dtype=object).map(lambda value: value)


def _read_alike(function: types.FunctionType, names: dict[str, Any]) -> dict[int, bool]:
    """Returns the places of the parameters that a function reads only in ways in which lists and pandas'
    arrays of their items are alike: lists of text, and, where the value is True, all lists."""
    try:
        tree = node_of(function)
    except CompileError:
        return {}
    of_text, of_any = list[ast.AST](), list[ast.AST]()
    for each in ast.walk(tree):
        match each:
            case ast.Call(ast.Name("len"), [value], []) | ast.Compare(
                value, [ast.Is() | ast.IsNot()], [ast.Constant(None)]
            ):
                of_any.append(value)
            case ast.Call(ast.Name(name), values) if name in _OF_ITEMS:
                of_text += values
            case ast.Call(ast.Attribute(ast.Constant(), "join"), values):
                of_text += values
            case ast.Compare(ast.Constant(str(text)), _, [value]) if text == text.rstrip("\0"):
                # In an array, NumPy looks for texts without the NULs at their end.
                of_text += [value] if isinstance(each.ops[0], ast.In | ast.NotIn) else []
            case (
                ast.For(iter=value)
                | ast.comprehension(iter=value)
                | ast.Subscript(
                    value, ast.Constant(int()) | ast.UnaryOp(ast.USub(), ast.Constant(int()))
                )
            ):
                of_text.append(value)
    uses = [each for each in ast.walk(tree) if isinstance(each, ast.Name)]
    stored = {each.id for each in uses if not isinstance(each.ctx, ast.Load)}
    parameters = [each.arg for each in (*tree.args.posonlyargs, *tree.args.args)]
    alike = {}
    for place, parameter in enumerate(parameters):
        own = [each for each in uses if each.id == parameter and each not in of_any]
        if parameter not in stored and all(each in of_text for each in own):
            alike[place] = not own
    return {} if _OF_ITEMS & {*names, *parameters, *stored} else alike


_OF_ITEMS = {"enumerate", "len", "list", "set", "sorted", "tuple", "zip"}
"""Builtin functions that give for an array of texts what they give for a list."""


def _with(function: types.FunctionType, names: dict[str, Any]) -> types.FunctionType:
    copy = types.FunctionType(
        function.__code__, names, function.__name__, function.__defaults__, function.__closure__
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__qualname__ = function.__qualname__
    return copy


def _isna(value: Any) -> bool:
    return value is None or value != value


def _notna(value: Any) -> bool:
    return not (value is None or value != value)


_OF_A_ROW = types.ModuleType("pandas")
"""The part of pandas that functions of one value use."""

vars(_OF_A_ROW).update(isna=_isna, isnull=_isna, notna=_notna, notnull=_notna)
