"""Runs a reducer over columns: states by range and by group, merged in the order of the ranges."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colkern import schema as s
from colkern.arrays import Array
from colkern.cpu.threads import GRAIN, run_ranges
from colkern.errors import CompileError, UnsupportedError
from colkern.operations.grouping import Groups
from colkern.rows import kinds as k
from colkern.rows.constants import constant_block, is_data, kind_of
from colkern.rows.folds import BoundInputs, Fold, Left, kind_after_rows, written
from colkern.rows.forms import Form
from colkern.rows.front import definition_of
from colkern.rows.inputs import Columns, Inputs, Replanned
from colkern.rows.instances import has_fields
from colkern.rows.kinds import Kind
from colkern.rows.plan import Plan
from colkern.rows.program import Program, Site
from colkern.rows.python_rows import (
    OTHER_CONTEXT,
    PythonPlan,
    called_in_python,
    called_rows,
    is_usual_context,
)
from colkern.rows.reports import Report
from colkern.rows.state_memory import StateMemory
from colkern.rows.states import Outgrown, States, Words, require_state, settled
from colkern.rows.terms import NoTermError, Term


@dataclass(frozen=True, slots=True)
class Functions:
    """The plain functions of a reducer."""

    init: Any
    update: Any
    merge: Any = None
    finish: Any = None


@dataclass(frozen=True)
class ReducerTerms:
    """The functions of a reducer as terms.

    Args:
        state: The kind of its states.
        begun: The initial state.
        parameters: The kinds of the parameters of `update` after the state, by their names.
        update: The state after a row.
        merge: The merged state, if there is a `merge`.
        finish: The result.
        state_name: The name of the state in `update`.
        merged_names: The names of the states in `merge`.
        finished_name: The name of the state in `finish`.
    """

    state: Kind
    begun: Any
    parameters: dict[str, Kind]
    update: Term
    merge: Term | None
    finish: Term
    kind: Kind
    state_name: str
    merged_names: tuple[str, ...]
    finished_name: str


class Reduction(Replanned):
    """Runs a reducer over columns of certain types.

    Args:
        columns: The types of the columns, none of them encoded.
        forms: The forms in which `update` gets their values.
        returns: The declared type of the results; None for what `finish` returns.
        strict, wraps, inner_nulls: As for `Plan`.

    Attributes:
        returns: The type of the results.

    Raises:
        CompileError: If a function has no compiled form, or the state changes its type.
        UnsupportedError: If a column, the state or the results have no compiled form.
    """

    def __init__(
        self,
        name: str,
        functions: Functions,
        columns: Sequence[s.DataType],
        forms: Sequence[Form],
        returns: s.DataType | type | None = None,
        strict: bool = False,
        wraps: bool = False,
        inner_nulls: bool = False,
    ) -> None:
        self._name = name
        self._functions = functions
        parameters = definition_of(functions.update).parameters[1:]
        self._columns = Columns(parameters, columns, forms, inner_nulls)
        arguments = name, functions, columns, forms, returns, strict, wraps
        super().__init__(self._columns, *arguments)
        begun = functions.init()
        kind, change = _kind_of_states(name, functions, begun, self._columns, wraps)
        self._begun = constant_block(begun, kind)
        self._states = States(kind, change=change)
        self._update = Fold(
            f"{name}: row", functions.update, self._states, self._columns, strict, wraps
        )
        # A merge would take parts of one state into another, and change those.
        self._merge = (
            Fold(
                f"{name}: merge of group",
                functions.merge,
                self._states,
                self._states,
                strict,
                wraps,
            )
            if functions.merge and not change
            else None
        )
        finish = functions.finish or state_itself
        # A row that is left has not changed the state that it is left with.
        finished = States(k.unchangeable(kind))
        self._finish = _Finish(name, finish, finished, returns, strict, wraps)
        folds = [fold.computes_decimals for fold in (self._update, self._merge) if fold]
        self._computes_decimals = any([*folds, self._finish.computes_decimals])
        self.returns = self._finish.returns
        parts = (self._update, self._merge, self._finish)
        self.programs: Sequence[Program] = [part.program for part in parts if part]

    @property
    def words(self) -> int:
        """The number of eight-byte words of a state."""
        return self._states.kind.words

    @property
    def merges(self) -> bool:
        """Whether states can be taken out, sent elsewhere, and merged."""
        return self._merge is not None and self._states.are_fixed

    def terms(self) -> ReducerTerms:
        """Returns the functions as terms.

        Raises:
            NoTermError: If one has none.
        """
        if not self._states.are_fixed:
            raise NoTermError(f"a state that is {self._states.kind}", 0)
        state, *names = self._update.parameters
        kinds = [argument.kind for argument in self._columns.arguments]
        return ReducerTerms(
            self._states.kind,
            self._states.values(self._states.begun(self._begun, 1, StateMemory()))[0],
            dict(zip(names, kinds, strict=True)),
            self._update.term(),
            self._merge.term() if self._merge else None,
            self._finish.term(),
            self._finish.kind,
            state,
            self._merge.parameters if self._merge else (),
            definition_of(self._finish.function).parameters[0],
        )

    def text(self) -> str:
        """The generated source."""
        parts = (self._update, self._merge, self._finish)
        return "\n".join(part.text() for part in parts if part)

    def run(
        self, arrays: Sequence[Array], length: int, groups: Groups | None = None
    ) -> tuple[Array, Left]:
        """Returns a result for each group, or one for all rows, and the number of rows left to Python."""
        plan = self.for_arrays(arrays)
        if plan is not self:
            return plan.run(arrays, length, groups)
        reason = OTHER_CONTEXT if self._computes_decimals and not is_usual_context() else ""
        try:
            if not reason:
                states, left, _held = self._reduced(arrays, length, groups)
                finished, more = self._finish.run([states], len(states))
                return finished, left + more
        except Outgrown as error:
            reason = error.reason
        reduced = python_states(self._name, self._functions, arrays, self._columns.forms, groups)
        code = self._functions.update.__code__
        site = Site(self._name, code.co_filename, code.co_firstlineno, reason)
        return self._finish.in_python(reduced), Counter({site: length})

    def group_states(
        self,
        arrays: Sequence[Array],
        length: int,
        groups: Groups | None = None,
        report: Report | None = None,
    ) -> Words:
        """Returns the state of each group of rows, or of all rows, before `finish`.

        Args:
            groups: The groups; None for a single group of all rows.
            report: Counts the rows, and those that are left to Python.

        Raises:
            OverflowError: If a state does not fit its kind, such as an integer of more than 64 bits.
        """
        try:
            states, left, _ = self._reduced(arrays, length, groups)
        except Outgrown:
            raise self._no_words() from None
        if report is not None:
            report.add(length, left)
        return states

    def results_of_states(self, states: Words, offsets: NDArray[np.int64]) -> Array:
        """Returns a result for each run of states, merged in their order; the reducer must have a `merge`.

        Args:
            states: As from `group_states`, for all runs one after the other.
            offsets: The first state of each run, and the number of states (int64[runs + 1]).

        Raises:
            OverflowError: As `group_states`.
        """
        assert self._merge is not None
        firsts, counts = offsets[:-1], np.diff(offsets)
        whole = states[firsts]
        others = np.ones(len(states), bool)
        others[firsts] = False
        runs = np.repeat(np.arange(len(counts), dtype=np.uint32), counts)[others]
        try:
            inputs = self._merge.bound([states[others]])
            self._merge.run(0, len(runs), inputs, whole, StateMemory(), runs)
        except Outgrown:
            raise self._no_words() from None
        return self._finish.run([whole], len(whole))[0]

    def compile(self) -> None:
        """Compile all loops, or load their machine code; only `init` is called."""
        self._update.compile()
        if self._merge is not None:
            self._merge.compile(whole=False)
        self._finish.compile()

    def _no_words(self) -> OverflowError:
        return OverflowError(
            f"{self._name}: a state is no {self._states.kind} of 64 bits any more, as Spark has it"
        )

    def _reduced(
        self, arrays: Sequence[Array], length: int, groups: Groups | None
    ) -> tuple[Words, Left, list[BoundInputs | StateMemory]]:
        """Returns the state of each group after all rows, and what has the memory that states refer to."""
        count = 1 if groups is None else len(groups.firsts)
        numbers = None if groups is None else groups.numbers
        inputs = self._update.bound(arrays)

        def reduced(start: int, stop: int) -> tuple[Words, Left, StateMemory]:
            memory = StateMemory()
            states = self._states.begun(self._begun, count, memory)
            return states, self._update.run(start, stop, inputs, states, memory, numbers), memory

        if self._merge is None:
            states, left, memory = reduced(0, length)
            return states, left, [inputs, memory]
        # Each range has its own states for all groups, so it needs at least as many rows to be worth it.
        (states, left, memory), *others = run_ranges(reduced, length, (), grain=max(GRAIN, count))
        each = np.arange(count, dtype=np.uint32)
        for other, more, _ in others:
            left += more
            left += self._merge.run(0, count, self._merge.bound([other]), states, memory, each)
        return states, left, [inputs, memory, *(memory for _, _, memory in others)]


class _Finish(Plan):
    """Converts states to results."""

    def __init__(
        self,
        name: str,
        finish: Callable[..., Any],
        states: States,
        returns: s.DataType | type | None,
        strict: bool,
        wraps: bool,
    ) -> None:
        self._states = states
        row = "finish of group"
        super().__init__(finish, [], [], returns, strict, wraps, title=name, row=row)

    def _inputs(self, *_: object) -> Inputs:
        return self._states

    def in_python(self, states: list[Any]) -> Array:
        """Returns the results for states that are Python values."""
        rows = enumerate((state,) for state in states)
        results = called_in_python(self.function, rows, self._row)
        return self._as_array(results, np.arange(len(states)))


class PythonReduction(PythonPlan):
    """A reducer that only runs in Python; the arguments are as for `Reduction`."""

    def __init__(
        self,
        name: str,
        functions: Functions,
        forms: Sequence[Form],
        returns: s.DataType | type | None,
    ) -> None:
        super().__init__(functions.finish or state_itself, forms, returns, name)
        self._name = name
        self._functions = functions

    def run(
        self, arrays: Sequence[Array], length: int, groups: Groups | None = None
    ) -> tuple[Array, Left]:
        """See `Reduction`."""
        states = python_states(self._name, self._functions, arrays, self._forms, groups)
        rows = enumerate((state,) for state in states)
        return self._column(
            called_in_python(self._function, rows, f"{self._name}: finish of group")
        ), Counter()


def python_states(
    name: str,
    functions: Functions,
    arrays: Sequence[Array],
    forms: Sequence[Form],
    groups: Groups | None,
) -> list[Any]:
    """Returns the state of each group after all rows, computed in Python."""
    states = [functions.init() for _ in range(1 if groups is None else len(groups.firsts))]
    for place, row in called_rows(arrays, forms):
        group = 0 if groups is None else int(groups.numbers[place])
        called = [(place, (states[group], *row))]
        (states[group],) = called_in_python(functions.update, called, f"{name}: row")
    return states


def state_itself(state: object) -> object:
    """Returns the state; used in place of a missing `finish`."""
    return state


def _kind_of_states(
    name: str, functions: Functions, begun: Any, columns: Inputs, wraps: bool
) -> tuple[Kind, bool]:
    """Returns a kind that holds the results of `init`, `update` and `merge`, and whether rows change
    containers in states.

    Raises:
        CompileError: If there is none, or if a function has no compiled form.
        UnsupportedError: If a state cannot have that kind.
    """
    if not _holds_containers(begun):
        try:
            kind = _settled(name, functions, kind_of(begun), columns, wraps)
        except UnsupportedError as error:
            raise CompileError(
                f"{name}: init returns {type(begun).__name__}: {error}{_line(functions.init)}"
            ) from None
        if not any(k.containers_in(kind)):
            return kind, False
        # Rows may change what the first of them has made.
        return _least_left(name, functions, k.from_elsewhere(kind), columns, wraps)[1:]
    rows: tuple[int, Kind, bool] | CompileError
    try:
        kind = _kind_with_containers(functions, begun, columns, wraps)
        rows = _least_left(name, functions, kind, columns, wraps)
        if not rows[0] or not any(map(k.is_row, k.parts_of(kind))):
            return rows[1:]
    except CompileError as error:
        rows = error
    try:
        # Rows bring other keys to a dictionary that begins with constant ones.
        kind = kind_after_rows(
            functions.init, functions.update, columns, wraps, begun, has_rows=False
        )
        other = _least_left(name, functions, k.from_elsewhere(kind), columns, wraps)
    except (CompileError, UnsupportedError):
        if isinstance(rows, CompileError):
            raise rows from None
        return rows[1:]
    return other[1:] if isinstance(rows, CompileError) or other[0] < rows[0] else rows[1:]


def _kind_with_containers(functions: Functions, begun: Any, columns: Inputs, wraps: bool) -> Kind:
    """Returns the kind of a state that begins with containers, which rows may change."""
    try:
        return k.from_elsewhere(
            kind_after_rows(functions.init, functions.update, columns, wraps, begun)
        )
    except CompileError:
        with suppress(UnsupportedError):
            kind = k.from_elsewhere(kind_of(begun))
            if k.NEVER not in k.parts_of(kind):
                return kind
        raise


def _least_left(
    name: str, functions: Functions, kind: Kind, columns: Inputs, wraps: bool
) -> tuple[int, Kind, bool]:
    """Returns the least number of constructs for which rows are left to Python, the kind of the states for
    it, and whether rows change containers in them."""
    require_state(kind)
    attempts = []
    refusal: CompileError | None = None
    for change in (False, True):
        # A merge would take parts of one state into another, and change those.
        used = Functions(functions.init, functions.update) if change else functions
        try:
            settled = _settled(name, used, kind if change else k.unchangeable(kind), columns, wraps)
            attempts.append((_gaps(used, settled, columns, wraps), settled, change))
        except CompileError as error:
            refusal = error
        if attempts and not attempts[-1][0]:
            break
    if not attempts:
        assert refusal is not None
        raise refusal
    return min(attempts, key=itemgetter(0))


def _holds_containers(value: Any) -> bool:
    """Whether a state is or has what rows change, or an instance of which rows alone tell the fields."""
    if isinstance(value, list | dict | set | deque):
        return True
    if isinstance(value, tuple):
        return any(map(_holds_containers, value))
    if not is_data(value):
        return has_fields(type(value))
    return any(_holds_containers(getattr(value, field.name)) for field in fields(value))


def _gaps(functions: Functions, kind: Kind, columns: Inputs, wraps: bool) -> int:
    """Returns the number of constructs without a compiled form, for which rows are left to Python."""
    programs = [written(functions.update, kind, columns, wraps, kind)[0]]
    if functions.merge:
        programs.append(written(functions.merge, kind, States(kind), wraps, kind)[0])
    return sum(len(program.gaps) for program in programs)


def _settled(name: str, functions: Functions, kind: Kind, columns: Inputs, wraps: bool) -> Kind:
    """Returns the kind of states that begin with a kind, and are results of the functions later."""
    while True:
        before = kind
        for verb, function in (("update", functions.update), ("merge", functions.merge)):
            if function is None:
                continue
            inputs = columns if verb == "update" else States(kind)
            # A dictionary that changes stays one with constant keys.
            least = kind if k.is_row(kind) else None
            returned = written(function, kind, inputs, wraps, least)[2]
            wider = settled(kind, returned)
            if wider is None:
                raise CompileError(
                    f"{name}: {verb} returns {returned} where the state is {kind}; a state keeps its "
                    f"type{_line(function)}"
                )
            kind = wider
        if kind == before:
            require_state(kind)
            return kind


def _line(function: Any) -> str:
    code = function.__code__
    return f'\n  File "{code.co_filename}", line {code.co_firstlineno}'
