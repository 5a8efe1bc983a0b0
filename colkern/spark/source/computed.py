"""`read` with functions: a DataFrame whose tasks read parts of files and apply functions to their rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from colkern import schema as s
from colkern.jit import Reducer
from colkern.spark.source.computing import (
    Call,
    Computation,
    parameters_of,
    row_functions,
    tests_of,
)
from colkern.spark.source.contents import Rows
from colkern.spark.source.partitions import SourcePartition
from colkern.spark.source.planning import Plan
from colkern.spark.source.predicates import filters_text, parsed_filters
from colkern.spark.source.reading import Request, wanted_rows
from colkern.spark.source.reducing import Totals
from colkern.spark.types import spark_schema
from colkern.spark.worker_errors import told_plainly

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


Condition = Sequence[object]
Filter = Condition | Callable[..., object]

PlanOf = Callable[[Sequence[str] | None, Sequence[object]], Plan]
"""Plans a query of some columns, or of all, with the conditions on them."""


class Reading:
    """Spark's tasks call this, each with the number of its partition."""

    def __init__(
        self,
        partitions: Sequence[SourcePartition],
        request: Request,
        make: Callable[[Iterable[Rows]], Iterator[pa.RecordBatch]],
    ) -> None:
        self.partitions = partitions
        self.request = request
        self.make = make

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
