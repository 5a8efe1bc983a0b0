"""`accelerate`: an existing `pandas_udf`, without pandas on the way where that gives the same."""

from __future__ import annotations

import functools
import hashlib
import inspect
import itertools
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark import cloudpickle
from pyspark.sql import types as spark
from pyspark.sql.functions import ArrowUDFType, arrow_udf
from pyspark.util import PythonEvalType

from colkern.errors import UnsupportedError
from colkern.spark.acceleration.compiled import Compiled, require_result, warn
from colkern.spark.acceleration.original import Original, Settings, converts_as_spark
from colkern.spark.acceleration.purity import require_pure
from colkern.spark.acceleration.tracer import Tracer
from colkern.spark.acceleration.tracing import traced
from colkern.spark.session import use_this_python
from colkern.spark.worker_errors import told_plainly

_RESULTS = (
    spark.BooleanType,
    spark.ByteType,
    spark.ShortType,
    spark.IntegerType,
    spark.LongType,
    spark.FloatType,
    spark.DoubleType,
    spark.StringType,
)

_SCALAR = (
    PythonEvalType.SQL_SCALAR_PANDAS_UDF,
    PythonEvalType.SQL_SCALAR_PANDAS_ITER_UDF,
)

_AGGREGATES = (
    PythonEvalType.SQL_GROUPED_AGG_PANDAS_UDF,
    getattr(PythonEvalType, "SQL_GROUPED_AGG_PANDAS_ITER_UDF", None),
)


def accelerate(function: Any) -> Any:
    """Compile an existing `pandas_udf` whose body is element-wise, with no other change to it::

        @pandas_udf("double")
        def due(price: pd.Series, discount: pd.Series) -> pd.Series:
            return pd.Series(np.where(discount > 0, price * (1 - discount), price)).round(2)

        due = colkern.spark.accelerate(due)

    The body is not translated but called, with stand-ins for columns that record what is done to them.
    That is compiled to loops over Arrow's columns; functions that NumPy has rules of its own for
    (`exp`, `**`, `%` …) run in NumPy between the loops, and those of text in Arrow, as pandas has
    them run there. What pandas makes of types and nulls is kept: integers with nulls are floats,
    NaN is null in the end.

    In each worker process, and for each combination of types and nulls that columns come in, a sample of
    the first batch is computed both ways and compared to the bit. Where the results differ, or the
    body does what is not compiled, the original runs, and one `RuntimeWarning` says why: from here for
    what can be told without data, else from a worker, in its executor's log.

    Compiled are operators and comparisons; NumPy's element-wise functions, `where`, `select`, `clip`,
    `round`; of `Series`: `abs`, `astype`, `between`, `clip`, `copy`, `fillna`, `isin`, `isna`, `mask`,
    `notna`, `rename`, `round`, `to_numpy`, `values`, `where`, and `str` with `contains` (no regular
    expressions), `endswith`, `len`, `lower`, `startswith`, `strip`, `upper`; `pandas.Series(…)` and
    `pandas.isna`. Not compiled is what looks at other rows (`mean`, `shift`, `cumsum`, `sort_values`,
    `s[…]`), at values in Python (`apply`, `if`, a loop), or has no dtype before the values are known.
    Columns and results are booleans, integers, floats and strings.

    Args:
        function: What `pyspark.sql.functions.pandas_udf` returned, for functions of columns. What is
            accelerated already is returned unchanged.

    Returns:
        A column function of Spark's with the same name, type and determinism, to be called and
        registered like the original; the original itself if it cannot be compiled whatever the columns.

    Raises:
        TypeError: If it is no `pandas_udf`.

    In a worker the body is called a few times for each combination of columns, also with extreme values
    of their types, not for each batch. What it does
    besides its result is not done again: a message, a counter. A function that reads the clock or takes
    random numbers is not compiled. Settings of the session that concern pandas hold for each query, as
    they do for the original.
    """
    kind = getattr(function, "evalType", None)
    if not callable(getattr(function, "func", None)) or kind is None:
        given = getattr(function, "__name__", type(function).__name__)
        raise TypeError(f"function: expected what pandas_udf returns, got {given}")
    if isinstance(function.func, AcceleratedFunction):
        return function
    plain, returns = function.func, function.returnType
    over_batches = kind == PythonEvalType.SQL_SCALAR_PANDAS_ITER_UDF
    try:
        _require_scalar(kind, returns)
        require_pure(plain)
        _require_traceable(plain, returns, over_batches)
    except UnsupportedError as error:
        warn(_name(plain), str(error))
        return function
    call = (AcceleratedIterator if over_batches else AcceleratedFunction)(plain, returns)
    arrow_kind = ArrowUDFType.SCALAR_ITER if over_batches else ArrowUDFType.SCALAR
    with warnings.catch_warnings():
        # Spark prefers hints of pyarrow's types, which the user's function does not have.
        warnings.filterwarnings("ignore", "It is preferred to specify type hints", UserWarning)
        made = arrow_udf(call, returns, arrow_kind)
    return made if function.deterministic else made.asNondeterministic()


class AcceleratedFunction:
    """What Spark's workers call: Arrow's columns in, Arrow's column out.

    It travels to them as a pickle of the original. A worker process unpickles, traces and verifies each
    such pickle once, however many tasks it runs.

    Args:
        function: The body of a `pandas_udf`.
        returns: The type of its results.
        settings: Those of the session, for what a query does not set; None for those of the session
            that is active.
    """

    OVER_BATCHES = False

    def __init__(
        self,
        function: Callable[..., Any],
        returns: spark.DataType,
        settings: Settings | None = None,
    ) -> None:
        functools.update_wrapper(self, function, updated=())
        self._parts = function, returns
        self._settings = settings
        self._compiled: dict[Settings, Compiled] = {}
        self._names = _parameter_names(function)

    @told_plainly()
    def __call__(self, *columns: pa.Array, **named: pa.Array) -> pa.Array:
        """The results for the rows of a batch, given in order or by the names of the parameters."""
        others = [named[name] for name in self._names[len(columns) :] if name in named]
        return self.compiled((*columns, *others))

    @property
    def compiled(self) -> Compiled:
        """The function as this process has it, for the settings of the query that calls it."""
        settings = (self._settings or Settings.of_session()).of_task()
        if settings not in self._compiled:
            function, returns = self._parts
            original = Original(function, returns, settings, over_batches=self.OVER_BATCHES)
            self._compiled[settings] = Compiled(_name(function), original, returns)
        return self._compiled[settings]

    def __reduce__(self) -> Any:
        use_this_python()
        settings = self._settings or Settings.of_session()
        return _of_pickle, (type(self), cloudpickle.dumps((*self._parts, settings)))


class AcceleratedIterator(AcceleratedFunction):
    """The same for functions of an iterator of batches."""

    OVER_BATCHES = True

    def __call__(self, batches: Iterator[Any]) -> Iterator[pa.Array]:
        """The results for each batch."""
        columns = (batch if isinstance(batch, tuple) else (batch,) for batch in batches)
        with told_plainly():
            yield from self.compiled.of_batches(columns)


_IN_PROCESS: dict[bytes, AcceleratedFunction] = {}
"""The functions that this process has got, by the digests of their pickles."""


def _of_pickle(kind: type[AcceleratedFunction], pickled: bytes) -> AcceleratedFunction:
    digest = hashlib.sha256(pickled).digest()
    if digest not in _IN_PROCESS:
        _IN_PROCESS[digest] = kind(*cloudpickle.loads(pickled))
    return _IN_PROCESS[digest]


def _require_scalar(kind: int, returns: spark.DataType) -> None:
    """Check what can be told of any function.

    Raises:
        UnsupportedError: If it is not one from columns to a column of numbers or strings.
    """
    if kind in _AGGREGATES:
        raise UnsupportedError(
            "it is an aggregate: give colkern.spark.udf a class with init and update"
        )
    if kind not in _SCALAR:
        raise UnsupportedError("it is no pandas_udf from columns to a column")
    if not isinstance(returns, _RESULTS):
        raise UnsupportedError(f"results of {returns.simpleString()} are not compiled")
    if not converts_as_spark():
        raise UnsupportedError("it takes PySpark 4.3 or later")


_EXAMPLES: Sequence[Any] = ([1.0, 2.0], ["a", "b"], [1, 2], [True, False])
"""Columns that a function may be for, whose types Spark does not say before there is data."""

_MAX_COMBINED = 3
"""Up to how many columns all combinations of types are tried here; of more, workers see the types."""


def _require_traceable(
    function: Callable[..., Any], returns: spark.DataType, over_batches: bool
) -> None:
    """Check that there are columns which the function can be compiled for, where that can be told.

    Raises:
        UnsupportedError: If there are none; with what stopped the trace that got furthest.
    """
    counts = range(1, _MAX_COMBINED + 1) if over_batches else _column_counts(function)
    if counts[-1] > _MAX_COMBINED:
        return
    furthest = (-1, False, "")
    for columns in itertools.chain.from_iterable(map(_examples, counts)):
        tracer = Tracer()
        try:
            node = traced(function, columns, tracer, over_batches=over_batches)
            require_result(node, returns)
        except UnsupportedError as error:
            # An exception of pandas' own may be due to the type of the column that was tried.
            is_own = tracer.refusal is not None or error.__cause__ is None
            furthest = max(
                furthest, (tracer.steps, is_own, str(error)), key=lambda found: found[:2]
            )
        else:
            return
    raise UnsupportedError(furthest[2])


def _examples(count: int) -> Iterator[list[Any]]:
    """Columns to try a function of so many of them with."""
    for several in itertools.product(_EXAMPLES, repeat=count):
        yield list(map(pd.Series, several))


def _column_counts(function: Callable[..., Any]) -> range:
    """How many columns a function can be called with: one at least."""
    parameters = inspect.signature(function).parameters.values()
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters):
        return range(1, sys.maxsize)
    most = len(_parameter_names(function))
    fixed = [p for p in parameters if p.name in _parameter_names(function)]
    least = sum(parameter.default is parameter.empty for parameter in fixed)
    return range(max(least, 1), most + 1)


def _parameter_names(function: Callable[..., Any]) -> list[str]:
    return [
        name
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", type(function).__name__)
