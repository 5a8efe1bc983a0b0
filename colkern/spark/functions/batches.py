"""Any Python over record batches: of partitions by `map_batches`, of groups by `apply_in_groups`."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias, cast

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as f
from pyspark.sql.group import GroupedData
from pyspark.sql.types import StructType

from colkern import schema as s
from colkern.arrays import RecordBatch
from colkern.interchange import import_batch
from colkern.spark.functions.declarations import function_name
from colkern.spark.functions.results import Results, require_no_pandas, told_with_rows
from colkern.spark.functions.worker_columns import GroupTables
from colkern.spark.session import use_this_python
from colkern.spark.types import arrow_schema, spark_schema

ResultSchema: TypeAlias = s.Schema | Mapping[str, s.DataType] | StructType | str
"""The columns of results, in colkern's types, in Spark's types, or as SQL text."""

Batches: TypeAlias = Callable[[Iterator[RecordBatch]], Iterable[object]]
"""A user's function: takes an iterator of record batches, and yields values that `Results.batch` takes."""


@dataclass(frozen=True)
class BatchFunction:
    """Workers call this for a partition; a `bare` function gets rows without columns."""

    function: Batches
    schema: s.Schema
    bare: bool = False

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yields the batches that the function yields, checked."""
        results = Results(function_name(self.function), self.schema)
        source: Iterator[RecordBatch] = map(import_batch, batches)
        if self.bare:
            source = (RecordBatch(s.Schema([]), [], batch.num_rows) for batch in batches)
        with told_with_rows():
            for count, result in enumerate(self.function(source)):
                yield results.batch(result, count)


def map_batches(
    frame: DataFrame, function: Batches, schema: ResultSchema, **options: object
) -> DataFrame:
    """A DataFrame of the results of a function of the record batches of each partition::

        def cheap(batches: Iterator[ck.RecordBatch]) -> Iterator[ck.RecordBatch]:
            for batch in batches:
                yield ck.filter(batch, ck.less(batch["price"], ck.array([9.5])))

        colkern.spark.map_batches(frame, cheap, frame.schema)

    Spark's `mapInArrow`, with record batches of colkern: columns are not copied on the way in, nor on
    the way out if they have the declared type. Batches are processed as they come. Works on streaming
    DataFrames too.

    Args:
        function: Takes an iterator of `ck.RecordBatch`; yields record batches, of colkern or of any
            library of Arrow's, or mappings of names to columns: arrays, NumPy arrays, or lists of
            Python values. As many rows as it likes, columns in any order.
        schema: The columns of the results: a colkern schema, a mapping of names to data types, or
            what Spark takes, a `StructType` or text such as `"name string, price double"`.
        **options: `barrier` and `profile`, as for `mapInArrow`.

    Raises:
        TypeError: If `frame` is no DataFrame, `schema` nothing like a schema, or if the hints of the
            function are tables of pandas.
        UnsupportedError: If Spark does not pass a column of `frame` or of `schema` as Arrow.

    A result with other columns, or with a value that does not fit what was declared, fails the query
    with the name of the function, the column and the row.
    """
    require_frame(frame)
    require_no_pandas(function)
    arrow_schema(frame.schema)
    result = result_schema(schema)
    bare = not frame.columns
    if bare:
        # Spark's workers lose the number of rows if there is no column.
        frame = frame.select(f.lit(True).alias("row"))
    call = BatchFunction(function, arrow_schema(result), bare)
    return frame.mapInArrow(call, result, **options)


def require_frame(frame: object) -> None:
    """Raise TypeError unless `frame` is a DataFrame; make its workers run this Python."""
    if not isinstance(getattr(frame, "schema", None), StructType):
        raise TypeError(f"frame: expected a DataFrame, got {type(frame).__name__}")
    use_this_python()


def result_schema(schema: ResultSchema) -> StructType:
    """Returns the declared schema as a Spark schema."""
    if isinstance(schema, str):
        schema = StructType.fromDDL(schema)
    if isinstance(schema, s.Schema | Mapping):
        schema = spark_schema(schema)
    if not isinstance(schema, StructType):
        raise TypeError(f"schema: expected a schema, a mapping, or text, got {schema!r}")
    for name in schema.names:
        if schema.names.count(name) > 1:
            raise ValueError(f"schema: two columns {name!r}; results are told apart by their names")
    return schema


Key = tuple[pa.Scalar, ...]


def apply_in_groups(
    grouped: GroupedData,
    function: Callable[..., object],
    schema: ResultSchema,
    *,
    iterator: bool = False,
) -> DataFrame:
    """A DataFrame of the results of a function of the rows of each group::

        def some(group: ck.RecordBatch) -> ck.RecordBatch:
            return group[:10]

        colkern.spark.apply_in_groups(frame.groupBy("shop"), some, frame.schema)

    Spark's `applyInArrow`, with record batches of colkern, whose columns are Spark's unless Spark
    sends a group in several pieces. For many small groups see `map_groups`, which runs a compiled
    function over all groups of a batch at once.

    Args:
        grouped: The result of `frame.groupBy(...)`.
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
    result = result_schema(schema)
    call = _Call(function, 1, result)
    rows = GroupTables(call.name)

    def of_table(key: Key, table: pa.Table) -> pa.Table:
        with call.arguments(key) as arguments:
            return call.table(function(*arguments, rows.batch(table)))

    def of_batches(key: Key, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with call.arguments(key) as arguments:
            yielded = cast(Iterable[object], function(*arguments, map(import_batch, batches)))
            for count, batch in enumerate(yielded):
                yield call.results.batch(batch, count)

    # Spark tells the two forms by the hints, which here are types, not strings, wherever it looks.
    stream = Iterator[pa.RecordBatch]
    of_table.__annotations__ = {"key": Key, "table": pa.Table, "return": pa.Table}
    of_batches.__annotations__ = {"key": Key, "batches": stream, "return": stream}
    return grouped.applyInArrow(of_batches if iterator else of_table, result)


def cogroup_apply(
    left: GroupedData, right: GroupedData, function: Callable[..., object], schema: ResultSchema
) -> DataFrame:
    """A DataFrame of the results of a function of the rows that two DataFrames have under each key.

    Spark's cogrouped `applyInArrow`, with record batches of colkern.

    Args:
        left, right: The results of `frame.groupBy(...)`, by as many keys.
        function: Takes the rows of both, of which one may be empty, and before them, if it has three
            parameters, the key. Returns what a function of `apply_in_groups` does.
        schema: The columns of the results, as for `map_batches`.

    Raises:
        As `apply_in_groups`; the function must have two or three parameters.
    """
    _require_grouped(left, "left")
    _require_grouped(right, "right")
    result = result_schema(schema)
    call = _Call(function, 2, result)
    ours, theirs = GroupTables(call.name), GroupTables(call.name)

    def with_key(key: Key, one: pa.Table, other: pa.Table) -> pa.Table:
        with call.arguments(key) as arguments:
            return call.table(function(*arguments, ours.batch(one), theirs.batch(other)))

    return left.cogroup(right).applyInArrow(with_key, result)


def _require_grouped(grouped: object, parameter: str) -> None:
    """Raise TypeError or UnsupportedError unless Spark passes all columns of a result of `groupBy`."""
    if not hasattr(type(grouped), "applyInArrow"):
        kind = type(grouped).__name__
        raise TypeError(f"{parameter}: expected frame.groupBy(…), got {kind}")
    # PySpark has no public access to the columns of a `groupBy`.
    frame = cast(GroupedData, grouped)._df
    require_frame(frame)
    arrow_schema(frame.schema)


class _Call:
    """The common part of the calls for groups; the function takes the rows of `groups` groups."""

    def __init__(self, function: Callable[..., object], groups: int, schema: StructType) -> None:
        self.name = function_name(function)
        require_no_pandas(function)
        self.results = Results(self.name, arrow_schema(schema))
        count = len(inspect.signature(function).parameters)
        if count not in (groups, groups + 1):
            raise TypeError(
                f"{self.name} takes {count} arguments; expected the rows of {groups} "
                f"group{'s' * (groups > 1)}, and before them, if wanted, the key"
            )
        self._takes_key = count > groups

    @contextlib.contextmanager
    def arguments(self, key: Key) -> Iterator[tuple[object, ...]]:
        """Yields the arguments before the rows; an exception raised within gets a note with the group."""
        values = tuple([value.as_py() for value in key])
        with told_with_rows():
            try:
                yield (values,) if self._takes_key else ()
            except Exception as error:
                error.add_note(f"{self.name}: in the group {values}")
                raise

    def table(self, result: object) -> pa.Table:
        """Returns the result of a group."""
        return pa.Table.from_batches([self.results.batch(result)])
