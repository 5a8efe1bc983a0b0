"""A row function with its options: a plan for each set of column types, and what it did so far."""

from __future__ import annotations

import datetime
import decimal
import os
import threading
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from colkern import schema as s
from colkern.arrays import Array
from colkern.errors import CompileError, UnsupportedError
from colkern.rows.columns import RESULTS_OF_HINTS
from colkern.rows.front import Sources, sources_of, take_sources
from colkern.rows.meanings import Meanings
from colkern.rows.plan import Plan
from colkern.rows.python_rows import PythonPlan
from colkern.rows.reports import Report
from colkern.rows.results import require_values

if TYPE_CHECKING:
    from colkern.rows.device import OnDevice


@dataclass(frozen=True)
class RowOptions:
    """How a row function is compiled.

    Args:
        arithmetic: "python" for Python's meaning of all operations; "machine" for numbers as NumPy has
            them: integers wrap around, and division by zero and functions of `math` raise nothing.
        strict: Whether what compiled code does not cover is an error: a row, a column, the function.
        fallback: Whether a function that does not compile runs in Python, with a warning.
    """

    arithmetic: Literal["python", "machine"] = "python"
    strict: bool = False
    fallback: bool = False


ADVICE = "with fallback=True, it runs in Python"

DEFAULT_OPTIONS = RowOptions()

AnyPlan = Plan | PythonPlan


class CompiledRows:
    """The plans of a row function.

    Args:
        function: The plain Python function.
        options: How it is compiled.
        sources: The sources of it and of what it calls, from the process that defined it.
    """

    def __init__(self, function: Any, options: RowOptions, sources: Sources | None = None) -> None:
        self._function = function
        self._options = options
        self._plans: dict[Any, Any] = {}
        self._lock = threading.RLock()
        self._meanings = Meanings()
        self.report = Report(function.__name__)
        if sources:
            take_sources(sources)

    def sources(self) -> Sources:
        """The sources, for a process that has none."""
        return sources_of(self._function)

    def source(self) -> str:
        """The source that is generated for the types of the last plan."""
        plans = [plan for plan in self._plans.values() if hasattr(plan, "text")]
        return plans[-1].text() if plans else ""

    def result_types(self) -> list[s.DataType]:
        """The types of the results, for each set of column types so far."""
        return [plan.returns for plan in self._plans.values()]

    def plan(
        self,
        columns: tuple[s.DataType, ...],
        nullable: Sequence[bool],
        returns: s.DataType | type | None,
    ) -> Any:
        """The plan for columns of those types.

        Raises:
            CompileError, UnsupportedError: If the function has no compiled form for them, and is not to
                run in Python.
        """
        with self._lock:
            if columns not in self._plans:
                result = self._plans[columns] = self._new_plan(columns, nullable, returns)
                if isinstance(result, Plan):
                    called = (each.function for each in result.program.definitions.values())
                    self._meanings.note([self._function, *called])
            return self._plans[columns]

    def is_current(self) -> bool:
        """Whether globals and outer variables are what the plans have been made with; else there are none.

        Changes within what such a container contains, and of one that has many items, are not seen.
        """
        if self._meanings.hold():
            return True
        with self._lock:
            self._meanings = Meanings()
            self._plans.clear()
        return False

    def _compiled(
        self,
        columns: tuple[s.DataType, ...],
        nullable: Sequence[bool],
        returns: s.DataType | type | None,
    ) -> Any:
        """The plan that is compiled."""
        options = self._options
        wraps = options.arithmetic == "machine"
        return Plan(self._function, columns, nullable, returns, options.strict, wraps)

    def _in_python(self, nullable: Sequence[bool], returns: s.DataType | type | None) -> Any:
        """The plan of Python alone."""
        return PythonPlan(self._function, nullable, returns)

    def _new_plan(
        self,
        columns: tuple[s.DataType, ...],
        nullable: Sequence[bool],
        returns: s.DataType | type | None,
    ) -> Any:
        if os.environ.get("COLKERN_JIT") == "0":
            return self._in_python(nullable, returns)
        try:
            return self._compiled(columns, nullable, returns)
        except (CompileError, UnsupportedError) as error:
            if self._options.strict:
                raise
            if not self._options.fallback:
                name = self.report.name
                text = str(error) if str(error).startswith(name) else f"{name}: {error}"
                raise type(error)(f"{text}\n{ADVICE}") from None
            self.report.reason = str(error).split("\n")[0]
            warnings.warn(f"{self.report.name} runs in Python: {self.report.reason}", stacklevel=4)
            return self._in_python(nullable, returns)


class Counted:
    """A plan whose calls are counted, with a value in place of nulls.

    Args:
        plan: The plan.
        report: Where its rows are counted.
        fill: Gives results a value where the function was not called; None to leave nulls there.
    """

    def __init__(
        self,
        plan: AnyPlan | OnDevice,
        report: Report,
        fill: Callable[[Array, Sequence[Array]], Array] | None,
    ) -> None:
        self._plan = plan
        self._report = report
        self._fill = fill

    def run(self, arrays: Sequence[Array], length: int) -> Array:
        """The results for arrays of one length and of the plan's types, where these are."""
        results, left = self._plan.run(arrays, length)
        self._report.add(length, left)
        if results.children:
            require_values(self._report.name, results)
        return results if self._fill is None else self._fill(results, arrays)

    def compile(self, columns: Sequence[s.DataType]) -> None:
        """Compile the loop for arrays of the plan's types; the function is not called."""
        self._plan.compile()


_OF_HINTS = {**RESULTS_OF_HINTS, decimal.Decimal: s.decimal128(18, 2)}


def representatives(declared: Sequence[s.DataType | type | None]) -> list[tuple[s.DataType, ...]]:
    """Types of columns that declarations take; none if one of them takes any.

    The hint `datetime.datetime` takes columns with a time zone and without.
    """
    naive = [_OF_HINTS.get(each) if isinstance(each, type) else each for each in declared]
    aware = [
        s.timestamp("us", "UTC") if each is datetime.datetime else known
        for each, known in zip(declared, naive, strict=True)
    ]
    return [
        tuple([each for each in types if each is not None])
        for types in ([naive] if naive == aware else [naive, aware])
        if None not in types
    ]
