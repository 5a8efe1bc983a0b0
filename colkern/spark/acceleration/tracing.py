"""Tracing: a function's body is run on stand-ins for columns."""

from __future__ import annotations

import contextlib
import types
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from colkern.errors import UnsupportedError
from colkern.spark.acceleration.columns import TracedColumn
from colkern.spark.acceleration.dtypes import dtype_of
from colkern.spark.acceleration.nodes import Input, Node
from colkern.spark.acceleration.original import as_one
from colkern.spark.acceleration.tracer import Tracer


def traced(
    function: Callable[..., Any],
    witnesses: Sequence[Any],
    tracer: Tracer | None = None,
    *,
    over_batches: bool = False,
) -> Node:
    """What a function does to its columns.

    Args:
        function: A function of pandas' columns.
        witnesses: For each parameter a column of two rows, of the dtype that it will have.
        tracer: What to tell how far the trace got; None for a new one.
        over_batches: Whether it takes an iterator of batches, and yields.

    Raises:
        UnsupportedError: If it does anything that is not element-wise or not known; says what.
    """
    call = _call_with_batches if over_batches else _call
    found, again = (
        _traced(function, witnesses, each, call) for each in (tracer or Tracer(), Tracer())
    )
    if found.identity != again.identity:
        raise UnsupportedError("what it does differs from call to call")
    return found


def _traced(
    function: Callable[..., Any], witnesses: Sequence[Any], tracer: Tracer, call: Callable[..., Any]
) -> Node:
    columns = [_stand_in(k, witness, tracer) for k, witness in enumerate(witnesses)]
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            made = call(_with_stand_ins(function, tracer), columns)
    except Exception as error:
        # The body is the user's, and may raise anything for columns of other dtypes than it expects.
        reason = tracer.refusal or f"{type(error).__name__}: {error}"
        raise UnsupportedError(f"{reason}{_line(error, function)}") from error
    if tracer.refusal is not None:
        raise tracer.refusal
    if not isinstance(made, TracedColumn):
        raise UnsupportedError(f"it returns {type(made).__name__}, which follows from no column")
    if not made.is_series:
        raise UnsupportedError("it returns an array, where Spark takes a pandas.Series")
    return made.node


def _call(function: Callable[..., Any], columns: list[TracedColumn]) -> Any:
    return function(*columns)


def _call_with_batches(function: Callable[..., Any], columns: list[TracedColumn]) -> Any:
    """What is yielded for a batch; two are given, so that what is kept from the first shows."""
    yielded = list(function(iter([as_one(columns)] * 2)))
    if len(yielded) != 2 or not all(isinstance(made, TracedColumn) for made in yielded):
        raise UnsupportedError("it does not yield a column for each batch")
    if yielded[0].identity != yielded[1].identity:
        raise UnsupportedError("what it yields depends on earlier batches")
    return yielded[0]


def _stand_in(position: int, witness: Any, tracer: Tracer) -> TracedColumn:
    dtype = dtype_of(witness)
    if dtype is None:
        found = getattr(witness, "dtype", type(witness).__name__)
        hint = " (as pandas has booleans with nulls)" if str(found) == "object" else ""
        raise UnsupportedError(f"column {position} has the dtype {found}{hint}")
    return TracedColumn(Input(dtype, position), witness, tracer)


def _line(error: BaseException, function: Callable[..., Any]) -> str:
    """Where in the body an exception was raised."""
    code = getattr(function, "__code__", None)
    place, line = error.__traceback__, None
    while place is not None:
        if place.tb_frame.f_code is code:
            line = place.tb_lineno
        place = place.tb_next
    return f" (line {line} of {code.co_filename})" if code is not None and line else ""


# The functions of pandas that take columns


def _with_stand_ins(function: Callable[..., Any], tracer: Tracer) -> Callable[..., Any]:
    """The function with those of pandas' functions replaced that take no stand-ins for columns.

    So are they in the functions that it calls from its own module.
    """
    if not isinstance(function, types.FunctionType):
        return function
    return _Replacing(function.__globals__, _Replaced(tracer)).of_function(function)


class _Replacing:
    """Copies of functions of one module, in which names stand for other things.

    Args:
        names: The names of the module.
        replaced: What stands for what.
    """

    def __init__(self, names: dict[str, Any], replaced: _Replaced) -> None:
        self._module = names
        self._replaced = replaced
        self._copies: dict[types.FunctionType, types.FunctionType] = {}
        self._names: dict[str, Any] = {}
        for name, value in names.items():
            self._names[name] = self._of(value)

    def of_function(self, function: types.FunctionType) -> types.FunctionType:
        """The copy of a function of the module."""
        if function in self._copies:
            return self._copies[function]
        cells = tuple([types.CellType() for _ in function.__closure__ or ()])
        made = types.FunctionType(
            function.__code__, self._names, function.__name__, function.__defaults__, cells
        )
        made.__kwdefaults__ = function.__kwdefaults__
        # Functions may lead back to themselves.
        self._copies[function] = made
        for cell, kept in zip(cells, function.__closure__ or (), strict=True):
            with contextlib.suppress(ValueError):
                # A variable that has no value yet raises it.
                cell.cell_contents = self._of(kept.cell_contents)
        return made

    def _of(self, value: Any) -> Any:
        if isinstance(value, types.FunctionType) and value.__globals__ is self._module:
            return self.of_function(value)
        return self._replaced.of(value)


class _Replaced:
    """What stands for pandas, and for its functions, in a traced body."""

    def __init__(self, tracer: Tracer) -> None:
        def series(data: Any = None, *arguments: Any, **options: Any) -> Any:
            if not isinstance(data, TracedColumn):
                return pd.Series(data, *arguments, **options)
            if arguments or options.keys() - {"name"}:
                raise tracer.refused("pandas.Series with an index, or options")
            return TracedColumn(data._node, pd.Series(data._witness), tracer)

        def isna(values: Any) -> Any:
            return _is_na(values) if isinstance(values, TracedColumn) else pd.isna(values)

        def notna(values: Any) -> Any:
            return ~_is_na(values) if isinstance(values, TracedColumn) else pd.notna(values)

        self._functions: list[tuple[Any, Any]] = [
            (pd.Series, series),
            (pd.isna, isna),
            (pd.isnull, isna),
            (pd.notna, notna),
            (pd.notnull, notna),
        ]
        self._pandas = _Pandas({"Series": series, "isna": isna, "notna": notna})
        self._pandas.isnull, self._pandas.notnull = isna, notna

    def of(self, value: Any) -> Any:
        if value is pd:
            return self._pandas
        return next((made for known, made in self._functions if value is known), value)


class _Pandas(types.SimpleNamespace):
    """The module pandas, with some functions replaced."""

    def __init__(self, replaced: dict[str, Any]) -> None:
        super().__init__(**replaced)

    def __getattr__(self, name: str) -> Any:
        return getattr(pd, name)


def _is_na(column: TracedColumn) -> TracedColumn:
    return TracedColumn(column._node, pd.Series(column._witness), column._tracer).isna()
