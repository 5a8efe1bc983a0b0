"""Functions that run where files are read, so that only their results go to Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import pyarrow as pa
from pyspark.sql import datasource as spark

from colkern import schema as s
from colkern.arrays import Array, RecordBatch
from colkern.jit import Reducer
from colkern.spark.functions.column_functions import column_function_of
from colkern.spark.functions.declarations import result_type
from colkern.spark.functions.results import first_failing
from colkern.spark.functions.worker_calls import ArrowFunction
from colkern.spark.source.contents import Rows
from colkern.spark.source.filters import mask_of, path_of

if TYPE_CHECKING:
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
