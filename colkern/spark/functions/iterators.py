"""`iterator_udf`: functions of an iterator of batches, for what is set up once a partition."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql.functions import ArrowUDFType
from pyspark.sql.types import DataType

from colkern import schema as s
from colkern.arrays import Array
from colkern.jit.column_function import imported
from colkern.spark.functions.column_functions import require_no_spark_function, spark_function
from colkern.spark.functions.declarations import function_name
from colkern.spark.functions.results import as_column, conformed
from colkern.spark.session import use_this_python
from colkern.spark.types import arrow_type, spark_type
from colkern.spark.worker_errors import told_plainly

Batches: TypeAlias = Callable[..., Iterable[object]]
"""A user's function: takes an iterator of the columns of batches, and yields columns."""

Columns: TypeAlias = pa.Array | tuple[pa.Array, ...]
"""The columns of a batch as Spark passes them: a single one, or a tuple of several."""


class ArrowIterator:
    """Workers call this for a partition; it passes pyarrow arrays as colkern arrays, not copied."""

    def __init__(self, function: Batches, returns: s.DataType) -> None:
        functools.update_wrapper(self, function, updated=())
        self.function = function
        self.returns = returns

    def __call__(self, batches: Iterator[Columns]) -> Iterator[pa.Array]:
        """Yields the results for the columns of each batch, as the function yields them."""
        name = function_name(self.function)
        field = s.field("result", self.returns)
        row = 0
        with told_plainly():
            for values in self.function(map(_imported, batches)):
                column = as_column(name, values, self.returns)
                yield pa.array(conformed(name, column, field, first=row))
                row += column.length

    def __reduce__(self) -> tuple[object, ...]:
        use_this_python()
        return ArrowIterator, (self.function, self.returns)


def iterator_udf(
    function: Batches | None = None, /, *, returns: s.DataType | DataType
) -> Callable[..., Column]:
    """Make a function of an iterator of batches into a column function for Spark::

        @colkern.spark.iterator_udf(returns=ck.float64())
        def score(batches: Iterator[tuple[ck.Array, ck.Array]]) -> Iterator[ck.Array]:
            model = load_model()  # once a partition
            for age, income in batches:
                yield model.score(age, income)

    The counterpart of a `pandas_udf` from `Iterator[Series]` to `Iterator[Series]`: for what is
    expensive to set up. Batches are processed as they come. A function that is compiled for the rows
    of a batch is made outside, with `ck.udf` or `ck.njit`, and called inside.

    Args:
        function: Takes an iterator of the columns of each batch: an array (`ck.Array`, not copied) if
            there is one column, else a tuple of them. Yields columns: arrays of colkern, of NumPy or
            of any library of Arrow's, or lists of Python values; as many rows, in all, as it got.
        returns: The data type of the results, colkern's or Spark's.

    Returns:
        Spark's own user-defined function: call it with columns, register it for SQL. Spark does not
        take named arguments here.

    Raises:
        TypeError: If the function is one of Spark's columns already.
        UnsupportedError: If Spark has no type for the results.

    Results that do not fit the declared type fail the query, with the row of the partition.
    """
    if function is None:
        return lambda plain: iterator_udf(plain, returns=returns)
    require_no_spark_function(function)
    result = returns if isinstance(returns, DataType) else spark_type(returns)
    call = ArrowIterator(function, arrow_type(result))
    return spark_function(call, result, ArrowUDFType.SCALAR_ITER)


def _imported(batch: Columns) -> Array | tuple[Array, ...]:
    if isinstance(batch, tuple):
        return tuple([imported("column", column) for column in batch])
    return imported("column", batch)
