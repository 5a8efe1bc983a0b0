"""`aggregate`: several reducers, and Spark's own aggregates beside them, in one pass over the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql.functions import ArrowUDFType

from colkern import schema as s
from colkern.arrays import Array
from colkern.interchange import import_array
from colkern.jit import Reducer
from colkern.operations.grouping import Groups, key_groups
from colkern.rows.reductions import Reduction
from colkern.rows.states import Words
from colkern.spark.functions import compiling
from colkern.spark.functions.batches import require_frame
from colkern.spark.functions.column_functions import column_function_of, spark_function
from colkern.spark.functions.compiling import LeftRows
from colkern.spark.functions.declarations import result_type
from colkern.spark.functions.worker_calls import ArrowFunction, Columns
from colkern.spark.native.functions import default_plan
from colkern.spark.native.reducers import PlannedAggregate
from colkern.spark.types import arrow_schema, spark_type
from colkern.spark.worker_errors import told_plainly

_STATES = "__colkern_states"
_WORDS = s.list_(s.int64())


def aggregate(
    frame: DataFrame,
    by: str | Column | Sequence[str | Column],
    /,
    **aggregates: Column | tuple[object, ...],
) -> DataFrame:
    """A DataFrame of aggregates of each group of rows: reducers, and Spark's own::

        colkern.spark.aggregate(
            orders,
            "shop",
            orders=f.count("*"),
            mean=(weighted_mean, "price", "quantity"),
            deepest=(drawdown, "price"),
        )

    Spark refuses its own aggregates beside those of Python in one `agg`, and shuffles and sorts all rows
    for the latter. Here the reducers run where the rows are, all of them in one pass over each batch, and
    Spark shuffles a state for each group of a batch. Its own aggregates get the rows without Python.

    Args:
        by: The keys: names of columns, or columns. Groups are those of `groupBy`.
        **aggregates: By the names of their columns, Spark's own aggregates, or tuples: a class or
            `ck.reducer` with a `merge`, and the columns of its parameters.

    Returns:
        The keys, and a column for each aggregate in the order given.

    Raises:
        TypeError: If an aggregate is neither, or a column is not of its parameter's type.
        ValueError: If there is no key or no aggregate, a reducer has no `merge`, or another number of
            parameters.
        UnsupportedError: If Spark does not pass a column to Python, or has no type for results.
        CompileError: If a reducer does not compile.

    A reducer whose state consists of sums, least and greatest values of terms of the row becomes
    Spark's own aggregates, without a Python worker; `COLKERN_SPARK_PLAN` is its plan, as of `udf`.

    The states of a group are merged in any order. One that does not fit its kind any more, such as an
    integer of more than 64 bits, is an OverflowError.
    """
    require_frame(frame)
    by_columns = [by] if isinstance(by, str | Column) else list(by)
    if not by_columns or not aggregates:
        raise ValueError("by, aggregates: expected at least one key and one aggregate")
    key_schema = frame.select(*by_columns).schema
    arrow_schema(key_schema)
    # Expressions of keys are computed once, for Spark's aggregates and for the reducers.
    keys = [f"__colkern_key{k}" for k in range(len(by_columns))]
    pairs = zip(by_columns, keys, strict=True)
    rows = frame.select("*", *[_column(key).alias(place) for key, place in pairs])
    native, parts, inputs = {}, {}, list(map(f.col, keys))
    places = {name: name for name in aggregates}
    for name, each in aggregates.items():
        if isinstance(each, Column):
            native[name] = each
            continue
        function, columns = _reducer(name, each)
        types = [field.type for field in arrow_schema(frame.select(*columns).schema).fields]
        planned = PlannedAggregate(_no_column, function, types, default_plan(), True)
        if (own := planned(*columns)) is not None:
            # `explain` knows this name.
            places[name] = f"{name}: {function.name}()"
            native[places[name]] = own
            continue
        parts[name] = _Part(function, types, len(inputs))
        inputs += columns
    if parts:
        states = States(list(parts.values()), len(keys))
        states_of_batch: Any = spark_function(states, spark_type(_WORDS), ArrowUDFType.SCALAR)
        # The results depend on the division of rows into batches: Spark must neither call the function
        # twice for a row, nor filter the rows before it.
        rows = rows.select("*", states_of_batch.asNondeterministic()(*inputs).alias(_STATES))
        if not native:
            rows = rows.where(f.col(_STATES).isNotNull())
        native[_STATES] = f.collect_list(_STATES)
    grouped = rows.groupBy(*keys).agg(*[each.alias(name) for name, each in native.items()])
    results = []
    begin = 0
    for name in aggregates:
        result = f.col(f"`{places[name]}`")
        if name in parts:
            part = parts[name]
            call = _Results(part, begin)
            begin += parts[name].reduction.words
            result = spark_function(
                call, spark_type(result_type(part.function, part.types)), ArrowUDFType.SCALAR
            )(_STATES)
        results.append(result.alias(name))
    names = zip(keys, key_schema.names, strict=True)
    return grouped.select(*[f.col(place).alias(name) for place, name in names], *results)


def _no_column(*_: Column) -> None:
    """Over Arrow, a reducer has states in place of a column."""


def _column(column: str | Column) -> Column:
    return f.col(column) if isinstance(column, str) else column


def _reducer(name: str, aggregate: object) -> tuple[Reducer, list[Column]]:
    """Returns a reducer and the columns of its parameters, as the user gave them."""
    if not isinstance(aggregate, tuple) or not aggregate:
        raise TypeError(
            f"{name}: expected an aggregate of Spark, or a tuple of a reducer and columns, got "
            f"{type(aggregate).__name__}"
        )
    function = column_function_of(aggregate[0])
    if not isinstance(function, Reducer):
        raise TypeError(f"{name}: {function.name} is a {function.KIND}; only reducers aggregate")
    if function.functions.merge is None:
        raise ValueError(
            f"{name}: {function.name} has no merge, so it needs whole groups; see map_groups"
        )
    parameters = [parameter.name for parameter in function.signature.parameters]
    if len(aggregate) - 1 != len(parameters):
        raise ValueError(
            f"{name}: {len(aggregate) - 1} columns for {function.name}({', '.join(parameters)})"
        )
    return function, list(map(_column, aggregate[1:]))


@dataclass(frozen=True)
class _Part:
    """A reducer, the types of its columns, and the place of the first column."""

    function: Reducer
    types: list[s.DataType]
    first: int

    @property
    def reduction(self) -> Reduction:
        """The reducer's plan for these types."""
        return self.function.compiled_reduction(*self.types)

    def states(self, columns: Sequence[Array], groups: Groups) -> Words:
        """Returns the states of the groups of a batch."""
        mine = columns[self.first : self.first + len(self.types)]
        return self.reduction.group_states(mine, columns[0].length, groups, self.function.report())


class States:
    """Workers call this for a batch, `keys` first; returns states in each group's first row, else null."""

    def __init__(self, parts: Sequence[_Part], keys: int) -> None:
        self._parts = parts
        self._keys = keys
        self._left_rows: list[LeftRows] = []

    @told_plainly()
    def __call__(self, *columns: pa.Array) -> pa.Array:
        """Returns the states of the groups of a batch, as lists of words."""
        ours = list(map(import_array, columns))
        if not self._left_rows:
            with compiling.one_process_compiles():
                for part in self._parts:
                    part.function.compile(*part.types)
            self._left_rows = [LeftRows(part.function) for part in self._parts]
        groups = key_groups(ours[: self._keys])
        words = np.hstack([part.states(ours, groups) for part in self._parts])
        others = np.ones(len(columns[0]), np.bool_)
        others[groups.firsts] = False
        offsets = np.zeros(len(others) + 1, np.int32)
        np.cumsum(~others * words.shape[1], out=offsets[1:])
        return pa.ListArray.from_arrays(offsets, words.ravel(), mask=pa.array(others))


class _Results(ArrowFunction):
    """Workers call this with each group's states in lists; the words of this reducer start at `begin`."""

    function: Reducer

    def __init__(self, part: _Part, begin: int) -> None:
        super().__init__(part.function, result_type(part.function, part.types))
        self._part = part
        self._begin = begin

    def _compile(self, columns: Columns) -> None:
        self.function.compile(*self._part.types)

    def _called(self, columns: Columns) -> Array:
        collected: pa.ListArray = columns[0]
        reduction = self._part.reduction
        states = collected.flatten()
        words = states.flatten().to_numpy().reshape(len(states), -1)
        mine = words[:, self._begin : self._begin + reduction.words]
        offsets = np.zeros(len(collected) + 1, np.int64)
        np.cumsum(pc.list_value_length(collected), out=offsets[1:])
        return reduction.results_of_states(np.ascontiguousarray(mine), offsets)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self._part, self._begin)
