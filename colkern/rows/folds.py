"""The loop that updates states by rows, and its fallback to Python."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colkern.builders import array as build_array
from colkern.forks import cached_property
from colkern.kernels import row_values
from colkern.memory import EMPTY
from colkern.rows import kinds as k
from colkern.rows import near_sums
from colkern.rows.arenas import Room, placed_pool, rooms_of_thread
from colkern.rows.emitter import RETURN
from colkern.rows.front import Definition, definition_of
from colkern.rows.functions import of_text, write_program
from colkern.rows.inputs import Inputs, values_of
from colkern.rows.instances import has_fields
from colkern.rows.kinds import Kind
from colkern.rows.loop import Call, call_of, compiled_loop, loop_text, plain_rows
from colkern.rows.program import Program, Site
from colkern.rows.python_rows import called_in_python, refusal_of
from colkern.rows.state_memory import StateMemory
from colkern.rows.states import Outgrown, States, Words
from colkern.rows.terms import Term, term_of
from colkern.rows.values import Value, loaded, of_parts, stored, zeros

MOST_AT_ONCE = 1 << 10
"""The largest number of rows left to Python together after the row before them was left."""

CHANGED = "a row that changes containers of a state in Python"
"""The reason to leave all rows to Python if one that is left does so."""

NO_ROOM = "a row that takes too much memory"
"""The reason to leave all rows to Python if it is no line's."""

Numbers = NDArray[np.uint32]
Left = Counter[Site | None]


def written(
    function: Any, state: Kind, inputs: Inputs, wraps: bool, returns: Kind | None = None
) -> tuple[Program, str, Kind]:
    """Returns the result of `write_program` for a function of a state and of a row's inputs."""
    definition = _definition_for(function, state)
    first, *others = definition.parameters
    values = {first: of_parts(state, tuple("_" for _ in zeros(state)))}
    kinds = {RETURN: returns} if returns else {}
    return write_program(wraps, definition, values | values_of(others, inputs), kinds)


def _definition_for(function: Any, state: Kind) -> Definition:
    """Returns the definition of a function of a state, which may change an instance or a dictionary with
    constant keys, as that is its own copy."""
    definition = definition_of(function)
    if isinstance(state, k.Record) or k.is_row(state):
        return _with_own_state(definition, k.is_row(state))
    return definition


def _with_own_state(definition: Definition, is_row: bool) -> Definition:
    name, *others = definition.parameters
    names = map(f"{name}_{{}}".format, count())
    free = (name for name in names if name not in definition.mentions)
    parameter, copying = next(free), next(free)
    text = f"{{**{parameter}}}" if is_row else f"{copying}({parameter})"
    copied = ast.parse(f"{name} = {text}").body[0]
    ast.copy_location(copied, definition.body[0])
    body = [ast.fix_missing_locations(copied), *definition.body]
    all_names = definition.names | {copying: copy}
    return replace(definition, parameters=(parameter, *others), body=body, names=all_names)


_ROWS = """\
state = init()
while more:
    state = update(state, {parameters})
return state
"""


def kind_after_rows(
    init: Any, update: Any, inputs: Inputs, wraps: bool, begun: Any, has_rows: bool = True
) -> Kind:
    """Returns the kind of a state that begins as the result of `init`, after any number of rows.

    What rows add to an empty container says what its items are.

    Args:
        init, update: The functions.
        inputs, wraps, has_rows: As for `write_program`.
        begun: A result of `init`.
    """
    definition = definition_of(update)
    names = tuple(f"value_{n}" for n in range(len(definition.parameters) - 1))
    if type(begun) is dict or has_fields(type(begun)):
        definition = _with_own_state(definition, isinstance(begun, dict))
        parameters = [ast.arg(name) for name in definition.parameters]
        for parameter in parameters:
            vars(parameter)["called"] = parameter.arg
        arguments = ast.arguments([], parameters, None, [], [], None, [])
        update = ast.FunctionDef("update", arguments, definition.body, [])
    text = _ROWS.format(parameters=", ".join(names))
    rows = of_text(definition, text, ("more", *names), {"init": init, "update": update})
    values = {"more": Value(k.BOOL, "more")} | values_of(names, inputs)
    return write_program(wraps, rows, values, has_rows=has_rows)[2]


def _kinds_of_parts(kind: Kind) -> list[Kind]:
    """Returns the kind of each part of a value."""
    if isinstance(kind, k.Optional):
        return [k.BOOL, *_kinds_of_parts(kind.of)]
    if isinstance(kind, k.Compound):
        return [part for item in kind.items for part in _kinds_of_parts(item)]
    return [kind] * len(zeros(kind))


@dataclass(frozen=True)
class BoundInputs:
    """The memory that the inputs of a fold read.

    Args:
        values: Columns, or states.
        valid: The bitmap of the rows for which the function is called; empty for all.
        passed: The arguments of the loop for them.
    """

    values: Sequence[Any]
    valid: NDArray[Any]
    passed: Sequence[Any]


class Fold:
    """Updates states by rows.

    Args:
        title: The word for a row in notes on exceptions, before its number.
        function: A plain function from a state and a row's inputs to the next state.
        strict, wraps: As for `Plan`.

    Attributes:
        parameters: The names of the parameters in terms; a state that is copied has a name of its own.

    Raises:
        CompileError: If the function has no compiled form.
    """

    def __init__(
        self,
        title: str,
        function: Any,
        states: States,
        inputs: Inputs,
        strict: bool = False,
        wraps: bool = False,
    ) -> None:
        self._title = title
        self._function = function
        self._states = states
        self._inputs = inputs
        self._strict = strict
        kind = states.kind
        self.parameters = _definition_for(function, kind).parameters
        self.program, self._name, _ = written(function, kind, inputs, wraps, kind)
        # In code that is not vectorised, a branch is faster than computing on with any value.
        self._written = self.program.written[self._name]
        self.program.sources[self._name] = self._written.source(self._name, branches=True)
        self._texts = [self._text(grouped) for grouped in (False, True)]
        self._pool = placed_pool(self.program)
        self.computes_decimals = self.program.computes_decimals

    def text(self) -> str:
        """The generated source."""
        return "\n".join([*self.program.sources.values(), *self._texts])

    def term(self) -> Term:
        """Returns the function as a term of its arguments.

        Raises:
            NoTermError: If it has none.
        """
        state = of_parts(self._states.kind, zeros(self._states.kind))
        first, *others = self.parameters
        values = {first: state} | values_of(others, self._inputs)
        return term_of(self.program, self._name, values)

    def _site(self, reason: str) -> Site:
        code = self._function.__code__
        return Site(self._function.__name__, code.co_filename, code.co_firstlineno, reason)

    def _text(self, grouped: bool) -> str:
        """Returns the loop: all rows update one state, in registers, or each that of its group."""
        kind = self._states.kind
        names = tuple(f"s_{part}" for part in range(len(zeros(kind))))
        state = of_parts(kind, names)
        call = call_of(self.program, self._name, kind, self._inputs.arguments, self._site, names)
        place = "state" if grouped else "states"
        load = [f"{name} = {code}" for name, code in zip(names, loaded(kind, place), strict=True)]
        store = stored(kind, place, state)
        keeps = call.uses_arena and not self._states.are_fixed
        stop = [*([] if grouped else store), *(["set_word(arena, arena_begin)"] if keeps else [])]
        leave = [*stop, "leave(left, i8(i), status)", "return i8(i)"]
        if not self._states.change:
            leave[-2:-1] = [
                f"if status & 255 != {row_values.NO_ROOM}:",
                "    leave(left, i8(i), status)",
            ]
        new = [f"{name} = {part}" for name, part in zip(names, call.result.parts, strict=True)]
        step = list(call.lines)
        step += ["if status != 0:", *("    " + line for line in leave)] if call.leaves else []
        if keeps:
            step += self._kept(names, call.result.parts)
            if self._states.change:
                load.append("reserve = (get_word(arena + 8) - arena) >> 1")
                room = f"get_word(arena + 8) - (arena_begin & {~row_values.LAST_IS_TEXT})"
                stopped = ["    " + line for line in (*stop, "return i8(i)")]
                step = [f"if {room} < reserve:", *stopped, *step]
        step += new
        if not grouped:
            plain = self._plain_rows(call, names, new)
            return loop_text(call, step, ["states"], load, stop, plain=plain)
        find = f"state = states + i8(groups[i]) * {8 * kind.words}"
        row = [find, *load, *step, *store]
        plain = [] if call.one_by_one or not self._states.are_fixed else plain_rows(row, False)
        after = stop if keeps else []
        return loop_text(call, row, ["groups", "states"], after=after, plain=plain)

    def _kept(self, names: Sequence[str], parts: Sequence[str]) -> list[str]:
        """Returns lines that keep what a row has made if its new state may hold it."""
        if self._states.change:
            return ["arena_begin = get_word(arena)"]
        tests = []
        for kind, old, new in zip(_kinds_of_parts(self._states.kind), names, parts, strict=True):
            if kind in (k.TEXT, k.BYTES):
                tests += [f"{old}.{field} != {new}.{field}" for field in ("address", "size")]
            elif isinstance(kind, k.Container):
                tests.append(f"{old} != {new}")
        return [f"if {' or '.join(tests)}:", "    arena_begin = get_word(arena)"]

    def _plain_rows(self, call: Call, names: Sequence[str], new: Sequence[str]) -> list[str]:
        """Returns lines for rows without nulls, which update a copy of the state, as one may be left."""
        if call.one_by_one or not self._states.are_fixed:
            return []
        row = [*call.lines, *new]
        if not call.leaves:
            return plain_rows(row, False)
        near = f"{self._name}_near"
        parameters = [f"{self.parameters[0]}_{part}" for part in range(len(names))]
        numbers = [
            parameter if part.name == "int" else ""
            for parameter, part in zip(parameters, _kinds_of_parts(self._states.kind), strict=True)
        ]
        checked = self._written.source(near)
        near_sum = near_sums.near_sums(checked, near, numbers)
        self.program.sources[near], carried = near_sum or (checked, [])
        row = [line.replace(f"= {self._name}(", f"= {near}(") for line in row]
        most = near_sums.STATE
        own = [names[parameters.index(parameter)] for parameter in carried]
        is_near = " and ".join(f"-{most} < {name} < {most}" for name in own)
        for name in names:
            row = [re.sub(rf"\b{name}\b", f"n{name}", line) for line in row]
        begin = [f"n{name} = {name}" for name in names]
        return plain_rows(row, True, begin, [f"{name} = n{name}" for name in names], is_near)

    @cached_property
    def _loops(self) -> list[Any]:
        """The loop for a single state, and the loop for the states of groups."""
        title = self._function.__name__
        return [compiled_loop(self.program, text, title) for text in self._texts]

    def bound(self, values: Sequence[Any]) -> BoundInputs:
        """Returns the memory that the inputs read, after checks."""
        validity, _ = self._inputs.called(values)
        return BoundInputs(values, (validity or EMPTY).array, self._inputs.passed(values))

    def run(
        self,
        start: int,
        stop: int,
        inputs: BoundInputs,
        states: Words,
        memory: StateMemory,
        groups: Numbers | None = None,
    ) -> Left:
        """Updates states by a range of rows; returns the number of rows left to Python, by place.

        Args:
            states: The states, which are changed.
            memory: The memory of what they hold.
            groups: The state of each row; None if there is one state.

        Raises:
            Outgrown: If a state does not fit its kind any more.
        """
        left: Left = Counter()
        rooms = rooms_of_thread()
        rows = _Rows(self._inputs, inputs.values, stop)
        loop = self._loops[groups is not None]
        passed = list(inputs.passed)
        if groups is not None:
            # The loop is compiled for read-only arrays, whatever those of the groups are.
            passed.append(groups.view())
            passed[-1].flags.writeable = False
        at, behind, count = start, -1, 1
        while True:
            begin = rooms.arena.begin().address if self._states.are_fixed else memory.address
            pool = self._pool.ctypes.data
            at = loop(
                at, stop, inputs.valid, begin, pool, rooms.left.address, *passed, states.ctypes.data
            )
            if at >= stop:
                return left
            noted = rooms.left.taken()
            if not len(noted) and self._more_room(rooms.arena, states, memory):
                continue
            site = self._left_at(at, noted)
            # If consecutive rows are left, Python computes more and more of them before the next attempt.
            count = min(2 * count, MOST_AT_ONCE) if at == behind else 1
            behind = min(at + count, stop)
            for row in range(at, behind):
                if not len(inputs.valid) or inputs.valid[row >> 3] >> (row & 7) & 1:
                    left[site] += 1
                    place = 0 if groups is None else int(groups[row])
                    self._step(row, rows[row], states[place], memory)
            at = behind
            if at >= stop:
                return left

    def _left_at(self, row: int, noted: NDArray[np.int64]) -> Site | None:
        """Returns the place where a row was left; raises if Python must not go on from the state there."""
        site = self.program.site_of(int(noted[0, 1]) if len(noted) else 0)
        if self._strict:
            raise refusal_of(f"{self._title} {row}", site)
        if self._states.change:
            raise Outgrown(site.reason if site else NO_ROOM)
        return site

    def _more_room(self, arena: Room, states: Words, memory: StateMemory) -> bool:
        """Makes more room for a row; returns False if there is room for any."""
        if self._states.are_fixed:
            return arena.begin().grow()
        if self._states.change or memory.size < memory.most:
            return memory.grow()
        self._states.copy(states, memory)
        return True

    def _step(self, row: int, values: Sequence[Any], state: Words, memory: StateMemory) -> None:
        """Update a state by a row in Python."""
        arguments = [*self._states.values(state[None]), *values]
        states = arguments if isinstance(self._inputs, States) else arguments[:1]
        before = self._states.parted(states)
        (after,) = called_in_python(self._function, [(row, arguments)], self._title)
        if self._states.parted(states) != before:
            # What was one container in several places of a state is several here.
            raise Outgrown(CHANGED)
        state[:] = self._states.words(after, memory)

    def compile(self, whole: bool = True) -> None:
        """Compile the loops, or load their machine code; the function is not called.

        Args:
            whole: Whether the loop for a single state is needed.
        """
        states = np.zeros((1, self._states.kind.words), np.int64)
        for groups in (None, np.zeros(0, np.uint32)):
            if groups is not None or whole:
                self.run(0, 0, self.bound(self._inputs.none()), states, StateMemory(), groups)


class _Rows:
    """Rows as Python values, converted in advance a number at a time."""

    COUNT = 64

    def __init__(self, inputs: Inputs, values: Sequence[Any], stop: int) -> None:
        self._inputs = inputs
        self._columns = values
        self._stop = stop
        self._first = 0
        self._values: list[Sequence[Any]] = []

    def __getitem__(self, row: int) -> Sequence[Any]:
        if not self._first <= row < self._first + len(self._values):
            places = np.arange(row, min(row + self.COUNT, self._stop))
            self._first = row
            self._values = list(self._inputs.rows(self._columns, build_array(places)))
        return self._values[row - self._first]
