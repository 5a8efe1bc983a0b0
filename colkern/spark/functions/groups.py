"""`apply_in_groups` and `cogroup_apply`: any Python over the record batches of one group at a time."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.group import GroupedData

from colkern import schema as s
from colkern.interchange import import_batch
from colkern.spark.functions.batches import (
    ResultSchema,
    function_name,
    require_frame,
    result_schema,
)
from colkern.spark.functions.group_tables import GroupTables
from colkern.spark.functions.results import Results
from colkern.spark.types import arrow_schema
from colkern.spark.worker_errors import told_plainly

Key = tuple[pa.Scalar, ...]


def apply_in_groups(
    grouped: GroupedData,
    function: Callable[..., Any],
    schema: ResultSchema,
    *,
    iterator: bool = False,
) -> DataFrame:
    """A DataFrame of what a function makes of the rows of each group::

        def some(group: ck.RecordBatch) -> ck.RecordBatch:
            return group[:10]

        colkern.spark.apply_in_groups(frame.groupBy("shop"), some, frame.schema)

    Spark's `applyInArrow`, with record batches of colkern, whose columns are Spark's unless Spark
    sends a group in several pieces. For many small groups see `map_groups`, which runs a compiled
    function over all groups of a batch at once.

    Args:
        grouped: What `frame.groupBy(...)` gives.
        function: Takes the rows of a group, and before them, if it has two parameters, the key: a
            tuple of Python values. Returns a record batch or a mapping of names to columns, as for
            `map_batches`.
        schema: The columns of the results, as for `map_batches`.
        iterator: Whether the function takes an iterator of record batches instead, and yields its
            results: a group then need not fit into memory. Needs PySpark 4.1.

    Raises:
        TypeError: If `grouped` is not that, or the function does not have one or two parameters.
        UnsupportedError: If Spark does not pass a column of `schema` as Arrow.

    A result with other columns, or with a value that does not fit what was declared, fails the query
    with the name of the function, the column and the row; what the function raises, with the key.
    """
    _require_grouped(grouped, "grouped")
    takes_key = _takes_key(function, 1)
    result = result_schema(schema)
    make = _iterator_call if iterator else _table_call
    return grouped.applyInArrow(make(function, takes_key, arrow_schema(result)), result)


def cogroup_apply(
    left: GroupedData, right: GroupedData, function: Callable[..., Any], schema: ResultSchema
) -> DataFrame:
    """A DataFrame of what a function makes of the rows that two DataFrames have under each key.

    Spark's cogrouped `applyInArrow`, with record batches of colkern.

    Args:
        left, right: What `frame.groupBy(...)` gives, by as many keys.
        function: Takes the rows of both, of which one may be empty, and before them, if it has three
            parameters, the key. Returns what a function of `apply_in_groups` does.
        schema: The columns of the results, as for `map_batches`.

    Raises:
        As `apply_in_groups`; the function must have two or three parameters.
    """
    _require_grouped(left, "left")
    _require_grouped(right, "right")
    takes_key = _takes_key(function, 2)
    result = result_schema(schema)
    wanted = arrow_schema(result)
    name = function_name(function)

    ours, theirs, results = GroupTables(name), GroupTables(name), Results(name, wanted)

    def with_key(key: Key, one: pa.Table, other: pa.Table) -> pa.Table:
        given = (_values(key),) if takes_key else ()
        with _noted_key(name, key):
            made = function(*given, ours.batch(one), theirs.batch(other))
            return pa.Table.from_batches([results.batch(made)])

    return left.cogroup(right).applyInArrow(with_key, result)


def _require_grouped(grouped: Any, parameter: str) -> None:
    """Check that something is what `groupBy` gives, of rows whose columns all come to Python.

    Raises:
        TypeError: If it is not.
        UnsupportedError: If Spark does not pass a column as Arrow; names it.
    """
    if not hasattr(type(grouped), "applyInArrow"):
        given = type(grouped).__name__
        raise TypeError(f"{parameter}: expected frame.groupBy(…), got {given}")
    # PySpark has no other way to its columns.
    frame = grouped._df
    require_frame(frame)
    arrow_schema(frame.schema)


def _takes_key(function: Callable[..., Any], groups: int) -> bool:
    count = len(inspect.signature(function).parameters)
    if count not in (groups, groups + 1):
        raise TypeError(
            f"{function_name(function)} takes {count} arguments; expected the rows of {groups} "
            f"group{'s' * (groups > 1)}, and before them, if wanted, the key"
        )
    return count > groups


def _table_call(
    function: Callable[..., Any], takes_key: bool, schema: s.Schema
) -> Callable[..., pa.Table]:
    name = function_name(function)

    rows, results = GroupTables(name), Results(name, schema)

    def with_key(key: Key, table: pa.Table) -> pa.Table:
        given = (_values(key),) if takes_key else ()
        with _noted_key(name, key):
            made = function(*given, rows.batch(table))
            return pa.Table.from_batches([results.batch(made)])

    # Spark tells the two forms by hints; these are of types, not of texts, wherever it looks.
    with_key.__annotations__ = {"key": Key, "table": pa.Table, "return": pa.Table}
    return with_key


def _iterator_call(
    function: Callable[..., Any], takes_key: bool, schema: s.Schema
) -> Callable[..., Iterator[pa.RecordBatch]]:
    name = function_name(function)
    results = Results(name, schema)

    def with_key(key: Key, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        given = (_values(key),) if takes_key else ()
        with _noted_key(name, key):
            for count, made in enumerate(function(*given, map(import_batch, batches))):
                yield results.batch(made, count)

    stream = Iterator[pa.RecordBatch]
    with_key.__annotations__ = {"key": Key, "batches": stream, "return": stream}
    return with_key


@contextlib.contextmanager
def _noted_key(name: str, key: Key) -> Iterator[None]:
    """What is raised within gets a note that says in which group."""
    with told_plainly():
        try:
            yield
        except Exception as error:
            error.add_note(f"{name}: in the group {_values(key)}")
            raise


def _values(key: Key) -> tuple[Any, ...]:
    return tuple([value.as_py() for value in key])
