"""Writes one generated function: names, checks, and the known facts about variables.

A variable of the user's function is a `Value`, bound anew by each assignment. Where control flow meets, in
loops and in `try`, it is a cell: a variable of the generated source with a single kind. If a kind turns out
to be too narrow, that is noted, and the function is written again.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn, TypeAlias

from colkern import rows
from colkern.errors import CompileError, with_line
from colkern.kernels import row_decimals, row_values
from colkern.rows import kinds as k
from colkern.rows.constants import identity
from colkern.rows.documents import as_declared, as_in_document
from colkern.rows.front import Definition, variables_of
from colkern.rows.kinds import Kind
from colkern.rows.program import (
    Again,
    Block,
    Branch,
    Called,
    Check,
    Exit,
    Operation,
    Program,
    Return,
    Site,
    Unsettled,
    Wider,
    any_kind,
)
from colkern.rows.row_displays import rows_of
from colkern.rows.several import by_class, one_of
from colkern.rows.values import NONE, UNSET, Value, inner, of_parts, picked, tuple_of_values, zeros

BREAK, CONTINUE, LEAVE = 1, 2, 3
"""The statements that leave a `try`; `LEAVE` is `return`."""

Message: TypeAlias = str | Callable[[], Value]
"""The text of an exception: a constant, or a function that writes it where the exception is raised."""

NO_TEXT = "Text(0, 0, True)"
"""The text of an exception whose text is not known."""

_CARRIED = f"set_text(arena + {row_values.RAISED}, {{}})"
"""A line that keeps the text of an exception that leaves a function."""

NO_FIELDS = f"set_word(arena + {row_values.RAISED_FIELDS}, 0)"

CARRIED = f"get_text(arena + {row_values.RAISED})"
"""The text of the exception that left the function that was called last."""


@dataclass
class Attempt:
    """A `try` around the current place of the source.

    Args:
        code: The variable that holds the status of an exception.
        flow: The variable that tells which statement left it: 0 none, or `BREAK`, `CONTINUE`, `LEAVE`.
        text: The variable that holds the exception's text; empty if no handler reads it.
        takes_arguments: Whether a handler reads its first argument, and not only its text.
        is_final: Whether it has a `finally`.
        raises: Whether an exception may leave it.
        flows: The statements that leave it.
        returned: The variables of the result, if a `return` left it while an outer `finally` has to run.
    """

    code: str
    flow: str
    text: str = ""
    takes_arguments: bool = False
    is_final: bool = False
    raises: bool = False
    flows: set[int] = field(default_factory=set)
    returned: Value | None = None


class Emitter:
    """Writes one function.

    Args:
        program: The parts that it shares with other functions.
        widened: The kinds of cells and containers that turned out to be too narrow, by their keys.
        stored: The variables to which the function assigns.

    Attributes:
        yielded: The list of the items that a generator has yielded.
        rounds: The variable that counts the rounds of a generator's loops, if they are limited.
        gone_over: The call whose items the next loop reads; only this call may be one of a generator.
        low_bits: The nodes where the lowest 64 bits of integers suffice.
        shared: The variables that local functions assign to by `nonlocal`, or that methods change.
        changing: The variables to which the current loop assigns.
        changing_rows: The variables of dictionaries with constant keys whose values change.
        is_ahead: Whether the current code computes items before Python would, if Python ever does.
        leaves_raised: Whether an exception leaves the row, as it does there.
        read_later: The containers that iterators of the surrounding loops still read.
        read_by_name: The containers that iterators with a name may still read.
        gaps: The number of parts without a compiled form, which leave the row.
        has_calls_left: Whether one of them is a call of a library's function.
        operations: The calls of the table's methods, as in `Written`.
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
        self.shared = definition.shared
        is_whole = program.wraps or not program.has_words
        self.low_bits = frozenset() if is_whole else definition.low_bits
        self._deleted = definition.deleted
        program.may_change_rows |= program.has_rows and bool(definition.changing_rows)
        self.changing_rows: frozenset[str] = frozenset()
        self.rows = set(definition.rows) if program.has_rows else set()
        if program.changes_rows:
            self.changing_rows = definition.changing_rows
            self.rows = rows_of(definition.nodes, self.changing_rows)
        self.yielded: Value | None = None
        self.rounds = ""
        self.gone_over: ast.AST | None = None
        self.changing: Collection[str] = ()
        self.read_later: list[Kind] = []
        self.read_by_name: list[Kind] = []
        self.is_ahead = self.leaves_raised = False
        self.gaps = 0
        self.has_calls_left = False
        self.operations: dict[str, tuple[Operation, int]] = {}
        self._names = 0

    # Going back

    def state(self) -> tuple[object, ...]:
        """Returns the present state of writing, for `restore`."""
        counts = map(len, self._growing())
        return self.block, dict(self.env), dict(self.cells), *counts, self.depth

    def _growing(self) -> tuple[list[Any], ...]:
        return self.block.lines, self.attempts, self.loops, self.read_later, self.read_by_name

    def restore(self, state: tuple[Any, ...]) -> None:
        """Discard everything written since `state`."""
        self.block, self.env, self.cells, *counts, self.depth = state
        for written, count in zip(self._growing(), counts, strict=True):
            del written[count:]
        self.dead = False

    @contextmanager
    def looking(self) -> Iterator[None]:
        """Allows to examine a value: lines that are written within are discarded."""
        before, was_dead = self.state(), self.dead
        try:
            yield
        finally:
            self.restore(before)
            self.dead = was_dead

    # Lines

    def write(self, line: str) -> None:
        """Add a line."""
        if not self.dead:
            self.block.lines.append(line)

    @contextmanager
    def within(self, head: str) -> Iterator[Block]:
        """Writes a line that opens a block; lines written within go into the block."""
        block = Block()
        if not self.dead:
            self.block.lines += [head, block]
        outer, self.block = self.block, block
        try:
            yield block
        finally:
            self.block = outer

    def fresh(self, stem: str = "t") -> str:
        """Returns an unused name."""
        self._names += 1
        # Names for variables that the user does not have are names that no user's variable can have.
        return f"{stem if stem.isidentifier() else 't'}_{self._names}"

    def keep_names(self, count: int) -> None:
        """Reserve the first `count` numbers of names for the parts of parameters."""
        self._names = count

    def bind(self, code: str, stem: str = "t") -> str:
        """Returns a name for an expression that is computed now; names and numbers stay as they are."""
        if code.isidentifier() or _is_number(code):
            return code
        name = self.fresh(stem)
        self.write(f"{name} = {code}")
        return name

    def bind_value(self, kind: Kind, codes: Sequence[str]) -> Value:
        """Returns a value whose parts are computed now."""
        return of_parts(kind, tuple(self.bind(code) for code in codes))

    def use(self, body: Callable[..., Any]) -> str:
        """Returns the name of a body in the generated source."""
        # The name of the module is part of it, because the lines that load and store items name bodies too.
        name = f"{body.__module__.rpartition('.')[2]}_{body.__name__}"
        while self.program.bodies.setdefault(name, body) is not body:
            name += "_"
        return name

    # Constants

    def text(self, value: str) -> str:
        """Returns code for a constant text."""
        try:
            data = value.encode()
        except UnicodeEncodeError:
            self.refuse(f"the constant {value!r} has a surrogate, half of a character of UTF-16")
        return f"Text(pool + {self.program.place(data)}, {len(data)}, {value.isascii()})"

    def bytes(self, value: bytes) -> str:
        """Returns code for constant bytes."""
        return f"Bytes(pool + {self.program.place(value)}, {len(value)})"

    # Leaving and raising

    def site(self, reason: str, text: str | None = None) -> int:
        """Returns the number of the current line as a place where rows are left.

        Args:
            text: The constant text of the exception that it raises.
        """
        definition = self.definition
        line = getattr(self.node, "lineno", 1)
        name = definition.function.__name__
        return self.program.site(Site(name, definition.path, line, reason, text))

    def leave_if(self, test: str, reason: str) -> None:
        """Leave the row to Python where a test is true, and continue with whatever values there are.

        There is no branch, so that a compiler can vectorise the loop over rows. If the function itself has
        a loop, nothing is vectorised, and a branch takes half the time.
        """
        if self.loops and self.attempts:
            self.fail_if(test, row_values.LEFT, reason)
            return
        self.has_soft_checks = self.has_soft_checks or not self.loops
        check = Branch if self.loops else Check
        self.write(check(f"{self.site(reason) << 8 | row_values.LEFT} if {test}"))

    def require_sound(self) -> None:
        """Return from the function if a check has failed, before loops or memory depend on it."""
        if self.has_soft_checks:
            with self.within("if bad != 0:"):
                self.write(Exit("bad"))

    def fail_if(
        self, test: str, code: str | int, reason: str, message: Message | None = None
    ) -> None:
        """Raise, or leave the row, where a test is true, by a code of `colkern.kernels.row_values`."""
        if not self.dead:
            with self.within(f"if {test}:"):
                self.fail(code, reason, message)
            self.dead = False

    def fail(self, code: str | int, reason: str, message: Message | None = None) -> None:
        """Raise, or leave the row, with a code.

        Args:
            reason: The reason, for reports.
            message: The text of the exception; None if only Python can tell it.
        """
        if self.leaves_raised and code != row_values.NO_ROOM:
            code = row_values.LEFT if isinstance(code, int) else _left(code)
        if self.definition.is_library:
            # The function that it stands for has other texts.
            message = None
        site = self.site(reason, message if isinstance(message, str) else None) << 8
        status = str(site | code) if isinstance(code, int) else f"{site} | {code}"
        if self.attempts:
            attempt = self.attempts[-1]
            if attempt.text and callable(message):
                self._write_text(f"{attempt.text} = {{}}", message)
        elif self.reads_raised:
            # Further sites share a number, which stands for no constant text.
            text = self.text(message) if isinstance(message, str) else NO_TEXT
            self.write(_CARRIED.format(text))
            if callable(message):
                self._write_text(_CARRIED, message)
        self._end(status)

    def _end(self, status: str) -> None:
        """End the function, or the `try` around this place, with a status."""
        if self.attempts:
            self.attempts[-1].raises = True
            self.write(f"{self.attempts[-1].code} = {status}")
            self.write("break")
        else:
            self.write(Exit(status))
        self.dead = True

    @property
    def reads_raised(self) -> bool:
        """Whether a handler, here or in a caller, may read an exception that is raised here."""
        return bool(self.attempts[-1].text) if self.attempts else self.is_read_by_caller

    @property
    def is_read_by_caller(self) -> bool:
        """Whether a caller's handler may read an exception that leaves the function."""
        return next(reversed(self.program.stack.values()), Called()).is_read

    def _write_text(self, line: str, message: Callable[[], Value]) -> None:
        """Write a line with the text of an exception, if it has a compiled form."""
        before = self.state()
        try:
            self.write(line.format(self.numbers(message()).code))
        except CompileError:
            self.restore(before)

    def left(self, kind: Kind, reason: str) -> Value:
        """Leave the row, since only Python can compute a value; returns a placeholder of its kind."""
        self.gaps += 1
        self.fail_if("True", row_values.LEFT, reason)
        return of_parts(kind, zeros(kind))

    def computed(self, reason: str) -> Value:
        """Leave the row at a call without a compiled form; the kind of the result is unknown."""
        self.program.gaps.add(reason)
        self.program.calls_left.add(reason)
        self.has_calls_left = True
        return self.left(k.NEVER, reason)

    def reraise(self, status: str, text: str = "") -> None:
        """Raise, or leave the row, with a status, and the code of a text."""
        if self.leaves_raised:
            status = f"({status} & ~255) | {_left(f'{status} & 255')}"
        if self.reads_raised and (self.attempts or text != CARRIED):
            line = f"{self.attempts[-1].text} = {{}}" if self.attempts else _CARRIED
            self.write(line.format(text or NO_TEXT))
        self._end(status)

    @contextmanager
    def ahead(self, is_only_raised: bool = False) -> Iterator[None]:
        """Makes code compute items that Python would compute later, or never.

        Args:
            is_only_raised: Whether they are computed in time, and only exceptions must leave the row.
        """
        before = self.is_ahead, self.leaves_raised
        self.is_ahead, self.leaves_raised = self.is_ahead or not is_only_raised, True
        try:
            yield
        finally:
            self.is_ahead, self.leaves_raised = before

    def read_ahead(self, names: Iterable[str]) -> None:
        """Note variables that are read now, and later in Python; they must not change in between."""
        for name in sorted(names):
            if name in self.changing:
                self.refuse(
                    f"{name} changes while an iterator reads it, which has no compiled form"
                )
            self.read_later += k.containers_in(self.env[name].kind)

    def leave(self, value: Value) -> None:
        """Return a value; a generator returns the list of the items that it has yielded."""
        is_row = not self.program.stack and self.yielded is None
        if any(part.name == "object" for part in k.parts_of(value.kind)):
            value = self.numbers(value)
        if is_row and self.program.holds is not any_kind and inner(value).kind not in k.NODES:
            value = as_declared(self, value, self.program.holds)
        if is_row and k.is_plain(inner(value).kind):
            self._require_one_result(inner(value).kind)

            def leave(each: Value) -> Value:
                if self.program.holds is not any_kind:
                    each = as_declared(self, each, self.program.holds)
                if not self.program.holds(each.kind):
                    self.refuse(f"it returns {each.kind} where another type is declared")
                self.leave(each)
                return Value(k.NEVER)

            if isinstance(value.kind, k.Optional):
                self.chosen(
                    value.none, lambda: leave(NONE), lambda: by_class(self, inner(value), leave)
                )
            else:
                by_class(self, value, leave)
            return
        if self.yielded is not None:
            # It is always the same list, so the kind of its items is known once the function is written.
            value = self.yielded
            self.widened[RETURN] = value.kind
        elif self.program.stack:
            value = rows.bound.escaping(self, value)
        else:
            value = rows.enums.as_result(self, value)
        is_integer = k.present(value.kind).name == "int" and not _is_natural(value)
        if is_integer and not self.program.stack and self.program.returns_signed is not None:
            self.program.returns_signed = True
        if value.kind != k.NEVER:
            # Nothing that is written so far depends on the kind that the first `return` has.
            self.widened.setdefault(RETURN, value.kind)
        has = self.widened.get(RETURN, k.NEVER)
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

    def _require_one_result(self, kind: Kind) -> None:
        """Refuse values of several types as results if no type says which of them are results."""
        joined: Kind | None = k.NEVER
        for each in getattr(kind, "items", ())[1:]:
            joined = joined and k.joined(joined, each)
        if joined is None and self.program.holds is any_kind:
            self.refuse(f"it returns {kind}, and no type of its results is declared")

    def refuse(self, reason: str, kind: type[CompileError] = CompileError) -> NoReturn:
        """Raise CompileError for a part without a compiled form, with its line."""
        message = f"{self.definition.function.__name__} does not compile: {reason}"
        line = getattr(self.node, "lineno", 1)
        raise kind(with_line(message, self.definition.path, line))

    # Values

    def plain(
        self, value: Value, code: int = row_values.TYPE_ERROR, message: Message | None = None
    ) -> Value:
        """Returns a value without None; where it is None, an exception with that code is raised."""
        if value.unbound:
            self.fail_if(value.unbound, row_values.LEFT, "a variable without a value")
            value = replace(value, unbound="")
        if isinstance(value.kind, k.Optional):
            self.fail_if(value.none, code, "None where a value is needed", message)
            return Value(value.kind.of, value.code, items=value.items)
        return value

    def numbers(self, value: Value) -> Value:
        """Returns a constant as code; returns other values unchanged."""
        if isinstance(value.kind, k.Compound):
            items = tuple(self.numbers(item) for item in value.items)
            kinds = tuple(item.kind for item in items)
            kind: Kind = value.kind
            if kinds != value.kind.items:
                kind = k.tuple_of(kinds, value.kind.names, value.kind.form)
            return replace(value, kind=kind, items=items) if items != value.items else value
        if not value.is_constant or value.code or value.kind in (k.NONE, k.NEVER):
            return value
        return rows.literals.literal(self, value.constant)

    def as_choice(self, value: Value | None) -> Value | None:
        """Returns a function as a choice, as it may be another one elsewhere; other values unchanged."""
        is_one = value is not None and value.is_constant and k.is_function(value.constant)
        return self.numbers(value) if is_one else value  # type: ignore[arg-type]

    def converted(self, value: Value, kind: Kind) -> Value:
        """Returns a value converted to a wider kind."""
        value = self.numbers(value)
        if value.kind == k.NEVER:
            return of_parts(kind, zeros(kind))
        if value.kind == kind:
            return value
        if kind in k.NODES:
            return as_in_document(self, value)
        if value.kind in k.NODES:
            self.refuse(f"a value of a document where {kind} is needed has no compiled form")
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
            return self.converted(rows.enums.as_plain(self, value), kind)
        if isinstance(kind, k.Choice) and isinstance(value.kind, k.Choice):
            codes = [str(kind.among.index(each)) for each in value.kind.among]
            return Value(kind, self.bind(picked(codes, value.code)))
        if isinstance(kind, k.Uneven):
            own = dict(zip(getattr(value.kind, "names", ()), value.items, strict=True))
            items = (own.get(name, UNSET) for name in kind.names)
            value = tuple_of_values(items, kind.names, k.SomeKeys)
        if isinstance(kind, k.Several):
            return one_of(self, value, kind)
        if isinstance(kind, k.Compound):
            known = kind.of_this(value) if kind.form is re.Match else value  # type: ignore[attr-defined]
            pairs = zip(known.items, kind.items, strict=True)
            return Value(kind, items=tuple(self.converted(*pair) for pair in pairs))
        if k.is_tuple(kind) and isinstance(value.kind, k.Tuple):
            list_ = rows.comparisons.of_any_length(self, value, kind.items[0])  # type: ignore[attr-defined]
            return replace(list_, kind=kind)
        if isinstance(kind, k.Container) and isinstance(value.kind, k.Container):
            # All displays from which the container may come must have items of this width.
            for number, (has, wanted) in enumerate(zip(value.kind.items, kind.items, strict=True)):
                for site in value.kind.sites:
                    self.require_kind((site, number), has, wanted)
        if kind == k.WORD:
            return Value(kind, f"int({value.code})" if value.kind.name == "bool" else value.code)
        if kind.name == "unsigned":
            return self._unsigned(value)
        value = self.signed(value)
        if kind.name == "float" and value.kind.name in ("int", "bool"):
            return Value(kind, self.exact_float(value))
        if kind.name == "int" and value.kind.name == "bool":
            return Value(kind, f"int({value.code})")
        if kind.name == "Decimal" and value.kind.name in ("int", "bool"):
            return Value(kind, self.exact_decimal(value))
        return replace(value, kind=kind)

    def signed(self, value: Value) -> Value:
        """Returns an unsigned integer as a signed one, other values unchanged; the row is left to Python
        if it does not fit."""
        if value.kind.name != "unsigned":
            return value
        code = self.bind(self.numbers(value).code)
        self.leave_if(f"{code} < 0", "an integer from 2**63 on")
        return Value(k.signed(value.kind), code)

    def _unsigned(self, value: Value) -> Value:
        """Returns an integer as an unsigned one; the row is left to Python if it is negative."""
        code = self.bind(f"int({value.code})" if value.kind.name == "bool" else value.code)
        if value.kind.name == "int":
            self.leave_if(f"{code} < 0", "a negative integer beside those from 2**63 on")
        return Value(replace(k.UNSIGNED, loose=value.kind.loose), code)

    def exact_float(self, value: Value) -> str:
        """Returns an integer as a float; the row is left to Python if no float equals it for sure."""
        is_exact = _is_number(value.code) and abs(int(value.code)) <= 1 << 53
        if value.kind.name == "int" and not is_exact and not self.program.wraps:
            self.leave_if(
                f"{value.code} > {1 << 53} or {value.code} < -{1 << 53}",
                "an integer of more than 53 bits beside floats",
            )
        return as_float(value)

    def exact_decimal(self, value: Value) -> str:
        """Returns an integer as a decimal; the row is left to Python if it has too many digits."""
        code = self.bind(f"int({value.code})")
        if not _is_number(value.code):
            test = f"{code} >= {row_decimals.END} or {code} <= -{row_decimals.END}"
            self.leave_if(test, "an integer of more than 18 digits beside decimals")
        return f"Decimal({code}, 0)"

    # Variables

    def read(self, name: str) -> Value:
        """Returns the value of a variable now; a copy, if a later assignment could change it."""
        value = self.env[name]
        if value.unbound:
            self.fail_if(value.unbound, row_values.LEFT, f"{name} has no value")
            value = self.env[name] = replace(value, unbound="")
        if name in self.cells and not value.is_constant:
            return of_parts(value.kind, tuple(self.copy(part) for part in value.parts))
        return value

    def copy(self, code: str) -> str:
        """Returns a new name for the present value of a variable."""
        name = self.fresh()
        self.write(f"{name} = {code}")
        return name

    def assign(self, name: str, value: Value) -> None:
        """Bind a variable to a value."""
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
        """Remove the value of a variable."""
        self.env.pop(name, None)
        if name in self.cells:
            self.write(f"{self.cells[name].unbound} = True")

    def move(self, target: Value, value: Value) -> None:
        """Assign the parts of a value to variables of a kind that is at least as wide."""
        converted = self.converted(value, target.kind)
        for part, code in zip(target.parts, converted.parts, strict=True):
            if part != code:
                self.write(f"{part} = {code}")

    def require_kind(self, key: Any, has: Kind, gets: Kind) -> None:
        """Make the function be written again if the kind `gets` does not fit into the kind `has`."""
        if k.depth(gets) > MOST_NESTED:
            self.refuse(
                f"values of {gets.name} are nested deeper with each round of a loop, or call"
            )
        if isinstance(key, tuple) and isinstance(key[1], int) and k.has_iterator(gets):
            self.refuse("an iterator in a container has no compiled form")
        is_result = key == RETURN and not self.program.stack
        is_signed = key == RETURN and self.program.returns_signed
        pair = k.all_signed((has, gets)) if is_signed else (has, gets)
        joined = k.joined(*pair) if is_result else self.program.joined(*pair)
        if joined is None and is_result:
            # In a column, a member of an enum that is a text is stored as text.
            joined = k.joined(k.of_member(has, str), k.of_member(gets, str))
        if joined is None and k.WORD in map(k.present, pair):
            raise Again(has_words=False)
        if joined is None:
            of = key[1] if isinstance(key, tuple) else ""
            named = isinstance(of, str) and of.isidentifier() and of in self.locals
            if named and of not in variables_of(self.definition.function.__code__):
                of = of.rstrip("_")  # The name before `give_own_names`.
            what = "it returns" if key == RETURN else f"{of if named else 'one variable'} is"
            if isinstance(of, int):
                what = "an item of a container is"
            if self.yielded is not None and key == (*getattr(self.yielded.kind, "sites", ()), 0):
                what = "it yields"
            self.refuse(f"{what} {has} in one place and {gets} in another")
        if joined != has or k.origins(joined) != k.origins(has):
            owners = self.program.owners.get(key[0], []) if isinstance(key, tuple) else []
            for widened in owners or [self.widened]:
                known = widened.get(key, k.NEVER)
                pair = k.all_signed((joined, known)) if is_signed else (joined, known)
                widened[key] = self.program.joined(*pair) or joined
            # The container is a caller's, or of a function that is written again with its callers.
            callers = map(self.program.settled.get, self.program.stack)
            outer = (each for each in callers if any(each is own for own in owners))
            raise Wider(next(outer, None) if owners else self.widened, key, joined)

    @contextmanager
    def in_cells(self, node: ast.AST, names: Iterable[str]) -> Iterator[None]:
        """Makes variables cells within the context; `node` identifies the region."""
        before = dict(self.cells)
        for name in sorted(names):
            if name not in self.cells:
                self.cells[name] = self._cell((id(node), name), name, self.env.get(name))
        self.forget(names)
        yield
        # Not in a `finally`: after an exception, the function is refused or written again.
        self.forget(names)
        self.cells = before

    def forget(self, names: Iterable[str]) -> None:
        """Forget facts about cells except their kind, because control comes from several places."""
        for name in names:
            cell = self.cells[name]
            self.env[name] = replace(cell.value, unbound=cell.unbound)

    def _cell(self, key: Any, name: str, value: Value | None) -> Cell:
        """Returns a cell for a variable, with its present value."""
        start = value.kind if value is not None else k.NEVER
        kind = self.program.joined(start, self.widened.get(key, start))
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
        """Returns a value whose parts are variables named after `stem`."""
        count = len(zeros(kind))
        return of_parts(kind, tuple(f"{stem}_{n}" for n in range(count)))

    # Where control meets

    def branch(self, test: str, then: Callable[[], None], otherwise: Callable[[], None]) -> None:
        """Write an `if` statement, and merge the facts about variables after it."""
        before, was_dead = dict(self.env), self.dead
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
            self.dead = was_dead
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
        # In an order that is the same in all processes: cached machine code is found by the source.
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
        """Returns a variable that has one of two values."""
        sides = tuple((block, self.as_choice(value)) for block, value in sides)
        kinds = [value.kind if value is not None else k.NEVER for _, value in sides]
        is_natural = any(map(_is_natural, (value for _, value in sides)))
        kind = self.program.joined(*(kinds if is_natural else k.all_signed(kinds)))
        if kind is None and k.WORD in map(k.present, kinds):
            raise Again(has_words=False)
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
        """Returns the value of an expression with two branches."""
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


class SharedError(CompileError):
    """A function changes what other rows read, so that no row can be left to Python for it alone."""


@dataclass(frozen=True)
class Cell:
    """A variable of the generated source for a variable of the user's.

    Args:
        key: Identifies it when the function is written again.
        unbound: The variable that is true while it has no value; empty if it always has one.
    """

    value: Value
    key: Any
    unbound: str


def _narrowed(cell: Value, kind: Kind) -> Value:
    """Returns the value of a cell after an assignment of a value of a kind."""
    if isinstance(cell.kind, k.Optional) and kind == cell.kind.of:
        return Value(kind, cell.code, items=cell.items)
    of = inner(cell).kind
    if isinstance(of, k.Several) and k.is_plain(of) and kind in of.items[1:]:
        return cell.items[of.items.index(kind, 1)]
    return NONE if kind == k.NONE else cell


def derived(node: ast.AST, name: str, make: Callable[[], ast.AST]) -> Any:
    """Returns a node derived from one of the user's; the same one each time the function is written.

    Facts about variables and containers are stored by nodes.
    """
    nodes: dict[str, ast.AST] = vars(node).setdefault("derived", {})
    if name not in nodes:
        nodes[name] = ast.fix_missing_locations(ast.copy_location(make(), node))
    return nodes[name]


def standing_for(emitter: Emitter, node: ast.AST, name: str, value: Value) -> ast.Name:
    """Returns an expression that stands for a value, as a node that is derived from one of the user's."""
    emitter.env[f"<{name}>"] = value
    load: ast.Name = derived(node, name, lambda: ast.Name(f"<{name}>", ast.Load()))
    return load


def copied(node: Any) -> Any:
    """Returns a copy of a syntax tree with its notes, without derived nodes; constants are not copied."""
    if isinstance(node, list):
        return list(map(copied, node))
    if not isinstance(node, ast.AST):
        return node
    copy = type(node).__new__(type(node))
    parts = {name: copied(part) for name, part in vars(node).items() if name != "derived"}
    vars(copy).update(parts)
    return copy


def _is_natural(value: Value | None) -> bool:
    """Whether a value is a constant integer that is not negative, and so may be unsigned."""
    return value is not None and type(value.constant) is int and value.constant >= 0


def _is_same(left: Value, right: Value) -> bool:
    """Whether two values are the same; -0.0 and 0.0 are not, though equal."""
    if left is right:
        return True
    if left.is_constant or right.is_constant:
        same = left.constant is right.constant or (
            identity(left.constant) == identity(right.constant)
        )
        return same and left.kind == right.kind and left.unbound == right.unbound
    return left == right


MOST_NESTED = 16
"""The largest depth of a kind's nested parts; an optional part counts twice."""

NO_PART = -1
"""The part number that stands for the failure code of an operation."""

RAISED = "an exception is raised"
"""The reason of a `raise`."""

RETURN = "return"
"""The key for the kind of a function's result."""


def _left(code: str) -> str:
    """Returns the code that leaves a row instead of raising; a lack of room stays a lack of room."""
    return f"({code} if {code} == {row_values.NO_ROOM} else {row_values.LEFT})"


def _is_number(code: str) -> bool:
    return code.replace(".", "", 1).replace("-", "", 1).isalnum() and (
        code[0].isdigit() or (code[0] == "-" and code[1:2].isdigit())
    )


def as_float(value: Value) -> str:
    """Returns code for an `int` or `bool` as a float; Numba cannot convert a `bool` directly."""
    return f"float({value.code})" if value.kind.name == "int" else f"float(int({value.code}))"
