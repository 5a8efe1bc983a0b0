"""Running a reducer over arrays: states by range and by group, merged in the order of the ranges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colkern import schema as s
from colkern.arrays import Array
from colkern.cpu.threads import GRAIN, run_ranges
from colkern.forks import cached_property
from colkern.jit.compiling.row_function import RowFunction
from colkern.jit.rows.execution import Plan
from colkern.jit.rows.inputs import Inputs, bits
from colkern.jit.rows.loops import Body, compile_loop
from colkern.jit.rows.row_loop import RowLoop, note_row
from colkern.jit.rows.states import State
from colkern.operations import nulls as null_array
from colkern.operations.grouping import Groups, group_rows

States = list[NDArray[Any]]


@dataclass(frozen=True, slots=True)
class RowFunctions:
    """The functions of a reducer; None where it has none."""

    init: RowFunction
    update: RowFunction
    merge: RowFunction | None
    finish: RowFunction


class Reduction:
    """How a reducer runs over arrays of certain types.

    Args:
        name: Its name, for messages.
        inputs: How the columns are read.
        functions: Its functions.
        state: What its state is.
        returns: The type of the results.
    """

    def __init__(
        self, name: str, inputs: Inputs, functions: RowFunctions, state: State, returns: s.DataType
    ) -> None:
        self._name = name
        self._inputs = inputs
        self._functions = functions
        self._state = state
        self._returns = returns
        starting = compile_loop(functions.init, [], [], _begun(state))
        self._init = RowLoop(name, starting, returns, "init of group")
        finishing = Inputs([], [state.reader()], [False])
        self._finish = Plan(name, finishing, functions.finish, returns, "finish of group")

    @cached_property
    def _whole(self) -> RowLoop:
        return self._update_loop(_whole(self._state))

    @cached_property
    def _grouped(self) -> RowLoop:
        return self._update_loop(_grouped(self._state))

    def _update_loop(self, body: Body) -> RowLoop:
        inputs = self._inputs
        loop = compile_loop(self._functions.update, inputs.readers, inputs.nullable, body)
        return RowLoop(self._name, loop, self._returns)

    @cached_property
    def _merge(self) -> RowLoop | None:
        merge, reader = self._functions.merge, self._state.reader()
        if merge is None:
            return None
        loop = compile_loop(merge, [reader] * 2, [False] * 2, _merged(self._state))
        return RowLoop(self._name, loop, self._returns, "merge of group")

    def run(self, arrays: Sequence[Array], length: int) -> Array:
        """One result for all rows of arrays of one length: an array of one value."""
        passed, _, _ = self._inputs.of(arrays)
        return self._results(self._whole, length, passed, 1)

    def run_groups(self, arrays: Sequence[Array], length: int, groups: Groups) -> Array:
        """A result for each group of rows."""
        passed, _, _ = self._inputs.of(arrays)
        return self._results(self._grouped, length, [*passed, groups.numbers], len(groups.firsts))

    def no_states(self) -> States:
        """The arrays of the states of no group: an array for each number of a state."""
        return self._fresh(0)

    def group_states(self, arrays: Sequence[Array], length: int, groups: Groups) -> States:
        """The state of each group of rows, before `finish`."""
        passed, _, _ = self._inputs.of(arrays)
        return self._reduced(self._grouped, length, [*passed, groups.numbers], len(groups.firsts))

    def results_of_states(self, states: States, offsets: NDArray[np.int64]) -> Array:
        """A result for each run of states, merged in their order; the reducer must have a `merge`.

        Args:
            states: As from `group_states`, for all runs one after the other.
            offsets: The first state of each run, and the number of states (int64[runs + 1]).
        """
        assert self._merge is not None
        firsts, counts = offsets[:-1], np.diff(offsets)
        whole = [array[firsts] for array in states]
        for place in range(1, int(counts.max(initial=0))):
            runs = np.flatnonzero(counts > place)
            left = [array[runs] for array in whole]
            right = [array[firsts[runs] + place] for array in states]
            merged = self._fresh(len(runs))
            arguments = [bits(None), *left, *right, *merged]
            self._merge.compile(arguments)
            self._merge.run_range(0, len(runs), arguments)
            for array, part in zip(whole, merged, strict=True):
                array[runs] = part
        return self._finish.results([bits(None), *whole], None, 0, len(firsts))

    def compile(self, types: Sequence[s.DataType]) -> None:
        """Compile all loops for arrays of those types; nothing is called but `init`.

        Raises:
            CompileError: If it does not compile.
        """
        states = self._fresh(0)
        passed = self._inputs.of_types(types)
        self._whole.compile([*passed, *states])
        self._grouped.compile([*passed, group_rows([null_array(0, s.int64())]).numbers, *states])
        if self._merge is not None:
            self._merge.compile([bits(None), *states, *states, *states])
        self._finish.results([bits(None), *states], None, 0, 0)

    def _fresh(self, count: int) -> States:
        states = self._state.arrays(count)
        arguments = [bits(None), *states]
        self._init.compile(arguments)
        self._init.run_range(0, count, arguments)
        return states

    def _results(self, loop: RowLoop, length: int, passed: list[Any], count: int) -> Array:
        states = self._reduced(loop, length, passed, count)
        return self._finish.results([bits(None), *states], None, 0, count)

    def _reduced(self, loop: RowLoop, length: int, passed: list[Any], count: int) -> States:
        """The state of each group after all rows."""
        loop.compile([*passed, *self._fresh(0)])

        def reduced(start: int, stop: int) -> States:
            states = self._fresh(count)
            try:
                loop.run_range(start, stop, [*passed, *states])
            except Exception as error:
                attempt = _Resumable(loop, passed, self._fresh(count))
                note_row(error, self._name, attempt, start, stop)
                raise
            return states

        if self._merge is None:
            return reduced(0, length)
        # A range has states of its own for all groups, so it is worth its while with more rows.
        states: States
        states, *others = run_ranges(reduced, length, (), grain=max(GRAIN, count))
        for other in others:
            merged = self._fresh(count)
            self._merge.run(count, [bits(None), *states, *other, *merged])
            states = merged
        return states


class _Resumable:
    """Updates states by ranges of rows that follow each other; a range that raises changes nothing."""

    def __init__(self, loop: RowLoop, passed: list[Any], states: States) -> None:
        self._loop = loop
        self._arguments = [*passed, *states]
        self._states = states
        self._begun = [array.copy() for array in states]

    def __call__(self, start: int, stop: int) -> None:
        try:
            self._loop.run_range(start, stop, self._arguments)
        except Exception:
            for array, before in zip(self._states, self._begun, strict=True):
                array[:] = before
            raise
        for array, before in zip(self._states, self._begun, strict=True):
            before[:] = array


def _begun(state: State) -> Body:
    """All slots become the state before any row."""
    return Body(state.parameters, state.store("i"), before=("state = function()",))


def _whole(state: State) -> Body:
    """All slots update one state, which stays in registers."""
    return Body(
        state.parameters,
        slot=("state = function(state, {arguments})",),
        before=(f"state = {state.load('0')}",),
        after=state.store("0"),
    )


def _grouped(state: State) -> Body:
    """Each slot updates the state of its group (uint32[n])."""
    slot = (
        "group = u8(groups[i])",
        f"state = function({state.load('group')}, {{arguments}})",
        *state.store("group"),
    )
    return Body(("groups", *state.parameters), slot)


def _merged(state: State) -> Body:
    """Each slot is a group: the states of two ranges become one."""
    return Body(state.parameters, ("state = function({arguments})", *state.store("i")))
