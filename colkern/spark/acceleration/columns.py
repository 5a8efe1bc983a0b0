"""Stand-ins for columns: they record operations on them, and refuse those that are not element-wise."""

from __future__ import annotations

import functools
import linecache
import operator
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa

from colkern.errors import UnsupportedError
from colkern.rows.front import names_in
from colkern.spark.acceleration import graph as g
from colkern.spark.acceleration.element_wise import BY_ROW, ELEMENT_WISE, NEVER, VALUES_DECIDE
from colkern.spark.acceleration.forms import Column
from colkern.spark.acceleration.recorded import (
    ALONE,
    NOT_ELEMENT_WISE,
    WRAPS_SLOWLY,
    Recorded,
    Tracer,
    identity_of,
    table_details,
    witness_of,
)
from colkern.spark.acceleration.row_calls import RowFunction
from colkern.spark.acceleration.series_methods import COMPARISONS, OPERATORS, UNARY, SeriesMethods
from colkern.spark.acceleration.texts import QUICK, QUICK_PARTS, is_table, part_of, text_map

Name: TypeAlias = str
"""A text. Within the class, `str` is the accessor of columns."""


_LABELS = {
    "StringMethods": "Series.str",
    "DatetimeProperties": "Series.dt",
    "ndarray": "numpy.ndarray",
}
"""The names by which users know some classes of pandas and NumPy."""


class TracedColumn(SeriesMethods):
    """The stand-in that a traced body gets for a column, and for results that pandas makes of it."""

    # This priority makes pandas leave an operator of a real column and a stand-in to the stand-in.
    __pandas_priority__ = 10_000

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """The class that the column will have, for `isinstance` in the body."""
        return type(self._witness)

    # NumPy's functions

    def __array_ufunc__(self, ufunc: Any, method: Name, *inputs: Any, **options: Any) -> Any:
        name = ufunc.__name__
        if method == "__call__" and options.keys() == {"out", "where"}:
            (out,) = options["out"]
            return self._written(ufunc, inputs, out, options["where"])
        if ufunc is np.matmul and method == "__call__" and not options:
            return self.times("numpy.matmul", ufunc, *inputs)
        if method != "__call__" or options or ufunc.nout != 1 or ufunc.signature is not None:
            raise self._tracer.refused(f"numpy.{name} with options, or over rows")
        return self.instead(
            lambda: self._quick_ufunc(ufunc, name, inputs),
            lambda: self.in_pandas(f"numpy.{name}", ufunc, *map(self.alone, inputs)),
        )

    def _quick_ufunc(self, ufunc: Any, name: Name, inputs: Sequence[Any]) -> Any:
        for operand in inputs:
            self.require_operand(operand)
        witnesses = list(map(witness_of, inputs))
        if name in OPERATORS and (
            len(inputs) == 2 and any(isinstance(w, pd.Series) for w in witnesses)
        ):
            return self.operate(OPERATORS[name], *inputs)
        if name in UNARY and len(inputs) == 1:
            return self.unary(UNARY[name], ufunc)
        return self.whole(f"ufunc {name}", ufunc, inputs, ufunc(*witnesses))

    def _written(self, ufunc: Any, inputs: Sequence[Any], out: Any, where: Any) -> TracedColumn:
        """Writes results into an array, where a condition is true, and returns the array."""
        results = ufunc(*inputs)
        arrays = [witness_of(each) for each in (out, results)]
        is_alike = g.dtype_of(arrays[0]) is not None and len({*map(g.dtype_of, arrays)}) == 1
        if not (isinstance(out, TracedColumn) and isinstance(arrays[0], np.ndarray) and is_alike):
            raise self._tracer.refused(f"numpy.{ufunc.__name__} with an `out` of another kind")
        chosen: Any = np.where(where, results, out)
        out.become(chosen)
        return out

    def __array_function__(
        self, function: Any, _: Any, arguments: Sequence[Any], options: dict[Name, Any]
    ) -> Any:
        name = function.__name__
        if name == "choose" and "wrap" in (options.get("mode"), *arguments[3:]):
            raise self._tracer.refused(WRAPS_SLOWLY.format(f"numpy.{name}"))
        if function is np.dot and len(arguments) == 2:
            return self.times("numpy.dot", function, *arguments)
        if not _is_element_wise(name, arguments, options):
            raise self._tracer.refused(NOT_ELEMENT_WISE.format(f"numpy.{name}"))
        return self.instead(
            lambda: self._quick_function(function, arguments, options),
            lambda: self.in_pandas(f"numpy.{name}", function, *arguments, is_sure=True, **options),
        )

    def _quick_function(
        self, function: Any, arguments: Sequence[Any], options: dict[Name, Any]
    ) -> Any:
        if function is np.where and len(arguments) == 3:
            return self._selected(*arguments)
        if function is np.select:
            return self._selected_of(*arguments, **options)
        if function in (np.round, np.around):
            return arguments[0].round(*arguments[1:], **options)
        if function is np.clip and len(arguments) == 3:
            return arguments[0].clip(*arguments[1:])
        if function is np.digitize and len(arguments) == 2 and not options:
            return self._digitized(*arguments)
        raise self._tracer.refused(f"numpy.{function.__name__} has no loop")

    def _digitized(self, column: TracedColumn, bounds: Any) -> TracedColumn:
        """`np.digitize`: counts the bounds, given in rising order, that are not above a number; all of them
        for NaN."""
        is_list = isinstance(bounds, list) and all(type(each) in (int, float) for each in bounds)
        if not is_list or not bounds or sorted(bounds) != bounds:
            raise self._tracer.refused("numpy.digitize by anything but a list of rising numbers")
        above = [column < bound for bound in bounds]
        return self._selected_of(above, [*range(len(bounds))], len(bounds))

    def _selected(self, condition: object, chosen: object, other: object) -> TracedColumn:
        """`np.where`."""
        for side in (condition, chosen, other):
            self.require_operand(side)
        witness = np.where(*map(witness_of, (condition, chosen, other)))
        return self.result(self.choice(condition, chosen, other, witness, "numpy.where"), witness)

    def _selected_of(
        self, conditions: object, choices: object, default: object = 0
    ) -> TracedColumn:
        """`np.select`: takes the first of several choices whose condition is true."""
        if not (isinstance(conditions, list) and isinstance(choices, list)):
            raise self._tracer.refused("numpy.select of anything but lists")
        for side in (*conditions, *choices, default):
            self.require_operand(side)
        witness = np.select(
            list(map(witness_of, conditions)), list(map(witness_of, choices)), witness_of(default)
        )
        result = self.node_of(default)
        for condition, choice in zip(reversed(conditions), reversed(choices), strict=True):
            parts = (self.condition(condition), self.node_of(choice), result)
            result = self.choice_of(parts, witness, "numpy.select")
        return self.result(result, witness)

    def apply(self, *arguments: Any, **options: Any) -> Any:
        """Returns the results of a function for each value."""
        return self._of_rows("apply", *arguments, **options)

    def transform(self, func: Any, *arguments: Any, **options: Any) -> Any:
        """Returns the results of a function for each value, or of a method that is given by its name."""
        self.require_method("transform")
        if isinstance(func, str):
            return getattr(self, func)(*arguments, **options)
        if isinstance(func, np.ufunc) and not arguments and not options:
            return func(self)
        if not isinstance(func, types.FunctionType) or not self.is_series:
            raise self.refused("Series.transform of anything but a function or a name")
        # Where the function raises for a value, pandas calls it with the whole column.
        self._witness.apply(func)
        return self._of_rows("transform", func, *arguments, **options)

    def map(self, *arguments: Any, **options: Any) -> Any:
        """Returns the results of a function, or the entries of a table, for each value."""
        return self._of_rows("map", *arguments, **options)

    def _of_rows(self, name: Name, function: Any, *arguments: Any, **options: Any) -> Any:
        plain = self.__getattr__(name)(function, *arguments, **options)
        if isinstance(function, pd.Series) and function.index.is_unique:
            table = function.to_dict()
            # A dictionary holds entries of some dtypes as other values.
            if self._witness.map(table).dtype == plain._witness.dtype:
                function = table
        if name == "map" and self._node.dtype == g.TEXT and not arguments and is_table(function):
            return text_map(self, function)
        skips_nulls = options.pop("na_action", None) == "ignore"
        is_plain = isinstance(function, types.FunctionType) and not arguments and not options
        if not self.is_series or not is_plain:
            return plain
        names = self._tracer.names_of(function)
        call = RowFunction(function, names, skips_nulls=skips_nulls)
        details = (identity_of(function), skips_nulls)
        node = g.Whole(g.OTHER, f"rows.{name}", call, (self._node,), details, ("column",))
        return TracedColumn(node, plain._witness, self._tracer)

    # pandas computes operations that have no quicker form.

    def __getattr__(self, name: Any) -> Any:
        witness = self._witness
        only_tables_have_it = not hasattr(pd.Series, name) and hasattr(pd.DataFrame, name)
        self._tracer.is_of_table |= self.is_series and only_tables_have_it
        self.require_method(name)
        if isinstance(witness, pd.DataFrame) and name in witness.columns:
            return self[name]
        if name in ("str", "dt"):
            return Accessor(self, name)
        if name == "loc":
            return Located(self)
        return self._member(type(witness).__name__, name, self, operator.attrgetter(name))

    def _member(self, owner: Name, name: Name, column: TracedColumn, of: Callable[..., Any]) -> Any:
        """Returns an attribute or method of real columns; `of` reads it from a column."""
        label = _LABELS.get(owner, owner)
        member, label = of(self._witness), f"{label}.{name}"
        has_rows = owner in ("DataFrame", "ndarray") and self._witness.ndim == 2
        is_by_row = has_rows and name in BY_ROW
        if name not in ELEMENT_WISE.get(owner, ()) and not is_by_row:
            self._tracer.is_of_table |= owner == "Series" and name in ELEMENT_WISE["DataFrame"]
            raise self.refused(NOT_ELEMENT_WISE.format(label))
        is_sure = name not in VALUES_DECIDE
        if not callable(member):
            return self.in_pandas(label, of, self, is_sure=is_sure)

        def method(*arguments: Any, **options: Any) -> Any:
            axis = options.get("axis", *arguments[:1] if owner == "ndarray" else ())
            self._tracer.is_of_table |= self.is_series and axis in (1, "columns")
            if options.keys() & NEVER or (is_by_row and axis not in (1, -1, "columns")):
                raise self.refused(f"{label} with these options is not element-wise")
            return self.in_pandas(
                label,
                lambda column, *operands, **named: of(column)(*operands, **named),
                self,
                *arguments,
                is_sure=is_sure,
                **options,
            )

        return method

    def __getitem__(self, key: Any) -> Any:
        witness = self._witness
        names = key if isinstance(key, list) else [key]
        if isinstance(witness, pd.DataFrame) and all(
            isinstance(name, str | int) and name in witness.columns for name in names
        ):
            of = self._column_of(key)
            if of is not None:
                return TracedColumn(of, witness[key], self._tracer)
            return self.in_pandas("DataFrame.__getitem__", operator.getitem, self, key)
        if isinstance(witness, pd.DataFrame) and isinstance(key, int):
            # As pandas does for texts that have fewer parts.
            raise KeyError(key)
        if (
            isinstance(key, TracedColumn)
            and key.node.dtype == g.BOOL
            and self.node.dtype != g.OTHER
        ):
            if key.node.rows or self.node.rows:
                raise self.refused("rows of selected rows are selected")
            selected = g.with_rows(self.node, key.node.identity)
            return type(self)(selected, self._witness, self._tracer)
        if names and all(isinstance(name, str) for name in names):
            self._tracer.is_of_table = True
            raise self.refused(f"a column has no part {key!r}, as a table of a struct's fields has")
        raise self.refused("rows of a column are selected")

    def _column_of(self, key: Any) -> g.Node | None:
        """Returns the column under a name of which this table was made; None if that is not known."""
        names = list(self._witness.columns)
        match self.node:
            case g.Whole(name="pandas.DataFrame", operands=operands, details=details) if isinstance(
                key, str
            ) and details == table_details(names):
                of = operands[names.index(key)]
                return of if of.dtype == g.dtype_of(self._witness[key]) and not of.rows else None
        return None

    def __setitem__(self, key: Any, value: Any) -> None:
        is_frame = isinstance(self._witness, pd.DataFrame)
        if not is_frame and not (isinstance(key, TracedColumn) and key.node.dtype == g.BOOL):
            raise self.refused("rows of a column are assigned to")
        if self._cuts(value):
            raise self.refused("a text that an array of texts may cut is assigned to it")
        if isinstance(value, TracedColumn) and value.node.rows != self.node.rows:
            if value.node.rows != key.node.identity:
                raise self.refused("rows of a column are assigned to other rows")
            value = type(self)(g.with_rows(value.node, b""), value._witness, self._tracer)
        self.become(
            self.instead(
                lambda: self.mask(key, value) if self.is_series else self._with_items(key, value),
                lambda: self.in_pandas("__setitem__", _assigned, self, key, value),
            )
        )

    def _cuts(self, value: Any) -> bool:
        """Whether NumPy may cut a value that is assigned to items of this array of texts."""
        dtype = getattr(self._witness, "dtype", None)
        if not isinstance(dtype, np.dtype) or dtype.kind != "U":
            return False
        return not isinstance(value, str) or np.asarray(value).dtype.itemsize > dtype.itemsize

    def _with_items(self, key: TracedColumn, value: Any) -> TracedColumn:
        """Returns an array with the items where `key` is true replaced by others of its dtype."""
        self.of_own_dtype(value, "__setitem__")
        return self._selected(key, value, self)

    def __setattr__(self, name: Name, value: Any) -> None:
        witness = vars(self).get("_witness")
        if name.startswith("_") or (name == "name" and self.is_series):
            # Names of results are not used.
            super().__setattr__(name, value)
        elif isinstance(witness, pd.DataFrame) and name == "columns":
            named = self.in_pandas("columns", lambda of, to: of.set_axis(to, axis=1), self, value)
            self.become(named)
        elif isinstance(witness, pd.DataFrame) and name in witness.columns:
            self[name] = value
        else:
            raise self.refused(f"{name} of a column is set")

    def tolist(self) -> Any:
        """The values of a Series as a list, over which a loop runs as over the Series."""
        column = self.iterated
        return self.__getattr__("tolist")() if column is None else TracedList.of_column(column)

    to_list = tolist

    @property
    def iterated(self) -> TracedColumn | None:
        """The Series over which a loop runs as over this column; None if there is none."""
        if self.is_series:
            return self
        # Other arrays than those of objects have numbers of NumPy's.
        has_objects = getattr(getattr(self._witness, "dtype", None), "kind", "") == "O"
        match self.node:
            case g.Whole(
                name="Series.values" | "Series.to_numpy", operands=(of,), details=details
            ) if has_objects and details == ALONE:
                return TracedColumn(of, pd.Series(self._witness), self._tracer)
        return None

    @property
    def size(self) -> Length:
        """The number of rows of a column."""
        if self._witness.ndim != 1:
            raise self.refused(LENGTH_TAKEN)
        return Length(self)

    @property
    def shape(self) -> tuple[Any, ...]:
        """The number of rows, and of a table's columns."""
        return (Length(self), *self._witness.shape[1:])

    @property
    def empty(self) -> bool:
        """False: functions get no batch without rows."""
        self.require_method("empty")
        return False


class Length:
    """The stand-in for the number of a column's rows, of which a body gets to know that it is not zero."""

    def __init__(self, column: Recorded) -> None:
        if column.node.rows or isinstance(column._witness, pd.Index):
            raise column.refused(LENGTH_TAKEN)
        self._column, self._witnesses = column, len(column._witness)

    # For `isinstance` in the body.
    __class__ = int  # type: ignore[assignment]

    def filled(self, make: Callable[[int], Any]) -> TracedColumn:
        """Returns the column with one value that a function makes for a number of rows."""
        witness = make(self._witnesses)
        dtype = g.dtype_of(witness)
        # Arrays of texts cut longer ones that are assigned.
        if dtype is None or getattr(witness.dtype, "kind", "") == "U":
            raise self._column.refused("a column of one value that is neither number nor text")
        value = str(witness[0]) if dtype == g.TEXT else witness[0].item()

        def run(column: Column) -> Any:
            rows = len(column.value)
            return pa.repeat(value, rows) if dtype == g.TEXT else np.full(rows, value, dtype)

        node = g.Whole(dtype, g.FULL, run, (self._column.node,), (value,), ("column",))
        self._column._tracer.steps += 1
        return TracedColumn(node, witness, self._column._tracer)

    def __rmul__(self, values: Any) -> TracedList:
        if type(values) is not list or len(values) != 1:
            self.refuse()

        def run(column: Column) -> Column:
            return Column(values * len(column.value), g.OTHER)

        details = (type(values[0]).__name__, repr(values[0]))
        node = g.Whole(g.OTHER, "list", run, (self._column.node,), details, ("column",))
        result = TracedList(node, values * self._witnesses, self._column._tracer)
        result.series = self.filled(lambda rows: pd.Series(values * rows))
        return result

    __mul__ = __rmul__

    def _compared(self, name: Name, other: object) -> bool:
        """Returns the outcome of a comparison that is the same for all numbers of rows."""
        compare = getattr(operator, name)
        if type(other) is int and other < 2 and compare(1, other) == compare(sys.maxsize, other):
            return bool(compare(1, other))
        return self.refuse()

    def refused(self, reason: Name) -> UnsupportedError:
        """Returns an exception to raise for another use of the number of rows."""
        return self._column.refused(reason)

    def refuse(self, *_: object) -> NoReturn:
        """Refuse another use of the number of rows."""
        raise self.refused(LENGTH_TAKEN)

    __index__ = __int__ = __float__ = __add__ = __radd__ = __sub__ = __rsub__ = refuse
    __truediv__ = __rtruediv__ = __floordiv__ = __mod__ = __repr__ = __format__ = __hash__ = refuse


for _name in COMPARISONS:
    setattr(Length, f"__{_name}__", functools.partialmethod(Length._compared, _name))

LENGTH_TAKEN = "the length of a column is asked for"


class TracedList(Recorded):
    """The stand-in for the list of what a loop gives for each row, of which pandas makes columns, or of the
    values of a column."""

    series: TracedColumn  #: The stand-in for `pandas.Series` of the list.
    #: The column whose values the list has; None for the results of a loop.
    iterated: TracedColumn | None = None
    # For `isinstance` in the body.
    __class__ = list  # type: ignore[assignment]

    @classmethod
    def of_column(cls, column: TracedColumn) -> TracedList:
        """Returns the values of a column."""
        values = column.in_pandas("Series.tolist", operator.methodcaller("tolist"), column)
        result = cls(values.node, values._witness, column._tracer)
        result.iterated = column
        result.series = column.in_pandas(
            "pandas.Series", lambda values: pd.Series(values.tolist()), column
        )
        return result

    @classmethod
    def of_rows(
        cls, row: types.FunctionType, variables: dict[Name, object], over: Sequence[Any]
    ) -> TracedList:
        """Returns the results of a row function for the values of columns.

        Args:
            row: The function, generated from text.
            variables: Its globals, as far as they are variables of the traced body.
            over: What the loop runs over, with a stand-in among it.
        """
        tracer: Tracer = next(each._tracer for each in over if isinstance(each, Recorded))
        over = [getattr(each, "iterated", None) for each in over]
        if any(each is None or each.node.rows for each in over):
            raise tracer.refused(VALUES_TAKEN)
        used = sorted(names_in(row.__code__) & variables.keys())
        text = linecache.getlines(row.__code__.co_filename)
        details = (text, tracer.kept([(name, variables[name]) for name in used]))
        witness = list(map(row, *(column._witness for column in over)))
        nodes = tuple(column.node for column in over)
        forms: tuple[g.Form, ...] = tuple(["column" for _ in nodes])
        call = functools.partial(RowFunction, row, row.__globals__)
        values = g.Whole(g.OTHER, "rows.list", call(as_pandas=list), nodes, details, forms)
        result = cls(values, witness, tracer)
        series = g.Whole(g.OTHER, "rows.Series", call(as_pandas=pd.Series), nodes, details, forms)
        result.series = TracedColumn(series, pd.Series(witness), tracer)
        tracer.steps += 1
        return result


def _refusing(reason: Name) -> Callable[..., NoReturn]:
    def refuse(self: TracedColumn | TracedList, *_: object, **__: object) -> NoReturn:
        raise self.refused(reason)

    return refuse


# These need the whole column, or take its values one by one.
VALUES_TAKEN = "the values of a column are taken one by one"

for _reason, _methods in {
    "the truth value of a whole column is asked for, as by `if` or `and`": "__bool__",
    LENGTH_TAKEN: "__len__",
    VALUES_TAKEN: "__iter__",
    "a column is passed to a function that is not NumPy's, or has no rows": "__array__",
    "a column is made into one number": "__float__ __int__ __index__",
    "a column is made into text": "__repr__ __format__",
}.items():
    for _method in _methods.split():
        for _class in (TracedColumn, TracedList):
            setattr(_class, _method, _refusing(_reason))


class Accessor:
    """The accessor `str` or `dt` of a column: its methods of texts or times."""

    def __init__(self, column: TracedColumn, name: Name) -> None:
        self._column, self._name = column, name
        self._of = operator.attrgetter(name)
        self._witness = self._of(column._witness)

    def __getattr__(self, name: Name) -> Any:
        column = self._column
        getattr(self._witness, name)
        if name in ("tz", "unit"):
            return getattr(self._of(column.of_dtype()), name)
        if self._name == "dt" and name in QUICK_PARTS and isinstance(column.node, g.Input):
            return part_of(column, name)
        owner = "StringMethods" if self._name == "str" else "DatetimeProperties"
        plain = column._member(owner, name, column, operator.attrgetter(f"{self._name}.{name}"))
        if self._name == "str" and name in QUICK and column.node.dtype == g.TEXT:

            def method(*arguments: Any, **options: Any) -> Any:
                return column.instead(
                    lambda: QUICK[name](column, *arguments, **options),
                    lambda: plain(*arguments, **options),
                )

            return method
        return plain

    def __getitem__(self, key: Any) -> Any:
        if self._name == "str" and isinstance(key, slice):
            sliced: Any = self.__getattr__("slice")
            return sliced(key.start, key.stop, key.step)
        is_text = self._column.node.dtype == g.TEXT
        return self._column.in_pandas(
            "str[]", lambda column, at: column.str[at], self._column, key, is_sure=is_text
        )


class Located:
    """The `loc` of a column or a table, for assignments to rows."""

    def __init__(self, column: TracedColumn) -> None:
        self._column = column

    def __setitem__(self, key: Any, value: Any) -> None:
        column = self._column
        if column.is_series:
            column[key] = value
        else:
            column.become(column.in_pandas("loc", _assigned, column, key, value, at_rows=True))

    def __getitem__(self, key: Any) -> Any:
        return self._column[key]


def _is_element_wise(name: Name, arguments: Sequence[Any], options: dict[Name, Any]) -> bool:
    """Whether a function of NumPy treats each row by itself."""
    witness = witness_of(arguments[0]) if arguments else None
    axis = options.get("axis")
    if name in BY_ROW:
        return getattr(witness, "ndim", 1) == 2 and axis in (1, -1)
    if name == "stack" and axis not in (1, -1):
        return False
    is_in_place = bool(options.keys() & NEVER) or not options.get("copy", True)
    return name in ELEMENT_WISE["numpy"] and not is_in_place


def _assigned(of: Any, key: Any, value: Any, at_rows: bool = False) -> Any:
    of = of.copy()
    target = of.loc if at_rows else of
    target[key] = value
    return of


def _either(name: Name, quick: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: TracedColumn, *arguments: Any, **options: Any) -> Any:
        return self.instead(
            lambda: quick(self, *arguments, **options),
            lambda: TracedColumn.__getattr__(self, name)(*arguments, **options),
        )

    return method


for _method in ELEMENT_WISE["Series"] - {"values"}:
    if hasattr(SeriesMethods, _method):
        setattr(TracedColumn, _method, _either(_method, getattr(SeriesMethods, _method)))

# Python's message for a missing operator names the class, so the class is named as pandas names it.
TracedColumn.__name__ = "Series"
