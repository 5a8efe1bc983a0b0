"""Column functions with a choice of plans: a Spark expression, or a Python worker over Arrow."""

from __future__ import annotations

import contextlib
import functools
import operator
import os
import sys
import threading
import timeit
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any, Literal, TypeAlias

import pyarrow as pa
import pyspark
from pyspark.errors import utils
from pyspark.sql import Column
from pyspark.sql import functions as f

from colkern import schema as s
from colkern.errors import CompileError
from colkern.jit import Reducer, Udf
from colkern.operations import nulls
from colkern.rows import kinds as k
from colkern.rows.kinds import Kind
from colkern.rows.plan import Plan
from colkern.rows.terms import NoTermError, Term
from colkern.spark.native import sharing
from colkern.spark.native.repeating import is_long, may_be_repeated
from colkern.spark.native.sharing import in_own_method, text_of
from colkern.spark.native.translation import (
    MOMENT,
    require_forms,
    require_quick,
    scalar_type,
    spark_type_of,
    translated,
)
from colkern.spark.session import use_this_python
from colkern.spark.types import spark_type

PlanName: TypeAlias = Literal["auto", "native", "arrow"]

PLANS: tuple[PlanName, ...] = ("auto", "native", "arrow")

UTC = "UTC"
"""The session time zone in which timestamps are datetimes in UTC."""

_TAKEN = {
    "bigint": ("an integer type", ("tinyint", "smallint", "int", "bigint")),
    "double": ("a floating-point type", ("float", "double")),
    MOMENT: (f"{MOMENT}, in a session in {UTC}", (MOMENT,)),
}
"""The types that a parameter accepts, in words and by Spark's names, if there is more to say than its
own."""

_CALLS = 20
"""The number of calls that are timed to measure one."""

_OTHER_COLUMNS = (
    "its native plan does not take these columns, because of their types, the session's time zone, a call "
    "from SQL, or values that may differ each time they are computed"
)

UNTYPED = "void"
"""Spark's type of `NULL`."""


def default_plan() -> PlanName:
    """Returns the plan of functions that name none; raises ValueError if `COLKERN_SPARK_PLAN` names no
    plan."""
    return require_plan(os.environ.get("COLKERN_SPARK_PLAN", "auto"), "COLKERN_SPARK_PLAN")


def require_plan(plan: str, what: str) -> PlanName:
    """Returns a name of a plan; raises ValueError for other values."""
    for known in PLANS:
        if plan == known:
            return known
    raise ValueError(f"{what}: expected 'auto', 'native' or 'arrow', got {plan!r}")


@dataclass(frozen=True)
class Typed:
    """A row function as a term of its arguments."""

    term: Term
    kind: Kind  #: The kind of its result.
    parameters: Mapping[str, Kind]  #: The kinds of its parameters by their names.
    nullable: frozenset[str]  #: The parameters that may be None.


class PlannedFunction:
    """A Spark column function: a Spark expression where one means the same as the Python function.

    It has all attributes of Spark's function over Arrow, which runs where there is no such expression, and
    where the function is registered for SQL.

    Args:
        function: The row function, or the reducer.
        columns: The types of its columns, if they are known.
        plan: "auto"; "native" to raise where there is no expression; "arrow" to use none.

    Raises:
        CompileError: With the plan "native", if it is known without columns that there is no expression.
    """

    def __init__(
        self,
        arrow: Callable[..., Column],
        function: Udf | Reducer,
        columns: list[s.DataType] | None,
        plan: PlanName,
    ) -> None:
        functools.update_wrapper(self, arrow)
        self._arrow = arrow
        self._name = function.name
        self._row_function = function
        self._columns = columns
        self._must = plan == "native"
        self._reason: NoTermError | None = None
        self._typed: Typed | None = None
        self._uses: int | None = None
        try:
            if plan == "arrow":
                raise NoTermError("plan='arrow'")
            if columns is None:
                raise NoTermError("its hints do not give the types of all its columns")
            self._typed = self._read(columns)
            if plan == "auto" and isinstance(function, Udf):
                require_quick(self._typed.term)
        except NoTermError as error:
            self._refuse(error)
        KNOWN[self._name] = self

    def __getattr__(self, name: str) -> Any:
        if name == "_arrow":
            raise AttributeError(name)
        return getattr(self._arrow, name)

    def __call__(self, *columns: Column | str, **named: Column | str) -> Column:
        """The results for columns, given in order or by the names of the parameters."""
        arguments = self._arguments(columns, named)
        # Each text of a column is a question to Java.
        texts = {
            name: each if isinstance(each, str) else text_of(each)
            for name, each in (arguments or {}).items()
        }
        if arguments is not None and self._may_be_native(arguments, texts):
            try:
                return self._native(arguments, texts)
            except NoTermError as error:
                # Columns may be long expressions themselves: that says nothing of other columns.
                self._refuse(error, for_good=not self._takes_names(arguments))
        return self._arrow(*columns, **named)

    def _arguments(
        self, columns: Sequence[Column | str], named: Mapping[str, Column | str]
    ) -> Mapping[str, Column | str] | None:
        """Returns the columns of the parameters; None if there is no expression of them. Raises TypeError
        if there is not one column for each parameter."""
        ordered = self._row_function.in_order(columns, named)
        if self._typed is None or self._reason is not None:
            return None
        return dict(zip(self._typed.parameters, ordered, strict=True))

    def _takes_names(self, parameters: Iterable[str]) -> bool:
        """Whether there is an expression for columns that are no expressions themselves."""
        try:
            names = {name: name for name in parameters}
            self._native(names, names)
        except NoTermError:
            return False
        return True

    def _refuse(self, error: NoTermError, for_good: bool = True) -> None:
        if for_good:
            # A new error: the first one's traceback would keep alive the Spark task in which a worker
            # imported this.
            self._reason = NoTermError(error.reason, error.line)
        if not self._must and self._columns is not None:
            # Compile now, so that no worker has to.
            self._row_function.compile(*self._columns)
        if self._must:
            code = self._code()
            raise CompileError(
                f"{self._name} has no native plan: {error.reason}\n"
                f'  File "{code.co_filename}", line {error.line or code.co_firstlineno}'
            )

    def _read(self, columns: list[s.DataType]) -> Typed:
        """Returns the function as a term; raises NoTermError if it has none, or none with an expression."""
        assert isinstance(self._row_function, Udf)
        return term_of(self._row_function, columns)

    def _code(self) -> CodeType:
        """Returns the code object, which has the function's line numbers."""
        assert isinstance(self._row_function, Udf)
        return self._row_function.function.__code__

    def _may_be_native(
        self, arguments: Mapping[str, Column | str], texts: Mapping[str, str]
    ) -> bool:
        """Whether columns may stand in several places of an expression; `texts` are Spark's of them. Raises
        CompileError if a column may differ from place to place, and the plan is "native"."""
        if not self._must and any(map(is_long, texts.values())):
            return False
        for name, column in arguments.items():
            if not may_be_repeated(column, texts[name]):
                if self._must:
                    raise CompileError(
                        f"{self._name} has no native plan for {texts[name]}: it may have another "
                        f"value each time it is computed"
                    )
                return False
        return True

    @property
    def is_native(self) -> bool:
        """Whether the function's plan is native."""
        return self._reason is None

    def explanation(self, is_in_worker: bool = False) -> str:
        """Returns a line with the function's plan, and if it is not native, the reason and the cost of a
        batch; it may run in a worker for some columns (`is_in_worker`), though it has a native plan."""
        if self._reason is None and is_in_worker:
            return f"{self._name}: arrow, in a Python worker: {_OTHER_COLUMNS}{self._costs()}"
        if self._reason is None:
            return f"{self._name}: native: Spark computes it, without a Python worker"
        place = (
            f" (line {line} of {self._code().co_filename})" if (line := self._reason.line) else ""
        )
        return (
            f"{self._name}: arrow, in a Python worker: {self._reason.reason}{place}{self._costs()}"
        )

    def _costs(self) -> str:
        """Returns the cost of a batch in a worker that does not depend on its rows, measured here without
        rows."""
        if self._columns is None or not isinstance(self._row_function, Udf):
            return ""
        call = self._arrow.func  # type: ignore[attr-defined]
        columns = [pa.array(nulls(0, type_)) for type_ in self._columns]
        seconds = timeit.repeat(lambda: call(*columns), number=1, repeat=_CALLS)
        crossing = f"{len(columns)} column{'s' if len(columns) > 1 else ''} there, 1 back"
        return f"; a batch: {min(seconds) * 1e3:.2f} ms of Python, {crossing}"

    def _native(self, arguments: Mapping[str, Column | str], texts: Mapping[str, str]) -> Column:
        with quick_columns():
            result = self._expression(
                {
                    name: f.col(column) if isinstance(column, str) else column
                    for name, column in arguments.items()
                }
            )
            # As a function over Arrow does, for other functions that the session runs in workers.
            use_this_python()
            return result.alias(f"{self._name}({', '.join(texts.values())})")

    def _expression(self, columns: Mapping[str, Column]) -> Column:
        typed = self._typed
        assert typed is not None
        is_in_lambda = _is_within_lambda()
        # A worker takes or refuses the columns that a native plan does not take, such as integers for
        # floats.
        elsewhere_too = () if self._must or is_in_lambda else (MOMENT, "double")

        def native(values: Sequence[Column], shares: bool) -> Column:
            named = dict(zip(typed.parameters, values, strict=True))
            return self._of_rows(typed, typed.term, typed.kind, named, elsewhere_too, shares)

        operands = [columns[name] for name in typed.parameters]
        types = map(spark_type_of, typed.parameters.values())
        tests = [
            _is_taken(f.typeof(column), type_)
            for column, type_ in zip(operands, types, strict=True)
            if type_ in elsewhere_too
        ]
        if not tests:
            return native(operands, not is_in_lambda)
        if self._uses is None:
            self._uses = sharing.uses(native, len(operands))
        result = sharing.bound(operands, native, self._uses)
        return f.when(functools.reduce(operator.and_, tests), result).otherwise(
            self._arrow(*operands)
        )

    def _of_rows(
        self,
        typed: Typed,
        term: Term,
        kind: Kind,
        columns: Mapping[str, Column],
        known: Collection[str] = (),
        shares: bool = True,
    ) -> Column:
        """Returns the values of a term of the parameters; columns of `known` types need no check."""
        result = translated(term, kind, self._name, columns, typed.nullable, shares)
        if shares:
            result = in_own_method(result)
        for name, of in typed.parameters.items():
            wanted = spark_type_of(of)
            if wanted not in known:
                result = self._checked(name, columns[name], wanted, result)
        return result

    def _checked(self, name: str, column: Column, wanted: str, result: Column) -> Column:
        """Returns the result, or an error if a column is of another type."""
        words, _ = _TAKEN.get(wanted, (wanted, ()))
        message, type_name = (
            f.lit(f"{self._name}: {name}: expected {words}, got "),
            f.typeof(column),
        )
        error = f.raise_error(f.concat(message, type_name))
        return f.when(_is_taken(type_name, wanted), result).otherwise(error)


def _is_taken(type_name: Column, wanted: str) -> Column:
    """Whether a column's type is one that native plans take for another; Spark knows that when it plans,
    and then drops the other branch."""
    _, taken = _TAKEN.get(wanted, (wanted, (wanted,)))
    is_taken = f.find_in_set(type_name, f.lit(",".join((*taken, UNTYPED)))) > 0
    if wanted == "string":
        # Collations are ignored, as Python compares texts without any.
        return is_taken | type_name.startswith("string collate ")
    return is_taken & (f.current_timezone() == UTC) if wanted == MOMENT else is_taken


def _is_within_lambda() -> bool:
    """Whether PySpark builds the body of a lambda, as in `transform`, where Spark takes no Python."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == "_create_lambda":
            return str(frame.f_globals.get("__name__")).startswith("pyspark.")
        frame = frame.f_back
    return False


_BUILDING = threading.RLock()


@contextlib.contextmanager
def quick_columns() -> Iterator[None]:
    """Makes operations of Columns neither record the Python line of the call nor look functions up twice.

    To record a line, PySpark asks Spark for its session, a setting and more, and it looks a function up
    twice at each call: most of the time of building an expression. The lines would be those of this
    package.
    """
    with _BUILDING:
        _keep_functions()
        before = getattr(utils, _NOTES_LINES, None)
        setattr(utils, _NOTES_LINES, False)
        try:
            yield
        finally:
            setattr(utils, _NOTES_LINES, before)


class _Kept:
    """A Java class whose members are looked up once."""

    def __init__(self, of: Any) -> None:
        self._of = of

    def __getattr__(self, name: str) -> Any:
        member = getattr(self._of, name)
        setattr(self, name, member)
        return member


_KEPT = ("functions", "org.apache.spark.sql.functions", "PythonUtils")
"""The Java classes for which PySpark asks its gateway when it makes Columns."""


def _keep_functions() -> None:
    """Make the gateway of this process, if there is one, remember the functions that it looked up."""
    # A pure client of Spark Connect has no SparkContext.
    view = getattr(getattr(pyspark, "SparkContext", None), "_jvm", None)
    for name in _KEPT if hasattr(view, "__dict__") else ():
        if name not in vars(view):
            setattr(view, name, _Kept(getattr(view, name)))


_NOTES_LINES = "_enable_debugging_cache"
"""PySpark's variable for whether lines are recorded: False for no, None before it has read the setting."""


@dataclass(frozen=True)
class Unplanned:
    """A function that can run in one way only."""

    name: str
    way: str  #: The way in which it runs, and why.
    is_native = False

    def explanation(self, is_in_worker: bool = False) -> str:
        """Returns a line, as functions with a choice of plans do."""
        return f"{self.name}: {self.way}"


KNOWN: dict[str, PlannedFunction | Unplanned] = {}
"""The functions of this process, the last one of each name: a frame may outlive its function."""


def term_of(function: Udf, columns: list[s.DataType]) -> Typed:
    """Returns a row function as a term; raises NoTermError if it has none, or one without an expression."""
    if not function.pure:
        raise NoTermError("it is declared with pure=False")
    if function.nulls not in ("propagate", "pass"):
        raise NoTermError("it has a default for nulls")
    plan = function.plan(*columns)
    if not isinstance(plan, Plan):
        raise NoTermError("it runs in Python")
    term = plan.term()
    require_forms(term)
    require_result_type(plan.kind, plan.returns)
    names = [parameter.name for parameter in function.signature.parameters]
    kinds = dict(zip(names, (argument.kind for argument in plan.arguments), strict=True))
    return Typed(term, plan.kind, *taken(kinds))


def require_result_type(kind: Kind, returns: s.DataType) -> None:
    """Raise NoTermError if results of a kind are not of the type that Spark has for them."""
    if spark_type_of(kind) != spark_type(returns).simpleString().replace("`", ""):
        raise NoTermError(f"its results are {returns}")


def taken(given: Mapping[str, Kind]) -> tuple[dict[str, Kind], frozenset[str]]:
    """Returns the kinds of the parameters where they are not None, and the parameters that may be None;
    raises NoTermError if a native plan does not take such a column."""
    kinds = {
        name: kind.of if isinstance(kind, k.Optional) else kind for name, kind in given.items()
    }
    for name, kind in kinds.items():
        if scalar_type(kind) is None:
            raise NoTermError(f"a parameter of the kind {kind} has no native form: {name}")
    may_be_none = (name for name, kind in given.items() if isinstance(kind, k.Optional))
    return kinds, frozenset(may_be_none)
