"""The writer of one function of a row function's source: names, checks, and what is known of variables.

A variable of the user's function is a `Value`, bound anew by each assignment. Where control flow meets,
in loops and in `try`, it is a cell: a variable of the generated source of one kind. A kind that turns out
too narrow is noted, and the function is written again.
"""

from __future__ import annotations

import ast
import datetime
import decimal
import enum
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

from colkern.errors import CompileError, UnsupportedError, with_line
from colkern.kernels import row_decimals, row_values
from colkern.rows import kinds as k
from colkern.rows.constants import constant_block, decimal_words, identity, kind_of, word_of
from colkern.rows.front import Definition, changing_instances, variables_of
from colkern.rows.kinds import Kind
from colkern.rows.program import (
    Block,
    Check,
    Exit,
    Operation,
    Program,
    Recursion,
    Return,
    Site,
)
from colkern.rows.row_displays import changing_rows, rows_of
from colkern.rows.scopes import declared_elsewhere, deleted_names
from colkern.rows.values import NONE, Value, loaded, of_parts, tuple_of_values, zeros


class MeetsNumPy(Exception):
    """The function uses NumPy: all of it is to be written again, for numbers that may be NumPy's."""


class Wider(Exception):
    """A kind turned out too narrow: the function is to be written again.

    Args:
        widened: The kinds of that function; None for the outermost one.
    """

    def __init__(self, widened: dict[Any, Kind] | None) -> None:
        super().__init__()
        self.widened = widened


class Unsettled(CompileError):
    """A function calls itself here, and of what kind its result is will be known from other places.

    Args:
        recursion: The calls of that function.
    """

    def __init__(self, recursion: Recursion) -> None:
        super().__init__("a function calls itself in any case")
        self.recursion = recursion


BREAK, CONTINUE, LEAVE = 1, 2, 3
"""The statements that leave a `try`: `LEAVE` is a `return`."""


@dataclass
class Attempt:
    """A `try` that the source stands in.

    Args:
        code: The variable that has the status of what was raised.
        flow: The variable that says which statement left it: 0 none, or `BREAK`, `CONTINUE`, `LEAVE`.
        is_final: Whether it has a `finally`.
        flows: Which statements leave it.
        returned: The variables of the result, if a `return` left it for a `finally` around.
    """

    code: str
    flow: str
    is_final: bool = False
    flows: set[int] = field(default_factory=set)
    returned: Value | None = None


class Emitter:
    """Writes one function.

    Args:
        program: What it shares with others.
        definition: The user's function.
        widened: The kinds of cells and containers that turned out too narrow, by what they belong to.
        stored: The variables that the function assigns to.

    Attributes:
        yielded: The list of what a generator yields.
        rounds: The variable that counts the rounds of a generator's loops, if these may be too many.
        gone_over: The call whose items a loop is about to go over: that of a generator may be none other.
        shared: The variables that functions within this one assign to, by `nonlocal`, or methods change.
        changing: The variables that this loop assigns to.
        changing_rows: The variables of dictionaries with constant keys that are assigned other values.
        is_ahead: Whether items are made before they are asked for, if they ever are.
        leaves_raised: Whether what is raised leaves the row, as it does there.
        read_later: The containers that iterators read which the loops around this place go over.
        gaps: How many parts without a compiled form were written so that they leave the row.
        has_calls_left: Whether a call of a library's function was written so.
        operations: The calls of the table's methods, as of `Written`.
    """

    def __init__(
        self,
        program: Program,
        definition: Definition,
        widened: dict[Any, Kind],
        stored: Collection[str],
    ) -> None:
        self.program = program
        self.definition = definition
        self.widened = widened
        self.node: ast.AST = ast.Pass(lineno=definition.function.__code__.co_firstlineno)
        self.block = Block()
        self.env: dict[str, Value] = {}
        self.cells: dict[str, Cell] = {}
        self.attempts: list[Attempt] = []
        self.loops: list[Any] = []
        self.dead = False
        self.has_soft_checks = False
        self.depth = 0
        self.locals = {*stored, *definition.parameters}
        self.shared = declared_elsewhere(definition.body) | changing_instances(definition)
        self._deleted = deleted_names(definition.body)
        self.changing_rows = changing_rows(definition.body)
        program.may_change_rows |= bool(self.changing_rows)
        if not program.changes_rows:
            self.changing_rows = set()
        self.rows = rows_of(definition.body, self.changing_rows)
        self.yielded: Value | None = None
        self.rounds = ""
        self.gone_over: ast.AST | None = None
        self.changing: Collection[str] = ()
        self.read_later: list[Kind] = []
        self.is_ahead = self.leaves_raised = False
        self.gaps = 0
        self.has_calls_left = False
        self.operations: dict[str, tuple[Operation, int]] = {}
        self._names = 0

    # Going back

    def state(self) -> tuple[object, ...]:
        """Where the writing stands, for `restore`."""
        counts = len(self.block.lines), len(self.attempts), len(self.loops), len(self.read_later)
        return self.block, dict(self.env), dict(self.cells), *counts, self.depth

    def restore(self, state: tuple[Any, ...]) -> None:
        """Forget what was written since."""
        self.block, self.env, self.cells, lines, attempts, loops, reads, self.depth = state
        del self.block.lines[lines:], self.attempts[attempts:], self.loops[loops:]
        del self.read_later[reads:]
        self.dead = False

    @contextmanager
    def looking(self) -> Iterator[None]:
        """Find out about a value: what is written meanwhile is forgotten."""
        before, was_dead = self.state(), self.dead
        yield
        self.restore(before)
        self.dead = was_dead

    # Lines

    def write(self, line: str) -> None:
        """Add a line."""
        if not self.dead:
            self.block.lines.append(line)

    @contextmanager
    def within(self, head: str) -> Iterator[Block]:
        """Add a line that opens a block, and write into the block meanwhile."""
        block = Block()
        if not self.dead:
            self.block.lines += [head, block]
        outer, self.block = self.block, block
        try:
            yield block
        finally:
            self.block = outer

    def fresh(self, stem: str = "t") -> str:
        """A name that is not used yet."""
        self._names += 1
        # A variable that no user's is has a name that none could have.
        return f"{stem if stem.isidentifier() else 't'}_{self._names}"

    def keep_names(self, count: int) -> None:
        """Leave the names with so many first numbers to the parts of parameters."""
        self._names = count

    def bind(self, code: str, stem: str = "t") -> str:
        """A name for what an expression computes, now; names and numbers stand for themselves."""
        if code.isidentifier() or _is_number(code):
            return code
        name = self.fresh(stem)
        self.write(f"{name} = {code}")
        return name

    def bind_value(self, kind: Kind, codes: Sequence[str]) -> Value:
        """A value whose parts are computed now."""
        return of_parts(kind, tuple(self.bind(code) for code in codes))

    def use(self, body: Callable[..., Any]) -> str:
        """The name of a body in the generated source."""
        # With its module's name, as the lines that load and store items name bodies too.
        name = f"{body.__module__.rpartition('.')[2]}_{body.__name__}"
        while self.program.bodies.setdefault(name, body) is not body:
            name += "_"
        return name

    # Constants

    def text(self, value: str) -> str:
        """Code for a constant text."""
        data = value.encode()
        return f"Text(pool + {self.program.place(data)}, {len(data)}, {value.isascii()})"

    def bytes(self, value: bytes) -> str:
        """Code for constant bytes."""
        return f"Bytes(pool + {self.program.place(value)}, {len(value)})"

    # Leaving and raising

    def site(self, reason: str) -> int:
        """The number of the line that is written."""
        definition = self.definition
        line = getattr(self.node, "lineno", 1)
        name = definition.function.__name__
        return self.program.site(Site(name, definition.path, line, reason))

    def leave_if(self, test: str, reason: str) -> None:
        """Leave the row to Python where a test holds, and go on with whatever values there are.

        Nothing is left out by a branch, so that a loop over rows stays one that a compiler vectorises.
        Where the function has a loop of its own, none is, and a branch takes half the time.
        """
        if self.loops:
            self.fail_if(test, row_values.LEFT, reason)
            return
        self.has_soft_checks = True
        self.write(Check(f"{self.site(reason) << 8 | row_values.LEFT} if {test}"))

    def require_sound(self) -> None:
        """End the function here where a value is already wrong: before loops and memory depend on it."""
        if self.has_soft_checks:
            with self.within("if bad != 0:"):
                self.write(Exit("bad"))

    def fail_if(self, test: str, code: str | int, reason: str) -> None:
        """Raise, or leave the row, where a test holds: by the code of `colkern.kernels.row_values`."""
        if not self.dead:
            with self.within(f"if {test}:"):
                self.fail(code, reason)
            self.dead = False

    def fail(self, code: str | int, reason: str) -> None:
        """Raise, or leave the row, with a code."""
        if self.leaves_raised and code != row_values.NO_ROOM:
            code = row_values.LEFT if isinstance(code, int) else _left(code)
        if self.attempts:
            self.write(f"{self.attempts[-1].code} = {self._status(code, reason)}")
            self.write("break")
        else:
            self.write(Exit(self._status(code, reason)))
        self.dead = True

    def left(self, kind: Kind, reason: str) -> Value:
        """Leave the row, as only Python computes a value; what follows is written for one of its kind."""
        self.gaps += 1
        self.fail_if("True", row_values.LEFT, reason)
        return of_parts(kind, zeros(kind))

    def computed(self, reason: str) -> Value:
        """Leave the row at a call that has no compiled form; of what kind its result is, nobody knows."""
        self.program.gaps.add(reason)
        self.program.calls_left.add(reason)
        self.has_calls_left = True
        return self.left(k.NEVER, reason)

    def _status(self, code: str | int, reason: str) -> str:
        site = self.site(reason) << 8
        return str(site | code) if isinstance(code, int) else f"{site} | {code}"

    def reraise(self, status: str) -> None:
        """Raise, or leave the row, as a status says."""
        if self.leaves_raised:
            status = f"({status} & ~255) | {_left(f'{status} & 255')}"
        if self.attempts:
            self.write(f"{self.attempts[-1].code} = {status}")
            self.write("break")
        else:
            self.write(Exit(status))
        self.dead = True

    @contextmanager
    def ahead(self, is_only_raised: bool = False) -> Iterator[None]:
        """Write what makes items that Python may make later, or never.

        Args:
            is_only_raised: Whether it is made now, and an exception alone leaves the row.
        """
        before = self.is_ahead, self.leaves_raised
        self.is_ahead, self.leaves_raised = self.is_ahead or not is_only_raised, True
        try:
            yield
        finally:
            self.is_ahead, self.leaves_raised = before

    def read_ahead(self, names: Iterable[str]) -> None:
        """Note variables that are read now, and in Python later: they must not change meanwhile."""
        for name in sorted(names):
            if name in self.changing:
                self.refuse(
                    f"{name} changes while an iterator reads it, which has no compiled form"
                )
            self.read_later += k.containers_in(self.env[name].kind)

    def leave(self, value: Value) -> None:
        """Return a value: of a generator, the list of what it has yielded."""
        if self.yielded is not None:
            # Always the one list, of whose items all is known once the function is written.
            value = self.yielded
            self.widened[RETURN] = value.kind
        elif not self.program.stack:
            from colkern.rows.enums import as_result

            value = as_result(self, value)
        has = self.widened.get(RETURN, Kind("never", 0))
        self.require_kind(RETURN, has, value.kind)
        if any(attempt.is_final for attempt in self.attempts):
            attempt = self.attempts[-1]
            attempt.flows.add(LEAVE)
            attempt.returned = self.variables(has, f"{attempt.flow}_result")
            self.move(attempt.returned, value)
            self.write(f"{attempt.flow} = {LEAVE}")
            self.write("break")
        else:
            self.write(Return(", ".join(self.converted(value, has).parts)))
        self.dead = True

    def refuse(self, reason: str) -> NoReturn:
        """Refuse the function: what has no compiled form, with its line."""
        message = f"{self.definition.function.__name__} does not compile: {reason}"
        line = getattr(self.node, "lineno", 1)
        raise CompileError(with_line(message, self.definition.path, line))

    # Values

    def plain(self, value: Value, code: int = row_values.TYPE_ERROR) -> Value:
        """A value that is there: for None, the exception of that code is raised."""
        if value.unbound:
            self.fail_if(value.unbound, row_values.LEFT, "a variable without a value")
            value = replace(value, unbound="")
        if isinstance(value.kind, k.Optional):
            self.fail_if(value.none, code, "None where a value is needed")
            return Value(value.kind.of, value.code, items=value.items)
        return value

    def numbers(self, value: Value) -> Value:
        """A constant as code; other values as they are."""
        if isinstance(value.kind, k.Compound):
            items = tuple(self.numbers(item) for item in value.items)
            return replace(value, items=items) if items != value.items else value
        if not value.is_constant or value.code or value.kind in (k.NONE, k.NEVER):
            return value
        return literal(self, value.constant)

    def as_choice(self, value: Value | None) -> Value | None:
        """A function as one that may be another elsewhere; other values as they are."""
        is_one = value is not None and value.is_constant and k.is_function(value.constant)
        return self.numbers(value) if is_one else value  # type: ignore[arg-type]

    def converted(self, value: Value, kind: Kind) -> Value:
        """A value as one of a wider kind."""
        value = self.numbers(value)
        if value.kind == k.NEVER:
            return of_parts(kind, zeros(kind))
        if value.kind == kind:
            return value
        if k.is_unset(kind) and not k.is_unset(value.kind):
            value = tuple_of_values([Value(k.BOOL, "False"), value], (), k.Unset)
        if isinstance(kind, k.Optional):
            if value.kind == k.NONE:
                return of_parts(kind, zeros(kind))
            if isinstance(value.kind, k.Optional):
                of = self.converted(Value(value.kind.of, value.code, items=value.items), kind.of)
                return of_parts(kind, (value.none, *of.parts))
            return of_parts(kind, ("False", *self.converted(value, kind.of).parts))
        if isinstance(value.kind, k.Member):
            from colkern.rows.enums import as_plain

            return self.converted(as_plain(self, value), kind)
        if isinstance(kind, k.Choice) and isinstance(value.kind, k.Choice):
            *rest, code = map(str, map(kind.among.index, value.kind.among))
            for number, other in enumerate(rest):
                code = f"{other} if {value.code} == {number} else ({code})"
            return Value(kind, self.bind(code))
        if isinstance(kind, k.Compound):
            pairs = zip(value.items, kind.items, strict=True)
            return Value(kind, items=tuple(self.converted(*pair) for pair in pairs))
        if isinstance(kind, k.Container) and isinstance(value.kind, k.Container):
            # Of the displays that it may come from, each is made with items as wide.
            for number, (has, wanted) in enumerate(zip(value.kind.items, kind.items, strict=True)):
                for site in value.kind.sites:
                    self.require_kind((site, number), has, wanted)
        if kind.name == "float" and value.kind.name in ("int", "bool"):
            return Value(kind, self.exact_float(value))
        if kind.name == "int" and value.kind.name == "bool":
            return Value(kind, f"int({value.code})")
        if kind.name == "Decimal" and value.kind.name in ("int", "bool"):
            return Value(kind, self.exact_decimal(value))
        return replace(value, kind=kind)

    def exact_float(self, value: Value) -> str:
        """An integer as a float; the row is left to Python if it has no float of its own."""
        if value.kind.name == "int" and not _is_number(value.code) and not self.program.wraps:
            self.leave_if(
                f"{value.code} > {1 << 53} or {value.code} < -{1 << 53}",
                "an integer of more than 53 bits beside floats",
            )
        return as_float(value)

    def exact_decimal(self, value: Value) -> str:
        """An integer as a decimal; the row is left to Python if it has too many digits."""
        code = self.bind(f"int({value.code})")
        if not _is_number(value.code):
            test = f"{code} >= {row_decimals.END} or {code} <= -{row_decimals.END}"
            self.leave_if(test, "an integer of more than 18 digits beside decimals")
        return f"Decimal({code}, 0)"

    # Variables

    def read(self, name: str) -> Value:
        """The value of a variable now; a copy, where an assignment could change it under its reader."""
        value = self.env[name]
        if value.unbound:
            self.fail_if(value.unbound, row_values.LEFT, f"{name} has no value")
            value = self.env[name] = replace(value, unbound="")
        if name in self.cells and not value.is_constant:
            return of_parts(value.kind, tuple(self.copy(part) for part in value.parts))
        return value

    def copy(self, code: str) -> str:
        """A new name for the present value of a variable."""
        name = self.fresh()
        self.write(f"{name} = {code}")
        return name

    def assign(self, name: str, value: Value) -> None:
        """Bind a variable."""
        if name not in self.cells:
            self.env[name] = value
            return
        cell = self.cells[name]
        self.require_kind(cell.key, cell.value.kind, value.kind)
        self.move(cell.value, value)
        if cell.unbound:
            self.write(f"{cell.unbound} = False")
        self.env[name] = _narrowed(cell.value, value.kind)

    def unbind(self, name: str) -> None:
        """Leave a variable without a value."""
        self.env.pop(name, None)
        if name in self.cells:
            self.write(f"{self.cells[name].unbound} = True")

    def move(self, target: Value, value: Value) -> None:
        """Assign the parts of a value to variables of a kind that is as wide."""
        converted = self.converted(value, target.kind)
        for part, code in zip(target.parts, converted.parts, strict=True):
            if part != code:
                self.write(f"{part} = {code}")

    def require_kind(self, key: Any, has: Kind, gets: Kind) -> None:
        """Have the function written again if something of a kind gets a value of a wider one."""
        if k.depth(gets) > MOST_NESTED:
            self.refuse(
                f"values of {gets.name} are nested deeper with each round of a loop, or call"
            )
        joined = k.joined(has, gets)
        if joined is None and key == RETURN and not self.program.stack:
            # A column has the text that a member is as well.
            joined = k.joined(k.of_member(has, str), k.of_member(gets, str))
        if joined is None:
            of = key[1] if isinstance(key, tuple) else ""
            named = isinstance(of, str) and of.isidentifier() and of in self.locals
            if named and of not in variables_of(self.definition.function.__code__):
                of = of.rstrip("_")  # As it was before names became a scope's own.
            what = "it returns" if key == RETURN else f"{of if named else 'one variable'} is"
            if isinstance(of, int):
                what = "an item of a container is"
            if self.yielded is not None and key == (*getattr(self.yielded.kind, "sites", ()), 0):
                what = "it yields"
            self.refuse(f"{what} {has} in one place and {gets} in another")
        if joined != has or k.origins(joined) != k.origins(has):
            owners = self.program.owners.get(key[0], []) if isinstance(key, tuple) else []
            for widened in owners or [self.widened]:
                widened[key] = k.joined(joined, widened.get(key, k.NEVER)) or joined
            # A container that a caller made, or a function that is written already, as its callers are.
            callers = map(self.program.settled.get, self.program.stack)
            outer = (each for each in callers if any(each is own for own in owners))
            raise Wider(next(outer, None) if owners else self.widened)

    @contextmanager
    def in_cells(self, node: ast.AST, names: Iterable[str]) -> Iterator[None]:
        """The variables of those names are cells meanwhile; `node` tells the region apart."""
        before = dict(self.cells)
        for name in sorted(names):
            if name not in self.cells:
                self.cells[name] = self._cell((id(node), name), name, self.env.get(name))
        self.forget(names)
        yield
        # After an exception nothing is asked for: the function is refused or written again.
        self.forget(names)
        self.cells = before

    def forget(self, names: Iterable[str]) -> None:
        """Forget what is known of cells beyond their kind, as control comes from several places."""
        for name in names:
            cell = self.cells[name]
            self.env[name] = replace(cell.value, unbound=cell.unbound)

    def _cell(self, key: Any, name: str, value: Value | None) -> Cell:
        """A cell for a variable, with its value so far."""
        start = value.kind if value is not None else k.NEVER
        kind = k.joined(start, self.widened.get(key, start))
        assert kind is not None
        stem = self.fresh(name)
        target = self.variables(kind, stem)
        self.move(target, value if value is not None else Value(k.NEVER))
        unbound = ""
        if value is None or value.unbound or name in self._deleted:
            unbound = f"{stem}_unbound"
            self.write(f"{unbound} = {value.unbound or False if value is not None else True}")
        return Cell(target, key, unbound)

    def variables(self, kind: Kind, stem: str) -> Value:
        """A value of variables that are named after `stem`."""
        count = len(zeros(kind))
        return of_parts(kind, tuple(f"{stem}_{n}" for n in range(count)))

    # Where control meets

    def branch(self, test: str, then: Callable[[], None], otherwise: Callable[[], None]) -> None:
        """An `if` statement, and what is known of variables behind it."""
        before = dict(self.env)
        ends = []
        unsettled: list[Unsettled] = []
        for head, write in ((f"if {test}:", then), ("else:", otherwise)):
            self.env = dict(before)
            with self.within(head) as block:
                start = self.state()
                try:
                    write()
                except Unsettled as error:
                    unsettled.append(error)
                    self.restore(start)
                    self.dead = True
            ends.append((block, self.env, self.dead))
            self.dead = False
        if len(unsettled) == len(ends):
            raise unsettled[0]
        live = [(block, env) for block, env, dead in ends if not dead]
        if not live:
            self.dead = True
        elif len(live) == 1:
            self.env = live[0][1]
        else:
            self.env = self._joined(live[0], live[1])

    def _joined(
        self, left: tuple[Block, dict[str, Value]], right: tuple[Block, dict[str, Value]]
    ) -> dict[str, Value]:
        env = {}
        # In an order that is the same in all processes, or none would find what another compiled.
        for name in sorted(left[1].keys() | right[1].keys()):
            a, b = left[1].get(name), right[1].get(name)
            if a is not None and b is not None and _is_same(a, b):
                env[name] = a
            elif name in self.cells:
                cell = self.cells[name]
                is_bound = a is not None and b is not None and not a.unbound and not b.unbound
                env[name] = replace(cell.value, unbound="" if is_bound else cell.unbound)
            else:
                env[name] = self._merged(name, (left[0], a), (right[0], b))
        return env

    def _merged(self, name: str, *sides: tuple[Block, Value | None]) -> Value:
        """A variable that has one value or the other."""
        sides = tuple((block, self.as_choice(value)) for block, value in sides)
        kinds = [value.kind if value is not None else k.NEVER for _, value in sides]
        kind = k.joined(*kinds)
        if kind is None:
            return Value(Kind(f"{kinds[0]} or {kinds[1]}", 0))
        stem = self.fresh(name)
        target = self.variables(kind, stem)
        flag = any(value is None or value.unbound for _, value in sides)
        for block, value in sides:
            outer, self.block = self.block, block
            self.move(target, value if value is not None else Value(k.NEVER))
            if flag:
                self.write(
                    f"{stem}_unbound = {value.unbound or False if value is not None else True}"
                )
            self.block = outer
        return replace(target, unbound=f"{stem}_unbound" if flag else "")

    def chosen(self, test: str, then: Callable[[], Value], otherwise: Callable[[], Value]) -> Value:
        """The value of an expression with two branches."""
        name = self.fresh("chosen")

        def side(write: Callable[[], Value]) -> Callable[[], None]:
            def bind() -> None:
                value = self.numbers(write())
                self.env[name] = value

            return bind

        self.branch(test, side(then), side(otherwise))
        value = self.env.pop(name)
        is_known = value.kind in (k.NONE, k.NEVER) or isinstance(value.kind, k.Compound)
        if value.kind.words == 0 and not is_known:
            self.refuse(f"an expression is {value.kind}")
        return value


@dataclass(frozen=True)
class Cell:
    """A variable of the generated source that a variable of the user's is.

    Args:
        value: Its parts.
        key: What tells it apart when the function is written again.
        unbound: The variable that says whether it has no value yet; empty if it always has.
    """

    value: Value
    key: Any
    unbound: str


def _narrowed(cell: Value, kind: Kind) -> Value:
    """The value of a cell behind an assignment of a value of a kind."""
    if isinstance(cell.kind, k.Optional) and kind == cell.kind.of:
        return Value(kind, cell.code, items=cell.items)
    return NONE if kind == k.NONE else cell


def derived(node: ast.AST, name: str, make: Callable[[], ast.AST]) -> Any:
    """A node that is made from one of the user's, the same each time the function is written.

    What is known of variables and containers belongs to nodes.
    """
    nodes: dict[str, ast.AST] = vars(node).setdefault("derived", {})
    if name not in nodes:
        nodes[name] = ast.fix_missing_locations(ast.copy_location(make(), node))
    return nodes[name]


def _is_same(left: Value, right: Value) -> bool:
    """Whether two values are one: -0.0 is not 0.0, though equal."""
    if left is right:
        return True
    if left.is_constant or right.is_constant:
        same = left.constant is right.constant or (
            identity(left.constant) == identity(right.constant)
        )
        return same and left.kind == right.kind and left.unbound == right.unbound
    return left == right


MOST_NESTED = 16
"""So deep may the parts of a kind be nested, each optional one counted twice."""

NO_PART = -1
"""Stands for the code of an operation's failure among the parts of its result."""

RAISED = "an exception is raised"
"""The reason of a `raise`."""

RETURN = "return"
"""The key of the kind of what a function returns."""


def _left(code: str) -> str:
    """The code that leaves a row instead of raising, if there is room."""
    return f"({code} if {code} == {row_values.NO_ROOM} else {row_values.LEFT})"


def _is_number(code: str) -> bool:
    return code.replace(".", "", 1).replace("-", "", 1).isalnum() and (
        code[0].isdigit() or (code[0] == "-" and code[1:2].isdigit())
    )


def as_float(value: Value) -> str:
    """Code for a float of an `int` or `bool`; Numba has none of a `bool` itself."""
    return f"float({value.code})" if value.kind.name == "int" else f"float(int({value.code}))"


def literal(emitter: Emitter, value: Any) -> Value:
    """A Python object as a value of the source, which still says what it is."""
    match value:
        case None:
            return NONE
        case bool():
            return Value(k.BOOL, str(value), constant=value)
        case enum.Enum() if k.is_enum(type(value)):
            return Value(k.member_of(type(value)), str(word_of(value)), constant=value)
        case int():
            if not -(1 << 63) <= value < 1 << 63:
                emitter.refuse(f"the integer {value} has more than 64 bits")
            # The least integer has no literal of its own.
            code = str(int(value)) if value > -(1 << 63) else "(-9223372036854775807 - 1)"
            return Value(k.INT, code, constant=value)
        case float():
            return Value(k.FLOAT, _float(value), constant=value)
        case str():
            return Value(k.TEXT, emitter.text(value), constant=value)
        case bytes():
            return Value(k.BYTES, emitter.bytes(value), constant=value)
        case decimal.Decimal():
            kind = _known_kind(emitter, value, kind_of)
            number, exponent = decimal_words(value)
            return Value(kind, f"Decimal({number}, {exponent})", constant=value)
        case datetime.date() | datetime.time() | datetime.timedelta():
            kind = _known_kind(emitter, value, kind_of)
            return Value(kind, str(word_of(value)), constant=value)
        case tuple():
            items = tuple(literal(emitter, item) for item in value)
            kinds = tuple(item.kind for item in items)
            names = tuple(getattr(value, "_fields", ()))
            return Value(k.tuple_of(kinds, names, type(value)), items=items, constant=value)
    if k.is_function(value):
        return Value(k.choice_of([value]), "0", constant=value)
    return stored_constant(emitter, value, kind_of)


def stored_constant(emitter: Emitter, value: Any, kind_of_value: Callable[[Any], Kind]) -> Value:
    """A constant that compiled code reads from memory: a list, set or dictionary, a date.

    Args:
        emitter: Where it is used.
        value: The constant.
        kind_of_value: The kind that it is laid out as.
    """
    stored, key = emitter.program.stored, (id(value), kind_of_value)
    if key not in stored:
        kind = _known_kind(emitter, value, kind_of_value)
        stored[key] = value, kind, constant_block(value, kind)
    _, kind, block = stored[key]
    place = emitter.program.block(block)
    parts = loaded(kind, f"pool + {place}")
    return replace(emitter.bind_value(kind, parts), constant=value)


def _known_kind(emitter: Emitter, value: Any, kind_of_value: Callable[[Any], Kind]) -> Kind:
    try:
        return kind_of_value(value)
    except UnsupportedError as error:
        emitter.refuse(str(error))


def _float(value: float) -> str:
    if value != value:
        return "float_of_bits(0x7FF8000000000000)"
    if value in (float("inf"), float("-inf")):
        return f"float_of_bits({0x7FF0000000000000 if value > 0 else -0x10000000000000})"
    return repr(value)
