"""Column functions with a choice of plans: Spark's own expressions, or a Python worker over Arrow."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from pyspark.sql import Column
from pyspark.sql import functions as f

from colkern import schema as s
from colkern.errors import CompileError
from colkern.jit import Udf
from colkern.rows import kinds as k
from colkern.rows.kinds import Kind
from colkern.rows.plan import Plan
from colkern.rows.terms import NoTermError, Term
from colkern.spark.native.translation import plain_kind, spark_type_of, translated
from colkern.spark.types import spark_type

PlanName: TypeAlias = Literal["auto", "native", "arrow"]

PLANS: tuple[PlanName, ...] = ("auto", "native", "arrow")

_TAKEN = {
    k.INT: ("tinyint", "smallint", "int", "bigint"),
    k.FLOAT: ("float", "double"),
    k.BOOL: ("boolean",),
    k.TEXT: ("string",),
    k.BYTES: ("binary",),
    k.DATE: ("date",),
    k.DATETIME: ("timestamp_ntz",),
}
"""The names of Spark's types that a parameter of a kind takes."""


def default_plan() -> PlanName:
    """The plan of functions for which none is asked for.

    Raises:
        ValueError: If `COLKERN_SPARK_PLAN` is none.
    """
    return require_plan(os.environ.get("COLKERN_SPARK_PLAN", "auto"), "COLKERN_SPARK_PLAN")


def require_plan(plan: str, what: str) -> PlanName:
    """A word for a plan; ValueError if it is none."""
    for known in PLANS:
        if plan == known:
            return known
    raise ValueError(f"{what}: expected 'auto', 'native' or 'arrow', got {plan!r}")


@dataclass(frozen=True)
class Typed:
    """A row function that is known to be a term of its arguments.

    Args:
        term: The term.
        kind: The kind of its result.
        parameters: The kinds of its parameters by their names.
        nullable: The parameters that may be None.
    """

    term: Term
    kind: Kind
    parameters: Mapping[str, Kind]
    nullable: frozenset[str]


class PlannedFunction:
    """A column function of Spark's: an expression of Spark's where the function means nothing else.

    It has all attributes of Spark's function over Arrow, which runs where there is no such expression, and
    where the function is registered for SQL.

    Args:
        arrow: Spark's function over Arrow.
        function: The row function.
        columns: The types of its columns, if they are known.
        plan: "auto", or "native" to refuse where there is no expression.

    Raises:
        CompileError: With the plan "native", if it can be told without columns that there is none.
    """

    def __init__(
        self,
        arrow: Callable[..., Column],
        function: Udf,
        columns: list[s.DataType] | None,
        plan: PlanName,
    ) -> None:
        functools.update_wrapper(self, arrow)
        self._arrow = arrow
        self._name = function.name
        self._function = function.function
        self._must = plan == "native"
        self.reason: NoTermError | None = None
        self._typed: Typed | None = None
        try:
            self._typed = _typed(function, columns)
        except NoTermError as error:
            self._refuse(error)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._arrow, name)

    def __call__(self, *columns: Column | str, **named: Column | str) -> Column:
        """The results for columns, given in order or by the names of the parameters."""
        if self._typed is not None:
            names = list(self._typed.parameters)
            given = dict(zip(names, columns, strict=False)) | named
            # Of another number of columns, Spark's function says what is wrong.
            if len(given) == len(columns) + len(named) and given.keys() == set(names):
                try:
                    return self._native(self._typed, {name: given[name] for name in names})
                except NoTermError as error:
                    self._typed = None
                    self._refuse(error)
        return self._arrow(*columns, **named)

    def _refuse(self, error: NoTermError) -> None:
        self.reason = error
        if self._must:
            path = self._function.__code__.co_filename  # type: ignore[attr-defined]
            line = error.line or self._function.__code__.co_firstlineno  # type: ignore[attr-defined]
            raise CompileError(
                f"{self._name} has no native plan: {error.reason}\n"
                f'  File "{path}", line {line}'
            )

    def _native(self, typed: Typed, given: Mapping[str, Column | str]) -> Column:
        columns = {
            name: f.col(column) if isinstance(column, str) else column
            for name, column in given.items()
        }
        type_ = spark_type_of(typed.kind)
        result = translated(typed.term, typed.kind, self._name, columns, typed.nullable)
        for name, kind in typed.parameters.items():
            result = self._checked(name, columns[name], _TAKEN[plain_kind(kind)], result, type_)
        shown = ", ".join(map(_shown, given.values()))
        return result.alias(f"{self._name}({shown})")

    def _checked(
        self, name: str, column: Column, taken: tuple[str, ...], result: Column, type_: str
    ) -> Column:
        """The result, if a column is of its parameter's type; Spark knows that when it plans."""
        message = f"{self._name}: {name}: expected {' or '.join(taken)}, got "
        error = f.raise_error(f.concat(f.lit(message), f.typeof(column))).cast(type_)
        return f.when(f.typeof(column).isin(*taken), result).otherwise(error)


def _shown(column: Column | str) -> str:
    return column if isinstance(column, str) else repr(column).removeprefix("Column<'")[:-2]


def _typed(function: Udf, columns: list[s.DataType] | None) -> Typed:
    """A row function as a term.

    Raises:
        NoTermError: If it has none, or has what no expression has.
    """
    if columns is None:
        raise NoTermError("the types of its parameters are not declared", 0)
    if not function.pure:
        raise NoTermError("it is declared with pure=False", 0)
    if function.nulls not in ("propagate", "pass"):
        raise NoTermError("it has a default for nulls", 0)
    plan = function.row_plan(columns)
    if not isinstance(plan, Plan):
        raise NoTermError("it runs in Python", 0)
    if plan.program.wraps or plan.program.has_numpy:
        raise NoTermError("its numbers are NumPy's", 0)
    term = plan.term()
    if spark_type_of(plan.kind) != _plain_name(spark_type(plan.returns).simpleString()):
        raise NoTermError(f"its results are {plan.returns}", 0)
    names = [parameter.name for parameter in function.signature.parameters]
    kinds = dict(zip(names, (argument.reader.kind for argument in plan.arguments), strict=True))
    for name, kind in kinds.items():
        if plain_kind(kind) not in _TAKEN:
            raise NoTermError(f"{name} is of the kind {kind}", 0)
    pairs = zip(names, plan.inputs.nullable, strict=True)
    return Typed(term, plan.kind, kinds, frozenset(name for name, may in pairs if may))


def _plain_name(type_: str) -> str:
    return type_.replace("`", "")
