"""`udf`: functions of colkern as column functions of Spark: of a row, of a group, to arrays."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Unpack

import pyspark
from pyspark.errors import ParseException, PySparkRuntimeError
from pyspark.sql import Column
from pyspark.sql.types import DataType

from colkern.jit import Generator, Reducer, Udf, generator, reducer
from colkern.jit import udf as row_function
from colkern.schema import parsed_types
from colkern.spark.functions.declarations import (
    RowOptions,
    column_types,
    function_name,
    result_type,
    values_of_spark,
)
from colkern.spark.functions.worker_calls import ArrowAggregate, ArrowFunction
from colkern.spark.native.functions import PlanName, PlannedFunction, default_plan, require_plan
from colkern.spark.native.reducers import PlannedAggregate
from colkern.spark.types import arrow_type, spark_type

if TYPE_CHECKING:
    from colkern.spark.functions.declarations import ColumnFunction

try:
    from pyspark.sql.functions import ArrowUDFType, arrow_udf
except ImportError as error:
    raise ImportError(
        f"colkern.spark needs PySpark 4.1 or later, the first with arrow_udf; "
        f"this is {pyspark.__version__}"
    ) from error


def udf(
    function: Callable[..., object] | Udf | Reducer | Generator | DataType | str | None = None,
    returnType: DataType | str | None = None,
    *,
    plan: PlanName | None = None,
    **options: Unpack[RowOptions],
) -> Callable[..., Column]:
    """Make a function into a column function for Spark, without pandas on the way::

        @colkern.spark.udf
        def net(price: float, discount: float | None) -> float:
            ...

        frame.select(net("l_extendedprice", "l_discount"))
        spark.udf.register("net", net)

    A function of a row, or a `ck.udf`, becomes a function of columns: a value for each row. A class with
    `init` and `update`, or a `ck.reducer`, becomes an aggregate: `frame.groupBy(k).agg(mean("x"))`, and
    over windows, `mean("x").over(Window.partitionBy(k))`. A generator function, or a `ck.generator`,
    becomes a function to a column of arrays, for `explode(words("text"))`.

    It is compiled on the driver, here and now, and its code is cached on disk: workers on the same
    machine load it, and on another machine one worker compiles for all of them. Columns go into it
    as Spark sends them, a batch (of an aggregate: a group) at a time, and are not copied.

    `docs/spark.md` has the value that a function gets for each of Spark's types.

    A function of a row means what it means in Python. Rows that its compiled form does not cover, such as
    those that divide by zero, are computed by the function itself; a line in the executor's log says how
    many a task had, and for which line of the source.

    Args:
        function: A plain function or class, or what `colkern.udf`, `reducer` and `generator` make.
            All parameters must have types, by hints or by a signature, unless the type of the
            results is declared. Or a signature, as text; or the type of the results, as of PySpark's
            `@udf(DoubleType())`.
        returnType: PySpark's name for `returns`.
        plan: How a function of a row runs. "native": as an expression of Spark's own, without a Python
            worker; refused if it has none that means the same. "arrow": in a Python worker, over Arrow.
            "auto": native where that is possible. None is the plan that `COLKERN_SPARK_PLAN` in the
            environment names, else "auto". A reducer has a native plan with "native" alone, as Spark
            refuses its own aggregates beside those of Python. `colkern.spark.explain` says which it is,
            and why.
        **options: `returns`, `nulls`, `signature`, as for those three, and `returns` also of Spark's
            types (`DoubleType()`); for functions of a row also `arithmetic`, `strict` and `fallback`, as
            for `colkern.udf`, for generators the last two.

    Returns:
        Spark's own user-defined function: call it with columns, in order or by the names of the
        parameters, and register it for SQL.

    Raises:
        TypeError: If the type of the results is neither declared nor to be inferred, or if the function
            is one of Spark's columns already.
        UnsupportedError: If Spark has no type for the results.
        CompileError: If the function does not compile: the line and the construct; with `fallback=True`
            it runs in Python instead, and a warning says why.

    A result with the hint `datetime.datetime` is a timestamp, a moment whatever the time zone of the
    session, as everywhere in PySpark. For a timestamp_ntz declare `returns=ck.timestamp("us")`.

    A column of another type than its parameter's fails the query with a `TypeError` that names the
    parameter; what the function raises comes back with the row, the batch and the partition.
    Year-month and calendar intervals are not passed to Python by Spark: cast them in SQL.
    """
    chosen = default_plan() if plan is None else require_plan(plan, "plan")
    if isinstance(function, DataType) or (isinstance(function, str) and "->" not in function):
        function, returnType = None, function
    if returnType is not None:
        options["returns"] = returnType
    if isinstance(function, str) or function is None:
        return lambda plain: _column_function(
            column_function_of(plain, function, **options), chosen
        )
    return _column_function(column_function_of(function, None, **options), chosen)


@values_of_spark()
def column_function_of(
    plain: object, declared: str | None = None, /, **options: Unpack[RowOptions]
) -> ColumnFunction:
    """Makes a function of columns from a function of rows, by `udf`, `generator` or `reducer`; raises as
    they do."""
    if isinstance(plain, Udf | Reducer | Generator):
        if options:
            raise TypeError(
                f"{', '.join(options)}: pass it to colkern.{plain.KIND}, which made the function"
            )
        return plain
    require_no_spark_function(plain)
    if "returns" in options:
        options["returns"] = _type_of_results(options["returns"])
    make: Callable[..., Callable[..., ColumnFunction]] = row_function
    if inspect.isgeneratorfunction(plain):
        make = generator
    elif inspect.isclass(plain):
        make = reducer
    taken = inspect.signature(make).parameters
    if others := [name for name in options if name not in taken]:
        raise TypeError(
            f"{', '.join(others)}: for functions of a row; {function_name(plain)} is a {make.__name__}"
        )
    return make(declared, **options)(plain)


def _type_of_results(returns: object) -> object:
    """Returns a declared type, as colkern's if it is Spark's, or text that only Spark reads."""
    if isinstance(returns, str):
        try:
            parsed_types(returns)
        except TypeError as error:
            try:
                returns = DataType.fromDDL(returns)
            except (ParseException, PySparkRuntimeError):
                raise error from None
    return arrow_type(returns) if isinstance(returns, DataType) else returns


def require_no_spark_function(plain: object) -> None:
    """Raise TypeError for a function of Spark columns, made by `udf` or by PySpark."""
    if hasattr(plain, "evalType") and hasattr(plain, "returnType"):
        raise TypeError(
            f"function: {function_name(plain)} is a function of Spark's columns already; call it with "
            f"columns, or give the plain function that it was made of"
        )


def _column_function(function: ColumnFunction, plan: PlanName) -> Callable[..., Column]:
    columns = column_types(function)
    returns = result_type(function, columns)
    if columns is not None and not isinstance(function, Udf):
        function.compile(*columns)
    if isinstance(function, Reducer):
        call: ArrowFunction = ArrowAggregate(function, returns)
        aggregate = spark_function(call, spark_type(returns), ArrowUDFType.GROUPED_AGG)
        return PlannedAggregate(aggregate, function, columns, plan)
    arrow = spark_function(
        ArrowFunction(function, returns), spark_type(returns), ArrowUDFType.SCALAR
    )
    if not isinstance(function, Udf):
        return arrow
    if not function.pure:
        arrow = arrow.asNondeterministic()  # type: ignore[attr-defined]
    return PlannedFunction(arrow, function, columns, plan)


def spark_function(
    call: Callable[..., object], returns: DataType, kind: ArrowUDFType
) -> Callable[..., Column]:
    """Returns Spark's user-defined function that calls a function of Arrow columns."""
    with warnings.catch_warnings():
        # Spark prefers hints of pyarrow types; users' functions have none.
        warnings.filterwarnings("ignore", "It is preferred to specify type hints", UserWarning)
        function: Callable[..., Column] = arrow_udf(call, returns, kind)
    return function
