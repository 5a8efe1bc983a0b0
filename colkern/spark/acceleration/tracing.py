"""Tracing: a function's body runs on stand-ins for columns."""

from __future__ import annotations

import contextlib
import operator
import types
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from colkern.errors import UnsupportedError
from colkern.generated import function_of_text
from colkern.rows.front import names_in
from colkern.spark.acceleration import graph as g
from colkern.spark.acceleration.columns import Length, TracedColumn, TracedList
from colkern.spark.acceleration.element_wise import ELEMENT_WISE, NEVER
from colkern.spark.acceleration.forms import Column
from colkern.spark.acceleration.original import Body, as_one
from colkern.spark.acceleration.recorded import WRAPS_SLOWLY, Arguments, Recorded, Tracer
from colkern.spark.acceleration.value_loops import COLLECT, LOCALS, ROW, VALUES, collecting


def traced(
    function: Body,
    witnesses: Sequence[pd.Series],
    tracer: Tracer | None = None,
    *,
    over_batches: bool = False,
) -> g.Node:
    """Returns the graph of a function of pandas columns, or of an iterator of them (`over_batches`).

    Args:
        witnesses: For each parameter a column of two rows, of the dtype that it will have.
        tracer: Counts the steps of the trace; None for a new one.

    Raises:
        UnsupportedError: If an operation is not element-wise, or not known; the message names it.
    """
    node = _traced(function, witnesses, tracer or Tracer(), over_batches)
    again = _traced(function, witnesses, Tracer(), over_batches)
    if node.identity != again.identity:
        raise UnsupportedError("it does not do the same in each call")
    return node


def _traced(
    function: Body, witnesses: Sequence[pd.Series], tracer: Tracer, over_batches: bool
) -> g.Node:
    tracer.code = getattr(function, "__code__", None)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            body = function
            if isinstance(function, types.FunctionType):
                body = _Replacing(function.__globals__, tracer).of_function(function)
                tracer.code = body.__code__
            if over_batches:
                result = _for_a_batch(body, partial(_stand_ins, witnesses, tracer))
            else:
                result = body(*_stand_ins(witnesses, tracer, 0))
    except Exception as error:
        # The user's body may raise anything for columns of unexpected dtypes.
        reason = tracer.refusal or f"{type(error).__name__}: {error}"
        raise UnsupportedError(f"{reason}{_line(error, tracer.code)}") from error
    if tracer.refusal is not None:
        raise tracer.refusal
    if not isinstance(result, TracedColumn):
        raise UnsupportedError(
            f"it returns {type(result).__name__}, which does not depend on a column"
        )
    if result.node.rows:
        raise UnsupportedError("it returns selected rows of a column")
    if isinstance(result._witness, np.ndarray):
        raise UnsupportedError("it returns an array, where Spark takes a pandas.Series")
    tracer.require_unchanged()
    tracer.results = result._witness
    return result.node


def _for_a_batch(function: Body, columns: Callable[[int], list[TracedColumn]]) -> object:
    """Returns the result for a batch. The function gets two in both orders, which shows whether it keeps
    state between them."""
    other = len(columns(0))
    yielded = []
    for order in ((0, other), (other, 0)):
        results = _yielded(function, [as_one(columns(start)) for start in order])
        if len(results) != 2 or not all(isinstance(each, TracedColumn) for each in results):
            raise UnsupportedError("it does not yield a column for each batch")
        yielded.append(results)
    first, second = ([each.node.identity for each in results] for results in yielded)
    if first != second[::-1]:
        raise UnsupportedError("what it yields depends on earlier batches")
    return yielded[0][0]


def _yielded(function: Body, batches: Sequence[object]) -> list[Any]:
    """Returns what a function yields for batches, if no variable changes that it has before the first."""
    states: list[dict[str, object]] = []
    generators: list[Any] = []

    def given() -> Iterator[object]:
        for batch in batches:
            states.append(_state(generators[0]))
            yield batch
        states.append(_state(generators[0]))

    generators.append(function(given()))
    results: list[Any] = list(generators[0])
    for name, before in states[0].items() if states else ():
        if any(state.get(name) != before for state in states):
            raise UnsupportedError(
                f"what it yields may depend on earlier batches: it changes {name}"
            )
    return results


def _state(generator: object) -> dict[str, object]:
    """Returns what shows a change of a generator's variables."""
    frame = getattr(generator, "gi_frame", None)
    return {name: _shown(value) for name, value in frame.f_locals.items()} if frame else {}


def _shown(value: object, depth: int = 3) -> object:
    """Returns what shows a change of an object: of what it holds, too, down to a depth."""
    if value is None or isinstance(value, bool | int | float | str | bytes):
        return type(value), repr(value)
    if isinstance(value, set | frozenset):
        return id(value), frozenset(value)
    held: list[object] = []
    if isinstance(value, list | tuple | deque):
        held = [*value]
    elif isinstance(value, dict):
        held = [*value, *value.values()]
    elif isinstance(value, np.ndarray):
        held = [value.tobytes()]
    elif not isinstance(value, type | types.ModuleType | Recorded | pd.Series | pd.DataFrame):
        held = [*getattr(value, "__dict__", {}).values()]
    return id(value), [_shown(each, depth - 1) for each in held] if depth else None


def _stand_ins(witnesses: Sequence[pd.Series], tracer: Tracer, start: int) -> list[TracedColumn]:
    return [
        TracedColumn(g.Input(g.dtype_of(witness) or g.OTHER, position), witness, tracer)
        for position, witness in enumerate(witnesses, start)
    ]


def _line(error: BaseException, code: types.CodeType | None) -> str:
    """Returns the line of the body in which an exception was raised, as text."""
    place, line = error.__traceback__, None
    while place is not None:
        if place.tb_frame.f_code is code:
            line = place.tb_lineno
        place = place.tb_next
    return f" (line {line} of {code.co_filename})" if code is not None and line else ""


# The functions of pandas that take columns


class _Replacing:
    """Copies of functions of one module, in which stand-ins replace some functions of pandas."""

    def __init__(self, names: dict[str, object], tracer: Tracer) -> None:
        self._module = names
        self._tracer, self._replaced = tracer, _replacements(tracer)
        self._copies: dict[types.FunctionType, types.FunctionType] = {}
        self._names = (
            {"len": _length, "type": _type}
            | names
            | {COLLECT: self._collected, LOCALS: locals, VALUES: _values}
        )
        tracer.names[id(self._names)] = names

    def of_function(self, function: types.FunctionType) -> types.FunctionType:
        """Returns the copy of a function of the module."""
        if function in self._copies:
            return self._copies[function]
        code, names = collecting(function), function.__code__.co_freevars
        cells = {name: types.CellType() for name in names}
        around = tuple([cells[name] for name in code.co_freevars])
        copy = types.FunctionType(
            code, self._names, function.__name__, function.__defaults__, around
        )
        copy.__kwdefaults__ = function.__kwdefaults__
        # Functions may refer to themselves.
        self._copies[function] = copy
        for name in names_in(function.__code__) & self._module.keys():
            self._names[name] = self._of(self._module[name])
        for cell, original in zip(cells.values(), function.__closure__ or (), strict=True):
            with contextlib.suppress(ValueError):
                # Reading raises ValueError if the variable has no value yet.
                cell.cell_contents = self._of(original.cell_contents)
        return copy

    def _collected(
        self, source: str, variables: dict[str, object], _: object, *over: Any, strict: bool = False
    ) -> object:
        """Returns the values that a loop gives for what it runs over; see `value_loops`."""
        is_traced = any(isinstance(each, Recorded) for each in over)
        names = (self._module if is_traced else self._names) | variables
        row = function_of_text(ROW, source, names, "loop")
        if is_traced:
            return TracedList.of_rows(row, variables, over)
        return [row(*values) for values in zip(*over, strict=strict)]

    def _of(self, value: object) -> object:
        if isinstance(value, types.FunctionType) and value.__globals__ is self._module:
            return self.of_function(value)
        if isinstance(value, np.vectorize):
            kinds = {name: getattr(value, name) for name in ("otypes", "excluded", "signature")}
            return _vectorize(self._tracer, value.pyfunc, **kinds)
        return next((other for known, other in self._replaced if value is known), _as_table(value))


def _replacements(tracer: Tracer) -> list[tuple[object, object]]:
    """Returns functions of pandas, and the modules, each with its replacement in a traced body."""
    of_pd = {name: _of_pandas(tracer, name) for name in ELEMENT_WISE["pandas"]}
    of_np: dict[str, Callable[..., Any]] = {
        "vectorize": partial(_vectorize, tracer),
        **{name: _full(getattr(np, name)) for name in ("empty", "full", "ones", "zeros")},
        **{name: _of_values(tracer, name) for name in ("array", "asarray", "fromiter")},
        "take": _take,
    }
    modules = [(pd, _Module(pd, of_pd)), (np, _Module(np, of_np))]
    functions = [
        (getattr(module, name), function)
        for module, replaced in ((pd, of_pd), (np, of_np))
        for name, function in replaced.items()
    ]
    return [*modules, *functions]


def _of_pandas(tracer: Tracer, name: str) -> Callable[..., Any]:
    """Returns a function or class of pandas that also takes stand-ins."""
    function = getattr(pd, name)

    def called(*arguments: Any, **options: Any) -> Any:
        columns = Arguments((arguments, options)).columns
        if not columns and (arguments or options or name != "DataFrame"):
            return function(*arguments, **options)
        first = arguments[0] if arguments else None
        # The index of a column is a range.
        is_whole = options.keys() <= {"name", "index"} and (
            "index" not in options or isinstance(options["index"], TracedColumn)
        )
        if isinstance(first, TracedList) and name == "Series" and is_whole:
            return first.series
        index = options.get("index")
        if name == "Series" and np.isscalar(first) and isinstance(index, TracedColumn):
            filled = _of_index(index, arguments, options)
            if filled is not None:
                return filled
        if isinstance(first, TracedColumn) and first.node.dtype != g.OTHER and not first.node.rows:
            if name in _OF_A_COLUMN:
                return getattr(_series(first), name)()
            if name == "Series" and is_whole:
                return _series(first)
        is_joined = name == "concat" and options.get("axis") not in (1, "columns")
        if options.keys() & NEVER or is_joined:
            raise tracer.refused(f"pandas.{name} with these options is not element-wise")
        return TracedColumn.recorded(
            tracer, f"pandas.{name}", function, arguments, options, is_sure=False
        )

    if isinstance(function, type):
        return _Class(name, (), {"of": function, "called": staticmethod(called)})
    return called


def _of_values(tracer: Tracer, name: str) -> Callable[..., Any]:
    """Returns a function of NumPy that makes an array, also of a stand-in."""
    function = getattr(np, name)

    def called(*arguments: Any, **options: Any) -> Any:
        if not isinstance(arguments[0] if arguments else None, TracedColumn | TracedList):
            return _as_table(function(*arguments, **options))
        first = arguments[0]
        if function is np.asarray and isinstance(first._witness, np.ndarray):
            if arguments[1:] or options:
                raise first.refused("numpy.asarray of an array with options")
            return first
        # The count of values says nothing new.
        if options.get("copy", True) is not True:
            raise first.refused(f"numpy.{name} may share the memory of an array")
        arguments = tuple(each for each in arguments if not isinstance(each, Length))
        options = {key: each for key, each in options.items() if not isinstance(each, Length)}
        if isinstance(arguments[0], TracedList):
            return _array_of(arguments[0], function, arguments[1:], options)
        return TracedColumn.recorded(
            tracer, f"numpy.{name}", function, arguments, options, is_sure=True
        )

    return called


def _vectorize(tracer: Tracer, function: Callable[..., Any], **kinds: Any) -> Callable[..., Any]:
    real = np.vectorize(function, **kinds)

    def called(*arguments: Any, **options: Any) -> Any:
        if not Arguments((arguments, options)).columns:
            return real(*arguments, **options)
        return TracedColumn.recorded(
            tracer,
            "numpy.vectorize",
            lambda each, kinds, given, **named: np.vectorize(each, **kinds)(*given, **named),
            (function, kinds, arguments),
            options,
        )

    return called


def _array_of(
    values: TracedList,
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    options: dict[str, Any],
) -> TracedColumn:
    """Returns the array that a function of NumPy makes of a loop's list: the compiled results themselves,
    where they are of its dtype."""
    call = Arguments((arguments, options))
    if call.columns:
        raise values.refused("an array of a list with other columns")
    details = (values._tracer.kept(call.given),)
    witness = function(values._witness, *arguments, **options)

    def run(column: Column) -> Any:
        results = column.value
        if isinstance(results, pa.Array) and results.type in _PLAIN and not results.null_count:
            array = results.to_numpy()
            if array.dtype == witness.dtype:
                return array
        return function(column.pandas, *arguments, **options)

    dtype = g.dtype_of(witness) or g.OTHER
    if not isinstance(dtype, str) and dtype.kind == "i":
        # With nulls in a column, the results may be floats.
        dtype = g.OTHER
    values._tracer.steps += 1
    node = g.Whole(dtype, f"numpy.{function.__name__}", run, (values.node,), details, ("column",))
    return TracedColumn(node, witness, values._tracer)


_PLAIN = (pa.float64(), pa.int64())
"""The types of results of which lists become arrays of the same type."""


def _values(given: Any) -> Any:
    """Returns the values of the items of an object: of a column, the column itself."""
    is_column = isinstance(given, TracedColumn) and given.is_series
    return given if is_column else [value for _, value in given.items()]


def _length(value: Any) -> Any:
    """Returns the length of an object, as `len` does; a stand-in for that of a column."""
    return Length(value) if isinstance(value, TracedColumn | TracedList) else len(value)


def _type(value: Any, *others: Any) -> Any:
    """Returns what `type` does; refuses a stand-in, which is of no class of pandas."""
    if isinstance(value, Recorded | Length):
        raise value.refused("the type of a column is asked for")
    return type(value, *others)


def _full(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function of NumPy that makes an array of one value, also for the length of a column."""

    def called(shape: Any, *arguments: Any, **options: Any) -> Any:
        rows = shape[0] if type(shape) is tuple and len(shape) == 1 else shape
        if not isinstance(rows, Length):
            return function(shape, *arguments, **options)
        if any(isinstance(v, list | tuple | np.ndarray) for v in (*arguments, *options.values())):
            rows.refuse()
        # What `empty` leaves in memory may be anything.
        fill = np.zeros if function is np.empty else function
        return rows.filled(lambda count: fill(count, *arguments, **options))

    return called


def _of_index(
    index: TracedColumn, arguments: tuple[Any, ...], options: dict[str, Any]
) -> TracedColumn | None:
    """Returns `pandas.Series(value, index=column.index)`; None for another index, or a value that only
    pandas has."""

    def series_of(count: int) -> pd.Series:
        return pd.Series(*arguments, **options | {"index": pd.RangeIndex(count)})

    match index.node:
        case g.Whole(name="Series.index", operands=(of,)) if g.dtype_of(series_of(1)) is not None:
            column = TracedColumn(of, pd.Series(index._witness), index._tracer)
            return Length(column).filled(series_of)
    return None


class _Table(np.ndarray):
    """A constant array, from which a column of places takes items."""

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, TracedColumn):
            return super().__getitem__(key)
        kind = getattr(getattr(key._witness, "dtype", None), "kind", "")
        if kind not in ("i", "u"):
            raise key.refused("items of an array at places that are no integers")
        return key.in_pandas(
            "numpy.ndarray[]", operator.getitem, np.asarray(self), key, is_sure=True
        )


def _as_table(value: Any) -> Any:
    """Returns a constant array as one from which columns take items; other values as they are."""
    return value.view(_Table) if type(value) is np.ndarray else value


def _take(table: Any, indices: Any, *arguments: Any, **options: Any) -> Any:
    """`np.take`, also of items of a constant array at the places that a column has."""
    if isinstance(table, Recorded) or not isinstance(indices, TracedColumn):
        return np.take(table, indices, *arguments, **options)
    if arguments or options.keys() - {"mode"}:
        raise indices.refused("numpy.take along an axis")
    if options.get("mode") == "wrap":
        raise indices.refused(WRAPS_SLOWLY.format("numpy.take"))
    return indices.in_pandas(
        "numpy.take", np.take, np.asarray(table), indices, is_sure=True, **options
    )


_OF_A_COLUMN = ("isna", "isnull", "notna", "notnull")
"""Functions of pandas that are methods of columns."""


def _series(column: TracedColumn) -> TracedColumn:
    """Returns a column as a Series."""
    return TracedColumn(column.node, pd.Series(column._witness), column._tracer)


class _Class(type):
    """The classes that stand for those of pandas: calls are recorded, and columns are their instances."""

    of: type
    called: Callable[..., Any]

    def __call__(cls, *arguments: Any, **options: Any) -> Any:
        return cls.called(*arguments, **options)

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, cls.of)


class _Module(types.SimpleNamespace):
    """A module with some functions replaced."""

    def __init__(self, module: types.ModuleType, replaced: dict[str, Any]) -> None:
        super().__init__(**replaced)
        self._module = module

    def __getattr__(self, name: str) -> object:
        return getattr(self._module, name)
