"""What Spark is told of a function of colkern: the types of its results, and of its columns."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, TypeAlias

from colkern import schema as s
from colkern.spark.types import arrow_type, column_type, spark_type

if TYPE_CHECKING:
    from colkern.jit import Generator, Reducer, Udf

    ColumnFunction: TypeAlias = Udf | Reducer | Generator

MOMENT = s.timestamp("us", "UTC")
"""What the hint `datetime.datetime` means to Spark: a moment, not a time on an unnamed wall clock."""


def column_types(function: ColumnFunction) -> list[s.DataType] | None:
    """The types of the columns that a function will most likely get; None if nobody can tell."""
    types = [column_type(parameter) for parameter in function.signature.parameters]
    known = [type_ for type_ in types if type_ is not None]
    return known if len(known) == len(types) else None


def result_type(function: ColumnFunction, columns: list[s.DataType] | None) -> s.DataType:
    """The type of a function's results, as Spark wants them.

    Args:
        function: A function of columns.
        columns: The types of its columns; None if nobody can tell.

    Raises:
        TypeError: If the type is neither declared nor to be inferred.
        UnsupportedError: If Spark has no type for the results.
        CompileError: If the function does not compile.
    """
    if function.signature.hint is datetime.datetime:
        returns: s.DataType = MOMENT
    elif function.signature.returns is not None:
        returns = function.signature.returns
    elif columns is not None:
        return _as_spark_passes_it(function.result_type(*columns))
    else:
        raise TypeError(
            f"{function.name}: Spark must know the type of the results: write it as a hint, as in "
            f"`-> float`, or give the types of all parameters, as in `x: float`"
        )
    return _as_spark_passes_it(s.list_(returns) if function.KIND == "generator" else returns)


def _as_spark_passes_it(returns: s.DataType) -> s.DataType:
    return arrow_type(spark_type(returns))
