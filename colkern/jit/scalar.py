"""`udf`: a plain Python function of one row becomes a compiled function of columns.

Nothing here imports Numba; the first definition with known types, or the first call, does.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypedDict, Unpack, overload

import numpy as np

from colkern.arrays import Array, ChunkedArray
from colkern.errors import CompileError
from colkern.forks import cached_property
from colkern.jit.bound_arguments import plain_function
from colkern.jit.column_function import VALUES, RowOptions
from colkern.jit.function_of_row import FunctionOfRow
from colkern.jit.signatures import signature_of


class Udf(FunctionOfRow):
    """A function of columns, made by `udf` from a function of one row."""

    KIND = "udf"

    def __call__(self, *columns: object, **named: object) -> Any:
        """The function of each row of the columns, as an array.

        Args:
            columns: One array for each parameter; parameters at the end may be left out if they have
                defaults. All have one length, and are in host memory, or on one device; so are the
                results. A number, a text, a date or another single value beside an array stands for a
                column of it. Objects with `__arrow_c_array__` or `__arrow_c_stream__` (of pyarrow,
                polars, nanoarrow, arro3 …) are not copied; for one in several parts, or a
                `ChunkedArray`, the results have the same chunks.
            named: Columns by the names of their parameters.

        Raises:
            TypeError: If a column is missing, no array, or not of the parameter's type; names it.
            ValueError: If the lengths differ, or a result is no UTF-8, a null or a list of another length
                where the type has none, or no slot of its union.
            OverflowError: If a result does not fit its type, or a decimal what was declared for it.
            LimitExceededError: If results do not fit the offsets of their type.
            InvalidArrowError: If a column's offsets or views point outside its memory.
            CompileError: If the function does not compile for these types, or not for a device.
            UnsupportedError: If the columns are in different places, or results of that type cannot
                be made on a device.
            DeviceUnavailableError: If this process cannot use the device.

        Exceptions of the function are raised with a note that names the row. Called with
        values in place of columns, as by another function of a row, it is the plain function.
        """
        if len(columns) == len(self._names) and not named:
            for column in columns:
                if column.__class__ is not Array:
                    break
            else:
                return self._called(columns)  # type: ignore[arg-type]
        if not columns or not isinstance(columns[0], Array):
            arguments = (*columns, *named.values())
            if arguments and all(isinstance(value, VALUES) for value in arguments):
                return self.function(*columns, **named)
        return super().__call__(*columns, **named)

    @cached_property
    def in_kind(self) -> Callable[..., Any]:
        """This function with results of its columns' library: pyarrow, polars, pandas or NumPy.

        For other columns, results are colkern's. A series of results has name and index of the first one;
        pandas' is of Arrow's types if that one is, else of NumPy's, as `to_pandas` has them. It raises
        `ValueError` for series whose indices differ, since rows are matched by position.
        """

        @functools.wraps(self.function)
        def in_kind(*columns: object) -> Any:
            # Without arguments by name: polars would give what takes them more of them.
            _require_one_index(columns)
            return in_kind_of(columns[0], self(*columns))

        return in_kind

    def _require_known_default(self) -> None:
        """Refuse a misspelt word: text is a default where results are known to be text."""
        known = self.signature.returns is not None or bool(self._plans)
        if isinstance(self.nulls, str) and self._has_default and not known:
            raise ValueError(
                f"nulls: expected 'propagate' or 'pass', got {self.nulls!r}; "
                f"for a default that is text, declare returns=ck.utf8()"
            )


class Options(TypedDict, total=False):
    """Options of `udf`."""

    returns: object
    nulls: object
    pure: bool
    signature: str | None
    arithmetic: Literal["python", "machine"]
    strict: bool
    fallback: bool


@overload
def udf(function: Callable[..., object], /, **options: Unpack[Options]) -> Udf: ...


@overload
def udf(
    function: str | None = None, /, **options: Unpack[Options]
) -> Callable[[Callable[..., object]], Udf]: ...


def udf(
    function: Callable[..., object] | str | None = None,
    /,
    *,
    returns: object = None,
    nulls: object = "propagate",
    pure: bool = True,
    signature: str | None = None,
    arithmetic: Literal["python", "machine"] = "python",
    strict: bool = False,
    fallback: bool = False,
) -> Udf | Callable[[Callable[..., object]], Udf]:
    """Make a function of one row into a function of columns, compiled by Numba::

        @ck.udf
        def price(quantity: float, discount: float) -> float:
            return quantity * (1 - discount)

        @ck.udf("(utf8) -> int64")
        def vowels(s):
            return sum(1 for c in s.lower() if c in "aeiou")

    It gives what the plain function gives for each row, exceptions included. Rows that compiled code does
    not cover are computed by the plain function, and `report()` counts them. "Row functions" in the
    documentation says what compiles.

    Types come from hints (Python's types, also as `list[str]` or `tuple[int, str]`, data types, or
    `Annotated[int, ck.int8()]`) or from a signature, whose types are named as colkern's functions for them,
    with parts in angle brackets: `list<utf8>`, `struct<key: utf8, size: int64>`,
    `fixed_size_list<float32, 3>`. Names of pyarrow's and Spark's types are read too: `double`, `string`,
    `timestamp[us]`, `bigint`; `float` and `int` have 32 bits, as there. A parameter without any takes
    what it is called with. With them, the function is compiled when it is defined, else when it is first
    called with columns of new types.

    ==========================================  ===================================================
    columns                                     the function gets, and returns
    ==========================================  ===================================================
    bool, integers, floats                      `bool`, `int`, `float`
    utf8; also large, view                      `str`
    binary; also large, view, fixed size        `bytes`
    date, time, duration                        `datetime.date`, `datetime.time`, `datetime.timedelta`
    timestamp                                   `datetime.datetime`, with the time zone of the type
    decimals                                    `decimal.Decimal`
    lists                                       `list`
    struct                                      `dict`; also returned: a tuple, a named tuple, a dataclass;
                                                of a `dict`, the keys must be constants
    map                                         a `list` of pairs; a `dict` if hinted so, or returned
    dictionary, run-end encoded                 what the values are
    ==========================================  ===================================================

    - Results are bool, int64, float64, utf8, binary, date32, decimal128, and microseconds of the others,
      unless another type is declared. The fields of a plain tuple are f0, f1 and so on.
    - Where globals and variables of outer functions are others than when it was compiled, it is
      compiled again.

    Where the columns are on a device, it runs there, as a kernel of a thread a row, and so are its results.

    Functions that it calls may be made by `udf`: they share one pass over the columns, as in
    `return net(price), tax(price)`.

    What has no compiled form is refused with its line: columns of unions and intervals, results that are
    unions, on a device also results with dictionaries in lists. `fallback=True` runs it in Python.

    Args:
        function: A Python function with positional parameters, each of which stands for a column; where
            it has a default, a call may leave it out. The plain functions that it calls are compiled
            too. Also a bound method, or a `functools.partial` of a function, whose bound arguments are
            constants. Or a signature, as text.
        returns: The data type of the results (or a hint for it), over what the hints say; inferred
            if neither says anything.
        nulls: The effect of a null in a parameter that is not declared to take None, as `float | None` or a
            `?` in the signature declare it: there, the function gets None. "propagate": the result is
            null, without a call. "pass": the function gets None in parameters without any declaration,
            or, if none is declared to take it, in all. Anything else is a value of
            the result type (`nulls=0`): the result in the place of null, without a call. A
            `str` is one where the result type is declared to be text, or known from hints; if it is
            one of the two words, it is spelled as bytes. In any case, the function may return
            None for a null.
        pure: Whether the results follow from the arguments alone. Then a function of one column that is
            dictionary or run-end encoded is called for each of its values, not for each row, where that
            is less. False for one that draws random numbers, say.
        signature: As text, `"(float64, utf8?) -> list<utf8>"`, over all hints.
        arithmetic: "python" for Python's meaning; "machine" for numbers as NumPy has them: integers wrap
            around, and neither division by zero nor a function of `math` raises.
        strict: Whether everything that compiled code does not cover is refused: the function and its
            columns by CompileError or UnsupportedError, a row by CompileError.
        fallback: Whether a function that does not compile to Python's meaning runs in Python, with a
            warning that says why.

    Raises:
        TypeError: If a declaration cannot be understood.
        ValueError: If `nulls` is neither of the words nor a value of the result type, or `arithmetic` is
            neither of its words.
        UnsupportedError: If a declared type cannot be an argument or result.
        CompileError: If the function does not compile: the line and the construct.
    """
    if isinstance(function, str):
        function, signature = None, function
    if nulls is None:
        raise ValueError("nulls: expected 'propagate', 'pass' or a value, got None")
    if arithmetic not in ("python", "machine"):
        raise ValueError(f"arithmetic: expected 'python' or 'machine', got {arithmetic!r}")
    options = RowOptions(arithmetic, strict, fallback)

    def decorated(function: Callable[..., object]) -> Udf:
        plain: Any = plain_function(function)
        if hasattr(plain, "evalType"):
            raise TypeError(
                f"function: {plain.__name__} is a function of Spark's columns; give udf the plain function "
                f"that it was made of, or give a pandas_udf to colkern.spark.accelerate"
            )
        if not inspect.isfunction(plain):
            raise TypeError(f"function: expected a Python function, got {type(function).__name__}")
        if inspect.isgeneratorfunction(plain):
            raise CompileError(
                f"{plain.__name__}: a generator has several results for a row; "
                f"decorate it with ck.generator, which gives a column of lists"
            )
        if inspect.iscoroutinefunction(plain):
            raise CompileError(f"{plain.__name__}: a coroutine cannot be a function of a row")
        scalar = Udf(plain, signature_of(plain, signature, returns), nulls, pure, options)
        if scalar.signature.returns is not None and scalar._has_default:
            scalar._default(scalar.signature.returns)
        scalar.define()
        scalar._require_known_default()
        return scalar

    return decorated if function is None else decorated(function)


# Results of other libraries


def _of_pyarrow(results: Array | ChunkedArray, like: Any) -> Any:
    import pyarrow as pa

    column = results.to_pyarrow()
    is_whole = isinstance(like, pa.ChunkedArray) and isinstance(column, pa.Array)
    return pa.chunked_array([column]) if is_whole else column


def _of_pandas(results: Array | ChunkedArray, like: Any) -> Any:
    import pandas as pd

    series = results.to_pandas(arrow=isinstance(like.dtype, pd.ArrowDtype))
    return series.set_axis(like.index).rename(like.name)


def _require_one_index(columns: Sequence[object]) -> None:
    """Raise `ValueError` for series of pandas of one length with different indices."""
    series: list[Any] = [each for each in columns if _library(each) == "pandas"]
    for other in series[1:]:
        if len(other) == len(series[0]) and not other.index.equals(series[0].index):
            raise ValueError(
                "in_kind: series with different indices, whose rows would be matched by position; align "
                "them first, as by first.align(second), or drop the indices by reset_index(drop=True)"
            )


_LIBRARIES: dict[str, Callable[[Array | ChunkedArray, Any], Any]] = {
    "pyarrow": _of_pyarrow,
    "polars": lambda results, like: results.to_polars().alias(like.name),
    "pandas": _of_pandas,
    "numpy": lambda results, _: np.asarray(results),
}


def in_kind_of(like: object, results: Array | ChunkedArray) -> Any:
    """The results as a column of the library of another column, if it is one of those; else unchanged.

    Args:
        like: A column of pyarrow, polars, pandas or NumPy; of a series, the results have name and index.
        results: As many as it has values.
    """
    make = _LIBRARIES.get(_library(like))
    return results if make is None else make(results, like)


def _library(column: object) -> str:
    """The name of the library that a column is of."""
    return type(column).__module__.partition(".")[0]
