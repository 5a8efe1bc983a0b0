"""`udf`: a function of colkern as a column function of Spark, on Spark's Arrow path."""

from __future__ import annotations

import contextlib
import datetime
import fcntl
import functools
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pyspark

from colkern import schema as s
from colkern.cache import cache_dir
from colkern.jit import Udf
from colkern.jit import udf as column_udf
from colkern.spark.types import COLUMNS_OF_HINTS, spark_type

try:
    from pyspark.sql.functions import ArrowUDFType, arrow_udf
except ImportError as error:
    raise ImportError(
        f"colkern.spark needs PySpark 4.1 or later, the first with arrow_udf; "
        f"this is {pyspark.__version__}"
    ) from error


_FEW = 8
"""How many rows make a worker compile what it needs."""


class ArrowFunction:
    """What Spark's workers call: pyarrow arrays in, a pyarrow array out, neither of them copied.

    It travels to the workers as a pickle of the `Udf`; machine code does not travel, but is found in
    the cache directory of the worker's machine. Where it is not there yet, one worker compiles and
    the others wait for it.

    Args:
        udf: The function.
    """

    def __init__(self, udf: Udf) -> None:
        functools.update_wrapper(self, udf.function)
        self.udf = udf
        self._seen: set[tuple[pa.DataType, ...]] = set()

    def __call__(self, *columns: pa.Array) -> pa.Array:
        """The function of each row of the columns."""
        types = tuple([column.type for column in columns])
        if types not in self._seen:
            # Few rows: all kernels are compiled, and no process waits for another's work.
            with _one_process_compiles():
                self.udf(*[column.slice(0, _FEW) for column in columns])
            self._seen.add(types)
        return pa.array(self.udf(*columns))

    def __reduce__(self) -> Any:
        return ArrowFunction, (self.udf,)


def udf(
    function: Callable[..., Any] | Udf | str | None = None, /, **options: Any
) -> Callable[..., Any]:
    """Make a function of one row into a column function for Spark, without pandas on the way::

        @colkern.spark.udf
        def net(price: float, discount: float | None) -> float:
            ...

        frame.select(net("l_extendedprice", "l_discount"))
        spark.udf.register("net", net)

    The function is compiled on the driver, here and now, and its code is cached on disk: workers on
    the same machine load it, and on another machine one worker compiles for all of them. Columns
    go into it as Spark sends them, a batch at a time, and are not copied.

    ==============================  ===============================================================
    Spark's columns                 the function gets, and as a rule returns
    ==============================  ===============================================================
    boolean                         `bool`
    byte, short, integer, long      `int`
    float, double                   `float`
    decimal up to 18 digits         `int`, scaled: declare `Annotated[int, ck.decimal128(12, 2)]`
    date                            `int`, days: hint `datetime.date`
    timestamp, timestamp_ntz        `int`, microseconds: hint `datetime.datetime`
    day-time interval               `int`, microseconds: hint `datetime.timedelta`
    time                            `int`, nanoseconds: declare `Annotated[int, ck.time64("ns")]`
    string, binary                  a byte string, `colkern.jit.ByteString`: hint `str` or `bytes`
    ==============================  ===============================================================

    Args:
        function: A plain function, or one made by `colkern.udf`. All parameters must have types, by
            hints or by a signature, unless the type of the results is declared.
        **options: `returns`, `nulls`, `signature`, as for `colkern.udf`.

    Returns:
        Spark's own user-defined function: call it with columns, register it for SQL.

    Raises:
        TypeError: If the type of the results is neither declared nor to be inferred.
        UnsupportedError: If Spark has no type for the results.
        CompileError: If the function does not compile: the line and the construct.

    A result with the hint `datetime.datetime` is a timestamp, a moment whatever the time zone of the
    session, as everywhere in PySpark. For a timestamp_ntz declare `returns=ck.timestamp("us")`.

    A column of another type than its parameter's fails the query with a `TypeError` that names the
    parameter.
    """
    if isinstance(function, str) or function is None:
        make = column_udf(function, **options)
        return lambda plain: _column_function(make(plain))
    if isinstance(function, Udf):
        if options:
            raise TypeError(f"{', '.join(options)}: say so to colkern.udf, which made the function")
        return _column_function(function)
    return _column_function(column_udf(function, **options))


def _column_function(function: Udf) -> Callable[..., Any]:
    if function.signature.hint is datetime.datetime:
        # For Spark the hint means a moment, not a time on an unnamed wall clock.
        moment = s.timestamp("us", "UTC")
        function = column_udf(
            function.function, returns=moment, nulls=function.nulls, pure=function.pure
        )
    types = _column_types(function)
    returns = function.signature.returns
    if returns is None:
        if types is None:
            raise TypeError(
                f"{function.name}: Spark must know the type of the results: declare it, or the "
                f"types of all parameters"
            )
        returns = function.result_type(*types)
    result = spark_type(returns)
    if types is not None:
        function.compile(*types)
    with warnings.catch_warnings():
        # Spark prefers hints of pyarrow's types, which the user's function does not have.
        warnings.filterwarnings("ignore", "It is preferred to specify type hints", UserWarning)
        made: Callable[..., Any] = arrow_udf(ArrowFunction(function), result, ArrowUDFType.SCALAR)
    return made


def _column_types(function: Udf) -> list[s.DataType] | None:
    """The types of the columns that the function will most likely get; None if nobody can tell."""
    declared = [parameter.type for parameter in function.signature.parameters]
    types = [t if isinstance(t, s.DataType) else COLUMNS_OF_HINTS.get(t) for t in declared if t]
    return [t for t in types if t] if len(types) == len(declared) else None


@contextlib.contextmanager
def _one_process_compiles() -> Iterator[None]:
    """Workers that start at the same time compile one after the other: the first for all."""
    try:
        lock = (cache_dir("kernels") / "compiling.lock").open("wb")
    except OSError:
        # Nowhere to keep compiled code: there is nothing to wait for.
        yield
        return
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
