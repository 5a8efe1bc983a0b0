"""`map_batches`: functions of an iterator of record batches over whole DataFrames."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeAlias

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as f
from pyspark.sql.types import StructType

from colkern import schema as s
from colkern.arrays import RecordBatch
from colkern.interchange import import_batch
from colkern.spark.functions.declarations import function_name
from colkern.spark.functions.results import Results, require_no_pandas, told_with_rows
from colkern.spark.session import use_this_python
from colkern.spark.types import arrow_schema, spark_schema

ResultSchema: TypeAlias = s.Schema | Mapping[str, s.DataType] | StructType | str
"""The columns of results, in colkern's types, in Spark's types, or as SQL text."""

Batches: TypeAlias = Callable[[Iterator[RecordBatch]], Iterable[object]]
"""A user's function: takes an iterator of record batches, and yields values that `Results.batch` takes."""


class BatchFunction:
    """Workers call this for a partition; a `bare` function gets rows without columns."""

    def __init__(self, function: Batches, schema: s.Schema, *, bare: bool = False) -> None:
        self.function = function
        self.schema = schema
        self.bare = bare

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
    call = BatchFunction(function, arrow_schema(result), bare=bare)
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
