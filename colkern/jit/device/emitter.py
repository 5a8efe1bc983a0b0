"""The writer of generated code: its statements, its names, and the numbers that it needs from outside.

A function that reads columns needs addresses and lengths from its caller, and a kernel gets them from
the launch. The writer describes each of them as a `Need`, which has one name in the code.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from colkern.cuda import row_functions
from colkern.cuda.compiler import device_function, primitive
from colkern.errors import CompileError, with_line
from colkern.jit.device.kinds import (
    BOOL,
    INTEGER,
    NOTHING,
    Integer,
    Kind,
    Literal,
    Nullable,
    Number,
    Path,
    Record,
    is_plain,
)
from colkern.jit.table_calls import failures
from colkern.kernels import slot_values
from colkern.layouts import Role, layout
from colkern.schema import DataType


@dataclass(frozen=True)
class Member:
    """A number of an array that the launch passes: an address, an offset, a length.

    Args:
        name: The name of the number, as in `colkern.jit.views.records`.
    """

    path: Path
    name: str


@dataclass(frozen=True)
class Like:
    """An array that says the type of items.

    Args:
        code: NumPy's type code.
    """

    code: str


@dataclass(frozen=True)
class Shared:
    """An argument of all functions of a kernel: `literals` and `arena`, addresses; `errors`, an array."""

    name: str


@dataclass(frozen=True)
class Built:
    """The address of memory that is written for a node of a builder's tree.

    Args:
        name: Its name: `items`, `nulls` or `data`, as in `colkern.jit.device.building_kernels`.
    """

    row: int
    name: str


Need = Member | Like | Shared | Built


@dataclass(frozen=True)
class Value:
    """The value of an expression: its kind, and the code of each part.

    Args:
        parts: Expressions that may be used anywhere, and more than once.
    """

    kind: Kind
    parts: tuple[str, ...]


@dataclass
class Program:
    """State that the functions of one kernel share, for one set of data types.

    Args:
        checked: Whether indices and nulls are checked.
        thread_bytes: The room that each thread has for values that methods make; 0 for none.
        by_row: Whether each thread goes over rows, and its errors are those of a row. Then exceptions of
            the user's functions are noted, too, and end them.
        error_model: Numba's: `python` if a division by zero raises, else `numpy`.
        literals: The strings of the source, one after the other.
        places: For each check, the exception that it stands for, with its text.
        functions: The functions that the kernel calls, by the functions and kinds they are made from.
    """

    checked: bool
    thread_bytes: int = 0
    by_row: bool = False
    error_model: str = "numpy"
    literals: bytearray = field(default_factory=bytearray)
    places: list[tuple[type[Exception], str]] = field(default_factory=list)
    functions: dict[Any, Any] = field(default_factory=dict)

    @property
    def checks_values(self) -> bool:
        """Whether checks of values are made: of nulls that are used as values, and of ranges."""
        return self.checked or self.by_row

    def place(self, *failures: tuple[type[Exception], str]) -> int:
        """The number, from 1 on, of a failure; of several, that of the first."""
        for at in range(len(self.places)):
            if self.places[at : at + len(failures)] == list(failures):
                return at + 1
        self.places += failures
        return len(self.places) - len(failures) + 1

    def literal(self, value: bytes) -> int:
        """The position of a string of the source in `literals`."""
        place = self.literals.find(value)
        if place < 0:
            place = len(self.literals)
            self.literals += value
        return place


CONSTANTS: dict[str, Any] = {
    "_ck_u8": np.uint64,
    "_ck_i8": np.int64,
    "_ck_f8": np.float64,
    "_ck_zero": np.uint64(0),
    "_ck_one": np.uint64(1),
    "_ck_nowhere": np.uint64(slot_values.NOWHERE),
    "_ck_sign": np.uint64(1 << 63),
    **{
        f"_ck_zero_{code}": np.dtype(code).type(0)
        for code in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")
    },
}
"""The names of numbers and types in generated code."""


class Emitter:
    """Writes the statements of one function.

    Args:
        program: The state that the functions of the kernel share.
    """

    def __init__(self, program: Program, function: types.FunctionType) -> None:
        self.program = program
        self.function = function
        self.node: ast.AST = ast.Pass(lineno=function.__code__.co_firstlineno, col_offset=0)
        self.needs: dict[Need, str] = {}
        self.namespace: dict[str, Any] = {}
        self.block: list[ast.stmt] = []
        self._names = 0

    # Statements

    def emit(self, text: str) -> None:
        """Add statements, with the line of the node that is being translated."""
        self.block += self.located(text)

    def located(self, text: str) -> list[ast.stmt]:
        """Statements with the line of the node that is being translated."""
        return located(text, self.node)

    def expression(self, text: str) -> ast.expr:
        """An expression with the line of the node that is being translated."""
        (statement,) = self.located(text)
        assert isinstance(statement, ast.Expr)
        return statement.value

    @contextmanager
    def within(self, block: list[ast.stmt]) -> Iterator[list[ast.stmt]]:
        """Statements go to another block meanwhile."""
        outer, self.block = self.block, block
        try:
            yield block
        finally:
            self.block = outer

    def conditional(self, test: str, then: list[ast.stmt], otherwise: list[ast.stmt]) -> ast.stmt:
        """An `if` statement."""
        (branch,) = self.located(f"if {test}: pass")
        assert isinstance(branch, ast.If)
        branch.body = then or branch.body
        branch.orelse = otherwise
        return branch

    def repeated(self, count: str, body: Callable[[str], None]) -> None:
        """Add a loop over `count` positions (uint64), whose body emits its statements."""
        position, end = self.fresh(), self.fresh()
        self.emit(f"{position}, {end} = _ck_zero, _ck_u8({count})")
        (loop,) = self.located(f"while {position} < {end}: pass")
        assert isinstance(loop, ast.While)
        with self.within([]) as loop.body:
            body(position)
            self.emit(f"{position} += _ck_one")
        self.block.append(loop)

    # Names

    def fresh(self) -> str:
        """A name that is not used yet."""
        self._names += 1
        return f"_ck_{self._names}"

    def bind(self, text: str) -> str:
        """A name for the value of an expression, which is computed now."""
        if text.isidentifier():
            return text
        name = self.fresh()
        self.emit(f"{name} = {text}")
        return name

    def bind_each(self, text: str, count: int) -> tuple[str, ...]:
        """A name for each item of the tuple that an expression gives, which is computed now."""
        names = tuple(self.fresh() for _ in range(count))
        self.emit(f"{', '.join(names)}{',' if count == 1 else ''} = {text}")
        return names

    def call(self, function: Callable[..., Any], *arguments: str) -> str:
        """A call of a function of `colkern.kernels`."""
        name = f"_ck_{function.__name__}"
        if name not in self.namespace:
            self.namespace[name] = device_function(function)
        return f"{name}({', '.join(arguments)})"

    def use(self, function: Callable[..., Any]) -> str:
        """The name of a body of row functions, of a primitive of theirs, or of a class of their values."""
        row_functions.require_compiler()
        callable_ = function if isinstance(function, type) else row_functions.body(function)
        name = f"_ck_row_{function.__name__}"
        # Bodies that are bound to different constants have the same name.
        while self.namespace.setdefault(name, callable_) is not callable_:
            name += "_"
        return name

    def primitive(self, name: str, *arguments: str) -> str:
        """A call of a primitive of `colkern.cuda.primitives`."""
        self.namespace.setdefault(f"_ck_{name}", primitive(name))
        return f"_ck_{name}({', '.join(arguments)})"

    # Needs

    def need(self, need: Need) -> str:
        """The name of a need."""
        if need not in self.needs:
            self.needs[need] = name_of(need)
        return self.needs[need]

    def member(self, path: Path, name: str) -> str:
        """A number of an array."""
        return self.need(Member(path, name))

    def like(self, code: str) -> str:
        """An array of items of a type."""
        return self.need(Like(code))

    def items(self, path: Path, data_type: DataType, role: Role) -> tuple[str, str, str]:
        """The items of a buffer, as functions take them: an array like them, address, size of one."""
        dtype = layout(data_type).spec(role).dtype
        return (
            self.like(dtype.str[1:]),
            self.member(path, role.value),
            f"_ck_u8({dtype.itemsize})",
        )

    def number_at(self, path: Path, data_type: DataType, slot: str, valid: str) -> str:
        """The code of the number of a slot."""
        items = self.items(path, data_type, Role.DATA)
        return self.call(slot_values.number_at, *items, slot, valid)

    def is_of_child(self, right: str, k: int) -> None:
        """Check that a slot of a union belongs to child `k`; in kernels, another child's is a null."""

    def product(self, one: Sequence[str], other: Sequence[str]) -> Sequence[str]:
        """The words of a product of two numbers in words, if there is a short way; else none."""
        return ()

    def ascii(self, path: Path) -> str:
        """The code of whether the texts of an array are known to be ASCII."""
        return "False"

    def literal(self, value: str | bytes) -> tuple[str, str]:
        """Address and length of a string of the source."""
        data = value.encode() if isinstance(value, str) else value
        place = self.program.literal(data)
        address = self.bind(f"{self.need(Shared('literals'))} + _ck_u8({place})")
        return address, str(len(data))

    def constant_bytes(self, data: bytes) -> str:
        """The address of bytes that a method reads."""
        return f"_ck_i8({self.literal(data)[0]})"

    def arena(self, name: str) -> str:
        """The arena of the thread, for values that a method creates."""
        if not self.program.thread_bytes:
            raise self.failure(
                f"{name} makes values that need memory: give each thread some, as by "
                f"@ck.cuda_jit(thread_bytes=1024), or use a row function"
            )
        return self.need(Shared("arena"))

    # Checks

    def place(self, exception: type[Exception], message: str) -> str:
        """The arguments of a check: the array of errors, and the number of this place."""
        noted = exception, self.with_place(f": {message}")
        return f"{self.need(Shared('errors'))}, {self.program.place(noted)}"

    def check(self, right: str, exception: type[Exception], message: str) -> None:
        """Raise if a condition fails, unless checks are left out."""
        if self.program.checks_values:
            self.note_unless(right, exception, message)
            self.stop_if_noted()

    def note_unless(self, right: str, exception: type[Exception], message: str) -> None:
        """Note an exception if a condition fails and none is noted yet: `slot_values.noted` in place.

        A call would be inlined, which takes the compiler many times as long.
        """
        errors, place = self.place(exception, message).split(", ")
        self.emit(f"if not ({right}) and {errors}[0] == 0: {errors}[0] = {place}")

    def called(self, name: str, text: str) -> str:
        """The result of a body that may fail: its failure is noted, also if checks are left out."""
        result, code = self.bind_each(text, 2)
        noted = [
            (error, self.with_place(f": {words}"))
            for _, (error, words) in sorted(failures(name).items())
        ]
        errors, first = self.need(Shared("errors")), self.program.place(*noted)
        self.emit(f"if {code} != 0 and {errors}[0] == 0: {errors}[0] = {code} + {first - 1}")
        self.stop_if_noted()
        return result

    def stop_if_noted(self) -> None:
        """Return if a failure is noted, in functions that a failure ends."""

    def call_function(
        self, function: types.FunctionType, values: list[Value], named: dict[str, Value]
    ) -> Value:
        """A call of a function of the user's own, or of one of `colkern.jit.building`."""
        raise NotImplementedError

    # Values

    def inner(self, value: Value) -> Value:
        """A value that may be None, as one that is not; a null is an error."""
        if isinstance(value.kind, Nullable):
            self.check(value.parts[0], TypeError, "a null is used as a value; ask `is None` first")
        return present(value)

    def plain(self, value: Value) -> str:
        """The code of a value for the compiler."""
        value = self.inner(value)
        if is_plain(value.kind):
            return value.parts[0]
        if isinstance(value.kind, Literal):
            return repr(value.kind.value)
        return self.unplain(value)

    def unplain(self, value: Value) -> str:
        """As `plain`, for values that are neither numbers nor literals."""
        if not value.kind.parts:
            return "None"
        raise self.failure(f"{value.kind.words} cannot stand here; read a value from it first")

    # Errors

    def with_place(self, message: str) -> str:
        """A message about the function, with the file and the line of the node."""
        path, line = self.function.__code__.co_filename, getattr(self.node, "lineno", 1)
        return with_line(f"{self.function.__name__}{message}", path, line)

    def failure(self, message: str) -> Exception:
        """The error of a construct that has no compiled form; names the line."""
        return CompileError(self.with_place(f" does not compile: {message}"))


def located(text: str, node: ast.AST) -> list[ast.stmt]:
    """Statements with the line of a node."""
    body = ast.parse(text).body
    for statement in body:
        for part in ast.walk(statement):
            ast.copy_location(part, node)
    return body


def integer(value: Value) -> int | None:
    """The number of a constant integer; None for other values, and for variables."""
    if not isinstance(value.kind, Integer) or value.parts[0].isidentifier():
        return None
    return int(ast.literal_eval(value.parts[0]))


def constant(value: Any) -> Value | None:
    """A constant of the source; None for one that kernels do not know."""
    if value is None:
        return Value(NOTHING, ())
    if isinstance(value, str | bytes):
        return Value(Literal(value), ())
    if isinstance(value, bool):
        return Value(BOOL, (repr(value),))
    if isinstance(value, int):
        return Value(INTEGER, (repr(value),))
    return Value(Number("f8"), (repr(value),)) if isinstance(value, float) else None


def items(value: Value) -> list[Value]:
    """The values of a tuple."""
    assert isinstance(value.kind, Record)
    values, at = [], 0
    for kind in value.kind.kinds:
        count = len(kind.parts)
        values.append(Value(kind, value.parts[at : at + count]))
        at += count
    return values


def present(value: Value) -> Value:
    """A value that may be None, at a place where it is known not to be."""
    if not isinstance(value.kind, Nullable):
        return value
    return Value(value.kind.inner, value.parts[1:])


def record(values: Sequence[Value], names: tuple[str, ...] = ()) -> Value:
    """Values as a tuple, or with names as a named one."""
    kind = Record(tuple(value.kind for value in values), names)
    return Value(kind, tuple(part for value in values for part in value.parts))


def name_of(need: Need) -> str:
    """The name of a need in generated code.

    The name of a member begins with a number, so that it never is the name of a part of a variable.
    """
    if isinstance(need, Like):
        return f"_ck_like_{need.code}"
    if isinstance(need, Shared):
        return f"_ck_{need.name}"
    if isinstance(need, Built):
        return f"_ck_built_{need.row}_{need.name}"
    steps = "_".join(map(str, (len(need.path.steps), *need.path.steps)))
    return f"_ck_{steps}_{need.name}_of_{need.path.root}"
