"""`read` with functions: a DataFrame whose tasks read parts of files and apply functions to their rows.

Only results go to Spark. Of reducers, these are states, which Spark's last task merges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import pyarrow as pa
from pyspark.sql import datasource as spark

from colkern import schema as s
from colkern.arrays import Array, RecordBatch
from colkern.builders import array as new_array
from colkern.interchange import import_batch
from colkern.jit import Reducer
from colkern.layouts import Role
from colkern.operations import nulls
from colkern.rows.reductions import Reduction
from colkern.rows.states import Words
from colkern.spark.functions import compiling
from colkern.spark.functions.column_functions import column_function_of
from colkern.spark.functions.compiling import LeftRows
from colkern.spark.functions.declarations import result_type
from colkern.spark.functions.results import conformed_columns, first_failing
from colkern.spark.functions.worker_calls import ArrowFunction
from colkern.spark.source.contents import Rows
from colkern.spark.source.filters import filters_text, mask_of, parsed_filters, path_of
from colkern.spark.source.planning import Plan, SourcePartition
from colkern.spark.source.reading import Request, wanted_rows
from colkern.spark.types import spark_schema
from colkern.spark.worker_errors import told_plainly

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from colkern.spark.functions.declarations import ColumnFunction


Result = TypeVar("Result")


def parameters_of(function: ColumnFunction) -> list[str]:
    """Returns the names of a function's parameters, which are columns of the files."""
    return [parameter.name for parameter in function.signature.parameters]


def located(name: str, rows: Rows, attempt: Callable[[int], Result]) -> Result:
    """Returns `attempt(n)` for all n rows; a note on an exception names the first row that fails."""
    try:
        return attempt(rows.batch.length)
    except Exception as error:
        row = first_failing(attempt, rows.batch.length) or 0
        error.add_note(f"{name}: {rows.place(row)} of {rows.path}")
        raise


@dataclass(frozen=True, slots=True)
class Call:
    """A compiled function of columns of the rows that are read."""

    function: ArrowFunction
    columns: Sequence[str]

    @classmethod
    def of(cls, function: ColumnFunction, columns: s.Schema) -> Call:
        """Returns the call of a function, which is compiled for the types of its columns."""
        names = parameters_of(function)
        types = [columns.field(name).type for name in names]
        returns = result_type(function, types)
        function.compile(*types)
        return cls(ArrowFunction(function, returns), names)

    @property
    def returns(self) -> s.DataType:
        """The type of the results."""
        assert self.function.returns is not None
        return self.function.returns

    def __call__(self, rows: Rows) -> Array:
        """Returns a result for each row."""
        columns = [rows.batch.column(name) for name in self.columns]

        def attempt(count: int) -> Array:
            # Whole columns are passed unchanged, so that facts known about them need not be computed again.
            whole = count == rows.batch.length
            return self.function.results(columns if whole else [c.slice(0, count) for c in columns])

        return located(self.function.function.name, rows, attempt)


@dataclass(frozen=True, slots=True)
class Computation:
    """The columns that are computed from the rows of files that pass the filters."""

    columns: s.Schema  #: Columns that are passed through.
    #: Functions that are true for wanted rows, applied one after the other.
    tests: Sequence[Call]
    calls: Mapping[str, Call]  #: The functions of these rows, by the names of their results.
    filters: tuple[spark.Filter, ...]  #: Conditions on the results.

    @property
    def schema(self) -> s.Schema:
        """The columns of the results."""
        computed = [s.field(name, call.returns) for name, call in self.calls.items()]
        return s.Schema((*self.columns.fields, *computed))

    def __call__(self, parts: Iterable[Rows]) -> Iterator[pa.RecordBatch]:
        """Yields the results for each part."""
        for part in parts:
            rows = part
            for test in self.tests:
                rows = rows.where(rows.batch, test(rows))
            if not rows.batch.length:
                continue
            columns = {name: rows.batch.column(name) for name in self.columns.names}
            columns |= {name: call(rows) for name, call in self.calls.items()}
            batch = RecordBatch(self.schema, list(columns.values()), rows.batch.length)
            if self.filters:
                tested = {name: columns[name] for name, *_ in map(path_of, self.filters)}
                batch = rows.where(batch, mask_of(list(self.filters), tested)).batch
            if batch.length:
                yield pa.record_batch(batch)


def row_functions(
    compute: Mapping[str, Callable[..., object]], tests: Iterable[Callable[..., object]]
) -> tuple[dict[str, ColumnFunction], list[ColumnFunction]]:
    """Returns the functions to compute, by name, and the tests; TypeError if only some are reducers."""
    functions = {name: column_function_of(function) for name, function in compute.items()}
    kinds = {isinstance(function, Reducer) for function in functions.values()}
    if len(kinds) > 1:
        raise TypeError("compute: either functions of a row or reducers; read twice for both")
    wanted = [column_function_of(test) for test in tests]
    for test in wanted:
        if isinstance(test, Reducer):
            raise TypeError(
                f"filters: {test.name} is a reducer, where functions of a row are expected"
            )
    return functions, wanted


def tests_of(functions: Iterable[ColumnFunction], columns: s.Schema) -> list[Call]:
    """Returns the calls of the functions in `filters`; TypeError if one does not return booleans."""
    calls = [Call.of(function, columns) for function in functions]
    for call in calls:
        if call.returns != s.bool_():
            raise TypeError(
                f"filters: {call.function.function.name} returns {call.returns}, where a bool is expected"
            )
    return calls


@dataclass(frozen=True, slots=True)
class _Total:
    """A reducer of columns of some types; its states are words of eight bytes."""

    function: Reducer
    columns: Sequence[str]
    types: Sequence[s.DataType]

    def reduction(self) -> Reduction:
        return self.function.compiled_reduction(*self.types)

    def state(self, columns: Sequence[Array], length: int) -> Words:
        return self.reduction().group_states(columns, length, report=self.function.report())


class Totals:
    """Tasks call this where rows are read; returns a row of all reducers' states for each batch."""

    def __init__(
        self, functions: Mapping[str, Reducer], columns: s.Schema, tests: Sequence[Call]
    ) -> None:
        self._tests = tests
        self._totals: list[_Total] = []
        self._left_rows: list[LeftRows] = []
        results = []
        for name, function in functions.items():
            names = parameters_of(function)
            types = [columns.field(each).type for each in names]
            if not function.has_states(*types):
                raise TypeError(
                    f"compute: {function.name} needs a merge, and a state in compiled code: each "
                    f"task reads a part of the rows"
                )
            function.compile(*types)
            self._totals.append(_Total(function, names, types))
            results.append(s.field(name, result_type(function, types)))
        words = sum(total.reduction().words for total in self._totals)
        self.schema = s.Schema([s.field(f"c{k}", s.int64()) for k in range(words)])
        self._results = s.Schema(results)

    def __call__(self, parts: Iterable[Rows]) -> Iterator[pa.RecordBatch]:
        """Yields the initial states, then the states of each part."""
        with compiling.one_process_compiles():
            begun = [t.state([nulls(0, type_) for type_ in t.types], 0) for t in self._totals]
        self._left_rows = [LeftRows(total.function) for total in self._totals]
        yield self._batch(begun)
        for part in parts:
            rows = part
            for test in self._tests:
                rows = rows.where(rows.batch, test(rows))
            yield self._batch([_state(total, rows) for total in self._totals])

    def _batch(self, states: Sequence[Words]) -> pa.RecordBatch:
        words = np.ascontiguousarray(np.concatenate(states, axis=1).T)
        return pa.record_batch(RecordBatch(self.schema, list(map(new_array, words))))

    @property
    def results(self) -> s.Schema:
        """The columns of the one row of results."""
        return self._results

    def merged(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yields the one row of results from all states."""
        with told_plainly():
            parts = [
                np.stack(
                    [column.items(Role.DATA) for column in import_batch(batch).columns], axis=1
                )
                for batch in batches
            ]
            states = np.concatenate(parts)
            ends = np.cumsum([total.reduction().words for total in self._totals])
            offsets = np.array([0, len(states)], np.int64)
            columns = [
                total.reduction().results_of_states(np.ascontiguousarray(words), offsets)
                for total, words in zip(
                    self._totals, np.split(states, ends[:-1], axis=1), strict=True
                )
            ]
            yield conformed_columns("compute", columns, self._results)


def _state(total: _Total, rows: Rows) -> Words:
    columns = [rows.batch.column(name) for name in total.columns]
    return located(
        total.function.name, rows, lambda n: total.state([c.slice(0, n) for c in columns], n)
    )


Condition = Sequence[object]
Filter = Condition | Callable[..., object]

PlanOf = Callable[[Sequence[str] | None, Sequence[object]], Plan]
"""Plans a query of some columns, or of all, with the conditions on them."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Spark's tasks call this, each with the number of its partition."""

    partitions: Sequence[SourcePartition]
    request: Request
    make: Callable[[Iterable[Rows]], Iterator[pa.RecordBatch]]

    def __call__(self, numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yields the results for the rows of the partitions."""
        with told_plainly():
            for batch in numbers:
                for number in batch.column(0).to_pylist():
                    pieces = self.partitions[number].pieces
                    parts = (rows for each in pieces for rows in wanted_rows(each, self.request))
                    yield from self.make(parts)


def computed(
    spark: SparkSession,
    plan_of: PlanOf,
    columns: Sequence[str] | None,
    filters: Sequence[Filter],
    compute: Mapping[str, Callable[..., object]],
) -> DataFrame:
    """Returns the DataFrame of `read` with functions; raises as `read` does."""
    # Spark passes functions to workers with functions of batches, while a data source gets only text
    # options. So the tasks are those of `mapInArrow` over the numbers of partitions.
    functions, tests = row_functions(compute, filter(callable, filters))
    reducers = {n: each for n, each in functions.items() if isinstance(each, Reducer)}
    conditions = [each for each in filters if not callable(each)]
    late = [each for each in conditions if _column_of(each) in compute]
    early = [each for each in conditions if each not in late]
    if reducers and (columns or late):
        raise ValueError(
            "compute: reducers give one row, without columns and conditions on results"
        )
    parameters = [n for each in (*tests, *functions.values()) for n in parameters_of(each)]
    needed = [*(columns or ()), *map(_column_of, early), *parameters]
    everything = columns is None and not reducers
    plan = plan_of(None if everything else list(dict.fromkeys(map(str, needed))), early)
    available = plan.request.schema
    for function in (*tests, *functions.values()):
        for name in parameters_of(function):
            if name not in available.names:
                raise ValueError(
                    f"{function.name}: no column {name!r}; there are {', '.join(available.names)}"
                )
    calls = tests_of(tests, available)
    if reducers:
        totals = Totals(reducers, available, calls)
        states = _frame(spark, plan, totals).repartition(1)
        return states.mapInArrow(totals.merged, spark_schema(totals.results))
    handed_on = available.names if columns is None else columns
    if both := [name for name in compute if name in handed_on]:
        raise ValueError(f"compute: two columns {both[0]!r}; leave it out of columns, or rename it")
    named_calls = {name: Call.of(function, available) for name, function in functions.items()}
    results = s.Schema([s.field(name, call.returns) for name, call in named_calls.items()])
    chosen = s.Schema([available.field(name) for name in handed_on])
    after = parsed_filters(filters_text(late), results)
    computation = Computation(chosen, calls, named_calls, after)
    if not len(computation.schema):
        raise ValueError("columns: expected at least one column, or functions in compute")
    return _frame(spark, plan, computation)


def _column_of(condition: Condition) -> object:
    """Returns the column of a condition, or of the field that it tests; None if it is malformed."""
    column = condition[0] if condition else None
    return column[0] if isinstance(column, list | tuple) and column else column


def _frame(spark: SparkSession, plan: Plan, make: Computation | Totals) -> DataFrame:
    partitions = plan.partitions()
    reading = Reading(partitions, plan.request, make)
    numbers = spark.range(0, len(partitions), 1, len(partitions))
    return numbers.mapInArrow(reading, spark_schema(make.schema))
