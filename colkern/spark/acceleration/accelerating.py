"""`accelerate`: runs an existing `pandas_udf` without pandas where that gives the same results."""

from __future__ import annotations

import functools
import inspect
import itertools
import sys
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyspark import cloudpickle
from pyspark.sql import types as spark
from pyspark.sql.functions import ArrowUDFType
from pyspark.util import PythonEvalType

from colkern.errors import UnsupportedError
from colkern.spark.acceleration.compiled import EXAMPLES, Compiled, result_of, warn
from colkern.spark.acceleration.original import Body, Original, Settings, converts_as_spark
from colkern.spark.acceleration.planned import MOST_COMBINED, PlannedOriginal
from colkern.spark.acceleration.purity import require_pure
from colkern.spark.acceleration.recorded import Tracer
from colkern.spark.acceleration.tracing import traced
from colkern.spark.functions.column_functions import spark_function
from colkern.spark.functions.declarations import function_name
from colkern.spark.native.functions import KNOWN, PlanName, Unplanned, default_plan, require_plan
from colkern.spark.session import use_this_python
from colkern.spark.worker_errors import told_plainly

_SCALAR = (PythonEvalType.SQL_SCALAR_PANDAS_UDF, PythonEvalType.SQL_SCALAR_PANDAS_ITER_UDF)

_AGGREGATES = (
    PythonEvalType.SQL_GROUPED_AGG_PANDAS_UDF,
    getattr(PythonEvalType, "SQL_GROUPED_AGG_PANDAS_ITER_UDF", None),
)


def accelerate(function: Any, *, plan: PlanName | None = None) -> Any:
    """Compile an existing `pandas_udf` whose body is element-wise, with no other change to it::

        @pandas_udf("double")
        def due(price: pd.Series, discount: pd.Series) -> pd.Series:
            return pd.Series(np.where(discount > 0, price * (1 - discount), price)).round(2)

        due = colkern.spark.accelerate(due)

    The body is called, with stand-ins for columns that record the operations on them. If each of these
    means the same in Spark, to the last bit, the function has a native plan: an expression of Spark's own,
    without a Python worker. Which types columns have, Spark knows when it plans a query: for others than
    those of the native plan, the function runs over Arrow, in a worker.

    Over Arrow, the function is compiled as far as it is element-wise, and pandas does the rest;
    `docs/from_pandas_udf.md` lists what gains. Results have the types and nulls that pandas gives them.
    Each worker process compares results with the original's, and times both, as `docs/spark.md` says. If
    they differ, or the body does what is not element-wise, the original runs, and one `RuntimeWarning` says
    why: here if it can be told without data, else in the executor's log.

    Refused are statistics of the batch and operations on other rows (`mean`, `rank`, `shift`, `cumsum`,
    `sort_values`, `s[…]` but for assignment to the same rows), values taken one by one in Python (`if`, a
    loop that keeps state from row to row), and work that grows with a number (`range(n)`, `text * n`).

    The body is called a few times for each combination of columns, also with extreme values of their
    types, not for each batch: side effects such as messages or counters are not repeated. A function that
    reads the clock or random numbers is not compiled. Each query has its own settings for pandas, as with
    the original.

    Args:
        function: A result of `pyspark.sql.functions.pandas_udf`, for functions of columns; one that is
            accelerated already is returned unchanged.
        plan: "native": as an expression of Spark's own; a call is refused if there is none, with the
            operation, and a query whose columns are of other types. "arrow": in a Python worker. "auto":
            native where that is possible. None is the plan that `COLKERN_SPARK_PLAN` in the environment
            names, else "auto". `colkern.spark.explain` says which it is, and why.

    Returns:
        A column function of Spark's with the same name, type and determinism, to be called and
        registered like the original; the original itself if it cannot be compiled for any columns.

    Raises:
        TypeError: If it is no `pandas_udf`.
        ValueError: If `plan` is no plan.
    """
    chosen = default_plan() if plan is None else require_plan(plan, "plan")
    kind = getattr(function, "evalType", None)
    if not callable(getattr(function, "func", None)) or kind is None:
        given = function_name(function)
        raise TypeError(f"function: expected what pandas_udf returns, got {given}")
    if isinstance(function.func, AcceleratedFunction):
        return function
    plain, returns = function.func, function.returnType
    over_batches = kind == PythonEvalType.SQL_SCALAR_PANDAS_ITER_UDF
    try:
        _require_scalar(kind)
        require_pure(plain)
        original = Original(plain, returns, Settings(), over_batches=over_batches)
        _require_traceable(original)
    except UnsupportedError as error:
        name = function_name(plain)
        warn(name, str(error))
        KNOWN[name] = Unplanned(name, f"in pandas as before: {error}")
        return function
    call = (AcceleratedIterator if over_batches else AcceleratedFunction)(plain, returns)
    arrow_kind = ArrowUDFType.SCALAR_ITER if over_batches else ArrowUDFType.SCALAR
    accelerated: Any = spark_function(call, returns, arrow_kind)
    if not function.deterministic:
        name = function_name(plain)
        KNOWN[name] = Unplanned(name, "arrow, in a Python worker: it is not deterministic")
        return accelerated.asNondeterministic()
    return PlannedOriginal(accelerated, original, chosen)


class AcceleratedFunction:
    """A compiled `pandas_udf` that Spark's workers call with Arrow columns; returns an Arrow column.

    It is pickled with the body of the `pandas_udf`, and with the settings that apply to queries that have
    none. A worker process unpickles, traces and verifies each such pickle once, however many tasks it runs.
    """

    OVER_BATCHES = False

    def __init__(
        self, function: Body, returns: spark.DataType, settings: Settings | None = None
    ) -> None:
        functools.update_wrapper(self, function, updated=())
        self._parts = function, returns
        self._settings = settings
        self._compiled: dict[Settings, Compiled] = {}
        self._names = list(_positional(function))

    @told_plainly()
    def __call__(self, *columns: pa.Array, **named: pa.Array) -> pa.Array:
        """Returns the results for the rows of a batch, whose columns are given in order or by parameter
        name."""
        others = [named[name] for name in self._names[len(columns) :] if name in named]
        return self.compiled((*columns, *others))

    @property
    def compiled(self) -> Compiled:
        """The compiled function of this process, for the settings of the query that calls it."""
        settings = (self._settings or Settings.of_session()).of_task()
        if settings not in self._compiled:
            function, returns = self._parts
            original = Original(function, returns, settings, over_batches=self.OVER_BATCHES)
            self._compiled[settings] = Compiled(function_name(function), original, returns)
        return self._compiled[settings]

    def __reduce__(self) -> tuple[object, ...]:
        use_this_python()
        settings = self._settings or Settings.of_session()
        return _of_pickle, (type(self), cloudpickle.dumps((*self._parts, settings)))


class AcceleratedIterator(AcceleratedFunction):
    """A compiled function of an iterator of batches; see `AcceleratedFunction`."""

    OVER_BATCHES = True

    def __call__(self, batches: Iterator[pa.Array | tuple[pa.Array, ...]]) -> Iterator[pa.Array]:
        """Yields the results for each batch."""
        columns = (batch if isinstance(batch, tuple) else (batch,) for batch in batches)
        with told_plainly():
            yield from self.compiled.of_batches(columns)


@functools.lru_cache(maxsize=64)
def _of_pickle(kind: type[AcceleratedFunction], pickled: bytes) -> AcceleratedFunction:
    """Returns a function: one object for all tasks of a worker."""
    return kind(*cloudpickle.loads(pickled))


def _require_scalar(kind: int) -> None:
    """Raise UnsupportedError unless the function takes columns and returns a column."""
    if kind in _AGGREGATES:
        raise UnsupportedError(
            "it is an aggregate: give colkern.spark.udf a class with init and update"
        )
    if kind not in _SCALAR:
        raise UnsupportedError("it is no pandas_udf from columns to a column")
    if not converts_as_spark():
        raise UnsupportedError("it needs PySpark 4.3 or later")


_MOST_TRIED = 200
"""The largest number of combinations of types to try."""


def _require_traceable(original: Original) -> None:
    """Check that the function can be compiled for some column types, as far as that can be told without
    data; raises UnsupportedError, with the message of the trace that got furthest, if it cannot."""
    function, over_batches = original.function, original.over_batches
    counts = range(1, MOST_COMBINED + 1) if over_batches else _column_counts(function)
    hints = getattr(inspect.unwrap(function), "__annotations__", {})
    tables = [hint for name, hint in hints.items() if name != "return" and "DataFrame" in str(hint)]
    if counts[-1] > MOST_COMBINED or tables:
        # Workers check these; the names of a table's columns are not known here.
        return
    # Spark tells the types of the columns only when there is data.
    series = original.pandas([*EXAMPLES.values()])
    furthest = (-1, False, False, "")
    for count in counts:
        # Try columns that are all of one type first.
        alike = [(each,) * count for each in series]
        for columns in itertools.islice(
            itertools.chain(alike, itertools.product(series, repeat=count)), _MOST_TRIED
        ):
            tracer = Tracer()
            try:
                node = traced(function, columns, tracer, over_batches=over_batches)
                result_of(node, original.returns)
            except UnsupportedError as error:
                # pandas itself may have raised because of the type of the column that was tried.
                cause = error.__cause__
                is_own = tracer.refusal is not None or cause is None
                # The example may be a text that is no date, or that has fewer parts than the body reads.
                is_by_value = not is_own and (
                    (isinstance(cause, AttributeError | KeyError) and tracer.steps > 0)
                    or (isinstance(cause, ValueError) and not isinstance(cause, pa.ArrowException))
                )
                # No example is a struct, as the names of its fields are not known.
                is_by_value |= tracer.is_of_table
                refusal = (tracer.steps, is_own, is_by_value, str(error))
                furthest = max(furthest, refusal, key=lambda each: each[:3])
            else:
                return
    *_, is_by_value, reason = furthest
    if not is_by_value:
        raise UnsupportedError(reason)


def _column_counts(function: Body) -> range:
    """Returns the numbers of columns, at least one, with which a function can be called."""
    parameters = inspect.signature(function).parameters.values()
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters):
        return range(1, sys.maxsize)
    columns = _positional(function).values()
    least = sum(parameter.default is parameter.empty for parameter in columns)
    return range(max(least, 1), len(columns) + 1)


def _positional(function: Body) -> dict[str, inspect.Parameter]:
    return {
        name: parameter
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    }
