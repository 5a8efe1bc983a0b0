"""Translates a row function to one expression, for engines whose expressions have no loops and no memory.

The generated functions of a program are read line by line. Each variable stands for a term of arguments,
branches become choices, and calls of the table's methods keep their names. Loops that constants end are
written out, turn by turn. Other loops, memory and rows left to Python have no term.
"""

from __future__ import annotations

import ast
import datetime
import itertools
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NoReturn

from colkern.kernels import row_values
from colkern.rows import kinds as k
from colkern.rows.constants import has_64_bits
from colkern.rows.emitter import NO_PART, RAISED
from colkern.rows.folding import OPERATORS
from colkern.rows.kinds import Kind
from colkern.rows.program import Block, Check, Exit, Operation, Program, Return, Site, Tried
from colkern.rows.values import Value, zeros


class NoTermError(Exception):
    """A function has no term; has the reason, and the line of its source, 0 if that is not known."""

    def __init__(self, reason: str, line: int = 0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


@dataclass(frozen=True, eq=False)
class Term:
    """A value of a row function; equal to itself only."""

    kind: Kind


@dataclass(frozen=True, eq=False)
class Argument(Term):
    """An argument that is not None."""

    name: str


@dataclass(frozen=True, eq=False)
class Constant(Term):
    """A Python object."""

    value: object


@dataclass(frozen=True, eq=False)
class Applied(Term):
    """The result of an `Operation`, or a part of it."""

    name: str
    signature: str
    takes: tuple[str, ...]
    arguments: tuple[Term, ...]
    line: int


@dataclass(frozen=True, eq=False)
class Part(Term):
    """An item of the tuple that a method returns."""

    of: Applied
    place: int


@dataclass(frozen=True, eq=False)
class Fails(Term):
    """Whether Python raises in a method for its arguments."""

    of: Applied


@dataclass(frozen=True, eq=False)
class IsNone(Term):
    """Whether an argument, or the result of a method, is None."""

    of: Term


@dataclass(frozen=True, eq=False)
class Logic(Term):
    """`not`, `and` or `or` of booleans."""

    name: str
    arguments: tuple[Term, ...]


@dataclass(frozen=True, eq=False)
class Converted(Term):
    """An integer as a float, or a boolean as an integer."""

    of: Term


@dataclass(frozen=True, eq=False)
class Choice(Term):
    """One of two values, of which only that one is computed."""

    test: Term
    then: Term
    otherwise: Term


@dataclass(frozen=True, eq=False)
class Items(Term):
    """The items of a tuple, or of a struct."""

    items: tuple[Term, ...]


@dataclass(frozen=True, eq=False)
class Maybe(Term):
    """A value that is None where a test is true."""

    none: Term
    of: Term


@dataclass(frozen=True, eq=False)
class Raise(Term):
    """An exception in place of a result."""

    site: Site


@dataclass(frozen=True, eq=False)
class _Returned(Term):
    """The end of a function, with its result."""

    parts: tuple[Term, ...]


@dataclass(frozen=True, eq=False)
class _Through(Term):
    """The end of a block after which the function continues, with the variables there."""

    variables: Variables = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class _Jump(Term):
    """`break` or `continue`, with the variables there."""

    name: str
    variables: Variables


@dataclass(frozen=True, eq=False)
class _Status(Term):
    """The status of a called function: whether it raised, and which exception."""

    fails: Term
    raised: Term


Variables = dict[str, Term]

MOST_TURNS = 32
"""The largest number of turns of loops that a term has: each is written out."""

_MOST_OF_LOOPS = 150
"""The largest number of terms with loops: Java does not compile what several turns use twice, and Spark
then takes longer than the transport of the rows to Python."""

_MEMORY = "a loop, a list or another value in memory, which Spark's expressions lack"

_MOST_CONSTANTS = 16
"""The largest number of constants of which one is chosen that an operation is computed for beforehand."""

TRUE = Constant(k.BOOL, True)
FALSE = Constant(k.BOOL, False)


def term_of(program: Program, name: str, arguments: Mapping[str, Value]) -> Term:
    """Returns the term of a function of a program, with `Raise` where Python raises.

    Args:
        arguments: The function's arguments by the user's names.

    Raises:
        NoTermError: If there is none.
    """
    if program.wraps or program.has_numpy:
        raise NoTermError("its numbers are NumPy's")
    variables: Variables = {}
    for parameter, value in arguments.items():
        if value.is_constant:
            continue
        for place, part in enumerate(_given(parameter, value.kind)):
            variables[f"{parameter}_{place}"] = part
    turns = itertools.count()
    tree = _Reader(program, (name,), {}, turns).function(name, variables)
    kind = program.written[name].kind
    term = mapped(
        tree, lambda end: _composed(kind, end.parts) if isinstance(end, _Returned) else end
    )
    if next(turns) and _size(term, {}) > _MOST_OF_LOOPS:
        raise NoTermError("its expression is too large")
    return term


def parts(term: Term) -> tuple[Term, ...]:
    """Returns the terms of which a term directly consists."""
    match term:
        case Choice():
            return term.test, term.then, term.otherwise
        case Applied() | Logic():
            return term.arguments
        case Fails() | Part() | Converted() | IsNone():
            return (term.of,)
        case Maybe():
            return term.none, term.of
        case Items():
            return term.items
    return ()


def _size(term: Term, known: dict[int, int]) -> int:
    """Returns the number of terms of which a term consists, each as often as it is used."""
    if id(term) not in known:
        known[id(term)] = 1 + sum(_size(part, known) for part in parts(term))
    return known[id(term)]


def _given(name: str, kind: Kind) -> Iterator[Term]:
    """Yields the variables for an argument; the parts of a tuple or instance have names after a dot."""
    if isinstance(kind, k.Tuple | k.Record):
        for place, item in enumerate(kind.items):
            yield from _given(f"{name}.{place}", item)
        return
    of = k.present(kind)
    if isinstance(of, k.Compound | k.Container):
        raise NoTermError(f"a parameter of the kind {of} has no native form: {name}")
    argument = Argument(of, name)
    if isinstance(kind, k.Optional):
        yield IsNone(k.BOOL, argument)
    yield argument


def mapped(tree: Term, of_end: Callable[[Term], Term | None]) -> Term:
    """Replaces the ends of a tree of choices; a choice with only one side left becomes that side."""

    def side(term: Term) -> Term | None:
        if not isinstance(term, Choice):
            return of_end(term)
        then, otherwise = side(term.then), side(term.otherwise)
        if then is None or otherwise is None:
            return then or otherwise
        return chosen(term.test, then, otherwise)

    whole = side(tree)
    assert whole is not None
    return whole


def chosen(test: Term, then: Term, otherwise: Term) -> Term:
    """Returns a choice between two values, in its shortest form."""
    if isinstance(test, Constant):
        return then if test.value else otherwise
    if then is otherwise:
        return then
    # `a and b` and `a or b` of tests: a side that is the test itself is known.
    then, otherwise = TRUE if then is test else then, FALSE if otherwise is test else otherwise
    if then.kind == k.BOOL and isinstance(otherwise, Constant) and otherwise.value is False:
        return test if _is(then, True) else Logic(k.BOOL, "and", (test, then))
    if _is(then, False) and _is(otherwise, True):
        return Logic(k.BOOL, "not", (test,))
    if _is(then, False) and otherwise.kind == k.BOOL:
        return Logic(k.BOOL, "and", (chosen(test, FALSE, TRUE), otherwise))
    if _is(then, True) and otherwise.kind == k.BOOL:
        return Logic(k.BOOL, "or", (test, otherwise))
    return Choice(then.kind if then.kind.words else otherwise.kind, test, then, otherwise)


def joined(name: str, terms: Iterable[Term]) -> Term:
    """Returns `and` or `or` of tests, in its shortest form."""
    is_and = name == "and"
    kept = tuple(term for term in terms if not _is(term, is_and))
    if any(_is(term, not is_and) for term in kept):
        return FALSE if is_and else TRUE
    if len(kept) < 2:
        return kept[0] if kept else TRUE if is_and else FALSE
    return Logic(k.BOOL, name, kept)


def _is(term: Term, value: bool) -> bool:
    return isinstance(term, Constant) and term.value is value


def ends(tree: Term) -> Iterator[Term]:
    """Yields the ends of a tree of choices."""
    if isinstance(tree, Choice):
        yield from ends(tree.then)
        yield from ends(tree.otherwise)
    else:
        yield tree


@dataclass
class _Reader:
    """Reads a generated function.

    Args:
        stack: The functions that are being read, the outermost first.
        applied: The calls of methods so far, by their methods and arguments.
        turns: Counts the turns of loops.
    """

    _program: Program
    _stack: tuple[str, ...]
    _applied: dict[object, Applied]
    _turns: Iterator[int]
    _line: int = 0

    def function(self, name: str, variables: Variables) -> Term:
        """Returns the tree of choices of a function; its ends are the results, and what it raises."""
        written = self._program.written[name]
        self._operations, self._path = written.operations, written.path
        return self._run(written.block.lines, variables)

    # Statements

    def _run(self, lines: Sequence[str | Block], variables: Variables) -> Term:
        """Returns the tree for lines, which bind variables."""
        at = 0
        while at < len(lines):
            line = lines[at]
            at += 1
            assert isinstance(line, str)
            if isinstance(line, Return):
                return _Returned(k.NEVER, tuple(self._parts(line, variables)))
            if isinstance(line, Exit):
                return self._raised(line, variables)
            if line.startswith("if "):
                then, otherwise = lines[at], Block()
                at += 1
                if lines[at : at + 1] == ["else:"]:
                    otherwise = lines[at + 1]  # type: ignore[assignment]
                    at += 2
                assert isinstance(then, Block)
                if line == "if bad != 0:" or self._is_for_room(then):
                    continue
                tree = self._branch(line[3:-1], then, otherwise, variables)
                if not isinstance(tree, _Through):
                    return self._behind(tree, partial(self._run, lines[at:]))
                variables = tree.variables
            elif isinstance(line, Tried):
                self._refuse("a `try`, which Spark's expressions lack")
            elif line.startswith("while "):
                turn = lines[at]
                at += 1
                assert isinstance(turn, Block)
                tree = self._loop(line[6:-1], turn, variables)
                if not isinstance(tree, _Through):
                    return self._behind(tree, partial(self._run, lines[at:]))
                variables = tree.variables
            elif line in ("break", "continue"):
                return _Jump(k.NEVER, line, variables)
            elif isinstance(line, Check) or line == "pass":
                continue
            elif guard := self._assign(line, variables):
                rest = self._run(lines[at:], variables)
                return chosen(guard.test, guard.then, rest)
        return _Through(k.NEVER, variables)

    def _loop(self, code: str, block: Block, variables: Variables) -> Term:
        """Returns the tree of a loop: of a turn, and of the turns behind it where it does not end."""
        if code != "True" or next(self._turns) >= MOST_TURNS:
            self._refuse(f"a loop that constants do not end within {MOST_TURNS} turns")
        turn = mapped(self._run(block.lines, dict(variables)), partial(_passed, "continue"))
        tree = self._behind(turn, partial(self._loop, code, block))
        tree = mapped(tree, partial(_passed, "break"))
        return _united(tree)

    def _is_for_room(self, block: Block) -> bool:
        """Whether a block leaves the row because the arena has no room; expressions need no arena."""
        exits = [line for line in block.lines if isinstance(line, Exit)]
        return any(line.isdigit() and int(line) & 255 == row_values.NO_ROOM for line in exits)

    def _branch(self, code: str, then: Block, otherwise: Block, variables: Variables) -> Term:
        try:
            test = self._read(code, variables)
        except NoTermError:
            # The reason of the exception tells which part has no term.
            exit_ = next(iter(then.lines), None)
            if isinstance(exit_, Exit) and (site := self._site(exit_)):
                raise NoTermError(f"{site.reason} has no native form", site.line) from None
            raise
        for value, block in ((True, then), (False, otherwise)):
            if _is(test, value):
                return self._run(block.lines, dict(variables))
        sides = [self._run(block.lines, dict(variables)) for block in (then, otherwise)]
        return _united(Choice(k.NEVER, test, *sides))

    def _behind(self, tree: Term, follow: Callable[[Variables], Term]) -> Term:
        """Returns a tree in which the ways that continue are followed by the tree for their variables."""
        through = [each for each in ends(tree) if isinstance(each, _Through)]
        if not through:
            return tree
        if len(through) == 1:
            rest = follow(dict(through[0].variables))
            return mapped(tree, lambda each: rest if each is through[0] else each)
        if len(through) == len([*ends(tree)]):
            return follow(_joined(tree))
        # The lines are read once, after a test for whether a row reaches them.
        ended = mapped(tree, lambda each: FALSE if isinstance(each, _Through) else TRUE)
        others = mapped(tree, lambda each: None if isinstance(each, _Through) else each)
        return Choice(k.NEVER, ended, others, follow(_joined(tree)))

    def _assign(self, line: str, variables: Variables) -> Choice | None:
        """Binds the variables of an assignment; returns a choice with an exception that may be raised."""
        statement = ast.parse(line).body[0]
        if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            counted = ast.BinOp(statement.target, statement.op, statement.value)
            variables[statement.target.id] = self._or_missing(counted, variables)
            return None
        if not isinstance(statement, ast.Assign):
            # A write to memory matters only where the memory is read, and that has no term.
            return None
        target, value = statement.targets[0], statement.value
        names = [
            name.id
            for name in (target.elts if isinstance(target, ast.Tuple) else [target])
            if isinstance(name, ast.Name)
        ]
        guard = None
        called = getattr(getattr(value, "func", None), "id", "")
        if called in self._program.written:
            assert isinstance(value, ast.Call)
            self._call(called, value.args[2:], names, variables)
            return None
        for name in names:
            if name in self._operations:
                operation, place = self._operations[name]
                known = self._known(operation, variables) if len(names) == 1 else None
                if known is not None:
                    variables[name] = known
                    continue
                applied = self._apply(operation, variables)
                if place == NO_PART:
                    variables[name] = Fails(k.BOOL, applied)
                    continue
                variables[name] = _part(applied, place)
                if operation.may_leave:
                    name, path = self._stack[-1], self._path
                    site = Site(name, path, operation.line, operation.name)
                    guard = Choice(
                        k.NEVER, Fails(k.BOOL, applied), Raise(k.NEVER, site), Raise(k.NEVER, site)
                    )
            else:
                variables.pop(name, None)
        if len(names) == 1 and names[0] not in self._operations:
            variables[names[0]] = self._or_missing(value, variables)
        return guard

    def _or_missing(self, value: ast.expr, variables: Variables) -> Term:
        """Returns the term of a variable's value, or that it has none, which refuses what reads it."""
        try:
            return self._of(value, variables)
        except NoTermError as error:
            return _Missing(k.NEVER, error)

    def _known(self, operation: Operation, variables: Variables) -> Term | None:
        """Returns the result of an operation on constants, or on a choice of constants; else None."""
        function = _FOLDED.get(operation.name)
        if function is None or not set(operation.takes) <= {"int", "float"}:
            return None
        arguments = [self._value(value, variables) for value in operation.arguments]
        known = _folded(function, arguments)
        # In compiled code, an integer among floats is a float.
        is_kind = known and all(end.kind.name == operation.kind.name for end in ends(known))
        return known if is_kind else None

    def _apply(self, operation: Operation, variables: Variables) -> Applied:
        self._line = operation.line
        arguments = tuple(self._value(value, variables) for value in operation.arguments)
        # Equal calls are one term, so that translations compute it once.
        key = operation.name, operation.signature, operation.kind, tuple(map(_identity, arguments))
        if key not in self._applied:
            self._applied[key] = Applied(
                operation.kind,
                operation.name,
                operation.signature,
                operation.takes,
                arguments,
                operation.line,
            )
        return self._applied[key]

    def _call(
        self, name: str, nodes: Sequence[ast.expr], names: Sequence[str], variables: Variables
    ) -> None:
        """Bind the status and the result of another generated function."""
        if name in self._stack:
            self._refuse("a function that calls itself")
        written = self._program.written[name]
        arguments = [self._of(node, variables) for node in nodes]
        inside = _Reader(self._program, (*self._stack, name), self._applied, self._turns)
        tree = inside.function(name, dict(zip(written.parameters, arguments, strict=True)))
        raises = any(isinstance(end, Raise) for end in ends(tree))
        status, *parts = names
        if not raises:
            variables[status] = _Status(k.BOOL, FALSE, FALSE)
        else:
            fails = mapped(tree, lambda end: TRUE if isinstance(end, Raise) else FALSE)
            raised = mapped(tree, lambda end: end if isinstance(end, Raise) else None)
            variables[status] = _Status(k.BOOL, fails, raised)
        for place, part in enumerate(parts):
            variables[part] = mapped(tree, partial(_returned, place))

    def _raised(self, line: str, variables: Variables) -> Term:
        status = variables.get(line)
        if isinstance(status, _Status):
            return status.raised
        site = self._site(line)
        if site is None:
            self._refuse("too many places where rows are left to Python")
        number = int(line.partition("|")[0])
        if number & 255 in (row_values.LEFT, row_values.NO_ROOM) and site.reason != RAISED:
            raise NoTermError(f"{site.reason} has no native form", site.line)
        return Raise(k.NEVER, site)

    def _site(self, line: str) -> Site | None:
        """Returns the place in the user's source of an exception."""
        number = line.partition("|")[0].strip()
        return self._program.site_of(int(number) >> 8) if number.isdigit() else None

    # Expressions

    def _parts(self, line: str, variables: Variables) -> Iterator[Term]:
        nodes = ast.parse(f"({line},)" if line else "()", mode="eval").body
        assert isinstance(nodes, ast.Tuple)
        for node in nodes.elts:
            yield self._of(node, variables)

    def _value(self, value: Value, variables: Variables) -> Term:
        """Returns the term of a value."""
        if value.is_constant:
            return Constant(value.kind, value.constant)
        parts = [self._read(code, variables) for code in value.parts]
        return _composed(value.kind, parts)

    def _read(self, code: str, variables: Variables) -> Term:
        return self._of(ast.parse(code, mode="eval").body, variables)

    def _of(self, node: ast.expr, variables: Variables) -> Term:
        match node:
            case ast.Constant(value=bool() as value):
                return TRUE if value else FALSE
            case ast.Constant(value=int() as value):
                return Constant(k.INT, value)
            case ast.Constant(value=float() as value):
                return Constant(k.FLOAT, value)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
                return Constant(k.FLOAT if isinstance(value, float) else k.INT, -value)
            case ast.Name(id=name):
                term = variables.get(name)
                if isinstance(term, _Missing):
                    raise term.error
                return term if term is not None else self._refuse(_MEMORY)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return chosen(self._of(operand, variables), FALSE, TRUE)
            case ast.BinOp(op=ast.BitAnd() | ast.BitOr() as sign, left=left, right=right):
                return self._logic(isinstance(sign, ast.BitAnd), (left, right), variables)
            case ast.BinOp(op=ast.Add() | ast.Sub() | ast.Mult() as sign, left=left, right=right):
                sides = [self._of(side, variables) for side in (left, right)]
                known = _folded(OPERATORS[type(sign)][1], sides)
                return known or self._refuse("a loop that counts other than by constants")
            case ast.IfExp(test=test, body=then, orelse=otherwise):
                decided = self._of(test, variables)
                if isinstance(decided, Constant):
                    return self._of(then if decided.value else otherwise, variables)
                sides = [self._of(side, variables) for side in (then, otherwise)]
                if {side.kind.name for side in sides} not in ({"int"}, {"float"}, {"bool"}):
                    self._refuse("a choice")
                return chosen(decided, *sides)
            case ast.BoolOp(op=sign, values=values):
                return self._logic(isinstance(sign, ast.And), values, variables)
            case ast.Compare(left=left, ops=[ast.NotEq()], comparators=[ast.Constant(value=0)]):
                return self._truth(left, variables)
            case ast.Compare(left=left, ops=[sign], comparators=[right]):
                return self._compared(OPERATORS[type(sign)][0], left, right, variables)
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return self._called(name, arguments, variables)
        return self._refuse(_MEMORY)

    def _logic(self, is_and: bool, values: Sequence[ast.expr], variables: Variables) -> Term:
        terms = tuple(self._of(value, variables) for value in values)
        if any(term.kind != k.BOOL for term in terms):
            self._refuse("bits of numbers")
        return joined("and" if is_and else "or", terms)

    def _truth(self, node: ast.expr, variables: Variables) -> Term:
        """Returns the term of `… != 0`, which also tests for an exception, or a text that is not empty."""
        if isinstance(node, ast.Attribute):
            text = self._of(node.value, variables)
            return self._tested("bool", text)
        term = self._of(node, variables)
        if isinstance(term, _Status):
            return term.fails
        if isinstance(term, Fails):
            return term
        zero = Constant(term.kind, 0.0 if term.kind.name == "float" else 0)
        return self._tested("!=", term, zero)

    def _compared(self, sign: str, left: ast.expr, right: ast.expr, variables: Variables) -> Term:
        sides = [self._of(side, variables) for side in (left, right)]
        kinds = {side.kind.name for side in sides}
        if len(kinds) > 1 or not kinds <= {"int", "float"}:
            self._refuse("a comparison")
        return _folded(_FOLDED[sign], sides) or self._tested(sign, *sides)

    def _tested(self, name: str, *arguments: Term) -> Term:
        """Returns a method that tests arguments of one kind."""
        takes = tuple(argument.kind.name for argument in arguments)
        return Applied(k.BOOL, name, f"({', '.join(takes)}) -> bool", takes, arguments, self._line)

    def _called(self, name: str, nodes: Sequence[ast.expr], variables: Variables) -> Term:
        if name in ("Text", "Bytes"):
            # An empty text has place 0.
            place = getattr(getattr(nodes[0], "right", nodes[0]), "value", 0)
            data = bytes(self._program.pool[place : place + getattr(nodes[1], "value", 0)])
            return Constant(k.TEXT, data.decode()) if name == "Text" else Constant(k.BYTES, data)
        if name == "float_of_bits" and not isinstance(nodes[0], ast.Call):
            bits = ast.literal_eval(nodes[0]) & ((1 << 64) - 1)
            return Constant(k.FLOAT, struct.unpack("d", struct.pack("Q", bits))[0])
        if name in ("float", "int", "bool", "i8"):
            term = self._of(nodes[0], variables)
            wanted = {"float": k.FLOAT, "bool": k.BOOL}.get(name, k.INT)
            if term.kind.name == wanted.name:
                return term
            if (term.kind.name, wanted.name) in (
                ("int", "float"),
                ("bool", "int"),
                ("bool", "float"),
            ):
                return Converted(wanted, term)
        return self._refuse(_MEMORY)

    def _refuse(self, reason: str) -> NoReturn:
        raise NoTermError(reason, self._line)


@dataclass(frozen=True, eq=False)
class _Missing(Term):
    """A variable without a term, with the reason."""

    error: NoTermError


_FOLDED = {
    name: function
    for name, function in OPERATORS.values()
    if name in ("+", "-", "*", "==", "!=", "<", "<=", ">", ">=")
}
"""The operations of numbers that are computed beforehand for constants."""


def _folded(function: Callable[[object, object], object], sides: Sequence[Term]) -> Term | None:
    """Returns the result of an operation on two constants, or on one and a choice of some; else None."""
    left, right = sides
    if isinstance(left, Constant) and isinstance(right, Constant):
        return _constant(function(left.value, right.value))
    choices = [side for side in sides if isinstance(side, Choice)]
    if len(choices) != 1 or not _is_one_of_few(choices[0]):
        return None
    (choice,), results = choices, []
    for side in (choice.then, choice.otherwise):
        result = _folded(function, [side if each is choice else each for each in sides])
        if result is None:
            return None
        results.append(result)
    return chosen(choice.test, *results)


def _is_one_of_few(choice: Choice) -> bool:
    """Whether the sides of a choice are constants, not many."""
    sides = [*itertools.islice(ends(choice), _MOST_CONSTANTS + 1)]
    return len(sides) <= _MOST_CONSTANTS and all(isinstance(side, Constant) for side in sides)


def _constant(value: object) -> Term | None:
    """Returns a number as a term; None if compiled code has no such number."""
    if isinstance(value, bool):
        return TRUE if value else FALSE
    if isinstance(value, float):
        return Constant(k.FLOAT, value)
    is_near = isinstance(value, int) and has_64_bits(value)
    return Constant(k.INT, value) if is_near else None


def _passed(name: str, end: Term) -> Term:
    """Returns a jump of a name as an end after which the function continues; others as they are."""
    if isinstance(end, _Jump) and end.name == name:
        return _Through(k.NEVER, end.variables)
    return end


def _united(tree: Term) -> Term:
    """Returns a tree as one end, if the function continues after all of its ends."""
    if all(isinstance(end, _Through) for end in ends(tree)):
        return _Through(k.NEVER, _joined(tree))
    return tree


def _joined(tree: Term) -> Variables:
    """Returns the variables after a tree, for all ways that continue."""
    through = [end.variables for end in ends(tree) if isinstance(end, _Through)]
    names = set.intersection(*map(set, through))
    joined: Variables = {}
    for name in names:
        terms = [variables[name] for variables in through]
        if all(term is terms[0] for term in terms):
            joined[name] = terms[0]
        elif missing := next(
            (term for term in terms if isinstance(term, _Missing | _Status)), None
        ):
            joined[name] = missing
        else:
            joined[name] = mapped(tree, partial(_variable, name))
    return joined


def _variable(name: str, end: Term) -> Term | None:
    """Returns a variable at the end of a way that continues; None for other ends."""
    return end.variables[name] if isinstance(end, _Through) else None


def _returned(place: int, end: Term) -> Term | None:
    """Returns a part of the result at an end; None for ends without a result."""
    return end.parts[place] if isinstance(end, _Returned) else None


def _identity(term: Term) -> object:
    """Returns a key that is equal for equal terms."""
    if isinstance(term, Constant):
        return type(term.value), repr(term.value)
    if isinstance(term, Argument):
        return term.name
    return id(term)


def _part(applied: Applied, place: int) -> Term:
    """Returns the part of a result that one variable holds."""
    kind = applied.kind
    if isinstance(kind, k.Compound):
        kinds = [item for item in kind.items for _ in zeros(item)]
        return Part(kinds[place], applied, place)
    if isinstance(kind, k.Optional):
        return Part(kind.of, applied, place) if place else IsNone(k.BOOL, applied)
    return applied


def _composed(kind: Kind, parts: Sequence[Term]) -> Term:
    """Returns the value that several variables hold."""
    if isinstance(kind, k.Optional):
        return Maybe(kind, parts[0], _composed(kind.of, parts[1:]))
    if isinstance(kind, k.Compound):
        items, at = [], 0
        for item in kind.items:
            count = len(zeros(item))
            items.append(_composed(item, parts[at : at + count]))
            at += count
        return Items(kind, tuple(items))
    return _typed(kind, parts[0]) if parts else Constant(kind, None)


EPOCH = datetime.datetime(1970, 1, 1)


def _typed(kind: Kind, term: Term) -> Term:
    """Returns a term with constants of a kind: in compiled code, dates are numbers."""
    if kind not in (k.DATE, k.DATETIME, k.TIMEDELTA):
        return term
    if isinstance(term, Choice):
        sides = _typed(kind, term.then), _typed(kind, term.otherwise)
        return term if sides == (term.then, term.otherwise) else Choice(kind, term.test, *sides)
    if isinstance(term, Constant) and isinstance(term.value, int) and term.kind == k.INT:
        number = term.value
        if kind == k.DATE:
            return Constant(kind, EPOCH.date() + datetime.timedelta(number))
        if kind == k.DATETIME:
            return Constant(kind, EPOCH + datetime.timedelta(microseconds=number))
        if kind == k.TIMEDELTA:
            return Constant(kind, datetime.timedelta(microseconds=number))
    return term
