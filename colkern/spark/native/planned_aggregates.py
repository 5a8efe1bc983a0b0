"""Reducers with a choice of plans: Spark's own aggregates, or a Python worker over Arrow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import CodeType

from pyspark.sql import Column
from pyspark.sql.window import WindowSpec

from colkern import schema as s
from colkern.jit import Reducer
from colkern.rows.reductions import Reduction
from colkern.rows.terms import NoTermError
from colkern.spark.native.functions import (
    PlanName,
    PlannedFunction,
    Typed,
    require_result_type,
    taken,
)
from colkern.spark.native.reducers import Each, aggregates_of
from colkern.spark.native.translation import MOMENT, require_forms, scalar_type, translated


class PlannedAggregate(PlannedFunction):
    """A Spark aggregate: an expression of Spark's aggregates where one means the same as the reducer.

    Args:
        columns: The types of its columns, if they are known.
        any_order: Whether rows may be taken in any order, as a `merge` allows.

    Raises:
        CompileError: As `PlannedFunction`.
    """

    def __init__(
        self,
        arrow: Callable[..., Column],
        function: Reducer,
        columns: list[s.DataType] | None,
        plan: PlanName,
        any_order: bool = False,
    ) -> None:
        self._any_order = any_order
        self._each: Each = _alone
        super().__init__(arrow, function, columns, plan)

    def _read(self, columns: list[s.DataType]) -> Typed:
        function = self._row_function
        assert isinstance(function, Reducer)
        if not self._must and not self._any_order:
            raise NoTermError(
                "Spark refuses its own aggregates next to Python's; choose plan='native'", 0
            )
        if function.nulls not in ("propagate", "pass"):
            raise NoTermError("it has a default for nulls", 0)
        reduction = function.plan(*columns)
        if not isinstance(reduction, Reduction):
            raise NoTermError("it runs in Python", 0)
        terms = reduction.terms()
        self._aggregates = aggregates_of(terms, self._any_order)
        require_forms(terms.finish)
        require_result_type(terms.kind, reduction.returns)
        parameters, nullable = taken(terms.parameters)
        for name, kind in parameters.items():
            if scalar_type(kind) == MOMENT:
                # Outside UTC a worker would have to run, which Spark refuses next to its own aggregates.
                raise NoTermError(f"a parameter of the kind {kind} has no native form: {name}", 0)
        return Typed(terms.finish, terms.kind, parameters, nullable)

    def _code(self) -> CodeType:
        assert isinstance(self._row_function, Reducer)
        code: CodeType = self._row_function.functions.update.__code__
        return code

    def _native(self, arguments: Mapping[str, Column | str], texts: Mapping[str, str]) -> Column:
        result = super()._native(arguments, texts)

        def over(window: WindowSpec) -> Column:
            self._each = lambda aggregate: aggregate.over(window)
            try:
                return super(PlannedAggregate, self)._native(arguments, texts)
            finally:
                self._each = _alone

        # Spark takes single aggregates over windows, not expressions of several.
        result.over = over
        return result

    def _expression(self, columns: Mapping[str, Column]) -> Column:
        typed = self._typed
        assert typed is not None
        parts = {
            name: one.of(self._of_rows(typed, one.term, one.kind, columns), self._each, self._name)
            for name, one in self._aggregates.items()
        }
        # A part is null only if it is None.
        return translated(typed.term, typed.kind, self._name, parts, parts.keys())


def _alone(aggregate: Column) -> Column:
    return aggregate
